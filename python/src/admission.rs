//! Whether a key may pass once more.

use lately::Wait;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::moment;

/// The answer of Counter.admit: true where the key passed.
///
/// >>> import lately
/// >>> hits = lately.Counter(within="1m")
/// >>> [bool(hits.admit("user 7", limit=2, now=now)) for now in (0.0, 1.0, 2.0)]
/// [True, True, False]
/// >>> denied = hits.admit("user 7", limit=2, now=2.0)
/// >>> denied.allowed, denied.count, denied.left
/// (False, 2, 0)
#[pyclass(frozen, module = "lately")]
pub struct Admission(pub lately::Admission);

#[pymethods]
impl Admission {
    /// Whether it passed, and was counted.
    #[getter]
    fn allowed(&self) -> bool {
        self.0.allowed
    }

    /// How often it counts now.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count
    }

    /// Of what it counted before, what is in the window for sure.
    #[getter]
    fn surely(&self) -> u64 {
        self.0.surely
    }

    /// How many more may pass now.
    #[getter]
    fn left(&self) -> u64 {
        self.0.left
    }

    /// How long until what was denied may pass, if nothing else does: a timedelta, or of a window by count how
    /// many others must come. None if it passed, if it never can, and where that is not known.
    #[getter]
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match self.0.wait {
            None => None,
            Some(Wait::Items(items)) => Some(items.into_bound_py_any(py)?),
            Some(Wait::Time(span)) => Some(moment::delta(py, span.millis())?.into_any()),
        })
    }

    fn __bool__(&self) -> bool {
        self.0.allowed
    }

    fn __repr__(&self) -> String {
        let lately::Admission { allowed, count, surely, left, wait } = self.0;
        let allowed = if allowed { "True" } else { "False" };
        let wait = match wait {
            None => "None".to_owned(),
            Some(Wait::Items(items)) => format!("{items} items"),
            Some(Wait::Time(span)) => span.to_string(),
        };
        format!(
            "Admission(allowed={allowed}, count={count}, surely={surely}, left={left}, wait={wait})"
        )
    }
}
