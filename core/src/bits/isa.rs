//! Instruction sets, found when the program runs.
//!
//! The dictionary stores bit b of 64 slots in one word, a *plane*. Its hot steps are a handful of
//! word operations that the default x86-64 target lacks (`pext`, `pdep`, `popcnt`). An [`Isa`] is a
//! value that proves the CPU has them; a [`Level`] is the best one found, asked for once and stored
//! by the structure. An operation runs inside [`Isa::vectorize`], which compiles the whole of it,
//! loops over planes included, for that instruction set:
//!
//! ```ignore
//! vectorized!(self.level, |isa| self.find(isa, place))
//! ```
//!
//! The `#[inline(always)]` on the closures is what makes this work: a closure that is called
//! instead
//! of inlined is compiled for the default target, and lookups take twice as long.
//!
//! [`Scalar`] is the twin that every target has and Miri runs.

use super::planes::Plane;
use super::row::{NEAR, STRETCH, SlotBytes};
use super::scalar::Scalar;
#[cfg(target_arch = "x86_64")]
use super::x86_64::Avx2;

/// Proof that the CPU has some instructions, and the operations they make cheap.
pub trait Isa: Copy {
    /// Runs `operation`, compiled for this instruction set as far as it is inlined.
    fn vectorize<R>(self, operation: impl FnOnce() -> R) -> R;

    /// The same for what is rare: never inlined, so that what is frequent keeps no registers for it.
    fn vectorize_apart<R>(self, operation: impl FnOnce() -> R) -> R;

    /// Packs the bits of `word` under `mask` into the low end (`pext`).
    fn extract(self, word: u64, mask: u64) -> u64;

    /// Spreads the low bits of `word` to the places set in `mask` (`pdep`).
    fn deposit(self, word: u64, mask: u64) -> u64;

    /// The lowest `count` bits of `word`, at most 255 of them; all of it if it has no more (`bzhi`).
    fn low_bits(self, word: u64, count: u32) -> u64;

    /// `word` without its lowest `count` ones, at most 255; nothing if it has no more.
    fn drop_ones(self, word: u64, count: u32) -> u64;

    /// The slots whose value is not `value`, which has no bits beyond the planes.
    fn differing(self, planes: &[Plane], value: u64) -> u64;

    /// The value in `slot`.
    fn get(self, planes: &[Plane], slot: u64) -> u64;

    /// Replaces the value in `slot`.
    fn set(self, planes: &mut [Plane], slot: u64, value: u64);

    /// Moves `slot` and all above it up by one, the last one out, and puts `value` into `slot`.
    fn insert(self, planes: &mut [Plane], slot: u64, value: u64);

    /// Moves the bytes from `slot` on up by one, the last one out, and puts `value` into `slot`,
    /// which is below 64.
    fn open_byte(self, row: &mut SlotBytes, slot: u32, value: u8);

    /// The slots whose byte is `value` where `mask` is set; `value` has no other bits.
    fn bytes_holding(self, row: &SlotBytes, mask: u8, value: u8) -> u64;

    /// The same for a part of a row with its own masks. The last of them is zero, and its slot counts
    /// as one of those that hold the value.
    fn near_bytes_holding(self, bytes: &[u8; NEAR], masks: &[u8; NEAR], value: u8) -> u64;

    /// The bytes whose bits above the lowest one are those of `value`, and all that are zero.
    fn bytes_beginning(self, bytes: &[u8; STRETCH], value: u8) -> u32;

    /// The values of all slots in at most eight planes.
    fn gather(self, planes: &[Plane]) -> SlotBytes;

    /// The opposite: replaces at most eight planes.
    fn scatter(self, row: &SlotBytes, planes: &mut [Plane]);

    /// How many of the numbers are less than `than`.
    fn count_below(self, numbers: &[i16; FEW], than: i16) -> u32;

    /// Whether all bits of `mask` are set in `block`.
    fn covers(self, block: &[u64; 4], mask: &[u64; 4]) -> bool;
}

/// Numbers that are compared at once.
pub const FEW: usize = 16;

/// The best instruction set of this CPU.
#[derive(Clone, Copy, Debug)]
pub enum Level {
    /// Plain Rust.
    Scalar(Scalar),
    /// AVX2, BMI and popcount.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

impl Level {
    /// Asks the CPU.
    pub fn detect() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if let Some(isa) = Avx2::detect() {
            return Self::Avx2(isa);
        }
        Self::Scalar(Scalar)
    }
}

/// Evaluates an expression with `$isa` bound to the instruction set of `$level`.
#[cfg_attr(feature = "internals", macro_export)]
macro_rules! vectorized {
    ($level:expr, |$isa:ident| $body:expr) => {{
        use $crate::bits::Isa as _;
        match $level {
            $crate::bits::Level::Scalar($isa) => $isa.vectorize(
                #[inline(always)]
                move || $body,
            ),
            #[cfg(target_arch = "x86_64")]
            $crate::bits::Level::Avx2($isa) => $isa.vectorize(
                #[inline(always)]
                move || $body,
            ),
        }
    }};
}
pub(crate) use vectorized;

#[cfg(test)]
mod tests {
    use super::super::row::{keep, spread};
    use super::*;
    use testkit::rounds;

