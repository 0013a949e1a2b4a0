//! How long signatures are, and what that promises.
//!
//! An entry that is stored while its segment has a prefix of i bits (*depth* i) knows i bits of
//! address, its bucket and r_i bits of remainder, and never learns more: it errs with the same
//! chance for ever. If all segments split at the same size, memory would swing with their phase. So
//! the one whose prefix is the fraction f of all splits at (1 + f) C entries, up to 7/4 C: while some
//! are about to split others just did, and they have about C entries on average at every moment.
//! Those of depth i hold at most 3/2 C on average when they split, half of what their parents had
//! came before, and so all entries of depth i together err at most with chance
//!
//! ```text
//! c_i = 3/4 C / (Q 2^(r_i))        Q buckets in a segment;  c_0 = C / (Q 2^(r_0))
//! ```
//!
//! however many there will be. The promise is the sum over all depths. The planner's hint, how many
//! items to expect, decides how the error is shared. If nobody said, the depths up to that of ten million
//! items share nine tenths of it evenly, and those beyond it share the rest ever more thinly; if somebody
//! did, see `stated`. A wrong hint costs bits, never the promise. The first few thousand items get three bits more, so that later ones
//! need not make up for them.
//!
//! Worked example: 1% and ten million items. Segments of 22 bins have 1408 entries on average, so the
//! deepest prefix is 13 bits, and 3200 buckets. Nine bits of remainder at depths 3 to 13 are 11 times
//! 0.07%, and the depths before add another 0.07%.

use alloc::vec::Vec;
use core::ops::Range;

use super::directory::DEPTHS;
use super::phases::Phases;
use super::reshape::bins_for;
use super::segment::{ADDRESS_CHANCE, MOST_BINS, SLOTS, words_of};
use super::sizes::Sizes;
use crate::blueprint::Unfit;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::plan::effort;
use crate::rate::ErrorRate;

/// How a growing filter is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GrowingParameters {
    /// Items that are expected. A hint: it decides where bits are best spent.
    pub expected_items: u64,
    /// Whether insertions can be taken back, which takes storing repeats.
    pub removing: bool,
    /// Bins of the first segment when it is split; those of higher prefixes have up to three
    /// quarters more.
    pub bins: u32,
    /// Bits of remainder of an entry that is stored in a segment with a prefix of so many bits.
    pub remainder_bits: [u8; DEPTHS],
    /// Bins of the segments that a stated number of items fills, when they are split; 0 if nobody stated any.
    pub stated_bins: u8,
    /// How many 256ths of all hashes, from the lowest on, have one bit more up to the stated depth.
    pub wider: u8,
}

/// Items that are expected when nobody says how many.
pub const UNKNOWN_ITEMS: u64 = 10_000_000;

/// Part of its capacity that a segment usually holds at its depth from which on it may split. One
/// that is full by chance splits only if the others will soon: else a filter whose keys come and go
/// would be split ever finer.
pub(super) const SPLIT_FROM: f64 = 0.85;

/// Part of the error for the depths up to the expected one.
const EXPECTED_SHARE: f64 = 0.9;

/// Depths with more bits than they need: they hold few items, and leave the error to the others.
const WIDE_DEPTHS: u32 = 3;

/// Sizes of segments that are considered: smaller ones waste bits on their heads, larger ones time
/// on buckets with many entries.
const BINS: core::ops::RangeInclusive<u32> = 19..=27;

/// How many times the least bits per item smaller segments may take.
const BITS_FOR_SPEED: f64 = 1.025;

/// Widest remainder: beyond the 64 bits of a hash there is nothing to store.
pub(super) const MOST_REMAINDER_BITS: u32 = 48;

impl GrowingParameters {
    /// Nearly the smallest that keep `rate` at every size: the ones with the smallest segments among
    /// those, because lookups of absent keys end sooner where fewer buckets are occupied.
    pub fn with_error(rate: f64, expected_items: u64, removing: bool) -> Result<Self, Unfit> {
        // At a single depth, segments of 19 bins err more often than that with fewer bits.
        let fewest = (-rate.log2() as u32).saturating_sub(2).max(1);
        let made = |bins| {
            let mut widths = fewest..=MOST_REMAINDER_BITS - WIDE_DEPTHS;
            widths.find_map(|width| Self::with_width(bins, width, rate, expected_items, removing))
        };
        let candidates: Vec<_> =
            BINS.filter_map(made).map(|made| (made.bits_per_item(), made)).collect();
        let least = candidates.iter().map(|&(bits, _)| bits).reduce(f64::min);
        candidates
            .into_iter()
            .find(|&(bits, _)| Some(bits) <= least.map(|least| BITS_FOR_SPEED * least))
            .map(|(_, made)| made)
            .ok_or(Unfit("cannot err so rarely: hashes have 64 bits"))
    }

