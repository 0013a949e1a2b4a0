//! The dictionary itself: both levels, and the way between them.

use alloc::vec::Vec;

use super::backyard::{Backyard, Exile};
use super::bins::{Bin, Bins, FRONT, NOBODY};
use super::overflow::REGIONS;
use super::work::{Part, Uncounted, Work};
use super::{Cut, Place, Shape};
use crate::bits::{Footprint, Isa, LINE_BYTES, Level, NUMBERS, Scalar};
use crate::error::Error;

/// How many bins before its turn the sweep asks for a bin.
const AHEAD: usize = 2;

/// Hashes with `tag_bits` of data each. Memory is fixed at construction.
#[derive(Debug, Clone)]
pub struct Dictionary {
    pub(super) shape: Shape,
    cut: Cut,
    level: Level,
    pub(super) bins: Bins,
    pub(super) backyard: Backyard,
    /// Entries in both levels.
    pub(super) len: u64,
    /// Entries lost since construction.
    pub(super) lost: u64,
    /// Entries that the next sweep of their bin removes.
    pub(super) due: u64,
    /// Sweeps of a region until all that it lost would have expired.
    pub(super) blind: [u16; REGIONS],
    /// Sweeps that an entry survives at most, and one for the region's own pace.
    pub(super) lifetime: u16,
}

/// What a dictionary knows of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Not stored.
    No,
    /// Lost, or not stored; see [`Dictionary::lost`].
    Perhaps,
    /// Stored with this tag, or shares its fingerprint with one that is.
    Yes(u64),
}

/// What to do with the tag of an entry that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The new tag replaces it.
    Refresh,
    /// It stays.
    Keep,
}

/// The two ends of a bin's life, as tags. They differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tags {
    /// What enters the bin now gets this.
    pub now: u64,
    /// What has this leaves with the next sweep of the bin.
    pub due: u64,
}

/// Sizes of the second level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Entries in sheds.
    pub exiles: u64,
    /// Entries in the stash, which holds 64.
    pub stashed: u64,
    /// Entries of the fullest shed, which holds 64.
    pub fullest_shed: u32,
    /// Bins with a threshold.
    pub overflowing_bins: usize,
}

/// Where a dictionary contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A bin contradicts itself.
    Bin(usize),
    /// A shed contradicts itself or its homes; the stash counts as the last shed.
    Shed(usize),
    /// A number does not agree with the entries.
    Count,
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let (field, found) = match fault {
            Fault::Bin(number) => ("bin", number as u64),
            Fault::Shed(number) => ("shed", number as u64),
            Fault::Count => ("number of entries", 0),
        };
        Error::Field { field, found, expected: "in agreement with itself" }
    }
}

impl Dictionary {
    /// An empty dictionary. An entry is removed by one of the `lifetime` sweeps of its bin after
    /// its insertion or last refresh.
    ///
    /// # Panics
    ///
    /// If the shape is not valid.
    pub fn new(shape: Shape, lifetime: u16) -> Self {
        assert!(shape.is_valid(), "{shape:?} is impossible");
        Self {
            shape,
            cut: shape.cut(),
            level: Level::detect(),
            bins: Bins::new(&shape),
            backyard: Backyard::new(&shape),
            len: 0,
            due: 0,
            lost: 0,
            blind: [0; REGIONS],
            lifetime: lifetime.saturating_add(1),
        }
    }

    /// Uses plain Rust from now on; slower, equal in all else.
    pub fn without_vectors(mut self) -> Self {
        self.level = Level::Scalar(Scalar);
        self
    }

    /// The dimensions.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Where a hash lives.
    #[inline(always)]
    pub fn place(&self, hash: u64) -> Place {
        self.cut.place(hash)
    }

    /// The instruction set in use.
    #[inline(always)]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Entries stored.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Entries that the next sweep of their bin removes.
    pub fn due(&self) -> u64 {
        self.due
    }

