//! The last n insertions in the fewest bits we know how to reach.
//!
//! Keep a short fingerprint of every insertion in a succinct dictionary, with the number of its
//! generation as data; a repeated key gets a new number; what is c generations old is removed. Naor
//! and Yogev, *Sliding Bloom Filters*, section 2.
//!
//! Worked example: a window of 1,000,000 at 1%. Seven generations, so three bits of tag; about 1.07
//! million entries are stored at any time, in bins of 64 slots at load 0.90, with 97 buckets per
//! bin
//! and 6 bits of remainder: one chance in 6208 per entry of the bin, of which there are 58. The
//! heap
//! is 14.5 bits per item of the window.
//!
//! What we changed: generations end bin by bin ([`Generations`]), and the dictionary is ours
//! ([`Dictionary`]). `docs/sliding.md` draws the layout.
//!
//! What is not guaranteed: the error, if hashes are not random. The dictionary may then run out of
//! room: it reports too much for a while, never too little, and [`Sliding::lost`] tells.

use std::ops::RangeInclusive;

use super::generations::{self, Generations};
use crate::bits::{Isa, vectorized};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::dictionary::work::{Uncounted, Work};
use crate::dictionary::{
    Dictionary, Fault, MARGIN, Place, Population, Repeat, Seen, Shape, Stats, Tags,
};
use crate::error::Error;
use crate::filter::{BATCH, Filter, Membership, Promise};
use crate::hash::Seed;
use crate::plan::{Goal, Limit};
use crate::rate::ErrorRate;
use crate::window::{Slack, Time, Window};

/// Longest window, so that no product of its parts overflows.
const LONGEST: u64 = 1 << 40;

/// How a sliding filter is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlidingParameters {
    /// Insertions that are certainly remembered.
    pub window: u64,
    /// Generations per window, the paper's c.
    pub generations: u64,
    /// Dimensions of the dictionary.
    pub shape: Shape,
}

impl SlidingParameters {
    /// The smallest filter that keeps a rate, and a slack if one is given.
    pub fn with_error(window: u64, slack: Option<u64>, rate: f64) -> Result<Self, Unfit> {
        if !(1..=LONGEST).contains(&window) {
            return Err(Unfit("keeps windows of up to 2^40 items"));
        }
        let mut counts = generations::choices(window, slack.unwrap_or(window)).peekable();
        if counts.peek().is_none() {
            return Err(Unfit("needs a slack of about a 255th of the window"));
        }
        let plans = counts.filter_map(|count| {
            let tag_bits = generations::tag_bits(count);
            let shape = Shape::smallest(population(window, count), rate, tag_bits)?;
            Some(Self { window, generations: count, shape })
        });
        plans
            .min_by_key(Self::heap_bytes)
            .ok_or(Unfit("cannot err so rarely over so long a window: hashes have 64 bits"))
    }

    /// The filter with the smallest error that fits into `bytes`.
    pub fn with_memory(window: u64, slack: Option<u64>, bytes: u64) -> Result<Self, Unfit> {
        let fits = |exponent: f64| {
            Self::with_error(window, slack, exponent.exp2())
                .ok()
                .filter(|parameters| parameters.heap_bytes() <= bytes)
        };
        // The rate is a power of two with a real exponent; the heap grows as it falls.
        let (mut low, mut high) = (ErrorRate::SMALLEST.log2(), -0.1);
        let mut best = fits(high).ok_or(Unfit("needs more memory for this window and slack"))?;
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            match fits(middle) {
                Some(parameters) => (best, high) = (parameters, middle),
                None => low = middle,
            }
        }
        Ok(best)
    }

    /// Insertions beyond the window that may still be reported.
    pub fn slack(&self) -> u64 {
        generations::reach(self.window, self.generations) - self.window
    }

    /// Chance to report a key that is older or was never seen, when all keys of the window differ.
    pub fn false_positive_rate(&self) -> f64 {
        let entries = population(self.window, self.generations).entries;
        (self.shape.false_positive_rate(entries) / MARGIN).min(1.0)
    }

    /// Bytes on the heap, from the first insertion to the last.
    pub fn heap_bytes(&self) -> u64 {
        self.shape.heap_bytes()
    }

    fn clock(&self) -> Generations {
        Generations::new(self.window, self.generations, self.shape.bins as u64)
    }

    fn lifetime(&self) -> u16 {
        self.generations as u16 + 1
    }
}

/// Entries stored when all keys differ: the window, and half a generation more.
fn population(window: u64, count: u64) -> Population {
    let pass = generations::pass(window, count) as f64;
    let window = pass * count as f64;
    // The sweep goes by whole bins: up to half a bin's share of a generation more.
    let uneven = (32.0 / count as f64 + 1.0).min(pass / 2.0);
    Population {
        entries: window + pass / 2.0 + uneven,
        before_sweep: (window + pass) / (window + pass / 2.0),
    }
}

