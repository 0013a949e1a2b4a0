//! From what a user wants to the structures that give it, best first, with their price.
//!
//! The planner knows no structure: it asks every row of the catalog for parameters that reach the
//! [`Goal`], and ranks what comes back. Formulas stay with their structures.

pub mod bound;
pub(crate) mod effort;
mod goal;
mod relax;
mod wishes;

pub use goal::{Goal, Limit};

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::blueprint::{Blueprint, Floor, Unfit};
use crate::catalog::{CATALOG, Catalog, Row};
use crate::error::Error;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::promise::Promise;
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
    /// What one insert-and-check costs, in instructions.
    pub cost: f64,
    /// Bits per key in the window; `None` when nobody said how many there are.
    pub bits_per_item: Option<f64>,
    /// The least any structure could use for this window at this plan's error, as far as it is known:
    /// see [`bound`].
    pub lower_bound_bits_per_item: Option<f64>,
    /// `bits_per_item` over the lower bound.
    pub ratio: Option<f64>,
    /// Why one would choose it, or not, in a sentence.
    pub reason: String,
}

/// What a longer operation must bring: who is [`SLOWER`] times as slow must take [`LESS`] of the
/// memory, or err so much less often where the memory is given; who is twice that, twice as much.
const SLOWER: f64 = 1.5;
const LESS: f64 = 0.9;

/// Fewer errors than this are felt by nobody.
const UNFELT: f64 = 1e-9;

/// So many times the cost of the fastest is worth a word.
const SLOW: f64 = 8.0;

impl Goal {
    /// All plans that reach this goal, best first.
    pub fn plans(&self) -> Result<Vec<Plan>, Error> {
        self.plans_of(CATALOG)
    }

    /// The same, with the structures of any catalog.
    pub fn plans_of(&self, catalog: Catalog) -> Result<Vec<Plan>, Error> {
        self.validate()?;
        let mut reasons = Vec::new();
        let mut plans = Vec::new();
        for row in catalog.iter() {
            match (row.propose)(self) {
                Ok(blueprint) => plans.push((self.rank(&*blueprint), self.plan_of(row, blueprint))),
                Err(unfit) => reasons.push(relax::reason(row, unfit)),
            }
        }
        if plans.is_empty() {
            return Err(self.no_plan(reasons));
        }
        plans.sort_by(|(one, _), (other, _)| compare(one, other));
        let mut plans: Vec<_> = plans.into_iter().map(|(_, plan)| plan).collect();
        explain(&mut plans);
        Ok(plans)
    }

    /// The first of [`plans`](Self::plans), which is sooner found than all of them; its reason does not
    /// speak of the others.
    pub fn best_plan(&self) -> Result<Plan, Error> {
        self.validate()?;
        // Those that promise most first, until what is left cannot be better than what was found.
        let listed = CATALOG.iter().enumerate();
        let mut rows: Vec<_> = listed.map(|(at, row)| ((row.floor)(self), at, row)).collect();
        rows.sort_by(|(one, ..), (other, ..)| compare(one, other));
        let mut best: Option<(Floor, usize, &Row, Box<dyn Blueprint>)> = None;
        for (floor, at, row) in rows {
            if matches!(self.limit, Limit::Memory(memory) if memory.bytes() < floor.bytes) {
                continue;
            }
            if best.as_ref().is_some_and(|(best, ..)| compare(&floor, best).is_gt()) {
                break;
            }
            let Ok(blueprint) = (row.propose)(self) else { continue };
            let found = self.rank(&*blueprint);
            // Of equals the one that is listed first.
            let beats = best.as_ref().is_none_or(|(best, listed, ..)| {
                compare(&found, best).then(at.cmp(listed)).is_lt()
            });
            if beats {
                best = Some((found, at, row, blueprint));
            }
        }
        match best {
            Some((.., row, blueprint)) => {
                let reason = row.strength.to_owned();
                Ok(Plan { reason, ..self.plan_of(row, blueprint) })
            }
            // The list of all says why there is none.
            None => self.plans().map(|mut plans| plans.swap_remove(0)),
        }
    }

    /// The plan for one structure chosen by name.
    pub fn plan_with(&self, row: &'static Row) -> Result<Plan, Error> {
        self.validate()?;
        let blueprint =
            (row.propose)(self).map_err(|Unfit(why)| Error::Unfit { structure: row.name, why })?;
        let mut plan = self.plan_of(row, blueprint);
        plan.reason = format!("asked for by name; {}", row.strength);
        Ok(plan)
    }

