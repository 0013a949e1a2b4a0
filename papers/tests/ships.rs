//! What the library has and what is only here, held against the planner: no row of this crate is missed
//! by those who plan with the library alone.

use lately::catalog::{self, IN_PAPERS};
use std::collections::BTreeSet;

use lately::plan::{Goal, Limit};
use lately::raw::codec;
use lately::{Error, ErrorRate, Hashing, Lately, Memory, Slack, Span, Window};
use lately_papers::{CATALOG, ROWS};

/// At most this much more is paid for want of a row of a paper, in the planner's price: memory or
/// mistakes, at the exchange rate with speed.
const MISSED: f64 = 4.0 / 3.0;

/// Goals of all kinds: errors of 1e-1 to 1e-9, memories of a tenth of a bit to 100 bits per item, slacks,
/// counting, removing, and keys drawn from few.
fn grid() -> Vec<Goal> {
    let mut goals = Vec::new();
    for items in [1, 100, 3_000, 1_000_000] {
        let rates = (1..=9).map(|digits| ErrorRate::new(10_f64.powi(-digits)).unwrap().into());
        let bits = [0.1, 0.5, 2.0, 4.0, 6.0, 8.0, 10.0, 16.0, 25.0, 100.0];
        let bytes = bits.map(|bits| (bits * items as f64 / 8.0) as u64);
        let memories = bytes.into_iter().map(|bytes| Memory::from_bytes(bytes).into());
        for limit in rates.chain(memories).collect::<Vec<Limit>>() {
            let hour = Window::Within(Span::from_millis(3_600_000));
            for window in [Window::Last(items), hour, Window::Ever] {
                let goal = Goal { expected_items: Some(items), ..Goal::new(window, limit) };
                for (counting, removing) in
                    [(false, false), (true, false), (false, true), (true, true)]
                {
                    goals.push(Goal { counting, removing, ..goal });
                }
            }
            let shortening = Some(Memory::from_bytes(4 * items));
            goals.push(Goal { shortening, ..Goal::new(hour, limit) });
            let goal = Goal::new(Window::Last(items), limit);
            for slack in [items, items / 3, items / 10, items / 1_000, 0] {
                goals.push(Goal { slack: Slack::Items(slack), ..goal });
            }
            for alphabet in [2 * items, 100 * items] {
                goals.push(Goal { alphabet: Some(alphabet), ..goal });
            }
        }
    }
    goals
}

/// Rows of the library that no goal picks; ARCHITECTURE.md says why they ship.
const NEVER_PICKED: [&str; 2] = ["exact-window", "spectral-recurring"];

/// Of every goal that a paper's structure reaches, the best of the library costs hardly more; and what
/// the library has is picked by some goal, or there is a reason.
#[test]
fn the_library_has_what_is_picked_and_nothing_is_missed() {
    let (mut reached, mut won, mut worst) = (0, 0, 0.0_f64);
    let mut picked = BTreeSet::new();
    for goal in grid() {
        let Ok(plans) = goal.plans_of(CATALOG) else { continue };
        let is_ours = |name| catalog::CATALOG.row(name).is_some();
        picked.extend(plans.iter().map(|plan| plan.row.name).find(|name| is_ours(name)));
        if plans.iter().all(|plan| is_ours(plan.row.name)) {
            continue;
        }
        reached += 1;
        let best = plans.iter().find(|plan| is_ours(plan.row.name));
        let best = best.unwrap_or_else(|| panic!("{goal:?}: only {}", plans[0].row.name));
        won += u32::from(!is_ours(plans[0].row.name));
        let missed = goal.price(best) / goal.price(&plans[0]);
        worst = worst.max(missed);
        assert!(
            missed < MISSED,
            "{goal:?}: {} instead of {} costs {missed:.2} times as much",
            best.row.name,
            plans[0].row.name,
        );
    }
    println!("{reached} goals, {won} of them won by papers, at most {worst:.3} times the price");
    assert!(reached > 100, "{reached}");
    let names = catalog::CATALOG.iter().map(|row| row.name);
    assert_eq!(names.filter(|name| !picked.contains(name)).collect::<Vec<_>>(), NEVER_PICKED);
}

#[test]
fn the_library_knows_the_names_of_all_that_is_here() {
    let mut here: Vec<_> = ROWS.iter().map(|row| (row.family, row.name)).collect();
    here.sort_unstable();
    assert_eq!(here, IN_PAPERS);
}

/// Who names such a structure, or opens its snapshot, is told what it is and where it is.
#[test]
fn the_library_says_where_papers_are() {
    let bytes = [1_000, 100].map(Memory::from_bytes).map(Limit::from);
    let rate = Limit::from(ErrorRate::new(0.01).unwrap());
    let windows = [Window::Last(100), Window::Within(Span::from_millis(1_000)), Window::Ever];
    for row in ROWS {
        let told = Lately::last(100).structure(row.name).build().unwrap_err();
        assert_eq!(told, Error::InPapers { structure: row.name });
        let limits = [bytes[0], bytes[1], rate];
        let mut goals =
            windows.iter().flat_map(|&window| limits.map(|limit| Goal::new(window, limit)));
        let blueprint = goals.find_map(|goal| (row.propose)(&goal).ok()).expect(row.name);
        let filter = blueprint.build(Hashing::default().structure_seed()).unwrap();
        let snapshot = codec::save(&*filter, Hashing::default());
        let refused = codec::open(&snapshot).unwrap_err();
        assert_eq!(refused, Error::InPapers { structure: row.name });
        assert!(refused.to_string().contains("the command `lately` and the crate `lately-papers`"));
        let (opened, _) = codec::open_of(CATALOG, &snapshot).unwrap();
        assert_eq!(codec::save(&*opened, Hashing::default()), snapshot, "{}", row.name);
    }
}
