//! How often each key came.

use lately::Window;
use lately::raw::{Counting, Filter};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::admission::Admission;
use crate::counted::Deed;
use crate::error::{raised, unsupported};
use crate::held::Held;
use crate::key;
use crate::opened::opened;
use crate::plan::Plan;
use crate::top::{self, Top};
use crate::wish::{Windows, Wish};

/// Counts keys: ever, among the last n, or within a span of time. No count is too low, unless the plan says so.
///
/// >>> import lately
/// >>> words = lately.Counter()
/// >>> words.add("to"), words.add("be"), words.add("to")
/// (1, 1, 2)
/// >>> words["to"], words["or"]
/// (2, 0)
#[pyclass(frozen, module = "lately")]
pub struct Counter {
    pub(crate) held: Held,
    /// The keys that came most often, if they are told.
    pub(crate) top: Option<Top>,
}

impl Counter {
    /// Of a filter that counts; an exception if it does not.
    pub fn of(py: Python<'_>, held: Held) -> PyResult<Self> {
        if held.look(py, |filter| filter.counting().is_some()) {
            return Ok(Self { held, top: None });
        }
        Err(unsupported("this filter says whether, not how often; make a Counter"))
    }

    fn hash(&self, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        key::hash(key, &self.held.hashing)
    }
}

pub(crate) fn counting(filter: &dyn Filter) -> &dyn Counting {
    filter.counting().expect("only what counts is a counter")
}

pub(crate) fn as_counting(filter: &mut dyn Filter) -> &mut dyn Counting {
    filter.as_counting().expect("only what counts is a counter")
}

fn window(filter: &dyn Filter) -> Window {
    filter.blueprint().promise().window
}