    /// The ones with the smallest error that hold `items` in `bytes`.
    pub fn with_memory(bytes: u64, items: u64, removing: bool) -> Result<Self, Unfit> {
        if removing {
            return Self::least_error(bytes, |rate| Self::with_error(rate, items, true));
        }
        let sizes = Sizes::new(items);
        Self::least_error(bytes, |rate| sizes.with_error(rate))
    }

    /// Bytes that `items` take at the very least.
    pub(super) fn least_bytes(items: u64, removing: bool) -> Option<u64> {
        let loosest = ErrorRate::LOOSEST_LOG2.exp2();
        let made = if removing {
            Self::with_error(loosest, items, true)
        } else {
            Self::with_stated_items(loosest, items)
        };
        made.ok().map(|made| made.expected_bytes())
    }

    /// The ones with the smallest error, of those that `made` makes for an error, that fit into `bytes`
    /// when the expected items are stored.
    pub(super) fn least_error(
        bytes: u64,
        made: impl Fn(f64) -> Result<Self, Unfit>,
    ) -> Result<Self, Unfit> {
        let fits = |exponent: f64| {
            made(exponent.exp2()).ok().filter(|parameters| parameters.expected_bytes() <= bytes)
        };
        let (mut low, mut high) = (ErrorRate::SMALLEST.log2(), ErrorRate::LOOSEST_LOG2);
        let mut best = fits(high).ok_or(Unfit("needs more memory for so many items"))?;
        for _ in 0..30 {
            let middle = (low + high) / 2.0;
            match fits(middle) {
                Some(parameters) => (best, high) = (parameters, middle),
                None => low = middle,
            }
        }
        Ok(best)
    }

    /// Segments of so many bins, and this width at the depths up to the expected one; `None` if
    /// that errs too often.
    fn with_width(
        bins: u32,
        width: u32,
        rate: f64,
        expected_items: u64,
        removing: bool,
    ) -> Option<Self> {
        let remainder_bits = [width as u8; DEPTHS];
        let mut parameters =
            Self { expected_items, removing, bins, remainder_bits, stated_bins: 0, wider: 0 };
        for depth in 0..WIDE_DEPTHS {
            parameters.remainder_bits[depth as usize] = (width + WIDE_DEPTHS - depth) as u8;
        }
        let expected = parameters.expected_depth();
        let most = EXPECTED_SHARE * rate;
        if parameters.rate_of_depths(None, 0..expected + 1) > most {
            return None;
        }
        let beyond = (1.0 - EXPECTED_SHARE) * rate;
        for depth in expected + 1..DEPTHS {
            let share = beyond * thinning((depth - expected) as f64);
            let bits = &mut parameters.remainder_bits;
            bits[depth] = bits[depth - 1];
            while parameters.rate_of_depth(None, depth) > share {
                parameters.remainder_bits[depth] += 1;
            }
        }
        (parameters.remainder_bits[DEPTHS - 1] <= MOST_REMAINDER_BITS as u8).then_some(parameters)
    }

    /// Chance that an unseen key is reported, at the worst moment of however long a life: the sum
    /// over all depths.
    pub fn false_positive_rate(&self) -> f64 {
        self.rate_of_depths(self.stated_depth(), 0..DEPTHS).min(1.0)
    }

    /// Chance that an unseen key is reported because of entries that came at one of these depths, if the stated
    /// depth is this one: many ask who know it.
    pub(super) fn rate_of_depths(&self, stated: Option<usize>, depths: Range<usize>) -> f64 {
        depths.map(|depth| self.rate_of_depth(stated, depth)).sum()
    }

    /// The same of one depth.
    fn rate_of_depth(&self, stated: Option<usize>, depth: usize) -> f64 {
        effort::count();
        let came = self.came_at(stated, depth);
        let errs = (came - self.saved_of(stated, depth, came)) * self.capacity() * ADDRESS_CHANCE;
        errs * halved(self.remainder_bits[depth])
    }

