//! Structures of ours in the place of a rival, as the yardstick of others.

use lately::plan::Goal;
use lately::raw::Unfit;
use lately::{Seed, Window};
use lately_papers::CATALOG;

use crate::contender::{Built, Contender, Rival};

/// Our succinct window by count, for a window by time: it stands for a rate that never changes.
pub static SLIDING_BY_COUNT: Rival = Rival {
    name: "sliding-by-count",
    build: |goal, Seed(seed)| {
        let items = goal.items().ok_or(Unfit("must know how many items to expect"))?;
        let row = CATALOG.row("sliding").ok_or(Unfit("is not in the catalog"))?;
        let by_count = Goal::new(Window::Last(items), goal.limit);
        Contender::Row(row).fresh(&by_count, seed).map_err(|_| Unfit("cannot be built"))
    },
};

/// Our double buffer of split-block Bloom filters, as the yardstick of other structures of ours: by
/// count, so for a window by time it stands for a rate that is known and never changes.
pub static DOUBLE_BUFFER: Rival = Rival {
    name: "double-buffer-by-count",
    build: |goal, Seed(seed)| {
        let items = goal.items().ok_or(Unfit("must know how many items to expect"))?;
        ours("double-buffer", &Goal::new(Window::Last(items), goal.limit), seed)
    },
};

/// Our sliding filter with a backyard, as the yardstick of the one without.
pub static SLIDING: Rival =
    Rival { name: "sliding-with-backyard", build: |goal, Seed(seed)| ours("sliding", goal, seed) };

/// A structure of ours in the place of a rival.
fn ours(name: &str, goal: &Goal, seed: u64) -> Built {
    let row = CATALOG.row(name).ok_or(Unfit("is not in the catalog"))?;
    Contender::Row(row).fresh(goal, seed).map_err(|_| Unfit("cannot be built"))
}
