//! Every method of the door beside the structure behind it: the same stream goes through both, the door in
//! keys, the structure in hashes. A table says which check holds for which methods; it is compared with
//! the public list, so that none is forgotten.

mod by_time;
mod counter;
mod shared;
mod untimed;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lately::raw::{Filter, Membership};
use lately::{Clock, Hashing, Lately, NoClock, Seed, Time, Window};
use testkit::streams;

/// Which check holds for which methods of which type.
macro_rules! table {
    ($($check:ident: $owner:literal [$($method:ident)+])+) => {
        const TABLE: &[(&str, &str, &[&str])] =
            &[$((stringify!($check), $owner, &[$(stringify!($method)),+])),+];
    };
}

table! {
    builder: "Builder<D>" [error memory expected_items removing alphabet seed keyed structure row plan build]
    builder: "Builder<Lately<T>>" [build_shared parts]
    builder: "Builder<Lately>" [slack counting]
    builder: "Builder<Lately<Timed>>" [slack max_ahead checked_by clock]
    counter_by_time: "Builder<Lately<Timed>>" [counting]
    counter_by_clock: "Builder<Counter<Timed>>" [clock]
    shared_counter: "Builder<Counter<T>>" [build_shared]
    top: "Builder<Counter<T>>" [build_top]
    builder: "Lately" [within]
    untimed: "Lately" [last open]
    untimed: "Lately<T>" [insert insert_new contains insert_all insert_new_all contains_all]
    what_few_structures_know: "Lately" [ever age]
    what_few_structures_know: "Lately<T>" [distinct]
    any: "Lately<T>" [save forget clear promise error_now heap_bytes structure hashing into_untyped]
    any: "Lately<T>" [exceeds_promise]
    merged: "Lately<T>" [merge]
    shared_and_merged: "Shared<T>" [merge]
    timed: "Lately" [open_within]
    timed: "Lately<Timed>" [believing]
    clocked: "Lately<Timed>" [with_clock]
    timed: "Lately<T>" [insert_at insert_new_at insert_all_at insert_new_all_at contains_at]
    timed: "Lately<T>" [contains_all_at latest turn_back expire_at]
    ages_and_deadlines: "Lately<T>" [insert_until age_at distinct_at]
    shortening: "Builder<Lately<Timed>>" [shortening_at]
    shortening: "Lately<T>" [remembers_at remembered_least]
    shortening: "Lately<Clocked>" [remembers]
    shared_and_shortening: "Shared<T>" [remembers_at remembered_least]
    shared_and_shortening: "Shared<Clocked>" [remembers]
    clocked: "Lately<T>" [insert insert_new contains insert_all insert_new_all contains_all distinct]
    clocked: "Lately<Clocked>" [age expire]
    counter: "Counter" [open from_untyped]
    counter: "Counter<T>" [add add_times count reaches take_back distinct]
    counter: "Counter<T>" [save merge multiply empty_alike clear promise error_now structure]
    counter: "Counter<T>" [heap_bytes hashing into_untyped counting counting_mut]
    limits: "Counter<T>" [estimate admit admit_times]
    counter_by_time: "Counter" [open_within]
    counter_by_time: "Counter<T>" [add_at add_times_at count_at estimate_at admit_at admit_times_at]
    counter_by_time: "Counter<T>" [take_back_at distinct_at expire_at latest turn_back]
    counter_by_clock: "Counter<T>" [add add_times count admit take_back]
    shared_counter: "SharedCounter<T>" [add count admit]
    shared_counter: "SharedCounter<T>" [promise heap_bytes]
    shared_counter_by_time: "SharedCounter<T>" [add_at count_at admit_at expire_at]
    shared_counter_by_time: "SharedCounter<T>" [add count admit]
    shared: "Shared" [open]
    shared: "Shared<T>" [insert insert_new contains insert_all insert_new_all contains_all distinct]
    shared: "Shared<T>" [save forget clear promise error_now structure heap_bytes hashing]
    shared_by_time: "Shared" [open_within]
    shared_by_time: "Shared<T>" [insert_at insert_new_at insert_until insert_all_at]
    shared_by_time: "Shared<T>" [insert_new_all_at contains_at contains_all_at age_at distinct_at]
    shared_by_time: "Shared<T>" [expire_at latest turn_back]
    shared_by_clock: "Shared" [open_clocked]
    shared_by_clock: "Shared<T>" [insert insert_new contains insert_all insert_new_all contains_all]
    shared_by_clock: "Shared<T>" [distinct]
    shared_by_clock: "Shared<Clocked>" [age expire]
}

