//! A succinct dynamic dictionary: hashes with a few bits of data each.
//!
//! A hash is cut into bin, bucket and remainder. The first two are an address
//! and are never stored: the bin is where the entry lies, the bucket is told by
//! two bit vectors of the bin (`bins.rs`). Entries beyond 64 in a bin live in a
//! small second level (`backyard.rs`) which knows their home, and return when
//! [`Table::sweep`] finds room. A full bin keeps its smallest buckets and
//! a threshold; a lookup leaves the bin only for a bucket from the threshold up.
//!
//! After Arbitman, Naor and Segev, *Backyard Cuckoo Hashing*, with a quotient
//! bin of bytes and bit planes instead of their lookup tables, and the order of exile from Even,
//! Even and Morrison's prefix filter, which we let relax as entries leave.
//!
//! It never forgets silently. An exile that finds two sheds and the stash full
//! is lost, but a 64th part of the bins then answers [`Seen::Perhaps`] wherever
//! the lost entry might have been, until it would have expired, and
//! [`Frame::lost`] counts it. With random hashes this was never seen (see `docs/sliding.md`);
//! with hashes that crowd into few bins it is what keeps the answers one-sided.

mod backyard;
#[cfg(test)]
mod beside_a_map;
pub(crate) mod bins;
pub(crate) mod head;
mod layout;
mod overflow;
pub(crate) mod several;
mod state;
mod store;
mod table;
pub mod tools;

pub use store::{Dictionary, Fault, Repeat, Seen, Stats, Tags};
pub use table::{Frame, Sweep, Table};

use crate::bits::{Aligned, size};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::reduce;
use crate::plan::effort;
use bins::{SLOTS, THRESHOLD_BITS};

/// Part of the slots of the first level in use at least, on average, and at most.
///
/// Higher saves bits and costs exiles: a bin of 64 slots that should hold 56
/// overflows now and then. At 0.90 the heap is 1.5% smaller and insertions take a sixth longer.
const LOADS: (f64, f64) = (0.83, 0.87);

/// Bits that free slots may cost for each entry: where entries are short there can be more of them.
const ROOM: f64 = 2.1;

/// Part of the slots of the first level in use, on average, when a slot takes so many bits.
fn load(slot_bits: f64) -> f64 {
    (1.0 / (1.0 + ROOM / slot_bits)).clamp(LOADS.0, LOADS.1)
}

/// Slots of a bin that stay free when exiles come home, so that the next arrivals do not send them
/// out again at once.
pub(crate) const SPARE: u32 = 5;

/// Part of the slots of the second level in use, on average. Two choices keep the fullest shed
/// close.
pub const BACKYARD_LOAD: f64 = 0.75;

/// Part of the allowed error that is planned for: a rate that is exactly at its limit measures
/// above it half the time.
pub const MARGIN: f64 = 0.97;

/// The dimensions of a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Shape {
    /// Bins of 64 slots; any number.
    pub bins: usize,
    /// Buckets of a bin: 57 to 121, seven below a multiple of eight.
    pub buckets: u32,
    /// Bits stored of each hash.
    pub remainder_bits: u32,
    /// Bits of data with each hash.
    pub tag_bits: u32,
    /// Sheds of 64 slots for what does not fit its bin.
    pub sheds: usize,
}

/// How many entries a dictionary must hold.
#[derive(Clone, Copy, Debug)]
pub struct Population {
    /// Entries of the whole table at any time.
    pub entries: f64,
    /// Entries in a bin just before it is swept, relative to the average.
    pub before_sweep: f64,
}

impl Shape {
    /// The smallest shape for a population at an error rate, or `None` beyond 64 bits of hash.
    pub fn smallest(
        population: Population,
        false_positive_rate: f64,
        tag_bits: u32,
    ) -> Option<Self> {
        Self::smallest_within(population, false_positive_rate, tag_bits, u64::MAX)
    }

