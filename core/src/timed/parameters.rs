//! The parameters of the filter, and its formulas.

use alloc::boxed::Box;

use super::bounded::Bound;
use super::clock::{REGION_BITS, REGIONS, Ticks};
use super::deal::{bins_for, usual_words};
use super::entry::BUCKETS;
use super::filter::{Region, TimedWindow};
use super::level::{MOST_BITS, calm_share};
use super::segment::{Info, SLOTS, Shape};
use crate::bits::LINE_BYTES;
use crate::blueprint::{Blueprint, Unfit};
use crate::error::Error;
use crate::filter::Filter;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::promise::Promise;
use crate::rate::ErrorRate;
use crate::window::{Slack, Span, Window};

/// How long keys are remembered, and how they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimedWindowParameters {
    /// How long every key is remembered.
    pub span: Span,
    /// Generations into which the span is divided at most: from 1 to 255. The slack is one of them.
    pub generations: u32,
    /// Fifties of buckets in a segment: 8, 16, ... or 64.
    pub groups: u32,
    /// Bits of remainder in a calm time: from 1 to 31.
    pub remainder_bits: u32,
    /// Entries from which on segments split, the first of them at so many and the last at 7/4 of that:
    /// from 16 to 4096.
    pub entries: u32,
    /// Keys to expect within the span, or 0; a hint, which saves bits while they come for the first time.
    pub expected: u64,
    /// Bytes that it may take, or 0 for as many as keys need. With more keys than these hold, it errs more
    /// often than it promises, and says so.
    pub most_bytes: u64,
    /// Bits beside every tag: none here, and some where a count rides along.
    pub payload_bits: u32,
}

/// Generations of a span unless more are needed: with fewer, more keys are stored that left the window;
/// with more, every key has a longer tag. Seven take the fewest bits.
const GENERATIONS: u32 = 7;
/// The most there are.
const MOST_GENERATIONS: u32 = 255;
/// With all that can be added (growth 8, a floor of 12 bits, coarse 3, a mark, a tag of 8 bits, the end of a
/// bucket), a slot has at most 64 bits.
const MOST_REMAINDER_BITS: u32 = 31;
const MOST_GROUPS: u32 = 64;

/// Entries of segments that are planned. In smaller ones headers cost more, in larger ones a sweep, which one
/// insertion has to wait for.
const ENTRIES: core::ops::RangeInclusive<u32> = 1_300..=2_600;

/// The population that a hint stands for has at most 2^15 segments.
const DEEPEST_FLOOR: u32 = 15;

/// Entries to plan memory for when nobody says how many there will be.
const UNKNOWN: u64 = 1 << 10;

/// Bits that keys of a growth spurt have more than others, with the one that says how long they are.
pub(super) const SPURT_BITS: u32 = 4;

/// The part of a bound that entries fill, however uneven their segments are at the moment.
const ROOM: f64 = 0.875;

/// With less memory than this, a few segments would be all of it.
pub(super) const LEAST_BOUND: u64 = 1 << 16;

/// Buckets for every entry of a segment that splits, at most, where memory is bounded.
const BUCKETS_BOUNDED: f64 = 0.9;

/// Entries of segments, as parts of the number from which on they split: those of a steady stream.
const SIZES: [f64; 8] = [0.58, 0.71, 0.84, 0.97, 1.1, 1.23, 1.36, 1.49];

/// Words of the table for each segment.
const TABLE: f64 = 1.5;

/// Part of the slots that are in use, on average: what the heap of a steady stream shows.
const LOAD: f64 = 0.87;

impl TimedWindowParameters {
    /// Parameters for a span, an error, a slack and a number of keys to expect.
    pub fn with_error(
        span: Span,
        slack: Option<Span>,
        rate: f64,
        expected: Option<u64>,
    ) -> Result<Self, Unfit> {
        Self::with_payload(0, span, slack, rate, expected, Self::bits_per_entry)
    }

    /// The same where so many bits ride beside every tag, at the least cost.
    pub(super) fn with_payload(
        payload_bits: u32,
        span: Span,
        slack: Option<Span>,
        rate: f64,
        expected: Option<u64>,
        cost: impl Fn(&Self) -> f64,
    ) -> Result<Self, Unfit> {
        let enough = |&generations: &u32| {
            let longest = Ticks::new(span.millis(), generations).longest();
            slack.is_none_or(|slack| longest - span.millis() <= slack.millis())
        };
        let mut finer =
            (GENERATIONS.count_ones()..=MOST_GENERATIONS.count_ones()).map(|bits| (1 << bits) - 1);
        let generations = finer.find(enough).ok_or(Unfit("needs more slack"))?;
        let expected = expected.unwrap_or(0).min(Window::LONGEST);
        let mut best: Option<(f64, Self)> = None;
        for remainder_bits in 1..=MOST_REMAINDER_BITS {
            for groups in (8..=MOST_GROUPS).step_by(8) {
                let fingerprints = f64::from(groups * BUCKETS) * f64::from(remainder_bits).exp2();
                let entries = (rate * calm_share() * fingerprints / UNEVEN) as u32;
                if !ENTRIES.contains(&entries) {
                    continue;
                }
                let most_bytes = 0;
                let made = Self {
                    span,
                    generations,
                    groups,
                    remainder_bits,
                    entries,
                    expected,
                    most_bytes,
                    payload_bits,
                };
                // Where a remainder does not fill its byte, insertions take the long way.
                let slow = if remainder_bits < u8::BITS { 1.0 } else { 0.0 };
                let bits = cost(&made) + slow;
                if best.is_none_or(|(least, _)| bits < least) {
                    best = Some((bits, made));
                }
            }
        }
        best.map(|(_, made)| made).ok_or(Unfit("cannot be so exact"))
    }

