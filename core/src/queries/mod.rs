//! What people do with counts: questions whose answers need keys, or several filters.
//!
//! A filter holds no keys. These hold some, or walk through those that they are given: an
//! [`Aggregate`] over given keys, the [`Top`] of a window, [`Iceberg`] queries (who came at least so often), joins between
//! sites ([`bloomjoin`]), and estimates of their size ([`bifocal`]). Each stands on a
//! [`Counter`](crate::Counter), whatever its structure.

mod aggregate;
pub mod bifocal;
pub mod bloomjoin;
mod iceberg;
mod kept;
mod top;
mod top_keys;
mod top_state;

pub use aggregate::Aggregate;
pub use iceberg::Iceberg;
pub use kept::{Heavy, Kept};
pub use top::Top;
pub use top_keys::TopKeys;
