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

use alloc::vec::Vec;
use alloc::string::String;
use alloc::borrow::ToOwned;
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
        check_alike(&self.design, other.blueprint())?;
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

/// Refuses two filters whose parameters differ, and says in what.
pub fn check_alike(ours: &dyn Blueprint, theirs: &dyn Blueprint) -> Result<(), Error> {
    let named = |blueprint: &dyn Blueprint| {
        let mut fields = vec![("structure", blueprint.structure().to_owned())];
        fields.extend(blueprint.fields());
        fields
    };
    let (ours, theirs) = (named(ours), named(theirs));
    let differences: Vec<String> = ours
        .iter()
        .filter_map(|(name, value)| {
            let other = theirs.iter().find(|(other, _)| other == name).map(|(_, value)| value);
            (other != Some(value)).then(|| match other {
                Some(other) => format!("{name} ({value} and {other})"),
                None => format!("{name} ({value} and none)"),
            })
        })
        .collect();
    match &differences[..] {
        [] => Ok(()),
        // Parameters of different structures have nothing to do with each other.
        [structure, ..] if structure.starts_with("structure ") => {
            Err(Error::Different { differences: structure.clone() })
        }
        several => Err(Error::Different { differences: several.join(", ") }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SpectralParameters, Storage};
    use super::*;
    use crate::hash::Seed;

    #[test]
    fn differences_are_named() {
        let ours = SpectralParameters::with_error(100, 0.01, Rule::MinimumSelection);
        let mut theirs = ours;
        assert_eq!(check_alike(&ours, &theirs), Ok(()));
        theirs.rows.width = 7;
        theirs.storage = Storage::Serial;
        let error = check_alike(&ours, &theirs).unwrap_err().to_string();
        let width = ours.rows.width;
        let expected = format!("width ({width} and 7), storage (bytes and serial)");
        assert!(error.contains(&expected), "{error}");
    }

    #[test]
    fn recurring_minimum_is_not_combined() {
        let rule = Rule::RecurringMinimum { second_width: 100 };
        let parameters = SpectralParameters::with_error(100, 0.01, rule);
        let [mut ours, theirs] = [0, 0].map(|_| parameters.allocate(Seed(0)));
        let error = ours.as_counting().unwrap().merge(&*theirs).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
}
