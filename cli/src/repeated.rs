//! Repeats that are held back, told once: how often a key came beyond what passed.
//!
//! Only keys that were held back are kept, each until its window is over, until it passes again, or until the
//! end: whichever is first, it is told then, in the place of what is missing.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::Write;

use lately::{Admission, Time, Wait};
use serde_json::{Value, json};

use crate::records::{Format, Recipe, parts};

/// Keys that were held back, and how often.
pub(crate) struct Repeated {
    held: HashMap<u64, Held>,
    /// When windows are over, the earliest first; some were told before.
    due: BinaryHeap<Reverse<(Time, u64)>>,
    /// Parts of a key if it comes from JSON, and is told so.
    parts: Option<usize>,
    terminator: u8,
}

struct Held {
    key: Box<[u8]>,
    times: u64,
    until: Option<Time>,
}

impl Repeated {
    pub(crate) fn new(recipe: &Recipe) -> Self {
        let parts = match &recipe.format {
            Format::Lines { keys, .. } if !keys.is_empty() => Some(keys.len()),
            _ => None,
        };
        let (held, due) = (HashMap::new(), BinaryHeap::new());
        Self { held, due, parts, terminator: recipe.terminator() }
    }

    /// When the first window is over.
    pub(crate) fn next(&self) -> Option<Time> {
        self.due.peek().map(|Reverse((moment, _))| *moment)
    }

    /// A key was judged at a moment; if it passes, what was held back of it is written first.
    pub(crate) fn judged(
        &mut self,
        (hash, key): (u64, &[u8]),
        moment: Time,
        admission: &Admission,
        out: &mut Vec<u8>,
    ) {
        self.write_due(moment, out);
        if admission.allowed {
            return self.tell(hash, out);
        }
        let held = self.held.entry(hash).or_insert_with(|| {
            let until = match admission.wait {
                Some(Wait::Time(wait)) => Some(moment.after(wait)),
                _ => None,
            };
            self.due.extend(until.map(|until| Reverse((until, hash))));
            Held { key: key.into(), times: 0, until }
        });
        held.times += 1;
    }

    /// Writes what is over at a moment.
    pub(crate) fn write_due(&mut self, now: Time, out: &mut Vec<u8>) {
        while let Some(&Reverse((moment, hash))) = self.due.peek()
            && moment <= now
        {
            self.due.pop();
            // It may have passed, and been held back again.
            if self.held.get(&hash).is_some_and(|held| held.until == Some(moment)) {
                self.tell(hash, out);
            }
        }
    }

    /// Writes all that is left, at the end.
    pub(crate) fn write_all(&mut self, out: &mut Vec<u8>) {
        self.due.clear();
        let mut left: Vec<(u64, Box<[u8]>)> =
            self.held.iter().map(|(&hash, held)| (hash, held.key.clone())).collect();
        left.sort_by(|one, other| one.1.cmp(&other.1));
        left.into_iter().for_each(|(hash, _)| self.tell(hash, out));
    }

    fn tell(&mut self, hash: u64, out: &mut Vec<u8>) {
        let Some(Held { key, times, .. }) = self.held.remove(&hash) else { return };
        // Writing to memory cannot fail.
        let _ = match self.parts {
            None => write!(out, "repeated {times} times: ").and_then(|()| out.write_all(&key)),
            Some(1) => write!(out, "{}", json!({ "repeated": times, "key": text(&key) })),
            Some(_) => {
                let parts: Vec<Value> = parts(&key).map(text).collect();
                write!(out, "{}", json!({ "repeated": times, "key": parts }))
            }
        };
        out.push(self.terminator);
    }
}

fn text(bytes: &[u8]) -> Value {
    String::from_utf8_lossy(bytes).into()
}
