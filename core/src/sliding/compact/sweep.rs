//! Entries leave, and guests come home.
//!
//! A sweep removes the entries *of a home*, wherever they lie, and never those of its guests, whose
//! generations are counted differently. Then every block that follows gives back as many guests as its
//! neighbour has room for.

use super::block::{Block, SLOTS};
use super::chain::REACH;
use super::run::{GOES_ON, left, left_of_two};
use super::store::Blocks;
use crate::bits::Isa;
use crate::dictionary::Sweep;
use crate::dictionary::tools::Tools;

/// How many blocks after it, in memory, is swept two turns later.
const AHEAD: usize = 16;

impl Blocks {
    /// Removes what has expired of a home.
    #[inline(always)]
    pub(super) fn sweep_home<T: Tools>(&mut self, tools: T, sweep: Sweep) {
        let isa = tools.isa();
        let home = sweep.home;
        self.records.prefetch_all(home + AHEAD);
        self.prefetch_words(home + AHEAD + 1);
        self.touch(home, tools);
        let mut block = Block { layout: &self.layout, bytes: self.records.get_mut(home) };
        let words = block.words();
        if words.is_full() {
            return self.sweep_full(tools, sweep);
        }
        let used = isa.low_bits(u64::MAX, words.count());
        let own = used ^ isa.low_bits(used, words.guests);
        let generations = [sweep.expired, sweep.due];
        let [dead, next] = block.of_generations(isa, generations).map(|slots| slots & own);
        self.frame.due += u64::from(next.count_ones());
        if dead == 0 {
            return;
        }
        let after = left(isa, used, words.ends, dead);
        // Runs of guests are not the home's.
        let of_guests = isa.low_bits(words.ends, words.guests).count_ones();
        let runs = after.runs >> (of_guests % SLOTS);
        let [first, second] = block.buckets();
        let above = runs.unbounded_shr(first.count_ones());
        block.set_buckets([isa.deposit(runs, first), isa.deposit(above, second)]);
        block.set_ends(after.ends);
        block.keep(isa, used & !dead);
        self.frame.forget(dead.count_ones());
    }

    /// The same for a home whose block is full: its entries may go on next door.
    #[inline(always)]
    fn sweep_full<T: Tools>(&mut self, tools: T, sweep: Sweep) {
        let isa = tools.isa();
        isa.vectorize_apart(
            #[inline(always)]
            || {
                let home = sweep.home;
                self.touch(home + 1, tools);
                let (guests, lent) = (self.get(home).guests(), self.get(home + 1).guests());
                if guests >= SLOTS || lent > SLOTS {
                    return self.sweep_far(tools, sweep);
                }
                let own = !isa.low_bits(u64::MAX, guests);
                let away = isa.low_bits(u64::MAX, lent);
                let [here, there] = [(home, own), (home + 1, away)].map(|(number, part)| {
                    let found = self.get(number).of_generations(isa, [sweep.expired, sweep.due]);
                    found.map(|slots| slots & part)
                });
                self.frame.due += u64::from(here[1].count_ones() + there[1].count_ones());
                let dead = [here[0], there[0]];
                if dead == [0, 0] {
                    return;
                }
                if !self.gives_way(home, tools) {
                    return self.put_off(dead[0].count_ones() + dead[1].count_ones());
                }
                let gap = self.remove(isa, home, dead);
                self.bring_home(tools, gap);
            },
        )
    }

    /// Removes slots of a home that lie in its own block, which is full, and in the next one.
    #[inline(always)]
    fn remove<I: Isa>(&mut self, isa: I, home: usize, dead: [u64; 2]) -> Gap {
        let layout = &self.layout;
        let (here, there) = self.records.neighbours_mut(home);
        let (mut here, mut there) = (Block { layout, bytes: here }, Block { layout, bytes: there });
        let (words, next) = (here.words(), there.words());
        let (guests, lent) = (words.guests, next.guests);
        // The home's slots, one after the other.
        let at_home = SLOTS - guests;
        let join = |here: u64, there: u64| {
            u128::from(here >> guests) | u128::from(isa.low_bits(there, lent)) << at_home
        };
        let used = u128::MAX >> (2 * SLOTS - at_home - lent);
        let after = left_of_two(isa, used, join(words.ends, next.ends), join(dead[0], dead[1]));
        let [first, second] = here.buckets();
        let above = after.runs.unbounded_shr(first.count_ones()) as u64;
        here.set_buckets([isa.deposit(after.runs as u64, first), isa.deposit(above, second)]);
        let staying = SLOTS - dead[0].count_ones();
        let of_guests = isa.low_bits(words.ends, guests);
        here.set_ends(of_guests | isa.low_bits((after.ends << guests) as u64, staying));
        here.keep(isa, !dead[0]);
        let next_used = next.count() - dead[1].count_ones();
        if dead[1] != 0 {
            let lent_on = lent - dead[1].count_ones();
            let of_others = next.ends.unbounded_shr(lent).unbounded_shl(lent_on);
            let lent_ends = after.ends.unbounded_shr(staying - guests) as u64;
            there.set_ends(of_others | isa.low_bits(lent_ends, lent_on));
            there.set_goes_on(false);
            there.set_guests(lent_on);
            let kept = isa.low_bits(u64::MAX, next.count()) & !dead[1];
            there.keep(isa, kept);
        }
        self.frame.forget(dead[0].count_ones() + dead[1].count_ones());
        Gap {
            block: home,
            used: staying,
            next_used,
            next_was_full: next.is_full(),
            next_changed: dead[1] != 0,
        }
    }

