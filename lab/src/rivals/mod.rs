//! The rivals: what people use today, set up as well as we can.
//!
//! Each is sized for the error that is asked of all, hashes the key once per operation where its
//! interface allows it, and is otherwise left at its defaults.

mod ours;
mod sets;
mod split_block;
mod windows;

pub use ours::{DOUBLE_BUFFER, SLIDING, SLIDING_BY_COUNT};
pub use sets::{
    DATASKETCHES, FASTBLOOM, GROWABLE_BLOOM, QFILTER, QFILTER_GROWN, SCALABLE_CUCKOO,
    SCALABLE_CUCKOO_GROWN, SPLIT_BLOCK,
};
pub use windows::{
    CUCKOO_CLOCK, EXACT_WINDOW, LRU, ROTATING_FASTBLOOM, ROTATING_FASTBLOOM_BY_COUNT, Rotating,
};

use fastbloom::BloomFilter;
use foldhash::fast::FixedState;
use lately::plan::{Goal, Limit};
use lately::raw::Unfit;
use lately::{Promise, Seed, Slack, Window};

/// With foldhash, the fastest hasher that it can be given here: its default is a keyed one.
type FastBloom = BloomFilter<FixedState>;

fn fastbloom(rate: f64, items: u64, Seed(seed): Seed) -> FastBloom {
    let hasher = FixedState::with_seed(seed);
    BloomFilter::with_false_pos(rate).hasher(hasher).expected_items(items as usize)
}

fn count_window(goal: &Goal) -> Result<u64, Unfit> {
    match goal.window {
        Window::Last(n) => Ok(n),
        _ => Err(Unfit("keeps windows by count only")),
    }
}

fn set_size(goal: &Goal) -> Result<u64, Unfit> {
    match (goal.window, goal.expected_items) {
        (Window::Ever, Some(items)) => Ok(items),
        (Window::Ever, None) => Err(Unfit("must know how many keys to expect")),
        _ => Err(Unfit("never forgets")),
    }
}

fn error(goal: &Goal) -> Result<f64, Unfit> {
    match goal.limit {
        Limit::Error(rate) => Ok(rate.get()),
        Limit::Memory(_) => Err(Unfit("is sized by its error here")),
    }
}

fn set_promise(false_positives: f64) -> Promise {
    Promise { window: Window::Ever, slack: Slack::Unlimited, false_positives, false_negatives: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Rival;
    use lately::{ErrorRate, Time};
    use testkit::streams;

    const ITEMS: u64 = 2_000;

    fn percent() -> ErrorRate {
        ErrorRate::new(0.01).unwrap()
    }

    /// Keys of the window are known, and few of those that never came.
    fn answers(rival: &Rival, goal: &Goal, inserted: usize) {
        let mut subject = (rival.build)(goal, Seed(1)).unwrap();
        let keys: Vec<u64> = streams::distinct(7).take(inserted).collect();
        subject.insert_each(&keys, Time::ZERO);
        let window = &keys[inserted - ITEMS as usize..];
        assert_eq!(subject.contains_each(window, Time::ZERO), ITEMS, "{}", rival.name);
        let absent: Vec<u64> = streams::absent(7).take(20_000).collect();
        let reported = subject.contains_each(&absent, Time::ZERO);
        // Two hundred are what was asked for.
        assert!(reported < 300, "{} reports {reported} of 20,000", rival.name);
    }

    #[test]
    fn windows_are_remembered() {
        let goal = Goal::new(Window::Last(ITEMS), percent());
        for rival in [&ROTATING_FASTBLOOM, &CUCKOO_CLOCK, &LRU, &EXACT_WINDOW] {
            answers(rival, &goal, 5 * ITEMS as usize);
        }
    }

    #[test]
    fn sets_are_remembered() {
        let goal = Goal { expected_items: Some(ITEMS), ..Goal::new(Window::Ever, percent()) };
        let told = [&FASTBLOOM, &SPLIT_BLOCK, &DATASKETCHES, &QFILTER, &GROWABLE_BLOOM];
        for rival in told.into_iter().chain([&SCALABLE_CUCKOO, &QFILTER_GROWN]) {
            answers(rival, &goal, ITEMS as usize);
        }
    }
}
