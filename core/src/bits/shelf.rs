//! Numbers of a few bits in slots side by side, one of which is put between others.
//!
//! A *bin* holds 64 slots, and bit b of all of them is one word, the highest bit first. Bins follow each
//! other, so moving the slots of a stretch by one is a shift of every word, and one bit that is handed on
//! from each word to the one at its place in the next bin:
//!
//! ```text
//! bin 0   [bit 2 of slots 0-63] [bit 1 of slots 0-63] [bit 0 of slots 0-63]
//! bin 1   [bit 2 of 64-127]     [bit 1 of 64-127]     [bit 0 of 64-127]
//! ```

/// Slots of a bin.
const SLOTS: usize = 64;

/// Moves the slots from `first` on up by one, into `free`, whose content is lost, and puts a value into
/// `first`. Bins have `bits` words.
#[inline(always)]
pub(super) fn move_up(bins: &mut [u64], bits: usize, first: usize, free: usize, value: u64) {
    let (lowest, highest) = (first / SLOTS, free / SLOTS);
    for bin in (lowest..=highest).rev() {
        let edge = Edge::of(bin, first, free);
        for at in 0..bits {
            let place = bin * bits + at;
            let comes = if bin == lowest {
                (value >> (bits - 1 - at) & 1) << (first % SLOTS)
            } else {
                bins[place - bits] >> (SLOTS - 1)
            };
            let word = bins[place];
            // What moves out of the bin is read by the next one before.
            bins[place] = word & edge.staying | (word & edge.moving) << 1 | comes;
        }
    }
}

/// Moves the slots after `free`, whose content is lost, up to `last` down by one, and puts a value into
/// `last`.
#[inline(always)]
pub(super) fn move_down(bins: &mut [u64], bits: usize, free: usize, last: usize, value: u64) {
    let (lowest, highest) = (free / SLOTS, last / SLOTS);
    for bin in lowest..=highest {
        let edge = Edge::of_down(bin, free, last);
        for at in 0..bits {
            let place = bin * bits + at;
            let comes = if bin == highest {
                (value >> (bits - 1 - at) & 1) << (last % SLOTS)
            } else {
                bins[place + bits] << (SLOTS - 1)
            };
            let word = bins[place];
            bins[place] = word & edge.staying | (word & edge.moving) >> 1 | comes;
        }
    }
}

/// Which slots of a bin stay, and which move within it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) staying: u64,
    pub(super) moving: u64,
}

impl Edge {
    /// For a bin of a stretch whose slots move up from `first` into `free`.
    #[inline(always)]
    pub(super) fn of(bin: usize, first: usize, free: usize) -> Self {
        let below = if bin == first / SLOTS { ones(first % SLOTS) } else { 0 };
        let moving = if bin == free / SLOTS { ones(free % SLOTS) } else { u64::MAX };
        let above = if bin == free / SLOTS { !(moving << 1 | 1) } else { 0 };
        // The last slot moves into the next bin, or is lost.
        Self { staying: below | above, moving: moving & !below }
    }

    /// For a bin of a stretch whose slots after `free` move down, up to `last`.
    #[inline(always)]
    pub(super) fn of_down(bin: usize, free: usize, last: usize) -> Self {
        let below = if bin == free / SLOTS { ones(free % SLOTS) } else { 0 };
        let gone = if bin == free / SLOTS { 1 << (free % SLOTS) } else { 0 };
        let above = if bin == last / SLOTS { !(ones(last % SLOTS) << 1 | 1) } else { 0 };
        // The first slot moves into the bin before, or is lost.
        Self { staying: below | above, moving: !(below | gone | above) }
    }
}

/// So many ones, less than 64.
#[inline(always)]
fn ones(count: usize) -> u64 {
    (1 << count) - 1
}
