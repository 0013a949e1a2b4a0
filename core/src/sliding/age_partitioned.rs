//! Slices by age over the last n insertions: a window with little slack, a line per hash function.
//!
//! Every key is written to the k newest of k + l slices. After g insertions, a *generation*, the
//! oldest slice is emptied and becomes the newest. A key is reported if k neighbouring slices hold
//! it. With k = 1, l = 3, g = 1 and the stream `a b c d e`, each slice holds one key; when `e`
//! arrives, the slice of `a` is emptied for it, and `b`, at distance 3, is still known.
//!
//! The age-partitioned Bloom filter of Shtul, Baquero and Almeida, as told in section 5 of
//! Rodrigues, Shtul, Baquero, Almeida: *Time-limited Bloom Filter*. An insertion survives l
//! rotations and no more, so l g insertions are remembered (not (l+1) g, as often written), and its
//! last traces go with rotation k + l: until then a forgotten key is reported more often than an
//! unseen one, which the slack says.
//!
//! We changed two things. A key sets b bits of one small block in each slice instead of one bit
//! anywhere (see [`slices`](super::slices)). And the slices of one class lie interleaved, block by
//! block: the blocks that a key has in them are neighbours, as a rule in one cache line. So an
//! absent key is dismissed after about one line, and an insertion touches k of them. What is not
//! guaranteed: a bounded worst case. Every g-th insertion empties a slice, in time linear in g.

use crate::bits::{LINE_WORDS, Lines, prefetch};
use crate::blueprint::{Blueprint, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Filter, Membership, Promise};
use crate::hash::Seed;
use crate::plan::{Goal, Limit};
use crate::sliding::slices::{BlockShape, Probe, find_window, window_chance};
use crate::window::{Slack, Time, Window};

pub use sizing::{choices, with_memory};

mod sizing;

/// How many slices of which size, and when they move on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgePartitionedParameters {
    /// Insertions until the slices move on: g.
    pub generation: u64,
    /// Slices that a key is written to: k, from 1 to 32.
    pub slices_per_key: u32,
    /// Whole generations that are remembered: l, from 1 on.
    pub generations: u32,
    /// The blocks of a slice, and the bits of one that a key sets.
    pub block: BlockShape,
    /// Blocks in each slice.
    pub blocks: u64,
}

impl AgePartitionedParameters {
    /// The insertions that are never forgotten: l g.
    pub fn window(&self) -> u64 {
        self.generation * u64::from(self.generations)
    }

    /// How many insertions beyond the window leave traces: k g - 1.
    pub fn slack(&self) -> u64 {
        self.generation * u64::from(self.slices_per_key) - 1
    }

    /// Chance that an unseen key is reported at the worst moment, just before the slices move on:
    /// then the slice of age i has received i + 1 generations, at most k.
    pub fn false_positive_rate(&self) -> f64 {
        let k = self.slices_per_key as usize;
        let chance =
            |age: usize| self.block.chance((age + 1) as u64 * self.generation, self.blocks);
        let mut chances: Vec<f64> = (0..k).map(chance).collect();
        chances.resize(k + self.generations as usize, chances[k - 1]);
        window_chance(k, &chances, |_| true)
    }

    /// Slices of one class, whose blocks lie side by side. If k does not divide l, some are unused.
    fn slots(&self) -> u64 {
        u64::from((self.slices_per_key + self.generations).div_ceil(self.slices_per_key))
    }

    /// Words of the blocks that lie side by side.
    fn group_words(&self) -> u64 {
        self.slots() * u64::from(self.block.words)
    }

    fn words(&self) -> u64 {
        let groups = self.blocks.saturating_mul(self.slices_per_key.into());
        groups.saturating_mul(self.group_words())
    }

    fn lines(&self) -> usize {
        self.words().div_ceil(LINE_WORDS as u64) as usize
    }
}

