//! The parameters of the age-partitioned filter, and its formulas.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{AgePartitioned, MOST_SLICES_PER_KEY};
use crate::bits::{LINE_WORDS, Lines, size};
use crate::blueprint::Blueprint;
use crate::duplicates::law::Stream;
use crate::error::Error;
use crate::filter::Filter;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::hash::Seed;
use crate::parameters::{List, Parameters};
use crate::plan::effort;
use crate::promise::{Mistakes, Promise};
use crate::sliding::slices::{BlockShape, window_chance};
use crate::window::Window;

/// How many slices of which size, and when they move on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgePartitionedParameters {
    /// Insertions until the slices move on: g.
    pub generation: u64,
    /// Slices that a key is written to, and classes: k, from 1 to 16.
    pub slices_per_key: u32,
    /// Slices of each class, from 2 to 64: their blocks lie side by side.
    pub slices_per_class: u32,
    /// The blocks of a slice, and the bits of one that a key sets.
    pub block: BlockShape,
    /// Blocks in each slice.
    pub blocks: u64,
}

impl AgePartitionedParameters {
    /// Whole generations that are remembered: l, so many that all k + l slices are of use.
    pub fn generations(&self) -> u32 {
        self.slices_per_key * (self.slices_per_class - 1)
    }

    /// The insertions that are never forgotten: l g.
    pub fn window(&self) -> u64 {
        self.generation * u64::from(self.generations())
    }

    /// How many insertions beyond the window leave traces: k g - 1.
    pub fn slack(&self) -> u64 {
        self.generation * u64::from(self.slices_per_key) - 1
    }

    /// Chance that an unseen key is reported at the worst moment, just before the slices move on:
    /// then the slice of age i has received i + 1 generations, at most k.
    pub fn false_positive_rate(&self) -> f64 {
        effort::count();
        let k = self.slices_per_key as usize;
        let law = self.block.law();
        let chance =
            |age: usize| law.chance((age + 1) as u64 * self.generation, self.blocks as f64);
        let mut chances: Vec<f64> = (0..k).map(chance).collect();
        chances.resize(k + self.generations() as usize, chances[k - 1]);
        window_chance(k, &chances, |_| true)
    }

    /// The part of it that the last window has, all of whose slices are full.
    pub(super) fn last_window_chance(&self) -> f64 {
        let full = self.block.law().chance(self.slice_items(), self.blocks as f64);
        full.powi(self.slices_per_key as i32)
    }

    /// Keys of a full slice.
    pub(super) fn slice_items(&self) -> u64 {
        self.generation * u64::from(self.slices_per_key)
    }

    /// Bytes that one more block in each slice takes.
    pub(super) fn block_bytes(&self) -> u64 {
        8 * self.group_words() * u64::from(self.slices_per_key)
    }

    /// Words of the blocks that lie side by side.
    pub(super) fn group_words(&self) -> u64 {
        u64::from(self.slices_per_class) * u64::from(self.block.words)
    }

    pub(super) fn words(&self) -> u64 {
        let groups = self.blocks.saturating_mul(self.slices_per_key.into());
        groups.saturating_mul(self.group_words())
    }

    pub(super) fn lines(&self) -> usize {
        size(self.words().div_ceil(LINE_WORDS as u64))
    }
}

impl Parameters for AgePartitionedParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        const MOST: u32 = MOST_SLICES_PER_KEY as u32;
        list.shown("window", || self.window());
        let Self { generation, slices_per_key, slices_per_class, block, blocks } = self;
        list.add("generation", generation, 1..=Window::LONGEST, "from 1 to 2^48")?;
        list.add("slices per key", slices_per_key, 1..=MOST, "from 1 to 16")?;
        list.add("slices per class", slices_per_class, 2..=64, "from 2 to 64")?;
        list.add("bits per slice", &mut block.bits, .., "")?;
        list.add("block words", &mut block.words, .., "")?;
        list.add("blocks", blocks, 1.., "at least 1")?;
        let (bits, expected) = (block.bits.into(), "as many as one hash can choose");
        list.check(block.is_valid(), "bits per slice", bits, expected)
    }
}

impl Blueprint for AgePartitionedParameters {
    fn promise(&self) -> Promise {
        Promise::remembering_last(self.window(), self.slack(), self.false_positive_rate())
    }

    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        /// Moments of a generation that stand for all of it.
        const PHASES: u32 = 8;
        let stream = Stream::new(self.window(), alphabet);
        let (k, generation) = (self.slices_per_key as usize, self.generation as f64);
        let at = |phase: f64| {
            let received = |age: usize| (age as f64 + phase).min(k as f64) * generation;
            let chance =
                |age| self.block.chance(stream.distinct(received(age)).round() as u64, self.blocks);
            let chances: Vec<f64> = (0..k + self.generations() as usize).map(chance).collect();
            // A key is remembered until the slices have moved on so often, whatever the phase.
            let older = stream.among(phase * generation);
            older + (1.0 - older) * window_chance(k, &chances, |_| true)
        };
        let phases = (0..PHASES).map(|i| at((f64::from(i) + 0.5) / f64::from(PHASES)));
        let false_positives = phases.sum::<f64>() / f64::from(PHASES);
        Mistakes { false_positives, false_negatives: 0.0 }
    }

    fn heap_bytes(&self) -> u64 {
        Lines::heap_bytes_for(self.lines())
    }

    fn lines_touched(&self) -> f64 {
        // The blocks of one class to look, one block of each other class to write.
        let looked = (self.group_words() as f64 / LINE_WORDS as f64).max(1.0);
        looked + f64::from(self.slices_per_key - 1)
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(AgePartitioned::new(*self))
    }
}
