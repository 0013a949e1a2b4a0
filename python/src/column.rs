//! Many keys at once, as Python has them: lists and whatever can be iterated, arrays of numpy, columns of
//! pandas, polars, pyarrow and all that speak Arrow.
//!
//! A list, whose values can be wrong one by one, is hashed before anything is done with it: a batch is taken
//! whole or not at all. So is an Arrow column, whose type is known. An array of numpy comes in pieces.

use std::ops::Range;

use arrow_buffer::NullBuffer;
use lately::{Hashing, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PySlice, PyString};

use crate::arrow::{self, Keys};
use crate::key;
use crate::moment::{self, When};

/// Values of an array of numpy that are copied at a time: so few that they do not push the filter out of the
/// caches, so many that asking numpy for them costs little.
const PIECE: usize = 1 << 13;

/// Rows of a column, some of which may have no key.
pub struct Rows {
    keys: Source,
    nulls: Option<NullBuffer>,
}

enum Source {
    Known(Vec<u64>),
    Arrow(Keys),
}

impl Rows {
    pub fn len(&self) -> usize {
        match &self.keys {
            Source::Known(hashes) => hashes.len(),
            Source::Arrow(keys) => keys.len(),
        }
    }

    /// The room of hashes that were known, for the next ones.
    fn into_known(self) -> Vec<u64> {
        match self.keys {
            Source::Known(hashes) => hashes,
            Source::Arrow(_) => Vec::new(),
        }
    }

    /// Which of them have a key, unless all do.
    pub fn nulls(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    /// Hashes of so many rows from `start` on, of those without a key any; `room` is for those that are not known yet.
    pub fn hashes<'a>(
        &'a self,
        start: usize,
        count: usize,
        hashing: &Hashing,
        room: &'a mut [u64],
    ) -> &'a [u64] {
        match &self.keys {
            Source::Known(known) => &known[start..start + count],
            Source::Arrow(keys) => {
                keys.hashes(start, hashing, &mut room[..count]);
                &room[..count]
            }
        }
    }

    fn of_arrow(array: arrow_array::ArrayRef, hashing: &Hashing) -> PyResult<Self> {
        let keys = Keys::new(array)?;
        let nulls = keys.nulls();
        let keys = match keys.spelled_out(hashing) {
            Some(hashes) => Source::Known(hashes),
            None => Source::Arrow(keys),
        };
        Ok(Self { keys, nulls })
    }

    fn of_objects(objects: &Bound<'_, PyAny>, hashing: &Hashing) -> PyResult<Self> {
        let (mut hashes, mut there) = (Vec::new(), Vec::new());
        let mut missing = false;
        for object in objects.try_iter()? {
            let object = object?;
            let is_there = !object.is_none();
            hashes.push(if is_there { key::hash(&object, hashing)? } else { 0 });
            there.push(is_there);
            missing |= !is_there;
        }
        let nulls = missing.then(|| NullBuffer::from(there));
        Ok(Self { keys: Source::Known(hashes), nulls })
    }
}

/// Whose column it is: answers come back in kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    List,
    Numpy,
    Pyarrow,
    Polars,
}

/// A column of keys.
pub struct Column<'py> {
    pub kind: Kind,
    pub len: usize,
    hashing: Hashing,
    source: Pieces<'py>,
}

enum Pieces<'py> {
    Ready(Vec<Rows>),
    Numpy { array: Bound<'py, PyAny>, values: Values },
}

/// What the bytes of an array of numpy stand for.
#[derive(Clone, Copy)]
enum Values {
    /// Integers of eight bytes.
    Integers { signed: bool },
    /// Bytes of this length, with zeros at their end that do not count.
    Bytes(usize),
}

impl<'py> Column<'py> {
    /// The column that an object is.
    pub fn new(keys: &Bound<'py, PyAny>, hashing: &Hashing) -> PyResult<Self> {
        let library = library(keys)?;
        if library == "numpy" {
            return Self::of_numpy(keys, hashing);
        }
        // Other columns of pandas say themselves what is missing.
        if library == "pandas" && has_plain_values(keys)? {
            return Self::of_numpy(&keys.call_method0("to_numpy")?, hashing);
        }
        if keys.cast::<PyString>().is_ok() || keys.cast::<PyBytes>().is_ok() {
            let words =
                "many keys are a list or a column, not one text: call `add` for a single key";
            return Err(PyTypeError::new_err(words));
        }
        let rows = if arrow::is_column(keys)? {
            let of_one = |array| Rows::of_arrow(array, hashing);
            arrow::arrays(keys)?.into_iter().map(of_one).collect::<PyResult<_>>()?
        } else {
            vec![Rows::of_objects(keys, hashing)?]
        };
        Ok(Self::ready(Kind::of(&library), rows, hashing))
    }

