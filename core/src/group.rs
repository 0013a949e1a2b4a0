//! How the sightings of a key leave a window: not one by one, but in groups.

/// Sightings of a key that leave a window together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The first moment at which they are no longer counted, by
    /// [`Counting::group_clock`](crate::raw::Counting::group_clock); the last there is if they never leave.
    pub leaves: u64,
    /// How many there are.
    pub count: u64,
}
