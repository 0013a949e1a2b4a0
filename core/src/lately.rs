//! The type everyone meets first: say the window and the error, then insert keys.

use crate::catalog;
use crate::codec;
use crate::error::Error;
use crate::filter::{Filter, Promise};
use crate::hash::{Hashing, Seed};
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
        Ok(Self { hashing, filter })
    }

    /// Everything needed to go on later, or elsewhere.
    pub fn save(&self) -> Vec<u8> {
        codec::save(&*self.filter, self.hashing)
    }

    /// Records a sighting; `true` if the key was not in the window. For windows by count.
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> bool {
        self.insert_at(key, Time::ZERO)
    }

    /// Records a sighting at a moment; `true` if the key was not in the window.
    pub fn insert_at(&mut self, key: impl AsRef<[u8]>, now: Time) -> bool {
        self.filter.insert_hash(self.hashing.hash(key.as_ref()), now)
    }

    /// Like [`insert_at`](Self::insert_at), but a repeat does not start the key's window anew.
    pub fn insert_new_at(&mut self, key: impl AsRef<[u8]>, now: Time) -> bool {
        self.filter.insert_new_hash(self.hashing.hash(key.as_ref()), now)
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
        Ok(Self { hashing: self.hashing, filter })
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
}

impl From<Goal> for Builder {
    fn from(goal: Goal) -> Self {
        Self { goal, hashing: Hashing::default(), structure: None }
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
        Ok(Lately { hashing: self.hashing, filter })
    }
}