    /// The same if it takes at most so many bytes, which is sooner known than how many it takes.
    pub fn smallest_within(
        population: Population,
        false_positive_rate: f64,
        tag_bits: u32,
        mut most_bytes: u64,
    ) -> Option<Self> {
        let bins_at = |load: f64| (population.entries / (f64::from(SLOTS) * load)).ceil().max(1.0);
        let fingerprints = population.entries / (MARGIN * false_positive_rate);
        let mut best: Option<Self> = None;
        for header_bytes in 8..=16 {
            let buckets = 8 * header_bytes - THRESHOLD_BITS;
            // More bins than the load asks for can pay when a bit less of remainder is just too
            // little.
            let fewest = bins_at(LOADS.1);
            let exact_bits = (fingerprints / (fewest * f64::from(buckets))).log2().max(0.0);
            for remainder_bits in [exact_bits.floor() as u32, exact_bits.ceil() as u32] {
                effort::count();
                let shape = Self { bins: 1, buckets, remainder_bits, tag_bits, sheds: 1 };
                let bin_bytes = shape.level_bytes().0;
                let slot_bits = f64::from(u8::BITS) * bin_bytes as f64;
                let least_bins = bins_at(load(slot_bits / f64::from(SLOTS)));
                let per_bin = f64::from(buckets) * f64::from(remainder_bits).exp2();
                let bins = least_bins.max((fingerprints / per_bin).ceil());
                if bins > f64::from(u32::MAX) {
                    continue;
                }
                // Sheds take a while to count, and most shapes are too large without.
                if bin_bytes.saturating_mul(bins as u64) > most_bytes {
                    continue;
                }
                let shape = Self { bins: bins as usize, ..shape };
                let fits = |shape: &Self| shape.is_valid() && shape.heap_bytes() <= most_bytes;
                if !fits(&shape) {
                    continue;
                }
                let shape = Self { sheds: sheds(population, bins), ..shape };
                if fits(&shape) {
                    most_bytes = shape.heap_bytes() - 1;
                    best = Some(shape);
                }
            }
        }
        best
    }

    /// True if a dictionary can have these dimensions.
    pub fn is_valid(&self) -> bool {
        let buckets = self.buckets + THRESHOLD_BITS;
        (1..=u32::MAX as usize).contains(&self.bins)
            && (1..=self.bins).contains(&self.sheds)
            && (64..=128).contains(&buckets)
            && buckets.is_multiple_of(8)
            && (1..=16).contains(&self.tag_bits)
            && self.remainder_bits <= 32
            && backyard::holds_every_home(self)
            && self.fingerprints() < 64f64.exp2()
    }

    /// How many different fingerprints there are; two hashes share one with a chance of one in
    /// this.
    pub fn fingerprints(&self) -> f64 {
        self.bins as f64 * f64::from(self.buckets) * f64::from(self.remainder_bits).exp2()
    }

    /// Chance that an unknown hash has the fingerprint of one of `entries`. At most that, exactly:
    /// equal ones are stored once.
    pub fn false_positive_rate(&self, entries: f64) -> f64 {
        entries / self.fingerprints()
    }

    /// Bytes on the heap of a dictionary of this shape: all of them, at all times.
    pub fn heap_bytes(&self) -> u64 {
        let (bins, backyard) = self.level_bytes();
        let heap_bytes = |bytes: u64| Aligned::<u8>::heap_bytes_for(size(bytes));
        heap_bytes(bins).saturating_add(heap_bytes(backyard))
    }

    /// Bytes of the two levels.
    pub fn level_bytes(&self) -> (u64, u64) {
        let stride = bins::Layout::new(self).stride() as u64;
        (stride.saturating_mul(self.bins as u64), backyard::bytes(self))
    }

    /// How hashes become places.
    pub const fn cut(&self) -> Cut {
        Cut::new(self.bins as u64, self.buckets, self.remainder_bits)
    }
}

/// How many bins, buckets in a bin and remainders in a bucket there are.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    bins: u64,
    buckets: u64,
    remainders: u64,
}

impl Cut {
    /// Into so many bins of so many buckets, and remainders of so many bits.
    pub const fn new(bins: u64, buckets: u32, remainder_bits: u32) -> Self {
        Self { bins, buckets: buckets as u64, remainders: 1 << remainder_bits }
    }

    /// Cuts a hash: the high product chooses the bin, what is left of it the bucket, what is left
    /// then the remainder.
    #[inline(always)]
    pub fn place(&self, hash: u64) -> Place {
        let (bin, rest) = reduce(hash, self.bins);
        let (bucket, rest) = reduce(rest, self.buckets);
        let (remainder, _) = reduce(rest, self.remainders);
        Place { bin: bin as usize, bucket: bucket as u32, remainder }
    }
}

