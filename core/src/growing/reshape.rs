//! Segments made from segments: with more or fewer bins, or one of two halves.
//!
//! Sorted order survives both, so whole stretches of slots are copied, all planes alike, and only
//! occupied buckets and ends are computed anew. Halving a segment moves the first bit of every
//! remainder into the address: bucket u of block w becomes bucket 2u or 2u + 1 of what is counted
//! from block 2w on. An entry without a remainder goes to both.

use super::segment::{BLOCKS, BUCKETS, Block, HEAD, Outcome, Place, Repeat, Run, SLOTS, Segment};
use crate::bits::Isa;
use crate::dictionary::work::Uncounted;

/// Slots that are free at least when a segment was just made: one after every block, and the last,
/// which is never taken.
const SPARE: usize = BLOCKS + 1;

/// Bins for so many entries.
pub(super) const fn bins_for(entries: usize) -> usize {
    (entries + SPARE).div_ceil(SLOTS)
}

/// A block to be: where its entries lie now, and its buckets.
#[derive(Clone, Copy, Default)]
struct Stretch {
    at: usize,
    count: usize,
    occupied: u64,
}

/// The same entries with as many bins as they need, free slots spread evenly.
pub(super) fn reshaped<I: Isa>(isa: I, segment: &Segment, stride: usize) -> Segment {
    isa.vectorize(
        #[inline(always)]
        || {
            let stretches = std::array::from_fn(|number| {
                let block = segment.block(number);
                let count = segment.end(stride, number) - block.start();
                Stretch { at: block.start(), count, occupied: block.occupied() }
            });
            assemble(segment, stride, &stretches, stride, 0)
        },
    )
}

/// One half of a segment.
pub(super) struct Half {
    pub(super) segment: Segment,
    /// Entries whose remainder was used up just now.
    pub(super) used_up: Vec<Place>,
}

/// The two halves of a segment, whose entries have one bit of remainder less.
pub(super) fn halves<I: Isa>(
    isa: I,
    mut segment: Segment,
    stride: usize,
    child_stride: usize,
) -> [Half; 2] {
    isa.vectorize(
        #[inline(always)]
        || {
            let everywhere = segment.used_up(isa, stride);
            for &place in &everywhere {
                segment.remove_used_up(isa, stride, place);
            }
            let stretches: [[Stretch; BLOCKS]; 2] = std::array::from_fn(|side| {
                std::array::from_fn(|block| {
                    let parent = BLOCKS / 2 * side + block / 2;
                    halved(isa, &segment, stride, parent, block % 2)
                })
            });
            divide_runs(&mut segment, stride);
            let mut halves = stretches.map(|half| {
                let segment = assemble(&segment, stride, &half, child_stride, 1);
                Half { used_up: segment.used_up(isa, child_stride), segment }
            });
            for parent in everywhere {
                let child = &mut halves[parent.block / (BLOCKS / 2)].segment;
                for place in children(parent, child_stride) {
                    store(isa, child, child_stride, place);
                }
            }
            halves
        },
    )
}

/// The two places below a place whose remainder is used up.
fn children(parent: Place, child_stride: usize) -> [Place; 2] {
    let block = 2 * parent.block % BLOCKS + (2 * parent.bucket / BUCKETS) as usize;
    let field = 1 << (child_stride - 2);
    [0, 1].map(|bit| Place { block, bucket: 2 * parent.bucket % BUCKETS + bit, field })
}

/// Stores an entry, whatever else is there.
fn store<I: Isa>(isa: I, segment: &mut Segment, stride: usize, place: Place) {
    let always = Repeat::Store(usize::MAX);
    if segment.insert(isa, stride, place, always, &mut Uncounted) == Outcome::Full {
        *segment = reshaped(isa, segment, stride);
        segment.insert(isa, stride, place, always, &mut Uncounted);
    }
}

