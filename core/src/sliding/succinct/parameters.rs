//! How a sliding filter is built: the formulas from what is wanted to what is stored.

use alloc::boxed::Box;

use super::Sliding;
use super::generations::{self, Generations};
use crate::bits::Footprint;
use crate::blueprint::{Blueprint, Unfit};
use crate::codec::Reader;
use crate::dictionary::{Dictionary, Frame, MARGIN, Population, Shape};
use crate::duplicates::law::Stream;
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::promise::{Mistakes, Promise};
use crate::sliding::SweptParameters;
use crate::sliding::swept_parameters::{check_window, list_window, mistakes};

/// How a sliding filter is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
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
        Self::smallest(window, slack, rate, u64::MAX)
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

impl SweptParameters for SlidingParameters {
    type Clock = Generations;
    type Table = Dictionary;

    fn smallest(window: u64, slack: Option<u64>, rate: f64, bytes: u64) -> Result<Self, Unfit> {
        check_window(window)?;
        let mut counts = generations::choices(window, slack.unwrap_or(window)).peekable();
        if counts.peek().is_none() {
            return Err(Unfit("needs a slack of about a 255th of the window"));
        }
        let (mut best, mut most_bytes) = (None, bytes);
        for count in counts {
            let (entries, tag_bits) = (population(window, count), generations::tag_bits(count));
            if let Some(shape) = Shape::smallest_within(entries, rate, tag_bits, most_bytes) {
                best = Some(Self { window, generations: count, shape });
                most_bytes = shape.heap_bytes() - 1;
            }
        }
        best.ok_or(Unfit("cannot err so rarely over so long a window: hashes have 64 bits"))
    }

    fn reach(&self) -> u64 {
        generations::reach(self.window, self.generations)
    }

    fn fingerprints(&self) -> f64 {
        self.shape.fingerprints()
    }

    fn false_positive_rate_of(&self, _clock: &Generations, frame: &Frame) -> f64 {
        self.shape.false_positive_rate(frame.len as f64)
    }

    fn clock(&self) -> Generations {
        Generations::new(self.window, self.generations, self.shape.bins as u64)
    }

    fn table(&self) -> Dictionary {
        Dictionary::new(self.shape, self.lifetime())
    }

    fn tags(&self) -> u64 {
        self.generations + 1
    }

    fn read_table(&self, from: &mut Reader<'_>) -> Result<Dictionary, Error> {
        Dictionary::read(self.shape, self.lifetime(), from)
    }

    fn footprint(clock: &Generations, table: &Dictionary) -> Option<Footprint> {
        Some(table.footprint(clock))
    }
}

impl Parameters for SlidingParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let Self { window, generations, shape } = self;
        list_window(list, window, generations)?;
        list.add("bins", &mut shape.bins, .., "")?;
        list.add("buckets", &mut shape.buckets, .., "")?;
        list.add("remainder bits", &mut shape.remainder_bits, .., "")?;
        list.add("sheds", &mut shape.sheds, .., "")?;
        shape.tag_bits = generations::tag_bits(*generations);
        list.check(shape.is_valid(), "bins", shape.bins as u64, "part of a possible shape")
    }
}

impl Blueprint for SlidingParameters {
    fn promise(&self) -> Promise {
        Promise::remembering_last(self.window, self.slack(), self.false_positive_rate())
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        let stream = Stream::new(self.window, alphabet);
        let entries = population(self.window, self.generations).entries;
        mistakes(&stream, self.slack(), entries, self.shape.fingerprints())
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

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(Sliding::new(*self))
    }
}
