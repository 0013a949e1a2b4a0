//! An exact filter that measures time and counts, and the same with a planted fault.
//!
//! It shows that the contracts of abilities can be kept at all, and that they notice when not.

use std::any::Any;
use std::collections::{HashMap, HashSet, VecDeque};

use lately::raw::codec::Writer;
use lately::raw::{Blueprint, Counting, Filter, List, Membership, Parameters, Removing, remix};
use lately::{Admission, Error, Promise, Seed, Slack, Span, Time, Wait, Window};
use testkit::oracle::{Counts, Within};

use super::subjects::Subject;

/// What is wrong, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Flaw {
    /// Nothing.
    #[default]
    None,
    /// Keeps a millisecond less than it promises.
    ForgetsEarly,
    /// Never forgets while nothing is inserted.
    SleepsWhenIdle,
    /// Believes a clock that goes back, and with it stamps keys older than they are.
    Rewinds,
    /// Cannot set its clock back.
    KeepsItsClock,
    /// Sets its clock forward, too.
    TurnsForward,
    /// Moves all moments back by as much as the clock.
    MovesAllMoments,
    /// Sets its clock back, but not the moments of what it stored.
    KeepsItsMoments,
    /// Empties itself when its clock is set back.
    ForgetsWhenTurnedBack,
    /// Loses one sighting in a thousand.
    Undercounts,
    /// Adds two where it should add one for one key in ten.
    Overcounts,
    /// Promises a window by count, and counts everything.
    NeverSlides,
    /// Does not take back one time in ten.
    KeepsWhatIsTakenBack,
    /// Takes back one more than it should one time in ten.
    TakesBackTooMuch,
    /// Pretends to take back what was never there.
    TakesBackWhatIsNotThere,
    /// Says that it cannot take back, and does.
    TakesBackSecretly,
    /// Tells how many sightings there were where it should tell how many different keys.
    TellsSightings,
    /// Loses one key in ten when it is merged or multiplied.
    LosesWhenCombining,
    /// Merges with filters of any kind.
    CombinesWithAnything,
    /// Lets counts go a millisecond before their time.
    CountsTooShort,
    /// Never lets a count go.
    CountsForEver,
    /// Counts what it denies.
    CountsTheDenied,
    /// Lets one more pass than the limit one time in ten.
    AdmitsOneMore,
    /// Denies one time in ten for no reason.
    DeniesAtWill,
}

const SPAN: Span = Span::from_millis(100);

/// A subject that builds exact filters with this flaw.
pub fn model(flaw: Flaw) -> Subject {
    Subject::of(Box::new(ModelBlueprint { flaw }))
}

#[derive(Debug, Clone, Copy, Default)]
struct ModelBlueprint {
    flaw: Flaw,
}

impl Parameters for ModelBlueprint {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.shown("flaw", || format!("{:?}", self.flaw));
        Ok(())
    }
}

impl Blueprint for ModelBlueprint {
    fn promise(&self) -> Promise {
        let (window, slack) = match self.flaw {
            Flaw::NeverSlides => (Window::Last(200), Slack::Items(0)),
            _ => (Window::Within(SPAN), Slack::Time(Span::from_millis(0))),
        };
        Promise { window, slack, false_positives: 0.001, false_negatives: 0.0 }
    }

    fn heap_bytes(&self) -> u64 {
        0
    }

    fn lines_touched(&self) -> f64 {
        1.0
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        let kept = SPAN.millis() - u64::from(self.flaw == Flaw::ForgetsEarly);
        Box::new(Model {
            blueprint: *self,
            seen: Within::new(kept),
            behind: 0,
            unturned: None,
            stamps: HashMap::new(),
            counts: Counts::new(),
            sightings: VecDeque::new(),
            additions: 0,
            is_product: false,
        })
    }
}

#[derive(Debug, Clone)]
struct Model {
    blueprint: ModelBlueprint,
    seen: Within,
    /// How much earlier its moments are than those of `seen`.
    behind: u64,
    /// What it stored before its clock was set back, if it still believes in those moments.
    unturned: Option<Within>,
    /// When each key was last inserted, by the clock as given.
    stamps: HashMap<u64, u64>,
    counts: Counts,
    /// What was counted when, the oldest first; what left the window is in neither.
    sightings: VecDeque<(u64, u64, u64)>,
    additions: u64,
    is_product: bool,
}

