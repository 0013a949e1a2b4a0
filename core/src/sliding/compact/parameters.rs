//! How a compact sliding filter is built: the formulas from what is wanted to what is stored.

use alloc::boxed::Box;

use super::SlidingCompact;
use super::clock::{Division, SweepClock};
use super::shape::Shape;
use super::store::Blocks;
use crate::blueprint::{Blueprint, Unfit};
use crate::codec::Reader;
use crate::dictionary::{Frame, MARGIN};
use crate::duplicates::law::Stream;
use crate::error::Error;
use crate::filter::Filter;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::promise::{Mistakes, Promise};
use crate::sliding::SweptParameters;
use crate::sliding::swept::in_window;
use crate::sliding::swept_parameters::{check_window, list_window, mistakes};
use crate::window::{Slack, Window};

/// How a compact sliding filter is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SlidingCompactParameters {
    /// Insertions that are certainly remembered.
    pub window: u64,
    /// Generations per window, the paper's c. The table is swept so often.
    pub generations: u64,
    /// Dimensions of the blocks.
    pub shape: Shape,
}

impl SlidingCompactParameters {
    /// The smallest filter that keeps a rate, and a slack if one is given.
    pub fn with_error(window: u64, slack: Option<u64>, rate: f64) -> Result<Self, Unfit> {
        Self::smallest(window, slack, rate, u64::MAX)
    }

    /// How the window is cut.
    pub fn division(&self) -> Division {
        Division { count: self.generations, fine_bits: self.shape.fine_bits }
    }

    /// Insertions beyond the window that may still be reported.
    pub fn slack(&self) -> u64 {
        self.division().reach(self.window) - self.window
    }

    /// Chance to report a key that is older or was never seen, when all keys of the window differ.
    pub fn false_positive_rate(&self) -> f64 {
        let (_, alive) = population(self.window, self.division());
        (self.shape.false_positive_rate(alive) / MARGIN).min(1.0)
    }

    /// Bytes on the heap, from the first insertion to the last.
    pub fn heap_bytes(&self) -> u64 {
        self.shape.heap_bytes()
    }

    /// Part of the slots in use, on average, when all keys differ.
    pub fn load(&self) -> f64 {
        population(self.window, self.division()).0 / (64.0 * self.shape.homes as f64)
    }

    fn try_clock(&self) -> Option<SweepClock> {
        SweepClock::new(self.window, self.division(), &self.shape)
    }

    /// Ends of passes that an entry lives to see at most.
    fn lifetime(&self) -> u16 {
        self.generations as u16 + 2
    }
}

/// Entries stored when all keys differ: the window, and half a generation more; and those of them that
/// lookups take for members.
fn population(window: u64, division: Division) -> (f64, f64) {
    let pass = division.pass(window);
    let count = division.count as f64;
    // The sweep goes by whole homes: up to half a home's share of a generation more.
    let uneven = (32.0 / count + 1.0).min(pass / 2.0);
    let stored = pass * count + pass / 2.0 + uneven;
    match division.fine_bits {
        0 => (stored, stored),
        fine => (stored, pass * count + pass / f64::from(fine).exp2() / 2.0 + 1.0),
    }
}

impl SweptParameters for SlidingCompactParameters {
    type Clock = SweepClock;
    type Table = Blocks;

    fn smallest(window: u64, slack: Option<u64>, rate: f64, bytes: u64) -> Result<Self, Unfit> {
        check_window(window)?;
        let plans = Division::choices(window, slack.unwrap_or(window)).filter_map(|division| {
            let (tag_bits, fine_bits) = (division.tag_bits(), division.fine_bits);
            let (entries, alive) = population(window, division);
            let shape = Shape::smallest(entries, alive, rate, tag_bits, fine_bits)?;
            SweepClock::new(window, division, &shape)?;
            Some(Self { window, generations: division.count, shape })
        });
        plans
            .min_by_key(Self::heap_bytes)
            .filter(|smallest| smallest.heap_bytes() <= bytes)
            .ok_or(Unfit("cannot err so rarely over so long a window: hashes have 64 bits"))
    }

    fn reach(&self) -> u64 {
        self.division().reach(self.window)
    }

    fn fingerprints(&self) -> f64 {
        self.shape.fingerprints()
    }

    fn false_positive_rate_of(&self, clock: &SweepClock, frame: &Frame) -> f64 {
        let stored = match self.shape.fine_bits {
            0 => frame.len as f64,
            _ => in_window(clock, frame),
        };
        self.shape.false_positive_rate(stored)
    }

    fn clock(&self) -> SweepClock {
        self.try_clock().expect("parameters are checked when they are made")
    }

    fn table(&self) -> Blocks {
        Blocks::new(self.shape, self.lifetime())
    }

    fn tags(&self) -> u64 {
        self.division().tags()
    }

    fn read_table(&self, from: &mut Reader<'_>) -> Result<Blocks, Error> {
        Blocks::read(self.shape, self.lifetime(), from)
    }
}

impl Parameters for SlidingCompactParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let Self { window, generations, shape } = self;
        list_window(list, window, generations)?;
        let most = Division::MOST_FINE_BITS;
        list.add("fine bits", &mut shape.fine_bits, 0..=most, "from 0 to 24")?;
        list.add("blocks", &mut shape.homes, .., "")?;
        list.add("buckets", &mut shape.buckets, .., "")?;
        list.add("remainder bits", &mut shape.remainder_bits, .., "")?;
        let homes = shape.homes as u64;
        self.shape.tag_bits = self.division().tag_bits();
        let possible = self.shape.is_valid() && self.try_clock().is_some();
        list.check(possible, "blocks", homes, "part of a possible shape")
    }
}

impl Blueprint for SlidingCompactParameters {
    fn promise(&self) -> Promise {
        Promise {
            window: Window::Last(self.window),
            slack: Slack::Items(self.slack()),
            false_positives: self.false_positive_rate(),
            false_negatives: 0.0,
        }
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        let stream = Stream::new(self.window, alphabet);
        let (_, alive) = population(self.window, self.division());
        mistakes(&stream, self.slack(), alive, self.shape.fingerprints())
    }

    fn heap_bytes(&self) -> u64 {
        self.shape.heap_bytes()
    }

    fn is_lean(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        /// Measured: blocks that give way for an insertion, times the square of the free part.
        const GIVING_WAY: f64 = 0.0064;
        let sweeps = self.shape.homes as f64 / self.division().pass(self.window);
        let free = (1.0 - self.load()).max(0.02);
        let blocks = 1.0 + sweeps + GIVING_WAY / (free * free);
        blocks * (self.shape.block_bytes() as f64 / 64.0 + 0.5)
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(SlidingCompact::new(*self))
    }
}
