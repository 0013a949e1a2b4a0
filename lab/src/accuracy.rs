//! Counts wrong answers against the exact truth, through a structure's whole life.
//!
//! A life is four windows of the stream, so that every key has been forgotten at least once; for a
//! set without a window it is as many items as the set was sized for. After every quarter of a
//! window we stop and ask about keys never inserted: a promise holds at the worst moment, and only
//! asking at many moments meets it. Every life has its own seed, because questions to one filter
//! share its luck.

use std::collections::HashSet;

use anyhow::{Context, Result};
use lately::plan::Goal;
use lately::{Time, Window};
use testkit::random::{SplitMix64, derive};
use testkit::streams;

use crate::contender::{Contender, Profile, Subject};
use crate::heap::Meter;
use crate::record::{Errors, Moment, Tally};
use crate::stream::Stream;
use crate::truth::{Place, Truth};

/// How hard to look.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Lives, each with its own seed.
    pub lives: u64,
    /// Questions about keys never inserted at each moment.
    pub probes: u64,
    /// Insertions at most, where that leaves at least one life. Large structures need fewer lives:
    /// their luck evens out within one.
    pub insertions: u64,
    /// Cache lines to read at most; slow structures are asked less, or not at all.
    pub lines: f64,
}

impl Effort {
    /// For `verify`: the work of a fraction of a second.
    pub const VERIFY: Effort =
        Effort { lives: 4, probes: 10_000, insertions: 1_000_000, lines: 1.5e7 };
    /// For a shortened run.
    pub const QUICK: Effort =
        Effort { lives: 4, probes: 40_000, insertions: 1_000_000, lines: 1e8 };
    /// For figures worth keeping.
    pub const FULL: Effort =
        Effort { lives: 8, probes: 200_000, insertions: 8_000_000, lines: 1e9 };

    /// The effort that a structure can bear that reads so many lines per operation, over lives of
    /// so many insertions; `None` if not even one life.
    fn bearable(self, lines_touched: f64, life: u64) -> Option<Effort> {
        let operations = (self.lines / lines_touched.max(1.0)) as u64;
        // At least half of the operations are left for questions.
        let affordable = operations / (2 * life);
        let lives = (self.insertions / life).clamp(1, self.lives).min(affordable);
        if lives == 0 {
            return None;
        }
        let moments = 4 * WINDOWS;
        let probes = (operations / lives - life).div_ceil(moments).min(self.probes);
        Some(Effort { lives, probes, ..self })
    }
}

/// Windows in a life.
const WINDOWS: u64 = 4;

/// What came out.
pub enum Outcome {
    /// It was measured.
    Measured(Box<Measured>),
    /// It would have taken too long; says why.
    Skipped(String),
}

/// What was counted, and what the subject says about itself at the end of its life.
pub struct Measured {
    /// Wrong answers of all lives.
    pub errors: Errors,
    /// Bytes on the heap at the end of the last life.
    pub heap_bytes: u64,
    /// The subject's account of itself at that moment.
    pub profile: Profile,
}

/// Why somebody who reads so many cache lines per operation is not measured.
pub fn too_slow(lines: f64) -> String {
    format!("it reads {lines:.0} cache lines per operation")
}

/// Lets a contender live through the stream, and counts its wrong answers.
pub fn measure(
    contender: Contender,
    goal: &Goal,
    stream: &Stream,
    seed: u64,
    effort: Effort,
) -> Result<Outcome> {
    let items = goal.items().context("the goal does not say how many items to expect")?;
    let length = if goal.window == Window::Ever { items } else { WINDOWS * items };
    let profile = contender.fresh(goal, seed)?.profile();
    let lines = profile.lines_touched.unwrap_or(1.0);
    let Some(effort) = effort.bearable(lines, length) else {
        return Ok(Outcome::Skipped(too_slow(lines)));
    };
    let mut measured = Measured { errors: Errors::default(), heap_bytes: 0, profile };
    for life in 0..effort.lives {
        let seed = derive(seed, &format!("life {life}"));
        let events: Vec<(u64, Time)> = (stream.open)(goal, seed)
            .take(length as usize)
            .map(|(key, millis)| (key, Time::from_millis(millis)))
            .collect();
        let mut meter = Meter::default();
        let subject = meter.during(|| contender.fresh(goal, seed))?;
        let truth = Truth::new(&measured.profile.promise);
        let random = SplitMix64::new(derive(seed, "probes"));
        let mut life =
            Life { subject, meter, truth, random, events, items, steady_after: length / 2 };
        if goal.window == Window::Ever {
            life.steady_after = items;
        }
        life.live(effort.probes, &mut streams::absent(seed), &mut measured.errors);
        measured.heap_bytes = life.meter.bytes();
        measured.profile = life.subject.profile();
    }
    Ok(Outcome::Measured(Box::new(measured)))
}

