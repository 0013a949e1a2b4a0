//! Lines: a record ends with a byte, and its key is the whole of it or parts of its JSON.

use std::ops::Range;

use lately::Time;
use memchr::{memchr_iter, memrchr};

use super::json::{Malformed, Tree};
use super::key::{Hasher, Texts};
use super::told::Moments;
use super::{Aside, Parser, Path, Recipe};
use crate::input::{Chunk, Records};

pub(crate) struct Lines {
    terminator: u8,
    hasher: Hasher,
    fields: Option<Fields>,
}

/// What is looked for in documents.
struct Fields {
    tree: Tree,
    /// Where the parts of the key are in `found`; without any, the key is the whole record.
    keys: Vec<usize>,
    /// Where the moment is in `found`.
    time: Option<usize>,
    moments: Moments,
    found: Vec<Option<Range<usize>>>,
}

impl Lines {
    pub(crate) fn new(recipe: &Recipe, terminator: u8, keys: &[Path], time: Option<&Path>) -> Self {
        let mut tree = Tree::default();
        let keys: Vec<_> = keys.iter().map(|path| tree.add(path)).collect();
        let time = time.map(|path| tree.add(path));
        let wanted = time.is_some() || !keys.is_empty();
        let moments = Moments::new(recipe);
        let fields = wanted.then(|| Fields { tree, keys, time, moments, found: vec![] });
        Self { terminator, hasher: Hasher::new(recipe), fields }
    }
}

impl Parser for Lines {
    fn parse(&mut self, chunk: &mut Chunk, last: bool) -> anyhow::Result<usize> {
        let Chunk { bytes, filled, fresh, records, .. } = chunk;
        // What was there before has no end of a record, or it would not be there any more.
        let end = match memrchr(self.terminator, &bytes[*fresh..*filled]) {
            Some(found) => *fresh + found + 1,
            None => 0,
        };
        let unfinished = &bytes[end..*filled];
        let bytes = &bytes[..end];
        let ends = memchr_iter(self.terminator, bytes).map(|end| end + 1);
        let mut start = 0;
        match &mut self.fields {
            None => {
                for end in ends {
                    let hash = self.hasher.hash(&bytes[start..end - 1], records.texts());
                    records.judge(end, hash, None);
                    start = end;
                }
            }
            Some(fields) => {
                for end in ends {
                    fields.parse(&bytes[start..end - 1], end, &mut self.hasher, records);
                    start = end;
                }
            }
        }
        if !last || unfinished.is_empty() {
            return Ok(end);
        }
        match &mut self.fields {
            None => {
                let hash = self.hasher.hash(unfinished, records.texts());
                records.judge(*filled, hash, None);
            }
            Some(fields) => fields.parse(unfinished, *filled, &mut self.hasher, records),
        }
        Ok(*filled)
    }
}

impl Fields {
    /// Adds one record, which ends at `end` in its chunk.
    fn parse(&mut self, record: &[u8], end: usize, hasher: &mut Hasher, records: &mut Records) {
        if self.tree.find(record, &mut self.found) == Err(Malformed) {
            return records.put_aside(end, Aside::Malformed);
        }
        let moment = match self.moment(record) {
            Ok(moment) => moment,
            Err(aside) => return records.put_aside(end, aside),
        };
        match self.key(record, hasher, records.texts()) {
            Some(hash) => records.judge(end, hash, moment),
            None => records.put_aside(end, Aside::NoKey),
        }
    }

    /// When the record happened, if it is to tell that.
    fn moment(&mut self, record: &[u8]) -> Result<Option<Time>, Aside> {
        let Some(slot) = self.time else { return Ok(None) };
        let text = self.found[slot].clone().map(|at| &record[at]);
        self.moments.read(text.map(|text| unquoted(text).unwrap_or(text))).map(Some)
    }

    fn key(&self, record: &[u8], hasher: &mut Hasher, texts: &mut Texts) -> Option<u64> {
        let part = |&slot: &usize| self.found[slot].clone().map(|at| &record[at]);
        match &self.keys[..] {
            [] => Some(hasher.hash(record, texts)),
            [only] => with_text(part(only)?, |text| hasher.hash(text, texts)),
            keys => {
                let joined =
                    keys.iter().try_for_each(|key| with_text(part(key)?, |text| hasher.join(text)));
                if joined.is_none() {
                    hasher.abandon();
                }
                joined.map(|()| hasher.joined(texts))
            }
        }
    }
}

/// Hands on what a JSON value is as a key: strings without quotes and escapes, so that they hash
/// like the same text from elsewhere; objects and arrays without blanks and in the order of their
/// names; the rest as it is written. `null` is no key.
fn with_text<T>(value: &[u8], mut hand_on: impl FnMut(&[u8]) -> T) -> Option<T> {
    if let Some(inside) = unquoted(value) {
        if !inside.contains(&b'\\') {
            return Some(hand_on(inside));
        }
        return serde_json::from_slice::<String>(value).ok().map(|text| hand_on(text.as_bytes()));
    }
    match value.first() {
        Some(b'{' | b'[') => {
            let value: serde_json::Value = serde_json::from_slice(value).ok()?;
            Some(hand_on(value.to_string().as_bytes()))
        }
        _ => (value != b"null").then(|| hand_on(value)),
    }
}

fn unquoted(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(b"\"")?.strip_suffix(b"\"")
}
