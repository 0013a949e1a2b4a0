//! An array of b-bit integers without gaps.
//!
//! Integer `i` occupies bits `b*i .. b*(i+1)` of the words taken as one long little-endian number;
//! with b = 5, integer 12 is bits 60..65: four bits at the top of word 0 and one at the bottom of
//! word 1.

use alloc::vec::Vec;

use super::prefetch::prefetch;
use super::strings::read_bits;

/// Integers of `width` bits each, 1 to 64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The bits, and one spare word, so that an integer can be read with two loads wherever it
    /// lies. Bits beyond the last integer are zero.
    words: Vec<u64>,
    width: u32,
    len: usize,
}

impl Packed {
    /// `len` zeros of `width` bits.
    ///
    /// # Panics
    ///
    /// If `width` is not from 1 to 64, or they have more bits than can be numbered.
    pub fn new(width: u32, len: usize) -> Self {
        assert!((1..=64).contains(&width), "width {width} is not from 1 to 64");
        assert!(bits_of(width, len).is_some(), "{len} integers of {width} bits are too many");
        Self { words: vec![0; Self::words_for(width, len) + 1], width, len }
    }

    /// The array whose content [`as_words`](Self::as_words) gave; `None` if the words are not as
    /// many as it has or bits are set beyond the last integer.
    pub fn from_words(width: u32, len: usize, mut words: Vec<u64>) -> Option<Self> {
        if !(1..=64).contains(&width) || words.len() != Self::words_for(width, len) {
            return None;
        }
        let used = bits_of(width, len)? % 64;
        if used != 0 && words.last().is_some_and(|last| last >> used != 0) {
            return None;
        }
        words.reserve_exact(1);
        words.push(0);
        Some(Self { words, width, len })
    }

    /// Words that hold `len` integers of `width` bits; more than there can be if these have more
    /// bits than can be numbered.
    pub const fn words_for(width: u32, len: usize) -> usize {
        match bits_of(width, len) {
            Some(bits) => bits.div_ceil(64),
            None => usize::MAX,
        }
    }

    /// Bytes on the heap for `len` integers of `width` bits; the same on every machine, also where there
    /// is no room for so many, since plans are made on one machine for another.
    pub const fn heap_bytes_for(width: u32, len: usize) -> u64 {
        let bytes = ((width as u128 * len as u128).div_ceil(64) + 1) * 8;
        if bytes > u64::MAX as u128 { u64::MAX } else { bytes as u64 }
    }

    /// How many integers there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The integer at `index`.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        assert!(index < self.len);
        self.bits_from(index) & self.mask()
    }

    /// Replaces the integer at `index`; bits of `value` above the width are ignored.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    #[inline]
    pub fn set(&mut self, index: usize, value: u64) {
        assert!(index < self.len);
        let (word, shift) = self.position(index);
        let (mask, value) = (self.mask(), value & self.mask());
        self.words[word] = self.words[word] & !(mask << shift) | value << shift;
        if shift + self.width > 64 {
            let done = 64 - shift;
            self.words[word + 1] = self.words[word + 1] & !(mask >> done) | value >> done;
        }
    }

    /// Makes `len` integers from `start` on zero.
    ///
    /// # Panics
    ///
    /// If that range is out of bounds.
    pub fn clear(&mut self, start: usize, len: usize) {
        assert!(start + len <= self.len);
        let (from, to) = (start * self.width as usize, (start + len) * self.width as usize);
        let (first, last) = (from / 64, to / 64);
        let (below, above) = (!(u64::MAX << (from % 64)), u64::MAX << (to % 64));
        if first == last {
            self.words[first] &= below | above;
        } else {
            self.words[first] &= below;
            self.words[first + 1..last].fill(0);
            self.words[last] &= above;
        }
    }

    /// Moves the integers at `from..to` up by one, over the one at `to`.
    ///
    /// # Panics
    ///
    /// If `to` is out of bounds or before `from`.
    pub fn move_up(&mut self, from: usize, to: usize) {
        assert!(from <= to && to < self.len);
        let width = self.width as usize;
        let (start, end) = ((from + 1) * width, (to + 1) * width);
        if start == end {
            return;
        }
        for word in (start / 64..=(end - 1) / 64).rev() {
            let below = if word == 0 { 0 } else { self.words[word - 1] };
            // In two steps each, because the width may be 64.
            let moved = (self.words[word] << (width - 1)) << 1 | below >> (64 - width);
            self.overwrite(word, moved, start, end);
        }
    }

    /// Moves the integers after `from`, up to and including `to`, down by one, over the one at
    /// `from`.
    ///
    /// # Panics
    ///
    /// If `to` is out of bounds or before `from`.
    pub fn move_down(&mut self, from: usize, to: usize) {
        assert!(from <= to && to < self.len);
        let width = self.width as usize;
        let (start, end) = (from * width, to * width);
        if start == end {
            return;
        }
        for word in start / 64..=(end - 1) / 64 {
            let above = self.words[word + 1];
            let moved = (self.words[word] >> (width - 1)) >> 1 | above << (64 - width);
            self.overwrite(word, moved, start, end);
        }
    }

    /// Starts loading the integer at `index`.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        prefetch(&self.words, index * self.width as usize / 64);
    }

    /// Whether some integer equals `value`.
    ///
    /// As many at a time as a word holds: where one is equal the difference is zero, and to take one
    /// from it borrows from above.
    pub fn contains(&self, value: u64) -> bool {
        if value > self.mask() {
            return false;
        }
        let together = (u64::BITS / self.width) as usize;
        let used = u64::MAX >> (u64::BITS - together as u32 * self.width);
        let lowest = (0..together).fold(0, |bits, field| bits | 1 << (field as u32 * self.width));
        let highest = lowest << (self.width - 1);
        let wanted = lowest * value;
        let in_words = self.len - self.len % together;
        let has_equal = |index| {
            let different = (self.bits_from(index) ^ wanted) & used;
            different.wrapping_sub(lowest) & !different & highest != 0
        };
        (0..in_words).step_by(together).any(has_equal)
            || (in_words..self.len).any(|index| self.get(index) == value)
    }

    /// The bits as words; integers are packed from the lowest bit of the first word on.
    pub fn as_words(&self) -> &[u64] {
        &self.words[..self.words.len() - 1]
    }

    /// Replaces those bits of a word that lie in `start..end` of all bits.
    #[inline]
    fn overwrite(&mut self, word: usize, value: u64, start: usize, end: usize) {
        let mut mask = u64::MAX;
        if word == start / 64 {
            mask &= u64::MAX << (start % 64);
        }
        if word == (end - 1) / 64 {
            mask &= u64::MAX >> (63 - (end - 1) % 64);
        }
        self.words[word] = self.words[word] & !mask | value & mask;
    }

    /// The word that begins with the integer at `index`.
    #[inline]
    fn bits_from(&self, index: usize) -> u64 {
        read_bits(&self.words, index * self.width as usize, u64::BITS)
    }

    #[inline]
    fn position(&self, index: usize) -> (usize, u32) {
        let bit = index * self.width as usize;
        (bit / 64, (bit % 64) as u32)
    }

    #[inline]
    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }
}

