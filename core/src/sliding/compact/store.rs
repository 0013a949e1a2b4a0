//! All blocks: where a place is, and how an entry gets there.

use super::block::{Block, ENDS, FRONT, Layout, SLOTS};
use super::chain::GiveWay;
pub use super::moment::Moment;
use super::run::Bucket;
use super::{SPARE_BLOCKS, Shape};
use crate::bits::{Isa, Records};
use crate::codec::Writer;
use crate::dictionary::tools::Tools;
use crate::dictionary::{Fault, Frame, Place, Repeat, Seen, Sweep, Table};

/// Hashes with tags, in blocks that spill into the next one. Memory is fixed at construction.
#[derive(Debug, Clone)]
pub struct Blocks {
    pub(super) shape: Shape,
    pub(super) frame: Frame,
    pub(super) layout: Layout,
    pub(super) records: Records<FRONT>,
    /// Sweeps that were left out since construction: what they should have removed stays a window longer.
    pub(super) late: u64,
    /// Whether any region has lost an entry that has not expired since.
    pub(super) wary: bool,
}

/// Where the run of a bucket begins, or would, and its entry with some remainder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) block: usize,
    pub(super) slot: u32,
    /// Whether there is a run.
    pub(super) occupied: bool,
    /// Block and slot of the entry, if there is one.
    pub(super) entry: Option<(usize, u32)>,
}

impl Blocks {
    /// Empty blocks. An entry lives to see at most `lifetime` ends of passes.
    ///
    /// # Panics
    ///
    /// If the shape is not valid.
    pub fn new(shape: Shape, lifetime: u16) -> Self {
        assert!(shape.is_valid(), "{shape:?} is impossible");
        let layout = Layout::new(&shape);
        let records = Records::new(shape.homes + SPARE_BLOCKS, layout.stride());
        let frame = Frame::new(shape.cut(), lifetime);
        Self { shape, frame, layout, records, late: 0, wary: false }
    }

    /// Stores an entry whose spot is in a full block: what is there moves up to the next free slot.
    #[inline(always)]
    fn insert_into_full<T: Tools>(
        &mut self,
        tools: T,
        home: usize,
        bucket: Bucket,
        spot: Spot,
        entry: u64,
    ) {
        let isa = tools.isa();
        match self.room(home, spot.block, tools) {
            GiveWay::Until(free) => {
                self.shift(isa, home, spot, free, entry);
                self.get_mut(home).set_occupied(bucket);
                self.frame.len += 1;
            }
            GiveWay::None => self.lose(home),
        }
    }

    /// Where the run of a place begins, also if it is next door or further, and its entry.
    #[inline(always)]
    pub(super) fn locate<T: Tools>(&self, tools: T, place: Place) -> Spot {
        let isa = tools.isa();
        self.touch(place.bin, tools);
        let home = self.get(place.bin);
        let (words, bucket) = (home.words(), Bucket::new(place.bucket));
        let occupied = home.is_occupied(bucket);
        let (mut number, mut slot) = self.start(place.bin);
        let mut smaller = bucket.rank(words.occupied);
        // Past the ends of all smaller buckets.
        loop {
            self.touch(number, tools);
            let ends = self.get(number).ends() >> slot << slot;
            let here = ends.count_ones();
            if smaller == 0 {
                break;
            }
            if smaller <= here {
                let rest = isa.drop_ones(ends, smaller);
                slot = u64::BITS - (ends ^ rest).leading_zeros();
                (number, slot) = (number + (slot / SLOTS) as usize, slot % SLOTS);
                break;
            }
            smaller -= here;
            (number, slot) = (number + 1, 0);
        }
        let entry = if occupied { self.search(tools, number, slot, place.remainder) } else { None };
        Spot { block: number, slot, occupied, entry }
    }

