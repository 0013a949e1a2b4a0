//! When nothing reaches a goal: the one thing to change so that something does.
//!
//! Each wish of the goal is dropped or relaxed on its own, the least painful first, until a structure
//! comes forward. So `within 1h, counting` is answered by what would do without counting, and not by
//! twenty reasons of structures that were never in question. The reasons are data, for whoever asks.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Goal, Limit};
use crate::blueprint::{Blueprint, Unfit};
use crate::catalog::{CATALOG, Row};
use crate::error::{Error, Reason};
use crate::memory::Memory;
use crate::rate::ErrorRate;
use crate::window::Slack;

impl Goal {
    /// The error that says why nothing reaches this goal, and what would.
    pub(super) fn no_plan(&self, reasons: Vec<Reason>) -> Error {
        let instead =
            self.change().unwrap_or_else(|| "change more than one thing of it".to_owned());
        Error::NoPlan { instead, reasons }
    }

    /// The change that helps, in a clause.
    fn change(&self) -> Option<String> {
        let mut floors = Floors::default();
        self.changes().find_map(|(goal, change)| {
            let (row, blueprint) = floors.first(&goal)?;
            let does = format!("`{}` does", row.name);
            Some(match change {
                Change::Slack => {
                    format!("allow a slack of {}, which {does}", blueprint.promise().slack)
                }
                Change::Memory(memory) => format!("allow {memory}, with which {does}"),
                Change::Error(rate) => format!("allow an error of {rate}, with which {does}"),
                Change::Expectation => format!("say how many keys to expect, with which {does}"),
                Change::WithoutCounting => format!("do without counting, as {does}"),
                Change::WithoutRemoving => format!("do without taking back, as {does}"),
                Change::ErrorForMemory => format!("say the error instead of the memory, as {does}"),
            })
        })
    }

    /// The goal with one wish relaxed, the least painful first.
    fn changes(&self) -> impl Iterator<Item = (Goal, Change)> {
        let goal = *self;
        let expectation = (goal.items().is_none())
            .then_some((Goal { expected_items: Some(1_000_000), ..goal }, Change::Expectation));
        let slack = (goal.slack != Slack::Unlimited)
            .then_some((Goal { slack: Slack::Unlimited, ..goal }, Change::Slack));
        let more: Vec<_> = match goal.limit {
            Limit::Memory(memory) => doubled(memory)
                .map(|memory| (Goal { limit: memory.into(), ..goal }, Change::Memory(memory)))
                .chain([(
                    Goal { limit: ErrorRate::DEFAULT.into(), ..goal },
                    Change::ErrorForMemory,
                )])
                .collect(),
            Limit::Error(_) if goal.shortening.is_some() => {
                let more = goal.shortening.into_iter().flat_map(doubled);
                more.map(|memory| {
                    (Goal { shortening: Some(memory), ..goal }, Change::Memory(memory))
                })
                .collect()
            }
            Limit::Error(rate) => tenfold(rate)
                .map(|rate| (Goal { limit: rate.into(), ..goal }, Change::Error(rate)))
                .collect(),
        };
        let removing =
            goal.removing.then_some((Goal { removing: false, ..goal }, Change::WithoutRemoving));
        let counting =
            goal.counting.then_some((Goal { counting: false, ..goal }, Change::WithoutCounting));
        expectation.into_iter().chain(slack).chain(more).chain(removing).chain(counting)
    }
}

/// What was changed of a goal.
enum Change {
    Slack,
    Memory(Memory),
    Error(ErrorRate),
    Expectation,
    WithoutCounting,
    WithoutRemoving,
    ErrorForMemory,
}

/// What each structure takes at least if the memory is given. It is the same for all memories, of which
/// many are tried: so it is asked for once.
#[derive(Default)]
struct Floors {
    /// Bytes of each row, in the order of the catalog.
    bytes: Vec<u64>,
    /// What else is wanted there.
    goal: Option<Goal>,
}

impl Floors {
    /// The first structure that reaches a goal.
    fn first(&mut self, goal: &Goal) -> Option<(&'static Row, Box<dyn Blueprint>)> {
        goal.validate().ok()?;
        let Limit::Memory(memory) = goal.limit else {
            return CATALOG.iter().find_map(|row| Some((row, (row.propose)(goal).ok()?)));
        };
        if self.goal.map(|known| Goal { limit: goal.limit, ..known }) != Some(*goal) {
            self.bytes = CATALOG.iter().map(|row| (row.floor)(goal).bytes).collect();
            self.goal = Some(*goal);
        }
        let rows = CATALOG.iter().zip(&self.bytes).filter(|&(_, &least)| least <= memory.bytes());
        rows.into_iter().find_map(|(row, _)| Some((row, (row.propose)(goal).ok()?)))
    }
}

/// Twice the memory, and so on: up to a tebibyte.
fn doubled(memory: Memory) -> impl Iterator<Item = Memory> {
    let doubled =
        core::iter::successors(memory.bytes().max(1).checked_mul(2), |bytes| bytes.checked_mul(2));
    doubled.take_while(|&bytes| bytes <= 1 << 40).map(Memory::from_bytes)
}

