//! What an operation has to know of the segments of a depth, at hand.

use super::address::Address;
use super::parameters::GrowingParameters;

/// Segments of one depth.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Depth {
    remainder_bits: u8,
    /// The ends of runs so short that a word holds all their fields.
    few_ends: u8,
    /// One part of a word of ends and the words of fields that go with it, in units of 2^-16.
    ends_part: u16,
}

impl Depth {
    fn new(remainder_bits: u8) -> Self {
        let width = u16::from(remainder_bits) + 1;
        Self {
            remainder_bits,
            few_ends: if width <= 32 { 0b11 } else { 0 },
            ends_part: (u32::from(u16::MAX) / u32::from(1 + width)) as u16,
        }
    }

    /// Bits of a field: a remainder, and the one that ends it.
    #[inline(always)]
    pub(super) fn width(self) -> usize {
        usize::from(self.remainder_bits) + 1
    }

    #[inline(always)]
    pub(super) fn few_ends(self) -> u64 {
        self.few_ends.into()
    }

    /// How many are words of ends among so many words of ends and fields.
    #[inline(always)]
    pub(super) fn words_of_ends(self, words: usize) -> usize {
        words.wrapping_mul(usize::from(self.ends_part)) >> 16
    }

    /// The place of a hash in a segment of this depth.
    #[inline(always)]
    pub(super) fn place(self, hash: u64, depth: u32) -> Address {
        Address::of(hash, depth, self.remainder_bits.into())
    }
}

/// Depths that five bits can tell: a few more than segments can have.
const ALL: usize = 32;

/// All depths.
#[derive(Debug, Clone)]
pub(super) struct Depths {
    /// Most segments of each depth, and after those the ones with a bit more.
    depths: [Depth; 2 * ALL],
    /// Hashes below this one are in segments with a bit more.
    wider_below: [u64; ALL],
}

impl Depths {
    pub(super) fn new(parameters: &GrowingParameters) -> Self {
        let stated = parameters.stated_depth();
        let mut made = Self { depths: [Depth::default(); 2 * ALL], wider_below: [0; ALL] };
        for (depth, &remainder_bits) in parameters.remainder_bits.iter().enumerate() {
            made.depths[depth] = Depth::new(remainder_bits);
            made.depths[ALL + depth] = Depth::new(remainder_bits + 1);
            made.wider_below[depth] = parameters.wider_below(stated, depth as u32);
        }
        made
    }

    /// The segment of this depth that a hash is in.
    #[inline(always)]
    pub(super) fn of(&self, hash: u64, depth: u32) -> Depth {
        let depth = depth as usize % ALL;
        let wider = usize::from(hash < self.wider_below[depth]);
        self.depths[ALL * wider + depth]
    }
}