impl Blueprint for SlidingParameters {
    fn structure(&self) -> &'static str {
        Sliding::NAME
    }

    fn promise(&self) -> Promise {
        Promise {
            window: Window::Last(self.window),
            slack: Slack::Items(self.slack()),
            false_positives: self.false_positive_rate(),
            false_negatives: 0.0,
        }
    }

    fn heap_bytes(&self) -> u64 {
        self.shape.heap_bytes()
    }

    fn lines_touched(&self) -> f64 {
        let sweeps =
            self.shape.bins as f64 / generations::pass(self.window, self.generations) as f64;
        let (bytes, _) = self.shape.level_bytes();
        (1.0 + sweeps) * (bytes as f64 / self.shape.bins as f64 / 64.0 + 0.5)
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("window", self.window.to_string()),
            ("generations", self.generations.to_string()),
            ("bins", self.shape.bins.to_string()),
            ("buckets", self.shape.buckets.to_string()),
            ("remainder bits", self.shape.remainder_bits.to_string()),
            ("sheds", self.shape.sheds.to_string()),
        ]
    }

    fn write_parameters(&self, out: &mut Writer) {
        out.u64(self.window);
        out.u64(self.generations);
        out.u64(self.shape.bins as u64);
        out.u32(self.shape.buckets);
        out.u32(self.shape.remainder_bits);
        out.u64(self.shape.sheds as u64);
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(Sliding::new(*self))
    }
}

/// Remembers the last n insertions.
#[derive(Debug, Clone)]
pub struct Sliding {
    parameters: SlidingParameters,
    generations: Generations,
    dictionary: Dictionary,
}

impl Sliding {
    /// An empty filter.
    pub fn new(parameters: SlidingParameters) -> Self {
        let dictionary = Dictionary::new(parameters.shape, parameters.lifetime());
        Sliding { parameters, generations: parameters.clock(), dictionary }
    }

    /// The generation in which the key was last inserted, as the least and most insertions since,
    /// zero for the last one; `None` if it is not in the window.
    pub fn approximate_age_hash(&self, hash: u64) -> Option<RangeInclusive<u64>> {
        let place = self.parameters.shape.place(hash);
        match vectorized!(self.dictionary.level(), |isa| self.dictionary.find(
            isa,
            place,
            &mut Uncounted
        )) {
            Seen::No => None,
            Seen::Perhaps => {
                Some(0..=generations::reach(self.parameters.window, self.parameters.generations))
            }
            Seen::Yes(tag) => {
                let (least, most) = self.generations.age(place.bin, tag);
                Some(least..=most)
            }
        }
    }

    /// Estimated number of different keys in the window.
    pub fn distinct(&self) -> f64 {
        let past = self.dictionary.due() as f64 * self.generations.past_the_window();
        // Different elements with equal fingerprints are stored once.
        let fingerprints = self.parameters.shape.fingerprints();
        let stored = (self.dictionary.len() as f64 - past).min(fingerprints - 0.5);
        -fingerprints * (-stored / fingerprints).ln_1p()
    }

    /// Insertions since the beginning, repeats included.
    pub fn insertions(&self) -> u64 {
        self.generations.elements()
    }

    /// Bins that one insert sweeps at most, beside the one it inserts into.
    pub fn most_sweeps(&self) -> u64 {
        self.generations.most_sweeps()
    }

    /// Entries that found no room, ever. Answers stay one-sided, see [`crate::dictionary`].
    pub fn lost(&self) -> u64 {
        self.dictionary.lost()
    }

    /// Sizes of the second level, counted.
    pub fn stats(&self) -> Stats {
        self.dictionary.stats()
    }

    /// Checks every invariant.
    pub fn validate(&self) -> Result<(), Fault> {
        let due = |bin| self.generations.after(self.generations.tag_of(bin));
        self.dictionary.validate(self.parameters.generations + 1, due)
    }

    /// Uses plain Rust from now on; slower, equal in all else.
    #[doc(hidden)]
    pub fn without_vectors(self) -> Self {
        Self { dictionary: self.dictionary.without_vectors(), ..self }
    }

    /// An insert whose memory accesses are counted.
    #[doc(hidden)]
    #[inline(always)]
    pub fn insert_counted(&mut self, hash: u64, repeat: Repeat, work: &mut impl Work) -> bool {
        vectorized!(self.dictionary.level(), |isa| {
            let place = self.parameters.shape.place(hash);
            // On its way while another bin is swept.
            self.dictionary.prefetch(place);
            self.insert_place(isa, place, repeat, work)
        })
    }

    /// A lookup whose memory accesses are counted.
    #[doc(hidden)]
    #[inline(always)]
    pub fn contains_counted(&self, hash: u64, work: &mut impl Work) -> bool {
        vectorized!(self.dictionary.level(), |isa| {
            let place = self.parameters.shape.place(hash);
            self.dictionary.contains(isa, place, work)
        })
    }

    fn insert_batch(&mut self, hashes: &[u64], repeat: Repeat, new: &mut [bool]) {
        assert_eq!(hashes.len(), new.len(), "one answer per hash");
        vectorized!(self.dictionary.level(), |isa| {
            for (hashes, new) in hashes.chunks(BATCH).zip(new.chunks_mut(BATCH)) {
                let places = self.fetch(hashes);
                for (&place, new) in places.iter().zip(new) {
                    *new = self.insert_place(isa, place, repeat, &mut Uncounted);
                }
            }
        });
    }

