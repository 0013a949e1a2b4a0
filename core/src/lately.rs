//! The type everyone meets first: say the window and the error, then insert keys.

use std::sync::Arc;

use crate::catalog;
use crate::clock::{Clock, SystemClock};
use crate::codec;
use crate::error::Error;
use crate::filter::{Filter, Promise};
use crate::hash::{Hashing, Seed};
use crate::horizon::{Horizon, Lookout};
use crate::memory::Memory;
use crate::plan::{Goal, Limit, Plan};
use crate::rate::ErrorRate;
use crate::window::{Slack, Span, Time, Window};

/// Remembers keys: any structure of the catalog behind one door, where keys become hashes.
///
/// ```
/// use lately::{ErrorRate, Lately};
///
/// let mut seen = Lately::last(100_000).error(ErrorRate::new(0.001)?).build()?;
/// assert!(seen.insert("click 17"));
/// assert!(!seen.insert("click 17"));
///
/// let saved = seen.save();
/// let again = Lately::open(&saved)?;
/// assert!(again.contains("click 17"));
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Debug)]
pub struct Lately {
    hashing: Hashing,
    filter: Box<dyn Filter>,
    lookout: Lookout,
}

impl Lately {
    /// Remembers the last `n` insertions.
    pub fn last(n: u64) -> Builder {
        Builder::new(Window::Last(n))
    }

    /// Remembers the insertions of the last `span`; pass the time with [`insert_at`](Self::insert_at).
    pub fn within(span: Span) -> Builder {
        Builder::new(Window::Within(span))
    }

    /// Remembers everything.
    pub fn ever() -> Builder {
        Builder::new(Window::Ever)
    }

    /// The filter in a snapshot that [`save`](Self::save) made, in this or an older release.
    pub fn open(snapshot: &[u8]) -> Result<Self, Error> {
        let (filter, hashing) = codec::open(snapshot)?;
        let lookout = Lookout::new(Horizon::of(filter.blueprint().promise().window, None));
        Ok(Self { hashing, filter, lookout })
    }

    /// Everything needed to go on later, or elsewhere.
    pub fn save(&self) -> Vec<u8> {
        codec::save(&*self.filter, self.hashing)
    }

    /// Records a sighting; `true` if the key was not in the window. For windows by count.
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> bool {
        self.filter.insert_hash(self.hashing.hash(key.as_ref()), Time::ZERO)
    }

