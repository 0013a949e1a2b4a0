//! Windows: which keys came lately. One without end is a window too.

use lately::Time;
use lately::raw::{Age, Filter};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::answers;
use crate::column::{self, Column, Rows};
use crate::error::unsupported;
use crate::ever::Ever;
use crate::held::Held;
use crate::key;
use crate::moment::{self, When};
use crate::plan::Plan;
use crate::wish::{Windows, Wish};

/// Remembers which keys came lately: of the last n insertions, or of the last span of time.
///
/// >>> import lately
/// >>> seen = lately.Window(last=1_000_000, error=0.001)
/// >>> seen.add("a"), seen.add("b"), seen.add("a")
/// (True, True, False)
/// >>> "a" in seen, "c" in seen
/// (True, False)
#[pyclass(frozen, subclass, module = "lately")]
pub struct Window(Held);

/// What is done with every key of a batch.
#[derive(Clone, Copy)]
enum Deed {
    Add,
    AddNew,
    Look,
}

impl Window {
    /// As keywords say it.
    pub fn wished(wishes: Option<&Bound<'_, PyDict>>, windows: Windows) -> PyResult<Self> {
        let wish = Wish::of(wishes, windows)?;
        if wish.goal.counting || wish.top.is_some() {
            return Err(PyTypeError::new_err("what counts is a Counter"));
        }
        Ok(Self(Held::new(wish.build()?, wish.max_ahead)))
    }

    /// As one without end.
    pub fn ever(self) -> PyClassInitializer<Ever> {
        PyClassInitializer::from(self).add_subclass(Ever)
    }

    fn batch<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        now: Option<&Bound<'py, PyAny>>,
        nulls: &str,
        deed: Deed,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let column = Column::new(keys, &self.0.hashing)?;
        // What a row without a key is answered: all else is known by the filter.
        let missing = match (nulls, deed) {
            ("error", _) => {
                refuse_null(column.first_null(), "\"new\" or \"seen\"")?;
                false
            }
            ("new", Deed::Add | Deed::AddNew) | ("seen", Deed::Look) => true,
            ("seen", Deed::Add | Deed::AddNew) | ("new", Deed::Look) => false,
            _ => return Err(PyValueError::new_err("nulls is \"error\", \"new\" or \"seen\"")),
        };
        let when = self.when(now, column.len)?;
        if !matches!(deed, Deed::Look) {
            self.0.believe(py, when.latest())?;
        }
        let answer = |rows: &[Rows], before: usize, answers: &mut [bool]| {
            self.0.batch(py, rows, (&when, before), answers, |filter, hashes, now, answers| {
                match deed {
                    Deed::Add => filter.insert_hashes(hashes, now, answers),
                    Deed::AddNew => filter.insert_new_hashes(hashes, now, answers),
                    Deed::Look => filter.contains_hashes(hashes, now, answers),
                }
            });
        };
        answers::bools(py, &column, missing, answer)
    }

    fn when(&self, now: Option<&Bound<'_, PyAny>>, len: usize) -> PyResult<When> {
        match now {
            Some(now) if self.0.timed => column::when(now, len),
            other => self.0.moment(other).map(When::Once),
        }
    }

    fn hash(&self, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        key::hash(key, &self.0.hashing)
    }

    #[cold]
    fn add_until(
        &self,
        py: Python<'_>,
        hash: u64,
        now: Time,
        until: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let until = moment::of(until)?;
        let new = self.0.change(py, now, |filter| {
            filter.as_deadlines().map(|filter| filter.insert_until_hash(hash, now, until))
        })?;
        new.ok_or_else(|| {
            unsupported(
                "this filter cannot forget a key at a moment of its own; a Window(within=...) can",
            )
        })
    }
}

/// An exception if a key is missing.
pub fn refuse_null(first: Option<usize>, others: &str) -> PyResult<()> {
    match first {
        None => Ok(()),
        Some(row) => Err(PyValueError::new_err(format!(
            "row {row} has no key, and nothing was done; say what such rows are with nulls={others}"
        ))),
    }
}

