//! Where the parts of a bin lie: its row, its words and its planes (`bins.rs` draws them).

use super::Shape;
use crate::bits::NEAR;

/// Slots in a bin: one per bit of a word.
pub(crate) const SLOTS: u32 = u64::BITS;
/// Bits of the threshold.
pub(crate) const THRESHOLD_BITS: u32 = 7;
/// The threshold of a bin whose entries are all at home. Above every bucket.
pub(crate) const NOBODY: u32 = (1 << THRESHOLD_BITS) - 1;

/// Buckets that a bin has at least, and at most.
pub(crate) const LEAST_BUCKETS: u32 = 64 - THRESHOLD_BITS;
pub(crate) const MOST_BUCKETS: u32 = 128 - THRESHOLD_BITS;

/// Bits of an entry in the row.
pub(super) const ROW_BITS: usize = 8;
/// Where the words of a bin begin, after the row.
pub(super) const WORDS: usize = SLOTS as usize;

/// Bytes of the row and the three words.
pub(crate) const FRONT: usize = WORDS + 24;

/// Where the parts of a bin lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The bits of the third word that belong to `occupied`.
    pub(super) high: u64,
    /// Bytes of `occupied` beyond the first word of it, at most eight. So small a type that the
    /// compiler sees that no offset overflows.
    pub(super) high_bytes: u8,
    /// The bits of a byte of the row that belong to the remainder.
    pub(super) row_mask: u8,
    /// The same for a part of the row; the last is zero.
    pub(super) near_masks: [u8; NEAR],
    pub(super) plane_count: u8,
    pub(super) stride: u16,
    pub(super) remainder_bits: usize,
}

impl Layout {
    pub(crate) const fn new(shape: &Shape) -> Self {
        let high = (u128::MAX >> (128 - THRESHOLD_BITS - shape.buckets) >> 64) as u64;
        let above = (ROW_BITS as u32).saturating_sub(shape.remainder_bits);
        let high_bytes = (shape.buckets + THRESHOLD_BITS) / 8 - 8;
        // At least one plane, so that a bin has three words.
        let entry_bits = shape.remainder_bits + shape.tag_bits;
        let planes = if entry_bits > ROW_BITS as u32 { entry_bits - ROW_BITS as u32 } else { 1 };
        let row_mask = (0xff_u32 >> above) as u8;
        let mut near_masks = [row_mask; NEAR];
        near_masks[NEAR - 1] = 0;
        Self {
            high,
            high_bytes: high_bytes as u8,
            plane_count: planes as u8,
            stride: (WORDS as u32 + 16 + high_bytes + 8 * planes) as u16,
            row_mask,
            near_masks,
            remainder_bits: shape.remainder_bits as usize,
        }
    }

    /// Of a bin with [`LEAST_BUCKETS`] and eight for each of so many bytes, at most eight, whose entries have
    /// so many bits of remainder, and of tag.
    #[inline(always)]
    pub(crate) const fn of_bits(high_bytes: u32, remainder_bits: u32, tag_bits: u32) -> Self {
        let (bins, buckets, sheds) = (1, LEAST_BUCKETS + 8 * high_bytes, 1);
        Self::new(&Shape { bins, buckets, remainder_bits, tag_bits, sheds })
    }

    /// The same where remainders fill a byte and somebody remembers how many bytes a bin takes: hardly anything
    /// is left to compute.
    #[inline(always)]
    pub(crate) const fn of_long(
        high_bytes: u32,
        remainder_bits: u32,
        tag_bits: u32,
        stride: u32,
    ) -> Self {
        let mut near_masks = [u8::MAX; NEAR];
        near_masks[NEAR - 1] = 0;
        Self {
            high: (u128::MAX >> (64 - 8 * high_bytes) >> 64) as u64,
            high_bytes: high_bytes as u8,
            plane_count: (remainder_bits + tag_bits - ROW_BITS as u32) as u8,
            stride: stride as u16,
            row_mask: u8::MAX,
            near_masks,
            remainder_bits: remainder_bits as usize,
        }
    }

    /// Bytes from one bin to the next.
    #[inline(always)]
    pub(crate) const fn stride(&self) -> usize {
        self.stride as usize
    }

    /// Where the planes begin, those of the remainders first.
    #[inline(always)]
    pub(super) const fn planes(&self) -> usize {
        WORDS + 16 + self.high_bytes as usize
    }

    /// How many planes there are.
    #[inline(always)]
    pub(crate) const fn planes_of_bin(&self) -> usize {
        self.plane_count as usize
    }

    /// Planes of the remainders; the others are of tags.
    #[inline(always)]
    pub(super) const fn remainder_planes(&self) -> usize {
        self.remainder_bits.saturating_sub(ROW_BITS)
    }

    /// Remainder and tag of an entry.
    #[inline(always)]
    pub(super) const fn parts(&self, entry: u64) -> (u64, u64) {
        (entry & ((1 << self.remainder_bits) - 1), entry >> self.remainder_bits)
    }

    /// Bits of the tag that lie in the row.
    #[inline(always)]
    pub(super) const fn row_tag_bits(&self) -> usize {
        ROW_BITS.saturating_sub(self.remainder_bits)
    }
}
