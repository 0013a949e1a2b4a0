//! Remainders of different lengths, and which of them match a hash.

use crate::bits::Isa;

/// How the fields of a run compare to one that is as long as can be.
#[derive(Clone, Copy, Default)]
pub(super) struct Compared {
    pub(super) seen: bool,
    pub(super) less: usize,
    pub(super) equal: usize,
}

impl Compared {
    #[inline(always)]
    pub(super) fn add(&mut self, field: u64, wanted: u64, counts: bool) {
        self.seen |= counts & matches(field, wanted);
        self.less += usize::from(counts & (field < wanted));
        self.equal += usize::from(counts & (field == wanted));
    }
}

/// Whether the remainder of a field is a prefix of the one that is wanted, which is as long as can
/// be: they do not differ above the lowest one of the field. A free slot matches nothing.
#[inline(always)]
pub(super) fn matches(field: u64, wanted: u64) -> bool {
    (field ^ wanted) >> 1 < field & field.wrapping_neg()
}

/// Planes, from the lowest on, in which the remainders of most entries end.
const LAST_PLANES: usize = 4;

/// The slots whose remainder ends in the last planes, and [`matches()`] for those.
#[inline(always)]
pub(super) fn matching_late<I: Isa>(isa: I, planes: &[u64], wanted: u64) -> (u64, u64) {
    let Some((last, first)) = planes.split_first_chunk::<LAST_PLANES>() else { return (0, 0) };
    let (mut differing, mut ended) = (0, 0);
    for (bit, plane) in last.iter().enumerate() {
        differing |= ended & (plane ^ (wanted >> bit & 1).wrapping_neg());
        ended |= plane;
    }
    (ended, !differing & !isa.other_columns(first, wanted >> LAST_PLANES))
}

/// [`matches()`] for all slots of a bin; true of free slots.
#[inline(always)]
pub(super) fn matching(planes: &[u64], wanted: u64) -> u64 {
    let (mut differing, mut known, mut bits) = (0, 0, wanted);
    for plane in planes {
        differing |= known & (plane ^ (bits & 1).wrapping_neg());
        known |= plane;
        bits >>= 1;
    }
    !differing
}