/// Where an entry lives: all that is known of its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of the bin.
    pub bin: usize,
    /// Number of the bucket in the bin.
    pub bucket: u32,
    /// The part of the hash that is stored.
    pub remainder: u64,
}

/// Sheds for the entries that do not fit their bins.
fn sheds(population: Population, bins: f64) -> usize {
    let exiles = bins * surplus_per_bin(population.entries / bins, population.before_sweep);
    // Small tables have no averages; five deviations, where an exile rarely comes alone.
    let with_luck = exiles + 5.0 * (7.0 * exiles).sqrt();
    let slots = (exiles / BACKYARD_LOAD).max(with_luck).min(population.entries);
    (slots / f64::from(SLOTS)).ceil().clamp(1.0, bins) as usize
}

/// Expected entries beyond the slots of a bin that holds `entries` on average, at a random moment
/// between two sweeps.
///
/// The arrivals are Poisson; the mean climbs from one sweep to the next.
pub fn surplus_per_bin(entries: f64, before_sweep: f64) -> f64 {
    const MOMENTS: u32 = 8;
    /// The logarithm of 64!.
    const LN_FACTORIAL_OF_SLOTS: f64 = 205.168_199_482_641_2;
    /// Smaller parts of the sum than this, and all behind them, are left out.
    const NEGLIGIBLE: f64 = 1e-12;
    // The slots that a sweep leaves free are soon taken again; measured, they count for a quarter.
    let room = f64::from(SLOTS) - f64::from(SPARE) / 4.0;
    let swing = 2.0 * (before_sweep - 1.0);
    let surplus_at = |moment: u32| {
        let phase = (f64::from(moment) + 0.5) / f64::from(MOMENTS) - 0.5;
        let mean = (entries * (1.0 + swing * phase)).max(f64::MIN_POSITIVE);
        // Counts that fit add nothing: the sum begins behind them.
        let mut chance = (f64::from(SLOTS) * mean.ln() - mean - LN_FACTORIAL_OF_SLOTS).exp();
        let mut surplus = (f64::from(SLOTS) - room) * chance
            + (f64::from(SLOTS - 1) - room).max(0.0) * chance * f64::from(SLOTS) / mean;
        for count in SLOTS + 1..4 * SLOTS {
            chance *= mean / f64::from(count);
            let term = chance * (f64::from(count) - room);
            surplus += term;
            if term <= NEGLIGIBLE * surplus && f64::from(count) > mean {
                break;
            }
        }
        surplus
    };
    (0..MOMENTS).map(surplus_at).sum::<f64>() / f64::from(MOMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Term by term from none on, which is what the sum is.
    #[test]
    fn the_surplus_is_that_of_all_counts() {
        let room = f64::from(SLOTS) - f64::from(SPARE) / 4.0;
        for entries in [1.0, 30.0, 55.0, 61.5, 64.0, 80.0] {
            let (mut chance, mut surplus) = (f64::exp(-entries), 0.0);
            for count in 1..4 * SLOTS {
                chance *= entries / f64::from(count);
                surplus += chance * (f64::from(count) - room).max(0.0);
            }
            let found = surplus_per_bin(entries, 1.0);
            assert!((found - surplus).abs() <= 1e-11 * surplus, "{entries}: {found} {surplus}");
        }
    }

    /// Between two sweeps a bin fills; what it cannot hold is the mean over that time.
    #[test]
    fn the_surplus_is_that_of_all_moments() {
        for (entries, before_sweep) in [(54.0, 8.0 / 7.5), (56.0, 16.0 / 15.5), (52.0, 4.0 / 3.5)] {
            let moments = 1_000;
            let at = |moment: u32| {
                let phase = (f64::from(moment) + 0.5) / f64::from(moments) - 0.5;
                surplus_per_bin(entries * (1.0 + 2.0 * (before_sweep - 1.0) * phase), 1.0)
            };
            let exact = (0..moments).map(at).sum::<f64>() / f64::from(moments);
            let found = surplus_per_bin(entries, before_sweep);
            assert!(
                (found / exact - 1.0).abs() < 0.01,
                "{entries} {before_sweep}: {found} {exact}"
            );
        }
    }
}