    #[inline(always)]
    fn insert_place<I: Isa>(
        &mut self,
        isa: I,
        place: Place,
        repeat: Repeat,
        work: &mut impl Work,
    ) -> bool {
        let dictionary = &mut self.dictionary;
        self.generations.advance(|bin, expired, due| {
            dictionary.sweep(isa, bin, expired, due, work);
        });
        let now = self.generations.tag_of(place.bin);
        let tags = Tags { now, due: self.generations.after(now) };
        dictionary.insert(isa, place, tags, repeat, work) == Seen::No
    }

    /// The places of up to [`BATCH`] hashes, on their way into the cache.
    #[inline(always)]
    fn fetch(&self, hashes: &[u64]) -> [Place; BATCH] {
        let mut places = [Place { bin: 0, bucket: 0, remainder: 0 }; BATCH];
        for (place, &hash) in places.iter_mut().zip(hashes) {
            *place = self.parameters.shape.place(hash);
            self.dictionary.prefetch(*place);
        }
        places
    }
}

impl Membership for Sliding {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.insert_counted(hash, Repeat::Refresh, &mut Uncounted)
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.insert_counted(hash, Repeat::Keep, &mut Uncounted)
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        self.contains_counted(hash, &mut Uncounted)
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.dictionary.prefetch(self.parameters.shape.place(hash));
    }

    fn insert_hashes(&mut self, hashes: &[u64], _now: Time, new: &mut [bool]) {
        self.insert_batch(hashes, Repeat::Refresh, new);
    }

    fn insert_new_hashes(&mut self, hashes: &[u64], _now: Time, new: &mut [bool]) {
        self.insert_batch(hashes, Repeat::Keep, new);
    }

    fn contains_hashes(&self, hashes: &[u64], _now: Time, seen: &mut [bool]) {
        assert_eq!(hashes.len(), seen.len(), "one answer per hash");
        vectorized!(self.dictionary.level(), |isa| {
            for (hashes, seen) in hashes.chunks(BATCH).zip(seen.chunks_mut(BATCH)) {
                let places = self.fetch(hashes);
                for (&place, seen) in places.iter().zip(seen) {
                    *seen = self.dictionary.contains(isa, place, &mut Uncounted);
                }
            }
        });
    }
}

impl Filter for Sliding {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.parameters.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        self.parameters.shape.false_positive_rate(self.dictionary.len() as f64)
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.generations.elements());
        self.dictionary.write(out);
    }
}

impl Structure for Sliding {
    type Blueprint = SlidingParameters;

    const NAME: &'static str = "sliding";
    const FAMILY: u16 = 3;
    const STRENGTH: &'static str =
        "near the fewest bits possible, constant time, and it says how long ago";

    fn propose(goal: &Goal) -> Result<SlidingParameters, Unfit> {
        let Window::Last(window) = goal.window else {
            return Err(Unfit("keeps windows by count only"));
        };
        if goal.counting || goal.removing {
            return Err(Unfit("neither counts nor removes"));
        }
        let slack = match goal.slack {
            Slack::Items(slack) => Some(slack),
            Slack::Time(_) | Slack::Unlimited => None,
        };
        match goal.limit {
            Limit::Error(rate) => SlidingParameters::with_error(window, slack, rate.get()),
            Limit::Memory(memory) => SlidingParameters::with_memory(window, slack, memory.bytes()),
        }
    }

    fn read(parameters: &mut Reader<'_>, payload: &mut Reader<'_>) -> Result<Self, Error> {
        let window = parameters.u64("window")?;
        let generations = parameters.u64("generations")?;
        let bins = parameters.u64("bins")?;
        let buckets = parameters.u32("buckets")?;
        let remainder_bits = parameters.u32("remainder bits")?;
        let sheds = parameters.u64("sheds")?;
        if !(1..=LONGEST).contains(&window) {
            let expected = "from 1 to 2^40";
            return Err(Error::Field { field: "window", found: window, expected });
        }
        if !(1..1 << generations::MOST_TAG_BITS).contains(&generations) || generations > window {
            let expected = "from 1 to 255 and at most the window";
            return Err(Error::Field { field: "generations", found: generations, expected });
        }
        let tag_bits = generations::tag_bits(generations);
        let (bins, sheds) = (bins as usize, sheds as usize);
        let shape = Shape { bins, buckets, remainder_bits, tag_bits, sheds };
        if !shape.is_valid() {
            let expected = "part of a possible shape";
            return Err(Error::Field { field: "bins", found: bins as u64, expected });
        }
        let parameters = SlidingParameters { window, generations, shape };
        let clock = parameters.clock().after_elements(payload.u64("insertions")?);
        let due = |bin| clock.after(clock.tag_of(bin));
        let limit = generations + 1;
        let dictionary = Dictionary::read(shape, parameters.lifetime(), payload, limit, due)?;
        Ok(Self { parameters, generations: clock, dictionary })
    }
}
