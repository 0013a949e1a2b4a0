//! Says what is wanted of a filter; what it builds is in its type.

mod timed;

#[cfg(feature = "std")]
use super::shared::{self, Shared};
use super::{Counter, Lately};
use crate::catalog::{CATALOG, Row};
use crate::error::Error;
use crate::hash::{Hashing, Seed};
use crate::memory::Memory;
use crate::plan::{Goal, Limit, Plan};
use crate::rate::ErrorRate;
use crate::untyped::Untyped;
use crate::window::{Slack, Window};

/// A type of filter that a [`Builder`] can build.
pub trait Door: Sized {
    /// What it knows about time.
    type Time;

    /// Wraps a filter; an error if it is of another kind.
    fn enter(inner: Untyped, time: Self::Time) -> Result<Self, Error>;
}

/// Says what is wanted of a [`Lately`] or a [`Counter`].
///
/// ```
/// use lately::Lately;
///
/// let builder = Lately::last(1_000_000).error(0.01);
/// assert!(builder.plan()?.bits_per_item.unwrap() < 15.0);
/// let mut seen = builder.build()?;
/// # seen.insert("click 17");
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Builder<D: Door> {
    pub(super) goal: Goal,
    pub(super) hashing: Hashing,
    pub(super) row: Option<&'static Row>,
    pub(super) time: D::Time,
    /// Parts of a filter that threads share.
    pub(super) parts: Option<u32>,
    /// What was refused: told when it is built.
    refused: Option<Error>,
}

impl<D: Door> Builder<D> {
    pub(super) fn new(window: Window, time: D::Time) -> Self {
        Self::of(Goal::new(window, ErrorRate::DEFAULT), time)
    }

    fn of(goal: Goal, time: D::Time) -> Self {
        let hashing = Hashing::default();
        Self { goal, hashing, row: None, time, parts: None, refused: None }
    }

    /// At most this share of unseen keys is reported as seen, from 1e-9 up to but below 1; memory
    /// follows. Without it, one in a thousand.
    ///
    /// ```
    /// let seen = lately::Lately::last(1000).error(0.01).build()?;
    /// assert!(seen.promise().false_positives <= 0.01);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn error(mut self, rate: impl Into<f64>) -> Self {
        match ErrorRate::new(rate.into()) {
            Ok(rate) => self.goal.limit = Limit::Error(rate),
            Err(error) => self.refused = Some(error),
        }
        self
    }

    /// At most this many bytes of memory; the error follows.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).memory(2_000_000).build()?;
    /// assert!(seen.heap_bytes() <= 2_000_000);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn memory(mut self, bytes: u64) -> Self {
        self.goal.limit = Limit::Memory(Memory::from_bytes(bytes));
        self
    }

    /// About how many different keys to expect; only a hint. In a window by count it is for streams in which
    /// most keys repeat: memory follows the different ones then, and not the length of the window.
    ///
    /// ```
    /// let plan = lately::Lately::ever().expected_items(1_000_000).error(0.01).plan()?;
    /// assert!(plan.bits_per_item.unwrap() < 20.0);
    /// let plan = lately::Lately::last(100_000_000).expected_items(1_000_000).plan()?;
    /// assert!(plan.bytes < 3_000_000);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn expected_items(mut self, items: u64) -> Self {
        self.goal.expected_items = Some(items);
        self
    }

    /// Insertions must be taken back.
    ///
    /// ```
    /// let mut seen = lately::Lately::ever().removing().build()?;
    /// seen.insert("order 5");
    /// assert!(seen.forget("order 5")?);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn removing(mut self) -> Self {
        self.goal.removing = true;
        self
    }

    /// How many different keys there are, if that is known.
    ///
    /// ```
    /// let plan = lately::Lately::last(1_000).alphabet(5_000).memory(1_000).plan()?;
    /// assert!(plan.bytes <= 1_000);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn alphabet(mut self, keys: u64) -> Self {
        self.goal.alphabet = Some(keys);
        self
    }

    /// A seed, so that two filters make different mistakes. Without one it is zero.
    ///
    /// ```
    /// use lately::{Hashing, Lately, Seed};
    ///
    /// assert_eq!(Lately::last(9).seed(7).build()?.hashing(), Hashing::Fast(Seed(7)));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn seed(mut self, seed: u64) -> Self {
        self.hashing = Hashing::Fast(Seed(seed));
        self
    }

    /// A secret key, for streams that an adversary may write to.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(1000).keyed(*b"sixteen secrets.").build()?;
    /// assert!(seen.insert("nonce 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn keyed(mut self, secret: [u8; 16]) -> Self {
        self.hashing = Hashing::Keyed(secret);
        self
    }

    /// This structure and no other; by its name in the catalog.
    ///
    /// ```
    /// let seen = lately::Lately::last(1000).structure("age-partitioned").build()?;
    /// assert_eq!(seen.structure(), "age-partitioned");
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn structure(mut self, name: impl AsRef<str>) -> Self {
        match CATALOG.row_named(name.as_ref()) {
            Ok(row) => self.row = Some(row),
            Err(error) => self.refused = Some(error),
        }
        self
    }

    /// This structure and no other, of any [catalog](crate::catalog).
    ///
    /// ```
    /// let row = lately::catalog::CATALOG.row_named("sliding")?;
    /// assert_eq!(lately::Lately::last(1000).row(row).build()?.structure(), "sliding");
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn row(mut self, row: &'static Row) -> Self {
        self.row = Some(row);
        self
    }

    /// The plan that [`build`](Self::build) will carry out.
    ///
    /// ```
    /// let plan = lately::Lately::last(1_000_000).error(0.01).plan()?;
    /// assert!(plan.bytes < 2_000_000);
    /// println!("{}: {}", plan.row.name, plan.reason);
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn plan(&self) -> Result<Plan, Error> {
        if let Some(error) = &self.refused {
            return Err(error.clone());
        }
        match self.row {
            Some(row) => self.goal.plan_with(row),
            None => self.goal.best_plan(),
        }
    }
}

