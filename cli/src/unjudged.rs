//! What is said at the end about records that had no key or no time.
//!
//! A wrong name of a key is no error of any one record: each of them passes, or is left out, as is
//! right for the few that lack one. So all are looked at together: most without a key are worth a
//! word, and if none had one, nothing was done of what was asked for.

use std::io::{self, Write};

use anyhow::bail;
use serde_json::Value;

use crate::input::Chunk;
use crate::records::{Aside, Recipe};
use crate::stats::grouped;

/// Counts records with and without what it takes to judge them.
#[derive(Debug)]
pub(crate) struct Unjudged {
    /// What the keys are, for people.
    keys: String,
    judged: u64,
    no_key: u64,
    no_time: u64,
    /// The first that was not judged: which it is, and why.
    first: Option<String>,
}

impl Unjudged {
    pub(crate) fn new(recipe: &Recipe) -> Self {
        Self { keys: recipe.to_string(), judged: 0, no_key: 0, no_time: 0, first: None }
    }

    /// Looks at the records of a chunk.
    pub(crate) fn look_at(&mut self, chunk: &Chunk) {
        self.judged += chunk.records.hashes().len() as u64;
        for &(index, aside) in chunk.records.asides() {
            match aside {
                // Times too far ahead are told apart.
                Aside::Header | Aside::Cut | Aside::Ahead(_) => continue,
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

    /// Says something if most records could not be judged; an error if none could.
    pub(crate) fn tell(&self) -> anyhow::Result<()> {
        let missing = self.no_key + self.no_time;
        let all = grouped(self.judged + missing);
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