    /// The entry with a remainder in the run that begins here.
    #[inline(always)]
    fn search<T: Tools>(
        &self,
        tools: T,
        mut number: usize,
        mut slot: u32,
        remainder: u64,
    ) -> Option<(usize, u32)> {
        let isa = tools.isa();
        loop {
            self.touch(number, tools);
            let block = self.get(number);
            let ends = block.ends() >> slot << slot;
            let run = (ends ^ ends.wrapping_sub(1)) >> slot << slot;
            let found = block.holding(isa, remainder) & run;
            if found != 0 {
                return Some((number, found.trailing_zeros()));
            }
            if ends != 0 {
                return None;
            }
            (number, slot) = (number + 1, 0);
        }
    }

    /// Block and slot from which on the entries of a home lie.
    #[inline(always)]
    pub(super) fn start(&self, home: usize) -> (usize, u32) {
        let guests = self.get(home).guests();
        (home + (guests / SLOTS) as usize, guests % SLOTS)
    }

    /// Asks for the words of a block: whether it is full, and has guests.
    #[inline(always)]
    pub(super) fn prefetch_words(&self, number: usize) {
        self.records.prefetch(number, ENDS);
    }

    #[inline(always)]
    pub(super) fn get(&self, number: usize) -> Block<'_, &[u8]> {
        Block { layout: &self.layout, bytes: self.records.get(number) }
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, number: usize) -> Block<'_, &mut [u8]> {
        Block { layout: &self.layout, bytes: self.records.get_mut(number) }
    }

    #[inline(always)]
    pub(super) fn touch(&self, number: usize, tools: impl Tools) {
        tools.touch_record(&self.records, number);
    }
}

impl Table for Blocks {
    type Moment = Moment;

    #[inline(always)]
    fn frame(&self) -> &Frame {
        &self.frame
    }

    #[inline(always)]
    fn frame_mut(&mut self) -> &mut Frame {
        &mut self.frame
    }

    #[inline(always)]
    fn glance<T: Tools>(&self, tools: T, place: Place) -> Result<bool, u64> {
        let isa = tools.isa();
        let Some(bytes) = self.records.front(place.bin) else { return Err(0) };
        let block = Block { layout: &self.layout, bytes };
        block.prefetch_row();
        let bucket = Bucket::new(place.bucket);
        let run = block.words().run(isa, bucket);
        let candidates = block.candidates(isa, run, place.remainder);
        if candidates == 0 {
            return if self.wary { Err(0) } else { Ok(false) };
        }
        // An empty bucket looked at the next one's run. It learns that only here, because every step
        // before the branch is one that all lookups wait for.
        if !block.is_occupied(bucket) {
            return if self.wary { Err(0) } else { Ok(false) };
        }
        let nearest = candidates & candidates.wrapping_neg() & NEAREST;
        if run.ends == 0 || nearest == 0 {
            return Err(0);
        }
        if self.layout.row_proves() && self.shape.fine_bits == 0 {
            return Ok(true);
        }
        Err(nearest << run.first)
    }

    #[inline(always)]
    fn held<T: Tools>(&self, tools: T, place: Place, slot: u64) -> Option<u64> {
        let isa = tools.isa();
        let block = self.get(place.bin);
        block.planes_prove(slot, place.remainder).then(|| match self.shape.fine_bits {
            0 => 0,
            _ => block.entry(isa, slot.trailing_zeros()).1,
        })
    }

    #[inline(always)]
    fn find<T: Tools>(&self, tools: T, place: Place) -> Seen {
        let isa = tools.isa();
        match self.locate(tools, place).entry {
            Some((block, slot)) => Seen::Yes(self.get(block).entry(isa, slot).1),
            None if self.frame.is_blind(place.bin) => Seen::Perhaps,
            None => Seen::No,
        }
    }

