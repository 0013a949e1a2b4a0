//! The commands, one file each.

pub mod list;
pub mod moment;
pub mod run;
pub mod soak;
pub mod span;
pub mod verify;
pub mod work;
