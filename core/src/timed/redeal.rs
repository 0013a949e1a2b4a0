//! The same entries in other bins, moved by words.
//!
//! Entries are in the order of their buckets whatever the bins are, so each new bin is made of a few stretches
//! of old ones: from the slot where its first bucket begins to the one where the next bin's does. A stretch is
//! copied as a piece of a row and a shifted piece of every plane; what does not fit goes into the stash, one by
//! one.
//!
//! ```text
//! buckets    0 ........ 53 54 ....... 106 107 ....... 159        old bins
//! new bins   0 ...... 49 50 ....... 99 100 ...... 149 150 ...
//!            └ of bin 0 ┘ └ of 0 and 1 ┘ └ of 1 and 2  ┘
//! ```

use alloc::vec::Vec;
use core::ops::{Deref, Range};

use super::deal::{MORE_EXILES, exiles_for, more_bins, needs_bins};
use super::entry::ones;
use super::lay::stored;
use super::segment::{Info, SLOTS, Segment, Shape, Steps};
use super::stash::{MOST_STASH, Numbered, stash_words};
use crate::bits::{Isa, SlotBytes};
use crate::dictionary::bins::{LEAST_BUCKETS, Layout, NOBODY};
use crate::dictionary::head::Head;

/// Planes that bins have at most.
const MOST_PLANES: usize = 64;

/// Where in a segment the entries of a bucket begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seam {
    bin: usize,
    /// The first slot of the bucket or a later one of the bin.
    slot: usize,
    /// The first exile of it or a later one.
    exile: usize,
    /// Entries before it.
    before: usize,
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// The same entries in so many bins, or more if they do not fit; `None` if no segment has so many.
    #[inline(always)]
    pub(super) fn with_bins<I: Isa>(&self, isa: I, shape: &Shape, bins: usize) -> Option<Segment> {
        let before = self.info();
        let mut info = before.with_bins(shape, bins);
        let exiles = self.exiles_in_order(shape, before);
        loop {
            if info.bins > info.most_bins(shape) {
                return None;
            }
            if info.coarse != before.coarse {
                return self.recoarsed(isa, shape, info);
            }
            let steps = Steps::new(info.buckets(shape), info.bins);
            let seams = self.seams(isa, shape, &exiles, steps, info.bins);
            let surplus = |pair: &[Seam]| (pair[1].before - pair[0].before).saturating_sub(SLOTS);
            let left = seams.windows(2).map(surplus).sum();
            if needs_bins(shape, info, left) {
                info = info.with_bins(shape, more_bins(info));
                continue;
            }
            let stash = stash_words(shape, info, exiles_for(info.bins).max(left + MORE_EXILES));
            if stash > MOST_STASH {
                return None;
            }
            let made = Segment::zeros(shape, self.generation(), info, stash);
            return Some(self.dealt(isa, shape, &exiles, &seams, made));
        }
    }

    /// The same entries with these numbers, which are more or less coarse than its own.
    #[inline(never)]
    fn recoarsed<I: Isa>(&self, isa: I, shape: &Shape, info: Info) -> Option<Segment> {
        isa.vectorize(
            #[inline(always)]
            || match self.points(isa, shape) {
                Some(points) => Segment::laid_out(isa, shape, self.generation(), info, |info| {
                    points.stored(info)
                }),
                None => {
                    let entries = self.entries(isa, shape);
                    Segment::laid_out(isa, shape, self.generation(), info, |info| {
                        stored(shape, info, &entries)
                    })
                }
            },
        )
    }

    /// Where the bins of other steps begin, and where the last ends.
    #[inline(always)]
    fn seams<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        exiles: &[(usize, Numbered)],
        steps: Steps,
        bins: usize,
    ) -> Vec<Seam> {
        let info = self.info();
        let (layout, own) = (info.layout(shape), self.steps());
        let (mut passed, mut in_passed, mut exile) = (0, 0, 0);
        let mut seams = Vec::with_capacity(bins + 1);
        for number in 0..=bins {
            let first = steps.first(number);
            while exiles.get(exile).is_some_and(|(_, exile)| exile.number < first) {
                exile += 1;
            }
            let bin = if number < bins { own.bin(first) } else { info.bins };
            while passed < bin {
                in_passed += self.bin(&layout, passed).head().count() as usize;
                passed += 1;
            }
            let slot = match bin < info.bins {
                true => self.bin(&layout, bin).head().first_slot(isa, first - own.first(bin)),
                false => 0,
            };
            seams.push(Seam { bin, slot, exile, before: in_passed + slot + exile });
        }
        seams
    }

    /// Fills a segment of zeros whose bins begin at these cuts.
    #[inline(always)]
    fn dealt<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        exiles: &[(usize, Numbered)],
        seams: &[Seam],
        made: Segment,
    ) -> Segment {
        let (info, made_info) = (self.info(), made.info());
        let (layout, made_layout) = (info.layout(shape), made_info.layout(shape));
        let (own, steps) = (self.steps(), made.steps());
        let planes = layout.planes_of_bin();
        let (bin, exiled) = (OpenBin::new(), Vec::new());
        let mut dealing = Dealing { made, bin, exiled };
        for (number, pair) in seams.windows(2).enumerate() {
            let (from, to) = (pair[0], pair[1]);
            dealing.bin.begin(number, steps.first(number), planes);
            let mut exile = from.exile;
            for source in from.bin..=to.bin.min(info.bins - 1) {
                let bin = self.bin(&layout, source);
                let head = bin.head();
                let first = if source == from.bin { from.slot } else { 0 };
                let end = if source == to.bin { to.slot } else { head.count() as usize };
                let stretch = Stretch {
                    head,
                    row: bin.row(),
                    planes: bin.planes(),
                    bucket: own.first(source),
                    slots: first..end,
                };
                dealing.take(isa, planes, &stretch);
                while exile < to.exile {
                    let found = exiles[exile].1;
                    if own.bin(found.number) != source {
                        break;
                    }
                    dealing.take_one(planes, found);
                    exile += 1;
                }
            }
            dealing.close(isa, &made_layout, planes);
        }
        let Dealing { mut made, exiled, .. } = dealing;
        made.set_stash(shape, made_info, exiled.into_iter());
        made
    }
}

