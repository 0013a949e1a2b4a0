//! From what a user wants to the structures that give it, best first, with their price.
//!
//! The planner knows no structure: it asks every row of the catalog for parameters that reach the
//! [`Goal`], and ranks what comes back. Formulas stay with their structures.

pub mod bound;
mod frontier;
mod goal;
mod relax;

pub use frontier::Frontier;
pub use goal::{Goal, Limit};

use crate::blueprint::{Blueprint, Unfit};
use crate::catalog::{CATALOG, Row};
use crate::error::Error;
use crate::filter::Promise;
use crate::rate::ErrorRate;
use crate::window::{Slack, Window};

/// One way to reach a goal.
#[derive(Debug)]
pub struct Plan {
    /// The structure.
    pub row: &'static Row,
    /// Its parameters, ready to build.
    pub blueprint: Box<dyn Blueprint>,
    /// What it keeps.
    pub promise: Promise,
    /// Bytes on the heap.
    pub bytes: u64,
    /// Bits per key in the window; `None` when nobody said how many there are.
    pub bits_per_item: Option<f64>,
    /// The least any structure could use for this window at this plan's error.
    pub lower_bound_bits_per_item: Option<f64>,
    /// `bits_per_item` over the lower bound.
    pub ratio: Option<f64>,
    /// Why one would choose it, or not, in a sentence.
    pub reason: String,
}

/// Beyond this many cache lines per operation a structure is for small windows only, and ranks
/// behind all others: 256 lines are 16 KiB, about a microsecond to scan.
const SLOW_LINES: f64 = 256.0;

impl Goal {
    /// All plans that reach this goal, best first.
    pub fn plans(&self) -> Result<Vec<Plan>, Error> {
        self.validate()?;
        let mut reasons = Vec::new();
        let mut plans = Vec::new();
        for row in CATALOG {
            match (row.propose)(self) {
                Ok(blueprint) => plans.push(self.price(row, blueprint)),
                Err(unfit) => reasons.push(relax::reason(row, unfit)),
            }
        }
        if plans.is_empty() {
            return Err(self.no_plan(reasons));
        }
        plans.sort_by(|a, b| self.rank(a).partial_cmp(&self.rank(b)).expect("ranks are numbers"));
        explain(&mut plans);
        Ok(plans)
    }

    /// The plan for one structure chosen by name.
    pub fn plan_with(&self, row: &'static Row) -> Result<Plan, Error> {
        self.validate()?;
        let blueprint =
            (row.propose)(self).map_err(|Unfit(why)| Error::Unfit { structure: row.name, why })?;
        let mut plan = self.price(row, blueprint);
        plan.reason = format!("asked for by name; {}", row.strength);
        Ok(plan)
    }

    fn price(&self, row: &'static Row, blueprint: Box<dyn Blueprint>) -> Plan {
        let promise = blueprint.promise();
        let bytes = blueprint.heap_bytes();
        let items = self.items();
        let bits_per_item = items.map(|items| bytes as f64 * 8.0 / items as f64);
        let lower_bound_bits_per_item = items.and_then(|items| self.lower_bound(&promise, items));
        let ratio = bits_per_item.zip(lower_bound_bits_per_item).map(|(bits, least)| bits / least);
        Plan {
            row,
            blueprint,
            promise,
            bytes,
            bits_per_item,
            lower_bound_bits_per_item,
            ratio,
            reason: String::new(),
        }
    }

    /// The bound for the window and slack of the goal. Under a memory limit the error is the one
    /// that the plan promises.
    fn lower_bound(&self, promise: &Promise, items: u64) -> Option<f64> {
        let rate = match self.limit {
            Limit::Error(rate) => rate,
            Limit::Memory(_) => ErrorRate::new(promise.false_positives).ok()?,
        };
        Some(match (self.window, self.slack) {
            (Window::Ever, _) => bound::growing_set(rate, items),
            (_, Slack::Items(slack)) => bound::sliding_window(rate, items, Some(slack)),
            _ => bound::sliding_window(rate, items, None),
        })
    }

    /// Smaller is better: first not to be slow, then the side of the bargain that is open.
    fn rank(&self, plan: &Plan) -> (bool, f64) {
        let open = match self.limit {
            Limit::Error(_) => plan.bytes as f64,
            Limit::Memory(_) => plan.blueprint.expected_mistakes(self.alphabet).total(),
        };
        (plan.blueprint.lines_touched() > SLOW_LINES, open)
    }
}

/// Says of each plan what it is best at among its rivals, and what its structure is good at.
fn explain(plans: &mut [Plan]) {
    let smallest = plans.iter().map(|plan| plan.bytes).min();
    let lines = |plan: &Plan| plan.blueprint.lines_touched();
    let fewest = plans.iter().map(lines).fold(f64::INFINITY, f64::min);
    for plan in plans {
        let touched = lines(plan);
        let mut best = Vec::new();
        if Some(plan.bytes) == smallest {
            best.push("smallest here".to_owned());
        }
        if touched == fewest {
            best.push("fewest cache lines here".to_owned());
        }
        if touched > SLOW_LINES {
            best.push(format!("slow: {touched:.0} cache lines per check"));
        }
        best.push(plan.row.strength.to_owned());
        plan.reason = best.join("; ");
    }
}
