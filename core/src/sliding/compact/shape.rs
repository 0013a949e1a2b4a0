//! The dimensions of the blocks, and the formulas from what is wanted to them.

use super::block::{Layout, SLOTS};
use crate::bits::{Aligned, size};
use crate::dictionary::{Cut, MARGIN};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::plan::effort;

/// Blocks after the last home, for what spills from there. A block has at most 255 guests, which fill
/// four; the fifth is always empty, so that every block in use has a neighbour.
pub(super) const SPARE_BLOCKS: usize = 5;

/// Blocks whose sweeps are as far apart as can be lie side by side: homes come in groups of so many.
pub(super) const LANES: usize = 8;

/// Part of the slots in use, on average, by the bits that a slot takes: up to so many, this part.
///
/// Higher saves bits, and more blocks give way for each insertion: 0.6 at .90, 1.1 at .92, 2 at .94.
/// Free slots are cheap where they are short; full blocks are dear to move where slots are long, until
/// the slots themselves are dearer.
const LOADS: [(f64, f64); 4] =
    [(13.0, 0.8975), (17.0, 0.9195), (19.0, 0.9005), (f64::INFINITY, 0.914)];

/// The dimensions of the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Shape {
    /// Blocks of 64 slots in which hashes have their home; a multiple of eight.
    pub homes: usize,
    /// Buckets of a home: 63 to 127, one below a multiple of eight.
    pub buckets: u32,
    /// Bits stored of each hash.
    pub remainder_bits: u32,
    /// Bits of the generation with each hash.
    pub tag_bits: u32,
    /// Bits of time within a generation, if the slack is smaller than one.
    pub fine_bits: u32,
}

impl Shape {
    /// The smallest shape that stores `entries` of which `alive` can be mistaken, at an error rate; `None`
    /// beyond 64 bits of hash.
    pub fn smallest(
        entries: f64,
        alive: f64,
        false_positive_rate: f64,
        tag_bits: u32,
        fine_bits: u32,
    ) -> Option<Self> {
        let fingerprints = alive / (MARGIN * false_positive_rate);
        let mut best: Option<Self> = None;
        for header_bytes in 8..=16 {
            let buckets = 8 * header_bytes - 1;
            let fewest = entries / f64::from(SLOTS);
            let exact_bits = (fingerprints / (fewest * f64::from(buckets))).log2().max(0.0);
            for remainder_bits in [exact_bits.floor() as u32, exact_bits.ceil() as u32] {
                effort::count();
                let shape = Self { homes: 1, buckets, remainder_bits, tag_bits, fine_bits };
                let per_home = f64::from(buckets) * f64::from(remainder_bits).exp2();
                let homes = (entries / (f64::from(SLOTS) * shape.load())).ceil();
                let homes = homes.max((fingerprints / per_home).ceil());
                if homes > f64::from(u32::MAX / 2) {
                    continue;
                }
                let shape = Self { homes: (homes as usize).next_multiple_of(LANES), ..shape };
                let smaller = |best: Self| shape.heap_bytes() < best.heap_bytes();
                if shape.is_valid() && best.is_none_or(smaller) {
                    best = Some(shape);
                }
            }
        }
        best
    }

    /// True if blocks can have these dimensions.
    pub fn is_valid(&self) -> bool {
        (LANES..=u32::MAX as usize).contains(&self.homes)
            && self.homes.is_multiple_of(LANES)
            && (63..=127).contains(&self.buckets)
            && (self.buckets + 1).is_multiple_of(8)
            && (1..=8).contains(&self.tag_bits)
            && self.fine_bits <= 24
            && self.remainder_bits <= 32
            && self.fingerprints() < 64f64.exp2()
    }

    /// How many different fingerprints there are; two hashes share one with a chance of one in this.
    pub fn fingerprints(&self) -> f64 {
        self.homes as f64 * f64::from(self.buckets) * f64::from(self.remainder_bits).exp2()
    }

    /// Chance that an unknown hash has the fingerprint of one of `entries`. At most that, exactly: equal
    /// ones are stored once.
    pub fn false_positive_rate(&self, entries: f64) -> f64 {
        entries / self.fingerprints()
    }

    /// Bytes of all blocks.
    pub fn bytes(&self) -> u64 {
        let blocks = (self.homes as u64).saturating_add(SPARE_BLOCKS as u64);
        blocks.saturating_mul(self.block_bytes())
    }

    /// Bytes on the heap: all of them, at all times.
    pub fn heap_bytes(&self) -> u64 {
        Aligned::<u8>::heap_bytes_for(size(self.bytes()))
    }

    /// Bytes of a block.
    pub fn block_bytes(&self) -> u64 {
        Layout::new(self).stride().into()
    }

    /// How hashes become places.
    pub const fn cut(&self) -> Cut {
        Cut::new(self.homes as u64, self.buckets, self.remainder_bits)
    }

    /// Part of the slots in use that is planned for.
    fn load(&self) -> f64 {
        let slot_bits = 8.0 * self.block_bytes() as f64 / f64::from(SLOTS);
        LOADS.iter().find(|(most, _)| slot_bits <= *most).map_or(1.0, |(_, load)| *load)
    }
}
