//! How many entries there are, and how many were lost.

use crate::codec::{Reader, Writer};
use crate::error::Error;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;

/// Entries of all segments.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stock {
    /// Those that were stored and not taken back.
    pub(super) items: u64,
    /// Those whose segment ran out of room for good.
    pub(super) lost: u64,
}

impl Stock {
    /// The segment of so many entries ran out of room for good.
    pub(super) fn lose(&mut self, entries: u64) {
        self.lost += entries;
        self.items = self.items.saturating_sub(entries);
    }

    /// Whether there is nothing, and nothing was lost.
    #[inline(always)]
    pub(super) fn is_nothing(self) -> bool {
        self.items == 0 && self.lost == 0
    }

    /// The part of so many slots that segments of a depth usually fill.
    pub(super) fn usual_load(self, depth: u32, slots: usize) -> f64 {
        self.items as f64 * (-f64::from(depth)).exp2() / slots as f64
    }

    pub(super) fn write(self, out: &mut Writer) {
        out.u64(self.items);
        out.u64(self.lost);
    }

    pub(super) fn read(payload: &mut Reader<'_>) -> Result<Self, Error> {
        let items = payload.u64("items")?;
        Ok(Self { items, lost: payload.u64("lost entries")? })
    }

    /// The same with at most so many items: entries that are used up are stored more than once, so there may be
    /// fewer. More are forged, and no harm.
    pub(super) fn of_at_most(self, entries: u64) -> Self {
        Self { items: self.items.min(entries), ..self }
    }
}
