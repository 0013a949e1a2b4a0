//! How many servers hold a filter that does not fit one.

use lately::plan::{Goal, Plan};
use lately::raw::Shards;
use lately::{Error, Memory, Window};
use serde::Serialize;

/// A filter split over servers.
#[derive(Debug, PartialEq, Serialize)]
pub struct Fleet {
    /// How many of them.
    pub servers: u32,
    /// What the filter takes on each.
    pub bytes: u64,
    /// How many more of the last keys may be reported because of the split.
    pub slack: u64,
}

/// More servers than a cluster has slots cannot be told apart.
const MOST: u32 = 16_384;

/// The fewest servers of so much memory. Every split is planned: shares of the last n are enlarged, so
/// that half the servers do not always suffice for half the memory.
pub fn of(goal: &Goal, plan: &Plan, server: Memory) -> Result<Fleet, Error> {
    let mut servers = fewest(plan.bytes, server);
    loop {
        let shards = Shards(servers);
        let bytes = if servers == 1 { plan.bytes } else { share(goal, shards)?.best_plan()?.bytes };
        let slack = shards.slack(goal.window);
        if bytes <= server.bytes() || servers == MOST {
            return Ok(Fleet { servers, bytes, slack });
        }
        // As many more as it is too large, and at least one.
        let wanted = f64::from(servers) * bytes as f64 / server.bytes() as f64;
        servers = (wanted.ceil() as u32).clamp(servers + 1, MOST);
    }
}

fn fewest(bytes: u64, server: Memory) -> u32 {
    bytes.div_ceil(server.bytes().max(1)).clamp(1, MOST.into()) as u32
}

/// What one of them is asked.
fn share(goal: &Goal, shards: Shards) -> Result<Goal, Error> {
    let window = match goal.window {
        Window::Last(items) => Window::Last(shards.window(items)),
        other => other,
    };
    let limit = match goal.limit {
        lately::plan::Limit::Memory(all) => {
            let part = (all.bytes() / u64::from(shards.0)).max(1);
            lately::plan::Limit::Memory(Memory::from_bytes(part))
        }
        error => error,
    };
    let expected_items = goal.expected_items.map(|items| items.div_ceil(shards.0.into()));
    Ok(Goal { window, limit, expected_items, ..*goal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::Asked;

    fn fleet(text: &str, server: u64) -> Fleet {
        let goal = Asked::read(text).unwrap().goal;
        of(&goal, &goal.best_plan().unwrap(), Memory::from_bytes(server)).unwrap()
    }

    #[test]
    fn each_share_fits_and_one_server_fewer_would_not_do() {
        let text = "last 100M\nerror 0.1%";
        let goal = Asked::read(text).unwrap().goal;
        let whole = goal.best_plan().unwrap().bytes;
        for server in [64 << 20, 32 << 20, 10 << 20] {
            let fleet = fleet(text, server);
            assert!(fleet.bytes <= server, "{fleet:?}");
            assert!(u64::from(fleet.servers) * server >= whole);
            let fewer = share(&goal, Shards(fleet.servers - 1)).unwrap().best_plan().unwrap();
            assert!(fewer.bytes > server || fleet.servers == 2, "{fleet:?}");
        }
        assert_eq!(fleet(text, 1 << 40), Fleet { servers: 1, bytes: whole, slack: 0 });
    }

    #[test]
    fn windows_by_time_split_without_slack() {
        let fleet = fleet("within 24h\nrate 100k\nerror 0.1%", 4 << 30);
        assert!(fleet.servers > 1 && fleet.slack == 0, "{fleet:?}");
    }
}
