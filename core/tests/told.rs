//! What the door refuses, and how it says so: each error in a sentence that tells what to do, and no word of
//! the command in it.

use std::time::Duration;

use lately::catalog::CATALOG;
use lately::{Counter, Error, Lately, NoClock, Shared, Time};

fn minute() -> Duration {
    Duration::from_secs(60)
}

/// Goals that nothing reaches, each with the words of the one thing to change.
fn unreachable() -> Vec<(Error, &'static str)> {
    let refused = |plan: Result<lately::plan::Plan, Error>| plan.expect_err("nothing reaches it");
    vec![
        (refused(Lately::last(1_000_000).memory(3).plan()), "allow "),
        (
            refused(Lately::last(1_000_000).memory(2_000_000).removing().plan()),
            "say the error instead of the memory, as ",
        ),
        (refused(Lately::last(1_000_000).slack(0).removing().plan()), "allow a slack of "),
        (
            refused(Lately::ever().memory(1_000_000).removing().plan()),
            "say how many keys to expect",
        ),
        (
            refused(Lately::ever().memory(1_000_000).counting().plan()),
            "say how many keys to expect",
        ),
        (refused(Lately::last(1 << 40).error(1e-9).counting().memory(9).plan()), "allow "),
    ]
}

#[test]
fn a_goal_that_nothing_reaches_names_one_structure_and_one_change() {
    let names: Vec<_> = CATALOG.iter().map(|row| format!("`{}`", row.name)).collect();
    for (error, change) in unreachable() {
        let told = error.to_string();
        let Error::NoPlan { instead, reasons } = &error else { panic!("{told}") };
        assert!(instead.starts_with(change), "{told}");
        assert_eq!(told, format!("nothing reaches this goal: {instead}"));
        assert_eq!(names.iter().filter(|name| instead.contains(*name)).count(), 1, "{told}");
        // All rows and their reasons are there as data.
        let rows: Vec<_> = reasons.iter().map(|reason| reason.structure).collect();
        assert_eq!(rows, CATALOG.iter().map(|row| row.name).collect::<Vec<_>>());
        assert!(reasons.iter().all(|reason| !reason.why.is_empty()));
    }
}

/// Everything else that can be done wrong, and the words that say what to do.
fn misuse() -> Vec<(Error, &'static str)> {
    fn refused<T>(result: Result<T, Error>) -> Error {
        result.err().expect("refused")
    }
    let last = || Lately::last(1_000).structure("interleaved").build().unwrap();
    let ever = |seed| Lately::ever().seed(seed).build().unwrap();
    let hour = || Lately::within(minute() * 60).build().unwrap();
    let shared = Lately::last(1_000).build_shared().unwrap().save();
    let shared_hour = Lately::within(minute()).build_shared().unwrap().save();
    let mut damaged = last().save();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let mut newer = last().save();
    newer[8] = 0xff;
    let mut carts = Lately::ever().counting().removing().build().unwrap();
    carts.add("a");
    let mut near =
        Lately::within(minute()).max_ahead(minute()).checked_by(NoClock).build().unwrap();
    near.insert_at("a", Time::from_millis(0)).unwrap();
    vec![
        (refused(Lately::last(9).error(1.5).build()), "it must be a number from 1e-9 up to"),
        (refused(Lately::last(9).error(f64::NAN).build()), "it must be a number from 1e-9 up to"),
        (refused(Lately::last(0).build()), "it must be from 1 to 2^48 items"),
        (refused(Lately::within(Duration::ZERO).build()), "it must be "),
        (refused(Lately::last(9).structure("blom").build()), "choose one of: "),
        (refused(Lately::ever().structure("sliding").build()), "leave the choice to the planner"),
        (refused(Lately::last(9).parts(0).build_shared()), "it must be from 1 to 256"),
        (refused(Lately::last(1_000_000).slack(9).build_shared()), "some percent of the window"),
        (
            refused(Lately::within(minute()).clock(NoClock).build()),
            "tell the moment with each call",
        ),
        (refused(last().forget("a")), "build it with `removing()`"),
        (refused(last().age("a")), "choose the structure `sliding`"),
        (refused(last().distinct()), "choose the structure `sliding`"),
        (refused(last().merge(&last())), "ask both, or insert both streams into one"),
        (refused(ever(1).merge(&ever(2))), "only filters built alike"),
        (refused(Lately::open(&hour().save())), "open it with `open_within`"),
        (refused(Lately::open_within(&last().save())), "open it with `open`"),
        (refused(Counter::open(&last().save())), "build one that does with `counting()`"),
        (refused(Lately::open(b"my thesis")), "check that this is the right file"),
        (refused(Lately::open(&last().save()[..20])), "copy it again"),
        (refused(Lately::open(&damaged)), "copy it again"),
        (refused(Lately::open(&newer)), "upgrade lately"),
        (refused(Lately::open(&shared)), "`Shared::open`"),
        (refused(Shared::open(&last().save())), "`Lately::open`"),
        (refused(Shared::open(&shared_hour)), "open it with `open_within`"),
        (refused(Shared::open_within(&shared)), "open it with `open`"),
        (refused(carts.take_back("a", 2)), "take back what was counted"),
        (refused(near.insert_at("b", Time::from_millis(99_000))), "or allow more (max_ahead)"),
        (
            refused(Lately::last(9).counting().build().and_then(|mut c| c.take_back("a", 1))),
            "count without end, for removing",
        ),
    ]
}

#[test]
fn every_error_says_what_to_do_in_a_sentence() {
    for (error, advice) in unreachable().into_iter().chain(misuse()) {
        let told = error.to_string();
        assert!(told.contains(advice), "no word of {advice:?} in {told:?}");
        // The list of known names is as long as it is.
        let sentence = told.split("choose one of: ").next().unwrap();
        assert!(sentence.len() < 240 && !told.contains(['\n', '!']), "{told}");
        // No flag of the command, no sentence after the first, nothing of how it is made.
        for word in ["--", ". ", "panic", "unwrap", "None", "Some("] {
            assert!(!told.contains(word), "{word:?} in {told:?}");
        }
    }
}