/// Neighbours in an old bin.
struct Stretch<'a> {
    head: Head,
    row: &'a SlotBytes,
    planes: &'a [[u8; 8]],
    /// The first bucket of the bin.
    bucket: u32,
    slots: Range<usize>,
}

impl Stretch<'_> {
    /// The occupied buckets of the bin from that of a slot on.
    #[inline(always)]
    fn buckets_from<I: Isa>(&self, isa: I, slot: usize) -> [u64; 2] {
        let rank = (self.head.ends & ones(slot)).count_ones();
        let [low, high] = self.head.occupied;
        let in_high = rank.saturating_sub(low.count_ones());
        [isa.drop_ones(low, rank), isa.drop_ones(high, in_high)]
    }
}

/// A new bin that is being filled.
struct OpenBin {
    number: usize,
    first: u32,
    /// Bit by bucket, without the gap that words have.
    occupied: u128,
    ends: u64,
    threshold: u32,
    count: usize,
    row: SlotBytes,
    planes: [u64; MOST_PLANES],
    /// Of entries that came one by one, what is not in the row: every eight planes as bytes, which are
    /// put where they belong all at once.
    above: [SlotBytes; MOST_PLANES / u8::BITS as usize],
    /// Whether any came so.
    singles: bool,
}

impl OpenBin {
    fn new() -> Self {
        let (number, first, occupied, ends, threshold, count) = (0, 0, 0, 0, NOBODY, 0);
        let (row, planes) = ([0; SLOTS], [0; MOST_PLANES]);
        let (above, singles) = ([[0; SLOTS]; MOST_PLANES / u8::BITS as usize], false);
        Self { number, first, occupied, ends, threshold, count, row, planes, above, singles }
    }

    /// Another bin, without entries.
    #[inline(always)]
    fn begin(&mut self, number: usize, first: u32, planes: usize) {
        (self.number, self.first) = (number, first);
        (self.occupied, self.ends, self.threshold, self.count) = (0, 0, NOBODY, 0);
        (self.row, self.singles) = ([0; SLOTS], false);
        self.planes[..planes].fill(0);
    }
}

/// Rows of bytes for so many planes.
#[inline(always)]
fn rows(planes: usize) -> usize {
    planes.div_ceil(u8::BITS as usize)
}

/// A segment that is being made.
struct Dealing {
    made: Segment,
    bin: OpenBin,
    /// What does not fit, in order.
    exiled: Vec<Numbered>,
}

impl Dealing {
    /// Moves a stretch into the open bin: as much of it as fits by words, the rest one by one.
    #[inline(always)]
    fn take<I: Isa>(&mut self, isa: I, planes: usize, stretch: &Stretch<'_>) {
        let Range { start, end } = stretch.slots;
        let room = if self.bin.threshold == NOBODY { SLOTS - self.bin.count } else { 0 };
        let middle = end.min(start + room);
        self.take_words(isa, planes, stretch, start..middle);
        self.take_each(isa, planes, stretch, middle..end);
    }

