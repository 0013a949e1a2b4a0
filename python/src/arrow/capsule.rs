//! Arrays from capsules, and back into them.
//!
//! An object with `__arrow_c_stream__` gives a capsule with a stream of arrays, one with
//! `__arrow_c_array__` two with an array and its type. The capsule owns its structure until somebody takes
//! it out and leaves one that says "released" behind; that is what `from_raw` does.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::ptr::NonNull;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, make_array};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

/// Whether an object is a column or a stream of such.
pub fn is_column(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")?)
}

/// The arrays that an object consists of.
pub fn arrays(object: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        return arrays_of_stream(&capsule);
    }
    let both = object.call_method0("__arrow_c_array__")?;
    let both = both.cast::<PyTuple>()?;
    let (schema, array) = (both.get_item(0)?, both.get_item(1)?);
    let schema = pointer::<FFI_ArrowSchema>(&schema, c"arrow_schema")?;
    let array = pointer::<FFI_ArrowArray>(&array, c"arrow_array")?;
    // SAFETY: capsules of these names hold these structures, by the Arrow PyCapsule interface, and own
    // them as long as we hold the capsules. What is taken out leaves a released one behind.
    let (schema, array) = unsafe {
        (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr()))
    };
    Ok(vec![import(array, &schema)?])
}

fn arrays_of_stream(capsule: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let stream = pointer::<FFI_ArrowArrayStream>(capsule, c"arrow_array_stream")?;
    // SAFETY: as for arrays.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return Err(PyValueError::new_err("this stream was read already; make a new one"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: functions of a stream that was not released may be called with it, and write what they
    // are named for.
    let status = unsafe { get_schema(&mut stream, &mut schema) };
    succeed(status, &mut stream)?;
    let mut arrays = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as above.
        let status = unsafe { get_next(&mut stream, &mut array) };
        succeed(status, &mut stream)?;
        if array.is_released() {
            return Ok(arrays);
        }
        arrays.push(import(array, &schema)?);
    }
}

fn import(array: FFI_ArrowArray, schema: &FFI_ArrowSchema) -> PyResult<ArrayRef> {
    // SAFETY: whoever exported them promises that they are what the C data interface says.
    let data = unsafe { from_ffi(array, schema) };
    let mut data = data.map_err(|error| PyValueError::new_err(error.to_string()))?;
    // Some export buffers that are not aligned for their type.
    data.align_buffers();
    Ok(make_array(data))
}

fn succeed(status: i32, stream: &mut FFI_ArrowArrayStream) -> PyResult<()> {
    if status == 0 {
        return Ok(());
    }
    // SAFETY: as above; the text is the stream's until it is called again.
    let words = stream.get_last_error.map(|get_last_error| unsafe { get_last_error(stream) });
    let words = words.filter(|words| !words.is_null()).map(|words| {
        // SAFETY: a text that ends with zero, by the interface.
        unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
    });
    let words = words.unwrap_or_else(|| format!("error {status}"));
    Err(PyValueError::new_err(format!("the stream of arrays failed: {words}")))
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
        PyTypeError::new_err("an Arrow interface must give capsules; this one does not")
    })?;
    Ok(capsule.pointer_checked(Some(name))?.cast())
}

/// An array for other libraries.
#[pyclass(frozen, module = "lately._lately")]
pub struct Exported(pub ArrayRef);

#[pymethods]
impl Exported {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        let (array, schema) =
            to_ffi(&self.0.to_data()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        let array = PyCapsule::new_with_value(py, array, c"arrow_array")?;
        PyTuple::new(py, [schema, array])
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}
