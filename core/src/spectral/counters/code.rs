//! Codes that end by themselves: a counter becomes bits that need no length beside them.
//!
//! The Elias code writes how many bits a number has, by a simpler code, and then the bits. It is
//! good for large numbers and wasteful for the zeros and ones that fill a spectral filter, so up
//! to three *steps* come before it. With the steps 0, 0 (the example of the paper, section 4.3):
//!
//! ```text
//! value 0: 0    value 1: 10    value 5: 11 and the Elias code of 4 (three above the steps, from 1)
//! ```
//!
//! A step of w bits covers the next 2^w values; with the steps 0, 1 the values 1 and 2 are `100` and
//! `101` (the bits are drawn in the order in which they are read). Snapshots store counters this
//! way whatever their storage, so they are small on the wire, and no damage can give a counter an
//! impossible value.

use alloc::vec::Vec;
use core::cell::Cell;

use super::{Counters, MOST};
use crate::bits::{BitReader, BitWriter};
use crate::codec::{Reader, Writer};
use crate::error::Error;

/// The Elias code behind zero to three steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// Bits of each step; those not in use are zero.
    widths: [u8; MOST_STEPS],
    /// Steps in use.
    steps: u8,
}

const MOST_STEPS: usize = 3;

/// The widest step: enough that half of the counters can be around any size that occurs.
const WIDEST: u8 = 24;

impl Code {
    /// The Elias code alone.
    pub const ELIAS: Code = Code { widths: [0; MOST_STEPS], steps: 0 };

    /// Steps of these widths before the Elias code.
    ///
    /// # Panics
    ///
    /// If there are more than three, or one is wider than 24.
    pub fn steps(widths: &[u8]) -> Self {
        assert!(widths.len() <= MOST_STEPS && widths.iter().all(|&width| width <= WIDEST));
        let mut code = Code { steps: widths.len() as u8, ..Self::ELIAS };
        code.widths[..widths.len()].copy_from_slice(widths);
        code
    }

    /// The code that takes the fewest bits for these values, of a menu.
    pub fn fitting(values: &[u64]) -> Self {
        // Few values are different, and most codes are tried in vain.
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let runs: Vec<&[u64]> = sorted.chunk_by(|a, b| a == b).collect();
        let cost = |code: &Code, run: &&[u64]| u64::from(code.bits(run[0])) * run.len() as u64;
        let total = |code: &Code| runs.iter().map(|run| cost(code, run)).sum::<u64>();
        menu().min_by_key(total).expect("the menu is not empty")
    }

    /// Bits that a value takes.
    #[inline]
    pub fn bits(self, value: u64) -> u32 {
        let mut base = 0;
        for (step, &width) in (1..).zip(self.in_use()) {
            if value - base < 1 << width {
                return step + u32::from(width);
            }
            base += 1 << width;
        }
        u32::from(self.steps) + elias_bits(value - base + 1)
    }

    /// Hands a value, at most [`MOST`], to `push` piece by piece: so many lowest bits of a word.
    pub fn write(self, value: u64, mut push: impl FnMut(u32, u64)) {
        let mut base = 0;
        for (step, &width) in self.in_use().iter().enumerate() {
            if value - base < 1 << width {
                push(step as u32 + 1, (1 << step) - 1);
                push(width.into(), value - base);
                return;
            }
            base += 1 << width;
        }
        push(self.steps.into(), u64::MAX);
        write_elias(value - base + 1, push);
    }

    /// Takes the next value; `None` where no value is coded.
    #[inline]
    pub fn read(self, bits: &mut BitReader<'_>) -> Option<u64> {
        let mut base = 0;
        for &width in self.in_use() {
            if bits.take(1) == 0 {
                return Some(base + bits.take(width.into()));
            }
            base += 1 << width;
        }
        Some((read_elias(bits)? - 1).checked_add(base)?).filter(|&value| value <= MOST)
    }