    fn ready(kind: Kind, rows: Vec<Rows>, hashing: &Hashing) -> Self {
        let len = rows.iter().map(Rows::len).sum();
        Self { kind, len, hashing: *hashing, source: Pieces::Ready(rows) }
    }

    fn of_numpy(array: &Bound<'py, PyAny>, hashing: &Hashing) -> PyResult<Self> {
        let dtype = array.getattr("dtype")?;
        let (kind, size) = (dtype.getattr("kind")?, dtype.getattr("itemsize")?.extract()?);
        let dimensions = array.getattr("ndim")?.extract::<usize>()?;
        if dimensions != 1 {
            let words = format!("an array of keys has one dimension, not {dimensions}");
            return Err(PyValueError::new_err(words));
        }
        let masked = array.hasattr("mask")?;
        let values = match kind.extract::<String>()?.as_str() {
            "i" if !masked => Values::Integers { signed: true },
            "u" | "b" if !masked => Values::Integers { signed: false },
            "S" if !masked => Values::Bytes(size),
            "i" | "u" | "b" | "S" | "U" | "O" | "T" => {
                let rows = Rows::of_objects(&array.call_method0("tolist")?, hashing)?;
                return Ok(Self::ready(Kind::Numpy, vec![rows], hashing));
            }
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "an array of keys is of integers, bytes or text, not of {}",
                    dtype.str()?
                )));
            }
        };
        let len = array.len()?;
        let source = Pieces::Numpy { array: array.clone(), values };
        Ok(Self { kind: Kind::Numpy, len, hashing: *hashing, source })
    }

    /// The first row without a key.
    pub fn first_null(&self) -> Option<usize> {
        let Pieces::Ready(rows) = &self.source else { return None };
        let mut begin = 0;
        for rows in rows {
            if let Some(nulls) = &rows.nulls
                && let Some(first) = nulls.iter().position(|there| !there)
            {
                return Some(begin + first);
            }
            begin += rows.len();
        }
        None
    }

    /// Shows rows to `work`, piece after piece, with how many were before them.
    pub fn each(&self, mut work: impl FnMut(&[Rows], usize)) -> PyResult<()> {
        match &self.source {
            Pieces::Ready(rows) => work(rows, 0),
            Pieces::Numpy { array, values } => {
                let mut hashes = Vec::with_capacity(PIECE);
                for start in (0..self.len).step_by(PIECE) {
                    values.hashes(array, start..self.len, &self.hashing, &mut hashes)?;
                    let rows = [Rows { keys: Source::Known(hashes), nulls: None }];
                    work(&rows, start);
                    let [rows] = rows;
                    hashes = rows.into_known();
                }
            }
        }
        Ok(())
    }
}

impl Values {
    /// The hashes of the next piece of an array. Numpy copies it, whatever its steps and the order of its bytes.
    fn hashes(
        self,
        array: &Bound<'_, PyAny>,
        rest: Range<usize>,
        hashing: &Hashing,
        hashes: &mut Vec<u64>,
    ) -> PyResult<()> {
        let py = array.py();
        let (start, end) = (rest.start, rest.end.min(rest.start + PIECE));
        let piece = array.get_item(PySlice::new(py, start as isize, end as isize, 1))?;
        let piece = match self {
            Self::Integers { signed } => {
                let as_is = PyDict::new(py);
                as_is.set_item("copy", false)?;
                piece.call_method("astype", (if signed { "<i8" } else { "<u8" },), Some(&as_is))?
            }
            Self::Bytes(_) => piece,
        };
        let bytes = piece.call_method0("tobytes")?;
        let bytes = bytes.cast::<PyBytes>()?.as_bytes();
        py.detach(|| match self {
            // Eight bytes, least first: what an integer is as a key.
            Self::Integers { .. } => {
                hashes.resize(end - start, 0);
                hashing.hash_words(bytes.as_chunks().0, hashes);
            }
            Self::Bytes(0) => {
                hashes.clear();
                hashes.resize(end - start, hashing.hash(b""));
            }
            Self::Bytes(size) => {
                let trimmed = |key: &[u8]| {
                    let length = key.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                    hashing.hash(&key[..length])
                };
                hashes.clear();
                hashes.extend(bytes.chunks_exact(size).map(trimmed));
            }
        });
        Ok(())
    }
}

