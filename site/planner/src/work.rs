//! A filter at work: one that is small enough to be drawn, and real.
//!
//! Keys are numbered in the order in which they come, one a second where time counts. After every step
//! the page asks the filter about each of the recent ones, and for the bits that it stores; so what is
//! drawn is what it answers and what it holds, whatever its structure.

use std::collections::HashSet;

use lately::catalog::CATALOG;
use lately::catalog::Row;
use lately::plan::{Goal, Limit};
use lately::raw::{Age, Blueprint, Filter, codec, remix};
use lately::{Error, ErrorRate, Memory, Seed, Span, Time, Window};
use serde_json::json;
use wasm_bindgen::prelude::wasm_bindgen;

/// Between two keys.
const SECOND: u64 = 1_000;

/// Memory of a filter that shortens its window: as little as any error can do with.
const LEAST_BOUND: u64 = 1 << 17;

/// Of a key that came again later.
const AGAIN: u8 = u8::MAX;

/// Hashes of keys that come, and of keys that never do.
const COMING: u64 = 1;
const NEVER: u64 = 2;

/// A filter, and what it was given.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Work {
    row: &'static Row,
    filter: Box<dyn Filter>,
    window: Window,
    /// The keys that came, by number, in order; a repeat is there again.
    came: Vec<u64>,
    /// The next new key.
    next: u64,
    /// Keys that never came, asked for so far, and how many of them it said it had seen.
    asked: u64,
    mistaken: u64,
}

#[wasm_bindgen]
impl Work {
    /// A filter of this structure over about so many keys, with about this error where it can choose.
    #[wasm_bindgen(constructor)]
    pub fn new(structure: &str, items: u32, error: f64) -> Result<Work, String> {
        Self::made(structure, items.into(), error).map_err(|error| error.to_string())
    }

    /// So many new keys come. How many of them it took for repeats.
    pub fn come(&mut self, keys: u32) -> u32 {
        let taken = (0..keys).filter(|_| {
            let key = self.next;
            self.next += 1;
            !self.see(key)
        });
        taken.count() as u32
    }

    /// The key that came so many keys ago comes again; whether it is taken for a repeat.
    pub fn again(&mut self, ago: u32) -> bool {
        let at = self.came.len().checked_sub(1 + ago as usize);
        at.is_some_and(|at| !self.see(self.came[at]))
    }

    /// It is asked about so many keys that never came; how many it says it has seen.
    pub fn ask(&mut self, keys: u32) -> u32 {
        let now = self.now();
        let unseen = (self.asked..self.asked + u64::from(keys)).map(|key| remix(key, NEVER));
        let mistaken = unseen.filter(|&hash| self.filter.contains_hash(hash, now)).count();
        self.asked += u64::from(keys);
        self.mistaken += mistaken as u64;
        mistaken as u32
    }

    /// What it says of the last keys, the newest first: 0 if it has not seen one, otherwise the group of keys
    /// that it cannot tell from it by age, from 1 on; 1 for all where it does not know ages. A key that came
    /// again later is told there, and `AGAIN` here.
    pub fn answers(&self, keys: u32) -> Vec<u8> {
        let now = self.now();
        let mut oldest = None;
        let mut group = 0_u8;
        let mut told = HashSet::new();
        let answer = |&key: &u64| {
            if !told.insert(key) {
                return AGAIN;
            }
            let hash = remix(key, COMING);
            if !self.filter.contains_hash(hash, now) {
                return 0;
            }
            let Some(age) = self.filter.aging().and_then(|aging| aging.age_hash(hash, now)) else {
                return 1;
            };
            let end = match age {
                Age::Items(range) => *range.end(),
                Age::Time(range) => range.end().millis() / SECOND,
            };
            if oldest.is_none_or(|oldest| end > oldest) {
                oldest = Some(end);
                group = (group + 1).min(AGAIN - 1);
            }
            group
        };
        self.came.iter().rev().take(keys as usize).map(answer).collect()
    }

    /// Every bit that it stores, as its snapshot has them.
    pub fn bits(&self) -> Vec<u8> {
        let mut out = codec::Writer::new();
        self.filter.write_payload(&mut out);
        out.into_bytes()
    }