/// `Type::method` of every line of the public list that is a method of the door.
fn public_methods() -> BTreeSet<String> {
    let lines = include_str!("../public.txt").lines();
    let lines = lines.filter(|line| line.starts_with("lately/") && line.contains(" pub fn "));
    lines
        .map(|line| {
            let (owner, rest) = line.split_once(" pub fn ").unwrap();
            let owner = owner.split_once("impl").unwrap().1;
            // Past the parameters of the impl, if it has any.
            let owner = if owner.starts_with('<') { &owner[closed(owner)..] } else { owner };
            let name = rest.split(['(', '<']).next().unwrap();
            format!("{}::{name}", owner.trim())
        })
        .collect()
}

/// Where the brackets that a text begins with are closed again.
fn closed(text: &str) -> usize {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        depth += i32::from(letter == '<') - i32::from(letter == '>');
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

#[test]
fn no_method_is_forgotten() {
    let rows = TABLE.iter().flat_map(|(_, owner, methods)| {
        methods.iter().map(move |method| format!("{owner}::{method}"))
    });
    let checked: BTreeSet<String> = rows.collect();
    let public = public_methods();
    assert!(public.len() > 100);
    let missing: Vec<_> = public.difference(&checked).collect();
    assert!(missing.is_empty(), "without a check: {missing:?}");
    let gone: Vec<_> = checked.difference(&public).collect();
    assert!(gone.is_empty(), "in the table, but not public: {gone:?}");
}

/// A check must call what the table says it does.
#[test]
fn the_table_tells_the_truth() {
    let text = [
        include_str!("methods.rs"),
        include_str!("methods/by_time.rs"),
        include_str!("methods/counter.rs"),
        include_str!("methods/shared.rs"),
        include_str!("methods/untimed.rs"),
    ]
    .concat();
    for (check, owner, methods) in TABLE {
        let body = text.split(&format!("\nfn {check}() {{")).nth(1).expect(check);
        let body = body.split("\n}\n").next().unwrap();
        for method in *methods {
            let called = [format!(".{method}("), format!("::{method}(")];
            let called = called.iter().any(|call| body.contains(call));
            assert!(called, "{check} does not call {owner}::{method}");
        }
    }
}

/// Every method has an example, and it runs.
#[test]
fn every_method_has_an_example() {
    const DOOR: [&str; 21] = [
        include_str!("../src/lately/builder.rs"),
        include_str!("../src/lately/builder/timed.rs"),
        include_str!("../src/lately/clocked.rs"),
        include_str!("../src/lately/counter.rs"),
        include_str!("../src/lately/counter/clocked.rs"),
        include_str!("../src/lately/counter/now.rs"),
        include_str!("../src/lately/counter/shared.rs"),
        include_str!("../src/lately/counter/timed.rs"),
        include_str!("../src/lately/counter/untimed.rs"),
        include_str!("../src/lately/mod.rs"),
        include_str!("../src/lately/now.rs"),
        include_str!("../src/lately/opened.rs"),
        include_str!("../src/lately/reach.rs"),
        include_str!("../src/lately/shared.rs"),
        include_str!("../src/lately/shared/now.rs"),
        include_str!("../src/lately/shared/opened.rs"),
        include_str!("../src/lately/shared/reach.rs"),
        include_str!("../src/lately/shared/timed.rs"),
        include_str!("../src/lately/timed.rs"),
        include_str!("../src/lately/top.rs"),
        include_str!("../src/lately/untimed.rs"),
    ];
    let mut seen = 0;
    for text in DOOR {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in
            lines.iter().enumerate().filter(|(_, line)| line.starts_with("    pub fn "))
        {
            let above = lines[..at].iter().rev().map(|line| line.trim());
            let above: Vec<_> = above.take_while(|line| line.starts_with(['/', '#'])).collect();
            assert!(above.contains(&"/// ```"), "no example that runs: {line}");
            seen += 1;
        }
    }
    assert_eq!(seen, include_str!("../public.txt").lines().filter(is_method).count());
}

fn is_method(line: &&str) -> bool {
    line.starts_with("lately/") && line.contains(" pub fn ")
}

const KEYS: usize = 3_000;

fn keys() -> Vec<u64> {
    streams::uniform(1_500, 5).take(KEYS).collect()
}

/// The hash of a number as a key.
fn hash(hashing: Hashing, key: u64) -> u64 {
    hashing.hash(&key.to_le_bytes())
}

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

fn minute() -> Duration {
    Duration::from_secs(60)
}

/// A clock that tests set.
#[derive(Debug)]
struct Set(AtomicU64);

impl Clock for &'static Set {
    fn now(&self) -> Option<Time> {
        Some(at(self.0.load(Ordering::Relaxed)))
    }
}