#[pymethods]
impl Counter {
    #[new]
    #[pyo3(
        signature = (**wishes),
        text_signature = "(*, last=None, within=None, error=0.001, memory=None, slack=None, \
                          expected=None, alphabet=None, removing=False, structure=None, seed=None, \
                          keyed=None, max_ahead=None, top=None)"
    )]
    fn new(py: Python<'_>, wishes: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut wish = Wish::of(wishes, Windows::Any)?;
        wish.goal.counting = true;
        let counter = Self::of(py, Held::new(wish.build()?, wish.max_ahead))?;
        let Some(most) = wish.top else { return Ok(counter) };
        let top =
            counter.held.look(py, |filter| Top::new(window(filter), counting(filter), most))?;
        Ok(Self { top: Some(top), ..counter })
    }

    /// The counter in a snapshot: also one that lately.open takes for a Window, if it counts besides.
    /// Which keys came most often is no part of a snapshot, but of a pickle: top is what that holds of them.
    #[staticmethod]
    #[pyo3(signature = (snapshot, max_ahead = None, top = None))]
    fn open(
        py: Python<'_>,
        snapshot: &Bound<'_, PyAny>,
        max_ahead: Option<&Bound<'_, PyAny>>,
        top: Option<&[u8]>,
    ) -> PyResult<Self> {
        let counter = Self::of(py, opened(py, snapshot, max_ahead)?)?;
        let Some(bytes) = top else { return Ok(counter) };
        let window = counter.held.look(py, window);
        let top = Top::open(bytes, window, &counter.held.hashing)?;
        Ok(Self { top: Some(top), ..counter })
    }

    /// Records sightings, and says how often the key has now been seen.
    #[pyo3(signature = (key, times = 1, now = None))]
    fn add(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        times: u64,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let now = self.held.moment(now)?;
        if let Some(top) = &self.top {
            return self.add_and_note(py, top, &top::bytes(key)?, times, now);
        }
        let hash = self.hash(key)?;
        self.held.change(py, now, |filter| as_counting(filter).add_hash(hash, times, now))
    }

    /// The keys that came most often in the window, with their counts, most frequent first: no other key counts
    /// more than the last of them. Only of a counter that was made to tell so many.
    ///
    /// >>> import lately
    /// >>> words = lately.Counter(top=2)
    /// >>> words.add_all(["to", "be", "or", "not", "to", "be", "to"])
    /// [1, 1, 1, 1, 2, 2, 3]
    /// >>> words.top()
    /// [('to', 3), ('be', 2)]
    #[pyo3(signature = (most = None, now = None))]
    fn top<'py>(
        &self,
        py: Python<'py>,
        most: Option<usize>,
        now: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, u64)>> {
        let now = self.held.moment(now)?;
        let Some(top) = &self.top else {
            return Err(unsupported(
                "this counter keeps no keys; make it with top=, how many to tell",
            ));
        };
        self.held.look(py, |filter| top.list(py, most, counting(filter), now))
    }

    /// Records a sighting of each of many keys, and says how often each had been seen by then: a list, or a
    /// column as add_all of a Window takes them. Rows without a key are refused, unless nulls="skip": then
    /// they count 0.
    ///
    /// >>> import lately
    /// >>> lately.Counter().add_all(["a", "b", "a"])
    /// [1, 1, 2]
    #[pyo3(signature = (keys, now = None, nulls = "error"))]
    fn add_all<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        now: Option<&Bound<'py, PyAny>>,
        nulls: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.batch(keys, now, nulls, Deed::Add)
    }

    /// How often the key was seen.
    #[pyo3(signature = (key, now = None))]
    fn count(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let hash = self.hash(key)?;
        let now = self.held.moment(now)?;
        Ok(self.held.look(py, |filter| counting(filter).count_hash(hash, now)))
    }

    /// count for many keys, as add_all.
    #[pyo3(signature = (keys, now = None, nulls = "error"))]
    fn count_all<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        now: Option<&Bound<'py, PyAny>>,
        nulls: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.batch(keys, now, nulls, Deed::Look)
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.count(py, key, None)
    }

    fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.reaches(py, key, 1, None)
    }

    /// Whether the key was seen at least so often: cheaper than its count.
    #[pyo3(signature = (key, threshold, now = None))]
    fn reaches(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        threshold: u64,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let hash = self.hash(key)?;
        let now = self.held.moment(now)?;
        Ok(self.held.look(py, |filter| counting(filter).reaches_hash(hash, threshold, now)))
    }

    /// Records sightings if the key counts at most limit with them, and nothing otherwise: in one step, so that
    /// never more than the limit pass in a window.
    ///
    /// >>> import lately
    /// >>> hits = lately.Counter(within="24h")
    /// >>> if hits.admit("ad 3, user 7", limit=5):
    /// ...     print("shown")
    /// shown
    #[pyo3(signature = (key, limit, times = 1, now = None))]
    fn admit(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        limit: u64,
        times: u64,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Admission> {
        let hash = self.hash(key)?;
        let now = self.held.moment(now)?;
        let told =
            self.top.as_ref().map(|top| Ok::<_, PyErr>((top, top::bytes(key)?))).transpose()?;
        let admit = |filter: &mut dyn Filter| {
            let admission = as_counting(filter).admit_hash(hash, times, limit, now);
            if let (Some((top, bytes)), true) = (&told, admission.allowed && times > 0) {
                top.note((hash, bytes), admission.count, counting(filter), now);
            }
            admission
        };
        self.held.change(py, now, admit).map(Admission)
    }

    /// Takes back sightings of a key that was seen so often, and says how often it still counts. Only in a
    /// counter that was made with removing=True.
    #[pyo3(signature = (key, times = 1))]
    fn take_back(&self, py: Python<'_>, key: &Bound<'_, PyAny>, times: u64) -> PyResult<u64> {
        self.refuse_top()?;
        let hash = self.hash(key)?;
        let now = self.held.moment(None)?;
        let taken = self
            .held
            .change(py, now, |filter| as_counting(filter).take_back_hash(hash, times, now))?;
        taken.map_err(raised)
    }

    /// Adds all that another counter counted, which was made alike, with the same seed.
    ///
    /// >>> import lately
    /// >>> monday, tuesday = lately.Counter(), lately.Counter()
    /// >>> monday.add("to"), tuesday.add("to")
    /// (1, 1)
    /// >>> monday.merge(tuesday)
    /// >>> monday["to"]
    /// 2
    fn merge(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<()> {
        self.combine(py, other, |filter, other| as_counting(filter).merge(other))
    }

    /// Multiplies every count by that of another counter, which was made alike: rows of the join of two
    /// relations, key by key.
    fn multiply(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<()> {
        self.combine(py, other, |filter, other| as_counting(filter).multiply(other))
    }

    /// About how many different keys were counted, or are in the window.
    #[pyo3(signature = (now = None))]
    fn distinct(&self, py: Python<'_>, now: Option<&Bound<'_, PyAny>>) -> PyResult<f64> {
        let now = self.held.moment(now)?;
        let distinct = self.held.look(py, |filter| filter.distinct(now));
        distinct.ok_or_else(|| unsupported("this counter does not know how many keys it has"))
    }

    /// Forgets everything.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.held.clear(py)?;
        let Some(top) = &self.top else { return Ok(()) };
        self.held.look(py, |filter| top.clear(window(filter), counting(filter)))
    }

    /// Gives back memory of sightings that have left a window by time, for times in which nothing comes: a
    /// little at each call. True if nothing is left to do.
    #[pyo3(signature = (now = None))]
    fn expire(&self, py: Python<'_>, now: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        if let Some(top) = &self.top {
            let now = self.held.moment(now)?;
            self.held.look(py, |filter| top.expire(counting(filter), now));
        }
        self.held.expire(py, now)
    }

    /// What it was built by: structure, bytes, promise.
    #[getter]
    fn plan(&self, py: Python<'_>) -> Plan {
        self.held.plan(py)
    }

    /// Bytes on the heap at this moment.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> u64 {
        let keys = self.top.as_ref().map_or(0, Top::heap_bytes);
        keys + self.held.look(py, |filter| filter.heap_bytes())
    }

    /// The chance at this moment that a key never counted is counted.
    #[getter]
    fn error_now(&self, py: Python<'_>) -> f64 {
        self.held.look(py, |filter| filter.false_positive_rate())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.held.save(py))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (open, saved) = self.held.reduce(py, py.get_type::<Self>().getattr("open")?)?;
        let Some(top) = &self.top else { return Ok((open, saved)) };
        let keys = PyBytes::new(py, &top.save());
        let saved = (saved.get_item(0)?, saved.get_item(1)?, keys).into_pyobject(py)?;
        Ok((open, saved))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self { held: self.held.copy(py)?, top: self.top.as_ref().map(Top::copy) })
    }

    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        let _ = memo;
        self.__copy__(py)
    }

    fn __sizeof__(&self, py: Python<'_>) -> u64 {
        size_of::<Self>() as u64 + self.nbytes(py)
    }

    fn __repr__(itself: &Bound<'_, Self>) -> PyResult<String> {
        let name = itself.get_type().name()?.to_string();
        Ok(itself.get().held.describe(itself.py(), &name))
    }
}
