//! Parameters for a number of items that somebody stated.
//!
//! If the number is right, entries need no more bits than a filter of that one size would give them. They
//! lose one with every split of their segment: so those that come at depth i get d - i bits more than
//! those at depth d, which the stated number leads to, and there all are equally long. No segment of depth
//! d splits before it has S entries, a few more than the number brings to each: then together they err
//! with chance S / (Q 2^r), and not d times as often.
//!
//! Whole bits would take up to one too many. So a part of all segments, those of the lowest prefixes, have
//! one bit more than the others, and the part is as large as the error needs. While segments are few, the
//! boundary lies inside of one: that one has the shorter remainders, and its entries keep them.
//!
//! If the number is wrong, the filter goes on growing, and must not cost more than if nobody had said
//! anything: beyond depth d remainders are as long as that allows. The error that this takes is least with
//! large segments, whose heads cost little.
//!
//! Worked example: 1% and a million items. 256 segments of 3906 entries each, which split at 65 bins; 88 have
//! remainders of 7 bits and 168 of 8, which is 0.68%. The next depth has 9 bits and those after it 10, as long
//! as those of smaller segments with 9 take, and add 0.32%. That is 11.1 bits per item instead of 14.9.

use super::directory::DEPTHS;
use super::parameters::{GrowingParameters, MOST_REMAINDER_BITS, bits_of_bins};
use super::reshape::{SPARE, bins_for, least_bins};
use super::segment::SLOTS;
use super::sizes::Sizes;
use crate::blueprint::Unfit;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;

impl GrowingParameters {
    /// Nearly the smallest for `items` that keep `rate` at every size and, beyond that number, take no
    /// more memory than if it had not been stated.
    pub fn with_stated_items(rate: f64, items: u64) -> Result<Self, Unfit> {
        Sizes::new(items).with_error(rate)
    }

    /// The depth at which so many items fit into segments twice as large as the smallest that are split, and
    /// the bins that those need. Some have more than the others; one in a thousand has three deviations more, and splits.
    pub(super) fn filled_by(&self, items: u64) -> Option<(usize, u8)> {
        let bins = |depth: usize| {
            let usual = items as f64 * (-(depth as f64)).exp2();
            least_bins((usual + 3.0 * usual.sqrt()) as usize) as u64
        };
        let most = 2 * u64::from(self.bins);
        let depth = (0..DEPTHS - 1).find(|&depth| bins(depth) <= most)?;
        // The largest of the depth before are halves here, and must not fill these.
        (bins(depth) >= u64::from(self.bins)).then(|| (depth, bins(depth) as u8))
    }

    /// Remainders of so many bits at this depth, and one more at each before.
    pub(super) fn fall_to(&mut self, depth: usize, remainder: u32) {
        for at in 0..=depth {
            self.remainder_bits[at] = (remainder as usize + depth - at) as u8;
        }
    }

    /// How often all up to this depth, which is the stated one, err if as many segments as possible have a bit
    /// more: all but one. If all had, all would have the same.
    pub(super) fn rate_when_widest(&self, depth: usize) -> f64 {
        let finest = finest_part(depth);
        self.rate_when_wider(depth, (256 - finest) as u8)
    }

    /// The fewest segments with a bit more, in 256ths, with which all up to this depth err at most so often: at
    /// the most they do.
    pub(super) fn wide_enough(&self, depth: usize, rate: f64) -> u8 {
        let finest = finest_part(depth);
        let (mut few, mut enough) = (0, 256 / finest - 1);
        while few < enough {
            let middle = few.midpoint(enough);
            match self.rate_when_wider(depth, (middle * finest) as u8) <= rate {
                true => enough = middle,
                false => few = middle + 1,
            }
        }
        (enough * finest) as u8
    }

    /// No more than those, and sooner known: a bit more in a part of all segments saves half of that part at most.
    pub(super) fn too_few_wide(&self, depth: usize, rate: f64) -> u8 {
        let part = 2.0 * (1.0 - rate / self.rate_when_wider(depth, 0));
        (256.0 * part - 1.0) as u8
    }

    fn rate_when_wider(&self, depth: usize, wider: u8) -> f64 {
        Self { wider, ..*self }.rate_of_depths(Some(depth), 0..depth + 1)
    }

