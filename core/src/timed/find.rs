//! Looking for a hash in a segment.

use std::ops::Deref;

use super::entry::Place;
use super::segment::{HEAD, Info, SLOTS, Segment, Shape, ones};
use crate::bits::Isa;

/// The slots of a bucket. If it has none, `first` is where its first would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: usize,
    /// The slot after the last.
    pub(super) end: usize,
}

/// How the entries of a bucket compare with a hash.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Compared {
    /// The slot with exactly its field.
    pub(super) equal: Option<usize>,
    /// How many are less.
    pub(super) less: usize,
    /// Whether any matches: is equal, or shorter and a part of it.
    pub(super) seen: bool,
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// The age of the youngest entry that matches, counted from the generation of the segment, if it is
    /// at most `oldest`.
    #[inline(always)]
    pub(super) fn find<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        hash: u64,
        depth: u32,
        oldest: u32,
    ) -> Option<u32> {
        let info = self.info();
        if info.bins == 0 {
            return None;
        }
        let place = Place::of(hash, depth, info.groups(shape));
        if !self.group(place.group).has(place.bucket) {
            return None;
        }
        let run = self.run(isa, shape, info, place);
        let field = info.field(place.remainder);
        let mut youngest = None;
        for (bin, slots) in run.bins() {
            let words = self.bin(shape, info, bin);
            let (fields, tags) = words[1..].split_at(info.field_bits() as usize);
            let matching = if info.mixed {
                matching_mixed(fields, slots, field)
            } else {
                matching(fields, slots, field)
            };
            if matching != 0 {
                let age = youngest_of(shape, tags, matching, self.generation());
                youngest = Some(youngest.map_or(age, |other: u32| other.min(age)));
            }
        }
        youngest.filter(|&age| age <= oldest)
    }

    /// The slots of the bucket of a place.
    #[inline(always)]
    pub(super) fn run<I: Isa>(&self, isa: I, shape: &Shape, info: Info, place: Place) -> Run {
        let group = self.group(place.group);
        let (start, rank) = (group.start(), group.rank(place.bucket));
        let has = group.has(place.bucket);
        let ends = self.ends_from(shape, info, start);
        // Without the ends of the buckets before it.
        let before = isa.deposit(ones(rank as usize), ends);
        let rest = ends ^ before;
        if rest != 0 || (!has && ends.count_ones() >= rank) {
            let first = start + (u64::BITS - before.leading_zeros()) as usize;
            let end = if has { start + rest.trailing_zeros() as usize + 1 } else { first };
            return Run { first, end };
        }
        self.far_run(isa, shape, info, start, rank, has)
    }

    /// The same if it is not among the first slots of the group.
    #[cold]
    fn far_run<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        info: Info,
        start: usize,
        rank: u32,
        has: bool,
    ) -> Run {
        let after = |slot: usize, ends: u32| match ends {
            0 => slot,
            ends => self.nth_end(isa, shape, info, slot, ends - 1) + 1,
        };
        let first = after(start, rank);
        Run { first, end: if has { after(first, 1) } else { first } }
    }

    /// The slot of the n-th end, from zero on, among those from a slot on.
    fn nth_end<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        info: Info,
        mut slot: usize,
        mut n: u32,
    ) -> usize {
        loop {
            let ends = self.ends_from(shape, info, slot);
            if n < ends.count_ones() {
                return slot + isa.deposit(1 << n, ends).trailing_zeros() as usize;
            }
            n -= ends.count_ones();
            slot += SLOTS;
            assert!(slot < info.slots(), "a bucket without an end");
        }
    }

    /// The ends of 64 slots from one on.
    #[inline(always)]
    fn ends_from(&self, shape: &Shape, info: Info, slot: usize) -> u64 {
        let (bin, shift) = (slot / SLOTS, slot % SLOTS);
        let stride = info.stride(shape);
        let at = info.bins_at(shape) + bin * stride;
        // An empty group may start after the last slot.
        let word = |at: usize| self.words.get(at).copied().unwrap_or(0);
        word(at) >> shift | (word(at + stride) << 1) << (SLOTS - 1 - shift)
    }

    /// Compares the entries of a run with a field that is as long as can be.
    #[inline(always)]
    pub(super) fn compare(&self, shape: &Shape, info: Info, run: Run, field: u64) -> Compared {
        let mut compared = Compared::default();
        for (bin, slots) in run.bins() {
            let fields = &self.bin(shape, info, bin)[1..][..info.field_bits() as usize];
            let (mut equal, mut less) = (slots, 0);
            let mut rest = field << (u64::BITS - info.field_bits());
            for four in fields.chunks(4) {
                for &plane in four {
                    let wanted = copies(rest >> 63);
                    less |= equal & !plane & wanted;
                    equal &= !(plane ^ wanted);
                    rest <<= 1;
                }
                if equal == 0 {
                    break;
                }
            }
            compared.less += less.count_ones() as usize;
            if equal != 0 {
                compared.equal = Some(bin * SLOTS + equal.trailing_zeros() as usize);
            }
            compared.seen |= equal != 0 || info.mixed && matching_mixed(fields, slots, field) != 0;
        }
        compared
    }

    /// A slot of a run whose entry matches a place, if there is one.
    pub(super) fn matching_slot(
        &self,
        shape: &Shape,
        info: Info,
        run: Run,
        place: Place,
    ) -> Option<usize> {
        let field = info.field(place.remainder);
        run.bins().find_map(|(bin, slots)| {
            let fields = &self.bin(shape, info, bin)[1..][..info.field_bits() as usize];
            let matching = if info.mixed {
                matching_mixed(fields, slots, field)
            } else {
                matching(fields, slots, field)
            };
            (matching != 0).then(|| bin * SLOTS + matching.trailing_zeros() as usize)
        })
    }

    /// The tag in a slot.
    #[inline(always)]
    pub(super) fn tag_at(&self, shape: &Shape, info: Info, slot: usize) -> u32 {
        let words = self.bin(shape, info, slot / SLOTS);
        tag_in(&words[words.len() - shape.tag_bits as usize..], slot % SLOTS)
    }

    /// Asks for the memory that an operation on this hash will look at.
    #[inline(always)]
    pub(super) fn prefetch(&self, shape: &Shape, hash: u64, depth: u32) {
        // As if it were not coarse, and entries spread evenly.
        let place = Place::of(hash, depth, shape.groups);
        crate::bits::prefetch(&self.words, 0);
        crate::bits::prefetch(&self.words, HEAD + place.group);
        let bins = self.words.len().saturating_sub(HEAD + shape.groups);
        let at = self.words.len() - bins + bins * place.group / shape.groups;
        crate::bits::prefetch(&self.words, at);
        crate::bits::prefetch(&self.words, at + 8);
    }
}