impl Membership for Model {
    fn insert_hash(&mut self, hash: u64, now: Time) -> bool {
        let now = now.millis() + self.behind;
        let before = self.stamps.insert(hash, now);
        let new = self.seen.insert(hash, now);
        match self.blueprint.flaw {
            Flaw::Rewinds => before.is_none_or(|before| before + SPAN.millis() < now),
            _ => new && !self.lingers(hash, now),
        }
    }

    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        self.seen.insert_new(hash, now.millis() + self.behind)
    }

    fn contains_hash(&self, hash: u64, now: Time) -> bool {
        if self.counts.count(hash) > 0 || self.lingers(hash, now.millis()) {
            return true;
        }
        match self.blueprint.flaw {
            Flaw::SleepsWhenIdle => self.seen.contains(hash, self.seen.clock_ms()),
            _ => self.seen.contains(hash, now.millis() + self.behind),
        }
    }
}

impl Counting for Model {
    fn add_hash(&mut self, hash: u64, times: u64, now: Time) -> u64 {
        self.let_go(now);
        self.additions += 1;
        let times = match self.blueprint.flaw {
            Flaw::Undercounts if self.additions.is_multiple_of(1000) => times - 1,
            Flaw::Overcounts if hash.is_multiple_of(10) => times + 1,
            _ => times,
        };
        self.counts.add(hash, times);
        self.sightings.push_back((now.millis(), hash, times));
        self.counts.count(hash)
    }

    fn count_hash(&self, hash: u64, now: Time) -> u64 {
        let gone = self.sightings.iter().take_while(|sighting| self.has_left(sighting.0, now));
        let gone: u64 = gone.filter(|sighting| sighting.1 == hash).map(|sighting| sighting.2).sum();
        self.counts.count(hash).saturating_sub(gone)
    }

    fn admit_hash(&mut self, hash: u64, times: u64, limit: u64, now: Time) -> Admission {
        self.let_go(now);
        let before = self.counts.count(hash);
        let at_will = remix(self.additions, hash).is_multiple_of(10);
        let limit = match self.blueprint.flaw {
            Flaw::AdmitsOneMore if at_will => limit + 1,
            Flaw::DeniesAtWill if at_will => 0,
            _ => limit,
        };
        let allowed = before + times <= limit;
        if allowed || self.blueprint.flaw == Flaw::CountsTheDenied {
            self.add_hash(hash, times, now);
        }
        let count = self.counts.count(hash);
        let wait = (!allowed).then(|| {
            let mut left = before + times - limit;
            let leaves =
                self.sightings.iter().filter(|sighting| sighting.1 == hash).find(|found| {
                    left = left.saturating_sub(found.2);
                    left == 0
                });
            let leaves = leaves.map_or(0, |sighting| sighting.0 + SPAN.millis() + 1);
            Wait::Time(Span::from_millis(leaves.saturating_sub(now.millis())))
        });
        Admission { allowed, count, surely: before, left: limit.saturating_sub(count), wait }
    }

    fn take_back_hash(&mut self, hash: u64, times: u64, _now: Time) -> Result<u64, Error> {
        let found = self.counts.count(hash);
        if times > found && self.blueprint.flaw != Flaw::TakesBackWhatIsNotThere {
            return Err(Error::TooFew { asked: times, found });
        }
        self.additions += 1;
        let taken = match self.blueprint.flaw {
            Flaw::KeepsWhatIsTakenBack if self.additions.is_multiple_of(10) => 0,
            Flaw::TakesBackTooMuch if self.additions.is_multiple_of(10) => times + 1,
            _ => times,
        };
        self.counts.remove(hash, taken.min(found));
        match self.blueprint.flaw {
            Flaw::TakesBackSecretly => {
                Err(Error::Unsupported { operation: "take back", instead: "count again" })
            }
            _ => Ok(self.counts.count(hash)),
        }
    }

