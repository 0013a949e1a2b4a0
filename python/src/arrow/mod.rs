//! Columns of other libraries by the Arrow C data interface: no copy, and no object for each value.
//!
//! `capsule` is the only file of the package that the compiler does not check: there pointers that another
//! library promises become arrays.

mod capsule;
mod keys;
mod moments;

pub use capsule::{Exported, arrays, is_column};
pub use keys::Keys;
pub use moments::moments;
