//! Looking for a hash in a segment.

use core::ops::Deref;

use super::entry::Site;
use super::segment::{HEAD, Info, Segment, Shape};
use crate::bits::{Isa, LINE_BYTES, bytes, prefetch};
use crate::dictionary::bins::{Bin, FRONT};
use crate::dictionary::head::Run;

/// Where an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// In this slot of its bin: one bit.
    Slot(u64),
    /// The so-manieth that came into the stash.
    Exile(usize),
}

/// An entry that was found, field and what is beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) spot: Spot,
    pub(super) field: u64,
    pub(super) beside: u64,
}

impl<W: Deref<Target = [u64]>> Segment<W> {
    /// The age of the youngest entry that matches, counted from the generation of the segment.
    #[inline(always)]
    pub(super) fn find<I: Isa>(&self, isa: I, shape: &Shape, info: Info, rest: u64) -> Option<u32> {
        if info.is_plain() {
            let info = Info { mixed: false, ..info };
            let layout = info.long_layout(shape);
            let site = self.site(shape, info, rest);
            let bin = self.bin(&layout, site.bin);
            bin.prefetch_row();
            let view = bin.view(site.bucket);
            let run = view.run(isa);
            // Nearly always no byte is the wanted one.
            let perhaps = bin.may_hold(isa, run, info.field(site.remainder));
            if !perhaps & !view.overflows() {
                return None;
            }
        }
        self.find_apart(isa, shape, rest)
    }

    /// The rest of it, and the whole in a segment that is not plain; it finds out anew what is in registers
    /// elsewhere.
    #[inline(never)]
    fn find_apart<I: Isa>(&self, isa: I, shape: &Shape, rest: u64) -> Option<u32> {
        isa.vectorize(
            #[inline(always)]
            || {
                let (info, mut youngest) = (self.info(), None);
                if info.bins == 0 {
                    return None;
                }
                let site = self.site(shape, info, rest);
                self.matching(isa, shape, info, site, |found| {
                    let age = shape.age(self.generation(), shape.tag(found.beside));
                    youngest = Some(youngest.map_or(age, |other: u32| other.min(age)));
                });
                youngest
            },
        )
    }

    /// Tells of every entry that matches a site, in their order.
    #[inline(always)]
    pub(super) fn matching<I: Isa>(
        &self,
        isa: I,
        shape: &Shape,
        info: Info,
        site: Site,
        mut tell: impl FnMut(Found),
    ) {
        let layout = info.layout(shape);
        let bin = self.bin(&layout, site.bin);
        let view = bin.view(site.bucket);
        let run = view.run(isa);
        let field = info.field(site.remainder);
        let mut slots = match info.mixed {
            true => run.slots(),
            false => bin.find(isa, run, field),
        };
        while slots != 0 {
            let slot = slots & slots.wrapping_neg();
            slots ^= slot;
            let (stored, beside) = bin.entry(isa, slot);
            if matches(info, stored, field) {
                tell(Found { spot: Spot::Slot(slot), field: stored, beside });
            }
        }
        if view.overflows() {
            for index in self.exiles_of(shape, info, site.number) {
                let exile = self.exile(shape, info, index);
                let (stored, beside) = (exile.field(info), exile.beside(info));
                if matches(info, stored, field) {
                    tell(Found { spot: Spot::Exile(index), field: stored, beside });
                }
            }
        }
    }

    /// Asks for the memory that an operation on any hash of the segment will look at first.
    #[inline(always)]
    pub(super) fn prefetch_head(&self) {
        prefetch(&self.words, 0);
    }

    /// The same for what an operation on this hash will look at then.
    #[inline(always)]
    pub(super) fn prefetch_bin(&self, shape: &Shape, rest: u64) {
        let info = self.info();
        if info.bins == 0 {
            return;
        }
        let site = self.site(shape, info, rest);
        let stride = info.layout(shape).stride();
        let at = HEAD * size_of::<u64>() + site.bin * stride;
        for byte in [0, LINE_BYTES, FRONT, stride - 1] {
            prefetch(bytes(&self.words), at + byte);
        }
    }
}

/// Whether a run may have an entry that matches a field which is as long as can be, as far as a few bytes
/// of the row tell, which is always known in time.
#[inline(always)]
pub(super) fn may_match<I: Isa, B: AsRef<[u8]>>(
    isa: I,
    info: Info,
    bin: &Bin<'_, B>,
    run: Run,
    field: u64,
) -> bool {
    if info.mixed {
        return bin.may_begin(isa, run, field);
    }
    bin.may_hold(isa, run, field)
}

/// Whether a stored field is that of a key, or a part of it.
#[inline(always)]
fn matches(info: Info, stored: u64, field: u64) -> bool {
    // The one that ends a short remainder, and the zeros below it, do not count.
    let unknown = if info.mixed { stored ^ stored.wrapping_sub(1) } else { 0 };
    (stored ^ field) & !unknown == 0
}