    /// Fills a gap with guests from the next block, the gap that this leaves there with those from the
    /// one after it, and so on.
    #[inline(always)]
    fn bring_home<T: Tools>(&mut self, tools: T, mut gap: Gap) {
        let isa = tools.isa();
        loop {
            self.touch(gap.block + 1, tools);
            let layout = &self.layout;
            let (here, there) = self.records.neighbours_mut(gap.block);
            let mut here = Block { layout, bytes: here };
            let mut there = Block { layout, bytes: there };
            let lent = there.guests();
            let taken = lent.min(SLOTS - gap.used);
            let mut ends = here.ends();
            if taken > 0 {
                let theirs = there.ends();
                ends |= isa.low_bits(theirs, taken) << (gap.used % SLOTS);
                here.set_ends(ends);
                there.set_ends(theirs.unbounded_shr(taken));
                there.set_guests(lent - taken);
                here.draw(gap.used, &mut there, taken);
            }
            here.set_goes_on(gap.used + taken == SLOTS && ends & GOES_ON == 0);
            // Nobody lives further if the next one was not full.
            if !gap.next_was_full || taken == 0 && !gap.next_changed {
                break;
            }
            let further = self.get(gap.block + 2).words();
            gap = Gap {
                block: gap.block + 1,
                used: gap.next_used - taken,
                next_used: further.count(),
                next_was_full: further.is_full(),
                next_changed: false,
            };
        }
    }

    /// Whether a gap in this block closes within [`REACH`].
    #[inline(always)]
    fn gives_way(&self, block: usize, tools: impl Tools) -> bool {
        (block + 1..block + REACH).any(|number| {
            self.touch(number, tools);
            self.get(number).guests() == 0
        })
    }

    /// Leaves a home as it is. What should have gone now has the tag of what comes next, so that it
    /// stays another window: too long, but nothing is denied.
    #[cold]
    fn put_off(&mut self, dead: u32) {
        self.frame.due -= u64::from(dead);
        self.late = self.late.saturating_add(1);
    }

    /// The same as [`Blocks::sweep_full`] for a home whose entries begin or end further than next door:
    /// one after the other. Only crowds come to this.
    #[inline(never)]
    fn sweep_far<T: Tools>(&mut self, tools: T, sweep: Sweep) {
        let isa = tools.isa();
        let home = sweep.home;
        let (block, slot) = self.start(home);
        let (last_block, last_slot) = self.start(home + 1);
        let of = |block: usize, slot: u32| block * SLOTS as usize + slot as usize;
        let (first, end) = (of(block, slot), of(last_block, last_slot));
        let gives_way = self.gives_way(last_block, tools);
        let fine_bits = self.shape.fine_bits;
        let mut dead = 0;
        // From the last one on, so that those before it stay where they are.
        for at in (first..end).rev() {
            let (block, slot) = (at / SLOTS as usize, (at % SLOTS as usize) as u32);
            let generation = self.get(block).entry(isa, slot).1 >> fine_bits;
            self.frame.due += u64::from(generation == sweep.due);
            if generation == sweep.expired {
                dead += 1;
                if gives_way {
                    self.remove_one(tools, home, first, at);
                }
            }
        }
        if gives_way {
            self.frame.forget(dead);
        } else if dead > 0 {
            self.put_off(dead);
        }
    }

    /// Removes one entry of a home whose entries begin at `first`; both are counted through all blocks.
    fn remove_one<T: Tools>(&mut self, tools: T, home: usize, first: usize, at: usize) {
        let isa = tools.isa();
        let split = |at: usize| (at / SLOTS as usize, (at % SLOTS as usize) as u32);
        let is_end = |at: usize| {
            let (block, slot) = split(at);
            self.get(block).ends() >> slot & 1 == 1
        };
        let begins = at == first || is_end(at - 1);
        let ends_here = is_end(at);
        let before = (first..at).filter(|&at| is_end(at)).count() as u32;
        if ends_here && begins {
            let mut home = self.get_mut(home);
            let goes_on = home.words().occupied[0] & GOES_ON != 0;
            let [low, high] = home.buckets();
            let one = |rank: u32, word: u64| {
                let rest = isa.drop_ones(word, rank);
                word & !(rest & rest.wrapping_neg())
            };
            let buckets = match before.checked_sub(low.count_ones()) {
                None => [one(before, low), high],
                Some(rank) => [low, one(rank, high)],
            };
            home.set_buckets(buckets);
            home.set_goes_on(goes_on);
        } else if ends_here {
            let (block, slot) = split(at - 1);
            let mut block = self.get_mut(block);
            let ends = block.ends() | 1 << slot;
            block.set_ends(ends);
            if slot == SLOTS - 1 {
                block.set_goes_on(false);
            }
        }
        let (number, slot) = split(at);
        for lender in home + 1..number + 1 {
            let mut block = self.get_mut(lender);
            let guests = block.guests() - 1;
            block.set_guests(guests);
        }
        let further = self.get(number + 1).words();
        let mut block = self.get_mut(number);
        let words = block.words();
        let kept = !(1 << slot);
        block.set_ends(isa.extract(words.ends, kept));
        block.keep(isa, kept);
        let gap = Gap {
            block: number,
            used: words.count() - 1,
            next_used: further.count(),
            next_was_full: further.is_full(),
            next_changed: false,
        };
        self.bring_home(tools, gap);
    }
}

/// A block with fewer slots in use than before.
#[derive(Clone, Copy, Debug)]
struct Gap {
    block: usize,
    /// Its slots in use now. Where its last run goes on next door, its words do not tell.
    used: u32,
    /// The same of the next block.
    next_used: u32,
    /// Whether that had no free slot before.
    next_was_full: bool,
    /// Whether entries of it have gone.
    next_changed: bool,
}
