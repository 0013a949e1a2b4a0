//! Parameters for a number of items that somebody stated.
//!
//! If the number is right, entries need no more bits than a filter of that one size would give them. They
//! lose one with every split of their segment: so those that come at depth i get d - i bits more than
//! those at depth d, which the stated number leads to, and there all are equally long. No segment of depth
//! d splits before its 7/4 C entries are there, and the number is just below that: then together they err
//! with chance 7/4 C / (Q 2^r), and not d times as often.
//!
//! If the number is wrong, the filter goes on growing, and must not cost more than if nobody had said
//! anything: beyond depth d remainders are as long as that allows. The error that this takes is least with
//! large segments, whose heads cost little.
//!
//! Worked example: 1% and a million items. 256 segments of up to 66 bins, 3906 entries each, with 8 bits of
//! remainder: 0.5%. The next depths have 11 bits, as long as those of smaller segments with 9 take, and
//! add 0.3%. That is 11.6 bits per item instead of 14.9.

use super::directory::DEPTHS;
use super::parameters::{GrowingParameters, MOST_REMAINDER_BITS, UNKNOWN_ITEMS, WIDE_DEPTHS};
use super::segment::{MOST_BINS, SLOTS};
use crate::blueprint::Unfit;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;

/// Sizes of segments that are considered: up to the largest that can be built.
const BINS: core::ops::RangeInclusive<u32> = 19..=MOST_BINS as u32 / 4;

/// How many times the bits of a filter of which nothing was said one that outgrows its number may take on
/// average, so that it does not take more at any moment.
const NO_MORE: f64 = 0.98;

impl GrowingParameters {
    /// Nearly the smallest for `items` that keep `rate` at every size and, beyond that number, take no
    /// more memory than if it had not been stated.
    pub fn with_stated_items(rate: f64, items: u64) -> Result<Self, Unfit> {
        let none = Self::with_error(rate, UNKNOWN_ITEMS, false)?;
        let unaware = Self { expected_items: items, ..none };
        let candidates = BINS.filter_map(|bins| none.for_items(bins, rate, items));
        let best = candidates.min_by(|one, other| one.bits_at(items).total_cmp(&other.bits_at(items)));
        Ok(best.filter(|best| best.bits_at(items) < unaware.bits_at(items)).unwrap_or(unaware))
    }

    /// Segments of so many bins for so many items, growing on as `self` does; `None` if that errs too
    /// often, or the items are so few that it does not matter.
    fn for_items(&self, bins: u32, rate: f64, items: u64) -> Option<Self> {
        let mut made = Self { expected_items: items, bins, ..*self };
        let depth = made.depth_for(items);
        if !(WIDE_DEPTHS as usize + 1..DEPTHS).contains(&depth) {
            return None;
        }
        // The longest remainders that fit, which are nearly the same at the next depth.
        let mut remainder = 1;
        for beyond in depth + 1..DEPTHS {
            let most = NO_MORE * self.bits_of(self.width(self.depth_of(&made, beyond)));
            let fits = |remainder: u32| made.bits_of(remainder as usize + 1) <= most;
            while remainder > 0 && !fits(remainder) {
                remainder -= 1;
            }
            while remainder < MOST_REMAINDER_BITS && fits(remainder + 1) {
                remainder += 1;
            }
            if remainder == 0 {
                return None;
            }
            made.remainder_bits[beyond] = remainder as u8;
        }
        (1..=MOST_REMAINDER_BITS - depth as u32).find_map(|remainder| {
            for at in 0..=depth {
                made.remainder_bits[at] = (remainder as usize + depth - at) as u8;
            }
            (made.is_valid() && made.false_positive_rate() <= rate).then_some(made)
        })
    }

    /// The depth at which so many items fit into segments that are not split yet. Some have more than the
    /// others; as good as none has four deviations more.
    fn depth_for(&self, items: u64) -> usize {
        let most = (SLOTS * (self.most_bins() - 1)) as f64;
        let fits = |depth: &usize| {
            let usual = items as f64 * (-(*depth as f64)).exp2();
            usual + 4.0 * usual.sqrt() <= most
        };
        (0..DEPTHS).find(fits).unwrap_or(DEPTHS)
    }

    /// The depth that segments of `self` have when those of another filter have this one.
    fn depth_of(&self, other: &Self, depth: usize) -> u32 {
        let deeper = (other.capacity() / self.capacity()).log2().floor();
        (depth as f64 + deeper).min((DEPTHS - 1) as f64) as u32
    }
}
