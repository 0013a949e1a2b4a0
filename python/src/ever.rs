//! Windows without end.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::window::Window;
use crate::wish::Windows;

/// Remembers every key, however many come: a window without end.
///
/// >>> import lately
/// >>> seen = lately.Ever(removing=True)
/// >>> seen.add("order 5"), seen.forget("order 5"), "order 5" in seen
/// (True, True, False)
#[pyclass(frozen, extends = Window, module = "lately")]
pub struct Ever;

#[pymethods]
impl Ever {
    #[new]
    #[pyo3(
        signature = (**wishes),
        text_signature = "(*, error=0.001, memory=None, expected=None, alphabet=None, removing=False, \
                          structure=None, seed=None, keyed=None)"
    )]
    fn new(wishes: Option<&Bound<'_, PyDict>>) -> PyResult<PyClassInitializer<Self>> {
        Ok(Window::wished(wishes, Windows::Ever)?.ever())
    }
}
