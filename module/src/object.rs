//! The stored value: any structure of the catalog behind one trait object.

use lately::queries::TopKeys;
use lately::raw::{Filter, codec};
use lately::{Hashing, Seed, Time, Window};

use crate::dump::Dump;
use crate::engine::{Ahead, Answers, Guessable, Heap, Origin, Refusal};
use crate::ours::Call;
pub use crate::tally::{Bloom, Tally};
use crate::top;
use crate::wish::{Wish, WishedHashing};
use crate::{config, metrics};

/// What a key of ours holds.
#[derive(Debug)]
pub enum Value {
    /// A filter at work.
    Filter(Stored),
    /// A filter of which `BF.LOADCHUNK` has brought the first part.
    Arriving(Vec<u8>),
}

impl Value {
    /// The filter, unless it is still arriving.
    pub fn filter(&mut self) -> Result<&mut Stored, Refusal> {
        match self {
            Value::Filter(stored) => Ok(stored),
            Value::Arriving(_) => Err(Refusal::new("this filter is still being loaded")),
        }
    }

    /// Bytes in memory, this value included.
    pub fn memory_bytes(&self) -> usize {
        let inside = match self {
            Value::Filter(stored) => stored.memory_bytes(),
            Value::Arriving(bytes) => bytes.capacity(),
        };
        size_of::<Value>() + inside
    }
}

/// A filter, how its keys are hashed, and what has happened to it.
#[derive(Debug)]
pub struct Stored {
    /// How keys become hashes.
    pub hashing: Hashing,
    /// The structure; changed by this file, by [`change`](Self::change) and by `top`, so that its bytes
    /// stay accounted for.
    pub(super) filter: Guessable,
    /// What has happened to it.
    pub tally: Tally,
    /// What a filter made by `BF.RESERVE` was told.
    pub bloom: Option<Bloom>,
    /// Its items that came most often, if it was reserved to tell them.
    pub(super) top: Option<Box<TopKeys>>,
    /// A dump under way.
    dump: Option<Box<Dump>>,
    /// Bytes that the allocator gave beyond what the structure asked for.
    rounding: i64,
    /// Its bytes as counted in the metrics.
    accounted: u64,
    /// Whether it grows and shrinks.
    adapts: bool,
    /// Whether it asks for the time.
    is_timed: bool,
    /// Whose clock it follows.
    pub clock_of: ClockOf,
    /// The number under which it is looked after while idle; 0 if it is not.
    pub keeper_number: u64,
}

/// Whose clock the latest moment of a window by time is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClockOf {
    /// Of clients, who may speak of any time, or not known.
    #[default]
    Clients,
    /// The server's: as time goes on, so does the filter, also while nothing comes.
    Server,
}

/// What a repeat does to the stay of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// It starts anew.
    Refreshes,
    /// It stays as it is: a key passes at most once per window.
    KeepsItsAge,
}

impl Stored {
    /// An empty filter as wished, and the wish that makes the same one elsewhere.
    pub fn create(call: &Call<'_>, wish: Wish) -> Result<(Self, Wish), Refusal> {
        let plan = wish.plan()?;
        // One that grows starts small; how large it will be is known only if somebody said.
        let is_known = !plan.blueprint.adapts() || wish.capacity.is_some();
        if is_known && !call.is_replayed() {
            config::check_key_bytes(plan.bytes)?;
            call.make_room(plan.bytes)?;
        }
        let hashing = match wish.hashing {
            WishedHashing::Exactly(hashing) => hashing,
            WishedHashing::AnyKeyed => Hashing::Keyed(call.random()),
            WishedHashing::Any => Hashing::Fast(Seed(u64::from_le_bytes(call.random()))),
        };
        let before = Heap::now();
        let filter = plan.blueprint.build(hashing.structure_seed())?;
        let exact = Wish {
            structure: Some(plan.row.name),
            hashing: WishedHashing::Exactly(hashing),
            ..wish
        };
        let mut stored = Self::new(filter, hashing, before.rounding_since());
        stored.bloom = exact.bloom;
        let before = Heap::now();
        stored.top = top::wished(&stored, exact.top)?;
        stored.settle(before);
        Ok((stored, exact))
    }

