//! Checking that everything is as it should be.

use alloc::string::String;

use super::clock::{REGIONS, region_of};
use super::counted::are_counts;
use super::deal::most_bins_for;
use super::entry::{Entry, is_sorted};
use super::filter::{TimedWindow, part};
use super::segment::{Segment, Shape};
use super::tend::longest_prefix;
use super::weights::Weights;
use crate::bits::Scalar;

impl TimedWindow {
    /// Checks every invariant, and says which one is broken.
    pub fn validate(&self) -> Result<(), String> {
        let mut weighed = Self { weights: Weights::new(&self.shape), ..self.clone() };
        let (mut items, mut behind) = ([0; REGIONS], 0);
        for hash in self.segments.first_hashes() {
            let (depth, words) = self.segments.get(hash);
            self.validate_segment(hash, depth, &Segment { words })
                .map_err(|fault| format!("segment of {hash:#x}, depth {depth}: {fault}"))?;
            items[region_of(hash)] += Segment { words }.info().count as u64;
            weighed.weigh_living(hash, depth);
            let generation = self.regions[region_of(hash)].generation;
            behind += usize::from(self.sight(hash, generation).behind);
        }
        check(behind == self.turns.behind(), "segments that have missed a turn are counted")?;
        check(behind == 0 || !self.is_tidy(), "the hand goes round after a turn")?;
        for (number, region) in self.regions.iter().enumerate() {
            let now = self.clock.unwrap_or(0);
            check(region.population.items() == items[number], "the population is counted")?;
            let tick = self.turns.tick(region.generation);
            check(tick == self.ticks.generation(number, now), "regions know the time")?;
            let least = region.population.least();
            let current = part(&self.shape, tick) as usize % least.len();
            check(least[current] <= items[number], "the least is not above what there is")?;
        }
        check(self.items == items.iter().sum::<u64>(), "entries are counted")?;
        let generations = self.current();
        let rates =
            [&self.weights, &weighed.weights].map(|weights| weights.rate(&self.shape, generations));
        check(rates[0] == rates[1], "the chance of an error is summed up")?;
        let longest = longest_prefix(self.segments.arrays()) + 1;
        check(self.segments.length() <= longest, "the table is not too long")
    }

    fn validate_segment(
        &self,
        hash: u64,
        depth: u32,
        segment: &Segment<&[u64]>,
    ) -> Result<(), String> {
        let (shape, info) = (&self.shape, segment.info());
        let generation = self.regions[region_of(hash)].generation;
        let late = generation.wrapping_sub(segment.generation());
        check(self.turns.allow(region_of(hash), generation, late), "it is not ahead")?;
        check(info.bins <= most_bins_for(info.count), "it is not too roomy")?;
        check((info.bins == 0) == (info.count == 0), "it has bins if it has entries")?;
        segment.check(shape)?;
        let entries = segment.entries(Scalar, shape);
        check(entries.len() == info.count, "its entries are counted")?;
        check(are_entries(shape, &entries), "its entries are in order")?;
        let most = self.parameters.most_remainder_bits();
        check(info.remainder_bits <= most, "remainders are not too long")?;
        let fits = |len: u32| {
            if info.mixed { len <= info.remainder_bits } else { len == info.remainder_bits }
        };
        check(entries.iter().all(|entry| fits(entry.len())), "remainders are as long as it says")?;
        let age = |tag| shape.age(segment.generation(), tag);
        check(entries.iter().all(|entry| age(entry.tag) <= shape.ages), "ages are possible")?;
        check(depth <= self.segments.length(), "it is in the table")
    }
}

/// Whether these can be the entries of a segment, in this order.
pub(super) fn are_entries(shape: &Shape, entries: &[Entry]) -> bool {
    if shape.payload_bits > 0 { are_counts(entries) } else { is_sorted(entries) }
}

fn check(holds: bool, invariant: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("it does not hold that {invariant}")) }
}