/// Bits of so many integers of this width, if they can be numbered.
const fn bits_of(width: u32, len: usize) -> Option<usize> {
    (width as usize).checked_mul(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    /// Against a plain vector, for every width, with writes in random order.
    #[test]
    fn agrees_with_a_plain_vector() {
        for width in 1..=64 {
            for len in [1, 2, 63, 64, 65, 200] {
                let mask = u64::MAX >> (64 - width);
                let mut packed = Packed::new(width, len);
                let mut plain = vec![0; len];
                for step in 0..3 * len as u64 {
                    let index = (remix(step, 1) % len as u64) as usize;
                    let value = remix(step, 2);
                    packed.set(index, value);
                    plain[index] = value & mask;
                }
                let found: Vec<u64> = (0..len).map(|i| packed.get(i)).collect();
                assert_eq!(found, plain, "width {width}, len {len}");
                for value in (0..2 * len as u64).map(|step| remix(step, 2) & mask).chain([!0]) {
                    let truth = plain.contains(&value);
                    assert_eq!(packed.contains(value), truth, "width {width}, len {len}");
                }
                let words = packed.as_words().to_vec();
                assert_eq!(Packed::from_words(width, len, words), Some(packed));
            }
        }
    }

    #[test]
    fn moving_agrees_with_a_plain_vector() {
        for width in [1, 5, 7, 32, 63, 64] {
            for (from, to) in [(0, 0), (0, 1), (3, 9), (12, 140), (63, 64), (0, 199), (199, 199)] {
                let value = |index: usize| remix(index as u64, 3) & (u64::MAX >> (64 - width));
                let mut plain: Vec<u64> = (0..200).map(value).collect();
                let mut packed = Packed::new(width, 200);
                (0..200).for_each(|index| packed.set(index, value(index)));
                packed.move_up(from, to);
                plain.copy_within(from..to, from + 1);
                assert!((0..200).all(|i| packed.get(i) == plain[i]), "{width} up {from} {to}");
                packed.move_down(from, to);
                plain.copy_within(from + 1..=to, from);
                assert!((0..200).all(|i| packed.get(i) == plain[i]), "{width} down {from} {to}");
            }
        }
    }

    #[test]
    fn clearing_a_range_leaves_the_rest() {
        for width in [1, 5, 7, 64] {
            let filled = |len| {
                let mut packed = Packed::new(width, len);
                (0..len).for_each(|index| packed.set(index, u64::MAX));
                packed
            };
            for (start, len) in [(0, 0), (0, 200), (3, 9), (12, 1), (63, 65), (128, 72), (200, 0)] {
                let mut packed = filled(200);
                packed.clear(start, len);
                for index in 0..200 {
                    let kept = !(start..start + len).contains(&index);
                    assert_eq!(packed.get(index) != 0, kept, "{width} {start} {len} {index}");
                }
            }
        }
    }

    #[test]
    fn stray_bits_and_wrong_lengths_are_refused() {
        assert_eq!(Packed::from_words(5, 3, vec![1 << 15]), None);
        assert_eq!(Packed::from_words(5, 3, vec![0, 0]), None);
        assert_eq!(Packed::from_words(0, 3, vec![]), None);
        assert!(Packed::from_words(5, 3, vec![(1 << 15) - 1]).is_some());
    }
}