/// Ten times the error, and so on.
fn tenfold(rate: ErrorRate) -> impl Iterator<Item = ErrorRate> {
    core::iter::successors(Some(rate), |rate| ErrorRate::new(rate.get() * 10.0).ok()).skip(1)
}

/// Why this structure does not reach a goal.
pub(super) fn reason(row: &Row, Unfit(why): Unfit) -> Reason {
    Reason { structure: row.name, why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Window;

    fn told(goal: Goal) -> String {
        goal.plans().unwrap_err().to_string()
    }

    #[test]
    fn an_error_may_be_larger_and_a_memory_to_shorten_at_too() {
        let goal =
            Goal::new(Window::Within(crate::window::Span::from_millis(60_000)), ErrorRate::DEFAULT);
        assert!(goal.changes().any(|(_, change)| matches!(change, Change::Error(_))));
        let shortening = Goal { shortening: Some(Memory::from_bytes(1_000)), ..goal };
        let changes: Vec<_> = shortening.changes().map(|(_, change)| change).collect();
        assert!(changes.iter().any(|change| matches!(change, Change::Memory(_))));
        assert!(!changes.iter().any(|change| matches!(change, Change::Error(_))));
    }

    #[test]
    fn memories_double_and_errors_grow_tenfold() {
        let bytes = |first| doubled(Memory::from_bytes(first)).map(|memory| memory.bytes());
        assert_eq!(bytes(1 << 37).collect::<Vec<_>>(), [1 << 38, 1 << 39, 1 << 40]);
        assert_eq!(bytes(0).next(), Some(2));
        let errors: Vec<_> = tenfold(ErrorRate::new(0.003).unwrap()).map(ErrorRate::get).collect();
        assert!(errors.len() == 2 && (errors[0] - 0.03).abs() < 1e-9, "{errors:?}");
        assert!((errors[1] - 0.3).abs() < 1e-9, "{errors:?}");
    }

    /// Every goal that is tried differs from the one that was wished in what its change says, and in nothing else.
    #[test]
    fn a_change_changes_one_thing() {
        let all = Goal {
            slack: Slack::Items(0),
            removing: true,
            counting: true,
            ..Goal::new(Window::Last(100), ErrorRate::DEFAULT)
        };
        let small = Goal { limit: Memory::from_bytes(100).into(), ..all };
        let ever = Goal { slack: Slack::Unlimited, window: Window::Ever, ..all };
        let hour = Window::Within(crate::window::Span::from_millis(3_600_000));
        let short = Goal { shortening: Some(Memory::from_bytes(9)), window: hour, ..ever };
        let mut tried = 0;
        for wish in [all, small, ever, short] {
            for (goal, change) in wish.changes() {
                let expected = match change {
                    Change::Slack => Goal { slack: Slack::Unlimited, ..wish },
                    Change::Memory(memory) if wish.shortening.is_some() => {
                        Goal { shortening: Some(memory), ..wish }
                    }
                    Change::Memory(memory) => Goal { limit: memory.into(), ..wish },
                    Change::Error(rate) => Goal { limit: rate.into(), ..wish },
                    Change::Expectation => Goal { expected_items: Some(1_000_000), ..wish },
                    Change::WithoutCounting => Goal { counting: false, ..wish },
                    Change::WithoutRemoving => Goal { removing: false, ..wish },
                    Change::ErrorForMemory => Goal { limit: ErrorRate::DEFAULT.into(), ..wish },
                };
                assert!(goal == expected && goal != wish, "{goal:?}");
                tried += 1;
            }
        }
        assert!(tried > 60, "{tried}");
    }

    #[test]
    fn one_change_is_named() {
        let window = Window::Last(1_000_000);
        let goal = Goal { removing: true, ..Goal::new(window, Memory::from_bytes(10_000_000)) };
        let text = told(goal);
        assert!(text.contains("say the error instead of the memory, as `elastic`"), "{text}");
        let tiny = Goal::new(Window::Last(1_000_000), Memory::from_bytes(3));
        let text = told(tiny);
        assert!(text.contains("allow "), "{text}");
        let ever =
            Goal { counting: true, ..Goal::new(Window::Ever, Memory::from_bytes(1_000_000)) };
        let text = told(ever);
        assert!(text.contains("say how many keys to expect"), "{text}");
    }

    #[test]
    fn what_is_suggested_works_and_all_reasons_are_there() {
        let goal = Goal::new(Window::Last(1_000_000), Memory::from_bytes(3));
        let Error::NoPlan { reasons, .. } = goal.plans().unwrap_err() else { unreachable!() };
        assert_eq!(reasons.len(), CATALOG.iter().count());
        let mut floors = Floors::default();
        let (better, _) = goal.changes().find(|(goal, _)| floors.first(goal).is_some()).unwrap();
        assert!(better.plans().is_ok());
    }
}