    /// What the planner compares: the side of the bargain that is open, memory or mistakes, at its
    /// exchange rate with speed. The least is the best.
    pub fn price(&self, plan: &Plan) -> f64 {
        self.rank(&*plan.blueprint).price
    }

    fn plan_of(&self, row: &'static Row, blueprint: Box<dyn Blueprint>) -> Plan {
        let promise = blueprint.promise();
        let (bytes, cost) = (blueprint.heap_bytes(), blueprint.cost());
        let items = self.items();
        let bits_per_item = items.map(|items| bytes as f64 * 8.0 / items as f64);
        let lower_bound_bits_per_item = items.and_then(|items| self.lower_bound(&promise, items));
        let ratio = bits_per_item.zip(lower_bound_bits_per_item).map(|(bits, least)| bits / least);
        Plan {
            row,
            blueprint,
            promise,
            bytes,
            cost,
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

    /// What parameters take, to be compared with others and with what these take at least.
    fn rank(&self, blueprint: &dyn Blueprint) -> Floor {
        let open = match self.limit {
            Limit::Error(_) if blueprint.is_lean() => blueprint.heap_bytes() as f64 / LESS,
            Limit::Error(_) => blueprint.heap_bytes() as f64,
            Limit::Memory(_) => UNFELT + blueprint.expected_mistakes(self.alphabet).total(),
        };
        Floor {
            bytes: blueprint.heap_bytes(),
            price: felt(open, blueprint.cost()),
            needs_even_stream: blueprint.needs_even_stream(),
        }
    }

    /// The price of so many bytes at such a cost; if the memory is given, of the fewest mistakes.
    pub(crate) fn price_of(&self, bytes: u64, cost: f64) -> f64 {
        match self.limit {
            Limit::Error(_) => felt(bytes as f64, cost),
            Limit::Memory(_) => felt(UNFELT, cost),
        }
    }
}

/// Smaller is better: the side of the bargain that is open, at the exchange rate of both.
fn felt(open: f64, cost: f64) -> f64 {
    open * cost.powf(LESS.ln() / SLOWER.recip().ln())
}

/// Which of two is better. What depends on the rhythm of the stream comes last, since nobody knows
/// that.
fn compare(one: &Floor, other: &Floor) -> Ordering {
    let uneven = one.needs_even_stream.cmp(&other.needs_even_stream);
    uneven.then_with(|| one.price.total_cmp(&other.price))
}

/// Says of each plan what it is best at among its rivals, and what its structure is good at.
fn explain(plans: &mut [Plan]) {
    let smallest = plans.iter().map(|plan| plan.bytes).min();
    let fastest = plans.iter().map(|plan| plan.cost).fold(f64::INFINITY, f64::min);
    for plan in plans {
        let mut best = Vec::new();
        if Some(plan.bytes) == smallest {
            best.push("smallest here".to_owned());
        }
        if plan.cost == fastest {
            best.push("fastest here".to_owned());
        }
        if plan.cost > SLOW * fastest {
            best.push(format!("slow: {:.0} times the fastest", plan.cost / fastest));
        }
        best.push(plan.row.strength.to_owned());
        plan.reason = best.join("; ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::window::Span;

    /// Goals of all kinds, from a few items to many millions.
    fn grid() -> Vec<Goal> {
        let limits = [0.3, 0.01, 0.001, 1e-6, 1e-9].map(|rate| ErrorRate::new(rate).unwrap());
        let hour = Window::Within(Span::from_millis(3_600_000));
        let mut goals = Vec::new();
        for items in
            [1, 10, 64, 100, 300, 1_000, 2_000, 2_499, 2_500, 10_000, 1_000_000, 30_000_000]
        {
            for window in [Window::Last(items), hour, Window::Ever] {
                let memories =
                    [1, 4, 16].map(|bytes| Limit::from(Memory::from_bytes(bytes * items)));
                for limit in limits.map(Limit::from).into_iter().chain(memories) {
                    for counting in [false, true] {
                        let goal = Goal::new(window, limit);
                        goals.push(Goal { counting, expected_items: Some(items), ..goal });
                    }
                }
            }
        }
        goals
    }

    #[test]
    fn a_plan_tells_its_bits_beside_the_least() {
        let rate = ErrorRate::new(0.01).unwrap();
        let check = |goal: Goal, row: &str, least: f64| {
            let plan = goal.plan_with(CATALOG.row(row).unwrap()).unwrap();
            let bits = plan.bytes as f64 * 8.0 / 10_000.0;
            assert_eq!(plan.bits_per_item, Some(bits), "{row}");
            assert_eq!(plan.lower_bound_bits_per_item, Some(least), "{row}");
            assert_eq!(plan.ratio, Some(bits / least), "{row}");
        };
        let last = Goal::new(Window::Last(10_000), rate);
        check(last, "sliding", bound::sliding_window(rate, 10_000, None));
        let exactly = Goal { slack: Slack::Items(0), ..last };
        check(exactly, "quotient-short-hash", bound::sliding_window(rate, 10_000, Some(0)));
        let ever = Goal { expected_items: Some(10_000), ..Goal::new(Window::Ever, rate) };
        check(ever, "growing", bound::growing_set(rate, 10_000));
    }

    #[test]
    fn prices_are_of_what_is_open() {
        let row = CATALOG.row("quotient-table").unwrap();
        let goal = Goal::new(Window::Last(1_000), Memory::from_bytes(1_000));
        let plan = goal.plan_with(row).unwrap();
        let mistakes = plan.blueprint.expected_mistakes(None).total();
        assert_eq!(goal.price(&plan), felt(UNFELT + mistakes, plan.cost));
        assert_eq!(goal.price_of(plan.bytes, plan.cost), felt(UNFELT, plan.cost));
        let goal = Goal::new(Window::Last(1_000), ErrorRate::DEFAULT);
        let plan = goal.plan_with(CATALOG.row("sliding").unwrap()).unwrap();
        assert_eq!(goal.price(&plan), felt(plan.bytes as f64, plan.cost));
        assert_eq!(goal.price(&plan), goal.price_of(plan.bytes, plan.cost));
        assert!(felt(2.0, 1.0) > felt(1.0, 1.0) && felt(1.0, 2.0) > felt(1.0, 1.0));
    }

    #[test]
    fn reasons_tell_the_smallest_the_fastest_and_the_slow() {
        let mut told = [0; 3];
        for goal in grid() {
            let Ok(plans) = goal.plans() else { continue };
            let fastest = plans.iter().map(|plan| plan.cost).fold(f64::INFINITY, f64::min);
            let smallest = plans.iter().map(|plan| plan.bytes).min().unwrap();
            for plan in &plans {
                let is_slow = plan.cost / fastest > 8.0;
                let slow = format!("slow: {:.0} times the fastest", plan.cost / fastest);
                let facts = [
                    ("smallest here", plan.bytes == smallest),
                    ("fastest here", plan.cost == fastest),
                    (slow.as_str(), is_slow),
                ];
                for ((words, holds), told) in facts.into_iter().zip(&mut told) {
                    assert_eq!(
                        plan.reason.contains(words),
                        holds,
                        "{}: {}",
                        plan.row.name,
                        plan.reason
                    );
                    *told += usize::from(holds);
                }
                assert_eq!(plan.reason.contains("slow:"), is_slow, "{}", plan.reason);
            }
        }
        assert!(told.into_iter().all(|told| told > 10), "{told:?}");
    }

    /// What is picked is not more than half as slow again as another, unless it takes a tenth less
    /// memory than that, whatever the rhythm; where the memory is given, unless it errs a tenth less.
    #[test]
    fn no_pick_is_slow_for_little() {
        let mut compared = 0;
        for goal in grid() {
            let Ok(plans) = goal.plans() else { continue };
            let open = |plan: &Plan| match goal.limit {
                Limit::Error(_) => plan.bytes as f64,
                Limit::Memory(_) => plan.blueprint.expected_mistakes(goal.alphabet).total() + 1e-9,
            };
            let pick = &plans[0];
            let uneven = |plan: &&Plan| !plan.blueprint.needs_even_stream();
            for other in plans[1..].iter().filter(uneven) {
                compared += 1;
                assert!(
                    pick.cost <= 1.5 * other.cost || open(pick) <= 0.9 * open(other),
                    "{goal:?}: {} costs {:.0} and is {}; {} {:.0} and {}",
                    pick.row.name,
                    pick.cost,
                    open(pick),
                    other.row.name,
                    other.cost,
                    open(other),
                );
            }
        }
        assert!(compared > 1_000, "{compared}");
    }

    /// The compact filter where the memory is given, and where nothing else comes near; not where it is
    /// smaller by less than it is slower.
    #[test]
    fn the_lean_one_is_for_those_who_want_memory() {
        let million = |limit: Limit| Goal::new(Window::Last(1_000_000), limit);
        let best = |goal: Goal| goal.best_plan().unwrap().row.name;
        let percent = Limit::from(ErrorRate::new(0.01).unwrap());
        assert_eq!(best(million(percent)), "sliding");
        assert_eq!(best(million(Memory::from_bytes(2_000_000).into())), "sliding-compact");
        assert_eq!(
            best(Goal { slack: Slack::Items(1_000), ..million(percent) }),
            "sliding-compact"
        );
    }

    /// Alphabets hardly larger than the window, in memories hardly larger than the items.
    #[test]
    fn every_alphabet_has_a_plan() {
        for (alphabet, bytes) in [(1_000, 900), (1_001, 900), (1_200, 900), (1_200, 2_000)] {
            let goal = Goal::new(Window::Last(1_000), Memory::from_bytes(bytes));
            for plan in (Goal { alphabet: Some(alphabet), ..goal }).plans().unwrap() {
                let mistakes = plan.blueprint.expected_mistakes(Some(alphabet)).total();
                let is_chance = (-1e-9..=2.0).contains(&mistakes);
                assert!(is_chance, "{} of {alphabet} in {bytes}: {mistakes}", plan.row.name);
            }
        }
    }

    /// Whoever asks for the best plan alone gets the one that is listed first.
    #[test]
    fn the_short_search_finds_what_the_long_one_does() {
        for goal in grid() {
            let (long, short) = (goal.plans(), goal.best_plan());
            let (Ok(long), Ok(short)) = (&long, &short) else {
                assert_eq!(format!("{:?}", long.err()), format!("{:?}", short.err()), "{goal:?}");
                continue;
            };
            assert_eq!(short.row.name, long[0].row.name, "{goal:?}");
            assert_eq!(short.bytes, long[0].bytes, "{goal:?}");
        }
    }

    /// What is proposed never costs less than what was said of it before, and so nothing that might be
    /// the best is passed over.
    #[test]
    fn nothing_is_below_its_floor() {
        let mut known = 0;
        let tight = |goal: Goal| Goal {
            slack: Slack::Items(goal.items().unwrap_or(1).div_ceil(20)),
            ..goal
        };
        let goals = grid();
        for goal in goals.iter().copied().chain(goals.iter().copied().map(tight)) {
            for row in CATALOG.iter() {
                let floor = (row.floor)(&goal);
                known += u32::from(floor.bytes > 0);
                if let Ok(found) = (row.propose)(&goal) {
                    let found = goal.rank(&*found);
                    let (above, bytes) = (compare(&floor, &found), floor.bytes <= found.bytes);
                    assert!(above.is_le() && bytes, "{goal:?}: {} {floor:?} {found:?}", row.name);
                }
            }
        }
        assert!(known > 1_000, "{known}");
    }

    /// A page plans at every step of a slider. If `growing` worked everything out anew for every error that it
    /// tries, there would be twice as many formulas as this, and each of them longer.
    #[test]
    fn a_plan_for_a_memory_is_soon_found() {
        const MOST: u64 = 200_000;
        let is_memory = |goal: &Goal| matches!(goal.limit, Limit::Memory(_));
        let mut most = 0;
        for goal in grid().into_iter().filter(is_memory) {
            for removing in [false, true] {
                let goal = Goal { removing, ..goal };
                let (_, formulas) = effort::during(|| goal.best_plan());
                assert!(formulas <= MOST, "{formulas} for {goal:?}");
                most = most.max(formulas);
            }
        }
        assert!(most > 1_000, "hardly anything is counted: {most}");
    }

    /// Scanning thousands of items to save a few hundred bytes is what nobody would want.
    #[test]
    fn nothing_is_scanned_that_need_not_be() {
        for window in [500, 1_000, 2_000, 2_400] {
            let goal = Goal::new(Window::Last(window), ErrorRate::new(0.001).unwrap());
            let plans = goal.plans().unwrap();
            assert_eq!(plans[0].blueprint.items_scanned(), 0.0, "{window}: {}", plans[0].row.name);
            assert!(plans.iter().any(|plan| plan.reason.contains("slow: ")));
        }
    }
}