    /// The depth that a stated number leads to, if one was stated: up to there every depth has one bit
    /// less than the one before.
    pub(super) fn stated_depth(&self) -> Option<usize> {
        let falls = |pair: &&[u8]| pair[1] + 1 == pair[0];
        let depth = self.remainder_bits.windows(2).take_while(falls).count();
        (self.stated_bins != 0 || depth > WIDE_DEPTHS as usize).then_some(depth)
    }

    /// Bits per item when the expected number is stored, on average over the phases of a doubling.
    pub fn bits_per_item(&self) -> f64 {
        self.phases().bits(self.width(self.expected_depth() as u32))
    }

    /// Segments in the phases of a doubling.
    pub(super) fn phases(&self) -> Phases {
        Phases::new(self.capacity())
    }

    /// Bits per item when exactly so many items are stored.
    pub(super) fn bits_at(&self, items: u64) -> f64 {
        let segments = (items as f64 / self.capacity()).max(1.0);
        let depth = segments.log2().floor();
        let filling = segments / depth.exp2();
        // The last quarter splits together, and so do all at the stated depth.
        let together = filling >= 1.75 || self.stated_depth() == Some(depth as usize);
        let split = if together { f64::from(filling >= 1.75) } else { filling - 1.0 };
        let whole = filling * self.capacity();
        let [parent, child] =
            [0, 1].map(|more| self.width((depth as u32 + more).min(DEPTHS as u32 - 1)));
        (split * 2.0 * segment_bits(child, whole / 2.0)
            + (1.0 - split) * segment_bits(parent, whole))
            / whole
    }

    /// Bytes on the heap when the expected number of items is stored.
    pub fn expected_bytes(&self) -> u64 {
        let least = 8 * words_of(self.width(0), 1) as u64;
        let bits = match self.stated_depth() {
            Some(depth) if self.stated_bins != 0 => self.bits_when_reached(depth),
            Some(_) => self.bits_at(self.expected_items),
            None => self.bits_per_item(),
        };
        least.max((self.expected_items as f64 * bits / 8.0) as u64)
    }

    /// Bits of a field in most segments of this depth: a remainder, and the one that ends it.
    pub(super) fn width(&self, depth: u32) -> usize {
        usize::from(self.remainder_bits[depth as usize]) + 1
    }

    /// The same in the segment of a hash.
    pub(super) fn width_at(&self, hash: u64, depth: u32) -> usize {
        self.width(depth) + usize::from(hash < self.wider_below(self.stated_depth(), depth))
    }

    /// Whether filters can be built so: every depth has room for what comes from the one before.
    pub(super) fn is_valid(&self) -> bool {
        let bits = &self.remainder_bits;
        (1..=MOST_BINS as u32 / 4).contains(&self.bins)
            && bits.iter().all(|bits| (1..=MOST_REMAINDER_BITS as u8).contains(bits))
            && bits.windows(2).all(|pair| pair[1] + 1 >= pair[0])
            && self.can_be_stated()
    }

    /// Bins of the segment of a prefix that is split when it needs more.
    pub(super) fn bins_of(&self, prefix: u64, depth: u32) -> usize {
        if self.stated_depth() == Some(depth as usize) {
            return if self.stated_bins == 0 { self.most_bins() } else { self.stated_bins.into() };
        }
        let more = (u64::from(self.bins) * prefix) >> depth;
        // The last quarter alike, so that the largest segments are many in small filters too.
        (self.bins as usize + more as usize).min(self.most_bins())
    }

    /// Bins of the largest segments.
    pub(super) fn most_bins(&self) -> usize {
        (self.bins + 3 * self.bins / 4) as usize
    }

    /// Entries of a segment on average, and of the first one when it splits.
    pub(super) fn capacity(&self) -> f64 {
        f64::from(self.bins) * SLOTS as f64
    }

    /// Depth of the deepest segments when the expected number of items is stored.
    pub(super) fn expected_depth(&self) -> usize {
        // Where keys come and go, every segment that may split does so in time.
        let part = if self.removing { SPLIT_FROM } else { 1.0 };
        let segments = self.expected_items as f64 / (part * self.capacity());
        (segments.log2().ceil().max(0.0) as usize).clamp(WIDE_DEPTHS as usize, DEPTHS - 1)
    }
}

/// Bits of the directory for a segment, on average: 1.7 entries of the table, and half of the time
/// as many of the next one and more.
const DIRECTORY_BITS: f64 = 3.0 * 64.0;