    /// Records a sighting at a moment; `true` if the key was not in the window.
    ///
    /// A moment before the latest counts as the latest. One that is too far ahead is an error and
    /// changes nothing: see [`max_ahead`](Builder::max_ahead).
    ///
    /// ```
    /// use lately::{Error, Lately, Time};
    ///
    /// let mut seen = Lately::within("10m".parse()?).build()?;
    /// assert!(seen.insert_at("click 17", Time::from_millis(1_700_000_000_000))?);
    /// // Microseconds by mistake.
    /// let wrong = seen.insert_at("click 18", Time::from_millis(1_700_000_000_000_000));
    /// assert!(matches!(wrong, Err(Error::TooFarAhead { .. })));
    /// assert!(!seen.insert_at("click 17", Time::from_millis(1_700_000_000_001))?);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn insert_at(&mut self, key: impl AsRef<[u8]>, now: Time) -> Result<bool, Error> {
        self.lookout.check(now, || self.filter.clock())?;
        Ok(self.filter.insert_hash(self.hashing.hash(key.as_ref()), now))
    }

    /// Like [`insert_at`](Self::insert_at), but a repeat does not start the key's window anew.
    pub fn insert_new_at(&mut self, key: impl AsRef<[u8]>, now: Time) -> Result<bool, Error> {
        self.lookout.check(now, || self.filter.clock())?;
        Ok(self.filter.insert_new_hash(self.hashing.hash(key.as_ref()), now))
    }

    /// The latest moment of any insertion into a window by time, if there was one.
    pub fn clock(&self) -> Option<Time> {
        self.filter.clock()
    }

    /// Sets the clock back to `now` if it is later: the remedy for a moment that was wrong. What is
    /// in the window stays in it, for one more window at most.
    pub fn turn_back(&mut self, now: Time) {
        self.filter_mut().turn_back(now);
    }

    /// The same with another limit to how far ahead a moment is believed, as
    /// [`max_ahead`](Builder::max_ahead) says, and another clock: for filters that were
    /// [opened](Self::open), since both are no part of a snapshot.
    pub fn believing(self, max_ahead: Span, clock: impl Clock + 'static) -> Self {
        let horizon = Horizon::of(self.promise().window, Some(max_ahead));
        let lookout = Lookout::with_clock(horizon, Arc::new(clock));
        Self { lookout, ..self }
    }

    /// Whether the key is in the window. For windows by count.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        self.contains_at(key, Time::ZERO)
    }

    /// Whether the key is in the window at a moment.
    pub fn contains_at(&self, key: impl AsRef<[u8]>, now: Time) -> bool {
        self.filter.contains_hash(self.hashing.hash(key.as_ref()), now)
    }

    /// Records `times` sightings and says how often the key has now been seen; an error unless it
    /// was built for [`counting`](Builder::counting).
    pub fn add(&mut self, key: impl AsRef<[u8]>, times: u64) -> Result<u64, Error> {
        let hash = self.hashing.hash(key.as_ref());
        let counter = self.filter.as_counting().ok_or(NO_COUNTER)?;
        Ok(counter.add_hash(hash, times, Time::ZERO))
    }

    /// How often the key was seen; an error unless it was built for counting.
    pub fn count(&self, key: impl AsRef<[u8]>) -> Result<u64, Error> {
        let counter = self.filter.counting().ok_or(NO_COUNTER)?;
        Ok(counter.count_hash(self.hashing.hash(key.as_ref()), Time::ZERO))
    }

    /// Takes back `times` sightings of a key that was seen so often, and says how often it still
    /// counts; an error unless it was built for counting and [`removing`](Builder::removing).
    pub fn take_back(&mut self, key: impl AsRef<[u8]>, times: u64) -> Result<u64, Error> {
        let hash = self.hashing.hash(key.as_ref());
        let counter = self.filter.as_counting().ok_or(NO_COUNTER)?;
        counter.take_back_hash(hash, times, Time::ZERO)
    }

    /// Adds all that another filter counted: then both count as one that saw both streams. An error
    /// that says in what they differ unless both were built alike, with the same seed.
    pub fn merge(&mut self, other: &Lately) -> Result<(), Error> {
        self.check_hashing(other)?;
        self.filter.as_counting().ok_or(NO_COUNTER)?.merge(&*other.filter)
    }

    /// Multiplies every count by that of another filter: rows of the join of two relations, key by
    /// key. An error that says in what they differ unless both were built alike, with the same seed.
    pub fn multiply(&mut self, other: &Lately) -> Result<(), Error> {
        self.check_hashing(other)?;
        self.filter.as_counting().ok_or(NO_COUNTER)?.multiply(&*other.filter)
    }

    /// An empty filter that is built alike and hashes alike: what it counts can be merged with this
    /// one, or multiplied by it.
    pub fn empty_alike(&self) -> Result<Self, Error> {
        let filter = self.filter.blueprint().build(self.hashing.structure_seed())?;
        Ok(Self { hashing: self.hashing, filter, lookout: self.lookout.clone() })
    }

    fn check_hashing(&self, other: &Lately) -> Result<(), Error> {
        let differences = match (self.hashing, other.hashing) {
            (ours, theirs) if ours == theirs => return Ok(()),
            (Hashing::Fast(ours), Hashing::Fast(theirs)) => {
                format!("seed ({} and {})", ours.0, theirs.0)
            }
            // Secrets stay secret.
            (Hashing::Keyed(_), Hashing::Keyed(_)) => "their secret keys".to_owned(),
            _ => "hashing (one is keyed)".to_owned(),
        };
        Err(Error::Different { differences })
    }

    /// How keys become hashes, for callers that hash ahead and use [`filter_mut`](Self::filter_mut).
    pub fn hashing(&self) -> Hashing {
        self.hashing
    }

    /// What is promised.
    pub fn promise(&self) -> Promise {
        self.filter.blueprint().promise()
    }

    /// The structure itself, over hashes.
    pub fn filter(&self) -> &dyn Filter {
        &*self.filter
    }

    /// The structure itself, over hashes, to change.
    pub fn filter_mut(&mut self) -> &mut dyn Filter {
        // Its clock may be set back.
        self.lookout.forget();
        &mut *self.filter
    }
}

