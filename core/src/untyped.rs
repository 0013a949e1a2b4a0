//! Any filter with its hashing, whatever its window: what snapshots hold, and what the doors
//! [`Lately`](crate::Lately) and [`Counter`](crate::Counter) wrap.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::catalog::{CATALOG, Catalog};
use crate::codec;
use crate::dictionary::Repeat;
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::Hashing;
use crate::promise::Promise;
use crate::window::Time;

/// A structure chosen at run time, and how keys become its hashes.
///
/// For programs that learn what they handle at run time: the command, the module. It is spoken to in
/// hashes and moments, by [`Filter`].
#[derive(Debug, Clone)]
pub struct Untyped {
    pub(crate) hashing: Hashing,
    pub(crate) filter: Box<dyn Filter>,
}

impl Untyped {
    /// A structure, and how keys become its hashes.
    pub fn new(filter: Box<dyn Filter>, hashing: Hashing) -> Self {
        Self { hashing, filter }
    }

    /// The filter in a snapshot of this or an older release.
    pub fn open(snapshot: &[u8]) -> Result<Self, Error> {
        Self::open_of(CATALOG, snapshot)
    }

    /// The same, of any structure of a catalog.
    pub fn open_of(catalog: Catalog, snapshot: &[u8]) -> Result<Self, Error> {
        if codec::Bundle::begins(snapshot) {
            return Err(Error::Unsupported {
                operation: "be opened as one",
                instead: "threads shared it: open it with `Shared::open`",
            });
        }
        let (filter, hashing) = codec::open_of(catalog, snapshot)?;
        Ok(Self { hashing, filter })
    }

    /// Everything needed to go on later, or elsewhere.
    pub fn save(&self) -> Vec<u8> {
        codec::save(&*self.filter, self.hashing)
    }

    /// How keys become hashes.
    pub fn hashing(&self) -> Hashing {
        self.hashing
    }

    /// What is promised.
    pub fn promise(&self) -> Promise {
        self.filter.blueprint().promise()
    }

    /// The structure, to look at.
    pub fn filter(&self) -> &dyn Filter {
        &*self.filter
    }

    /// The structure, to change.
    pub fn filter_mut(&mut self) -> &mut dyn Filter {
        &mut *self.filter
    }

    /// The structure alone.
    pub fn into_filter(self) -> Box<dyn Filter> {
        self.filter
    }

    /// Records a sighting; whether it is new.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64, now: Time, repeat: Repeat) -> bool {
        match repeat {
            Repeat::Refresh => self.filter.insert_hash(hash, now),
            Repeat::Keep => self.filter.insert_new_hash(hash, now),
        }
    }

    /// The same for many.
    pub(crate) fn insert_all(
        &mut self,
        hashes: &[u64],
        now: Time,
        repeat: Repeat,
        new: &mut [bool],
    ) {
        match repeat {
            Repeat::Refresh => self.filter.insert_hashes(hashes, now, new),
            Repeat::Keep => self.filter.insert_new_hashes(hashes, now, new),
        }
    }

    /// An empty filter that is built alike and hashes alike.
    pub fn empty_alike(&self) -> Result<Self, Error> {
        let filter = self.filter.blueprint().build(self.hashing.structure_seed())?;
        Ok(Self { hashing: self.hashing, filter })
    }

    /// An error that says in what they differ unless keys become the same hashes in both.
    pub fn check_hashing(&self, other: &Self) -> Result<(), Error> {
        let differences = match (self.hashing, other.hashing) {
            (ours, theirs) if ours == theirs => return Ok(()),
            (Hashing::Fast(ours), Hashing::Fast(theirs)) => {
                format!("seed ({} and {})", ours.0, theirs.0)
            }
            // Secrets stay secret.
            (Hashing::Keyed(_), Hashing::Keyed(_)) => "their secret keys".to_owned(),
            _ => "hashing (one is keyed)".to_owned(),
        };
        Err(Error::Different { differences })
    }
}
