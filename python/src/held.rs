//! A filter behind its lock, with how its keys are hashed and which moments it believes.
//!
//! One lock for the whole: single calls take turns under the interpreter's lock anyway, and a filter in
//! one piece is saved as the command and the module save theirs. Keys of a batch are hashed before the
//! lock is taken, so that batches of several threads meet only where the filter changes.

use lately::raw::{Filter, Horizon, Lookout, Untyped};
use lately::{Clock, Error, Hashing, Span, SystemClock, Time, Window};
use parking_lot::{Mutex, MutexGuard};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::column::Rows;
use crate::error::raised;
use crate::fork::Inside;
use crate::moment::{self, When};
use crate::plan::Plan;

/// A filter that any thread may use.
pub struct Held {
    pub hashing: Hashing,
    /// Whether its window is by time.
    pub timed: bool,
    max_ahead: Option<Span>,
    inner: Mutex<Inner>,
}

/// What the lock guards.
pub struct Inner {
    pub untyped: Untyped,
    lookout: Lookout,
}

/// Hashes that are worked on while the lock is held: so few that others hardly wait.
const CHUNK: usize = 1024;

impl Held {
    /// Of a filter, and how far ahead of the clock it believes a moment.
    pub fn new(untyped: Untyped, max_ahead: Option<Span>) -> Self {
        let window = untyped.promise().window;
        let (hashing, timed) = (untyped.hashing(), matches!(window, Window::Within(_)));
        let lookout = Lookout::new(Horizon::of(window, max_ahead));
        Self { hashing, timed, max_ahead, inner: Mutex::new(Inner { untyped, lookout }) }
    }

