//! Moments and spans as Python has them.
//!
//! A moment is a `float` of seconds since 1970, an `int` of milliseconds, or a `datetime`; one without
//! a time zone is local, as everywhere in Python. A column of moments is a list of those, or a column of
//! numpy or Arrow of such numbers or of timestamps. A span is a text such as `"1h30m"`, a `timedelta`, or
//! seconds.

use lately::{Span, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDelta, PyFloat, PyString};

use crate::error::raised;

/// Milliseconds that a moment may be at most: beyond the year 200,000,000, and exact in a float.
const LATEST: f64 = (1_u64 << 53) as f64;

/// The moments of a batch.
pub enum When {
    /// One for all.
    Once(Time),
    /// One for each, and the latest of them.
    Each(Vec<Time>, Option<Time>),
}

impl When {
    /// One for each.
    pub fn each(moments: Vec<Time>) -> Self {
        let latest = moments.iter().copied().max();
        Self::Each(moments, latest)
    }

    /// The moment of a row.
    #[inline]
    pub fn at(&self, row: usize) -> Time {
        match self {
            Self::Once(now) => *now,
            Self::Each(moments, _) => moments[row],
        }
    }

    /// How many of the next rows have the same moment as the first of them; `row` says which they are.
    #[inline]
    pub fn run(&self, most: usize, row: impl Fn(usize) -> usize) -> usize {
        match self {
            Self::Once(_) => most,
            Self::Each(moments, _) => {
                let first = moments[row(0)];
                (1..most).find(|&offset| moments[row(offset)] != first).unwrap_or(most)
            }
        }
    }

    /// The latest of them.
    pub fn latest(&self) -> Option<Time> {
        match self {
            Self::Once(now) => Some(*now),
            Self::Each(_, latest) => *latest,
        }
    }
}

/// The moment that an object says.
pub fn of(now: &Bound<'_, PyAny>) -> PyResult<Time> {
    if let Ok(seconds) = now.cast::<PyFloat>() {
        return of_millis(seconds.value() * 1000.0);
    }
    if now.cast::<PyBool>().is_ok() {
        return Err(not_a_moment(now));
    }
    if now.hasattr("__index__")? {
        return match now.extract::<u64>() {
            Ok(millis) => of_integer(millis.into()),
            Err(_) => Err(out_of_range(&now.str()?.to_string())),
        };
    }
    match now.getattr("timestamp") {
        Ok(timestamp) => of_millis(timestamp.call0()?.extract::<f64>()? * 1000.0),
        Err(_) => Err(not_a_moment(now)),
    }
}

/// The moment so many milliseconds after 1970.
pub fn of_millis(millis: f64) -> PyResult<Time> {
    // Also false for what is not a number.
    if (0.0..=LATEST).contains(&millis) {
        Ok(Time::from_millis(millis.round() as u64))
    } else {
        Err(out_of_range(&format!("{millis} ms")))
    }
}

/// The same of an integer.
pub fn of_integer(millis: i128) -> PyResult<Time> {
    match u64::try_from(millis) {
        Ok(millis) if millis <= LATEST as u64 => Ok(Time::from_millis(millis)),
        _ => Err(out_of_range(&format!("{millis} ms"))),
    }
}

/// The span that an object says.
pub fn span(span: &Bound<'_, PyAny>) -> PyResult<Span> {
    if let Ok(text) = span.cast::<PyString>() {
        return text.to_cow()?.parse().map_err(raised);
    }
    let seconds = match span.cast::<PyDelta>() {
        Ok(_) => span.call_method0("total_seconds")?.extract::<f64>()?,
        Err(_) if span.cast::<PyBool>().is_ok() => return Err(not_a_span(span)),
        Err(_) => span.extract::<f64>().map_err(|_| not_a_span(span))?,
    };
    let millis = seconds * 1000.0;
    if millis > 0.0 && millis <= LATEST {
        Ok(Span::from_millis(millis.ceil() as u64))
    } else {
        let words =
            format!("a span of time is more than nothing and less than all time, not {seconds} s");
        Err(PyValueError::new_err(words))
    }
}

/// So much time, as Python has it.
pub fn delta(py: Python<'_>, millis: u64) -> PyResult<Bound<'_, PyDelta>> {
    const DAY: u64 = 86_400_000;
    // The longest that Python has.
    let days = i32::try_from(millis / DAY).unwrap_or(i32::MAX).min(999_999_999);
    let rest = (millis % DAY) as i32;
    PyDelta::new(py, days, rest / 1000, rest % 1000 * 1000, false)
}

fn out_of_range(found: &str) -> PyErr {
    let words = "a moment is seconds (float) or milliseconds (int) since 1970, from 0 to 2**53 ms";
    PyValueError::new_err(format!("{words}, not {found}"))
}

fn not_a_moment(found: &Bound<'_, PyAny>) -> PyErr {
    let kind = found.get_type();
    PyTypeError::new_err(format!(
        "a moment is a float of seconds, an int of milliseconds or a datetime, not {kind}"
    ))
}

fn not_a_span(found: &Bound<'_, PyAny>) -> PyErr {
    let kind = found.get_type();
    PyTypeError::new_err(format!(
        "a span of time is a text such as \"1h30m\", a timedelta or seconds, not {kind}"
    ))
}
