//! The words of a command that name items.

#![allow(unsafe_code)]

use super::api;
use super::call::bytes_of;

/// Some words of a command, read as they are needed.
#[derive(Clone, Copy)]
pub struct Items<'a>(pub(super) &'a [*mut api::String]);

impl<'a> Items<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Their bytes.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        // SAFETY: these are strings of the command, which live as long as `'a`.
        self.0.iter().map(|&string| unsafe { bytes_of(string) })
    }
}