impl Blueprint for AgePartitionedParameters {
    fn structure(&self) -> &'static str {
        AgePartitioned::NAME
    }

    fn promise(&self) -> Promise {
        Promise {
            window: Window::Last(self.window()),
            slack: Slack::Items(self.slack()),
            false_positives: self.false_positive_rate(),
            false_negatives: 0.0,
        }
    }

    fn heap_bytes(&self) -> u64 {
        Lines::heap_bytes_for(self.lines())
    }

    fn lines_touched(&self) -> f64 {
        // The blocks of one class to look, one block of each other class to write.
        let looked = (self.group_words() as f64 / LINE_WORDS as f64).max(1.0);
        looked + f64::from(self.slices_per_key - 1)
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        vec![
            ("generation", self.generation.to_string()),
            ("slices per key", self.slices_per_key.to_string()),
            ("generations", self.generations.to_string()),
            ("bits per slice", self.block.bits.to_string()),
            ("block words", self.block.words.to_string()),
            ("blocks", self.blocks.to_string()),
        ]
    }

    fn write_parameters(&self, out: &mut Writer) {
        out.u64(self.generation);
        out.u32(self.slices_per_key);
        out.u32(self.generations);
        out.u32(self.block.bits);
        out.u32(self.block.words);
        out.u64(self.blocks);
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(AgePartitioned::new(*self))
    }
}

/// The filter.
#[derive(Debug, Clone)]
pub struct AgePartitioned {
    parameters: AgePartitionedParameters,
    /// Class after class, group after group, the blocks of the slots.
    bits: Lines,
    /// Number of the newest slice, from `slots * k` up to but not including twice that. Number
    /// modulo k is the class of a slice, number over k its slot.
    newest: u32,
    /// Insertions since the slices last moved on; at most a generation.
    inserted: u64,
}

impl AgePartitioned {
    /// An empty filter.
    pub fn new(parameters: AgePartitionedParameters) -> Self {
        let bits = Lines::new(parameters.lines());
        let mut filter = Self { parameters, bits, newest: 0, inserted: 0 };
        filter.newest = filter.numbers();
        filter
    }

    /// Numbers after which classes and slots repeat.
    fn numbers(&self) -> u32 {
        self.parameters.slots() as u32 * self.parameters.slices_per_key
    }

    #[inline]
    fn move_on_if_full(&mut self) {
        if self.inserted == self.parameters.generation {
            self.move_on();
        }
        self.inserted += 1;
    }

    #[cold]
    fn move_on(&mut self) {
        self.inserted = 0;
        self.newest += 1;
        if self.newest == 2 * self.numbers() {
            self.newest = self.numbers();
        }
        let (class, slot) = self.place(0);
        let (from, words) = (self.group(class, 0) + self.block(slot), self.block_words());
        let (group, blocks) = (self.parameters.group_words() as usize, self.parameters.blocks);
        let bits = self.bits.as_mut_slice().as_flattened_mut();
        for blocks in bits[from..].chunks_mut(group).take(blocks as usize) {
            blocks[..words].fill(0);
        }
    }

    /// Class and slot of the slice of this age.
    #[inline]
    fn place(&self, age: usize) -> (usize, usize) {
        let k = self.parameters.slices_per_key;
        let number = self.newest - age as u32;
        let round = number / k;
        let slots = self.parameters.slots() as u32;
        ((number - round * k) as usize, (round % slots) as usize)
    }

    /// Word where the group of a key's blocks in a class begins.
    #[inline]
    fn group(&self, class: usize, block: usize) -> usize {
        (class * self.parameters.blocks as usize + block) * self.parameters.group_words() as usize
    }

    /// Word of a group where the block of a slot begins.
    #[inline]
    fn block(&self, slot: usize) -> usize {
        slot * self.block_words()
    }

    #[inline]
    fn block_words(&self) -> usize {
        self.parameters.block.words as usize
    }

    #[inline]
    fn contains(&self, hash: u64) -> bool {
        let k = self.parameters.slices_per_key as usize;
        let windows = 1 + self.parameters.generations as usize;
        let words = self.bits.as_slice().as_flattened();
        find_window(
            k,
            windows,
            |_| true,
            |age| {
                let (class, slot) = self.place(age);
                let probe = Probe::new(hash, class);
                let at = self.group(class, probe.block(self.parameters.blocks)) + self.block(slot);
                probe.is_in(&words[at..at + self.block_words()], self.parameters.block)
            },
        )
    }

    #[inline]
    fn insert(&mut self, hash: u64) {
        for age in 0..self.parameters.slices_per_key as usize {
            let (class, slot) = self.place(age);
            let probe = Probe::new(hash, class);
            let at = self.group(class, probe.block(self.parameters.blocks)) + self.block(slot);
            let end = at + self.block_words();
            let words = self.bits.as_mut_slice().as_flattened_mut();
            probe.set_in(&mut words[at..end], self.parameters.block);
        }
    }
}

