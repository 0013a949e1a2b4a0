//! Time, counted in few bits and one bin after the other.
//!
//! A window of n elements is cut into c generations of ceil(n/c) elements each, counted modulo
//! c + 1. Naor and Yogev end a generation for the whole table at once. We let a sweep walk over the
//! bins, one *pass* per generation, and a bin's own generation ends when the sweep reaches it. An
//! entry then outlives the window by half a generation on average instead of a whole one, the scan is
//! spread evenly by itself, and whatever is stored is alive: a lookup need not look at tags.
//!
//! Worked example: n = 6, c = 3, two bins, passes of two elements. Bin 0 is swept before
//! elements 1, 3, 5, ..., bin 1 before 2, 4, 6, .... Element 2 goes to bin 1 and survives
//! the sweeps before 4, 6 and 8; the one before 10 removes it. So element 8, six later,
//! still finds it, and element 10 no longer.

use crate::dictionary::{Sweep, Tags};
use crate::sliding::Passes;
use crate::sliding::swept_parameters::MOST_TAG_BITS;

/// The clock of a sliding filter: which bin to sweep when, and what its tags mean.
///
/// Every bin is swept once every `pass` elements, always at the same place of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generations {
    /// Generations in a window, the paper's c. Tags are counted modulo one more.
    count: u64,
    /// Elements of a generation.
    pass: u64,
    bins: u64,
    /// Elements since the beginning. All that follows could be computed from it.
    elements: u64,
    /// Bins swept in the current pass: `step * bins / pass`, rounded down.
    swept: u64,
    /// What was rounded off: `step * bins % pass`.
    credit: u64,
    /// Tag of the bins that the current pass has not reached; at most `count`.
    tag: u64,
}

/// Elements of a generation when `count` of them cover the window.
pub const fn pass(window: u64, count: u64) -> u64 {
    window.div_ceil(count)
}

/// Bits to tell `count` + 1 generations apart.
pub const fn tag_bits(count: u64) -> u32 {
    u64::BITS - count.leading_zeros()
}

/// Largest distance at which an element can still be reported, error apart.
pub const fn reach(window: u64, count: u64) -> u64 {
    // Swept at the latest a pass later, then once per pass; the sweep comes before the lookup.
    ((count + 1).saturating_mul(pass(window, count))).saturating_sub(1)
}

/// For each width of tag, the finest division that it can count and that keeps within the slack.
pub fn choices(window: u64, slack: u64) -> impl Iterator<Item = u64> {
    (1..=MOST_TAG_BITS).filter_map(move |bits| {
        let mut counts = (1 << (bits - 1)..1 << bits).rev();
        counts
            .find(|&count| count <= window && reach(window, count) <= window.saturating_add(slack))
    })
}

impl Generations {
    /// A clock at the beginning of a pass.
    pub fn new(window: u64, count: u64, bins: u64) -> Self {
        Self { count, pass: pass(window, count), bins, elements: 0, swept: 0, credit: 0, tag: 0 }
    }

    /// The tag that follows another; also the oldest that lives beside it.
    #[inline(always)]
    fn after(&self, tag: u64) -> u64 {
        if tag == self.count { 0 } else { tag + 1 }
    }

    /// Largest tag.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Elements of a generation.
    pub fn pass(&self) -> u64 {
        self.pass
    }
}

impl Passes for Generations {
    type Moment = Tags;

    fn after_elements(self, elements: u64) -> Self {
        let position = u128::from(elements % self.pass) * u128::from(self.bins);
        let pass = u128::from(self.pass);
        Self {
            elements,
            tag: elements / self.pass % (self.count + 1),
            swept: (position / pass) as u64,
            credit: (position % pass) as u64,
            ..self
        }
    }

    #[inline(always)]
    fn advance(&mut self) -> bool {
        self.credit += self.bins;
        self.elements = self.elements.wrapping_add(1);
        self.credit >= self.pass
    }

    #[inline(always)]
    fn sweep(&mut self, mut sweep: impl FnMut(Sweep)) {
        while self.credit >= self.pass {
            self.credit -= self.pass;
            let (home, expired) = (self.swept as usize, self.after(self.tag));
            let (due, ends) = (self.after(expired), self.swept + 1 == self.bins);
            sweep(Sweep { home, expired, due, ends });
            self.swept += 1;
            // The last element of a pass sweeps the last bin.
            if self.swept == self.bins {
                self.swept = 0;
                self.tag = expired;
            }
        }
    }

    fn next_home(&self) -> usize {
        self.swept as usize
    }

    #[inline(always)]
    fn tag_of(&self, bin: usize) -> u64 {
        // Added, because nobody could guess the way that a branch would go.
        let tag = self.tag + u64::from((bin as u64) < self.swept);
        if tag > self.count { 0 } else { tag }
    }

    #[inline(always)]
    fn moment(&self, bin: usize) -> Tags {
        let now = self.tag_of(bin);
        Tags { now, due: self.after(now) }
    }

    fn due(&self, bin: usize) -> u64 {
        self.moment(bin).due
    }

    /// Whatever is stored is.
    #[inline(always)]
    fn is_alive(&self, _bin: usize, _tag: u64) -> bool {
        true
    }

    fn age(&self, bin: usize, tag: u64) -> (u64, u64) {
        // The place in the pass at which this bin is swept.
        let position = u128::from(self.swept) * u128::from(self.pass) + u128::from(self.credit);
        let step = (position / u128::from(self.bins)) as u64;
        let at = (u128::from(bin as u64 + 1) * u128::from(self.pass))
            .div_ceil(u128::from(self.bins)) as u64;
        // Elements since then, the one that came with the sweep included.
        let since = if step >= at { step - at } else { step + self.pass - at } + 1;
        let now = self.tag_of(bin);
        let passes = if now >= tag { now - tag } else { now + self.count + 1 - tag };
        match passes {
            0 => (0, since - 1),
            passes => (since + (passes - 1) * self.pass, since + passes * self.pass - 1),
        }
    }

    fn most_sweeps(&self) -> u64 {
        self.bins.div_ceil(self.pass)
    }

    fn elements(&self) -> u64 {
        self.elements
    }

    fn past_the_window(&self) -> f64 {
        // A bin swept u elements ago has due entries at distances from u to u + pass before the
        // window's end and beyond, as far as the stream goes back; u is uniform over the bins.
        let pass = self.pass as f64;
        let beyond = self.elements.saturating_sub(self.count * self.pass) as f64;
        let beyond = beyond.min(pass);
        let past = beyond - beyond * beyond / (2.0 * pass);
        past / (pass - (pass - beyond) * (pass - beyond) / (2.0 * pass))
    }
}
