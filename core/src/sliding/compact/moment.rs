//! Tags at a moment: which of them are in the window, and which leave next.

/// What tags mean to a home at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What enters now gets this tag.
    pub now: u64,
    /// Entries of this generation leave with the next sweep of their home.
    pub due: u64,
    /// Bits of a tag below its generation.
    pub fine_bits: u32,
    /// Tags are counted modulo one more.
    pub largest: u64,
}

impl Moment {
    /// Whether an entry with this tag is in the window. Unless tags are fine, all are that are stored.
    #[inline(always)]
    pub fn is_alive(&self, tag: u64) -> bool {
        self.fine_bits == 0 || self.age(tag) <= self.largest + 1 - (1 << self.fine_bits)
    }

    /// How many tags ago it was.
    #[inline(always)]
    pub fn age(&self, tag: u64) -> u64 {
        if self.now >= tag { self.now - tag } else { self.now + self.largest + 1 - tag }
    }

    #[inline(always)]
    pub(super) fn is_due(&self, tag: u64) -> bool {
        tag >> self.fine_bits == self.due
    }
}
