//! The keys that came most often, beside the counter that counts them.
//!
//! Keys are told as they came, so that they are text or bytes here: of an integer, or of several parts, only
//! the bytes are known afterwards. What is text is told as text, for a text and its bytes in UTF-8 are one key.

use lately::queries::TopKeys;
use lately::raw::Counting;
use lately::{Hashing, Time, Window};
use parking_lot::Mutex;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

use crate::error::raised;
use crate::key;

/// The keys, behind a lock that only those take who have the filter's.
pub struct Top(Mutex<TopKeys>);

impl Top {
    /// So many, for a counter that has no keys yet.
    pub fn new(window: Window, counting: &dyn Counting, most: usize) -> PyResult<Self> {
        TopKeys::new(window, counting, most).map(|keys| Self(Mutex::new(keys))).map_err(raised)
    }

    /// As they were saved beside the counter.
    pub fn open(bytes: &[u8], window: Window, hashing: &Hashing) -> PyResult<Self> {
        TopKeys::open(bytes, window, hashing).map(|keys| Self(Mutex::new(keys))).map_err(raised)
    }

    pub fn save(&self) -> Vec<u8> {
        self.0.lock().save()
    }

    pub fn copy(&self) -> Self {
        Self(Mutex::new(self.0.lock().clone()))
    }

    /// Forgets all, for a counter that has forgotten them.
    pub fn clear(&self, window: Window, counting: &dyn Counting) -> PyResult<()> {
        let most = self.0.lock().most();
        *self.0.lock() = TopKeys::new(window, counting, most).map_err(raised)?;
        Ok(())
    }

    pub fn heap_bytes(&self) -> u64 {
        self.0.lock().heap_bytes()
    }

    /// Lets go what has left by a moment.
    pub fn expire(&self, counting: &dyn Counting, now: Time) {
        self.0.lock().expire(counting, now);
    }

    /// Notes a key that was just counted.
    pub fn note(&self, key: (u64, &[u8]), count: u64, counting: &dyn Counting, now: Time) {
        self.0.lock().note(key, count, counting, now);
    }

    /// Those that count most at a moment, with their counts.
    pub fn list<'py>(
        &self,
        py: Python<'py>,
        most: Option<usize>,
        counting: &dyn Counting,
        now: Time,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, u64)>> {
        let keys = self.0.lock();
        let list = keys.list(most.unwrap_or(usize::MAX), counting, now);
        list.into_iter().map(|(key, count)| Ok((told(py, key), count))).collect()
    }
}

/// A key as it is told.
fn told<'py>(py: Python<'py>, key: &[u8]) -> Bound<'py, PyAny> {
    match str::from_utf8(key) {
        Ok(text) => PyString::new(py, text).into_any(),
        Err(_) => PyBytes::new(py, key).into_any(),
    }
}

/// The bytes of a key that can be told afterwards.
pub fn bytes(key: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let can_be_told = key.cast::<PyString>().is_ok()
        || key.cast::<PyBytes>().is_ok()
        || key.cast::<PyByteArray>().is_ok()
        || key.cast::<PyMemoryView>().is_ok();
    if !can_be_told {
        let kind = key.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "keys of a counter with top= are text or bytes, so that they can be told, not {kind}; str() of it may do"
        )));
    }
    key::with_bytes(key, <[u8]>::to_vec)
}
