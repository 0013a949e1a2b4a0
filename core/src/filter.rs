//! What structures can do: the traits, all over `u64` hashes, all usable as trait objects.
//!
//! The traits follow what can be *called*. What differs only in what is *kept* (a window by count
//! or by time, fixed memory that may forget) is not a trait but data: the [`Promise`](crate::Promise), which the
//! contracts in `tests/` read and test.
//!
//! | Trait | Ability |
//! |---|---|
//! | [`Membership`] | seen in the window or not |
//! | [`Counting`] | how often |
//! | [`Removing`] | take back an insertion |
//! | [`Aging`] | how long ago |
//! | [`Deadlines`] | forget a key before its window is over |
//! | [`Filter`] | membership plus everything the command, the module and snapshots need |

use alloc::boxed::Box;
use core::any::Any;
use core::fmt;
use core::ops::RangeInclusive;

pub use crate::admission::{Admission, Wait};
use crate::bits::Footprint;
use crate::blueprint::Blueprint;
use crate::codec::Writer;
use crate::error::Error;
use crate::group::Group;
use crate::memory;
use crate::window::{Reach, Span, Time};

/// Answers whether a key was seen in the window.
///
/// Every call of an `insert` is one position in the stream, whatever it answers. `now` is the
/// moment of the call; structures that count items ignore it.
pub trait Membership {
    /// Records a sighting, and says `true` when the key was not in the window, like
    /// [`HashSet::insert`](std::collections::HashSet::insert). A repeat starts its window anew.
    fn insert_hash(&mut self, hash: u64, now: Time) -> bool;

    /// The same, but a repeat does not start its window anew: a key passes at most once per
    /// window, however often it is repeated, and passes again afterwards.
    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool;

    /// [`insert_hash`](Self::insert_hash) of a key whose memory [`prefetch_hash`](Self::prefetch_hash) has
    /// asked for: a structure that asks for it by itself need not do so again.
    #[inline]
    fn insert_fetched_hash(&mut self, hash: u64, now: Time) -> bool {
        self.insert_hash(hash, now)
    }

    /// Whether the key is in the window. Changes nothing.
    fn contains_hash(&self, hash: u64, now: Time) -> bool;

    /// Starts loading the memory that the next operation on this hash will read.
    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        let _ = hash;
    }

    /// Starts loading the memory that operations on these hashes will read; a handful, not more.
    #[inline]
    fn prefetch_hashes(&self, hashes: &[u64]) {
        for &hash in hashes {
            self.prefetch_hash(hash);
        }
    }

    /// [`insert_hash`](Self::insert_hash) for many: `new[i]` becomes the answer for `hashes[i]`.
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    fn insert_hashes(&mut self, hashes: &[u64], now: Time, new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer per hash");
        for (hashes, new) in hashes.chunks(BATCH).zip(new.chunks_mut(BATCH)) {
            self.prefetch_hashes(hashes);
            for (&hash, new) in hashes.iter().zip(new) {
                *new = self.insert_hash(hash, now);
            }
        }
    }

    /// [`insert_new_hash`](Self::insert_new_hash) for many: `new[i]` becomes the answer for
    /// `hashes[i]`.
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    fn insert_new_hashes(&mut self, hashes: &[u64], now: Time, new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer per hash");
        for (hashes, new) in hashes.chunks(BATCH).zip(new.chunks_mut(BATCH)) {
            self.prefetch_hashes(hashes);
            for (&hash, new) in hashes.iter().zip(new) {
                *new = self.insert_new_hash(hash, now);
            }
        }
    }

    /// [`contains_hash`](Self::contains_hash) for many: `seen[i]` becomes the answer for
    /// `hashes[i]`.
    ///
    /// # Panics
    ///
    /// If the two slices differ in length.
    fn contains_hashes(&self, hashes: &[u64], now: Time, seen: &mut [bool]) {
        assert_eq!(hashes.len(), seen.len(), "one answer per hash");
        for (hashes, seen) in hashes.chunks(BATCH).zip(seen.chunks_mut(BATCH)) {
            self.prefetch_hashes(hashes);
            for (&hash, seen) in hashes.iter().zip(seen) {
                *seen = self.contains_hash(hash, now);
            }
        }
    }
}

/// Keys whose memory is requested together: enough to overlap the misses, few enough that the
/// first line is still in the nearest cache when its turn comes.
pub(crate) const BATCH: usize = 32;

/// Answers how often a key was seen in the window. Never less than the truth where its structure
/// promises one-sided errors.
pub trait Counting {
    /// Records `times` sightings at once and says how often the key has now been seen.
    fn add_hash(&mut self, hash: u64, times: u64, now: Time) -> u64;