/// One half of a block as a block of a child.
#[inline(always)]
fn halved<I: Isa>(isa: I, segment: &Segment, stride: usize, number: usize, half: usize) -> Stretch {
    const HALF: u32 = BUCKETS / 2;
    let block = segment.block(number);
    let (low, high) = (block.occupied() & ((1 << HALF) - 1), block.occupied() >> HALF);
    let middle = segment.start_of(isa, stride, block, low.count_ones());
    let (first, end, occupied) = if half == 0 {
        (block.start(), middle, low)
    } else {
        (middle, segment.end(stride, number), high)
    };
    if first == end {
        return Stretch { at: first, count: 0, occupied: 0 };
    }
    // Whether some entry of each run continues with a zero, or with a one. Runs are sorted: the
    // first entry has the zero, the last one the one. There are at most 26.
    let (mut zeros, mut ones, mut firsts_before, mut lasts_before) = (0, 0, 0, 0);
    let mut after_end = 1;
    for (bin, slots) in (Run { first, end }).parts() {
        let words = segment.bin(stride, bin);
        let (lasts, bits) = (words[0] & slots, words[stride - 1]);
        let lowest = slots & slots.wrapping_neg();
        let firsts = ((lasts << 1) | (lowest * after_end)) & slots;
        zeros |= isa.extract(!bits, firsts) << firsts_before;
        ones |= isa.extract(bits, lasts) << lasts_before;
        firsts_before += firsts.count_ones();
        lasts_before += lasts.count_ones();
        after_end = lasts >> (SLOTS - 1);
    }
    let zeros = isa.deposit(zeros, occupied);
    let ones = isa.deposit(ones, occupied);
    // Bucket u has the buckets 2u and 2u + 1 of the child.
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let occupied = isa.deposit(zeros, EVEN) | isa.deposit(ones, EVEN << 1);
    Stretch { at: first, count: end - first, occupied }
}

/// Ends each run also where the first bit of its remainders changes.
#[inline(always)]
fn divide_runs(segment: &mut Segment, stride: usize) {
    let words = &mut segment.words_mut()[HEAD..];
    for bin in 0..words.len() / stride {
        let bits = words[(bin + 1) * stride - 1];
        let after = words.get((bin + 2) * stride - 1).map_or(0, |bits| bits << 63);
        // Where the next slot begins another run, the bit is set already; free slots get bits that
        // nobody copies.
        words[bin * stride] |= !bits & (bits >> 1 | after);
    }
}

/// A segment of these blocks, leaving out so many of the highest planes.
#[inline(always)]
fn assemble(
    source: &Segment,
    source_stride: usize,
    blocks: &[Stretch; BLOCKS],
    stride: usize,
    skipped: usize,
) -> Segment {
    let entries: usize = blocks.iter().map(|block| block.count).sum();
    let bins = bins_for(entries);
    let free = SLOTS * bins - entries - 1;
    let mut segment = Segment::new(stride, bins);
    let mut start = 0;
    for (number, block) in blocks.iter().enumerate() {
        segment.set_block(number, Block::new(start, block.occupied));
        copy(source, source_stride, block, &mut segment, stride, start, skipped);
        start += block.count + (free * (number + 1)) / BLOCKS - (free * number) / BLOCKS;
    }
    segment
}

/// Copies the slots of a stretch to slots from `start` on, which are free.
#[inline(always)]
fn copy(
    source: &Segment,
    source_stride: usize,
    stretch: &Stretch,
    target: &mut Segment,
    stride: usize,
    start: usize,
    skipped: usize,
) {
    let mut done = 0;
    while done < stretch.count {
        let (from, to) = (stretch.at + done, start + done);
        let (shift, low) = (from % SLOTS, to % SLOTS);
        let count = (SLOTS - low).min(stretch.count - done);
        let slots = u64::MAX >> (SLOTS - count) << low;
        let here = source.bin(source_stride, from / SLOTS);
        let target = &mut target.words_mut()[HEAD + to / SLOTS * stride..][..stride];
        let (ends, planes) = target.split_first_mut().expect("a bin has ends");
        // Fields begin with their highest plane, which is the last.
        let kept = source_stride - skipped;
        if shift + count <= SLOTS {
            *ends |= here[0] >> shift << low & slots;
            for (plane, from) in planes.iter_mut().rev().zip(here[1..kept].iter().rev()) {
                *plane |= from >> shift << low & slots;
            }
        } else {
            let next = source.bin(source_stride, from / SLOTS + 1);
            *ends |= (here[0] >> shift | next[0] << (SLOTS - shift)) << low & slots;
            let pairs = here[1..kept].iter().zip(&next[1..kept]).rev();
            for (plane, (here, next)) in planes.iter_mut().rev().zip(pairs) {
                *plane |= (here >> shift | next << (SLOTS - shift)) << low & slots;
            }
        }
        done += count;
    }
}
