//! What tables of small cells have in common, whether they stand alone or in a queue.
//!
//! A [`Detector`] is only a rule: how a hash reads and changes cells. The cells themselves are one
//! array of small integers, of which a detector standing alone ([`Alone`]) uses all, and a
//! [`Queuing`](super::Queuing) gives each of its subfilters a part. So a queue of ten filters costs
//! no more overhead than one.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::law::{Crowd, Stream};
use super::random::Random;
use crate::bits::{Packed, size};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::catalog::Row;
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Filter, Membership};
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::Goal;
use crate::promise::{Mistakes, Promise};
use crate::sample::PLACES;
use crate::window::{Slack, Time, Window};

/// A rule by which hashes read and change a range of cells: a filter that may stand in a queue.
pub trait Subfilter: Parameters + Copy + Debug + PartialEq + Send + Sync {
    /// Whether it may forget what was inserted.
    const FORGETS: bool = true;

    /// The parameters that err least within `bits`, on the stream, when `turn` keys are inserted
    /// before the filter is emptied; `None` if there is too little room. `near` are those of a queue of
    /// about as many filters, from which the search may begin.
    fn best_in_queue(bits: u64, turn: f64, stream: Stream, near: Option<&Self>) -> Option<Self>;

    /// How many cells it needs.
    fn cells(&self) -> u64;

    /// Bits per cell.
    fn cell_bits(&self) -> u32;

    /// Whether the hash seems to be recorded in the cells from `base` on.
    fn contains(&self, cells: &Packed, base: usize, hash: u64) -> bool;

    /// Records the hash in the cells from `base` on, and says whether it seemed to be there before.
    fn insert(&self, cells: &mut Packed, base: usize, hash: u64, random: &mut Random) -> bool;

    /// Errors after `n` keys were inserted into an empty filter: of keys not among them, and of
    /// keys whose latest copy is among the `last` of them, when their cells are crowded like this.
    fn after(&self, n: f64, last: f64, stream: Stream, crowd: Crowd) -> Mistakes;

    /// The crowds that keys meet, with their weights.
    fn crowds(&self, _stream: Stream) -> Vec<(f64, Crowd)> {
        vec![(1.0, Crowd::AVERAGE)]
    }

    /// The chance that a key never seen is reported, from the content of at most so many places.
    fn estimate(&self, cells: &Packed, base: usize, places: usize) -> f64;

    /// Cache lines that an operation touches.
    fn lines_touched(&self) -> f64;

    /// Index of a cell that an operation on this hash reads first.
    fn first_cell(&self, hash: u64) -> usize;
}

/// A filter that makes room by itself, so that it may also stand alone.
pub trait Detector: Subfilter {
    /// The parameters that err least within `bits` on the stream; `None` if there is too little
    /// room.
    fn best(bits: u64, stream: Stream) -> Option<Self>;

    /// Errors in the long run.
    fn in_the_long_run(&self, stream: Stream) -> Mistakes;

    /// Lets a repeat pass by without recording it again.
    fn pass(&self, _cells: &mut Packed, _random: &mut Random) {}
}

/// What is promised of a structure that may forget: shares in the long run, of which none is so
/// small that no law here could vouch for it.
pub fn promise_of_long_run(window: u64, slack: Slack, expected: Mistakes) -> Promise {
    const LEAST: f64 = 1e-9;
    Promise {
        window: Window::Last(window),
        slack,
        false_positives: expected.false_positives.max(LEAST),
        false_negatives: expected.false_negatives.max(LEAST),
    }
}

/// Bits of the whole words that an array of cells may use, one of them taken off to spare.
pub fn payload_bits(bytes: u64) -> u64 {
    (bytes / 8).saturating_sub(1).saturating_mul(64)
}

/// A window and a memory, for structures that choose their parameters by them.
pub fn window_and_memory(goal: &Goal) -> Result<(u64, u64), Unfit> {
    /// Below an eighth of a bit per item every detector answers almost at random, and the laws
    /// would only cost time.
    const MOST_ITEMS_PER_BIT: u64 = 8;
    let window = goal.last()?;
    goal.neither_counts_nor_removes()?;
    let memory = goal.memory()?;
    if window / MOST_ITEMS_PER_BIT > memory.bits() {
        return Err(Unfit("needs at least an eighth of a bit per item"));
    }
    Ok((window, memory.bytes()))
}

