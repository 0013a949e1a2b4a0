//! The commands, one file each.

pub mod count;
pub mod door;
pub mod figures;
pub mod grow;
pub mod instructions;
pub mod list;
pub mod moment;
pub mod pipe;
pub mod report;
pub mod run;
pub mod soak;
pub mod span;
pub mod timed;
pub mod verify;
pub mod work;