impl Membership for AgePartitioned {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.move_on_if_full();
        let seen = self.contains(hash);
        self.insert(hash);
        !seen
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.move_on_if_full();
        let seen = self.contains(hash);
        if !seen {
            self.insert(hash);
        }
        !seen
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        self.contains(hash)
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        for class in 0..self.parameters.slices_per_key as usize {
            let block = Probe::new(hash, class).block(self.parameters.blocks);
            prefetch(self.bits.as_slice(), self.group(class, block) / LINE_WORDS);
        }
    }
}

impl Filter for AgePartitioned {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn heap_bytes(&self) -> u64 {
        self.parameters.heap_bytes()
    }

    fn false_positive_rate(&self) -> f64 {
        let k = self.parameters.slices_per_key as usize;
        let (group, words) = (self.parameters.group_words() as usize, self.block_words());
        let chance = |age| {
            let (class, slot) = self.place(age);
            let bits = &self.bits.as_slice().as_flattened()[self.group(class, 0)..];
            let blocks = bits.chunks(group).take(self.parameters.blocks as usize);
            let from = self.block(slot);
            self.parameters.block.chance_now(blocks.map(|group| &group[from..from + words]))
        };
        let slices = k + self.parameters.generations as usize;
        let chances: Vec<f64> = (0..slices).map(chance).collect();
        window_chance(k, &chances, |_| true)
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.inserted);
        out.u32(self.newest);
        out.words(&self.bits.as_slice().as_flattened()[..self.parameters.words() as usize]);
    }
}

impl Structure for AgePartitioned {
    type Blueprint = AgePartitionedParameters;

    const NAME: &'static str = "age-partitioned";
    const FAMILY: u16 = 10;
    const STRENGTH: &'static str =
        "dismisses an absent key after about one cache line, with a slack shorter than the window";

    fn propose(goal: &Goal) -> Result<AgePartitionedParameters, Unfit> {
        let Window::Last(window) = goal.window else {
            return Err(Unfit("keeps windows by count only"));
        };
        if goal.counting || goal.removing {
            return Err(Unfit("neither counts nor removes"));
        }
        let slack = match goal.slack {
            Slack::Items(slack) => slack,
            Slack::Time(_) => return Err(Unfit("measures its slack in items")),
            Slack::Unlimited => u64::MAX,
        };
        match goal.limit {
            Limit::Error(rate) => choices(window, rate.get(), slack).pick(),
            Limit::Memory(memory) => with_memory(window, memory.bytes(), slack),
        }
        .ok_or(Unfit("needs more slack, or more memory"))
    }

    fn read(parameters: &mut Reader<'_>, payload: &mut Reader<'_>) -> Result<Self, Error> {
        let parameters = read_parameters(parameters)?;
        let most = parameters.generation;
        let inserted = payload.u64_at_most("inserted", most, "at most a generation")?;
        let newest = payload.u32("newest slice")?;
        let words = payload.last_words("slices", parameters.words())?;
        let mut filter = Self::new(parameters);
        if !(filter.numbers()..2 * filter.numbers()).contains(&newest) {
            let expected = "in the second round of slices";
            return Err(Error::Field { field: "newest slice", found: newest.into(), expected });
        }
        filter.bits.as_mut_slice().as_flattened_mut()[..words.len()].copy_from_slice(&words);
        Ok(Self { inserted, newest, ..filter })
    }
}

fn read_parameters(reader: &mut Reader<'_>) -> Result<AgePartitionedParameters, Error> {
    let generation = reader.u64("generation")?;
    let slices_per_key = reader.u32("slices per key")?;
    let generations = reader.u32("generations")?;
    let block =
        BlockShape { bits: reader.u32("bits per slice")?, words: reader.u32("block words")? };
    let blocks = reader.u64("blocks")?;
    let refuse = |field, found, expected| Err(Error::Field { field, found, expected });
    if !(1..=32).contains(&slices_per_key) {
        return refuse("slices per key", slices_per_key.into(), "from 1 to 32");
    }
    if !(1..=sizing::MOST_GENERATIONS).contains(&generations) {
        return refuse("generations", generations.into(), "from 1 to 65536");
    }
    if !(1..=Window::LONGEST).contains(&generation) {
        return refuse("generation", generation, "from 1 to 2^48");
    }
    if !block.is_valid() {
        return refuse("bits per slice", block.bits.into(), "as many as one hash can choose");
    }
    if blocks == 0 {
        return refuse("blocks", blocks, "at least 1");
    }
    Ok(AgePartitionedParameters { generation, slices_per_key, generations, block, blocks })
}

#[cfg(test)]
mod tests;
