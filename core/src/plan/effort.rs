//! How much is reckoned for a plan, so that tests see when that becomes too much.

/// One more of the formulas that searches ask again and again.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn count() {}

#[cfg(test)]
pub(crate) use counted::{count, during};

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    std::thread_local! {
        static FORMULAS: Cell<u64> = const { Cell::new(0) };
    }

    pub(crate) fn count() {
        FORMULAS.with(|formulas| formulas.set(formulas.get() + 1));
    }

    /// What a piece of work gives, and how many formulas that took.
    pub(crate) fn during<R>(work: impl FnOnce() -> R) -> (R, u64) {
        let before = FORMULAS.with(Cell::get);
        let result = work();
        (result, FORMULAS.with(Cell::get) - before)
    }
}
