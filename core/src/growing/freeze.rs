//! A filter that will not grow any more, in less memory.
//!
//! While it grows, a filter keeps bits that later depths will need: the error of today is below the
//! one promised. What is only kept or sent can do without. Freezing drops the last bits of all
//! remainders as long as the error of today stays below what is asked, and free slots beside them:
//! each bit dropped at most doubles the error. Removing keys from the copy and inserting more works
//! as before, at the larger error that its own parameters promise.
//!
//! Worked example: a remainder `1011` as a field for four bits is `10111`; without its last bit it is
//! `1011`, `101` and the one that ends it.

use super::field::shortened;
use super::filter::Growing;
use super::parameters::GrowingParameters;
use super::segment::Segment;
use crate::bits::Scalar;
use crate::filter::Filter;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;

impl Growing {
    /// A copy without free space, whose remainders are as short as this error allows today.
    pub fn frozen(&self, false_positive_rate: f64) -> Self {
        let now = self.false_positive_rate();
        let shortest = self.parameters.remainder_bits.iter().copied().min().unwrap_or(1);
        let enough = |dropped: &u8| now * f64::from(*dropped).exp2() <= false_positive_rate;
        let dropped = (1..shortest).take_while(enough).last().unwrap_or(0);
        let remainder_bits = self.parameters.remainder_bits.map(|bits| bits - dropped);
        let parameters = GrowingParameters { remainder_bits, ..self.parameters };
        let directory = self.directory.clone();
        let mut copy = Self::from_parts(parameters, directory, self.stock);
        copy.level = self.level;
        for hash in self.directory.first_hashes() {
            let (depth, segment) = self.directory.segment(hash);
            if segment.is_blind() {
                continue;
            }
            let width = self.parameters.width_at(hash, depth);
            if self.parameters.removing {
                copy.drop_leftovers_for(Scalar, width, hash);
            }
            let mut entries = copy.directory.segment(hash).1.entries(width);
            for entry in &mut entries {
                entry.field = shortened(entry.field, dropped.into());
            }
            let shortened = Segment::of_entries(width - usize::from(dropped), &entries);
            copy.directory.replace(hash, shortened);
        }
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{Membership, Removing};
    use crate::hash::remix;
    use crate::window::Time;

    #[test]
    fn frozen_filters_are_smaller_and_forget_nothing() {
        let parameters = GrowingParameters::with_error(0.001, 1_000_000, true).unwrap();
        let mut filter = Growing::new(parameters);
        let keys = 30_000;
        for key in 0..keys {
            filter.insert_hash(remix(key, 1), Time::ZERO);
        }
        for key in keys / 2..keys {
            assert!(filter.remove_hash(remix(key, 1)));
        }
        for rate in [0.001, 0.02, 0.2] {
            let mut frozen = filter.frozen(rate);
            assert!(frozen.false_positive_rate() <= rate);
            // As few bits as do.
            let [before, after] = [&filter, &frozen].map(|one| one.parameters.remainder_bits[0]);
            let times = |dropped: u8| filter.false_positive_rate() * f64::from(dropped).exp2();
            assert!(times(before - after) <= rate);
            let shortest = frozen.parameters.remainder_bits.iter().min().unwrap();
            assert!(times(before - after + 1) > rate || *shortest == 1, "{before} {after}");
            assert!(frozen.heap_bytes() < filter.heap_bytes());
            assert!((0..keys / 2).all(|key| frozen.contains_hash(remix(key, 1), Time::ZERO)));
            for key in keys..2 * keys {
                frozen.insert_hash(remix(key, 1), Time::ZERO);
            }
            for key in (0..keys / 2).chain(keys..2 * keys) {
                assert!(frozen.remove_hash(remix(key, 1)), "{key}");
            }
            assert_eq!(frozen.items(), 0);
        }
        // An error that is kept without freezing anything.
        assert_eq!(filter.frozen(0.0).parameters, filter.parameters);
    }
}
