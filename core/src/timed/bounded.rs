//! A window by time in bounded memory.
//!
//! Whoever chooses the rate must not choose our memory. So where a bound is given, remainders become
//! shorter when it is near: new ones at once, the others as the hand comes round, by one bit after the
//! other. Entries that are equal then become one. Nothing in the window is forgotten; the chance that an
//! unseen key is reported rises, and [`false_positive_rate`](crate::raw::Filter::false_positive_rate) tells
//! it, as always, by the sum over what is stored. When keys have left, remainders get their bits back.
//!
//! Worked example: a megabyte at 0.1% holds 270 000 keys. With a million, remainders have 3 bits instead of
//! 11; with a hundred million all that is possible is stored, everything is reported, and it takes no more
//! than a megabyte.
//!
//! A bit less of every remainder frees a fifteenth or more of all segments. The hand goes four segments
//! further for every one that grows by a bin, and a bin is a tenth of a segment: so memory falls faster than
//! it can grow. What it does meanwhile is the reserve of [`Bound::begin`].

use super::filter::TimedWindow;
use super::parameters::TimedWindowParameters;
use crate::bits::Isa;

/// Segments that are looked after for one that grows.
const STEPS: u32 = 4;

/// Bytes on the heap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    /// From here on remainders become shorter.
    pub(super) begin: u64,
    /// There are never more, but for a segment.
    pub(super) most: u64,
}

impl Bound {
    /// That of so many bytes.
    pub(super) fn of(most: u64) -> Self {
        // The next table of prefixes is made at once, and a round of the hand takes some time.
        Self { begin: most - most / 24, most }
    }
}

impl TimedWindowParameters {
    /// The bound, if there is one.
    pub(super) fn bound(&self) -> Option<Bound> {
        (self.most_bytes > 0).then(|| Bound::of(self.most_bytes))
    }
}

impl TimedWindow {
    /// Where memory is short, new entries are to be shorter instead of others longer; whether it is.
    pub(super) fn shorten_instead(&mut self) -> bool {
        let short =
            self.parameters.bound().is_some_and(|bound| self.reckoned_bytes() > bound.begin);
        if short {
            self.shorten();
        }
        short
    }

    /// Brings memory down if it is near its bound, in a few steps; the segment of a hash has grown.
    pub(super) fn relieve<I: Isa>(&mut self, isa: I, hash: u64) {
        let Some(bound) = self.parameters.bound() else { return };
        if self.reckoned_bytes() <= bound.begin {
            return;
        }
        if self.round as usize >= self.segments.arrays() {
            if self.short < self.parameters.most_remainder_bits() {
                self.shorten();
            } else if self.reckoned_bytes() > bound.most {
                // All remainders are as short as can be: the last resort.
                self.give_up(hash);
            }
        }
        (0..STEPS).for_each(|_| self.tend_next(isa));
    }

    fn shorten(&mut self) {
        self.short += 1;
        (self.round, self.quiet) = (0, 0);
    }

    /// Gives remainders a bit back if there is room: once for every generation that begins.
    pub(super) fn relax(&mut self) {
        let Some(bound) = self.parameters.bound() else { return };
        let bits = self.shape.remainder_bits.saturating_sub(self.short).max(1);
        let slot = u64::from(1 + bits + self.shape.beside_bits());
        // Besides that bit, fields get one that says how long they are.
        if self.short > 0 && self.reckoned_bytes() * (slot + 2) <= bound.begin * slot {
            self.short -= 1;
            self.quiet = 0;
        }
    }
}
