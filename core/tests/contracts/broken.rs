//! Filters with one planted fault each: a contract that lets its fault pass proves nothing.

use std::collections::HashSet;

use std::sync::Arc;

use lately::duplicates::{AloneParameters, CompactShortHashParameters, QuotientTable};
use lately::growing::GrowingParameters;
use lately::raw::codec::Writer;
use lately::raw::{Blueprint, Filter, Membership, Removing};
use lately::{Seed, Time};

use super::subjects::Subject;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// Does not record one insertion in a hundred.
    Amnesiac,
    /// Keeps one item less than it promises.
    OffByOne,
    /// Reports one unseen key in twenty as seen.
    Liar,
    /// Reports every key ever seen.
    NeverForgets,
    /// Refreshes even when asked not to.
    AlwaysRefreshes,
    /// Does not find, when looking, one key in twenty.
    BlindEye,
    /// Answers the last of several wrongly.
    SloppyBatch,
    /// Empties itself when the clock jumps.
    ClockWatcher,
    /// Uses more memory than planned.
    Hoarder,
    /// Thinks it errs ten times less often than it does.
    Optimist,
    /// Saves itself empty.
    LosesStateOnSave,
    /// Removes another key too.
    RemovesAnother,
    /// Removes nothing.
    NeverRemoves,
}

const WINDOW: u64 = 200;

/// A subject whose filters have this fault and are otherwise right.
pub fn with_fault(fault: Fault) -> Subject {
    let promised = CompactShortHashParameters::with_error(WINDOW, 0.01).unwrap();
    let kept = match fault {
        Fault::OffByOne => CompactShortHashParameters { window: WINDOW - 1, ..promised },
        _ => promised,
    };
    broken(fault, Subject::of(Box::new(promised)), Arc::new(kept))
}

/// The same for a filter that promises to remember everything.
pub fn ever_with_fault(fault: Fault) -> Subject {
    let kept = GrowingParameters::with_error(0.01, 10_000, true).unwrap();
    broken(fault, Subject::of(Box::new(kept)), Arc::new(kept))
}

/// The same among those that may forget.
pub fn detector_with_fault(fault: Fault) -> Subject {
    let kept: AloneParameters<QuotientTable> =
        AloneParameters::with_memory(WINDOW, None, 600).unwrap();
    broken(fault, Subject::of(Box::new(kept)), Arc::new(kept))
}

fn broken(fault: Fault, honest: Subject, kept: Arc<dyn Blueprint>) -> Subject {
    Subject {
        label: format!("{fault:?}"),
        build: Box::new(move |_| {
            let (kept, inner) = (kept.clone(), kept.allocate(Seed(0)));
            Box::new(Broken { fault, kept, inner, steps: 0, ever: HashSet::new() })
        }),
        ..honest
    }
}

#[derive(Debug, Clone)]
struct Broken {
    fault: Fault,
    kept: Arc<dyn Blueprint>,
    inner: Box<dyn Filter>,
    steps: u64,
    ever: HashSet<u64>,
}

impl Broken {
    fn lies_about(&self, hash: u64) -> bool {
        match self.fault {
            Fault::Liar => hash.is_multiple_of(20),
            Fault::NeverForgets => self.ever.contains(&hash),
            _ => false,
        }
    }

    /// A key that stands for whatever the faulty filter records instead.
    fn recorded(&self, hash: u64) -> u64 {
        let forgets = self.fault == Fault::Amnesiac && self.steps.is_multiple_of(100);
        if forgets { !hash } else { hash }
    }
}

impl Membership for Broken {
    fn insert_hash(&mut self, hash: u64, now: Time) -> bool {
        self.steps += 1;
        if self.fault == Fault::ClockWatcher && now.millis() > 1 << 40 {
            self.inner = self.kept.allocate(Seed(0));
        }
        let lie = self.lies_about(hash);
        let seen = self.inner.contains_hash(hash, now);
        self.inner.insert_hash(self.recorded(hash), now);
        self.ever.insert(hash);
        !(seen || lie)
    }

    fn insert_new_hash(&mut self, hash: u64, now: Time) -> bool {
        self.steps += 1;
        self.ever.insert(hash);
        let recorded = self.recorded(hash);
        match self.fault {
            Fault::AlwaysRefreshes => self.inner.insert_hash(hash, now),
            Fault::Amnesiac if recorded != hash => {
                let seen = self.inner.contains_hash(hash, now);
                self.inner.insert_new_hash(recorded, now);
                !seen
            }
            _ => self.inner.insert_new_hash(hash, now),
        }
    }

    fn contains_hash(&self, hash: u64, now: Time) -> bool {
        if self.fault == Fault::BlindEye && hash.is_multiple_of(20) {
            return false;
        }
        self.inner.contains_hash(hash, now) || self.lies_about(hash)
    }

    fn insert_hashes(&mut self, hashes: &[u64], now: Time, new: &mut [bool]) {
        self.inner.insert_hashes(hashes, now, new);
        if let (Fault::SloppyBatch, Some(last)) = (self.fault, new.last_mut()) {
            *last = !*last;
        }
    }
}

impl Filter for Broken {
    fn blueprint(&self) -> &dyn Blueprint {
        self.inner.blueprint()
    }

    fn heap_bytes(&self) -> u64 {
        self.inner.heap_bytes() + u64::from(self.fault == Fault::Hoarder)
    }

    fn false_positive_rate(&self) -> f64 {
        let scale = if self.fault == Fault::Optimist { 0.1 } else { 1.0 };
        scale * self.inner.false_positive_rate()
    }

    fn write_payload(&self, out: &mut Writer) {
        match self.fault {
            Fault::LosesStateOnSave => self.kept.allocate(Seed(0)).write_payload(out),
            _ => self.inner.write_payload(out),
        }
    }

    fn as_removing(&mut self) -> Option<&mut dyn Removing> {
        self.inner.as_removing().is_some().then_some(self)
    }
}

impl Removing for Broken {
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.ever.remove(&hash);
        if self.fault == Fault::NeverRemoves {
            return true;
        }
        let another = self.ever.iter().next().copied();
        let removing = self.inner.as_removing().expect("asked before");
        if let (Fault::RemovesAnother, Some(another)) = (self.fault, another) {
            removing.remove_hash(another);
        }
        removing.remove_hash(hash)
    }
}
