//! The search for the size of segments that suits a stated number of items best.
//!
//! Whoever gives a memory asks for many errors, until one is found that fits. What no error changes is
//! worked out once for all of them: how deep the number leads, and how large segments are while they split.

use alloc::vec::Vec;
use core::array;

use super::directory::DEPTHS;
use super::parameters::{GrowingParameters, MOST_REMAINDER_BITS, UNKNOWN_ITEMS, segment_bits};
use super::segment::{MOST_BINS, SLOTS};
use crate::blueprint::Unfit;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;

/// Sizes of segments that are considered: up to the largest that can be built.
const BINS: core::ops::RangeInclusive<u32> = 19..=MOST_BINS as u32 / 4;

/// How many times the bits of a filter of which nothing was said one that outgrows its number may take on
/// average, so that it does not take more at any moment.
const NO_MORE: f64 = 0.99;

/// Segments of every size, for a number of items.
pub(super) struct Sizes {
    items: u64,
    sizes: Vec<SegmentSize>,
}

/// Segments of one size.
struct SegmentSize {
    /// All but how long remainders are.
    frame: GrowingParameters,
    /// The depth that the number leads to.
    depth: usize,
    /// Bits per item by width, on average over the phases of a doubling.
    bits: [f64; WIDTHS],
    /// The same when all segments of that depth have just been split.
    bits_when_left: [f64; WIDTHS],
}

/// Widths that fields can have: from none on.
const WIDTHS: usize = MOST_REMAINDER_BITS as usize + 2;

/// What is built if nobody states a number, and its bits per item at every depth.
struct Unaware {
    parameters: GrowingParameters,
    bits: [f64; DEPTHS],
}

impl Sizes {
    /// For so many items. Where they are so few that it does not matter there are none.
    pub(super) fn new(items: u64) -> Self {
        let size = |bins| {
            let frame =
                GrowingParameters { expected_items: items, bins, ..GrowingParameters::default() };
            let (depth, stated_bins) = frame.filled_by(items)?;
            let half = f64::from(stated_bins) * SLOTS as f64 / 2.0;
            let phases = frame.phases();
            Some(SegmentSize {
                frame: GrowingParameters { stated_bins, ..frame },
                depth,
                bits: array::from_fn(|width| phases.bits(width)),
                bits_when_left: array::from_fn(|width| segment_bits(width, half) / half),
            })
        };
        Self { items, sizes: BINS.filter_map(size).collect() }
    }

    /// Nearly the smallest that keep `rate`: see [`GrowingParameters::with_stated_items`].
    pub(super) fn with_error(&self, rate: f64) -> Result<GrowingParameters, Unfit> {
        let unaware = Unaware::with_error(rate)?;
        let none = GrowingParameters { expected_items: self.items, ..unaware.parameters };
        let mut best = (none.bits_at(self.items), none);
        for size in &self.sizes {
            // Of equals the one with smaller segments.
            if let Some(found) = size.with_error(&unaware, rate, best.0) {
                best = found;
            }
        }
        Ok(best.1)
    }
}

impl Unaware {
    fn with_error(rate: f64) -> Result<Self, Unfit> {
        let parameters = GrowingParameters::with_error(rate, UNKNOWN_ITEMS, false)?;
        let phases = parameters.phases();
        let (mut width, mut bits) = (0, 0.0);
        let bits = array::from_fn(|depth| {
            let here = parameters.width(depth as u32);
            if here != width {
                (width, bits) = (here, phases.bits(here));
            }
            bits
        });
        Ok(Self { parameters, bits })
    }
}

impl SegmentSize {
    /// For an error, growing on as one does of which nothing was said, and the bits that each item then
    /// takes; `None` if those are not below `most`, or it errs too often.
    fn with_error(
        &self,
        unaware: &Unaware,
        rate: f64,
        most: f64,
    ) -> Option<(f64, GrowingParameters)> {
        let (depth, mut made) = (self.depth, self.frame);
        self.grow_on(&mut made, unaware)?;
        made.fall_to(depth, 1);
        let left = rate - made.rate_of_depths(Some(depth), depth + 1..DEPTHS);
        // With a bit more everywhere it errs half as often.
        let mut errs = made.rate_when_widest(depth);
        let mut remainder = 1;
        while errs > left {
            errs /= 2.0;
            remainder += 1;
            if remainder > u32::from(made.remainder_bits[depth + 1]) {
                return None;
            }
        }
        made.fall_to(depth, remainder);
        // Most sizes are out of the question before it is known how many segments need that bit.
        made.wider = made.too_few_wide(depth, left);
        if made.bits_when_reached(depth) >= most {
            return None;
        }
        made.wider = made.wide_enough(depth, left);
        let bits = made.bits_when_reached(depth);
        (bits < most && made.is_valid()).then_some((bits, made))
    }

    /// Beyond the depth that the number leads to, the longest remainders that fit.
    fn grow_on(&self, made: &mut GrowingParameters, unaware: &Unaware) -> Option<()> {
        let deeper = (made.capacity() / unaware.parameters.capacity()).log2().floor();
        // Nearly the same at the next depth.
        let mut remainder = 1;
        for beyond in self.depth + 1..DEPTHS {
            // The depth that its segments have when these have this one.
            let there = (beyond as f64 + deeper).min((DEPTHS - 1) as f64) as usize;
            let most = unaware.bits[there];
            let fits = |remainder: u32| {
                let width = remainder as usize + 1;
                self.bits[width] <= NO_MORE * most
                    && (beyond > self.depth + 1 || self.bits_when_left[width] <= most)
            };
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
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is stated: remainders that go on falling beyond the depth that the number leads to would be taken
    /// for those of a number twice as large.
    #[test]
    fn a_stated_number_keeps_its_error() {
        for items in (10..12_000).step_by(160) {
            let sizes = Sizes::new(items);
            for step in 1..=100 {
                let rate = 10_f64.powf(-f64::from(step) / 20.0);
                let made = sizes.with_error(rate).unwrap();
                let found = made.false_positive_rate();
                assert!(found <= rate * (1.0 + 1e-12), "{items} at {rate}: {found}, {made:?}");
                let is_of_size = |size: &SegmentSize| made.stated_depth() == Some(size.depth);
                assert!(made.stated_bins == 0 || sizes.sizes.iter().any(is_of_size), "{made:?}");
            }
        }
    }

    /// A search that keeps what no error changes finds what one does that begins anew.
    #[test]
    fn sizes_are_for_every_error() {
        for items in [1, 1_000, 1_000_000, 1 << 36] {
            let sizes = Sizes::new(items);
            for rate in [0.9, 0.01, 1e-4, 1e-9] {
                let anew = GrowingParameters::with_stated_items(rate, items);
                assert_eq!(sizes.with_error(rate), anew, "{items} {rate}");
            }
        }
    }
}
