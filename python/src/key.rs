//! Objects as keys: the rule of FORMAT.md, so that a filter answers alike in Rust, the command, the module
//! and here.
//!
//! | Object | Its bytes |
//! |---|---|
//! | `str` | in UTF-8 |
//! | `bytes`, `bytearray`, `memoryview` | as they are |
//! | `int`, `bool`, whatever has `__index__` | eight bytes, least first; sixteen if it does not fit |
//! | a tuple of those | of each part the length in eight bytes, least first, and its bytes |

use lately::Hashing;
use lately::key::{Bytes, join};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString, PyTuple};

/// The hash of a key.
#[inline]
pub fn hash(key: &Bound<'_, PyAny>, hashing: &Hashing) -> PyResult<u64> {
    if let Ok(text) = key.cast::<PyString>() {
        return Ok(hashing.hash(text.to_cow()?.as_bytes()));
    }
    hash_of_other(key, hashing)
}

fn hash_of_other(key: &Bound<'_, PyAny>, hashing: &Hashing) -> PyResult<u64> {
    let Ok(tuple) = key.cast::<PyTuple>() else {
        return with_bytes(key, |bytes| hashing.hash(bytes));
    };
    if tuple.is_empty() {
        return Err(PyValueError::new_err("a key of several parts needs one at least"));
    }
    let mut joined = Vec::new();
    for part in tuple.iter() {
        with_bytes(&part, |bytes| join(&mut joined, bytes))?;
    }
    Ok(hashing.hash(&joined))
}

/// Shows the bytes of a key, or of a part of one, to `then`.
pub fn with_bytes<R>(key: &Bound<'_, PyAny>, then: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Ok(text) = key.cast::<PyString>() {
        Ok(then(text.to_cow()?.as_bytes()))
    } else if let Ok(bytes) = key.cast::<PyBytes>() {
        Ok(then(bytes.as_bytes()))
    } else if key.cast::<PyByteArray>().is_ok() || key.cast::<PyMemoryView>().is_ok() {
        // A copy, since whoever owns them may change them.
        let bytes = key.py().get_type::<PyBytes>().call1((key,))?;
        Ok(then(bytes.cast::<PyBytes>()?.as_bytes()))
    } else {
        with_bytes_of_integer(key, then)
    }
}

fn with_bytes_of_integer<R>(key: &Bound<'_, PyAny>, then: impl FnOnce(&[u8]) -> R) -> PyResult<R> {
    if let Ok(short) = key.extract::<i64>() {
        return Ok(short.with_bytes(then));
    }
    if !key.hasattr("__index__")? {
        let kind = key.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "a key is text, bytes, an integer or a tuple of those, not {kind}"
        )));
    }
    if let Ok(wide) = key.extract::<i128>() {
        // Between the signed and the unsigned limit it is still eight bytes.
        return Ok(match u64::try_from(wide) {
            Ok(short) => short.with_bytes(then),
            Err(_) => wide.with_bytes(then),
        });
    }
    match key.extract::<u128>() {
        Ok(wide) => Ok(wide.with_bytes(then)),
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(key.py()) => {
            let words =
                "an integer as a key is from -2**127 to 2**128 - 1; give a larger one as text";
            Err(PyValueError::new_err(words))
        }
        Err(error) => Err(error),
    }
}