impl Run {
    /// Its bins, and which of their slots.
    #[inline(always)]
    pub(super) fn bins(self) -> impl Iterator<Item = (usize, u64)> {
        let (first, end) = (self.first, self.end);
        (first / SLOTS..end.div_ceil(SLOTS)).map(move |bin| {
            let above = first.saturating_sub(bin * SLOTS);
            let below = (end - bin * SLOTS).min(SLOTS);
            (bin, ones(below) & !ones(above))
        })
    }
}

/// The slots with exactly this field.
#[inline(always)]
fn matching(fields: &[u64], slots: u64, field: u64) -> u64 {
    let mut equal = slots;
    let mut rest = field << (u64::BITS - fields.len() as u32);
    // A few at a time: after the first few hardly any is left.
    for four in fields.chunks(4) {
        for &plane in four {
            equal &= !(plane ^ copies(rest >> 63));
            rest <<= 1;
        }
        if equal == 0 {
            return 0;
        }
    }
    equal
}

/// The slots whose field is a remainder that is a part of the wanted one, a one, and zeros.
#[inline(always)]
fn matching_mixed(fields: &[u64], slots: u64, field: u64) -> u64 {
    let (mut ended, mut wrong, mut rest) = (0, 0, field);
    for &plane in fields.iter().rev() {
        wrong |= ended & (plane ^ copies(rest));
        ended |= plane;
        rest >>= 1;
    }
    slots & ended & !wrong
}

/// The age of the youngest of some slots; there is at least one.
#[inline(always)]
fn youngest_of(shape: &Shape, tags: &[u64], slots: u64, generation: u64) -> u32 {
    let mut slots = slots;
    let mut youngest = u32::MAX;
    while slots != 0 {
        let tag = tag_in(tags, slots.trailing_zeros() as usize);
        youngest = youngest.min(shape.age(generation, tag));
        slots &= slots - 1;
    }
    youngest
}

/// The tag in a slot of a bin.
#[inline(always)]
fn tag_in(tags: &[u64], slot: usize) -> u32 {
    tags.iter().fold(0, |tag, plane| tag << 1 | (plane >> slot & 1) as u32)
}

/// 64 copies of the lowest bit.
#[inline(always)]
pub(super) fn copies(bit: u64) -> u64 {
    (bit & 1).wrapping_neg()
}
