//! Whether a key may pass, and when it may if not.

use crate::window::Span;

/// Whether a key may pass once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// Whether it passed, and was counted.
    pub allowed: bool,
    /// How often it counts now.
    pub count: u64,
    /// Of what it counted before, what is in the window for sure. A key that is denied although this and
    /// what was asked for are no more than the limit is denied by the slack: by sightings that may have left.
    pub surely: u64,
    /// How many more may pass now.
    pub left: u64,
    /// How long until what was denied may pass, if nothing else does: exact to a generation. `None` if it
    /// passed, if it never can, and where the structure does not know.
    pub wait: Option<Wait>,
}

/// How long until a sighting has left the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// When so many others have been counted: for windows by count.
    Items(u64),
    /// After so much time: for windows by time.
    Time(Span),
}
