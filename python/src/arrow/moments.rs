//! Arrays as moments: milliseconds as integers, seconds as floats, timestamps of any unit, days.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt64Type,
};
use arrow_schema::{DataType, TimeUnit};
use lately::Time;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::moment::{of_integer, of_millis};

/// The moments in an array, added to a list.
pub fn moments(array: &dyn Array, list: &mut Vec<Time>) -> PyResult<()> {
    if array.logical_null_count() > 0 {
        let words = "a moment is missing in the column of times: fill it, or leave out its row";
        return Err(PyValueError::new_err(words));
    }
    list.reserve(array.len());
    macro_rules! integers {
        ($type:ty, $millis:expr) => {{
            let millis: fn(i128) -> i128 = $millis;
            for &value in array.as_primitive::<$type>().values() {
                list.push(of_integer(millis(value.into()))?);
            }
        }};
    }
    macro_rules! seconds {
        ($type:ty) => {
            for &value in array.as_primitive::<$type>().values() {
                list.push(of_millis(f64::from(value) * 1000.0)?);
            }
        };
    }
    match array.data_type() {
        DataType::Int64 => integers!(Int64Type, |millis| millis),
        DataType::UInt64 => integers!(UInt64Type, |millis| millis),
        DataType::Float64 => seconds!(Float64Type),
        DataType::Float32 => seconds!(Float32Type),
        DataType::Date32 => integers!(Date32Type, |days| days * 86_400_000),
        DataType::Timestamp(TimeUnit::Second, _) => {
            integers!(TimestampSecondType, |seconds| seconds * 1000)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            integers!(TimestampMillisecondType, |millis| millis)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            integers!(TimestampMicrosecondType, |micros| micros.div_euclid(1000))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            integers!(TimestampNanosecondType, |nanos| nanos.div_euclid(1_000_000))
        }
        other => {
            return Err(PyTypeError::new_err(format!(
                "a column of moments is of timestamps, 64-bit milliseconds or seconds as floats, not of \
                 {other}"
            )));
        }
    }
    Ok(())
}
