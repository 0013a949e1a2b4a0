//! Filters from snapshots, whoever wrote those.

use lately::raw::{Untyped, codec};
use lately::{Hashing, Seed};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::counter::Counter;
use crate::error::{SnapshotError, raised};
use crate::held::Held;
use crate::moment;
use crate::window::window;

/// The filter in a snapshot, whoever wrote it: bytes(filter), the library, the command's state file, the
/// module's LATELY.DUMP. A Window, an Ever or a Counter. How far ahead of the clock a window by time believes
/// a moment is no part of a snapshot.
///
/// >>> import lately
/// >>> seen = lately.Ever()
/// >>> seen.add("a")
/// True
/// >>> "a" in lately.open(bytes(seen))
/// True
#[pyfunction]
#[pyo3(signature = (snapshot, max_ahead = None))]
pub fn open<'py>(
    py: Python<'py>,
    snapshot: &Bound<'py, PyAny>,
    max_ahead: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let held = opened(py, snapshot, max_ahead)?;
    if held.is_for_counting(py) {
        return Ok(Bound::new(py, Counter::of(py, held)?)?.into_any());
    }
    window(py, held)
}

/// The filter in a snapshot, of whatever kind.
pub fn opened(
    py: Python<'_>,
    snapshot: &Bound<'_, PyAny>,
    max_ahead: Option<&Bound<'_, PyAny>>,
) -> PyResult<Held> {
    let max_ahead = max_ahead.map(moment::span).transpose()?;
    let bytes = match snapshot.cast::<PyBytes>() {
        Ok(bytes) => bytes.clone(),
        Err(_) if snapshot.hasattr("__index__")? => {
            return Err(PyTypeError::new_err("a snapshot is bytes, such as a file holds them"));
        }
        Err(_) => py.get_type::<PyBytes>().call1((snapshot,))?.cast_into()?,
    };
    let file = bytes.as_bytes();
    let untyped = py.detach(|| {
        let snapshot = codec::snapshot_of(file);
        let has_note = is_note(&file[snapshot.len()..]);
        Untyped::open(if has_note { snapshot } else { file })
    });
    let untyped = untyped.map_err(|error| match error {
        lately::Error::NotASnapshot if file.starts_with(BUNDLE) => SnapshotError::new_err(
            "this is a filter in parts, for threads of a Rust program: open it there",
        ),
        other => raised(other),
    })?;
    Ok(Held::new(untyped, max_ahead))
}

/// What a filter that threads share begins with.
const BUNDLE: &[u8] = b"\x89LATLZ\r\n";

/// Whether bytes are the note that the command writes after a snapshot, and whole.
fn is_note(after: &[u8]) -> bool {
    const MAGIC: &[u8] = b"\x89LATNOTE";
    let Some(before) = after.strip_suffix(MAGIC) else { return false };
    let Some((before, length)) = before.split_last_chunk::<4>() else { return false };
    let Some((note, checksum)) = before.split_last_chunk::<8>() else { return false };
    note.len() as u64 == u64::from(u32::from_le_bytes(*length))
        && Hashing::Fast(Seed(0)).hash(note) == u64::from_le_bytes(*checksum)
}
