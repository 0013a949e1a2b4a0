//! The library's errors as Python's exceptions, with the same words.

use lately::Error;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, create_exception};

create_exception!(
    lately,
    LatelyError,
    PyValueError,
    "What lately refused, and what to do about it."
);
create_exception!(lately, NoPlanError, LatelyError, "No structure reaches the goal.");
create_exception!(lately, UnsupportedError, LatelyError, "This filter cannot do that.");
create_exception!(lately, TooFarAheadError, LatelyError, "A moment is too far ahead of the clock.");
create_exception!(
    lately,
    SnapshotError,
    LatelyError,
    "These bytes are no snapshot, or a damaged one."
);

/// Names them in the package.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fn add<E: PyTypeInfo>(module: &Bound<'_, PyModule>, name: &str) -> PyResult<()> {
        module.add(name, module.py().get_type::<E>())
    }
    add::<LatelyError>(module, "LatelyError")?;
    add::<NoPlanError>(module, "NoPlanError")?;
    add::<UnsupportedError>(module, "UnsupportedError")?;
    add::<TooFarAheadError>(module, "TooFarAheadError")?;
    add::<SnapshotError>(module, "SnapshotError")
}

/// The exception for an error of the library.
pub fn raised(error: Error) -> PyErr {
    let words = error.to_string();
    match error {
        Error::NoPlan { .. } | Error::Unfit { .. } => NoPlanError::new_err(words),
        Error::Unsupported { .. } => UnsupportedError::new_err(words),
        Error::TooFarAhead { .. } => TooFarAheadError::new_err(words),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(words),
        Error::NotASnapshot
        | Error::Version { .. }
        | Error::Family { .. }
        | Error::Truncated { .. }
        | Error::Length { .. }
        | Error::Checksum { .. }
        | Error::Field { .. } => SnapshotError::new_err(words),
        _ => LatelyError::new_err(words),
    }
}

/// What this filter cannot do, and what to do instead.
pub fn unsupported(words: &'static str) -> PyErr {
    UnsupportedError::new_err(words)
}
