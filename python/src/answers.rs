//! Answers to a batch, in kind: a list for a list, an array of numpy for one of numpy or a column of pandas, a
//! column of polars or pyarrow for theirs.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyList};

use crate::arrow::Exported;
use crate::column::Kind;

/// Whether, for each key.
pub fn bools<'py>(py: Python<'py>, kind: Kind, answers: Vec<bool>) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        Kind::List => Ok(PyList::new(py, answers)?.into_any()),
        Kind::Numpy => {
            let bytes: Vec<u8> = answers.into_iter().map(u8::from).collect();
            numpy(py, &bytes, "?")
        }
        Kind::Pyarrow | Kind::Polars => column(py, kind, Arc::new(BooleanArray::from(answers))),
    }
}

/// How often, for each key.
pub fn counts<'py>(py: Python<'py>, kind: Kind, answers: Vec<u64>) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        Kind::List => Ok(PyList::new(py, answers)?.into_any()),
        Kind::Numpy => {
            let bytes: Vec<u8> = answers.iter().flat_map(|count| count.to_le_bytes()).collect();
            numpy(py, &bytes, "<u8")
        }
        Kind::Pyarrow | Kind::Polars => column(py, kind, Arc::new(UInt64Array::from(answers))),
    }
}

fn numpy<'py>(py: Python<'py>, bytes: &[u8], dtype: &str) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyByteArray::new(py, bytes);
    py.import("numpy")?.call_method1("frombuffer", (bytes, dtype))
}

fn column<'py>(py: Python<'py>, kind: Kind, array: ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let array = Exported(array).into_pyobject(py)?;
    match kind {
        Kind::Polars => py.import("polars")?.getattr("Series")?.call1((array,)),
        _ => py.import("pyarrow")?.call_method1("array", (array,)),
    }
}