    #[inline]
    fn in_use(&self) -> &[u8] {
        &self.widths[..usize::from(self.steps)]
    }
}

/// Codes worth trying: one step for the zeros, then one around where the others may lie.
fn menu() -> impl Iterator<Item = Code> {
    let two = (0..=3).flat_map(|a| (0..=14).map(move |b| Code::steps(&[a, b])));
    let three = (0..=1).flat_map(|a| (0..=3).flat_map(move |b| [2, 3, 4, 6].map(|c| (a, b, c))));
    let three = three.map(|(a, b, c)| Code::steps(&[a, b, c]));
    [Code::ELIAS, Code::steps(&[0])].into_iter().chain(two).chain(three)
}

/// Bits of the Elias code of a number from 1 on: `L + 2 floor(log2(L + 1)) + 1`, where `L` is
/// `floor(log2 number)`.
fn elias_bits(number: u64) -> u32 {
    let length = number.ilog2();
    length + 2 * (length + 1).ilog2() + 1
}

fn write_elias(number: u64, mut push: impl FnMut(u32, u64)) {
    let length = number.ilog2();
    let prefix = (length + 1).ilog2();
    push(prefix + 1, 1 << prefix);
    push(prefix, u64::from(length + 1));
    push(length, number);
}

#[inline]
fn read_elias(bits: &mut BitReader<'_>) -> Option<u64> {
    let prefix = bits.peek(7).trailing_zeros();
    if prefix > 6 {
        return None;
    }
    bits.take(prefix + 1);
    let length = (1 << prefix | bits.take(prefix)) - 1;
    // A prefix of six zeros can announce up to 127 bits.
    (length < 64).then(|| 1 << length | bits.take(length as u32))
}

/// Appends all counters in the code that suits them best.
pub fn write_counters(counters: &impl Counters, out: &mut Writer) {
    let values = || (0..counters.len()).map(|index| counters.get(index));
    let stride = counters.len().div_ceil(SAMPLE).max(1);
    let code = Code::fitting(&values().step_by(stride).collect::<Vec<_>>());
    let mut bits = BitWriter::new();
    for value in values() {
        code.write(value, |count, word| bits.push(count, word));
    }
    out.u8(code.steps);
    out.bytes(&code.widths);
    out.u64(bits.len() as u64);
    out.words(bits.as_words());
}

/// Values looked at to choose a code.
const SAMPLE: usize = 4_096;

/// Reads what [`write_counters`] wrote.
///
/// A counter takes at least one bit there, so the memory for `len` of them is at most as many
/// times larger than the input as the storage spends bits on a zero.
pub fn read_counters<C: Counters>(
    field: &'static str,
    len: u64,
    from: &mut Reader<'_>,
) -> Result<C, Error> {
    let steps = from.u8("steps of the code")?;
    let widths = from.array::<MOST_STEPS>("widths of the code")?;
    let code = Code { widths, steps };
    let unused = widths.get(usize::from(steps)..).ok_or(Error::Field {
        field: "steps of the code",
        found: steps.into(),
        expected: "at most 3",
    })?;
    if widths.iter().any(|&width| width > WIDEST) || unused.iter().any(|&width| width > 0) {
        let expected = "widths of at most 24, zero where not in use";
        return Err(Error::Field {
            field: "widths of the code",
            found: widths[0].into(),
            expected,
        });
    }
    let bits = from.u64("bits of the counters")?;
    if bits < len {
        return Err(Error::Length { field, declared: len, found: bits });
    }
    let words = from.words(field, bits.div_ceil(64))?;
    let damaged = |found: usize| Error::Field {
        field,
        found: found as u64,
        expected: "as many coded counters as there are, of values they can have",
    };
    // How many were read, and up to where.
    let progress = Cell::new((0, 0));
    let values = || {
        let mut reader = BitReader::new(&words, 0);
        (0..len as usize).map({
            let progress = &progress;
            move |index| {
                let value = code.read(&mut reader).filter(|&value| value <= C::LARGEST);
                progress.set((index, reader.position()));
                value
            }
        })
    };
    let counters = C::from_values(len as usize, values).ok_or_else(|| damaged(progress.get().0))?;
    let reader = BitReader::new(&words, progress.get().1);
    // Every word exists, so a position at the end also means that nothing was read beyond it.
    let stray = 64 * words.len() - reader.position().min(64 * words.len());
    if reader.position() as u64 != bits || reader.peek(64) != 0 || stray > 63 {
        return Err(damaged(len as usize));
    }
    Ok(counters)
}

