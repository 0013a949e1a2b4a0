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
//!
//! Only pairs with l a multiple of k can be built. The slice that is emptied has the class of the one
//! that becomes the newest only if the k + l slices go round in k classes without a rest; otherwise it
//! would have to move among the blocks of another class. With room for that in every class, a pair in
//! between takes the memory of the next multiple and remembers fewer generations. That multiple with
//! generations shorter by as much keeps the same window in the same memory, with fewer keys in
//! each slice, so fewer errors, and less slack.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::bits::{LINE_WORDS, Lines, prefetch};
use crate::blueprint::{Blueprint, Floor, Structure, Unfit};
use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::{Filter, Membership};
use crate::plan::{Goal, Limit};
use crate::sample::{LINES, sample};
use crate::sliding::slices::{Probe, window_chance};
use crate::window::{Slack, Time};

pub use parameters::AgePartitionedParameters;
use sizing::floor;
pub use sizing::{choices, with_error, with_memory};

mod parameters;
mod sizing;

/// The filter.
#[derive(Debug, Clone)]
pub struct AgePartitioned {
    parameters: AgePartitionedParameters,
    /// Class after class, group after group, the blocks of the slots.
    bits: Lines,
    /// Class of the newest slice. Each older slice has the next class, in a circle.
    newest_class: usize,
    /// Slot of the newest slice. The next older slice of a class has the next slot, in a circle.
    newest_slot: usize,
    /// Insertions since the slices last moved on; at most a generation.
    inserted: u64,
}

/// A group of blocks that belong to one key in one class.
struct BlockGroup {
    /// Word where it begins.
    at: usize,
    /// Slot of the newest slice of the class.
    slot: usize,
    probe: Probe,
}

impl AgePartitioned {
    /// An empty filter.
    pub fn new(parameters: AgePartitionedParameters) -> Self {
        let bits = Lines::new(parameters.lines());
        Self { parameters, bits, newest_class: 0, newest_slot: 0, inserted: 0 }
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
        if self.newest_class == 0 {
            self.newest_class = self.classes();
            self.newest_slot = (self.newest_slot + self.slots() - 1) % self.slots();
        }
        self.newest_class -= 1;
        let words = self.block_words();
        let from = self.group(self.newest_class, 0) + self.newest_slot * words;
        let (group, groups) = (self.parameters.group_words(), self.parameters.blocks);
        let bits = self.bits.as_mut_slice().as_flattened_mut();
        for group in bits[from..].chunks_mut(group as usize).take(groups as usize) {
            group[..words].fill(0);
        }
    }

    /// Class of the slice of this age, below k, and its slot.
    #[inline]
    fn place(&self, age: usize) -> (usize, usize) {
        let class = self.newest_class + age;
        if class < self.classes() {
            return (class, self.newest_slot);
        }
        let slot = self.newest_slot + 1;
        (class - self.classes(), if slot == self.slots() { 0 } else { slot })
    }

    /// The blocks of a hash in the class whose newest slice has this age.
    #[inline]
    fn group_of(&self, hash: u64, age: usize) -> BlockGroup {
        let (class, slot) = self.place(age);
        let probe = Probe::new(hash, class);
        let at = self.group(class, probe.one_of(self.parameters.blocks));
        BlockGroup { at, slot, probe }
    }

    /// Which slices of the class hold the key: the newest is bit 0.
    #[inline]
    fn hits(&self, group: &BlockGroup) -> u64 {
        let words = self.bits.as_slice().as_flattened();
        let words = &words[group.at..group.at + self.parameters.group_words() as usize];
        let hits = group.probe.hits(words, self.parameters.block);
        // Older slices have higher slots, but in a circle: turn it until the newest comes first.
        let beyond = self.slots() - group.slot;
        let wrapped = if group.slot == 0 { 0 } else { hits << beyond };
        (hits >> group.slot | wrapped) & (u64::MAX >> (64 - self.slots()))
    }

    #[inline]
    fn insert_into(&mut self, group: &BlockGroup) {
        let words = self.block_words();
        let at = group.at + group.slot * words;
        let bits = self.bits.as_mut_slice().as_flattened_mut();
        group.probe.set(&mut bits[at..at + words], self.parameters.block);
    }

    /// Looks, and records the key: always, or only if it is new.
    #[inline]
    fn insert(&mut self, hash: u64, refresh: bool) -> bool {
        self.move_on_if_full();
        let mut hits = [0; MOST_SLICES_PER_KEY];
        let hits = &mut hits[..self.classes()];
        for (age, hits) in hits.iter_mut().enumerate() {
            let group = self.group_of(hash, age);
            *hits = self.hits(&group);
            if refresh {
                self.insert_into(&group);
            }
        }
        let new = !some_window(hits);
        if new && !refresh {
            for age in 0..self.classes() {
                let group = self.group_of(hash, age);
                self.insert_into(&group);
            }
        }
        new
    }

    /// Word where a group begins.
    #[inline]
    fn group(&self, class: usize, block: usize) -> usize {
        (class * self.parameters.blocks as usize + block) * self.parameters.group_words() as usize
    }

    #[inline]
    fn classes(&self) -> usize {
        self.parameters.slices_per_key as usize
    }

