//! The package `lately` for Python: the library's filters as frozen types, each behind a lock of its own.
//!
//! A filter is spoken to in hashes and moments, as the command and the module do it. What Python brings
//! becomes hashes on this side of the lock: a text or an integer by the rule of FORMAT.md, a column of
//! millions without an object for each ([`column`]). The interpreter goes on meanwhile: whatever takes
//! long runs without its lock, and a process that forks waits for it ([`fork`]).

mod admission;
mod answers;
mod arrow;
mod column;
mod counted;
mod counter;
mod error;
mod ever;
mod fork;
mod held;
mod key;
mod moment;
mod opened;
mod part;
mod plan;
mod top;
mod window;
mod wish;

use pyo3::prelude::*;

// That a child of a fork finds no lock taken relies on the interpreter's.
#[pymodule(gil_used = true)]
fn _lately(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<window::Window>()?;
    module.add_class::<ever::Ever>()?;
    module.add_class::<counter::Counter>()?;
    module.add_class::<admission::Admission>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<plan::Plans>()?;
    module.add_function(wrap_pyfunction!(opened::open, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan, module)?)?;
    module.add_function(wrap_pyfunction!(part::part, module)?)?;
    error::add_to(module)?;
    fork::register(module)
}
