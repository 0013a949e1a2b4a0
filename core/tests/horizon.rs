//! One wrong moment spoils nothing: every window by time, at the door.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use lately::catalog::CATALOG;
use lately::{Builder, Clock, Error, Lately, NoClock, Time, Timed};
use testkit::streams::{clocks, distinct};

const WINDOW: Duration = Duration::from_millis(60_000);
const START: u64 = 1_700_000_000_000;

/// A clock that stands where the streams of these tests end.
#[derive(Debug)]
struct End;

impl Clock for End {
    fn now(&self) -> Option<Time> {
        Some(Time::from_millis(START + 200_000))
    }
}

/// An empty window by time of every structure that keeps one.
fn windows() -> Vec<Builder<Lately<Timed>>> {
    let builder = |name| Lately::within(WINDOW).structure(name);
    let windows = CATALOG.iter().map(|row| builder(row.name));
    windows.filter(|builder| builder.build().is_ok()).collect()
}

/// Tells both a steady stream, and the first in between moments that are wrong: it must refuse them
/// and be no other for it.
fn ignores_what_is_wrong(mut troubled: Lately<Timed>, mut calm: Lately<Timed>) {
    let right = clocks::starting_at(START, clocks::steady(100));
    let told = clocks::wild_moments(right.clone(), 100, 1);
    let mut refused = 0;
    for (key, (right, told)) in distinct(1).zip(right.zip(told)).take(20_000) {
        let (right, told) = (Time::from_millis(right), Time::from_millis(told));
        let key = key.to_le_bytes();
        match troubled.insert_at(key, told) {
            Err(Error::TooFarAhead { moment, .. }) if told != right => {
                assert_eq!(moment, told);
                assert!(troubled.insert_new_at(key, told).is_err());
                refused += 1;
            }
            answer => assert_eq!(answer, calm.insert_at(key, right)),
        }
        assert_eq!(troubled.latest(), calm.latest());
    }
    assert_eq!(refused, 200);
    assert_eq!(troubled.save(), calm.save(), "it remembers something of it");
}

#[test]
fn moments_too_far_ahead_are_refused_and_change_nothing() {
    assert!(!windows().is_empty(), "no structure keeps a window by time");
    for window in windows() {
        for window in [window.clone().checked_by(NoClock), window.checked_by(End)] {
            ignores_what_is_wrong(window.build().unwrap(), window.build().unwrap());
        }
    }
}

#[test]
fn whoever_believes_everything_is_noticed() {
    for window in windows() {
        let gullible = window.clone().max_ahead(Duration::MAX).build().unwrap();
        let calm = window.build().unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| ignores_what_is_wrong(gullible, calm)));
        assert!(outcome.is_err());
    }
}

#[test]
fn after_a_quiet_night_and_far_in_the_past_moments_are_believed() {
    let (day, year) = (86_400_000, 31_536_000_000);
    for window in windows() {
        let mut seen = window.build().unwrap();
        for moment in [0, day, year, START - year, START, START + day] {
            assert_eq!(seen.insert_at("a", Time::from_millis(moment)), Ok(true));
            assert_eq!(seen.latest(), Some(Time::from_millis(moment)));
        }
        // Without a clock nobody knows that a night has passed.
        let mut seen = window.clone().checked_by(NoClock).build().unwrap();
        assert_eq!(seen.insert_at("a", Time::from_millis(START)), Ok(true));
        assert!(seen.insert_at("b", Time::from_millis(START + day)).is_err());
        let mut seen = seen.believing(Duration::from_millis(day), NoClock);
        assert_eq!(seen.insert_at("b", Time::from_millis(START + day)), Ok(true));
    }
}

#[test]
fn a_clock_that_was_wrong_is_set_back() {
    for window in windows() {
        let mut seen = window.clone().checked_by(NoClock).build().unwrap();
        // The first moment is believed where there is no clock, and so it may be wrong.
        seen.insert_at("a", Time::from_millis(1_000 * START)).unwrap();
        let mut seen = Lately::open_within(&seen.save()).unwrap().believing(WINDOW, NoClock);
        assert_eq!(seen.latest(), Some(Time::from_millis(1_000 * START)));
        seen.turn_back(Time::from_millis(START));
        assert_eq!(seen.latest(), Some(Time::from_millis(START)));
        assert!(seen.contains_at("a", Time::from_millis(START + WINDOW.as_millis() as u64)));
        assert!(!seen.contains_at("a", Time::from_millis(START + 10 * WINDOW.as_millis() as u64)));
        // And what is too far ahead is measured from there.
        assert!(seen.insert_at("b", Time::from_millis(999 * START)).is_err());
        assert_eq!(seen.insert_at("b", Time::from_millis(START + 1)), Ok(true));
    }
}
