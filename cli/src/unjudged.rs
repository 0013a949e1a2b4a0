//! What is said at the end about records that had no key or no time.
//!
//! A wrong name of a key is no error of any one record: each of them passes, or is left out, as is
//! right for the few that lack one. So all are looked at together: most without a key are worth a
//! word, and if none had one, nothing was done of what was asked for.

use std::io::{self, Write};

use anyhow::bail;
use lately::Time;
use serde_json::Value;

use crate::input::Chunk;
use crate::records::{Aside, Recipe, moment_text};
use crate::stats::grouped;

/// Counts records with and without what it takes to judge them.
#[derive(Debug)]
pub(crate) struct Unjudged {
    /// What the keys are, for people.
    keys: String,
    judged: u64,
    no_key: u64,
    no_time: u64,
    /// Those whose time is not believed, and the first such time.
    ahead: u64,
    first_ahead: Option<Time>,
    /// The first that was not judged: which it is, and why.
    first: Option<String>,
}

impl Unjudged {
    pub(crate) fn new(recipe: &Recipe) -> Self {
        let (keys, judged, no_key, no_time, ahead) = (recipe.to_string(), 0, 0, 0, 0);
        Self { keys, judged, no_key, no_time, ahead, first_ahead: None, first: None }
    }

    /// Looks at the records of a chunk.
    pub(crate) fn look_at(&mut self, chunk: &Chunk) {
        self.judged += chunk.records.hashes().len() as u64;
        for &(index, aside) in chunk.records.asides() {
            match aside {
                Aside::Header | Aside::Cut => continue,
                Aside::Ahead(moment) => {
                    self.ahead += 1;
                    self.first_ahead.get_or_insert(moment);
                    continue;
                }
                Aside::NoKey | Aside::Malformed => self.no_key += 1,
                Aside::NoTime => self.no_time += 1,
            }
            if self.first.is_none() {
                let record = chunk.records.ranges().nth(index).map(|at| &chunk.bytes[at]);
                let number = chunk.before + index as u64 + 1;
                let hint = hint(record.unwrap_or_default());
                self.first = Some(format!("record {number} of {} {aside}{hint}", chunk.origin));
            }
        }
    }

    /// Says something if times were not believed, or if most records could not be judged; an error
    /// if none could.
    pub(crate) fn tell(&self) -> anyhow::Result<()> {
        let missing = self.no_key + self.no_time;
        let all = grouped(self.judged + missing + self.ahead);
        if let Some(first) = self.first_ahead.filter(|_| self.judged + missing == 0) {
            bail!(
                "none of {all} records had a time that is believed: the first, {}, is too far ahead of \
                 this machine's clock; --time-unit says what a number counts, --max-ahead how far ahead \
                 is believed",
                moment_text(first)
            );
        }
        self.tell_of_times();
        let Some(first) = self.first.as_ref().filter(|_| missing > self.judged) else {
            return Ok(());
        };
        let lacking = if self.no_time > self.no_key { "time" } else { "key" };
        let lacking = match (lacking, &self.keys[..]) {
            ("time", _) => "time that can be read (--time-format says how)".to_owned(),
            (_, keys) => format!("key ({keys})"),
        };
        if self.judged == 0 {
            bail!("none of {all} records had a {lacking}: {first}");
        }
        // Nobody may be there to read it.
        let _ = writeln!(
            io::stderr(),
            "lately: {} of {all} records had no {lacking}: {first}; --missing says what to do with \
             them",
            grouped(missing)
        );
        Ok(())
    }

    /// Says something if times were not believed: few are enough to be told, whatever becomes of the
    /// records.
    pub(crate) fn tell_of_times(&self) {
        let Some(first) = self.first_ahead else { return };
        let records = match self.ahead {
            1 => "1 record tells".to_owned(),
            many => format!("{} records tell", grouped(many)),
        };
        // Nobody may be there to read it.
        let _ = writeln!(
            io::stderr(),
            "lately: {records} a time too far ahead of this machine's clock, the first {}; treated \
             like records without a time (--missing); if it is right, allow it with --max-ahead",
            moment_text(first)
        );
    }
}

/// What the record has instead.
fn hint(record: &[u8]) -> String {
    const MOST: usize = 8;
    match serde_json::from_slice(record) {
        Ok(Value::Object(members)) if !members.is_empty() => {
            let names: Vec<_> = members.keys().take(MOST).map(String::as_str).collect();
            let more = if members.len() > MOST { ", ..." } else { "" };
            format!(", only {}{more}", names.join(", "))
        }
        Ok(Value::Array(_)) => ARRAY.to_owned(),
        // The first line of one that goes over many.
        Err(_) if record.trim_ascii() == b"[" => ARRAY.to_owned(),
        _ => String::new(),
    }
}

const ARRAY: &str = ", it is an array; `jq -c '.[]'` makes lines of its elements";