    #[inline]
    fn slots(&self) -> usize {
        self.parameters.slices_per_class as usize
    }

    #[inline]
    fn block_words(&self) -> usize {
        self.parameters.block.words as usize
    }
}

/// Most classes, so that what was found in each fits the stack.
const MOST_SLICES_PER_KEY: usize = 16;

/// Whether all slices of some window hold the key, given which slices of each class do: bit i of
/// `hits[d]` is the slice of age `d + k i`. The window that begins at age `d + k i` has bit i of the
/// classes from `d` on, and bit i + 1 of those before.
#[inline]
fn some_window(hits: &[u64]) -> bool {
    (0..hits.len()).any(|first| {
        let (before, after) = hits.split_at(first);
        let all = |hits: &[u64]| hits.iter().fold(u64::MAX, |all, hits| all & hits);
        all(after) & (all(before) >> u32::from(first > 0)) != 0
    })
}

impl Membership for AgePartitioned {
    #[inline]
    fn insert_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.insert(hash, true)
    }

    #[inline]
    fn insert_new_hash(&mut self, hash: u64, _now: Time) -> bool {
        self.insert(hash, false)
    }

    #[inline]
    fn contains_hash(&self, hash: u64, _now: Time) -> bool {
        let mut hits = [0; MOST_SLICES_PER_KEY];
        let hits = &mut hits[..self.classes()];
        for (age, hits) in hits.iter_mut().enumerate() {
            *hits = self.hits(&self.group_of(hash, age));
            // A window needs a slice of every class: most absent keys end at the first.
            if *hits == 0 {
                return false;
            }
        }
        some_window(hits)
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        for class in 0..self.classes() {
            let block = Probe::new(hash, class).one_of(self.parameters.blocks);
            prefetch(self.bits.as_slice(), self.group(class, block) / LINE_WORDS);
        }
    }
}

impl Filter for AgePartitioned {
    fn blueprint(&self) -> &dyn Blueprint {
        &self.parameters
    }

    fn false_positive_rate(&self) -> f64 {
        let (group, words) = (self.parameters.group_words() as usize, self.block_words());
        let places = LINES / (self.classes() * self.slots());
        let chance = |age: usize| {
            let (class, slot) = self.place(age % self.classes());
            let from = (slot + age / self.classes()) % self.slots() * words;
            let bits = &self.bits.as_slice().as_flattened()[self.group(class, 0)..];
            let blocks = sample(self.parameters.blocks as usize, places);
            let block = |block: usize| &bits[block * group + from..][..words];
            self.parameters.block.chance_now(blocks.map(block))
        };
        let chances: Vec<f64> = (0..self.classes() * self.slots()).map(chance).collect();
        window_chance(self.classes(), &chances, |_| true)
    }

    fn write_payload(&self, out: &mut Writer) {
        out.u64(self.inserted);
        out.u32(self.newest_class as u32);
        out.u32(self.newest_slot as u32);
        out.words(&self.bits.as_slice().as_flattened()[..self.parameters.words() as usize]);
    }
}

impl Structure for AgePartitionedParameters {
    fn propose(goal: &Goal) -> Result<Self, Unfit> {
        let (window, slack) = window_and_slack(goal)?;
        match goal.limit {
            Limit::Error(rate) => with_error(window, rate.get(), slack),
            Limit::Memory(memory) => with_memory(window, memory.bytes(), slack),
        }
        .ok_or(Unfit("needs a slack of at least a 63rd of the window, and a word per slice"))
    }

    fn floor(goal: &Goal) -> Floor {
        match (window_and_slack(goal), goal.limit) {
            (Ok((window, slack)), Limit::Error(rate)) => floor(goal, window, rate.get(), slack),
            _ => Floor::NONE,
        }
    }

    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error> {
        let inserted = payload.u64_at_most("inserted", self.generation, "at most a generation")?;
        let newest_class = payload.u32("newest class")?;
        let newest_slot = payload.u32("newest slot")?;
        if newest_class >= self.slices_per_key {
            let (found, expected) = (newest_class.into(), "below the slices per key");
            return Err(Error::Field { field: "newest class", found, expected });
        }
        if newest_slot >= self.slices_per_class {
            let (found, expected) = (newest_slot.into(), "below the slices per class");
            return Err(Error::Field { field: "newest slot", found, expected });
        }
        let words = payload.last_words("slices", self.words())?;
        let mut filter = AgePartitioned::new(self);
        filter.bits.as_mut_slice().as_flattened_mut()[..words.len()].copy_from_slice(&words);
        let (newest_class, newest_slot) = (newest_class as usize, newest_slot as usize);
        Ok(Box::new(AgePartitioned { inserted, newest_class, newest_slot, ..filter }))
    }
}

/// Insertions to remember, and how many more may leave traces.
fn window_and_slack(goal: &Goal) -> Result<(u64, u64), Unfit> {
    let window = goal.last()?;
    goal.neither_counts_nor_removes()?;
    match goal.slack {
        Slack::Items(slack) => Ok((window, slack)),
        Slack::Time(_) => Err(Unfit("measures its slack in items")),
        Slack::Unlimited => Ok((window, u64::MAX)),
    }
}

#[cfg(test)]
mod tests;