    /// The same filter once more, of its own.
    pub fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::new(Untyped::new(self.copied(py)?, self.hashing), self.max_ahead))
    }

    /// Its structure once more.
    pub fn copied(&self, py: Python<'_>) -> PyResult<Box<dyn Filter>> {
        self.look(py, |filter| filter.try_copy()).map_err(raised)
    }

    /// How it is pickled: as its snapshot, and what opens it.
    pub fn reduce<'py>(
        &self,
        py: Python<'py>,
        open: Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let max_ahead = self.max_ahead.map(|span| span.millis() as f64 / 1000.0);
        Ok((open, (PyBytes::new(py, &self.save(py)), max_ahead).into_pyobject(py)?))
    }

    /// The plan that it was built by.
    pub fn plan(&self, py: Python<'_>) -> Plan {
        Plan::of_filter(&self.lock(py).inner.untyped)
    }

    /// What it is, in words.
    pub fn describe(&self, py: Python<'_>, name: &str) -> String {
        self.look(py, |filter| {
            let blueprint = filter.blueprint();
            format!("{name}({}: {})", blueprint.structure(), blueprint.promise())
        })
    }

    /// Whether it is for counting, and does not only know how often besides.
    pub fn is_for_counting(&self, py: Python<'_>) -> bool {
        self.look(py, |filter| {
            let structure = filter.blueprint().structure();
            filter.counting().is_some()
                && ["spectral", "counts"].iter().any(|name| structure.contains(name))
        })
    }

    /// Whether its window has an end.
    pub fn ends(&self, py: Python<'_>) -> bool {
        self.look(py, |filter| filter.blueprint().promise().window != Window::Ever)
    }

    /// Sets the latest moment back.
    pub fn turn_back(&self, py: Python<'_>, now: Time) {
        let mut guard = self.lock(py);
        guard.inner.untyped.filter_mut().turn_back(now);
        guard.inner.lookout.forget();
    }

    /// The snapshot.
    pub fn save(&self, py: Python<'_>) -> Vec<u8> {
        py.detach(|| {
            let _inside = Inside::enter();
            self.inner.lock().untyped.save()
        })
    }

    /// Forgets everything.
    pub fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let mut guard = self.lock(py);
        let empty = guard.inner.untyped.empty_alike();
        let cleared = empty.map(|empty| {
            guard.inner.untyped = empty;
            guard.inner.lookout.forget();
        });
        drop(guard);
        cleared.map_err(raised)
    }

    /// The moment that a call says, or the clock if it says none; no moment where none counts.
    #[inline]
    pub fn moment(&self, now: Option<&Bound<'_, PyAny>>) -> PyResult<Time> {
        match now {
            None if !self.timed => Ok(Time::ZERO),
            None => Ok(clock()),
            Some(_) if !self.timed => Err(no_moments()),
            Some(now) => moment::of(now),
        }
    }

    /// Looks at the filter.
    #[inline]
    pub fn look<R>(&self, py: Python<'_>, work: impl FnOnce(&dyn Filter) -> R) -> R {
        work(self.lock(py).inner.untyped.filter())
    }

    /// Changes the filter at a moment, if that is believed.
    #[inline]
    pub fn change<R>(
        &self,
        py: Python<'_>,
        now: Time,
        work: impl FnOnce(&mut dyn Filter) -> R,
    ) -> PyResult<R> {
        let mut guard = self.lock(py);
        let inner = &mut *guard.inner;
        let outcome = inner.believe(self.timed, now).map(|()| work(inner.untyped.filter_mut()));
        drop(guard);
        outcome.map_err(raised)
    }

    /// Gives back some memory of what has left; whether nothing is left to do.
    pub fn expire(&self, py: Python<'_>, now: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        const STEPS: usize = 16;
        let now = self.moment(now)?;
        self.change(py, now, |filter| filter.expire(now, STEPS))
    }

    /// Refuses a moment that is not believed.
    pub fn believe(&self, py: Python<'_>, latest: Option<Time>) -> PyResult<()> {
        latest.map_or(Ok(()), |latest| self.change(py, latest, |_| ()))
    }

    /// Changes the filter by something that may take long, while the interpreter goes on.
    pub fn change_slowly<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Filter) -> R + Send,
    ) -> R {
        py.detach(|| {
            let _inside = Inside::enter();
            work(self.inner.lock().untyped.filter_mut())
        })
    }

    /// Does `work` with the hashes of rows and their moments, which must be believed, while the interpreter
    /// goes on; answers of rows without a key stay as they are. `before` says how many rows were before these.
    pub fn batch<A: Copy + Default + Send>(
        &self,
        py: Python<'_>,
        rows: &[Rows],
        (when, before): (&When, usize),
        answers: &mut [A],
        work: impl Fn(&mut dyn Filter, &[u64], Time, &mut [A]) + Sync,
    ) {
        py.detach(|| {
            let mut begin = 0;
            for rows in rows {
                let mut start = 0;
                while start < rows.len() {
                    let end = rows.len().min(start + CHUNK);
                    let piece = &mut answers[begin + start..begin + end];
                    self.chunk(rows, start, (when, before + begin), piece, &work);
                    start = end;
                }
                begin += rows.len();
            }
        });
    }

    fn chunk<A: Copy + Default>(
        &self,
        rows: &Rows,
        start: usize,
        (when, begin): (&When, usize),
        answers: &mut [A],
        work: impl Fn(&mut dyn Filter, &[u64], Time, &mut [A]),
    ) {
        let mut hashes = [0; CHUNK];
        let hashes = rows.hashes(start, answers.len(), &self.hashing, &mut hashes);
        let Some(nulls) = rows.nulls() else {
            return self.run(hashes, (when, |at| begin + start + at), answers, work);
        };
        let there = (0..hashes.len()).filter(|&row| nulls.is_valid(start + row));
        let there: Vec<usize> = there.collect();
        let hashes: Vec<u64> = there.iter().map(|&row| hashes[row]).collect();
        let mut found = vec![A::default(); hashes.len()];
        self.run(&hashes, (when, |at| begin + start + there[at]), &mut found, work);
        for (row, found) in there.into_iter().zip(found) {
            answers[row] = found;
        }
    }

    /// Does `work` on hashes, as many at once as have one moment; `row` says which row a hash is of.
    fn run<A>(
        &self,
        hashes: &[u64],
        (when, row): (&When, impl Fn(usize) -> usize),
        answers: &mut [A],
        work: impl Fn(&mut dyn Filter, &[u64], Time, &mut [A]),
    ) {
        let _inside = Inside::enter();
        let mut inner = self.inner.lock();
        let mut done = 0;
        while done < hashes.len() {
            let now = when.at(row(done));
            let count = when.run(hashes.len() - done, |offset| row(done + offset));
            let range = done..done + count;
            work(inner.untyped.filter_mut(), &hashes[range.clone()], now, &mut answers[range]);
            done += count;
        }
    }

    /// The lock, for those who hold the interpreter's: waited for without that, since whoever has it may
    /// need the interpreter.
    #[inline]
    fn lock(&self, py: Python<'_>) -> Guard<'_> {
        match self.inner.try_lock() {
            Some(inner) => Guard { inner, _inside: None },
            None => py.detach(|| {
                let inside = Inside::enter();
                Guard { inner: self.inner.lock(), _inside: Some(inside) }
            }),
        }
    }
}

/// The lock, and the gate where it was taken without the interpreter's.
struct Guard<'a> {
    inner: MutexGuard<'a, Inner>,
    _inside: Option<Inside>,
}

impl Inner {
    #[inline]
    fn believe(&mut self, timed: bool, now: Time) -> Result<(), Error> {
        if !timed {
            return Ok(());
        }
        let Self { untyped, lookout } = self;
        lookout.check(now, || untyped.filter().clock())
    }
}

/// What the clock of the machine says.
pub fn clock() -> Time {
    SystemClock.now().unwrap_or(Time::ZERO)
}

fn no_moments() -> PyErr {
    PyTypeError::new_err("this window counts insertions, not time: call it without `now`")
}
