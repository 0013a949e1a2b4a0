//! The filter of one part of many: what an engine that keeps state by part needs of each.

use lately::plan::Limit;
use lately::raw::Shards;
use lately::{Memory, Slack, Span, Window};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::counter::Counter;
use crate::held::Held;
use crate::window::window;
use crate::wish::{Windows, Wish};

/// An empty filter for one of several parts, such that all together are as is wished. `late` says by how many
/// milliseconds an event may come after later ones and still find what came within the span before it.
#[pyfunction]
#[pyo3(signature = (parts, late, **wishes))]
pub fn part<'py>(
    py: Python<'py>,
    parts: u32,
    late: u64,
    wishes: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    if parts == 0 {
        return Err(PyValueError::new_err("there is one bucket at least"));
    }
    let mut wish = Wish::of(wishes, Windows::Any)?;
    if wish.is_keyed() {
        return Err(PyTypeError::new_err(
            "`keyed` is not for filters in buckets: the engine hashes keys by a function that everybody knows",
        ));
    }
    if wish.top.is_some() {
        return Err(PyTypeError::new_err(
            "`top` is not for filters in buckets: their keys are not known",
        ));
    }
    let shards = Shards(parts);
    let each = |number: u64| number.div_ceil(parts.into());
    let goal = &mut wish.goal;
    goal.window = match goal.window {
        Window::Last(n) => Window::Last(shards.window(n)),
        Window::Within(span) => {
            Window::Within(Span::from_millis(span.millis().saturating_add(late)))
        }
        Window::Ever => Window::Ever,
    };
    if let Slack::Items(items) = goal.slack {
        goal.slack = Slack::Items(items / u64::from(parts));
    }
    if let Limit::Memory(memory) = goal.limit {
        goal.limit = Limit::Memory(Memory::from_bytes(memory.bytes() / u64::from(parts)));
    }
    goal.expected_items = goal.expected_items.map(|items| shards.window(items));
    goal.alphabet = goal.alphabet.map(each);
    let held = Held::new(wish.build()?, wish.max_ahead);
    if wish.goal.counting {
        return Ok(Bound::new(py, Counter::of(py, held)?)?.into_any());
    }
    window(py, held)
}