/// Reads `len` cells of `width` bits that are all that is left of the payload.
pub fn read_cells(payload: &mut Reader<'_>, width: u32, len: Option<u64>) -> Result<Packed, Error> {
    let bits = len.and_then(|len| len.checked_mul(width.into()));
    let words = bits.map_or(u64::MAX, |bits| bits.div_ceil(64));
    let words = payload.last_words("cells", words)?;
    Packed::from_words(width, size(len.unwrap_or(u64::MAX)), words).ok_or(Error::Field {
        field: "cells",
        found: u64::MAX,
        expected: "zero beyond the last cell",
    })
}

/// A detector, and the window over which its errors are predicted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AloneParameters<D> {
    /// The window. The detector does not depend on it, only what is promised of it.
    pub window: u64,
    /// The detector's own parameters.
    pub detector: D,
}

impl<D: Detector> AloneParameters<D> {
    /// The parameters that err least within `bytes`; `None` if they are too few.
    pub fn with_memory(window: u64, alphabet: Option<u64>, bytes: u64) -> Option<Self> {
        let detector = D::best(payload_bits(bytes), Stream::new(window, alphabet))?;
        Some(Self { window, detector })
    }
}

impl<D: Detector> Parameters for AloneParameters<D> {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.window(&mut self.window)?;
        self.detector.list(list)
    }

    fn rows() -> &'static [Row] {
        D::rows()
    }
}

impl<D: Detector> Blueprint for AloneParameters<D> {
    fn promise(&self) -> Promise {
        promise_of_long_run(self.window, Slack::Unlimited, self.expected_mistakes(None))
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        self.detector.in_the_long_run(Stream::new(self.window, alphabet))
    }

    fn heap_bytes(&self) -> u64 {
        Packed::heap_bytes_for(self.detector.cell_bits(), size(self.detector.cells()))
    }

    fn lines_touched(&self) -> f64 {
        self.detector.lines_touched()
    }

    fn allocate(&self, seed: Seed) -> Box<dyn Filter> {
        Box::new(Alone::new(*self, seed))
    }
}

/// A detector with all the cells to itself.
#[derive(Debug, Clone)]
pub struct Alone<D> {
    parameters: AloneParameters<D>,
    cells: Packed,
    random: Random,
}

impl<D: Detector> Alone<D> {
    /// An empty detector; `seed` drives its random choices.
    pub fn new(parameters: AloneParameters<D>, seed: Seed) -> Self {
        let detector = &parameters.detector;
        let cells = Packed::new(detector.cell_bits(), size(detector.cells()));
        Self { parameters, cells, random: Random::new(seed) }
    }
}

impl<D: Detector> Membership for Alone<D> {
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        !self.parameters.detector.insert(&mut self.cells, 0, hash, &mut self.random)
    }

    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        if self.contains_hash(hash, now) {
            self.parameters.detector.pass(&mut self.cells, &mut self.random);
            return false;
        }
        self.insert_hash(hash, now)
    }

    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        self.parameters.detector.contains(&self.cells, 0, hash)
    }

    fn prefetch_hash(&self, hash: u64) {
        self.cells.prefetch(self.parameters.detector.first_cell(hash));
    }
}

impl<D: Detector> Filter for Alone<D> {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn false_positive_rate(&self) -> f64 {
        self.parameters.detector.estimate(&self.cells, 0, PLACES)
    }

    fn write_payload(&self, out: &mut Writer) {
        self.random.write(out);
        out.words(self.cells.as_words());
    }
}

impl<D: Detector> Structure for AloneParameters<D> {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let (window, bytes) = window_and_memory(goal)?;
        if goal.slack != Slack::Unlimited {
            return Err(Unfit("does not limit how long it reports a key"));
        }
        Self::with_memory(window, goal.alphabet, bytes)
            .ok_or(Unfit("needs more memory for a single cell"))
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let random = Random::read(payload)?;
        let cells = read_cells(payload, self.detector.cell_bits(), Some(self.detector.cells()))?;
        Ok(Box::new(Alone { parameters: self, cells, random }))
    }
}
