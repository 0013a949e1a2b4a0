//! Answers to a batch, in kind: a list for a list, an array of numpy for one of numpy or a column of pandas, a
//! column of polars or pyarrow for theirs.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyList};

use crate::arrow::Exported;
use crate::column::{Column, Kind, Rows};

/// Whether, for each key of a column: what `answer` says of the rows of a piece, given how many were before them. It
/// leaves alone what is `missing`.
pub fn bools<'py>(
    py: Python<'py>,
    column: &Column<'py>,
    missing: bool,
    mut answer: impl FnMut(&[Rows], usize, &mut [bool]),
) -> PyResult<Bound<'py, PyAny>> {
    if column.kind == Kind::Numpy {
        // Piece by piece into the array: all answers once more, beside it, would be that much memory to clear.
        let mut piece = Vec::new();
        let bytes = PyByteArray::new_with(py, column.len, |bytes| {
            column.each(|rows, before| {
                piece.clear();
                piece.resize(rows.iter().map(Rows::len).sum(), missing);
                answer(rows, before, &mut piece);
                let bytes = bytes[before..].iter_mut().zip(&piece);
                bytes.for_each(|(byte, &answer)| *byte = answer.into());
            })
        })?;
        return numpy(py, &bytes, "?");
    }
    let mut answers = vec![missing; column.len];
    column.each(|rows, before| answer(rows, before, &mut answers[before..]))?;
    if column.kind == Kind::List {
        return Ok(PyList::new(py, answers)?.into_any());
    }
    in_kind(py, column.kind, Arc::new(BooleanArray::from(answers)))
}

/// How often, for each key.
pub fn counts<'py>(py: Python<'py>, kind: Kind, answers: Vec<u64>) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        Kind::List => Ok(PyList::new(py, answers)?.into_any()),
        Kind::Numpy => {
            let bytes: Vec<u8> = answers.iter().flat_map(|count| count.to_le_bytes()).collect();
            numpy(py, &PyByteArray::new(py, &bytes), "<u8")
        }
        Kind::Pyarrow | Kind::Polars => in_kind(py, kind, Arc::new(UInt64Array::from(answers))),
    }
}

fn numpy<'py>(
    py: Python<'py>,
    bytes: &Bound<'py, PyByteArray>,
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    py.import("numpy")?.call_method1("frombuffer", (bytes, dtype))
}

fn in_kind<'py>(py: Python<'py>, kind: Kind, array: ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let array = Exported(array).into_pyobject(py)?;
    match kind {
        Kind::Polars => py.import("polars")?.getattr("Series")?.call1((array,)),
        _ => py.import("pyarrow")?.call_method1("array", (array,)),
    }
}
