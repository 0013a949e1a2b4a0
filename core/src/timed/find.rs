//! Looking for a hash in a segment.

use core::ops::Deref;

use super::entry::{Place, ones};
use super::segment::{HEAD, Info, Layout, ROW_PART_BITS, SLOTS, Segment, Shape};
use crate::bits::{Isa, STRETCH, bytes};

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
    /// The age of the youngest entry that matches, counted from the generation of the segment.
    #[inline(always)]
    pub(super) fn find<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        info: Info,
        hash: u64,
        depth: u32,
    ) -> Option<u32> {
        if info.bins == 0 {
            return None;
        }
        if info.is_plain() {
            let (info, layout) = info.plain(shape);
            return self.find_with(isa, shape, info, layout, hash, depth);
        }
        self.find_apart(isa, shape, hash, depth)
    }

    /// The same in one that is not plain.
    #[inline(never)]
    fn find_apart<I: Isa>(&self, isa: I, shape: &Shape, hash: u64, depth: u32) -> Option<u32> {
        isa.vectorize(
            #[inline(always)]
            || {
                let info = self.info();
                self.find_with(isa, shape, info, info.layout(shape), hash, depth)
            },
        )
    }

    #[inline(always)]
    fn find_with<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        info: Info,
        layout: Layout,
        hash: u64,
        depth: u32,
    ) -> Option<u32> {
        let place = Place::of(hash, depth, info.groups(shape));
        if !self.group(place.group).has(place.bucket) {
            return None;
        }
        let run = self.run(isa, shape, layout, place);
        let field = info.field(place.remainder);
        // Nearly always no byte is the wanted one.
        if let Some(bytes) = self.single_stretch(layout, run) {
            let wanted = layout.byte(field << layout.beside_bits, 0);
            if bytes_matching(isa, info.mixed, bytes, wanted) & run.stretch(run.first) == 0 {
                return None;
            }
        }
        self.youngest(isa, shape, run, field)
    }

    /// The same of those in a run; it finds out anew what is in registers elsewhere.
    #[inline(never)]
    fn youngest<I: Isa>(&self, isa: I, shape: &Shape, run: Run, field: u64) -> Option<u32> {
        isa.vectorize(
            #[inline(always)]
            || {
                let (info, mut youngest) = (self.info(), None);
                self.matching(isa, info.layout(shape), info.mixed, run, field, |_, value| {
                    let age = shape.age(self.generation(), shape.tag(value));
                    youngest = Some(youngest.map_or(age, |other: u32| other.min(age)));
                });
                youngest
            },
        )
    }

    /// The first row from the first slot of a run on, if that is all that can tell its entries from
    /// others at first sight: hardly any run is longer.
    #[inline(always)]
    fn single_stretch(&self, layout: Layout, run: Run) -> Option<&[u8; STRETCH]> {
        if layout.rows == 0 || run.end - run.first > STRETCH {
            return None;
        }
        bytes(&self.words)[layout.row_at(0) + run.first..].first_chunk()
    }

    /// The slots of the bucket of a place.
    #[inline(always)]
    pub(super) fn run<I: Isa>(&self, isa: I, shape: &Shape, layout: Layout, place: Place) -> Run {
        let group = self.group(place.group);
        let (start, rank) = (group.start(), group.rank(place.bucket));
        let has = group.has(place.bucket);
        let ends = self.ends_from(layout, start);
        // Without the ends of the buckets before it.
        let before = isa.deposit(ones(rank as usize), ends);
        let rest = ends ^ before;
        if rest != 0 || (!has && ends.count_ones() >= rank) {
            let first = start + (u64::BITS - before.leading_zeros()) as usize;
            let end = if has { start + rest.trailing_zeros() as usize + 1 } else { first };
            return Run { first, end };
        }
        self.far_run(isa, shape, place)
    }

    /// The same if it is not among the first slots of the group; it finds out anew what is in registers
    /// elsewhere.
    #[cold]
    #[inline(never)]
    fn far_run<I: Isa>(&self, isa: I, shape: &Shape, place: Place) -> Run {
        let (layout, group) = (self.info().layout(shape), self.group(place.group));
        let (start, rank) = (group.start(), group.rank(place.bucket));
        let has = group.has(place.bucket);
        let after = |slot: usize, ends: u32| match ends {
            0 => slot,
            ends => self.nth_end(isa, layout, slot, ends - 1) + 1,
        };
        let first = after(start, rank);
        Run { first, end: if has { after(first, 1) } else { first } }
    }

    /// The slot of the n-th end, from zero on, among those from a slot on.
    fn nth_end<I: Isa>(&self, isa: I, layout: Layout, mut slot: usize, mut n: u32) -> usize {
        loop {
            let ends = self.ends_from(layout, slot);
            if n < ends.count_ones() {
                return slot + isa.deposit(1 << n, ends).trailing_zeros() as usize;
            }
            n -= ends.count_ones();
            slot += SLOTS;
            assert!(slot < layout.slots, "a bucket without an end");
        }
    }

    /// The ends of 64 slots from one on.
    #[inline(always)]
    pub(super) fn ends_from(&self, layout: Layout, slot: usize) -> u64 {
        let (bin, shift) = (slot / SLOTS, slot % SLOTS);
        let at = layout.planes_at + bin * layout.planes();
        // An empty group may start after the last slot.
        let word = |at: usize| self.words.get(at).copied().unwrap_or(0);
        word(at) >> shift | (word(at + layout.planes()) << 1) << (SLOTS - 1 - shift)
    }

    /// Compares the entries of a run with a field that is as long as can be.
    #[inline(always)]
    pub(super) fn compare<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        layout: Layout,
        mixed: bool,
        run: Run,
        field: u64,
    ) -> Compared {
        if let Some(bytes) = self.single_stretch(layout, run) {
            let wanted = layout.byte(field << layout.beside_bits, 0);
            let slots = run.stretch(run.first);
            if bytes_matching(isa, mixed, bytes, wanted) & slots == 0 {
                let less = (isa.bytes_below(bytes, wanted) & slots).count_ones() as usize;
                return Compared { less, ..Compared::default() };
            }
        }
        self.compare_all(isa, shape, run, field)
    }

    /// The same, one by one; it finds out anew what is in registers elsewhere.
    #[inline(never)]
    fn compare_all<I: Isa>(&self, isa: I, shape: &Shape, run: Run, field: u64) -> Compared {
        isa.vectorize(
            #[inline(always)]
            || {
                let info = self.info();
                self.compare_each(isa, info.layout(shape), info.mixed, run, field)
            },
        )
    }

    #[inline(always)]
    fn compare_each<I: Isa>(
        &self,
        isa: I,
        layout: Layout,
        mixed: bool,
        run: Run,
        field: u64,
    ) -> Compared {
        let mut compared = Compared::default();
        let wanted = field << layout.beside_bits;
        let mut first = run.first;
        while first < run.end {
            let slots = run.stretch(first);
            let (mut less, mut open) = (0, slots);
            if layout.rows > 0 {
                let (bytes, wanted) = (self.stretch(layout, first), layout.byte(wanted, 0));
                less = isa.bytes_below(&bytes, wanted) & slots;
                open = isa.bytes_equal(&bytes, wanted) & slots;
            }
            compared.less += less.count_ones() as usize;
            while open != 0 {
                let slot = first + open.trailing_zeros() as usize;
                open &= open - 1;
                let found = self.value_at(layout, slot) >> layout.beside_bits;
                compared.less += usize::from(found < field);
                if found == field {
                    (compared.equal, compared.seen) = (Some(slot), true);
                }
            }
            first += STRETCH;
        }
        if mixed && !compared.seen {
            self.matching(isa, layout, mixed, run, field, |_, _| compared.seen = true);
        }
        compared
    }

    /// Tells of every slot of a run whose entry matches a field that is as long as can be, and the
    /// value in it.
    #[inline(always)]
    pub(super) fn matching<I: Isa>(
        &self,
        isa: I,
        layout: Layout,
        mixed: bool,
        run: Run,
        field: u64,
        mut found: impl FnMut(usize, u64),
    ) {
        let mut first = run.first;
        while first < run.end {
            let mut open = run.stretch(first);
            if layout.rows > 0 {
                let bytes = self.stretch(layout, first);
                let wanted = layout.byte(field << layout.beside_bits, 0);
                open &= bytes_matching(isa, mixed, &bytes, wanted);
            }
            // Of those that do not match, hardly any is left.
            while open != 0 {
                let slot = first + open.trailing_zeros() as usize;
                open &= open - 1;
                let value = self.value_at(layout, slot);
                let stored = value >> layout.beside_bits;
                // The one that ends a short remainder, and the zeros below it, do not count.
                let unknown = if mixed { stored ^ stored.wrapping_sub(1) } else { 0 };
                if (stored ^ field) & !unknown == 0 {
                    found(slot, value);
                }
            }
            first += STRETCH;
        }
    }

    /// The first row from a slot on; what is behind it does not matter.
    #[inline(always)]
    fn stretch(&self, layout: Layout, first: usize) -> [u8; STRETCH] {
        let rest = &bytes(&self.words)[layout.row_at(0) + first..];
        match rest.first_chunk() {
            Some(stretch) => *stretch,
            None => {
                let mut stretch = [0; STRETCH];
                stretch[..rest.len()].copy_from_slice(rest);
                stretch
            }
        }
    }

    /// The tag in a slot.
    #[inline(always)]
    pub(super) fn tag_at(&self, layout: Layout, slot: usize) -> u32 {
        let tags = self.tags(layout, slot / SLOTS);
        tags.iter().fold(0, |tag, plane| tag << 1 | (plane >> (slot % SLOTS) & 1) as u32)
    }

    /// Asks for the memory that an operation on this hash will look at.
    #[inline(always)]
    pub(super) fn prefetch(&self, shape: &Shape, hash: u64, depth: u32) {
        // As if it were plain, and entries spread evenly: the slot is as far as the hash.
        let far = (hash << depth) >> 32;
        let part = |of: usize| ((of as u64 * far) >> 32) as usize;
        let slots_at = HEAD + shape.groups;
        let slots = self.words.len().saturating_sub(slots_at);
        let rows = (slots * shape.row_part) >> ROW_PART_BITS;
        let planes_at = slots_at + rows + part(slots - rows);
        crate::bits::prefetch(&self.words, 0);
        crate::bits::prefetch(&self.words, HEAD + part(shape.groups));
        crate::bits::prefetch(&self.words, slots_at + part(rows));
        // The entries may be some slots earlier or later.
        crate::bits::prefetch(&self.words, planes_at.saturating_sub(NEAR));
        crate::bits::prefetch(&self.words, planes_at + NEAR);
    }
}

/// Words on either side of where entries are expected.
const NEAR: usize = 4;

impl Run {
    /// Its slots from one of them on, as many as are looked at together.
    #[inline(always)]
    fn stretch(self, first: usize) -> u32 {
        ones((self.end - first).min(STRETCH)) as u32
    }
}

/// The bytes of the first row of entries that may match a field with this byte there: all that are equal,
/// and in a mixed segment what may be the begin of a shorter one.
#[inline(always)]
fn bytes_matching<I: Isa>(isa: I, mixed: bool, bytes: &[u8; STRETCH], wanted: u8) -> u32 {
    if mixed { isa.bytes_beginning(bytes, wanted) } else { isa.bytes_equal(bytes, wanted) }
}

/// 64 copies of the lowest bit.
#[inline(always)]
pub(super) fn copies(bit: u64) -> u64 {
    (bit & 1).wrapping_neg()
}