    /// How many times the work of one insertion it is to make room for so many sightings that come at
    /// once, or for several such crowds one after the other: what [`add_hash`](Self::add_hash) has to do
    /// beside the usual. Where nothing leaves, none.
    fn displaced_by(&self, crowds: &[u64]) -> u64 {
        let _ = crowds;
        0
    }

    /// How often the key was seen.
    fn count_hash(&self, hash: u64, now: Time) -> u64;

    /// Whether the key was seen at least so often. Any threshold will do, at any time.
    fn reaches_hash(&self, hash: u64, threshold: u64, now: Time) -> bool {
        self.count_hash(hash, now) >= threshold
    }

    /// The count without what a window has too much: where generations leave as a whole, the oldest one as
    /// far as it is in the window. Not one-sided, and right on average for a key that is taken for no other.
    fn estimate_hash(&self, hash: u64, now: Time) -> f64 {
        self.count_hash(hash, now) as f64
    }

    /// Records `times` sightings if the key counts at most `limit` with them, and nothing otherwise: one
    /// step, so that never more than the limit pass in a window.
    fn admit_hash(&mut self, hash: u64, times: u64, limit: u64, now: Time) -> Admission {
        let before = self.count_hash(hash, now);
        let allowed = before.checked_add(times).is_some_and(|count| count <= limit);
        let count = if allowed { self.add_hash(hash, times, now) } else { before };
        let left = limit.saturating_sub(count);
        Admission { allowed, count, surely: before, left, wait: None }
    }

    /// Tells the groups in which the sightings of a key will leave the window, if nothing more comes: in
    /// any order, their sum is the count. `false` if the structure does not know when they leave.
    fn groups_hash(&self, hash: u64, now: Time, each: &mut dyn FnMut(Group)) -> bool {
        let _ = (hash, now, each);
        false
    }

    /// The moment of a look on the clock that [`groups_hash`](Self::groups_hash) speaks of.
    fn group_clock(&self, now: Time) -> u64 {
        now.millis()
    }

    /// Takes back `times` sightings and says how often the key still counts. The caller must only
    /// take back what was recorded: sightings of a key that merely collides would be another's.
    fn take_back_hash(&mut self, hash: u64, times: u64, now: Time) -> Result<u64, Error> {
        let _ = (hash, times, now);
        Err(Error::Unsupported {
            operation: "take back sightings",
            instead: "plan for removing, or count everything anew",
        })
    }

    /// The largest count it can tell: a key counted so often may have been seen more often.
    fn largest_count(&self) -> u64 {
        u64::MAX
    }

    /// Whether no count is ever below the truth.
    fn never_undercounts(&self) -> bool {
        true
    }

    /// Whether another filter can be merged with or multiplied by: built alike, of a kind that can.
    /// Changes nothing, so that nothing need be half done.
    fn check_mergeable(&self, other: &dyn Filter) -> Result<(), Error> {
        let _ = other;
        Err(Error::Unsupported {
            operation: "merge",
            instead: "count without end: those counters can",
        })
    }

    /// Adds all that another filter counted: both together then count as one that saw both
    /// streams. The other must be built alike and its keys hashed alike.
    fn merge(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let _ = other;
        Err(Error::Unsupported {
            operation: "merge",
            instead: "count without end: those counters can",
        })
    }

    /// Multiplies every count by that of another filter: the size of the join of two relations,
    /// key by key. The other must be built alike and its keys hashed alike.
    fn multiply(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let _ = other;
        Err(Error::Unsupported {
            operation: "multiply",
            instead: "count without end: those counters can",
        })
    }
}

/// Takes back insertions.
pub trait Removing {
    /// Takes back one insertion, and says whether there was one to take back.
    ///
    /// The caller must only remove what was inserted: removing a key that merely collides makes
    /// another key vanish, and nobody can tell the two apart. What was inserted is every key that
    /// [`insert_hash`](Membership::insert_hash) was called with, as often as it was, whatever the
    /// answers; but of those for
    /// [`insert_new_hash`](Membership::insert_new_hash) only the ones that it called new. One that it
    /// called seen was not stored: its entry, if it is not its own from before, is another's.
    fn remove_hash(&mut self, hash: u64) -> bool;
}

/// Knows how long ago a key came.
pub trait Aging {
    /// How long ago the key was last inserted; `None` if it is not in the window.
    fn age_hash(&self, hash: u64, now: Time) -> Option<Age>;
}