    /// Parameters for a span, a slack and a memory: for the least error with which the keys to expect fit,
    /// or one in a thousand if nobody says how many there will be.
    pub fn with_memory(
        span: Span,
        slack: Option<Span>,
        most_bytes: u64,
        expected: Option<u64>,
    ) -> Result<Self, Unfit> {
        Self::with_payload_and_memory(0, span, slack, most_bytes, expected)
    }

    /// The same where so many bits ride beside every tag.
    pub(super) fn with_payload_and_memory(
        payload_bits: u32,
        span: Span,
        slack: Option<Span>,
        most_bytes: u64,
        expected: Option<u64>,
    ) -> Result<Self, Unfit> {
        if most_bytes < LEAST_BOUND {
            return Err(Unfit("needs a bound of 64 KiB at least"));
        }
        let of = |rate| {
            let cost = |made: &Self| {
                // When remainders have no bits left, there is an entry for every bucket, and those must fit.
                // And the bound holds but for a segment, so that segments are better small.
                let crowded =
                    f64::from(made.groups * BUCKETS) > BUCKETS_BOUNDED * f64::from(made.entries);
                let dear = if crowded { f64::from(u8::MAX) } else { 0.0 };
                made.bits_per_entry() + dear + f64::from(made.entries) / 200.0
            };
            let made = Self::with_payload(payload_bits, span, slack, rate, expected, cost)?;
            Ok(Self { most_bytes, ..made })
        };
        let fits = |made: &Self| made.promised_items() >= expected;
        let mut rates = (1..60).rev().map(|halvings| (-0.5 * f64::from(halvings)).exp2());
        match expected {
            None => of(ErrorRate::DEFAULT.get()),
            // The largest error if none is large enough: what is promised then holds for fewer keys.
            Some(_) => match rates.find_map(|rate| of(rate).ok().filter(fits)) {
                Some(made) => Ok(made),
                None => of(0.5),
            },
        }
    }

    /// The bound on the chance that an unseen key is reported, at any moment of any stream: what an entry
    /// of a calm time errs, as the part of the whole that the law gives it.
    pub fn false_positive_rate(&self) -> f64 {
        let fingerprints = f64::from(self.groups * BUCKETS) * f64::from(self.remainder_bits).exp2();
        UNEVEN * f64::from(self.entries) / (fingerprints * calm_share())
    }

    /// The longest that a key is reported after it left the window.
    pub fn slack(&self) -> Span {
        Span::from_millis(self.ticks().longest() - self.span.millis())
    }

    pub(super) fn ticks(&self) -> Ticks {
        Ticks::new(self.span.millis(), self.generations)
    }

    pub(super) fn shape(&self) -> Shape {
        let shape = Shape::new(self.groups, self.ticks(), self.remainder_bits, self.floor_depth());
        Shape { payload_bits: self.payload_bits, ..shape }
    }

    /// Bits of remainder that an entry has at most.
    pub(super) fn most_remainder_bits(&self) -> u32 {
        self.remainder_bits + MOST_BITS + self.floor_depth() - REGION_BITS
    }

    /// Depth up to which segments count as if they were that deep: the number of keys to expect is no
    /// growth.
    pub(super) fn floor_depth(&self) -> u32 {
        let segments = self.expected / u64::from(self.entries);
        segments.max(1).ilog2().clamp(REGION_BITS, DEEPEST_FLOOR)
    }

    /// The population of a region that counts as none.
    pub(super) fn floor(&self) -> u64 {
        u64::from(self.entries) << (self.floor_depth() - REGION_BITS)
    }

    /// Bits of a stored entry in a calm time.
    pub(super) fn bits_per_entry(&self) -> f64 {
        let sizes = SIZES.map(|size| self.bits_at(size * f64::from(self.entries)));
        sizes.iter().sum::<f64>() / SIZES.len() as f64
    }

    /// Bytes beside the segments: what is known of regions and generations.
    pub(super) fn fixed_bytes(&self) -> u64 {
        let weights = (REGIONS << self.shape().tag_bits) * size_of::<u64>();
        (weights + size_of::<[Region; REGIONS]>()) as u64
    }

