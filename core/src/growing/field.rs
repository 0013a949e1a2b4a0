//! Remainders of different lengths, and which of them match a hash.

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
