//! What `INFO lately` shows. Counters only go up, except the number of filters and their bytes.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::engine::faults;

/// A number that any thread may change: filters are also freed in the background.
#[derive(Debug, Default)]
pub struct Metric(AtomicU64);

impl Metric {
    const fn new() -> Self {
        Metric(AtomicU64::new(0))
    }

    /// Adds, on the thread that runs commands and no other: cheaper than [`add`](Self::add).
    pub fn add_alone(&self, amount: u64) {
        self.0.store(self.get().wrapping_add(amount), Ordering::Relaxed);
    }

    /// Adds.
    pub fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// Takes away.
    pub fn subtract(&self, amount: u64) {
        self.0.fetch_sub(amount, Ordering::Relaxed);
    }

    /// The number now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Filters that are stored now.
pub static FILTERS: Metric = Metric::new();
/// Of those, how many are windows by time.
pub static TIMED_FILTERS: Metric = Metric::new();
/// Bytes that they take.
pub static BYTES: Metric = Metric::new();
/// Items inserted since the server started.
pub static INSERTED: Metric = Metric::new();
/// Of those, how many were new.
pub static NEW: Metric = Metric::new();
/// Items asked for.
pub static ASKED: Metric = Metric::new();
/// Snapshots refused by `LOAD`, `RESTORE` or at start.
pub static REFUSED_SNAPSHOTS: Metric = Metric::new();
/// Moments that were too far ahead to be believed.
pub static REFUSED_MOMENTS: Metric = Metric::new();

/// Every metric by the name it has in `INFO`, after the module's own.
pub fn all() -> [(&'static std::ffi::CStr, u64); 9] {
    [
        (c"filters", FILTERS.get()),
        (c"timed_filters", TIMED_FILTERS.get()),
        (c"filter_bytes", BYTES.get()),
        (c"inserted_items", INSERTED.get()),
        (c"new_items", NEW.get()),
        (c"asked_items", ASKED.get()),
        (c"refused_snapshots", REFUSED_SNAPSHOTS.get()),
        (c"refused_moments", REFUSED_MOMENTS.get()),
        (c"caught_faults", faults()),
    ]
}