impl<D: Door<Time: Clone>> Builder<D> {
    /// Allocates the filter.
    ///
    /// ```
    /// let mut seen = lately::Lately::last(1000).build()?;
    /// assert!(seen.insert("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn build(&self) -> Result<D, Error> {
        let filter = self.plan()?.blueprint.build(self.hashing.structure_seed())?;
        D::enter(Untyped::new(filter, self.hashing), self.time.clone())
    }
}

#[cfg(feature = "std")]
impl<T: Clone> Builder<Lately<T>>
where
    Lately<T>: Door<Time = T>,
{
    /// Into how many parts a filter that threads share is split, from 1 to 256: each has a lock of its own.
    /// Without it, 64, or fewer for windows of less than 262,144; the same on every machine. A part of a window
    /// over the last *n* is larger than its share by some percent, the more the more parts there are.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).parts(16).build_shared()?;
    /// assert!(seen.insert("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn parts(mut self, parts: u32) -> Self {
        self.parts = Some(parts);
        self
    }

    /// Allocates a filter that many threads use at once.
    ///
    /// ```
    /// let seen = lately::Lately::last(1_000_000).build_shared()?;
    /// std::thread::scope(|scope| {
    ///     for _ in 0..2 {
    ///         scope.spawn(|| seen.insert("click 17"));
    ///     }
    /// });
    /// assert!(seen.contains("click 17"));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn build_shared(&self) -> Result<Shared<T>, Error> {
        self.plan()?;
        let (shards, goal) = shared::split(&self.goal, self.parts)?;
        let one = Self { goal, time: self.time.clone(), refused: None, ..*self };
        let shards = (0..shards.get()).map(|_| one.build()).collect::<Result<_, _>>()?;
        Ok(Shared::of(self.goal.window, self.hashing, shards))
    }
}

impl Builder<Lately> {
    /// At most so many insertions longer than the window may a key be reported; for windows over the
    /// last *n*.
    ///
    /// ```
    /// use lately::{Lately, Slack};
    ///
    /// let seen = Lately::last(1_000_000).slack(100_000).build()?;
    /// assert!(matches!(seen.promise().slack, Slack::Items(items) if items <= 100_000));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn slack(mut self, items: u64) -> Self {
        self.goal.slack = Slack::Items(items);
        self
    }

    /// It must answer how often, not only whether.
    ///
    /// ```
    /// let mut words = lately::Lately::last(1000).counting().build()?;
    /// assert_eq!((words.add("to"), words.add("to")), (1, 2));
    /// # Ok::<(), lately::Error>(())
    /// ```
    pub fn counting(self) -> Builder<Counter> {
        self.for_counting()
    }
}

impl<D: Door> Builder<D> {
    /// The same wishes for a counter.
    pub(super) fn for_counting<C: Door<Time = D::Time>>(self) -> Builder<C> {
        let Self { goal, hashing, row, time, parts, refused } = self;
        Builder { goal: Goal { counting: true, ..goal }, hashing, row, time, parts, refused }
    }
}

/// For programs that learn what they want at run time.
impl From<Goal> for Builder<Untyped> {
    fn from(goal: Goal) -> Self {
        Self::of(goal, ())
    }
}

impl Door for Untyped {
    type Time = ();

    fn enter(inner: Untyped, (): ()) -> Result<Self, Error> {
        Ok(inner)
    }
}
