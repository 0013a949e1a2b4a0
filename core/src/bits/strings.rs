//! Bit strings of any length at any position of an array of words.
//!
//! Bits are numbered from the lowest of the first word on, like in [`Packed`](super::Packed). With
//! two words, bits 60..70 are the four highest of the first and the six lowest of the second.

use alloc::vec::Vec;

/// The `count` bits from `position` on, at most 64.
///
/// # Panics
///
/// If the word after the one that holds `position` is not there: keep a spare one at the end.
#[inline]
pub fn read_bits(words: &[u64], position: usize, count: u32) -> u64 {
    debug_assert!(count <= 64);
    let (word, shift) = (position / 64, (position % 64) as u32);
    // The later one first, so that one check is enough.
    let (high, low) = (words[word + 1], words[word]);
    // Shifting by 64 - shift in two steps, because shift may be 0.
    let bits = low >> shift | (high << 1) << (63 - shift);
    bits & mask(count)
}

/// The 64 bits that begin `position` bits below the end of the words, from there down.
///
/// # Panics
///
/// If the word before the one that holds the first of them is not there: keep a spare one.
#[inline]
pub fn read_bits_down(words: &[u64], position: usize) -> u64 {
    let (before, shift) = (position / 64, (position % 64) as u32);
    // Both words by one check.
    let &[.., low, high] = &words[..words.len().saturating_sub(before)] else {
        panic!("fewer words than that")
    };
    high << shift | low >> 1 >> (63 - shift)
}

/// Replaces the `count` bits from `position` on, at most 64; higher bits of `value` are ignored.
///
/// # Panics
///
/// If the words end before the bits do.
#[inline]
pub fn write_bits(words: &mut [u64], position: usize, count: u32, value: u64) {
    debug_assert!(count <= 64);
    let (word, shift) = (position / 64, (position % 64) as u32);
    let (mask, value) = (mask(count), value & mask(count));
    words[word] = words[word] & !(mask << shift) | value << shift;
    if shift + count > 64 {
        let done = 64 - shift;
        words[word + 1] = words[word + 1] & !(mask >> done) | value >> done;
    }
}

/// Copies `count` bits to a higher position; the two may overlap.
///
/// # Panics
///
/// If the words end before the bits do, or without a spare word after those that are read.
pub fn move_bits_up(words: &mut [u64], from: usize, to: usize, count: usize) {
    debug_assert!(from <= to);
    let mut left = count;
    while left > 0 {
        let step = left.min(64);
        left -= step;
        let bits = read_bits(words, from + left, step as u32);
        write_bits(words, to + left, step as u32, bits);
    }
}

/// Moves the bits from `from` to below `to` up by `count`, which is from 1 to 63, over as many bits
/// above them, and puts `entering` into the place that becomes free.
///
/// # Panics
///
/// If the words end before the bits do.
#[inline(always)]
pub fn insert_bits_up(words: &mut [u64], from: usize, to: usize, count: u32, entering: u64) {
    let (first, end) = (from / 64, to + count as usize);
    let words = &mut words[first..=(end - 1) / 64];
    let changed = Changed::of(words, from % 64, end);
    for word in (1..words.len()).rev() {
        words[word] = words[word] << count | words[word - 1] >> (64 - count);
    }
    words[0] <<= count;
    changed.restore_others(words);
    write_bits(words, from % 64, count, entering);
}

/// Moves the bits from `from` to below `to` down by `count`, which is from 1 to 63, over as many bits
/// below them, and puts `entering` into the place that becomes free.
///
/// # Panics
///
/// If the words end before the bits do.
#[inline(always)]
pub fn insert_bits_down(words: &mut [u64], from: usize, to: usize, count: u32, entering: u64) {
    let from = from - count as usize;
    let first = from / 64;
    let words = &mut words[first..=(to - 1) / 64];
    let changed = Changed::of(words, from % 64, to);
    for word in 1..words.len() {
        words[word - 1] = words[word - 1] >> count | words[word] << (64 - count);
    }
    *words.last_mut().expect("at least one word") >>= count;
    changed.restore_others(words);
    write_bits(words, to - count as usize - 64 * first, count, entering);
}