    /// True if nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Entries that found no room, since construction. Each makes a part of the answers
    /// [`Seen::Perhaps`] for a while.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// What is known of a place.
    #[inline(always)]
    pub fn find<I: Isa>(&self, isa: I, place: Place, work: &mut impl Work) -> Seen {
        self.touch_bin(place.bin, work);
        let bin = self.bins.get(place.bin);
        let view = bin.view(place.bucket);
        let rooms = view.overflows().then(|| {
            // On their way while the bin is searched.
            let rooms = self.backyard.rooms(place.bin);
            self.backyard.prefetch(&rooms);
            rooms
        });
        let slot = bin.find(isa, view.run(isa), place.remainder);
        if slot != 0 {
            return Seen::Yes(bin.tag(isa, slot));
        }
        rooms.map_or(Seen::No, |rooms| self.find_exile(isa, place, &rooms, work))
    }

    /// Whether a place is stored, if the few bytes of its bucket tell; they mostly do.
    ///
    /// Otherwise the slot that probably holds it, if any: [`Dictionary::holds`] says whether it does,
    /// and if it does not, [`Dictionary::find`] whether another does. Both should be kept out of the
    /// way.
    #[inline(always)]
    pub fn glance<I: Isa>(&self, isa: I, place: Place) -> Result<bool, u64> {
        let Some(bin) = self.bins.front(place.bin) else { return Err(0) };
        bin.prefetch_row();
        let view = bin.view(place.bucket);
        let run = view.run(isa);
        let candidates = bin.candidates(isa, run, place.remainder);
        let (reached, overflows) = (run.reaches(candidates), view.overflows());
        if !reached && !overflows {
            return Ok(false);
        }
        // An empty bucket looked at the next one's run. It learns that only here, because every step
        // before the branch is one that all lookups wait for.
        match reached && run.occupied {
            true => match Bin::<&[u8]>::nearest(run, candidates) {
                slot if slot != 0 && bin.row_proves() => Ok(true),
                slot => Err(slot),
            },
            false if overflows => Err(0),
            false => Ok(false),
        }
    }

    /// True if the slot that a [glance](Dictionary::glance) found holds a place.
    #[inline(always)]
    pub fn holds(&self, place: Place, slot: u64) -> bool {
        self.bins.get(place.bin).planes_prove(slot, place.remainder)
    }

    /// Looks a place up and makes sure that it is stored, in one pass.
    ///
    /// The answer is what was known before. With [`Repeat::Keep`], anything but [`Seen::No`]
    /// changes nothing.
    #[inline(always)]
    pub fn insert<I: Isa>(
        &mut self,
        isa: I,
        place: Place,
        tags: Tags,
        repeat: Repeat,
        work: &mut impl Work,
    ) -> Seen {
        let Err(slot) = self.insert_at_once(isa, place, tags.now, work) else { return Seen::No };
        isa.vectorize_apart(
            #[inline(always)]
            || match self.repeat_at_once(isa, place, slot, tags, repeat) {
                Some(before) => Seen::Yes(before),
                None => self.insert_after_all(isa, place, tags, repeat, work),
            },
        )
    }

    /// Stores a place that is certainly new, in a bin with room: the common case, and the beginning
    /// of [`Dictionary::insert`]. In any other case, does nothing, and tells the slot that probably holds it, if any:
    /// [`Dictionary::repeat_at_once`] is next, and if that does nothing either, [`Dictionary::insert_after_all`].
    #[inline(always)]
    pub fn insert_at_once<I: Isa>(
        &mut self,
        isa: I,
        place: Place,
        tag: u64,
        work: &mut impl Work,
    ) -> Result<(), u64> {
        self.touch_bin(place.bin, work);
        let mut bin = self.bins.get_mut(place.bin);
        bin.prefetch_row();
        let view = bin.view(place.bucket);
        let run = view.run(isa);
        let candidates = bin.candidates(isa, run, place.remainder);
        let perhaps = run.reaches(candidates) & run.occupied;
        // One branch for all that is not new, or rare.
        if perhaps | view.overflows() | view.is_full() {
            return Err(if perhaps { Bin::<&[u8]>::nearest(run, candidates) } else { 0 });
        }
        bin.open(view.ends, place.bucket, run);
        bin.insert(isa, run, place.remainder, tag);
        self.len += 1;
        Ok(())
    }

