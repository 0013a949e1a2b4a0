//! The end of a generation: what the rate was, what is dropped, and what is made for the next.
//!
//! # Why the error is kept
//!
//! A key is reported by luck if all k slices of a live window hold it. A full slice does with
//! chance `p`, so a window does with at most `p^k`. Generations begin at least a turn apart unless
//! one was full early, so at a steady rate at most l + 1 windows are live. One more is allowed for,
//! because a rate is never quite steady. If `x > 1` windows are live beyond the l + 1 when a
//! generation begins, its slice is made for the chance `p / 2^(1 + ceil(x/k))`. Since `x` grows by at
//! most one per generation, the k slices of its window together have earned a factor of at least
//! `2^-x`. So these windows, each counted at its birth, add up to less than half of one,
//! `1/4 + 1/8 + ...`, and all together err at most `(l + 2.5) p^k` often.

use super::TimeLimited;
use super::size::SliceSize;
use super::slice::Slice;

/// A generation is made for at most so many times the keys of the one before: more would leave room
/// unused for longer when a burst ends, less would make more generations, and each is asked.
pub const GROWTH: u64 = 4;

/// Windows that the sizing allows for beyond the turns: the current one, one more because rates are
/// never quite steady, and half of one for all others.
pub const BEYOND: f64 = 2.5;

/// Smaller generations would cost more in bookkeeping than they save.
pub(super) const LEAST_GENERATION: u64 = 16;

/// A turn that brings less than the one before by a key, or by one in so many, is as good as the one
/// before: any steady rate brings such turns, and so do keys that change no bit.
const UNCHANGED: u64 = 128;

/// At most so many halvings per bit that a key sets: beyond, slices would be mostly empty. With the
/// growth of generations this is out of reach of any stream, for all but the smallest k and b.
const HALVINGS_PER_BIT: u32 = 4;

impl TimeLimited {
    /// Does what is due.
    #[cold]
    pub(super) fn move_on(&mut self) {
        let over = self.clock - self.began >= self.parameters.turn_millis();
        if over || self.received == self.room {
            self.turn();
        } else {
            self.retire(0);
        }
        self.measure_slices();
    }

    /// Ends the generation and begins the next.
    fn turn(&mut self) {
        if self.received == 0 && self.slices.iter().all(|slice| slice.last.is_none()) {
            // Nothing was ever written: there is nothing to age.
            self.began = self.clock;
            return;
        }
        let (turns, leaps) = self.measure();
        let k = self.k();
        for slice in self.slices.iter_mut().take(k) {
            slice.received += self.received;
        }
        self.received = 0;
        // After k turns no slice is shared with what came before.
        let moved = turns.clamp(1, k as u64) as usize;
        let outgrown = self.room_after(moved) < self.target.div_ceil(2);
        let moved = if outgrown { k } else { moved };
        self.retire(moved);
        if outgrown && leaps {
            self.make_slices(k, |filter, _| filter.target);
        } else {
            self.make_slices(moved, Self::capacity_at);
        }
    }

    /// Sets the beginning of the new generation and its target, and says how many turns passed and
    /// whether the target is a leap: what this rate might bring, cut off.
    fn measure(&mut self) -> (u64, bool) {
        let turn = self.parameters.turn_millis();
        let elapsed = self.clock - self.began;
        let turns = elapsed / turn;
        let mut leaps = false;
        let came = if turns > 0 {
            // On a grid, so that k generations never last longer than k turns.
            self.began += turns * turn;
            self.received.div_ceil(turns)
        } else {
            // Full before its time: what would have come in a whole turn (eq. 6).
            self.began = self.clock;
            let in_a_turn = u128::from(self.received) * u128::from(turn);
            let in_a_turn = in_a_turn.div_ceil(elapsed.max(1).into());
            let most = u128::from(GROWTH * self.received);
            leaps = in_a_turn > most;
            in_a_turn.min(most) as u64
        };
        // A little less is no change: there is room for the larger number.
        let little = (came / UNCHANGED).max(1);
        let came = if (came..=came + little).contains(&self.came) { self.came } else { came };
        // But room for twice as many more as the number has lately changed by from turn to turn,
        // lest every other generation be full just before its time. What was only expected is not
        // a number to compare with, and a leap is not one to compare.
        let before = if self.came == 0 || leaps { came } else { self.came };
        let change = 2 * came.abs_diff(before).saturating_sub(1);
        self.jitter = change.max(self.jitter.saturating_mul(3) / 4).min(came / 8);
        self.came = came;
        let wanted = came + self.jitter;
        // A lull halves the target, no more: rates that swing faster than that find slices ready. But
        // a leap was never more than a guess.
        let least = if turns > 0 && !self.is_leap() { self.target / 2 } else { 0 };
        self.target = wanted.max(least).max(LEAST_GENERATION);
        (turns, leaps)
    }