/// How long ago a key came, as the least and the most it can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Age {
    /// Insertions since, zero for the last one: for windows by count.
    Items(RangeInclusive<u64>),
    /// Time since: for windows by time.
    Time(RangeInclusive<Span>),
}

/// Lets a key leave earlier than its window ends.
pub trait Deadlines {
    /// Records a sighting that counts until `deadline`, or until the window ends if that is earlier;
    /// `true` when the key was not in the window. The key is never forgotten before, and no longer
    /// reported after the deadline than after the window: the slack. Of two deadlines of one key the
    /// later holds.
    fn insert_until_hash(&mut self, hash: u64, now: Time, deadline: Time) -> bool;
}

/// A filter can be copied, whatever its structure: the blanket implementation does it.
pub trait Copied {
    /// The same filter once more.
    fn boxed_copy(&self) -> Box<dyn Filter>;
}

impl<F: Filter + Clone> Copied for F {
    fn boxed_copy(&self) -> Box<dyn Filter> {
        Box::new(self.clone())
    }
}

impl<'a> dyn Filter + 'a {
    /// The same filter once more, or an error if the machine will not give the memory.
    pub fn try_copy(&self) -> Result<Box<dyn Filter>, Error> {
        memory::ask_for(self.heap_bytes())?;
        Ok(self.boxed_copy())
    }
}

impl Clone for Box<dyn Filter> {
    fn clone(&self) -> Self {
        (**self).boxed_copy()
    }
}

/// Any structure of the catalog, chosen at run time.
pub trait Filter: Membership + Copied + fmt::Debug + Send + Sync + Any {
    /// The parameters it was built with; they know its name, its promise and its size.
    fn blueprint(&self) -> &dyn Blueprint;

    /// Bytes on the heap at this moment, allocated by this structure. Of one of fixed size, what its
    /// blueprint says.
    fn heap_bytes(&self) -> u64 {
        self.blueprint().heap_bytes()
    }

    /// The chance, at this moment, that a key never seen is reported as seen: computed from what
    /// is stored now, where the promise speaks of the worst moment. From all of it if that is little,
    /// otherwise from an even sample: to a few percent, in about a millisecond.
    fn false_positive_rate(&self) -> f64;

    /// The latest moment of any insertion, where moments matter: what happens earlier is taken to
    /// happen then. `None` before the first, and where they do not.
    fn clock(&self) -> Option<Time> {
        None
    }

    /// Sets the clock back to `now` if it is later; otherwise nothing happens. The remedy for a
    /// moment that was wrong.
    ///
    /// Everything stored counts as seen at `now` at the latest. So what was in the window is in it
    /// still, and everything leaves it, as always, at most one window and its slack after `now`.
    /// What had left the window may be reported until then, or not.
    fn turn_back(&mut self, now: Time) {
        let _ = now;
    }

    /// Writes everything that is not in the blueprint.
    fn write_payload(&self, out: &mut Writer);

    /// This filter as a counter, if it counts, to look at.
    fn counting(&self) -> Option<&dyn Counting> {
        None
    }

    /// This filter as a counter, if it counts.
    fn as_counting(&mut self) -> Option<&mut dyn Counting> {
        None
    }

    /// Gives back memory of keys that have left the window, in at most so many small steps; `true`
    /// if nothing is left to do. Answers stay the same: this is for times in which nothing is
    /// inserted. Structures that need no such help do nothing.
    fn expire(&mut self, now: Time, steps: usize) -> bool {
        let _ = (now, steps);
        true
    }

    /// Estimated number of different keys in the window, where the structure knows it.
    fn distinct(&self, now: Time) -> Option<f64> {
        let _ = now;
        None
    }

    /// How far back it remembers, if that may be less than its window: see [`Reach`].
    fn reach(&self, now: Time) -> Option<Reach> {
        let _ = now;
        None
    }

    /// This filter as one that knows how long ago a key came, if it does.
    fn aging(&self) -> Option<&dyn Aging> {
        None
    }

    /// This filter as one that lets keys leave early, if it can.
    fn as_deadlines(&mut self) -> Option<&mut dyn Deadlines> {
        None
    }

    /// Remembers also what another filter does, which must be built alike and its keys hashed alike. Of a
    /// key that neither saw, it errs if either did: errors add up.
    fn unite(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let _ = other;
        Err(Error::Unsupported {
            operation: "take in another",
            instead: "ask both, or insert both streams into one; what remembers everything can \
                      (`Lately::ever()`)",
        })
    }

    /// Where it writes, if that stays the same as long as it lives and stands where it is.
    fn footprint(&self) -> Option<Footprint> {
        None
    }

    /// This filter as one that can take back insertions, if it can.
    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        None
    }
}
