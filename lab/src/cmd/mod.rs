//! The commands, one file each.

pub mod list;
pub mod run;
pub mod soak;
pub mod verify;
pub mod work;