    /// Removes the entries of a bin that have the tag `expired`, and brings its exiles home as far
    /// as there is room.
    ///
    /// Entries with the tag `due` are the next to go. Touches one bin, two sheds and the stash.
    #[inline(always)]
    pub fn sweep<I: Isa>(
        &mut self,
        isa: I,
        number: usize,
        expired: u64,
        due: u64,
        work: &mut impl Work,
    ) {
        self.touch_bin(number, work);
        self.bins.records.prefetch_to_write(self.level, number);
        self.bins.records.prefetch_to_write(self.level, number + AHEAD);
        let mut bin = self.bins.get_mut(number);
        let mut head = bin.head();
        let used = head.used();
        let [leaving, next] = bin.tagged(isa, [expired, due]).map(|slots| slots & used);
        self.due += u64::from(next.count_ones());
        if leaving != 0 {
            bin.keep(isa, &mut head, used & !leaving);
            bin.set_head(head);
            self.forget(leaving);
        }
        if head.threshold != NOBODY {
            self.bring_home(isa, number, head, expired, due, work);
        }
        self.age_region(number);
    }

    /// Asks for the memory of a place ahead of its use.
    #[inline(always)]
    pub fn prefetch(&self, place: Place) {
        self.prefetch_bin(place.bin);
    }

    /// Where an insertion will write, beside two numbers of whoever counts the sweeps.
    pub fn footprint(&self, [one, two]: [&u64; NUMBERS - 1]) -> Footprint {
        Footprint::new(self.level, &self.bins.records, self.shape.bins, [&self.len, one, two])
    }

    /// The same for a lookup, which mostly needs less.
    #[inline(always)]
    pub fn prefetch_front(&self, place: Place) {
        for byte in [0, LINE_BYTES, FRONT - 1] {
            self.bins.records.prefetch(place.bin, byte);
        }
    }

    #[inline(always)]
    fn prefetch_bin(&self, bin: usize) {
        let records = &self.bins.records;
        let stride = records.stride();
        // The row, the words, the last plane.
        records.prefetch(bin, 0);
        records.prefetch(bin, LINE_BYTES);
        if stride > 2 * LINE_BYTES {
            records.prefetch(bin, 2 * LINE_BYTES);
        }
        records.prefetch(bin, stride - 1);
    }

    /// All entries with their tags, bin by bin; exiles after the residents of their home.
    pub fn entries(&self) -> impl Iterator<Item = (Place, u64)> + '_ {
        let isa = Scalar;
        (0..self.shape.bins).flat_map(move |number| {
            let bin = self.bins.get(number);
            let head = bin.head();
            let mut entries = Vec::with_capacity(head.count() as usize);
            let mut buckets = head.buckets();
            let mut bucket = buckets.next().unwrap_or(0);
            for slot in slots(head.used()) {
                let (remainder, tag) = bin.entry(isa, slot);
                entries.push((Place { bin: number, bucket, remainder }, tag));
                if head.ends & slot != 0 {
                    bucket = buckets.next().unwrap_or(0);
                }
            }
            if head.threshold != NOBODY {
                for room in self.backyard.rooms(number) {
                    for slot in slots(self.backyard.residents(isa, &room, &mut Uncounted)) {
                        let Exile { bucket, remainder, tag } = self.backyard.exile(&room, slot);
                        entries.push((Place { bin: number, bucket, remainder }, tag));
                    }
                }
            }
            entries
        })
    }

    /// Sizes of the second level, counted.
    pub fn stats(&self) -> Stats {
        let (exiles, stashed) = self.backyard.population();
        let overflowing = |bin: &usize| self.bins.get(*bin).head().threshold != NOBODY;
        Stats {
            exiles,
            stashed,
            fullest_shed: self.backyard.fullest(),
            overflowing_bins: (0..self.shape.bins).filter(overflowing).count(),
        }
    }

    #[inline(always)]
    fn touch_bin(&self, bin: usize, work: &mut impl Work) {
        let stride = self.bins.records.stride();
        work.touch(Part::Bins, bin * stride, stride);
    }
}

/// The single slots of a set.
#[inline(always)]
pub(super) fn slots(mut set: u64) -> impl Iterator<Item = u64> {
    core::iter::from_fn(move || {
        let slot = set & set.wrapping_neg();
        set ^= slot;
        (slot != 0).then_some(slot)
    })
}
