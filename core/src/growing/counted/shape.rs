//! How a slot is cut: into the field of a signature and a code, or into a digit of a count.
//!
//! ```text
//! entry    signature, a one, zeros | code, b bits     code < 2^b - 1: seen code + 1 times
//!                                                     code = 2^b - 1: digits follow
//! digit    another follows? 1 bit | the rest          seen 2^b + digits times, the lowest first
//! ```
//!
//! How many bits a code has is told by how many words the segment has, so that nothing more is read to
//! find out: 16 words more or less are a few slots more or less, and one in 16 lengths has each remainder.

use super::super::segment::HEAD;

/// Lengths of codes: from 1 bit on.
pub(super) const CODES: usize = 16;

/// The largest count.
pub(super) const MOST_COUNT: u64 = u64::MAX >> 1;

/// Widest slot: fields of a draft have a bit for its own marks.
const MOST_WIDTH: u32 = 62;

/// Slots that are free at least when a segment was just made, and one more for so many that are taken.
const FREE: usize = 24;
const FREE_OF: usize = 32;

/// Most slots of a segment: positions must fit their field.
const MOST_SLOTS: usize = (1 << 14) - 1;

/// How the slots of a segment are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// A signature that is as long as can be, and the one that ends it.
    pub(super) key_bits: u32,
    pub(super) code_bits: u32,
}

impl Shape {
    /// The shape in a segment of so many words.
    #[inline(always)]
    pub(super) fn of(key_bits: usize, words: usize) -> Self {
        let code_bits = 1 + words.wrapping_sub(HEAD) % CODES;
        Self { key_bits: key_bits as u32, code_bits: code_bits as u32 }
    }

    /// Bits of a slot.
    #[inline(always)]
    pub(super) fn width(self) -> usize {
        (self.key_bits + self.code_bits) as usize
    }

    /// Whether slots are not too wide.
    pub(super) fn is_valid(self) -> bool {
        self.key_bits + self.code_bits <= MOST_WIDTH
    }

    /// Words of a segment for so many taken slots, when more will come; `None` if they are too many.
    pub(super) fn words_for(self, taken: usize) -> Option<usize> {
        let slots = taken + FREE + taken / FREE_OF;
        let words = (slots * (1 + self.width())).div_ceil(64);
        let code = self.code_bits as usize - 1;
        let words = words + (code + CODES - words % CODES) % CODES;
        (64 * words / (1 + self.width()) <= MOST_SLOTS).then_some(HEAD + words)
    }

    #[inline(always)]
    pub(super) fn key(self, field: u64) -> u64 {
        field >> self.code_bits
    }

    #[inline(always)]
    pub(super) fn code(self, field: u64) -> u64 {
        field & self.escape()
    }

    /// The code that says that digits follow.
    #[inline(always)]
    pub(super) fn escape(self) -> u64 {
        (1 << self.code_bits) - 1
    }

    /// The slot of a signature that was seen so often.
    #[inline(always)]
    pub(super) fn field(self, key: u64, count: u64) -> u64 {
        key << self.code_bits | (count - 1).min(self.escape())
    }

    /// Bits of a count that a digit holds.
    #[inline(always)]
    pub(super) fn digit_bits(self) -> u32 {
        self.key_bits + self.code_bits - 1
    }

    /// Whether another digit follows this one.
    #[inline(always)]
    pub(super) fn goes_on(self, digit: u64) -> bool {
        digit >> self.digit_bits() & 1 != 0
    }

    /// Digits of a count.
    #[inline(always)]
    pub(super) fn digits(self, count: u64) -> usize {
        match count.checked_sub(1 << self.code_bits) {
            None => 0,
            Some(rest) => (64 - rest.leading_zeros()).max(1).div_ceil(self.digit_bits()) as usize,
        }
    }

    /// The digit of this number of a count that has so many.
    pub(super) fn digit(self, count: u64, number: usize, all: usize) -> u64 {
        let rest = count - (1 << self.code_bits);
        let mask = (1 << self.digit_bits()) - 1;
        let goes_on = u64::from(number + 1 < all) << self.digit_bits();
        goes_on | rest >> (number as u32 * self.digit_bits()) & mask
    }

    /// The largest count with so many digits.
    pub(super) fn most_with(self, digits: usize) -> u64 {
        if digits == 0 {
            return self.escape();
        }
        let bits = digits as u32 * self.digit_bits();
        if bits >= 63 { MOST_COUNT } else { self.escape() + (1 << bits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_documentation() {
        let shape = Shape { key_bits: 11, code_bits: 2 };
        assert_eq!((shape.field(1, 1), shape.digits(1)), (0b100, 0));
        assert_eq!((shape.field(1, 5), shape.digits(5)), (0b111, 1));
        assert_eq!(shape.digit(5, 0, 1), 1);
        assert_eq!(shape.most_with(0), 3);
        assert_eq!(shape.most_with(1), 3 + (1 << 12));
    }

    /// The largest count of so many digits needs as many, and the next one more.
    #[test]
    fn digits_are_as_few_as_can_be() {
        for (key_bits, code_bits) in [(2, 1), (11, 3), (14, 16), (49, 1)] {
            let shape = Shape { key_bits, code_bits };
            for digits in 0..40 {
                let most = shape.most_with(digits);
                if most == MOST_COUNT {
                    assert!(shape.digits(most) <= digits);
                    break;
                }
                assert_eq!((shape.digits(most), shape.digits(most + 1)), (digits, digits + 1));
            }
        }
    }

    #[test]
    fn a_length_tells_its_code() {
        for code_bits in 1..=16 {
            for taken in [0, 1, 100, 1_500, 6_000] {
                let shape = Shape { key_bits: 12, code_bits };
                let words = shape.words_for(taken).unwrap();
                assert_eq!(Shape::of(12, words), shape);
                assert!(64 * (words - HEAD) / (1 + shape.width()) >= taken + FREE);
            }
        }
        assert_eq!(Shape { key_bits: 12, code_bits: 1 }.words_for(MOST_SLOTS), None);
    }
}
