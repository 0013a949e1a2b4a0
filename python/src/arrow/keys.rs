//! Arrays as keys: of text, bytes or integers, plain or in a dictionary, and rows of several such columns, which
//! are keys of several parts.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    AnyDictionaryArray, Array, ArrayAccessor, ArrayRef, BinaryArray, LargeBinaryArray, StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use lately::key::{Bytes, join};
use lately::{Hashing, Key};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// An array whose values can be keys.
pub struct Keys(ArrayRef);

impl Keys {
    /// Refuses an array of another type.
    pub fn new(array: ArrayRef) -> PyResult<Self> {
        let fits = match array.data_type() {
            DataType::Struct(fields) => {
                !fields.is_empty() && fields.iter().all(|field| is_key(field.data_type()))
            }
            one => is_key(one),
        };
        if fits {
            return Ok(Self(as_bytes(array)));
        }
        Err(PyTypeError::new_err(format!(
            "a column of keys is of text, bytes or integers, not of {}",
            array.data_type()
        )))
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Which of them are there: of several parts all.
    pub fn nulls(&self) -> Option<NullBuffer> {
        let mut nulls = self.0.logical_nulls();
        if let Some(rows) = self.0.as_struct_opt() {
            for part in rows.columns() {
                nulls = NullBuffer::union(nulls.as_ref(), part.logical_nulls().as_ref());
            }
        }
        nulls.filter(|nulls| nulls.null_count() > 0)
    }

    /// The hashes of all rows, if they are better known at once: of a dictionary, whose values are hashed once,
    /// and of several parts, which are put together.
    pub fn spelled_out(&self, hashing: &Hashing) -> Option<Vec<u64>> {
        if let Some(rows) = self.0.as_struct_opt() {
            return Some(hashes_of_rows(rows, hashing));
        }
        let dictionary = self.0.as_any_dictionary_opt()?;
        let mut hashes = vec![0; dictionary.values().len()];
        Self(as_bytes(Arc::clone(dictionary.values()))).hashes(0, hashing, &mut hashes);
        // Where the key is missing, it is any.
        let of_row = |value: usize| hashes.get(value).copied().unwrap_or(0);
        Some(places(dictionary).into_iter().map(of_row).collect())
    }

    /// Hashes of values from one on; of missing ones any.
    pub fn hashes(&self, start: usize, hashing: &Hashing, hashes: &mut [u64]) {
        let array = &*self.0;
        match array.data_type() {
            DataType::Binary => bytes(array.as_binary::<i32>(), start, hashing, hashes),
            DataType::LargeBinary => bytes(array.as_binary::<i64>(), start, hashing, hashes),
            DataType::BinaryView => bytes(array.as_binary_view(), start, hashing, hashes),
            DataType::FixedSizeBinary(_) => {
                bytes(array.as_fixed_size_binary(), start, hashing, hashes);
            }
            DataType::Int8 => integers::<Int8Type>(array, start, hashing, hashes),
            DataType::Int16 => integers::<Int16Type>(array, start, hashing, hashes),
            DataType::Int32 => integers::<Int32Type>(array, start, hashing, hashes),
            DataType::Int64 => integers::<Int64Type>(array, start, hashing, hashes),
            DataType::UInt8 => integers::<UInt8Type>(array, start, hashing, hashes),
            DataType::UInt16 => integers::<UInt16Type>(array, start, hashing, hashes),
            DataType::UInt32 => integers::<UInt32Type>(array, start, hashing, hashes),
            DataType::UInt64 => integers::<UInt64Type>(array, start, hashing, hashes),
            _ => {}
        }
    }
}

fn is_key(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_plain(values),
        plain => is_plain(plain),
    }
}

fn is_plain(kind: &DataType) -> bool {
    let bytes = matches!(
        kind,
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_)
            | DataType::Null
    );
    bytes || kind.is_integer()
}

/// Text as its bytes, which nobody need have checked.
fn as_bytes(array: ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8 => Arc::new(BinaryArray::from(array.as_string::<i32>().clone())),
        DataType::LargeUtf8 => Arc::new(LargeBinaryArray::from(array.as_string::<i64>().clone())),
        DataType::Utf8View => Arc::new(array.as_string_view().clone().to_binary_view()),
        _ => array,
    }
}

/// Which value of a dictionary each row has.
fn places(dictionary: &dyn AnyDictionaryArray) -> Vec<usize> {
    // Of an empty dictionary every row is missing.
    if dictionary.values().is_empty() {
        return vec![0; dictionary.len()];
    }
    dictionary.normalized_keys()
}

/// Hashes of rows of several parts.
fn hashes_of_rows(rows: &StructArray, hashing: &Hashing) -> Vec<u64> {
    let parts: Vec<_> = rows.columns().iter().map(Part::new).collect();
    let mut joined = Vec::new();
    let hash_of_row = |row: usize| {
        joined.clear();
        parts.iter().for_each(|part| part.with_bytes(row, |bytes| join(&mut joined, bytes)));
        hashing.hash(&joined)
    };
    (0..rows.len()).map(hash_of_row).collect()
}

/// One part of keys of several.
struct Part {
    values: ArrayRef,
    /// Which value each row has, if not its own.
    places: Option<Vec<usize>>,
}

impl Part {
    fn new(column: &ArrayRef) -> Self {
        let (values, places) = match column.as_any_dictionary_opt() {
            Some(dictionary) => (dictionary.values(), Some(places(dictionary))),
            None => (column, None),
        };
        Self { values: as_bytes(Arc::clone(values)), places }
    }

    /// Shows the bytes of a value to `then`, if it is there.
    fn with_bytes(&self, row: usize, then: impl FnOnce(&[u8])) {
        let (array, row) = (&*self.values, self.places.as_ref().map_or(row, |places| places[row]));
        if row >= array.len() || array.is_null(row) {
            return;
        }
        match array.data_type() {
            DataType::Binary => then(array.as_binary::<i32>().value(row)),
            DataType::LargeBinary => then(array.as_binary::<i64>().value(row)),
            DataType::BinaryView => then(array.as_binary_view().value(row)),
            DataType::FixedSizeBinary(_) => then(array.as_fixed_size_binary().value(row)),
            DataType::Int8 => array.as_primitive::<Int8Type>().value(row).with_bytes(then),
            DataType::Int16 => array.as_primitive::<Int16Type>().value(row).with_bytes(then),
            DataType::Int32 => array.as_primitive::<Int32Type>().value(row).with_bytes(then),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(row).with_bytes(then),
            DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).with_bytes(then),
            DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).with_bytes(then),
            DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).with_bytes(then),
            DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).with_bytes(then),
            _ => {}
        }
    }
}

fn bytes<'a>(
    array: impl ArrayAccessor<Item = &'a [u8]>,
    start: usize,
    hashing: &Hashing,
    hashes: &mut [u64],
) {
    let rows = hashes.iter_mut().zip(start..);
    match array.nulls() {
        None => rows.for_each(|(hash, row)| *hash = hashing.hash(array.value(row))),
        // What is missing may be anything: it is not looked at.
        Some(nulls) => rows
            .filter(|&(_, row)| nulls.is_valid(row))
            .for_each(|(hash, row)| *hash = hashing.hash(array.value(row))),
    }
}

fn integers<T: ArrowPrimitiveType<Native: Key>>(
    array: &dyn Array,
    start: usize,
    hashing: &Hashing,
    hashes: &mut [u64],
) {
    let values = &array.as_primitive::<T>().values()[start..];
    for (hash, value) in hashes.iter_mut().zip(values) {
        *hash = value.hash_with(hashing);
    }
}
