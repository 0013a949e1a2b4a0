//! A process may fork while a thread of it works on a filter without the interpreter's lock. The child
//! would have the filter, locked, and not the thread that unlocks it. So whoever works without the
//! interpreter's lock passes a gate, and a fork closes the gate and waits until nobody is inside.
//!
//! Two counters and no lock: a child that is born between two of their changes only has to set them
//! to zero.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;

static INSIDE: AtomicUsize = AtomicUsize::new(0);
static FORKING: AtomicUsize = AtomicUsize::new(0);

/// Somebody who works without the interpreter's lock.
pub struct Inside(());

impl Inside {
    /// Waits until nobody forks. Only for those who do not hold the interpreter's lock.
    pub fn enter() -> Self {
        loop {
            wait_until(|| FORKING.load(Ordering::SeqCst) == 0);
            INSIDE.fetch_add(1, Ordering::SeqCst);
            if FORKING.load(Ordering::SeqCst) == 0 {
                return Self(());
            }
            INSIDE.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Lets the interpreter tell us when it forks.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let Ok(register) = py.import("os")?.getattr("register_at_fork") else {
        // A system without fork.
        return Ok(());
    };
    let hooks = PyDict::new(py);
    hooks.set_item("before", wrap_pyfunction!(before, module)?)?;
    hooks.set_item("after_in_parent", wrap_pyfunction!(after_in_parent, module)?)?;
    hooks.set_item("after_in_child", wrap_pyfunction!(after_in_child, module)?)?;
    register.call((), Some(&hooks))?;
    Ok(())
}

#[pyfunction]
fn before(py: Python<'_>) {
    FORKING.fetch_add(1, Ordering::SeqCst);
    py.detach(|| wait_until(|| INSIDE.load(Ordering::SeqCst) == 0));
}

#[pyfunction]
fn after_in_parent() {
    FORKING.fetch_sub(1, Ordering::SeqCst);
}

#[pyfunction]
fn after_in_child() {
    FORKING.store(0, Ordering::SeqCst);
    INSIDE.store(0, Ordering::SeqCst);
}

fn wait_until(done: impl Fn() -> bool) {
    while !done() {
        thread::sleep(Duration::from_micros(50));
    }
}