/// What is said when a filter that does not count is asked to.
const NO_COUNTER: Error = Error::Unsupported {
    operation: "count",
    instead: "build it for counting: `counting()`, or `--count`",
};

/// Says what is wanted of a [`Lately`].
#[derive(Debug, Clone)]
pub struct Builder {
    goal: Goal,
    hashing: Hashing,
    structure: Option<String>,
    max_ahead: Option<Span>,
    clock: Arc<dyn Clock>,
}

impl From<Goal> for Builder {
    fn from(goal: Goal) -> Self {
        let clock = Arc::new(SystemClock);
        Self { goal, hashing: Hashing::default(), structure: None, max_ahead: None, clock }
    }
}

impl Builder {
    fn new(window: Window) -> Self {
        Goal::new(window, ErrorRate::DEFAULT).into()
    }

    /// At most this share of unseen keys is reported as seen; memory follows.
    pub fn error(mut self, rate: ErrorRate) -> Self {
        self.goal.limit = Limit::Error(rate);
        self
    }

    /// At most this much memory; the error follows.
    pub fn memory(mut self, memory: Memory) -> Self {
        self.goal.limit = Limit::Memory(memory);
        self
    }

    /// At most this much longer than the window may a key be reported.
    pub fn slack(mut self, slack: Slack) -> Self {
        self.goal.slack = slack;
        self
    }

    /// About how many keys to expect in a window by time or without end; only a hint.
    pub fn expected_items(mut self, items: u64) -> Self {
        self.goal.expected_items = Some(items);
        self
    }

    /// It must answer how often, not only whether.
    pub fn counting(mut self) -> Self {
        self.goal.counting = true;
        self
    }

    /// Insertions must be taken back.
    pub fn removing(mut self) -> Self {
        self.goal.removing = true;
        self
    }

    /// How many different keys there are, if that is known.
    pub fn alphabet(mut self, keys: u64) -> Self {
        self.goal.alphabet = Some(keys);
        self
    }

    /// A seed, so that two filters make different mistakes. Without one it is zero.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.hashing = Hashing::Fast(seed);
        self
    }

    /// A secret key, for streams that an adversary may write to.
    pub fn keyed(mut self, secret: [u8; 16]) -> Self {
        self.hashing = Hashing::Keyed(secret);
        self
    }

    /// This structure and no other; by its name in the catalog.
    pub fn structure(mut self, name: impl Into<String>) -> Self {
        self.structure = Some(name.into());
        self
    }

    /// So far ahead of the [`clock`](Self::clock) may the moment of an insertion be; one that is
    /// further is refused, lest a single wrong moment spoil the window. Without it, as far as the
    /// window reaches back, or an hour if that is more; [`Span::LONGEST`] believes everything.
    pub fn max_ahead(mut self, span: Span) -> Self {
        self.max_ahead = Some(span);
        self
    }

    /// The clock that moments may be ahead of; without it, that of the machine. Only a moment
    /// that may be too far ahead makes anyone look at it. With [`NoClock`](crate::NoClock) the
    /// latest moment seen counts instead: then answers are the same on every machine, but the
    /// first moment is believed, and a gap longer than `max_ahead` is not.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The plan that [`build`](Self::build) will carry out.
    pub fn plan(&self) -> Result<Plan, Error> {
        match &self.structure {
            Some(name) => self.goal.plan_with(catalog::row_named(name)?),
            None => Ok(self.goal.plans()?.swap_remove(0)),
        }
    }

    /// Allocates the filter.
    pub fn build(&self) -> Result<Lately, Error> {
        let filter = self.plan()?.blueprint.build(self.hashing.structure_seed())?;
        let horizon = Horizon::of(filter.blueprint().promise().window, self.max_ahead);
        let lookout = Lookout::with_clock(horizon, Arc::clone(&self.clock));
        Ok(Lately { hashing: self.hashing, filter, lookout })
    }
}