/// The part of a row of words that changes, and what the first and the last word had beside it.
struct Changed {
    first: u64,
    last: u64,
    below: u64,
    above: u64,
}

impl Changed {
    /// From bit `from` of the first word to below bit `end` of the last.
    #[inline(always)]
    fn of(words: &[u64], from: usize, end: usize) -> Self {
        let first = u64::MAX << from;
        let last = u64::MAX >> (end.wrapping_neg() % 64);
        Self { first, last, below: words[0] & !first, above: words[words.len() - 1] & !last }
    }

    #[inline(always)]
    fn restore_others(&self, words: &mut [u64]) {
        let last = words.len() - 1;
        words[last] = words[last] & self.last | self.above;
        words[0] = words[0] & self.first | self.below;
    }
}

/// Copies `count` bits to where all bits are zero.
///
/// # Panics
///
/// If the words end before the bits do.
#[inline(always)]
pub fn copy_bits(source: &[u64], from: usize, target: &mut [u64], to: usize, count: usize) {
    let (target, shift) = (&mut target[to / 64..], to % 64);
    if count <= 64 {
        if count > 0 {
            let bits = BitReader::new(source, from).peek(count as u32);
            target[0] |= bits << shift;
            if shift + count > 64 {
                target[1] |= bits >> (64 - shift);
            }
        }
        return;
    }
    // Up to the end of the first word, whole words, and what is left.
    let first = 64 - shift;
    target[0] |= BitReader::new(source, from).peek(first as u32) << shift;
    let (from, whole, left) = (from + first, (count - first) / 64, (count - first) % 64);
    let (target, source, shift) = (&mut target[1..], &source[from / 64..], from % 64);
    if shift == 0 {
        target[..whole].copy_from_slice(&source[..whole]);
    } else {
        // One word more than is written, because the last of them needs a part of it.
        let source = &source[..whole + 1];
        for (target, pair) in target[..whole].iter_mut().zip(source.windows(2)) {
            *target = pair[0] >> shift | pair[1] << (64 - shift);
        }
    }
    if left > 0 {
        target[whole] |= BitReader::new(source, 64 * whole + shift).peek(left as u32);
    }
}

#[inline]
fn mask(count: u32) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - count) }
}

/// Bit strings one after another, to write.
#[derive(Debug, Clone, Default)]
pub struct BitWriter {
    words: Vec<u64>,
    len: usize,
}

impl BitWriter {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the lowest `count` bits of `value`, at most 64.
    #[inline]
    pub fn push(&mut self, count: u32, value: u64) {
        let end = self.len + count as usize;
        self.words.resize(end.div_ceil(64), 0);
        if count > 0 {
            write_bits(&mut self.words, self.len, count, value);
        }
        self.len = end;
    }

    /// Forgets what was written, and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }

    /// Bits written.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What was written; bits beyond the last are zero.
    pub fn as_words(&self) -> &[u64] {
        &self.words
    }
}

/// Bit strings one after another, to read. Beyond the last word everything is zero.
#[derive(Debug, Clone)]
pub struct BitReader<'a> {
    words: &'a [u64],
    position: usize,
}

impl<'a> BitReader<'a> {
    /// A reader at a position.
    #[inline]
    pub fn new(words: &'a [u64], position: usize) -> Self {
        Self { words, position }
    }

    /// The next `count` bits, at most 64, without taking them.
    #[inline]
    pub fn peek(&self, count: u32) -> u64 {
        let (word, shift) = (self.position / 64, (self.position % 64) as u32);
        let at = |word: usize| self.words.get(word).copied().unwrap_or(0);
        (at(word) >> shift | (at(word + 1) << 1) << (63 - shift)) & mask(count)
    }

    /// Takes the next `count` bits, at most 64.
    #[inline]
    pub fn take(&mut self, count: u32) -> u64 {
        let bits = self.peek(count);
        self.position += count as usize;
        bits
    }

