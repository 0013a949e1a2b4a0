//! What `lately dedup` must know of a state beyond its filter, written after the snapshot.
//!
//! ```text
//! snapshot | note as JSON | checksum of the note, u64 | its length, u32 | magic, 8 bytes
//! ```
//!
//! Numbers are little-endian, the checksum is XXH3. A file without the magic at its end is a
//! snapshot and nothing more, which is just as good: it does not tell what its keys were.

use anyhow::{Context, bail};
use lately::plan::{Goal, Limit};
use lately::{Hashing, Seed};
use serde::{Deserialize, Serialize};

const MAGIC: [u8; 8] = *b"\x89LATNOTE";

/// Bytes after the JSON.
const FOOT: usize = 8 + 4 + MAGIC.len();

/// What was asked for when a filter was made, and how it was filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    /// The goal in the words of the flags, not in the parameters that some release made of it: a
    /// later one may make others, and go on with these.
    pub(crate) window: String,
    pub(crate) limit: String,
    pub(crate) slack: String,
    /// What the keys were, for people.
    pub(crate) keys: String,
    /// Whether a repeat starts the window of its key anew.
    pub(crate) refresh: bool,
    /// Records judged since the filter was empty.
    pub(crate) records: u64,
    /// The latest moment that a record told, in milliseconds since 1970.
    pub(crate) latest: u64,
}

impl Note {
    /// On a filter that is empty.
    pub(crate) fn new(goal: &Goal, keys: String, refresh: bool) -> Self {
        let limit = match goal.limit {
            Limit::Error(rate) => format!("an error of {rate}"),
            Limit::Memory(memory) => format!("a memory of {memory}"),
        };
        let window = match goal.shortening {
            Some(memory) => format!("{}, shorter beyond {memory}", goal.window),
            None => goal.window.to_string(),
        };
        let slack = goal.slack.to_string();
        Self { window, limit, slack, keys, refresh, records: 0, latest: 0 }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("texts and numbers are JSON");
        let length = bytes.len() as u32;
        bytes.extend_from_slice(&checksum(&bytes).to_le_bytes());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&MAGIC);
        bytes
    }

    /// The snapshot at the beginning of a file, and the note at its end.
    pub(crate) fn split(file: &[u8]) -> anyhow::Result<(&[u8], Option<Self>)> {
        if !file.ends_with(&MAGIC) {
            return Ok((file, None));
        }
        let Some((rest, foot)) = file.split_last_chunk::<FOOT>() else {
            bail!("it is damaged: its note is cut short");
        };
        let (declared, length) = foot.split_at(8);
        let length = u32::from_le_bytes(length[..4].try_into().expect("four bytes")) as usize;
        let Some(start) = rest.len().checked_sub(length) else {
            bail!("it is damaged: its note is cut short");
        };
        let (snapshot, json) = rest.split_at(start);
        if declared != checksum(json).to_le_bytes() {
            bail!("it is damaged: the checksum of its note is wrong");
        }
        let note = serde_json::from_slice(json).context("its note cannot be read")?;
        Ok((snapshot, Some(note)))
    }
}

fn checksum(json: &[u8]) -> u64 {
    Hashing::Fast(Seed(0)).hash(json)
}

#[cfg(test)]
mod tests {
    use lately::{ErrorRate, Window};

    use super::*;

    #[test]
    fn notes_come_back_and_damage_is_noticed() {
        let goal = Goal::new(Window::Last(5), ErrorRate::DEFAULT);
        let note = Note { records: 7, latest: 9, ..Note::new(&goal, "/id".into(), true) };
        let file = [b"snapshot".as_slice(), &note.to_bytes()].concat();
        let (snapshot, found) = Note::split(&file).unwrap();
        assert_eq!((snapshot, found), (&b"snapshot"[..], Some(note)));
        assert_eq!(Note::split(b"snapshot").unwrap(), (&b"snapshot"[..], None));
        for damaged in b"snapshot".len()..file.len() - MAGIC.len() {
            let mut file = file.clone();
            file[damaged] ^= 1;
            Note::split(&file).unwrap_err();
        }
        for start in 0..file.len() - MAGIC.len() {
            // Without its beginning: either the snapshot is cut, or the note is damaged.
            let cut = Note::split(&file[start..]);
            assert_eq!(cut.is_ok(), start <= b"snapshot".len(), "{start}");
        }
    }
}