    /// What is to be said of it now, as JSON.
    pub fn told(&self) -> String {
        let blueprint = self.filter.blueprint();
        let promise = blueprint.promise();
        let (window, slack) = match (self.window, promise.slack) {
            (Window::Last(items), lately::Slack::Items(slack)) => (Some(items), Some(slack)),
            (Window::Last(items), _) => (Some(items), None),
            (Window::Within(span), lately::Slack::Time(slack)) => {
                (Some(span.millis() / SECOND), Some(slack.millis() / SECOND))
            }
            (Window::Within(span), _) => (Some(span.millis() / SECOND), None),
            (Window::Ever, _) => (None, None),
        };
        json!({
            "structure": self.row.name,
            "came": self.came.len(),
            "bytes": self.filter.heap_bytes(),
            "window": window,
            "slack": slack,
            "promise": promise.to_string(),
            "promised": promise.false_positives,
            "now": self.filter.false_positive_rate(),
            "asked": self.asked,
            "mistaken": self.mistaken,
        })
        .to_string()
    }
}

impl Work {
    fn made(structure: &str, items: u64, error: f64) -> Result<Self, Error> {
        let row = CATALOG.row_named(structure)?;
        let rate = ErrorRate::new(error)?;
        let blueprint = proposed(row, items, rate)?;
        let (filter, window) = (blueprint.build(Seed(0))?, blueprint.promise().window);
        Ok(Self { row, filter, window, came: Vec::new(), next: 0, asked: 0, mistaken: 0 })
    }

    fn now(&self) -> Time {
        Time::from_millis(self.came.len() as u64 * SECOND)
    }

    /// Whether a key was new to it.
    fn see(&mut self, key: u64) -> bool {
        self.came.push(key);
        self.filter.insert_hash(remix(key, COMING), self.now())
    }
}

/// Parameters of a structure for the window that it is made for: by number, by time, or without end; by
/// error, or in a memory if it can only do that; counting if that is all it does.
fn proposed(row: &'static Row, items: u64, rate: ErrorRate) -> Result<Box<dyn Blueprint>, Error> {
    let windows =
        [Window::Last(items), Window::Within(Span::from_millis(items * SECOND)), Window::Ever];
    let limits = [Limit::Error(rate), Limit::Memory(Memory::from_bytes(2 * items))];
    let goals = limits.into_iter().flat_map(|limit| {
        windows.map(|window| Goal { expected_items: Some(items), ..Goal::new(window, limit) })
    });
    // One that shortens its window has a memory to do so at; the least is enough for so few keys.
    let shortening = Some(Memory::from_bytes(LEAST_BOUND));
    let all = goals.flat_map(|goal| {
        [goal, Goal { counting: true, ..goal }, Goal { shortening, expected_items: None, ..goal }]
    });
    let found = all.filter_map(|goal| (row.propose)(&goal).ok()).next();
    found.ok_or(Error::Unfit { structure: row.name, why: "it is not made for so few keys" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_structure_works_and_keeps_its_window() {
        for row in CATALOG.iter() {
            let mut work = Work::made(row.name, 200, 0.05).unwrap();
            work.come(600);
            let promise = work.filter.blueprint().promise();
            let inside = if work.window == Window::Ever { 600 } else { 200 };
            let answers = work.answers(inside);
            let forgotten = answers.iter().filter(|&&answer| answer == 0).count();
            let may = promise.false_negatives > 0.0;
            assert!(may || forgotten == 0, "{}: {forgotten} of {inside}", row.name);
            assert!(!work.bits().is_empty(), "{}", row.name);
            // Keys of the window come again: repeats, unless it may forget.
            assert!(work.again(10) || may, "{}", row.name);
            assert_eq!(work.answers(100)[11], AGAIN, "{}", row.name);
        }
    }

    #[test]
    fn generations_age_and_leave() {
        let mut work = Work::made("sliding", 128, 0.01).unwrap();
        work.come(1_000);
        let answers = work.answers(1_000);
        let groups = *answers.iter().max().unwrap();
        assert!(groups > 2, "{answers:?}");
        assert!(answers[700..].iter().filter(|&&answer| answer > 0).count() < 30);
    }

    #[test]
    fn mistakes_are_counted() {
        let mut work = Work::made("double-buffer", 200, 0.1).unwrap();
        work.come(400);
        let mistaken = work.ask(100_000);
        // At most a tenth; 10 standard deviations more never happen.
        assert!(mistaken > 100 && mistaken < 11_000, "{mistaken}");
        let told: serde_json::Value = serde_json::from_str(&work.told()).unwrap();
        assert_eq!(told["mistaken"], mistaken);
    }
}
