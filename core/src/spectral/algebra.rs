//! Filters as vectors: adding them unites their streams, multiplying them joins relations.
//!
//! The counters of two filters that were built alike are added one by one: the sum counts what
//! either saw, so a stream can be counted on many machines and united afterwards. Multiplied one by
//! one, they count pairs: if `x` came three times in one relation and twice in the other, their
//! join on it has six rows, and every counter of `x` holds at least three times two.
//!
//! The paper's section 2.2. What differs: a product counts as filled by minimal increase, so that
//! nobody takes back from it; and filters under recurring minimum are not combined, because a key
//! may be counted in the second filter of one and not of the other.

use core::any::Any;

use super::counters::Counters;
use super::{Design, Rule, Spectral};
use crate::blueprint::Blueprint;
use crate::error::Error;
use crate::filter::Filter;
use crate::memory;

impl<C: Counters, D: Design> Spectral<C, D> {
    /// Counts also what the other filter counted.
    pub(super) fn add_filter(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let other = self.like(other)?;
        self.ask_for_room()?;
        self.counters.add_all(&other.counters);
        Ok(())
    }

    /// Counts the pairs of what both filters counted.
    pub(super) fn multiply_by_filter(&mut self, other: &dyn Filter) -> Result<(), Error> {
        let other = self.like(other)?;
        self.ask_for_room()?;
        self.counters.combine(&other.counters, u64::saturating_mul);
        // A sighting taken back from a product would be taken back once, not once per partner.
        self.design.set_rule(Rule::MinimalIncrease);
        Ok(())
    }

    /// The other filter, if it is built alike and can be combined with.
    pub(super) fn like<'o>(&self, other: &'o dyn Filter) -> Result<&'o Self, Error> {
        (&self.design as &dyn Blueprint).check_alike(other.blueprint())?;
        if !self.design.rule().never_undercounts() {
            return Err(Error::Unsupported {
                operation: "combine filters under recurring minimum",
                instead: "choose minimum selection: a key may be in one second filter only",
            });
        }
        let other: &dyn Any = other;
        Ok(other.downcast_ref().expect("built alike, so of the same type"))
    }

    /// Larger counts may need wider counters: so much again, before anything is changed.
    fn ask_for_room(&self) -> Result<(), Error> {
        if C::ADAPTS { memory::ask_for(self.heap_bytes()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SpectralParameters;
    use super::*;
    use crate::hash::Seed;

    #[test]
    fn recurring_minimum_is_not_combined() {
        let rule = Rule::RecurringMinimum { second_width: 100 };
        let parameters = SpectralParameters::with_error(100, 0.01, rule);
        let [mut ours, theirs] = [0, 0].map(|_| parameters.allocate(Seed(0)));
        let error = ours.as_counting().unwrap().merge(&*theirs).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
}