    /// Keys of a span that fit into a bound, each with so many bits beyond those of a calm time.
    pub(super) fn fitting(&self, bound: Bound, more: f64) -> u64 {
        let bits = self.bits_per_entry() + more / LOAD;
        let entries = ROOM * 8.0 * bound.begin as f64 / bits;
        (entries / (1.0 + 1.0 / f64::from(self.ticks().ages()))) as u64
    }

    /// The same in a segment of so many.
    fn bits_at(&self, entries: f64) -> f64 {
        let info = Info { remainder_bits: self.remainder_bits, ..Info::default() };
        let bins = entries / (SLOTS as f64 * LOAD);
        let shape = self.shape();
        let info = info.with_bins(&shape, bins.round().max(1.0) as usize);
        let words = usual_words(&shape, info) as f64 * bins.max(1.0) / info.bins as f64;
        64.0 * (words + TABLE) / entries
    }
}

/// The mean chance of an entry is this much above that of one in as many segments as there are entries for:
/// segments are split one after the other while their number doubles.
const UNEVEN: f64 = 9.0 / 8.0;

impl Parameters for TimedWindowParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let (groups, expected) = (&mut self.groups, "a multiple of 8, from 8 to 64");
        list.add("span", &mut self.span, Span::from_millis(1).., "at least 1")?;
        list.add("generations", &mut self.generations, 1..=MOST_GENERATIONS, "from 1 to 255")?;
        list.add("groups", groups, 8..=MOST_GROUPS, expected)?;
        let whole = groups.is_multiple_of(8);
        list.check(whole, "groups", (*groups).into(), expected)?;
        let bits = &mut self.remainder_bits;
        list.add("remainder bits", bits, 1..=MOST_REMAINDER_BITS, "from 1 to 31")?;
        list.add("entries of a segment", &mut self.entries, 16..=4096, "from 16 to 4096")?;
        list.add("expected", &mut self.expected, ..=Window::LONGEST, "at most 2^48")?;
        list.add("most bytes", &mut self.most_bytes, .., "")
    }
}

impl Blueprint for TimedWindowParameters {
    fn promise(&self) -> Promise {
        Promise::remembering(
            Window::Within(self.span),
            Slack::Time(self.slack()),
            self.false_positive_rate(),
        )
    }

    fn promised_items(&self) -> Option<u64> {
        // Keys of a growth spurt are longer.
        self.bound().map(|bound| self.fitting(bound, f64::from(SPURT_BITS)))
    }

    fn heap_bytes(&self) -> u64 {
        let keys = if self.expected == 0 { UNKNOWN } else { self.expected } as f64;
        // On average half of the oldest generation is older than the span.
        let entries = keys * (1.0 + 0.5 / f64::from(self.ticks().ages()));
        let segments = (entries / (0.9 * f64::from(self.entries))).max(REGIONS as f64);
        let each = (entries / segments).ceil() as usize;
        let shape = self.shape();
        let words = if segments > REGIONS as f64 {
            entries * self.bits_per_entry() / 64.0
        } else {
            let info = Info { remainder_bits: self.remainder_bits, ..Info::default() };
            let info = info.with_bins(&shape, bins_for(&shape, each));
            segments * (usual_words(&shape, info) as f64 + TABLE)
        };
        let bytes = (8.0 * words) as u64 + self.fixed_bytes();
        self.bound().map_or(bytes, |_| bytes.min(self.most_bytes))
    }

    fn adapts(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        let info = Info { remainder_bits: self.remainder_bits, ..Info::default() };
        // Table, the beginning of the segment, and the bin, which begins anywhere.
        let bin = info.layout(&self.shape()).stride();
        2.0 + (bin as f64 - 1.0) / LINE_BYTES as f64 + 1.0
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(TimedWindow::new(*self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(millis: u64, slack: Option<u64>, rate: f64) -> TimedWindowParameters {
        let slack = slack.map(Span::from_millis);
        TimedWindowParameters::with_error(Span::from_millis(millis), slack, rate, None).unwrap()
    }

    #[test]
    fn every_error_is_reached_and_hardly_missed() {
        for rate in [0.9, 0.5, 0.1, 0.03, 0.01, 0.001, 0.0001, 1e-6, 1e-9] {
            let planned = planned(60_000, None, rate);
            let promised = planned.false_positive_rate();
            assert!(promised <= rate && promised > 0.99 * rate, "{rate}: {planned:?} {promised}");
        }
    }

    #[test]
    fn the_slack_is_a_seventh_or_as_asked() {
        assert_eq!(planned(7_000, None, 0.01).slack(), Span::from_millis(999));
        for slack in [700, 999, 500, 100, 30] {
            let planned = planned(7_000, Some(slack), 0.01);
            assert!(planned.slack() <= Span::from_millis(slack), "{planned:?}");
            assert_eq!(planned.generations == 7, slack >= 999);
        }
        let (span, none) = (Span::from_millis(7_000), Span::from_millis(1));
        assert!(TimedWindowParameters::with_error(span, Some(none), 0.01, None).is_err());
        // Spans of few milliseconds need no slack at all.
        assert_eq!(planned(5, Some(0), 0.01).slack(), Span::from_millis(0));
    }
}
