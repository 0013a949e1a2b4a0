//! How dictionaries with tails are dimensioned, and what that promises.

use super::GrowingTails;
use super::keys::{EMPTY_TAIL, TAIL_BITS};
use lately::Error;
use lately::Promise;
use lately::Seed;
use lately::catalog::Row;
use lately::dictionary::{Population, Shape};
use lately::raw::Blueprint;
use lately::raw::Filter;
use lately::raw::{List, Parameters};
use lately::{Slack, Window};

/// Entries of the first dictionary: so many are grouped together, as the paper does.
const FIRST: u64 = 1024;

/// How the first dictionary is built; later ones have the same bins, more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GrowingTailsParameters {
    /// Items that are expected. A hint for plans.
    pub expected_items: u64,
    /// Dimensions of the first dictionary.
    pub shape: Shape,
}

impl GrowingTailsParameters {
    /// The smallest that keep `rate` at every size.
    pub fn with_error(rate: f64, expected_items: u64) -> Option<Self> {
        let population = Population { entries: FIRST as f64, before_sweep: 1.0 };
        let shape = Shape::smallest(population, rate, TAIL_BITS + 1)?;
        Some(Self { expected_items, shape })
    }

    /// Chance that an unseen key is reported when a dictionary is full.
    pub fn false_positive_rate(&self) -> f64 {
        self.shape.false_positive_rate(FIRST as f64)
    }

    /// The dimensions after so many doublings; `None` beyond the 64 bits of a hash.
    pub(super) fn shape(&self, doublings: u32) -> Option<Shape> {
        let times = 1_usize.checked_shl(doublings)?;
        let bins = self.shape.bins.checked_mul(times)?;
        let sheds = self.shape.sheds.checked_mul(times)?;
        Some(Shape { bins, sheds, ..self.shape }).filter(Shape::is_valid)
    }

    pub(super) fn capacity(doublings: u32) -> u64 {
        FIRST << doublings
    }

    /// Doublings when so many items are stored; entries with used-up tails come on top.
    fn doublings(items: u64) -> u32 {
        let surplus = |doublings: u32| {
            let exhausted = doublings.saturating_sub(TAIL_BITS);
            1.0 + f64::from(exhausted) / f64::from(EMPTY_TAIL as u32 * 2)
        };
        let fits = |doublings: &u32| {
            items as f64 * surplus(*doublings) <= Self::capacity(*doublings) as f64
        };
        (0..40).find(fits).unwrap_or(40)
    }
}

impl Parameters for GrowingTailsParameters {
    fn list(&mut self, list: &mut List<'_, '_>) -> Result<(), Error> {
        let shape = &mut self.shape;
        list.add("expected items", &mut self.expected_items, .., "")?;
        list.add("first bins", &mut shape.bins, .., "")?;
        list.add("buckets", &mut shape.buckets, .., "")?;
        list.add("remainder bits", &mut shape.remainder_bits, .., "")?;
        list.add("first sheds", &mut shape.sheds, .., "")?;
        shape.tag_bits = TAIL_BITS + 1;
        list.check(shape.is_valid(), "bins", shape.bins as u64, IMPOSSIBLE)
    }

    fn rows() -> &'static [Row] {
        crate::ROWS
    }
}

/// What is expected of bins that no dictionary has.
pub(super) const IMPOSSIBLE: &str = "the dimensions of a dictionary";

impl Blueprint for GrowingTailsParameters {
    fn promise(&self) -> Promise {
        Promise::remembering(Window::Ever, Slack::Unlimited, self.false_positive_rate())
    }

    fn heap_bytes(&self) -> u64 {
        let shape = self.shape(Self::doublings(self.expected_items));
        shape.map_or(u64::MAX, |shape| shape.heap_bytes())
    }

    fn adapts(&self) -> bool {
        true
    }

    fn bytes_at_first(&self) -> u64 {
        self.heap_bytes()
    }

    fn lines_touched(&self) -> f64 {
        let (bytes, _) = self.shape.level_bytes();
        bytes as f64 / self.shape.bins as f64 / 64.0 + 1.0
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(GrowingTails::new(*self))
    }
}
