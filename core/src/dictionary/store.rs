//! The dictionary itself: both levels, and the way between them.

use alloc::vec::Vec;

use super::backyard::{Backyard, Exile};
use super::bins::{Bin, Bins, NOBODY};
use super::table::{Frame, Sweep, Table};
use super::tools::Tools;
use super::{Place, Shape};
use crate::bits::{Footprint, Isa, Scalar};
use crate::codec::Writer;
use crate::error::Error;

/// How many bins before its turn the sweep asks for a bin.
const AHEAD: usize = 2;

/// Hashes with `tag_bits` of data each. Memory is fixed at construction.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Dictionary {
    pub(super) bins: Bins,
    pub(super) frame: Frame,
    pub(super) backyard: Backyard,
    pub(super) shape: Shape,
}

/// What a dictionary knows of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Not stored.
    No,
    /// Lost, or not stored; see [`Frame::lost`].
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
    /// Its first bytes, which every insertion needs.
    pub(crate) const NEEDED: usize = core::mem::offset_of!(Self, frame) + Frame::NEEDED;

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
            frame: Self::frame_of(shape, lifetime),
            bins: Bins::new(&shape),
            backyard: Backyard::new(&shape),
        }
    }

    /// With one sweep more to live, for a region's own pace.
    pub(super) fn frame_of(shape: Shape, lifetime: u16) -> Frame {
        Frame::new(shape.cut(), lifetime.saturating_add(1))
    }

    /// The dimensions.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Looks a place up and makes sure that it is stored, in one pass.
    ///
    /// The answer is what was known before. With [`Repeat::Keep`], anything but [`Seen::No`]
    /// changes nothing.
    #[inline(always)]
    pub fn insert<T: Tools>(&mut self, tools: T, place: Place, tags: Tags, repeat: Repeat) -> Seen {
        let isa = tools.isa();
        let Err(slot) = self.try_insert_fresh(tools, place, tags.now) else { return Seen::No };
        isa.vectorize_apart(
            #[inline(always)]
            || match self.try_repeat(isa, place, slot, tags, repeat) {
                Some(before) => Seen::Yes(before),
                None => self.find_or_insert(tools, place, tags, repeat),
            },
        )
    }

    /// Where an insertion will write, given where its filter keeps time.
    pub fn footprint<C>(&self, clock: &C) -> Footprint {
        Footprint::new(self.level(), &self.bins.records, self.shape.bins, clock)
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
                    for slot in slots(self.backyard.residents(isa, &room)) {
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
}

impl Table for Dictionary {
    type Moment = Tags;

    #[inline(always)]
    fn frame(&self) -> &Frame {
        &self.frame
    }

    #[inline(always)]
    fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frame
    }

    #[inline(always)]
    fn find<T: Tools>(&self, tools: T, place: Place) -> Seen {
        let isa = tools.isa();
        tools.touch_record(&self.bins.records, place.bin);
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
        rooms.map_or(Seen::No, |rooms| self.find_exile(tools, place, &rooms))
    }

    #[inline(always)]
    fn glance<T: Tools>(&self, tools: T, place: Place) -> Result<bool, u64> {
        let isa = tools.isa();
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

    #[inline(always)]
    fn held<T: Tools>(&self, _tools: T, place: Place, slot: u64) -> Option<u64> {
        // Whatever is stored is alive.
        self.bins.get(place.bin).planes_prove(slot, place.remainder).then_some(0)
    }

    #[inline(always)]
    fn try_insert_fresh<T: Tools>(&mut self, tools: T, place: Place, tag: u64) -> Result<(), u64> {
        let isa = tools.isa();
        tools.touch_record(&self.bins.records, place.bin);
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
        self.frame.len += 1;
        Ok(())
    }

    /// To begin anew would cost as much again: the words taken apart, all 64 slots compared.
    #[inline(always)]
    fn try_repeat<T: Tools>(
        &mut self,
        tools: T,
        place: Place,
        slot: u64,
        tags: Tags,
        repeat: Repeat,
    ) -> Option<u64> {
        let isa = tools.isa();
        if slot == 0 {
            return None;
        }
        let mut bin = self.bins.get_mut(place.bin);
        let (remainder, before) = bin.exchange_tag(isa, slot, place.remainder, tags.now, repeat);
        if remainder != place.remainder {
            return None;
        }
        self.frame.due -= u64::from(repeat == Repeat::Refresh && before == tags.due);
        Some(before)
    }

    #[inline(always)]
    fn find_or_insert<T: Tools>(
        &mut self,
        tools: T,
        place: Place,
        moment: Tags,
        repeat: Repeat,
    ) -> Seen {
        self.insert_with_exiles(tools, place, moment, repeat)
    }

    /// Also brings exiles home as far as there is room. Touches one bin, two sheds and the stash.
    #[inline(always)]
    fn sweep<T: Tools>(&mut self, tools: T, sweep: Sweep) {
        let isa = tools.isa();
        tools.touch_record(&self.bins.records, sweep.home);
        self.bins.records.prefetch_to_write(self.level(), sweep.home);
        self.bins.records.prefetch_to_write(self.level(), sweep.home + AHEAD);
        let mut bin = self.bins.get_mut(sweep.home);
        let mut head = bin.head();
        let used = head.used();
        let [leaving, next] = bin.tagged(isa, [sweep.expired, sweep.due]).map(|slots| slots & used);
        self.frame.due += u64::from(next.count_ones());
        if leaving != 0 {
            bin.keep(isa, &mut head, used & !leaving);
            bin.set_head(head);
            self.frame.forget(leaving.count_ones());
        }
        if head.threshold != NOBODY {
            self.bring_home(tools, sweep, head);
        }
        self.age_region(sweep.home);
    }

    #[inline(always)]
    fn prefetch(&self, place: Place) {
        self.bins.records.prefetch_all(place.bin);
    }

    #[inline(always)]
    fn prefetch_sweeps(&self, next: usize) {
        for number in next..=next + AHEAD {
            self.bins.records.prefetch_to_write(self.level(), number);
        }
    }

    #[inline(always)]
    fn prefetch_front(&self, place: Place) {
        self.bins.records.prefetch_front(place.bin);
    }

    fn write(&self, out: &mut Writer) {
        self.write_levels(out);
    }

    fn count(&self, tag_limit: u64, due: impl Fn(usize) -> u64) -> Result<(u64, u64), Fault> {
        self.count_entries(tag_limit, due)
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
