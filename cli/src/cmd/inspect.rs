//! `lately inspect`: what a snapshot holds.

use std::fmt::Write;

use lately::{Clock, Hashing, Memory, Reach, SystemClock, Time};
use serde::Serialize;
use serde_json::{Map, Value};

use super::plan::parameter;
use crate::args::Inspect;
use crate::output;
use crate::records::moment_text;
use crate::state::{self, Note, Saved};
use crate::stats::{grouped, percent};

pub(crate) fn run(request: &Inspect) -> anyhow::Result<()> {
    let saved = state::read(&request.file)?;
    let summary = Summary::of(&saved);
    let text = if request.json {
        serde_json::to_string_pretty(&summary)? + "\n"
    } else {
        summary.text(&saved)
    };
    output::print(&text)
}

/// What there is to say. As JSON it keeps these names; what is not known is `null`.
#[derive(Serialize)]
struct Summary<'a> {
    structure: &'a str,
    parameters: Map<String, Value>,
    promise: String,
    false_positive_rate: f64,
    false_negative_rate: f64,
    estimated_false_positive_rate: f64,
    hashing: &'static str,
    seed: Option<u64>,
    /// How far back a window that shortens remembers, in milliseconds, and the least it ever was.
    remembers: Option<u64>,
    remembered_least: Option<u64>,
    /// The latest moment of any record, in windows by time.
    clock: Option<String>,
    filter_bytes: u64,
    file_bytes: u64,
    note: Option<&'a Note>,
}

impl<'a> Summary<'a> {
    fn of(saved: &'a Saved) -> Self {
        let filter = saved.seen.filter();
        let promise = saved.seen.promise();
        let reach = filter.reach(Time::ZERO);
        let (hashing, seed) = match saved.seen.hashing() {
            Hashing::Fast(seed) => ("fast", Some(seed.0)),
            Hashing::Keyed(_) => ("keyed", None),
        };
        Self {
            structure: filter.blueprint().structure(),
            parameters: filter.blueprint().fields().into_iter().map(parameter).collect(),
            promise: promise.to_string(),
            false_positive_rate: promise.false_positives,
            false_negative_rate: promise.false_negatives,
            estimated_false_positive_rate: filter.false_positive_rate(),
            hashing,
            seed,
            remembers: reach.map(|reach| reach.now.millis()),
            remembered_least: reach.map(|reach| reach.least.millis()),
            clock: filter.clock().map(moment_text),
            filter_bytes: filter.heap_bytes(),
            file_bytes: saved.bytes,
            note: saved.note.as_ref(),
        }
    }

    /// One line per fact.
    fn text(&self, saved: &Saved) -> String {
        let mut lines = vec![("structure", self.structure.to_owned())];
        lines.extend(saved.seen.filter().blueprint().fields());
        let now = percent(self.estimated_false_positive_rate);
        lines.push(("promise", self.promise.clone()));
        lines.push(("error now", format!("{now} of unseen keys would be taken for seen")));
        if let Some(Reach { now, least }) = saved.seen.filter().reach(Time::ZERO) {
            let (now, least) = (now.rounded(), least.rounded());
            lines.push(("remembers", format!("{now} now, {least} at the least")));
        }
        lines.push(("memory", Memory::from_bytes(self.filter_bytes).to_string()));
        lines.push(("file", Memory::from_bytes(self.file_bytes).to_string()));
        let seed = self.seed.map_or_else(|| "secret".to_owned(), |seed| seed.to_string());
        lines.push(("seed", format!("{seed} ({} hashing)", self.hashing)));
        if let Some(clock) = saved.seen.filter().clock() {
            let ahead = clock.since(SystemClock.now().unwrap_or(clock)).rounded();
            let ahead = match ahead.millis() {
                0 => String::new(),
                _ => format!(", {ahead} ahead of this machine's"),
            };
            lines.push(("clock", moment_text(clock) + &ahead));
        }
        if let Some(note) = self.note {
            lines.push(("keys", note.keys.clone()));
            let repeats = if note.refresh { "start the window anew" } else { "change nothing" };
            lines.push(("repeats", repeats.to_owned()));
            lines.push(("records", grouped(note.records)));
        }
        let widest = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        lines.iter().fold(String::new(), |mut text, (name, value)| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<widest$}  {value}");
            text
        })
    }
}
