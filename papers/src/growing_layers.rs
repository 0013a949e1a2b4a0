//! Filters of doubling size, each with a smaller share of the error: the simple way to grow.
//!
//! Layer i takes 64·2^i keys and may err with chance ε_i = 6ε / (π²(i + 1)²); these add up to ε
//! however many layers there will be. Keys go to the last layer, and all layers are asked. With
//! ε = 1%: 64 keys at 0.61%, the next 128 at 0.15%, the next 256 at 0.07%, and so on.
//!
//! Construction 1 of Pagh, Segev and Wieder (section 4), over split-block Bloom filters. What is not
//! guaranteed: constant time. A lookup touches a cache line for every doubling so far, and the
//! insertion that begins a layer allocates as much as all others together. It is here as the
//! measure for the others.

use std::f64::consts::PI;

use lately::Error;
use lately::ErrorRate;
use lately::Promise;
use lately::Seed;
use lately::bits::size;
use lately::catalog::Row;
use lately::growing::UNKNOWN_ITEMS;
use lately::plan::Goal;
use lately::raw::codec::{Reader, Writer};
use lately::raw::{Blueprint, Floor, Structure, Unfit};
use lately::raw::{Filter, Membership};
use lately::raw::{List, Parameters};
use lately::split_block::{self, BLOCK_BITS, SplitBlock};
use lately::{Slack, Time, Window};

/// Keys of the first layer.
const FIRST: u64 = 64;

/// Most layers: more keys than that no machine holds.
const MOST_LAYERS: usize = 40;

/// Items that are expected at least, whoever says otherwise: a stack is the smallest for a few hundred, and
/// takes several times as much as others if more come after all.
const FEWEST_ITEMS: u64 = 10_000;

/// How rarely a filter of layers errs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GrowingLayersParameters {
    /// Chance that an unseen key is reported, all layers together.
    pub false_positive_rate: ErrorRate,
    /// Items that are expected. A hint for plans; layers do not look at it.
    pub expected_items: u64,
}

impl GrowingLayersParameters {
    /// Keys that a layer takes.
    pub fn capacity(layer: usize) -> u64 {
        FIRST << layer
    }

    /// The share of the error of a layer (section 4).
    pub fn rate_of_layer(&self, layer: usize) -> f64 {
        let number = (layer + 1) as f64;
        6.0 * self.false_positive_rate.get() / (PI * number).powi(2)
    }

    /// Blocks of a layer.
    pub fn blocks(&self, layer: usize) -> u64 {
        split_block::blocks_for(Self::capacity(layer), self.rate_of_layer(layer))
    }

    /// Bytes on the heap when the expected items are stored, if layers have the blocks that are told
    /// for their keys and their share of the error.
    fn bytes_of(&self, blocks: fn(u64, f64) -> u64) -> u64 {
        let blocks = |layer| blocks(Self::capacity(layer), self.rate_of_layer(layer));
        (0..Self::layers(self.expected_items)).map(|layer| layer_bytes(blocks(layer))).sum()
    }

    /// Layers when so many items are stored.
    fn layers(items: u64) -> usize {
        (1..MOST_LAYERS).find(|&layers| items <= FIRST * ((1 << layers) - 1)).unwrap_or(MOST_LAYERS)
    }
}

impl Parameters for GrowingLayersParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        list.add("false positives", &mut self.false_positive_rate, .., "")?;
        list.add("expected items", &mut self.expected_items, .., "")
    }

    fn rows() -> &'static [Row] {
        crate::ROWS
    }
}

impl Blueprint for GrowingLayersParameters {
    fn promise(&self) -> Promise {
        Promise::remembering(Window::Ever, Slack::Unlimited, self.false_positive_rate.get())
    }

    fn heap_bytes(&self) -> u64 {
        self.bytes_of(split_block::blocks_for)
    }

    fn adapts(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        Self::layers(self.expected_items) as f64
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(GrowingLayers::new(*self))
    }
}

/// Bytes on the heap for a layer.
fn layer_bytes(blocks: u64) -> u64 {
    SplitBlock::heap_bytes_for(size(blocks)) + size_of::<SplitBlock>() as u64
}