impl Kind {
    fn of(library: &str) -> Self {
        match library {
            "pyarrow" => Self::Pyarrow,
            "polars" => Self::Polars,
            "pandas" => Self::Numpy,
            _ => Self::List,
        }
    }
}

/// The values of a column as objects, and whose column it is.
pub fn objects<'py>(keys: &Bound<'py, PyAny>) -> PyResult<(Kind, Vec<Bound<'py, PyAny>>)> {
    let library = library(keys)?;
    let kind = if library == "numpy" { Kind::Numpy } else { Kind::of(&library) };
    // Each library has its own name for it.
    let listed = match library.as_str() {
        "numpy" => keys.call_method0("tolist")?,
        "pandas" | "polars" => keys.call_method0("to_list")?,
        "pyarrow" => keys.call_method0("to_pylist")?,
        _ => keys.clone(),
    };
    Ok((kind, listed.try_iter()?.collect::<PyResult<_>>()?))
}

/// The moments of a batch: one for all, or a column of them, as long as that of the keys.
pub fn when(now: &Bound<'_, PyAny>, len: usize) -> PyResult<When> {
    let mut moments = Vec::new();
    if library(now)? == "numpy" && now.getattr("ndim")?.extract::<usize>()? == 1 {
        numpy_moments(now, &mut moments)?;
    } else if arrow::is_column(now)? {
        for array in arrow::arrays(now)? {
            arrow::moments(&*array, &mut moments)?;
        }
    } else if let Ok(list) = now.try_iter() {
        for now in list {
            moments.push(moment::of(&now?)?);
        }
    } else {
        return Ok(When::Once(moment::of(now)?));
    }
    if moments.len() != len {
        let words =
            format!("{} moments for {len} keys: one for each, or one for all", moments.len());
        return Err(PyValueError::new_err(words));
    }
    Ok(When::each(moments))
}

fn numpy_moments(array: &Bound<'_, PyAny>, moments: &mut Vec<Time>) -> PyResult<()> {
    let kind = array.getattr("dtype")?.getattr("kind")?.extract::<String>()?;
    let (array, seconds) = match kind.as_str() {
        "M" => {
            let missing = array.py().import("numpy")?.call_method1("isnat", (array,))?;
            if missing.call_method0("any")?.is_truthy()? {
                return Err(PyValueError::new_err(
                    "a moment is missing (NaT) in the column of times",
                ));
            }
            (array.call_method1("astype", ("datetime64[ms]",))?, false)
        }
        "i" | "u" => (array.clone(), false),
        "f" => (array.call_method1("astype", ("<f8",))?, true),
        _ => {
            for now in array.call_method0("tolist")?.try_iter()? {
                moments.push(moment::of(&now?)?);
            }
            return Ok(());
        }
    };
    let array = if seconds { array } else { array.call_method1("astype", ("<i8",))? };
    let bytes = array.call_method0("tobytes")?;
    for bytes in bytes.cast::<PyBytes>()?.as_bytes().chunks_exact(8) {
        let bytes: [u8; 8] = bytes.try_into().expect("chunks of eight");
        moments.push(if seconds {
            moment::of_millis(f64::from_le_bytes(bytes) * 1000.0)?
        } else {
            moment::of_integer(i64::from_le_bytes(bytes).into())?
        });
    }
    Ok(())
}

/// Whether a column of pandas is an array of numpy.
fn has_plain_values(column: &Bound<'_, PyAny>) -> PyResult<bool> {
    match column.getattr("dtype") {
        Ok(dtype) => Ok(library(&dtype)? == "numpy"),
        // A frame has one for each column.
        Err(_) => Ok(false),
    }
}

/// The library that an object's type is of.
fn library(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let module = object.get_type().module()?.to_string();
    Ok(module.split('.').next().unwrap_or_default().to_owned())
}
