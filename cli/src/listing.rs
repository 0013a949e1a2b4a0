//! Prints keys with numbers beside them: a line each, or a JSON object each.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::output::Output;
use crate::records::{Recipe, parts};

/// How keys are printed.
pub(crate) struct Listing {
    output: Output,
    json: bool,
    /// Parts of a key.
    parts: usize,
    terminator: u8,
    line: Vec<u8>,
}

impl Listing {
    pub(crate) fn new(recipe: &Recipe, json: bool) -> Self {
        let terminator = if json { b'\n' } else { recipe.terminator() };
        let output = Output::new(terminator);
        Self { output, json, parts: recipe.parts(), terminator, line: Vec::new() }
    }

    /// Prints a key. As text only the first number is printed, a tab, and the parts of the key with
    /// tabs between them; as JSON, all numbers with their names.
    pub(crate) fn print(&mut self, numbers: &[(&str, u64)], key: &[u8]) -> anyhow::Result<()> {
        self.line.clear();
        if self.json {
            let mut object: Map<String, Value> =
                numbers.iter().map(|&(name, number)| (name.to_owned(), number.into())).collect();
            object.insert("key".to_owned(), self.key_value(key));
            // Writing to memory cannot fail.
            let _ = serde_json::to_writer(&mut self.line, &object);
        } else {
            let (_, number) = numbers[0];
            let _ = write!(self.line, "{number}\t");
            if self.parts == 1 {
                self.line.extend_from_slice(key);
            } else {
                for (index, part) in parts(key).enumerate() {
                    self.line.extend_from_slice(if index == 0 { b"" } else { b"\t" });
                    self.line.extend_from_slice(part);
                }
            }
        }
        self.line.push(self.terminator);
        self.output.write(&self.line)
    }

    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        self.output.flush()
    }

    /// A text, or an array of texts. JSON knows no other bytes than those of text.
    fn key_value(&self, key: &[u8]) -> Value {
        if self.parts == 1 {
            return String::from_utf8_lossy(key).into();
        }
        json!(parts(key).map(String::from_utf8_lossy).collect::<Vec<_>>())
    }
}
