//! What a growing filter says of itself before it is built.

use alloc::vec::Vec;
use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::filter::Growing;
use super::parameters::GrowingParameters;
use super::segment::SLOTS;
use crate::bits::LINE_WORDS;
use crate::blueprint::{Blueprint, Structure};
use crate::codec::Writer;
use crate::filter::Filter;
use crate::promise::Promise;
use crate::hash::Seed;
use crate::window::{Slack, Window};

impl Blueprint for GrowingParameters {
    fn structure(&self) -> &'static str {
        Growing::NAME
    }

    fn promise(&self) -> Promise {
        Promise {
            window: Window::Ever,
            slack: Slack::Unlimited,
            false_positives: self.false_positive_rate(),
            false_negatives: 0.0,
        }
    }

    fn heap_bytes(&self) -> u64 {
        self.expected_bytes()
    }

    fn adapts(&self) -> bool {
        true
    }

    fn lines_touched(&self) -> f64 {
        // Address, block, ends, and fields that may go on in another line.
        let moved = SLOTS * self.width(self.expected_depth() as u32);
        4.0 + moved as f64 / (64 * LINE_WORDS) as f64
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let widths = self.remainder_bits.map(|bits| bits.to_string()).join(" ");
        vec![
            ("expected items", self.expected_items.to_string()),
            ("removing", self.removing.to_string()),
            ("bins", self.bins.to_string()),
            ("remainder bits", widths),
        ]
    }

    fn write_parameters(&self, out: &mut Writer) {
        out.u64(self.expected_items);
        out.u8(self.removing.into());
        out.u8(self.bins as u8);
        out.bytes(&self.remainder_bits);
    }

    fn allocate(&self, _seed: Seed) -> Box<dyn Filter> {
        Box::new(Growing::new(*self))
    }
}
