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
    pub(super) fn add(&mut self, field: u64, wanted: u64) {
        self.seen |= matches(field, wanted);
        self.less += usize::from(field < wanted);
        self.equal += usize::from(field == wanted);
    }
}

/// Whether the remainder of a field is a prefix of the one that is wanted, which is as long as can
/// be: they do not differ above the lowest one of the field. A free slot matches nothing.
#[inline(always)]
pub(super) fn matches(field: u64, wanted: u64) -> bool {
    (field ^ wanted) >> 1 < field & field.wrapping_neg()
}

/// The field of an entry without a remainder: the one that ends it stands highest.
pub(super) fn used_up(width: usize) -> u64 {
    1 << (width - 1)
}

/// The field without so many of the last bits of its remainder.
pub(super) fn shortened(field: u64, dropped: u32) -> u64 {
    field >> dropped | u64::from(field % (1 << dropped) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A remainder of so many bits as a field.
    fn field(remainder: u64, length: u32, width: u32) -> u64 {
        (remainder << 1 | 1) << (width - 1 - length)
    }

    #[test]
    fn prefixes_match_and_nothing_else() {
        for wanted in 0..32 {
            for length in 0..=5 {
                for remainder in 0..1 << length {
                    let is_prefix = wanted >> (5 - length) == remainder;
                    let entry = field(remainder, length, 6);
                    assert_eq!(matches(entry, field(wanted, 5, 6)), is_prefix);
                    for dropped in 0..5 {
                        let kept = length.min(5 - dropped);
                        let short = field(remainder >> (length - kept), kept, 6 - dropped);
                        assert_eq!(shortened(entry, dropped), short);
                    }
                }
            }
            assert!(!matches(0, field(wanted, 5, 6)));
        }
        assert_eq!(used_up(6), field(0, 0, 6));
    }
}
