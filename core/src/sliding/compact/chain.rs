//! What moves when a block is full, and what happens when nothing can.
//!
//! An entry may be the last straw for a long row of full blocks: each gives its last entry to the next,
//! up to the first with a free slot. The row is measured before anything moves. If it is longer than
//! [`REACH`], or a block would have more guests than a byte counts, the entry is *lost*: it is counted, and
//! the region of its home, a 64th of all, answers [`Seen::Perhaps`](crate::dictionary::Seen::Perhaps)
//! until the entry would have expired. So nothing is denied that was inserted. Random hashes never come
//! to this; see `docs/sliding.md`.

use core::ops::Range;

use super::block::Block;
use super::run::GOES_ON;
use super::store::{Blocks, Spot, open};
use crate::bits::Isa;
use crate::dictionary::tools::Tools;

/// Blocks behind its home that one operation looks at, at most.
pub const REACH: usize = 128;

/// Entries of earlier homes that a block counts at most.
const MOST_GUESTS: u32 = u8::MAX as u32;

/// Whether full blocks can give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GiveWay {
    /// Yes: this is the first block with a free slot.
    Until(usize),
    /// No.
    None,
}

impl Blocks {
    /// The first block behind a full one that has a free slot, for an entry of `home`.
    #[inline(always)]
    pub(super) fn room(&self, home: usize, full: usize, tools: impl Tools) -> GiveWay {
        if !self.may_lend(home + 1..full + 1) {
            return GiveWay::None;
        }
        let end = (home + REACH).min(self.blocks());
        for number in full + 1..end {
            self.touch(number, tools);
            let block = self.get(number);
            if block.guests() == MOST_GUESTS {
                return GiveWay::None;
            }
            if !block.is_full() {
                return GiveWay::Until(number);
            }
        }
        GiveWay::None
    }

    /// Opens the spot of an entry of `home`, in a full block, by moving what follows up to `free`.
    #[inline(always)]
    pub(super) fn shift<I: Isa>(
        &mut self,
        isa: I,
        home: usize,
        spot: Spot,
        free: usize,
        entry: u64,
    ) {
        // From the far end, so that nothing has to be carried.
        for number in (spot.block + 1..=free).rev() {
            let layout = &self.layout;
            let (before, bytes) = self.records.neighbours_mut(number - 1);
            let mut before = Block { layout, bytes: before };
            let mut block = Block { layout, bytes };
            let words = block.words();
            let ends = words.ends << 1 | before.ends() >> 63;
            block.set_goes_on(words.is_full() && ends & GOES_ON == 0);
            block.set_ends(ends);
            block.set_guests(words.guests + 1);
            block.follow(&mut before);
        }
        self.lend(home + 1..spot.block + 1);
        let mut block = self.get_mut(spot.block);
        let ends = open(block.ends(), spot.slot, spot.occupied);
        block.set_goes_on(ends & GOES_ON == 0);
        block.set_ends(ends);
        block.open(isa, spot.slot, entry);
    }

    /// Whether each of these blocks can have one more guest.
    #[inline(always)]
    pub(super) fn may_lend(&self, mut blocks: Range<usize>) -> bool {
        blocks.all(|number| self.get(number).guests() < MOST_GUESTS)
    }

    /// One more guest in each of these blocks.
    #[inline(always)]
    pub(super) fn lend(&mut self, blocks: Range<usize>) {
        for number in blocks {
            let mut block = self.get_mut(number);
            let guests = block.guests() + 1;
            block.set_guests(guests);
        }
    }

    /// An entry found no room.
    #[cold]
    pub(super) fn lose(&mut self, home: usize) {
        self.frame.lose(home);
        self.wary = true;
    }

    /// Counts the end of a pass.
    #[inline(always)]
    pub(super) fn end_pass(&mut self) {
        if self.wary {
            for passes in &mut self.frame.blind {
                *passes = passes.saturating_sub(1);
            }
            self.wary = self.frame.blind.iter().any(|&passes| passes > 0);
        }
    }
}
