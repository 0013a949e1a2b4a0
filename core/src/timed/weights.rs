//! How likely an unseen key is reported now, without looking at the entries.
//!
//! An entry of a segment of depth d with r bits of remainder is met by one hash in 2^d Q 2^r, Q being the
//! buckets of a segment. The sum over all live entries is kept by region and tag, in units so small that
//! it is exact: what comes is added, what is refreshed changes its tag, and when a generation ends, its sum
//! is forgotten in one step, long before its entries are swept.

use alloc::boxed::Box;

use super::clock::REGIONS;
use super::segment::Shape;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;

/// The chance of an entry of whose hash no bit is known, but for the bucket. Longer entries than this
/// count as if they were that long.
const WHOLE_BITS: u32 = 50;

/// Sums of chances by region and tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Weights {
    sums: Box<[u64]>,
    tag_bits: u32,
}

impl Weights {
    pub(super) fn new(shape: &Shape) -> Self {
        Self { sums: vec![0; REGIONS << shape.tag_bits].into(), tag_bits: shape.tag_bits }
    }

    pub(super) fn heap_bytes(&self) -> u64 {
        size_of_val(&*self.sums) as u64
    }

    /// An entry comes of whose hash so many bits are known beside the bucket.
    #[inline(always)]
    pub(super) fn add(&mut self, region: usize, tag: u32, known: u32) {
        self.sums[region << self.tag_bits | tag as usize] += weight(known);
    }

    /// An entry goes.
    #[inline(always)]
    pub(super) fn take(&mut self, region: usize, tag: u32, known: u32) {
        self.sums[region << self.tag_bits | tag as usize] -= weight(known);
    }

    /// The generations after `before`, up to `now`, of a region begin: their tags were those of
    /// entries that are too old now.
    pub(super) fn forget(&mut self, shape: &Shape, region: usize, before: u64, now: u64) {
        let passed = now.wrapping_sub(before).min(1 << self.tag_bits);
        for back in 0..passed {
            let tag = shape.tag(now.wrapping_sub(back));
            self.sums[region << self.tag_bits | tag as usize] = 0;
        }
    }

    /// Generation `before` of a region is followed by `after`, in which all entries are so many generations younger.
    pub(super) fn set_back(
        &mut self,
        shape: &Shape,
        region: usize,
        before: u64,
        after: u64,
        back: u32,
    ) {
        let sums = &mut self.sums[region << self.tag_bits..(region + 1) << self.tag_bits];
        let mut made = vec![0; sums.len()];
        for age in 0..=shape.ages {
            let [from, to] = [(before, age), (after, age.saturating_sub(back))]
                .map(|(now, age)| shape.tag(now.wrapping_sub(age.into())) as usize);
            made[to] += sums[from];
        }
        sums.copy_from_slice(&made);
    }

    /// The sum of a generation of a region.
    pub(super) fn of(&self, shape: &Shape, region: usize, generation: u64) -> u128 {
        self.sums[region << self.tag_bits | shape.tag(generation) as usize].into()
    }

    /// The chance that an unseen key is reported, given the generations of the regions.
    pub(super) fn rate(&self, shape: &Shape, generations: [u64; REGIONS]) -> f64 {
        let sum = self.sum(shape, generations);
        sum as f64 / f64::from(shape.buckets) / f64::from(WHOLE_BITS).exp2()
    }

    /// The sum of all that lives, given the generations of the regions.
    pub(super) fn sum(&self, shape: &Shape, generations: [u64; REGIONS]) -> u128 {
        let mut sum = 0;
        for (region, generation) in generations.into_iter().enumerate() {
            for age in 0..=shape.ages {
                sum += self.of(shape, region, generation.wrapping_sub(age.into()));
            }
        }
        sum
    }
}

#[inline(always)]
fn weight(known: u32) -> u64 {
    1 << WHOLE_BITS.saturating_sub(known)
}