/// How a part of a stream is inserted, and when.
#[derive(Clone, Copy)]
struct Turn {
    now: Time,
    refreshes: bool,
}

/// Sends a stream in parts of so many keys, so many milliseconds apart, through three ways in: batches,
/// single keys and the structure behind. The latter two say whether each key was seen and is new.
fn alike(
    (length, millis): (usize, u64),
    mut batch: impl FnMut(&[u64], Turn, &mut [bool]),
    mut single: impl FnMut(u64, Turn) -> [bool; 2],
    mut behind: impl FnMut(u64, Turn) -> [bool; 2],
) {
    for (number, keys) in keys().chunks(length).enumerate() {
        let turn = Turn { now: at(millis * number as u64), refreshes: number % 2 == 0 };
        let mut new = vec![false; keys.len()];
        batch(keys, turn, &mut new);
        for (&key, new) in keys.iter().zip(new) {
            let expected = behind(key, turn);
            assert_eq!((single(key, turn), new), (expected, expected[1]));
        }
    }
}

/// Whether a structure has seen a hash, and whether it is new.
fn ask(filter: &mut dyn Filter, hash: u64, Turn { now, refreshes }: Turn) -> [bool; 2] {
    let seen = filter.contains_hash(hash, now);
    let insert = if refreshes { Membership::insert_hash } else { Membership::insert_new_hash };
    [seen, insert(filter, hash, now)]
}

#[test]
fn builder() {
    let last = || Lately::last(1_000);
    let plan = last().error(0.01).plan().unwrap();
    let built = last().error(0.01).build().unwrap();
    assert_eq!((plan.promise, plan.bytes), (built.promise(), built.heap_bytes()));
    assert!(built.promise().false_positives <= 0.01);
    assert!(last().memory(1_500).build().unwrap().heap_bytes() <= 1_500);
    assert!(last().alphabet(5_000).memory(1_000).plan().unwrap().bytes <= 1_000);
    let sliding = lately::catalog::CATALOG.row_named("sliding").unwrap();
    assert_eq!(last().row(sliding).build().unwrap().structure(), "sliding");
    let few = Lately::ever().expected_items(1_000).plan().unwrap();
    assert!(few.bytes < Lately::ever().expected_items(9_000_000).plan().unwrap().bytes);
    assert!(
        Lately::ever()
            .removing()
            .build()
            .unwrap()
            .into_untyped()
            .filter_mut()
            .as_removing()
            .is_some()
    );
    assert_eq!(last().seed(7).build().unwrap().hashing(), Hashing::Fast(Seed(7)));
    assert_eq!(last().keyed([7; 16]).build().unwrap().hashing(), Hashing::Keyed([7; 16]));
    assert_eq!(last().structure("short-hash").build().unwrap().structure(), "short-hash");
    assert!(last().structure("no such").build().is_err());
    assert_eq!(last().slack(0).build().unwrap().promise().slack, lately::Slack::Items(0));
    assert!(last().counting().build().unwrap().into_untyped().filter().counting().is_some());
    assert_eq!(last().build_shared().unwrap().promise().window, Window::Last(1_000));
    let parted = last().parts(3).build_shared().unwrap();
    assert!(format!("{parted:?}").starts_with("Shared(3 times "), "{parted:?}");
    assert!(last().parts(0).build_shared().is_err() && last().parts(257).build_shared().is_err());
    let slack = lately::Slack::Time(minute().into());
    let hour = Lately::within(60 * minute()).slack(minute()).build().unwrap();
    assert!(
        matches!((hour.promise().slack, slack), (lately::Slack::Time(a), lately::Slack::Time(b)) if a <= b)
    );
    let mut near =
        Lately::within(minute()).max_ahead(minute()).checked_by(NoClock).build().unwrap();
    assert!(near.insert_at(1, at(5)).is_ok() && near.insert_at(2, at(99_000)).is_err());
    assert!(Lately::within(minute()).clock(NoClock).build().is_err());
}