    fn merge(&mut self, other: &dyn Filter) -> Result<(), Error> {
        self.combine(other, |ours, theirs| ours + theirs)
    }

    fn multiply(&mut self, other: &dyn Filter) -> Result<(), Error> {
        self.combine(other, |ours, theirs| ours * theirs)?;
        self.is_product = true;
        Ok(())
    }
}

impl Model {
    /// Whether what was counted at a moment has left the window.
    fn has_left(&self, at: u64, now: Time) -> bool {
        let kept = match self.blueprint.flaw {
            Flaw::NeverSlides | Flaw::CountsForEver => return false,
            Flaw::CountsTooShort => SPAN.millis() - 1,
            _ => SPAN.millis(),
        };
        now.millis().saturating_sub(at) > kept
    }

    fn let_go(&mut self, now: Time) {
        while self.sightings.front().is_some_and(|sighting| self.has_left(sighting.0, now)) {
            let (_, hash, times) = self.sightings.pop_front().unwrap();
            self.counts.remove(hash, times.min(self.counts.count(hash)));
        }
    }

    fn lingers(&self, hash: u64, now: u64) -> bool {
        self.unturned.as_ref().is_some_and(|seen| seen.contains(hash, now))
    }

    fn combine(&mut self, other: &dyn Filter, by: fn(u64, u64) -> u64) -> Result<(), Error> {
        let flaw = self.blueprint.flaw;
        let Some(other) = (other as &dyn Any).downcast_ref::<Model>() else {
            let differences = "structure".to_owned();
            let refused = Err(Error::Different { differences });
            return if flaw == Flaw::CombinesWithAnything { Ok(()) } else { refused };
        };
        let mut combined = Counts::new();
        let keys = self.counts.iter().chain(other.counts.iter()).map(|(key, _)| key);
        for key in keys.collect::<HashSet<u64>>() {
            if flaw != Flaw::LosesWhenCombining || !key.is_multiple_of(10) {
                combined.add(key, by(self.counts.count(key), other.counts.count(key)));
            }
        }
        self.counts = combined;
        Ok(())
    }
}

impl Removing for Model {
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.take_back_hash(hash, 1, Time::ZERO).is_ok()
    }
}

impl Filter for Model {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.blueprint
    }

    fn heap_bytes(&self) -> u64 {
        0
    }

    fn false_positive_rate(&self) -> f64 {
        0.0
    }

    fn clock(&self) -> Option<Time> {
        let is_used = self.seen.iter(0).next().is_some();
        is_used.then(|| Time::from_millis(self.seen.clock_ms() - self.behind))
    }

    fn turn_back(&mut self, now: Time) {
        let Some(clock) = self.clock().filter(|&clock| clock > now) else {
            if self.blueprint.flaw == Flaw::TurnsForward {
                self.seen.insert(u64::MAX, now.millis());
            }
            return;
        };
        match self.blueprint.flaw {
            Flaw::KeepsItsClock => return,
            Flaw::MovesAllMoments => return self.behind += clock.since(now).millis(),
            Flaw::KeepsItsMoments => self.unturned = Some(self.seen.clone()),
            Flaw::ForgetsWhenTurnedBack => {
                self.seen = Within::new(SPAN.millis());
                self.seen.insert(u64::MAX, now.millis());
            }
            _ => {}
        }
        self.seen.turn_back(now.millis());
    }

    fn write_payload(&self, _out: &mut Writer) {}

    fn counting(&self) -> Option<&dyn Counting> {
        Some(self)
    }

    fn as_counting(&mut self) -> Option<&mut dyn Counting> {
        Some(self)
    }

    fn distinct(&self, _now: Time) -> Option<f64> {
        let sightings = self.counts.iter().map(|(_, count)| count).sum();
        let told = self.blueprint.flaw == Flaw::TellsSightings;
        Some(if told { sightings } else { self.counts.distinct() } as f64)
    }

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        let cannot = self.is_product || self.blueprint.flaw == Flaw::TakesBackSecretly;
        if cannot { None } else { Some(self) }
    }
}