#[cfg(test)]
mod tests {
    use super::super::{Fixed, Pools};
    use super::*;

    fn codes() -> impl Iterator<Item = Code> {
        menu().chain([Code::steps(&[24, 24, 24])])
    }

    #[test]
    fn every_code_reads_what_it_wrote() {
        let powers = (0..63).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]);
        let values: Vec<u64> = powers.chain([MOST - 1, MOST]).collect();
        for code in codes() {
            let mut writer = BitWriter::new();
            for &value in &values {
                let before = writer.len();
                code.write(value, |count, word| writer.push(count, word));
                assert_eq!(writer.len() - before, code.bits(value) as usize, "{code:?} {value}");
            }
            let mut reader = BitReader::new(writer.as_words(), 0);
            for &value in &values {
                assert_eq!(code.read(&mut reader), Some(value), "{code:?}");
            }
        }
    }

    #[test]
    fn the_examples_of_the_documentation() {
        let drawn = |code: Code, value| {
            let mut writer = BitWriter::new();
            code.write(value, |count, word| writer.push(count, word));
            let bits = (0..writer.len()).map(|bit| writer.as_words()[0] >> bit & 1);
            bits.map(|bit| char::from(b'0' + bit as u8)).collect::<String>()
        };
        let paper = Code::steps(&[0, 0]);
        assert_eq!([0, 1].map(|value| drawn(paper, value)), ["0", "10"]);
        assert_eq!(drawn(paper, 5), ["11", &drawn(Code::ELIAS, 3)].concat());
        let wider = Code::steps(&[0, 1]);
        assert_eq!([0, 1, 2].map(|value| drawn(wider, value)), ["0", "100", "101"]);
    }

    #[test]
    fn no_bits_are_beyond_reading() {
        for code in codes() {
            for seed in 0..2_000 {
                let words: Vec<u64> = (0..3).map(|i| crate::hash::remix(seed, i)).collect();
                let mut reader = BitReader::new(&words, (seed % 190) as usize);
                while reader.position() < 200 && code.read(&mut reader).is_some() {}
            }
        }
    }

    #[test]
    fn zeros_alone_take_a_bit_each() {
        let mut out = Writer::new();
        write_counters(&Pools::new(6_400), &mut out);
        assert_eq!(out.len(), 4 + 8 + 800);
        let bytes = out.into_bytes();
        let back: Pools = read_counters("counters", 6_400, &mut Reader::new(&bytes)).unwrap();
        assert!((0..6_400).all(|index| back.get(index) == 0));
        for wrong in [6_399, 6_401, u64::MAX] {
            assert!(read_counters::<Pools>("counters", wrong, &mut Reader::new(&bytes)).is_err());
        }
    }

    #[test]
    fn a_value_too_large_for_its_storage_is_refused() {
        let mut large = Pools::new(10);
        large.set(3, 256);
        let mut out = Writer::new();
        write_counters(&large, &mut out);
        let bytes = out.into_bytes();
        assert!(read_counters::<Fixed<u8>>("counters", 10, &mut Reader::new(&bytes)).is_err());
        assert!(read_counters::<Fixed<u16>>("counters", 10, &mut Reader::new(&bytes)).is_ok());
    }
}
