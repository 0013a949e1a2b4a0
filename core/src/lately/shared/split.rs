//! Into how many parts a filter is split that threads share, and what each of them is for.

use alloc::string::ToString;

use super::batch::MOST_PARTS;
use crate::error::Error;
use crate::memory::Memory;
use crate::plan::{Goal, Limit};
use crate::shards::Shards;
use crate::window::{Slack, Window};

/// Parts unless the builder is told another number: so many that threads seldom meet in one, so few that
/// a thread keeps what it needs of all of them in its nearest cache. The same on every machine, because
/// filters of different numbers err about different keys.
const PARTS: u32 = 64;

/// Items of a window by count that a part should have at least: of fewer, the share would have to be
/// enlarged too much.
const LEAST_ITEMS: u64 = 4096;

/// Into how many parts a filter is split, and the goal of each.
pub(in crate::lately) fn split(goal: &Goal, stated: Option<u32>) -> Result<(Count, Goal), Error> {
    let parts = match (stated, goal.window) {
        (Some(parts), _) => Count::new(parts)?,
        (None, Window::Last(items)) => Count(most_parts(items).min(PARTS)),
        (None, Window::Within(_) | Window::Ever) => Count(PARTS),
    };
    Ok((parts, parts.goal_of_one(goal)?))
}

/// The largest power of two of parts that have enough items each.
fn most_parts(items: u64) -> u32 {
    let most = (items / LEAST_ITEMS).clamp(1, PARTS.into());
    1 << most.ilog2()
}

/// A number of parts.
#[derive(Debug, Clone, Copy)]
pub(in crate::lately) struct Count(u32);

impl Count {
    fn new(parts: u32) -> Result<Self, Error> {
        match parts as usize {
            1..=MOST_PARTS => Ok(Self(parts)),
            _ => Err(Error::Parameter {
                name: "number of parts",
                found: parts.to_string(),
                expected: "from 1 to 256",
            }),
        }
    }

    pub(in crate::lately) fn get(self) -> u32 {
        self.0
    }

    fn goal_of_one(self, goal: &Goal) -> Result<Goal, Error> {
        let (shards, parts) = (Shards(self.0), u64::from(self.0));
        let window = match goal.window {
            Window::Last(items) => Window::Last(shards.window(items)),
            other => other,
        };
        let slack = match goal.slack {
            Slack::Items(items) => {
                let left = items.checked_sub(shards.slack(goal.window)).ok_or_else(|| {
                    Error::Parameter {
                        name: "slack",
                        found: items.to_string(),
                        expected: "some percent of the window at least, for a filter that threads share",
                    }
                })?;
                Slack::Items(left / parts)
            }
            other => other,
        };
        let limit = match goal.limit {
            Limit::Memory(memory) => Limit::Memory(Memory::from_bytes(memory.bytes() / parts)),
            Limit::Error(rate) => Limit::Error(rate),
        };
        let shortening = goal.shortening.map(|memory| Memory::from_bytes(memory.bytes() / parts));
        let expected_items = goal.expected_items.map(|items| items.div_ceil(parts));
        Ok(Goal { window, slack, limit, shortening, expected_items, ..*goal })
    }
}