    /// Whether what is said of a stated number can be: nothing is lost when its segments split.
    pub(super) fn can_be_stated(&self) -> bool {
        if self.stated_bins == 0 {
            return self.wider == 0;
        }
        let bits = &self.remainder_bits;
        let fits = |depth: usize| bits.get(depth + 1).is_some_and(|&next| next >= bits[depth]);
        !self.removing
            && (self.bins..=2 * self.bins).contains(&self.stated_bins.into())
            && bits[0] < MOST_REMAINDER_BITS as u8
            && self.stated_depth().is_some_and(fits)
    }

    /// Entries that come at this depth for each segment there will be, in parts of C.
    pub(super) fn came_at(&self, stated_depth: Option<usize>, depth: usize) -> f64 {
        let slots = SLOTS as f64 * f64::from(self.stated_bins);
        let stated = (slots - SPARE as f64) / self.capacity();
        match stated_depth {
            // But for the first they begin as halves, with 0.73 C on average; then all become equally large.
            Some(0) if depth == 0 && self.stated_bins != 0 => stated,
            Some(at) if depth == at && self.stated_bins != 0 => stated - 0.73,
            // They begin as halves of those.
            Some(at) if depth == at + 1 && self.stated_bins != 0 => 1.5 - stated / 2.0,
            Some(at) if depth == at => 1.0,
            _ if depth == 0 => 1.0,
            _ => 0.75,
        }
    }

    /// Hashes below this one have a bit more at this depth. Segments through which the boundary goes have not.
    pub(super) fn wider_below(&self, stated_depth: Option<usize>, depth: u32) -> u64 {
        match stated_depth {
            Some(stated) if (1..=stated).contains(&(depth as usize)) => {
                (u64::from(self.wider) << depth >> 8) << (64 - depth)
            }
            _ => 0,
        }
    }

    /// How much less than `came` would err as often as what came at this depth, because some have a bit more.
    /// To the segment with the boundary inside, which has not, may have come more than to others: 7/8.
    pub(super) fn saved_of(&self, stated_depth: Option<usize>, depth: usize, came: f64) -> f64 {
        if self.wider == 0 || stated_depth.is_none_or(|stated| depth > stated) {
            return 0.0;
        }
        let all = f64::from(self.wider) / 256.0;
        let here = self.wider_below(stated_depth, depth as u32) as f64 * (-64.0_f64).exp2();
        (came * all - came.max(0.875) * (all - here)) / 2.0
    }

    /// Bits per item when the stated number, which leads to this depth, is there.
    pub(super) fn bits_when_reached(&self, depth: usize) -> f64 {
        let usual = self.entries_when_reached(depth);
        let wider = f64::from(self.wider) / 256.0;
        let width = self.width(depth as u32);
        // Segments differ by so many deviations.
        let some = [-1.5, -0.8, -0.4, 0.0, 0.4, 0.8, 1.5].map(|deviations| {
            let bins = self.bins_at(depth, (usual + deviations * usual.sqrt()) as usize);
            (1.0 - wider) * bits_of_bins(width, bins) + wider * bits_of_bins(width + 1, bins)
        });
        some.iter().sum::<f64>() / some.len() as f64 / usual
    }

    /// Bins for so many entries in a segment of this depth when more will come. At the depth that a stated number
    /// leads to, the last steps are such that a segment has no more than it needs when that number is there.
    pub(super) fn bins_at(&self, depth: usize, entries: usize) -> usize {
        let (least, more) = (least_bins(entries), bins_for(entries));
        if self.stated_bins == 0 || self.stated_depth() != Some(depth) {
            return more;
        }
        let enough = least_bins(self.entries_when_reached(depth) as usize);
        match enough.checked_sub(least) {
            Some(missing) => enough - missing / (1 + least / 16) * (1 + least / 16),
            None => least,
        }
    }

    /// Entries of a segment of this depth on average when the expected number is there.
    fn entries_when_reached(&self, depth: usize) -> f64 {
        self.expected_items as f64 * (-(depth as f64)).exp2()
    }
}

/// The least part of all segments of this depth that can have a bit more, in 256ths.
fn finest_part(depth: usize) -> u32 {
    (256_u32 >> depth).max(1)
}