/// Bits of a segment with so many entries.
pub(super) fn segment_bits(width: usize, entries: f64) -> f64 {
    bits_of_bins(width, bins_for(entries as usize + SLOTS / 4))
}

/// Bits of a segment of so many bins.
pub(super) fn bits_of_bins(width: usize, bins: usize) -> f64 {
    64.0 * words_of(width, bins) as f64 + DIRECTORY_BITS
}

/// One half to the power of so many, exactly, and sooner than a function of real numbers tells it.
fn halved(times: u8) -> f64 {
    let exponent = 1023 - u64::from(times);
    f64::from_bits(exponent << 52)
}

/// Shares of the depths beyond the expected one; they add up to one.
fn thinning(beyond: f64) -> f64 {
    const SLOWNESS: f64 = 2.0;
    SLOWNESS / ((beyond + SLOWNESS - 1.0) * (beyond + SLOWNESS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No width below the first that is tried would do.
    #[test]
    fn fewer_bits_than_are_tried_err_too_often() {
        for rate in [0.9, 0.3, 0.01, 1e-4, 1e-9] {
            for items in [1, 10_000, 10_000_000, 1 << 40] {
                let fewest = (-f64::log2(rate) as u32).saturating_sub(2).max(1);
                for (bins, width) in
                    BINS.flat_map(|bins| (1..fewest).map(move |width| (bins, width)))
                {
                    let made = GrowingParameters::with_width(bins, width, rate, items, false);
                    assert_eq!(made, None, "{rate} {items}");
                }
            }
        }
    }

    /// However long it lives, and whatever number was expected: shares of all depths add up to no more than the rate.
    #[test]
    fn the_rate_is_kept_for_ever() {
        for rate in [0.9, 0.3, 0.01, 1e-4, 1e-9] {
            for items in [1, 10_000, 10_000_000, 1 << 40] {
                let made = GrowingParameters::with_error(rate, items, false).unwrap();
                let found = made.false_positive_rate();
                assert!(found <= rate * (1.0 + 1e-12), "{rate} for {items}: {found}");
                // Nor is anything given away: one bit less would not do.
                assert!(found > rate / 8.0, "{rate} for {items}: {found}");
            }
        }
    }

    /// What falls by a bit at every depth has to end somewhere, and begins with a bit to spare.
    #[test]
    fn a_stated_number_needs_depths_beyond_it() {
        let falling = |first: u8, last: usize| GrowingParameters {
            bins: 2,
            stated_bins: 3,
            remainder_bits: core::array::from_fn(|depth| first - depth.min(last) as u8),
            ..GrowingParameters::default()
        };
        assert!(falling(40, DEPTHS - 2).is_valid() && !falling(40, DEPTHS - 1).is_valid());
        let most = MOST_REMAINDER_BITS as u8;
        assert!(falling(most - 1, 5).is_valid() && !falling(most, 5).is_valid());
        let unstated = GrowingParameters { stated_bins: 0, ..falling(most, 5) };
        assert!(unstated.is_valid());
        assert!(!GrowingParameters { wider: 1, ..unstated }.is_valid());
    }

    /// Segments of higher prefixes get more bins, but the last quarter alike.
    #[test]
    fn not_all_split_at_once() {
        let parameters = GrowingParameters { bins: 20, ..GrowingParameters::default() };
        let bins: Vec<_> = (0..8).map(|prefix| parameters.bins_of(prefix, 3)).collect();
        assert_eq!(bins, [20, 22, 25, 27, 30, 32, 35, 35]);
        assert_eq!(parameters.most_bins(), 35);
    }

    #[test]
    fn halves_are_exact() {
        assert!((0..=u8::MAX).all(|times| halved(times) == 0.5_f64.powi(times.into())));
    }

    /// What remainders have at ten million keys and 1%, if other numbers were expected.
    #[test]
    fn a_wrong_hint_costs_bits() {
        let told = |items| GrowingParameters::with_error(0.01, items, false).unwrap();
        let depth = told(10_000_000).expected_depth();
        let more = |items| {
            i32::from(told(items).remainder_bits[depth])
                - i32::from(told(10_000_000).remainder_bits[depth])
        };
        assert_eq!([1, 1_000_000, 100_000_000, 1_000_000_000].map(more), [6, 3, 0, 1]);
    }
}