    /// Where the next bit is.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    /// Random writes, reads and moves against a plain vector of bits.
    #[test]
    fn agrees_with_a_vector_of_bits() {
        const BITS: usize = 640;
        let mut words = vec![0; BITS / 64 + 1];
        let mut plain = vec![false; BITS];
        for step in 0..20_000 {
            let count = (remix(step, 1) % 65) as usize;
            let position = (remix(step, 2) % (BITS - count + 1) as u64) as usize;
            let value = remix(step, 3);
            if step % 4 == 0 {
                let from = (remix(step, 4) % (position + 1) as u64) as usize;
                let count = (remix(step, 5) % (BITS - position + 1) as u64) as usize;
                move_bits_up(&mut words, from, position, count);
                plain.copy_within(from..from + count, position);
            } else {
                write_bits(&mut words, position, count as u32, value);
                for bit in 0..count {
                    plain[position + bit] = value >> bit & 1 == 1;
                }
            }
            let read = read_bits(&words, position, count as u32);
            for bit in 0..count {
                assert_eq!(read >> bit & 1 == 1, plain[position + bit]);
            }
            assert!(count == 64 || read >> count == 0);
        }
        assert_eq!(words[BITS / 64], 0, "nothing was written behind the end");
    }

    /// Random insertions and copies against the same.
    #[test]
    fn insertions_agree_with_a_vector_of_bits() {
        const BITS: usize = 640;
        let mut words: Vec<u64> = (0..BITS as u64 / 64).map(|word| remix(word, 0)).collect();
        let mut plain: Vec<bool> =
            (0..BITS).map(|bit| words[bit / 64] >> (bit % 64) & 1 == 1).collect();
        for step in 0..20_000 {
            let draw = |stream, bound: usize| (remix(step, stream) % bound as u64) as usize;
            let (count, entering) = (1 + draw(1, 63), remix(step, 2));
            let room = draw(3, BITS - count + 1);
            let (low, length) = (draw(4, BITS - count - room + 1), room);
            let (high, hole) =
                (low + length + count, if step % 2 == 0 { low } else { low + length });
            if step % 2 == 0 {
                insert_bits_up(&mut words, low, low + length, count as u32, entering);
                plain.copy_within(low..low + length, low + count);
            } else {
                insert_bits_down(&mut words, low + count, high, count as u32, entering);
                plain.copy_within(low + count..high, low);
            }
            for bit in 0..count {
                plain[hole + bit] = entering >> bit & 1 == 1;
            }
            assert!((0..BITS).all(|bit| (words[bit / 64] >> (bit % 64) & 1 == 1) == plain[bit]));
            let mut copy = [0; BITS / 64];
            let to = draw(5, BITS - length + 1);
            copy_bits(&words, low, &mut copy, to, length);
            let is_set = |bit: usize| (to..to + length).contains(&bit) && plain[bit - to + low];
            assert!((0..BITS).all(|bit| (copy[bit / 64] >> (bit % 64) & 1 == 1) == is_set(bit)));
        }
    }

    #[test]
    fn a_reader_reads_what_a_writer_wrote() {
        let mut writer = BitWriter::new();
        for step in 0..500 {
            writer.push((remix(step, 1) % 65) as u32, remix(step, 2));
        }
        let mut reader = BitReader::new(writer.as_words(), 0);
        for step in 0..500 {
            let count = (remix(step, 1) % 65) as u32;
            assert_eq!(reader.take(count), remix(step, 2) & mask(count), "{step}");
        }
        assert_eq!(reader.position(), writer.len());
        assert_eq!(reader.take(64), 0, "beyond the end");
    }

    #[test]
    fn reads_down_from_the_end() {
        let words: Vec<u64> = (0..5).map(|word| remix(word, 9)).collect();
        // From the highest bit of the last word on.
        let bits: Vec<u64> = words
            .iter()
            .rev()
            .flat_map(|word| (0..64).rev().map(move |bit| word >> bit & 1))
            .collect();
        for position in 0..=64 * 3 {
            let expected = bits[position..][..64].iter().fold(0, |read, bit| read << 1 | bit);
            assert_eq!(read_bits_down(&words, position), expected, "{position}");
        }
    }
}