/// One subject, one stream, one truth.
struct Life {
    subject: Box<dyn Subject>,
    meter: Meter,
    truth: Truth,
    random: SplitMix64,
    events: Vec<(u64, Time)>,
    /// Items in a window.
    items: u64,
    /// Insertions after which the structure has reached its steady state.
    steady_after: u64,
}

impl Life {
    fn live(&mut self, probes: u64, absent: &mut impl Iterator<Item = u64>, errors: &mut Errors) {
        let step = self.items.div_ceil(4) as usize;
        let events = std::mem::take(&mut self.events);
        let mut answers = Vec::with_capacity(step);
        for (index, chunk) in events.chunks(step).enumerate() {
            answers.clear();
            let subject = &mut self.subject;
            self.meter.during(|| {
                answers.extend(chunk.iter().map(|&(key, now)| subject.insert(key, now)));
            });
            for (&(key, now), &new) in chunk.iter().zip(&answers) {
                self.judge(key, now, !new, errors);
                self.truth.insert(key, now);
            }
            let inserted = index * step + chunk.len();
            let now = chunk.last().map_or(Time::ZERO, |&(_, now)| now);
            self.look_up_recent(&events[..inserted], now, probes / 10, errors);
            let unseen = self.look_up_absent(absent.take(probes as usize), now);
            let inserted = inserted as u64;
            let steady = inserted >= self.steady_after;
            match errors.moments.get_mut(index) {
                Some(moment) => moment.unseen.add(unseen),
                None => errors.moments.push(Moment { inserted, steady, unseen }),
            }
        }
        self.look_up_expired(&events, probes, errors);
    }

    /// Keys of the last window, the oldest and the newest always among them.
    fn look_up_recent(&mut self, past: &[(u64, Time)], now: Time, count: u64, errors: &mut Errors) {
        let recent = &past[past.len() - past.len().min(self.items as usize)..];
        let random = (0..count).map(|_| self.random.below(recent.len() as u64) as usize);
        let chosen: Vec<usize> = [0, recent.len() - 1].into_iter().chain(random).collect();
        for index in chosen {
            let (key, _) = recent[index];
            if self.truth.place(key, now) == Place::Inside {
                errors.inside.count(!self.subject.contains(key, now));
            }
        }
    }

    fn look_up_absent(&self, keys: impl Iterator<Item = u64>, now: Time) -> Tally {
        let mut unseen = Tally::default();
        keys.for_each(|key| unseen.count(self.subject.contains(key, now)));
        unseen
    }

    /// Keys older than window and slack, each once: what is wrong about one stays wrong.
    fn look_up_expired(&self, past: &[(u64, Time)], count: u64, errors: &mut Errors) {
        let now = past.last().map_or(Time::ZERO, |&(_, now)| now);
        let mut asked = HashSet::new();
        let expired = past
            .iter()
            .map(|&(key, _)| key)
            .filter(|&key| self.truth.place(key, now) == Place::Outside && asked.insert(key));
        for key in expired.take(count as usize) {
            errors.outside.count(self.subject.contains(key, now));
        }
    }

    fn judge(&self, key: u64, now: Time, seen: bool, errors: &mut Errors) {
        match self.truth.place(key, now) {
            Place::Inside => errors.inside.count(!seen),
            Place::Slack => {}
            Place::Outside => errors.outside.count(seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{BORDERS, DISTINCT};
    use lately::ErrorRate;
    use lately_papers::CATALOG;

    fn goal() -> Goal {
        Goal::new(Window::Last(1000), ErrorRate::new(0.01).unwrap())
    }

    #[test]
    fn a_good_structure_is_measured_as_promised() {
        let contender = Contender::Row(CATALOG.row("double-buffer").unwrap());
        for stream in [&DISTINCT, &BORDERS] {
            let outcome = measure(contender, &goal(), stream, 7, Effort::VERIFY).unwrap();
            let Outcome::Measured(measured) = outcome else { panic!("it is fast") };
            assert_eq!(measured.errors.inside.hits, 0);
            assert!(measured.errors.inside.trials > 10_000);
            assert_eq!(measured.errors.moments.len(), 16);
            let worst = measured.errors.worst();
            assert!((0.004..0.013).contains(&worst.rate()), "{worst:?}");
        }
    }

    #[test]
    fn slow_structures_are_asked_less_or_not_at_all() {
        let effort = Effort { lives: 8, probes: 1000, insertions: 10_000, lines: 1e6 };
        assert_eq!(effort.bearable(1.0, 1000).unwrap().lives, 8);
        assert_eq!(effort.bearable(1.0, 5000).unwrap().lives, 2);
        assert_eq!(effort.bearable(1.0, 50_000).unwrap().lives, 1);
        let slow = effort.bearable(100.0, 1000).unwrap();
        assert!(slow.lives * (1000 + 16 * slow.probes) <= 10_000 + 16 * slow.lives);
        assert!(effort.bearable(1000.0, 1000).is_none());
    }
}