#[pymethods]
impl Window {
    #[new]
    #[pyo3(
        signature = (**wishes),
        text_signature = "(*, last=None, within=None, error=0.001, memory=None, slack=None, \
                          expected=None, alphabet=None, removing=False, structure=None, seed=None, \
                          keyed=None, max_ahead=None)"
    )]
    fn new(wishes: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::wished(wishes, Windows::Ends)
    }

    /// Records a sighting, and says whether the key was not in the window. A repeat starts its window
    /// anew. A window by time reads the clock of the machine unless it is told the moment: seconds since
    /// 1970 as a float, milliseconds as an int, or a datetime.
    ///
    /// >>> import lately
    /// >>> seen = lately.Window(within="1m")
    /// >>> seen.add("a", now=0.0), seen.add("a", now=59.0), seen.add("a", now=200.0)
    /// (True, False, True)
    ///
    /// With until, a moment too, the key is forgotten then if its window is not over before; of two of one
    /// key the later holds.
    #[pyo3(signature = (key, now = None, until = None))]
    fn add(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        now: Option<&Bound<'_, PyAny>>,
        until: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let hash = self.hash(key)?;
        let now = self.0.moment(now)?;
        if let Some(until) = until {
            return self.add_until(py, hash, now, until);
        }
        self.0.change(py, now, |filter| filter.insert_hash(hash, now))
    }

    /// Like add, but a repeat does not start the key's window anew: a key passes once per window.
    #[pyo3(signature = (key, now = None))]
    fn add_new(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let hash = self.hash(key)?;
        let now = self.0.moment(now)?;
        self.0.change(py, now, |filter| filter.insert_new_hash(hash, now))
    }

    /// Whether the key is in the window, at a moment if that is said. Changes nothing.
    #[pyo3(signature = (key, now = None))]
    fn contains(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let hash = self.hash(key)?;
        let now = self.0.moment(now)?;
        Ok(self.0.look(py, |filter| filter.contains_hash(hash, now)))
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.contains(py, key, None)
    }

    /// add for many keys: a list, or a column of numpy, pandas, polars, pyarrow or any other library that
    /// speaks Arrow. Answers come in kind. The interpreter's lock is released. now is one moment for all, or
    /// a column of moments. Rows without a key are refused, unless nulls says that they are "new" or "seen".
    ///
    /// >>> import lately
    /// >>> lately.Window(last=1000).add_all(["a", "b", "a"])
    /// [True, True, False]
    #[pyo3(signature = (keys, now = None, nulls = "error"))]
    fn add_all<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        now: Option<&Bound<'py, PyAny>>,
        nulls: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.batch(keys, now, nulls, Deed::Add)
    }

    /// add_new for many keys, as add_all.
    #[pyo3(signature = (keys, now = None, nulls = "error"))]
    fn add_new_all<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        now: Option<&Bound<'py, PyAny>>,
        nulls: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.batch(keys, now, nulls, Deed::AddNew)
    }

    /// contains for many keys, as add_all.
    #[pyo3(signature = (keys, now = None, nulls = "error"))]
    fn contains_all<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        now: Option<&Bound<'py, PyAny>>,
        nulls: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.batch(keys, now, nulls, Deed::Look)
    }

    /// Takes back the insertion of a key, and says whether there was one. Only for keys that were added, in
    /// a filter that was made with removing=True.
    fn forget(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let hash = self.hash(key)?;
        let remove =
            |filter: &mut dyn Filter| filter.as_removing().map(|filter| filter.remove_hash(hash));
        // What was inserted is taken back whenever that is.
        self.0.change(py, Time::ZERO, remove)?.ok_or_else(|| {
            unsupported("this filter cannot forget a key; make it with removing=True")
        })
    }

    /// How long ago the key came, as the least and the most it can be: insertions, or timedeltas. None if
    /// it is not in the window.
    ///
    /// >>> import lately
    /// >>> seen = lately.Window(within="1m")
    /// >>> seen.add("a", now=0.0)
    /// True
    /// >>> least, most = seen.age("a", now=30.0)
    /// >>> least.total_seconds() <= 30 <= most.total_seconds()
    /// True
    #[pyo3(signature = (key, now = None))]
    fn age<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        now: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let hash = self.hash(key)?;
        let now = self.0.moment(now)?;
        let age = self.0.look(py, |filter| filter.aging().map(|aging| aging.age_hash(hash, now)));
        let Some(age) = age else {
            return Err(unsupported("this filter does not know how long ago a key came"));
        };
        let pair = match age {
            None => return Ok(None),
            Some(Age::Items(age)) => PyTuple::new(py, [*age.start(), *age.end()])?,
            Some(Age::Time(age)) => {
                let ends = [age.start().millis(), age.end().millis()]
                    .map(|millis| moment::delta(py, millis));
                let [least, most] = ends;
                PyTuple::new(py, [least?, most?])?
            }
        };
        Ok(Some(pair))
    }

    /// About how many different keys are in the window.
    #[pyo3(signature = (now = None))]
    fn distinct(&self, py: Python<'_>, now: Option<&Bound<'_, PyAny>>) -> PyResult<f64> {
        let now = self.0.moment(now)?;
        let distinct = self.0.look(py, |filter| filter.distinct(now));
        distinct.ok_or_else(|| unsupported("this filter does not know how many keys it has"))
    }

    /// Forgets everything.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.0.clear(py)
    }

    /// Gives back memory of keys that have left a window by time, for times in which nothing comes: a
    /// little at each call. True if nothing is left to do.
    #[pyo3(signature = (now = None))]
    fn expire(&self, py: Python<'_>, now: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        self.0.expire(py, now)
    }

    /// Sets the latest moment back to now if it is later: the remedy for a moment that was wrong.
    fn turn_back(&self, py: Python<'_>, now: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.turn_back(py, self.0.moment(Some(now))?);
        Ok(())
    }

    /// The latest moment of any insertion, in seconds since 1970.
    #[getter]
    fn latest(&self, py: Python<'_>) -> Option<f64> {
        self.0.look(py, |filter| filter.clock()).map(|moment| moment.millis() as f64 / 1000.0)
    }

    /// What it was built by: structure, bytes, promise.
    #[getter]
    fn plan(&self, py: Python<'_>) -> Plan {
        self.0.plan(py)
    }

    /// Bytes on the heap at this moment.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> u64 {
        self.0.look(py, |filter| filter.heap_bytes())
    }

    /// The chance at this moment that a key never seen is reported as seen.
    #[getter]
    fn error_now(&self, py: Python<'_>) -> f64 {
        self.0.look(py, |filter| filter.false_positive_rate())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.save(py))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        self.0.reduce(py, py.import("lately")?.getattr("open")?)
    }

    fn __copy__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        window(py, self.0.copy(py)?)
    }

    fn __deepcopy__<'py>(
        &self,
        py: Python<'py>,
        memo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = memo;
        self.__copy__(py)
    }

    fn __sizeof__(&self, py: Python<'_>) -> u64 {
        size_of::<Self>() as u64 + self.nbytes(py)
    }

    fn __repr__(itself: &Bound<'_, Self>) -> PyResult<String> {
        let name = itself.get_type().name()?.to_string();
        Ok(itself.get().0.describe(itself.py(), &name))
    }
}

/// The type for a window.
pub fn window(py: Python<'_>, held: Held) -> PyResult<Bound<'_, PyAny>> {
    if held.ends(py) {
        return Ok(Bound::new(py, Window(held))?.into_any());
    }
    Ok(Bound::new(py, Window(held).ever())?.into_any())
}