    /// The filter in a snapshot of the library.
    pub fn open(snapshot: &[u8]) -> Result<Self, lately::Error> {
        let before = Heap::now();
        let (filter, hashing) =
            codec::open(snapshot).inspect_err(|_| metrics::REFUSED_SNAPSHOTS.add(1))?;
        Ok(Self::new(filter, hashing, before.rounding_since()))
    }

    /// The snapshot of the library.
    pub fn save(&self) -> Vec<u8> {
        codec::save(&*self.filter, self.hashing)
    }

    /// The same once more.
    pub fn copy(&self) -> Result<Self, lately::Error> {
        let before = Heap::now();
        let (filter, top) = (self.filter().try_copy()?, self.top.clone());
        let mut copy = Self::new(filter, self.hashing, before.rounding_since());
        copy.tally = self.tally;
        copy.bloom = self.bloom;
        copy.top = top;
        copy.clock_of = self.clock_of;
        copy.account();
        Ok(copy)
    }

    /// Inserts items; `true` for each that was new.
    #[inline(always)]
    pub fn insert<'i>(
        &mut self,
        items: impl ExactSizeIterator<Item = &'i [u8]>,
        ahead: Option<Ahead>,
        now: Time,
        repeat: Repeat,
    ) -> Answers {
        if self.top.is_some() {
            return self.insert_and_note(items, now, repeat);
        }
        let hashing = self.hashing;
        self.insert_hashes(items.map(|item| hashing.hash(item)), ahead, now, repeat)
    }

    /// Inserts items by their hashes; `true` for each that was new.
    #[inline(always)]
    pub fn insert_hashes(
        &mut self,
        mut hashes: impl ExactSizeIterator<Item = u64>,
        ahead: Option<Ahead>,
        now: Time,
        repeat: Repeat,
    ) -> Answers {
        let Some(hash) = self.only_hash(&mut hashes, ahead) else {
            return self.insert_batches(hashes, now, repeat);
        };
        let before = Heap::now();
        let new = match repeat {
            Repeat::Refreshes => self.filter.insert_fetched_hash(hash, now),
            Repeat::KeepsItsAge => self.filter.insert_new_hash(hash, now),
        };
        if before.has_changed() {
            self.settle(before);
        }
        self.count(1, new.into());
        new.into()
    }

    /// Whether each item is in the window.
    pub fn seen<'i>(
        &self,
        items: impl ExactSizeIterator<Item = &'i [u8]>,
        ahead: Option<Ahead>,
        now: Time,
    ) -> Answers {
        self.seen_hashes(items.map(|item| self.hashing.hash(item)), ahead, now)
    }

    /// Whether each item is in the window, by its hash.
    #[inline(always)]
    pub fn seen_hashes(
        &self,
        mut hashes: impl ExactSizeIterator<Item = u64>,
        ahead: Option<Ahead>,
        now: Time,
    ) -> Answers {
        if let Some(hash) = self.only_hash(&mut hashes, ahead) {
            metrics::ASKED.add_alone(1);
            return self.filter.contains_hash(hash, now).into();
        }
        Answers::in_batches(hashes, |hashes, answers| {
            self.filter.contains_hashes(hashes, now, answers);
            metrics::ASKED.add_alone(answers.len() as u64);
        })
    }

    /// Whether the moment of an operation matters; filters that count items ignore it.
    pub fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Whether an insertion at this moment moves the filter's clock. If not, it happens at the
    /// latest moment that the filter knows, whatever moment it is told.
    pub fn moves_the_clock(&self, now: Time) -> bool {
        self.is_timed && self.filter.clock().is_none_or(|clock| now > clock)
    }

    /// The structure, to look at.
    pub fn filter(&self) -> &dyn Filter {
        &*self.filter
    }

    /// Lets `change` change the structure, and accounts for its bytes.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut dyn Filter) -> T) -> T {
        let before = Heap::now();
        let changed = change(&mut *self.filter);
        self.settle(before);
        changed
    }

    /// Bytes on the heap.
    pub fn memory_bytes(&self) -> usize {
        self.filter_bytes() + self.dump.as_ref().map_or(0, |dump| dump.memory_bytes())
    }

    /// Bytes on the heap but for what is kept of a dump under way.
    pub fn filter_bytes(&self) -> usize {
        let asked =
            size_of_val(&*self.filter) + self.filter.heap_bytes() as usize + self.top_bytes();
        asked.saturating_add_signed(self.rounding as isize)
    }

    /// The dump under way, to begin, go on or end.
    pub fn dump(&mut self) -> &mut Option<Box<Dump>> {
        &mut self.dump
    }

    /// Refuses to let a filter that grows go beyond what one key may take; but not what a primary
    /// with other settings accepted.
    #[inline]
    pub fn check_growth(&self, origin: Origin<'_>) -> Result<(), Refusal> {
        if !self.adapts {
            return Ok(());
        }
        config::check_key_bytes(self.accounted)
            .or_else(|refusal| if origin.is_replayed() { Ok(()) } else { Err(refusal) })
    }

    fn new(filter: Box<dyn Filter>, hashing: Hashing, rounding: i64) -> Self {
        let blueprint = filter.blueprint();
        let adapts = blueprint.adapts();
        let is_timed = matches!(blueprint.promise().window, Window::Within(_));
        metrics::FILTERS.add(1);
        metrics::TIMED_FILTERS.add(is_timed.into());
        let (tally, bloom, top, dump) = (Tally::default(), None, None, None);
        let filter = filter.into();
        let accounted = 0;
        let mut stored = Self {
            hashing,
            filter,
            tally,
            bloom,
            top,
            dump,
            rounding,
            accounted,
            adapts,
            is_timed,
            clock_of: ClockOf::default(),
            keeper_number: 0,
        };
        stored.account();
        stored
    }

    #[inline(never)]
    fn insert_batches(
        &mut self,
        hashes: impl Iterator<Item = u64>,
        now: Time,
        repeat: Repeat,
    ) -> Answers {
        let (mut inserted, mut new) = (0, 0);
        let mut rounding = 0;
        let answers = Answers::in_batches(hashes, |hashes, answers| {
            // Without what the answers take.
            let before = Heap::now();
            match repeat {
                Repeat::Refreshes => self.filter.insert_hashes(hashes, now, answers),
                Repeat::KeepsItsAge => self.filter.insert_new_hashes(hashes, now, answers),
            }
            rounding += before.rounding_since();
            inserted += answers.len() as u64;
            new += answers.iter().filter(|&&new| new).count() as u64;
        });
        self.rounding += rounding;
        self.account();
        self.count(inserted, new);
        answers
    }

    /// The hash, if it is the only one, which then needs no batch. Its memory is asked for, unless it
    /// has been: a filter reads several places, which come together if they are asked for together.
    /// But not that of windows by time: their places are known without one another, so that the
    /// processor asks for them together by itself.
    #[inline(always)]
    fn only_hash(
        &self,
        hashes: &mut impl ExactSizeIterator<Item = u64>,
        ahead: Option<Ahead>,
    ) -> Option<u64> {
        if let Some(hash) = ahead.and_then(|ahead| ahead.hash_in(&self.filter, &self.hashing)) {
            return Some(hash);
        }
        if hashes.len() != 1 {
            return None;
        }
        let hash = hashes.next()?;
        if !self.is_timed {
            self.filter.prefetch_hash(hash);
        }
        Some(hash)
    }

    /// Counts what was inserted.
    pub fn count(&mut self, inserted: u64, new: u64) {
        self.tally.inserted = self.tally.inserted.saturating_add(inserted);
        self.tally.new = self.tally.new.saturating_add(new);
        metrics::INSERTED.add_alone(inserted);
        metrics::NEW.add_alone(new);
        if self.dump.is_some() {
            self.give_up_dump();
        }
    }

    #[cold]
    fn give_up_dump(&mut self) {
        self.dump.take_if(|dump| dump.is_given_up());
    }

    /// Accounts for memory that came or went since.
    #[inline(never)]
    pub(super) fn settle(&mut self, before: Heap) {
        self.rounding += before.rounding_since();
        self.account();
    }

    fn account(&mut self) {
        let bytes = self.filter_bytes() as u64;
        if bytes != self.accounted {
            metrics::BYTES.add(bytes);
            metrics::BYTES.subtract(self.accounted);
            self.accounted = bytes;
        }
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        metrics::FILTERS.subtract(1);
        metrics::TIMED_FILTERS.subtract(self.is_timed.into());
        metrics::BYTES.subtract(self.accounted);
    }
}