    #[inline(always)]
    fn try_insert_fresh<T: Tools>(&mut self, tools: T, place: Place, tag: u64) -> Result<(), u64> {
        let isa = tools.isa();
        self.touch(place.bin, tools);
        // It may be full.
        self.prefetch_words(place.bin + 1);
        // Borrowed by itself: what is read of the others must not wait for it.
        let mut block = Block { layout: &self.layout, bytes: self.records.get_mut(place.bin) };
        block.prefetch_row();
        let bucket = Bucket::new(place.bucket);
        let words = block.words();
        let run = words.run(isa, bucket);
        let occupied = block.is_occupied(bucket);
        let perhaps = block.candidates(isa, run, place.remainder) != 0;
        let entry = block.layout.entry(place.remainder, tag);
        if words.is_full() {
            // Without candidates the run is at home.
            if perhaps | self.wary {
                return Err(0);
            }
            let (home, slot) = (place.bin, run.first);
            isa.vectorize_apart(
                #[inline(always)]
                || {
                    let spot = Spot { block: home, slot, occupied, entry: None };
                    self.insert_into_full(tools, home, bucket, spot, entry);
                },
            );
            return Ok(());
        }
        if perhaps & occupied | self.wary {
            return Err(0);
        }
        block.set_ends(open(words.ends, run.first, occupied));
        block.set_occupied(bucket);
        block.open(isa, run.first, entry);
        self.frame.len += 1;
        Ok(())
    }

    #[inline(always)]
    fn find_or_insert<T: Tools>(
        &mut self,
        tools: T,
        place: Place,
        moment: Moment,
        repeat: Repeat,
    ) -> Seen {
        let isa = tools.isa();
        let spot = self.locate(tools, place);
        if let Some((number, slot)) = spot.entry {
            let mut block = self.get_mut(number);
            let before = block.entry(isa, slot).1;
            let alive = moment.is_alive(before);
            if repeat == Repeat::Refresh || !alive {
                block.set_tag(isa, slot, moment.now);
                self.frame.due -= u64::from(moment.is_due(before));
            }
            return if alive { Seen::Yes(before) } else { Seen::No };
        }
        let seen = if self.frame.is_blind(place.bin) { Seen::Perhaps } else { Seen::No };
        if seen == Seen::Perhaps && repeat == Repeat::Keep {
            return seen;
        }
        let bucket = Bucket::new(place.bucket);
        let entry = self.layout.entry(place.remainder, moment.now);
        if self.get(spot.block).is_full() {
            self.insert_into_full(tools, place.bin, bucket, spot, entry);
            return seen;
        }
        let guests = place.bin + 1..spot.block + 1;
        if !self.may_lend(guests.clone()) {
            self.lose(place.bin);
            return seen;
        }
        self.lend(guests);
        self.get_mut(place.bin).set_occupied(bucket);
        let mut block = self.get_mut(spot.block);
        block.set_ends(open(block.ends(), spot.slot, spot.occupied));
        block.open(isa, spot.slot, entry);
        self.frame.len += 1;
        seen
    }

    #[inline(always)]
    fn sweep<T: Tools>(&mut self, tools: T, sweep: Sweep) {
        self.sweep_home(tools, sweep);
        if sweep.ends {
            self.end_pass();
        }
    }

    #[inline(always)]
    fn prefetch(&self, place: Place) {
        self.records.prefetch_all(place.bin);
        // It may spill into the next one.
        self.records.prefetch_all(place.bin + 1);
    }

    #[inline(always)]
    fn prefetch_sweeps(&self, next: usize) {
        self.records.prefetch_all(next);
        self.prefetch_words(next + 1);
    }

    #[inline(always)]
    fn prefetch_front(&self, place: Place) {
        self.records.prefetch_front(place.bin);
    }

    fn write(&self, out: &mut Writer) {
        self.write_blocks(out);
    }

    fn count(&self, tag_limit: u64, due: impl Fn(usize) -> u64) -> Result<(u64, u64), Fault> {
        self.count_entries(tag_limit, due)
    }
}

/// Those candidates that are slots with the byte; the last counts without being looked at.
const NEAREST: u64 = (1 << (crate::bits::NEAR - 1)) - 1;

/// The ends with one more entry at the start of a run, in a slot that exists.
#[inline(always)]
pub(super) fn open(ends: u64, slot: u32, occupied: bool) -> u64 {
    crate::bits::planes::open(ends, 1 << (slot % SLOTS), u64::from(!occupied))
}