    /// Moves some neighbours that fit.
    #[inline(always)]
    fn take_words<I: Isa>(
        &mut self,
        isa: I,
        planes: usize,
        stretch: &Stretch<'_>,
        Range { start, end }: Range<usize>,
    ) {
        if start == end {
            return;
        }
        let (open, moved) = (&mut self.bin, end - start);
        let count = open.count;
        open.row[count..count + moved].copy_from_slice(&stretch.row[start..end]);
        let used = ones(moved);
        for (plane, source) in open.planes[..planes].iter_mut().zip(stretch.planes) {
            *plane |= (u64::from_le_bytes(*source) >> start & used) << count;
        }
        // Where the bin is full, its last bucket may go on among the exiles, and ends here all the same.
        let ends = stretch.head.ends >> start & used | 1 << (moved - 1);
        open.ends |= ends << count;
        open.count += moved;
        // As many buckets from the one of the first slot on as end here.
        let [low, high] = stretch.buckets_from(isa, start);
        let buckets = ends.count_ones();
        let low = isa.deposit(isa.low_bits(u64::MAX, buckets), low);
        let high = isa.deposit(isa.low_bits(u64::MAX, buckets - low.count_ones()), high);
        let occupied = u128::from(low) | u128::from(high) << LEAST_BUCKETS;
        // Bits of buckets before the first are not set.
        open.occupied |= match stretch.bucket.checked_sub(open.first) {
            Some(later) => occupied << later,
            None => occupied >> (open.first - stretch.bucket),
        };
    }

    /// Moves some neighbours that do not fit, or that are behind such ones.
    #[inline(always)]
    fn take_each<I: Isa>(
        &mut self,
        isa: I,
        planes: usize,
        stretch: &Stretch<'_>,
        slots: Range<usize>,
    ) {
        if slots.is_empty() {
            return;
        }
        let [low, high] = stretch.buckets_from(isa, slots.start);
        let mut buckets = u128::from(low) | u128::from(high) << LEAST_BUCKETS;
        for slot in slots {
            let number = stretch.bucket + buckets.trailing_zeros();
            let above = isa.get(stretch.planes, 1 << slot) << u8::BITS;
            let value = u64::from(stretch.row[slot]) | above;
            self.take_one(planes, Numbered { number, value });
            if stretch.head.ends >> slot & 1 != 0 {
                buckets &= buckets - 1;
            }
        }
    }

    /// Puts an entry into the open bin, or into the stash behind those that are there.
    #[inline(always)]
    fn take_one(&mut self, planes: usize, entry: Numbered) {
        let open = &mut self.bin;
        let local = entry.number - open.first;
        if open.count == SLOTS || open.threshold != NOBODY {
            open.threshold = open.threshold.min(local);
            self.exiled.push(entry);
            return;
        }
        open.row[open.count] = entry.value as u8;
        if !open.singles {
            open.above[..rows(planes)].fill([0; SLOTS]);
            open.singles = true;
        }
        for (row, byte) in open.above[..rows(planes)].iter_mut().zip(1..) {
            row[open.count] = (entry.value >> (u8::BITS * byte)) as u8;
        }
        if open.occupied >> local & 1 != 0 {
            open.ends ^= 1 << (open.count - 1);
        }
        open.occupied |= 1 << local;
        open.ends |= 1 << open.count;
        open.count += 1;
    }

    /// Writes the open bin.
    #[inline(always)]
    fn close<I: Isa>(&mut self, isa: I, layout: &Layout, planes: usize) {
        let open = &mut self.bin;
        if open.singles {
            for (planes, row) in open.planes[..planes].chunks_mut(8).zip(&open.above) {
                let mut words = [[0; 8]; 8];
                isa.scatter(row, &mut words[..planes.len()]);
                for (plane, word) in planes.iter_mut().zip(words) {
                    *plane |= u64::from_le_bytes(word);
                }
            }
        }
        let low = open.occupied as u64 & ones(LEAST_BUCKETS as usize);
        let high = (open.occupied >> LEAST_BUCKETS) as u64;
        let head = Head { occupied: [low, high], threshold: open.threshold, ends: open.ends };
        let mut bin = self.made.bin_mut(layout, open.number);
        bin.set_slots(&open.row, &open.planes[..planes]);
        bin.set_head(head);
    }
}
