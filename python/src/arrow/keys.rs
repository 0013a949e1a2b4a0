//! Arrays as keys.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayAccessor, ArrayRef};
use arrow_schema::DataType;
use lately::{Hashing, Key};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// An array whose values can be keys.
pub struct Keys(ArrayRef);

impl Keys {
    /// Refuses an array of another type.
    pub fn new(array: ArrayRef) -> PyResult<Self> {
        let kind = match array.data_type() {
            DataType::Dictionary(_, values) => values,
            plain => plain,
        };
        if is_key(kind) {
            return Ok(Self(array));
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

    /// Which of them are there.
    pub fn nulls(&self) -> Option<arrow_buffer::NullBuffer> {
        self.0.logical_nulls().filter(|nulls| nulls.null_count() > 0)
    }

    /// The hashes of the values of a dictionary, one for each row, for whoever wants them at once.
    pub fn spelled_out(&self, hashing: &Hashing) -> Option<Vec<u64>> {
        macro_rules! of_keys {
            ($($kind:ident: $type:ty),+) => {
                match self.0.data_type() {
                    DataType::Dictionary(kind, _) => match &**kind {
                        $(DataType::$kind => Some(spelled_out::<$type>(&*self.0, hashing)),)+
                        _ => None,
                    },
                    _ => None,
                }
            };
        }
        of_keys!(
            Int8: Int8Type, Int16: Int16Type, Int32: Int32Type, Int64: Int64Type,
            UInt8: UInt8Type, UInt16: UInt16Type, UInt32: UInt32Type, UInt64: UInt64Type
        )
    }

    /// Hashes of values from one on; of missing ones any.
    pub fn hashes(&self, start: usize, hashing: &Hashing, hashes: &mut [u64]) {
        let array = &*self.0;
        match array.data_type() {
            DataType::Utf8 => text(array.as_string::<i32>(), start, hashing, hashes),
            DataType::LargeUtf8 => text(array.as_string::<i64>(), start, hashing, hashes),
            DataType::Utf8View => text(array.as_string_view(), start, hashing, hashes),
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
    let binary = matches!(
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
    binary || kind.is_integer()
}

fn spelled_out<K: ArrowDictionaryKeyType>(array: &dyn Array, hashing: &Hashing) -> Vec<u64> {
    let dictionary = array.as_dictionary::<K>();
    let values = Keys(Arc::clone(dictionary.values()));
    let mut hashes = vec![0; values.len()];
    values.hashes(0, hashing, &mut hashes);
    // The keys of missing values are any.
    let of_row = |key: Option<usize>| key.and_then(|key| hashes.get(key)).copied().unwrap_or(0);
    dictionary.keys_iter().map(of_row).collect()
}

fn text<'a>(
    array: impl ArrayAccessor<Item = &'a str>,
    start: usize,
    hashing: &Hashing,
    hashes: &mut [u64],
) {
    for (row, hash) in hashes.iter_mut().enumerate() {
        *hash = hashing.hash(array.value(start + row).as_bytes());
    }
}

fn bytes<'a>(
    array: impl ArrayAccessor<Item = &'a [u8]>,
    start: usize,
    hashing: &Hashing,
    hashes: &mut [u64],
) {
    for (row, hash) in hashes.iter_mut().enumerate() {
        *hash = hashing.hash(array.value(start + row));
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
