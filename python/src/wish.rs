//! What is wanted of a filter, as the keywords of its constructor say it: the same for all kinds.

use lately::plan::{Goal, Limit};
use lately::queries::TopKeys;
use lately::raw::{Untyped, quantity};
use lately::{Builder, ErrorRate, Memory, Slack, Span, Window};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyString};

use crate::error::raised;
use crate::moment;

/// Which windows a call may ask for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// The last *n* or the last *t*; one of them must be said.
    Ends,
    /// Only everything.
    Ever,
    /// Any; everything if none is said.
    Any,
}

/// What was asked for.
pub struct Wish {
    pub goal: Goal,
    /// The name of the structure, if it may be no other.
    pub structure: Option<String>,
    pub max_ahead: Option<Span>,
    /// How many of the keys that came most often are to be told.
    pub top: Option<usize>,
    seed: Option<u64>,
    secret: Option<[u8; 16]>,
}

impl Wish {
    /// What keywords say; an exception for one that is not known.
    pub fn of(keywords: Option<&Bound<'_, PyDict>>, windows: Windows) -> PyResult<Self> {
        let limit = Limit::Error(ErrorRate::DEFAULT);
        let goal = Goal { window: Window::Ever, ..Goal::new(Window::Ever, limit) };
        let mut wish =
            Self { goal, structure: None, max_ahead: None, top: None, seed: None, secret: None };
        let (mut window, mut limit, mut slack) = (None, None, None);
        for (name, value) in keywords.into_iter().flatten() {
            let name = name.extract::<String>()?;
            if value.is_none() {
                // Not said; unless there is no such thing to say.
                known(&name)?;
                continue;
            }
            match name.as_str() {
                "last" => once(&mut window, Window::Last(items(&value)?), "last or within")?,
                "within" => {
                    once(&mut window, Window::Within(moment::span(&value)?), "last or within")?;
                }
                "error" => once(&mut limit, Limit::Error(rate(&value)?), "error or memory")?,
                "memory" => once(&mut limit, Limit::Memory(memory(&value)?), "error or memory")?,
                "slack" => slack = Some(value),
                "expected" => wish.goal.expected_items = Some(items(&value)?),
                "alphabet" => wish.goal.alphabet = Some(items(&value)?),
                "removing" => wish.goal.removing = value.is_truthy()?,
                "counting" => wish.goal.counting = value.is_truthy()?,
                "structure" => wish.structure = Some(value.extract()?),
                "seed" => wish.seed = Some(value.extract()?),
                "keyed" => wish.secret = Some(secret(&value)?),
                "max_ahead" => wish.max_ahead = Some(moment::span(&value)?),
                "top" => wish.top = Some(items(&value)?.try_into().unwrap_or(usize::MAX)),
                other => known(other)?,
            }
        }
        wish.goal.window = match (window, windows) {
            (Some(_), Windows::Ever) => {
                return Err(PyTypeError::new_err(
                    "this one is without end: `last` and `within` are for a Window",
                ));
            }
            (None, Windows::Ends) => {
                return Err(PyTypeError::new_err(
                    "say how far back: last=1_000_000 or within=\"1h\"",
                ));
            }
            (Some(window), _) => window,
            (None, _) => Window::Ever,
        };
        wish.goal.limit = limit.unwrap_or(wish.goal.limit);
        if let Some(slack) = slack {
            wish.goal.slack = match wish.goal.window {
                Window::Within(_) => Slack::Time(moment::span(&slack)?),
                Window::Last(_) => Slack::Items(none_or_items(&slack)?),
                Window::Ever => {
                    return Err(PyTypeError::new_err("without an end there is no slack"));
                }
            };
        }
        if wish.max_ahead.is_some() && !matches!(wish.goal.window, Window::Within(_)) {
            return Err(PyTypeError::new_err("`max_ahead` is for windows by time"));
        }
        if wish.seed.is_some() && wish.secret.is_some() {
            return Err(PyTypeError::new_err("say one of seed or keyed, not both"));
        }
        Ok(wish)
    }

    /// Whether keys are to be hashed by a secret.
    pub fn is_keyed(&self) -> bool {
        self.secret.is_some()
    }

    /// The filter.
    pub fn build(&self) -> PyResult<Untyped> {
        let mut builder = Builder::<Untyped>::from(self.goal);
        if let Some(seed) = self.seed {
            builder = builder.seed(seed);
        }
        if let Some(secret) = self.secret {
            builder = builder.keyed(secret);
        }
        let to_list = self.top.and(TopKeys::structure(self.goal.window));
        if let Some(name) = self.structure.as_deref().or(to_list) {
            builder = builder.structure(name);
        }
        builder.build().map_err(raised)
    }
}

/// Every keyword.
const KEYWORDS: [&str; 14] = [
    "last",
    "within",
    "error",
    "memory",
    "slack",
    "expected",
    "alphabet",
    "removing",
    "counting",
    "structure",
    "seed",
    "keyed",
    "max_ahead",
    "top",
];

fn known(name: &str) -> PyResult<()> {
    if KEYWORDS.contains(&name) {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "there is no keyword {name:?}; choose of: {}",
        KEYWORDS.join(", ")
    )))
}

fn once<T>(place: &mut Option<T>, value: T, names: &str) -> PyResult<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(PyTypeError::new_err(format!("say one of {names}, not both"))),
    }
}

/// A number of items: `1_000_000`, `1e6` or `"1M"`.
fn items(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(text) = value.cast::<PyString>() {
        return quantity::items(&text.to_cow()?).map_err(raised);
    }
    let number = value.extract::<f64>().map_err(|_| not_a_number(value));
    if value.cast::<PyBool>().is_ok() {
        return Err(not_a_number(value));
    }
    match value.extract::<u64>() {
        Ok(items) => quantity::items(&items.to_string()).map_err(raised),
        Err(_) => quantity::items(&number?.to_string()).map_err(raised),
    }
}

fn none_or_items(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if value.extract::<u64>().is_ok_and(|items| items == 0) { Ok(0) } else { items(value) }
}

/// A share of keys: `0.001` or `"0.1%"`.
fn rate(value: &Bound<'_, PyAny>) -> PyResult<ErrorRate> {
    if let Ok(text) = value.cast::<PyString>() {
        return text.to_cow()?.parse().map_err(raised);
    }
    let rate = value.extract::<f64>().map_err(|_| not_a_number(value))?;
    ErrorRate::new(rate).map_err(raised)
}

/// A size: `10_000_000` or `"10MB"`.
fn memory(value: &Bound<'_, PyAny>) -> PyResult<Memory> {
    if let Ok(text) = value.cast::<PyString>() {
        return text.to_cow()?.parse().map_err(raised);
    }
    Ok(Memory::from_bytes(items(value)?))
}

fn secret(value: &Bound<'_, PyAny>) -> PyResult<[u8; 16]> {
    let wrong = || PyValueError::new_err("a secret key is 16 bytes: os.urandom(16) makes one");
    let bytes = value.cast::<PyBytes>().map_err(|_| wrong())?;
    bytes.as_bytes().try_into().map_err(|_| wrong())
}

fn not_a_number(value: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "a number, or a text such as \"1M\", is wanted, not {}",
        value.get_type()
    ))
}