    fn agrees(isa: impl Isa) {
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ 0x1234_5678_9ABC;
            state ^ (state >> 31)
        };
        for round in 0..rounds(20_000) {
            let word = draw();
            let mask = match round % 4 {
                0 => draw(),
                1 => draw() & draw() & draw(),
                2 => draw() | draw() | draw(),
                _ => u64::MAX << (round % 64),
            };
            let (mut packed, mut spread, mut rank) = (0, 0, 0);
            for bit in (0..64).filter(|bit| mask >> bit & 1 == 1) {
                packed |= (word >> bit & 1) << rank;
                spread |= (word >> rank & 1) << bit;
                rank += 1;
            }
            assert_eq!(isa.extract(word, mask), packed);
            assert_eq!(isa.deposit(word, mask), spread);
            let count = draw() as u32 % if round % 2 == 0 { 64 } else { 256 };
            let low = (0..64).filter(|&bit| bit < count).fold(0, |low, bit| low | word & 1 << bit);
            assert_eq!(isa.low_bits(word, count), low, "{count}");
            let ones = (0..64).filter(|bit| mask >> bit & 1 == 1).skip(count as usize);
            assert_eq!(isa.drop_ones(mask, count), ones.fold(0, |ones, bit| ones | 1 << bit));
            assert_eq!(
                isa.vectorize(
                    #[inline(always)]
                    || isa.extract(word, mask)
                ),
                packed
            );
        }
        for round in 0..rounds(20_000) {
            let bytes: [u8; STRETCH] =
                std::array::from_fn(|_| (draw() >> (round % 8)) as u8 >> (round % 5));
            let value = (draw() as u8) >> (round % 5);
            let set = |wanted: &dyn Fn(u8) -> bool| {
                bytes.iter().rev().fold(0, |set, &byte| set << 1 | u32::from(wanted(byte)))
            };
            let begins = |byte: u8| {
                let shift = byte.trailing_zeros() + 1;
                byte == 0 || u32::from(byte) >> shift == u32::from(value) >> shift
            };
            assert_eq!(isa.bytes_beginning(&bytes, value), set(&begins));
        }
        for _ in 0..rounds(20_000) {
            let block: [u64; 4] = std::array::from_fn(|_| draw() | draw());
            let mask = std::array::from_fn(|_| 1 << (draw() % 64));
            let covered = block.iter().zip(&mask).all(|(word, bit)| word & bit != 0);
            assert_eq!(isa.covers(&block, &mask), covered);
        }
        for _ in 0..rounds(20_000) {
            let numbers: [i16; FEW] = std::array::from_fn(|_| draw() as i16 >> (draw() % 16));
            let than = numbers[draw() as usize % FEW];
            let below = numbers.iter().filter(|&&number| number < than).count();
            assert_eq!(isa.count_below(&numbers, than), below as u32);
        }
        for width in 0..40 {
            let mut planes: Vec<Plane> = (0..width).map(|_| draw().to_le_bytes()).collect();
            let mut values: Vec<u64> = (0..64).map(|slot| Scalar.get(&planes, 1 << slot)).collect();
            for _ in 0..rounds(100) {
                let value = draw() & ((1 << width) - 1);
                let at = draw() as usize % 64;
                if draw() % 2 == 0 {
                    values.insert(at, value);
                    values.pop();
                    isa.insert(&mut planes, 1 << at, value);
                } else {
                    values[at] = value;
                    isa.set(&mut planes, 1 << at, value);
                }
                for (slot, value) in values.iter().enumerate() {
                    assert_eq!(isa.get(&planes, 1 << slot), *value);
                }
                let eight = &planes[..width.min(8)];
                let row = isa.gather(eight);
                let low_bits = values.iter().map(|value| *value as u8);
                assert!(row.into_iter().eq(low_bits), "{width}");
                let mut again = vec![[0x5a; 8]; eight.len()];
                isa.scatter(&row, &mut again);
                assert_eq!(again, eight, "{width}");
                let wanted = values[draw() as usize % 64];
                let differing =
                    (0..64).fold(0, |set, slot| set | u64::from(values[slot] != wanted) << slot);
                assert_eq!(isa.differing(&planes, wanted), differing);
            }
        }
        let mut row: SlotBytes = std::array::from_fn(|_| draw() as u8);
        for _ in 0..rounds(20_000) {
            let (at, byte, mask) = (draw() as usize % 64, draw() as u8, draw() as u8);
            let mut bytes = row.to_vec();
            bytes.insert(at, byte);
            isa.open_byte(&mut row, at as u32, byte);
            assert_eq!(row, bytes[..64]);
            let value = row[draw() as usize % 64] & mask;
            let holding =
                row.iter().rev().fold(0, |set, byte| set << 1 | u64::from(byte & mask == value));
            assert_eq!(isa.bytes_holding(&row, mask, value), holding);
            let near = row.first_chunk().unwrap();
            let mut masks = [mask; NEAR];
            masks[NEAR - 1] = 0;
            let expected = (holding % (1 << NEAR)) | (1 << (NEAR - 1));
            assert_eq!(isa.near_bytes_holding(near, &masks, value), expected);
            let kept = draw() | draw();
            let mut left: Vec<u8> =
                (0..64).filter(|slot| kept >> slot & 1 == 1).map(|slot| row[slot]).collect();
            left.resize(64, 0);
            let mut packed = row;
            keep(isa, &mut packed, kept);
            assert_eq!(packed, *left);
            spread(isa, &mut packed, kept);
            let back: Vec<u8> =
                (0..64).map(|slot| if kept >> slot & 1 == 1 { row[slot] } else { 0 }).collect();
            assert_eq!(packed, *back);
        }
        assert_eq!(isa.extract(u64::MAX, 0), 0);
        assert_eq!(isa.deposit(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn twins_agree_with_the_definition() {
        agrees(Scalar);
        #[cfg(target_arch = "x86_64")]
        if let Some(isa) = Avx2::detect() {
            agrees(isa);
        }
    }
}