/// Bloom filters of doubling size.
#[derive(Debug, Clone)]
pub struct GrowingLayers {
    parameters: GrowingLayersParameters,
    /// The layers, the first one first; at least one.
    layers: Vec<SplitBlock>,
    /// Keys of the last layer; at most its capacity.
    inserted: u64,
}

impl GrowingLayers {
    /// An empty filter.
    pub fn new(parameters: GrowingLayersParameters) -> Self {
        let mut filter = Self { parameters, layers: Vec::new(), inserted: 0 };
        filter.add_layer();
        filter
    }

    fn add_layer(&mut self) {
        let blocks = self.parameters.blocks(self.layers.len());
        self.layers.reserve_exact(1);
        self.layers.push(SplitBlock::new(size(blocks)));
        self.inserted = 0;
    }
}

impl Membership for GrowingLayers {
    fn insert_hash(&mut self, hash: u64, now: Time) -> bool {
        if self.contains_hash(hash, now) {
            return false;
        }
        let last = self.layers.len() - 1;
        if self.inserted == GrowingLayersParameters::capacity(last) && last + 1 < MOST_LAYERS {
            self.add_layer();
        }
        if let Some(layer) = self.layers.last_mut() {
            let place = layer.place(hash);
            layer.insert(&place);
            self.inserted += 1;
        }
        true
    }

    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        self.insert_hash(hash, now)
    }

    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        // Most keys are in the last layers.
        self.layers.iter().rev().any(|layer| layer.contains(&layer.place(hash)))
    }

    fn prefetch_hash(&self, hash: u64) {
        for layer in &self.layers {
            layer.prefetch(hash);
        }
    }
}

impl Filter for GrowingLayers {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.layers.iter().map(|layer| layer_bytes(layer.blocks() as u64)).sum()
    }

    fn false_positive_rate(&self) -> f64 {
        let none = self.layers.iter().map(|layer| 1.0 - layer.false_positive_rate());
        1.0 - none.product::<f64>()
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.inserted);
        out.u8(self.layers.len() as u8);
        for layer in &self.layers {
            out.u64(layer.blocks() as u64);
            out.words(layer.as_words());
        }
    }
}

impl Structure for GrowingLayersParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        goal.ever()?;
        goal.neither_counts_nor_removes()?;
        let false_positive_rate = goal.rate()?;
        let expected_items = goal.expected_items.unwrap_or(UNKNOWN_ITEMS).max(FEWEST_ITEMS);
        Ok(Self { false_positive_rate, expected_items })
    }

    fn floor(goal: &Goal) -> Floor {
        let least = |parameters: Self| {
            let bytes = parameters.bytes_of(split_block::blocks_at_least);
            Floor::of(goal, [(bytes, parameters.lines_touched())])
        };
        Self::propose(goal).map_or(Floor::ENDLESS, least)
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let inserted = payload.u64("inserted")?;
        let count = usize::from(payload.u8("layers")?);
        if !(1..=MOST_LAYERS).contains(&count) {
            let expected = "from 1 to 40";
            return Err(Error::Field { field: "layers", found: count as u64, expected });
        }
        if inserted > Self::capacity(count - 1) {
            let expected = "at most the capacity of the last layer";
            return Err(Error::Field { field: "inserted", found: inserted, expected });
        }
        let mut layers = Vec::with_capacity(count);
        for _ in 0..count {
            let blocks = payload.u64("blocks")?;
            if blocks == 0 {
                let expected = "at least 1";
                return Err(Error::Field { field: "blocks", found: blocks, expected });
            }
            let words = payload.words("layer", blocks.saturating_mul(BLOCK_BITS / 64))?;
            layers.push(SplitBlock::from_words(&words));
        }
        Ok(Box::new(GrowingLayers { parameters: self, layers, inserted }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_all_layers_are_the_whole() {
        let parameters = GrowingLayersParameters {
            false_positive_rate: ErrorRate::new(0.01).unwrap(),
            expected_items: 1,
        };
        let sum: f64 = (0..MOST_LAYERS).map(|layer| parameters.rate_of_layer(layer)).sum();
        assert!(sum < 0.01 && sum > 0.0098, "{sum}");
        assert_eq!(GrowingLayersParameters::layers(64), 1);
        assert_eq!(GrowingLayersParameters::layers(65), 2);
    }
}
