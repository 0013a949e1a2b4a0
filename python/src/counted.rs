//! Many keys counted at once, and counters put together.

use lately::Time;
use lately::raw::Filter;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::answers;
use crate::column::{self, Column};
use crate::counter::{Counter, as_counting, counting};
use crate::error::{raised, unsupported};
use crate::moment::When;
use crate::top::{self, Top};
use crate::window::refuse_null;

/// What is done with every key of a batch.
#[derive(Clone, Copy)]
pub enum Deed {
    Add,
    Look,
}

impl Counter {
    /// Counts or looks up many keys.
    pub(crate) fn batch<'py>(
        &self,
        keys: &Bound<'py, PyAny>,
        now: Option<&Bound<'py, PyAny>>,
        nulls: &str,
        deed: Deed,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        if let (Some(top), Deed::Add) = (&self.top, deed) {
            return self.add_and_note_all(top, keys, now, nulls);
        }
        let column = Column::new(keys, &self.held.hashing)?;
        check_nulls(nulls, column.first_null())?;
        let when = self.when(now, column.len)?;
        if matches!(deed, Deed::Add) {
            self.held.believe(py, when.latest())?;
        }
        let mut answers = vec![0; column.len];
        column.each(|rows, before| {
            let answers = &mut answers[before..];
            self.held.batch(py, rows, (&when, before), answers, |filter, hashes, now, answers| {
                for (hash, answer) in hashes.iter().zip(answers) {
                    *answer = match deed {
                        Deed::Add => as_counting(filter).add_hash(*hash, 1, now),
                        Deed::Look => counting(filter).count_hash(*hash, now),
                    };
                }
            });
        })?;
        answers::counts(py, column.kind, answers)
    }

    /// Counts a key, and notes it if it leads.
    pub(crate) fn add_and_note(
        &self,
        py: Python<'_>,
        top: &Top,
        key: &[u8],
        times: u64,
        now: Time,
    ) -> PyResult<u64> {
        let hash = self.held.hashing.hash(key);
        self.held.change(py, now, |filter| {
            let count = as_counting(filter).add_hash(hash, times, now);
            if times > 0 {
                top.note((hash, key), count, counting(filter), now);
            }
            count
        })
    }

    /// The same for many, one after the other: they are told as they came, so that each is an object.
    fn add_and_note_all<'py>(
        &self,
        top: &Top,
        keys: &Bound<'py, PyAny>,
        now: Option<&Bound<'py, PyAny>>,
        nulls: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let (kind, keys) = column::objects(keys)?;
        let keys =
            keys.iter().map(|key| if key.is_none() { Ok(None) } else { top::bytes(key).map(Some) });
        let keys = keys.collect::<PyResult<Vec<_>>>()?;
        let first_null = keys.iter().position(Option::is_none);
        check_nulls(nulls, first_null)?;
        let when = self.when(now, keys.len())?;
        self.held.believe(py, when.latest())?;
        let count = |(row, key): (usize, &Option<Vec<u8>>)| match key {
            None => Ok(0),
            Some(key) => self.add_and_note(py, top, key, 1, when.at(row)),
        };
        let answers = keys.iter().enumerate().map(count).collect::<PyResult<Vec<_>>>()?;
        answers::counts(py, kind, answers)
    }

    fn when(&self, now: Option<&Bound<'_, PyAny>>, len: usize) -> PyResult<When> {
        match now {
            Some(now) if self.held.timed => column::when(now, len),
            other => self.held.moment(other).map(When::Once),
        }
    }

    /// An exception for what would make counts less in another way than by leaving.
    pub(crate) fn refuse_top(&self) -> PyResult<()> {
        match self.top {
            None => Ok(()),
            Some(_) => Err(unsupported(
                "counts of a counter with top= only grow or leave; make one without it",
            )),
        }
    }

    /// Works in all that another counter has.
    pub(crate) fn combine(
        &self,
        py: Python<'_>,
        other: &Bound<'_, Self>,
        work: impl FnOnce(&mut dyn Filter, &dyn Filter) -> Result<(), lately::Error> + Send,
    ) -> PyResult<()> {
        self.refuse_top()?;
        if self.held.hashing != other.get().held.hashing {
            let words =
                "the counters hash differently; only those made with the same seed or key combine";
            return Err(PyTypeError::new_err(words));
        }
        // A copy, so that only one lock is held at a time, whoever combines with whom.
        let theirs = other.get().held.copied(py)?;
        self.held.change_slowly(py, |filter| work(filter, &*theirs)).map_err(raised)
    }
}

fn check_nulls(nulls: &str, first: Option<usize>) -> PyResult<()> {
    match nulls {
        "error" => refuse_null(first, "\"skip\""),
        "skip" => Ok(()),
        _ => Err(PyValueError::new_err("nulls is \"error\" or \"skip\"")),
    }
}