    /// Drops the slices that hold only keys older than the span and will receive no more when the
    /// others have moved on by so many positions.
    fn retire(&mut self, moved: usize) {
        let k = self.k();
        let windows = self.slices.len() + 1 - k;
        let oldest = (0..windows).rev().find(|&window| self.is_live(window, self.clock));
        self.slices.truncate(oldest.map_or(k - moved, |oldest| oldest + k));
    }

    /// Puts so many new slices before the others, for as many keys as `capacity` says for a position.
    pub(super) fn make_slices(&mut self, count: usize, capacity: impl Fn(&Self, usize) -> u64) {
        let k = self.k();
        let chance = self.next_chance();
        // Numbers that return to what they were find their place again, and no spare one.
        self.slices.shrink_to(self.slices.len() + count);
        self.slices.reserve_exact(count);
        for position in (0..count).rev() {
            let keys = capacity(self, position);
            let size = SliceSize::for_keys(keys, self.parameters.bits_per_slice, chance);
            let class = self.slices.first().map_or(0, |newest| (newest.class + 1) % k);
            self.slices.insert(0, Slice::new(size, size.capacity(keys, chance), class));
        }
    }

    /// Finds how much room the generation has, when something is due, and how large all slices
    /// are.
    pub(super) fn measure_slices(&mut self) {
        let oldest = self.slices.len() - self.k();
        let expires = match self.slices[oldest].last {
            // The newest stay, expired or not.
            _ if oldest == 0 => u64::MAX,
            Some(last) => last.saturating_add(self.parameters.span.millis()).saturating_add(1),
            None => 0,
        };
        self.due = self.began.saturating_add(self.parameters.turn_millis()).min(expires);
        let newest = &self.slices[..self.k()];
        self.room = match self.is_leap() {
            true => newest.iter().map(Slice::room).min().unwrap_or(0),
            false => self.room_after(0),
        };
        let far = self.slices.iter().rposition(Slice::is_far).map_or(0, |last| last + 1);
        self.far = far.next_multiple_of(self.k()).min(self.slices.len());
        self.slices_bytes = self.slices.iter().map(|slice| slice.size().heap_bytes()).sum();
    }

    /// Whether the newest slices were made together, and for no more than the current generation. Of a
    /// single one nobody can tell.
    fn is_leap(&self) -> bool {
        let newest = &self.slices[..self.k()];
        let generations = newest.len() as u64;
        newest.iter().all(|slice| slice.received == 0)
            && newest[0].capacity < self.target.saturating_mul(generations)
    }

    /// Keys that all slices have room for in each generation until they leave (eq. 4 and 5), if
    /// they move on by so many positions first.
    pub(super) fn room_after(&self, moved: usize) -> u64 {
        let k = self.k();
        let receiving = self.slices.iter().take(k - moved).enumerate();
        let room = |(age, slice): (usize, &Slice)| slice.room() / (k - age - moved) as u64;
        receiving.map(room).min().unwrap_or(u64::MAX)
    }

    /// Keys that a new slice receives if it starts at this position and generations are on target,
    /// unless older slices are full before (eq. 7).
    pub(super) fn capacity_at(&self, position: usize) -> u64 {
        let k = self.k();
        let mut total = 0;
        for generation in 0..k - position {
            let older = (position + 1..k - generation).zip(&self.slices);
            let room = |(at, slice): (usize, &Slice)| {
                slice.room().saturating_sub(total) / (k - at - generation) as u64
            };
            let room = older.map(room).min().unwrap_or(u64::MAX);
            total += room.min(self.target);
        }
        total
    }

    /// The chance for which the next slice is made: less than usual while more windows are live
    /// than usual.
    fn next_chance(&self) -> f64 {
        let windows = (self.slices.len() + 1).saturating_sub(self.k());
        let live = (0..windows).filter(|&window| self.is_live(window, self.clock)).count() as u32;
        // The new window is one of l + 1.
        let beyond = live.saturating_sub(self.parameters.turns);
        let most = HALVINGS_PER_BIT * self.parameters.bits_per_slice;
        let halvings = match beyond {
            0 | 1 => 0,
            _ => (1 + beyond.div_ceil(self.parameters.slices_per_key)).min(most),
        };
        self.parameters.slice_chance / 2_f64.powi(halvings as i32)
    }
}
