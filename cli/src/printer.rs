//! Which records are printed, and how.

use std::io::Write;
use std::ops::Range;

use anyhow::bail;
use memchr::memrchr;

use crate::args::Missing;
use crate::input::{Chunk, Records};
use crate::output::Output;
use crate::records::Aside;
use crate::stats::Counts;

/// What is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Show {
    /// Records that are new.
    Unique,
    /// Records that are not.
    Duplicates,
    /// All records, each with its verdict in this member.
    Marked(String),
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    New,
    Duplicate,
    Aside(Aside),
}

/// Prints what is to be shown of judged records, and counts.
pub(crate) struct Printer {
    output: Output,
    show: Show,
    missing: Missing,
    pace: Pace,
    /// Only the first of all rows that name columns is printed.
    header_shown: bool,
    /// The current record with its mark.
    marked: Vec<u8>,
    shown: u64,
}

/// When records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// In large pieces, and whatever there is when nothing follows at once.
    Gathered,
    /// One by one.
    Each,
    /// Never: they are only counted.
    Never,
}

impl Printer {
    pub(crate) fn new(output: Output, show: Show, missing: Missing, pace: Pace) -> Self {
        Self { output, show, missing, pace, header_shown: false, marked: Vec::new(), shown: 0 }
    }

    /// Prints and counts some records of a chunk. `new` has a verdict for each that was judged.
    pub(crate) fn print(
        &mut self,
        chunk: &Chunk,
        range: Range<usize>,
        new: &[bool],
        counts: &mut Counts,
    ) -> anyhow::Result<()> {
        let mut piece = 0..0;
        let mut duplicates = 0;
        let records = chunk.records.ranges_of(range.clone());
        for (record, verdict) in records.zip(verdicts(&chunk.records, range, new)) {
            duplicates += u64::from(verdict == Verdict::Duplicate);
            if let Verdict::Aside(aside) = verdict {
                counts.put_aside(aside);
                if self.missing == Missing::Fail && aside.is_fault() {
                    self.write(&chunk.bytes[piece])?;
                    return refuse(chunk, record.start, aside);
                }
            }
            if !self.shows(verdict) {
                continue;
            }
            self.shown += u64::from(verdict != Verdict::Aside(Aside::Header));
            if self.pace == Pace::Each || matches!(self.show, Show::Marked(_)) {
                self.print_one(&chunk.bytes[record], verdict)?;
                continue;
            }
            // Neighbours go in one piece.
            if record.start != piece.end {
                self.write(&chunk.bytes[piece.clone()])?;
                piece.start = record.start;
            }
            piece.end = record.end;
        }
        counts.duplicates += duplicates;
        counts.unique += new.len() as u64 - duplicates;
        self.write(&chunk.bytes[piece])
    }

    /// Prints text of our own between records, which is none of them.
    pub(crate) fn print_text(&mut self, text: &[u8]) -> anyhow::Result<()> {
        self.write(text)?;
        if self.pace == Pace::Each && !text.is_empty() { self.output.flush() } else { Ok(()) }
    }

    /// Hands on what is held back.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        self.output.flush()
    }

    /// How many records were shown, or would have been.
    pub(crate) fn shown(&self) -> u64 {
        self.shown
    }

    fn shows(&mut self, verdict: Verdict) -> bool {
        match (verdict, &self.show) {
            (Verdict::Aside(Aside::Header), _) => !std::mem::replace(&mut self.header_shown, true),
            (Verdict::Aside(_), Show::Duplicates) => false,
            // Whatever it would have become, nobody else has this part of it.
            (Verdict::Aside(Aside::Cut), _) => true,
            (Verdict::Aside(_), _) => self.missing == Missing::Pass,
            (_, Show::Marked(_)) => true,
            (verdict, Show::Unique) => verdict == Verdict::New,
            (verdict, Show::Duplicates) => verdict == Verdict::Duplicate,
        }
    }

    fn print_one(&mut self, record: &[u8], verdict: Verdict) -> anyhow::Result<()> {
        self.marked.clear();
        match &self.show {
            Show::Marked(field) => mark(record, field, verdict, &mut self.marked),
            _ => self.marked.extend_from_slice(record),
        }
        self.output.write(&self.marked)?;
        if self.pace == Pace::Each { self.output.flush() } else { Ok(()) }
    }

    fn write(&mut self, records: &[u8]) -> anyhow::Result<()> {
        if self.pace == Pace::Never { Ok(()) } else { self.output.write(records) }
    }
}

/// One per record of a range, in order.
fn verdicts<'a>(
    records: &'a Records,
    range: Range<usize>,
    new: &'a [bool],
) -> impl Iterator<Item = Verdict> + 'a {
    let asides = records.asides();
    let before = asides.partition_point(|&(index, _)| index < range.start);
    let mut asides = asides[before..].iter().peekable();
    let mut new = new.iter();
    range.map(move |index| {
        if let Some((_, aside)) = asides.next_if(|(at, _)| *at == index) {
            return Verdict::Aside(*aside);
        }
        if *new.next().expect("every other record was judged") {
            Verdict::New
        } else {
            Verdict::Duplicate
        }
    })
}

/// Says which record cannot be judged, and what to do.
fn refuse(chunk: &Chunk, start: usize, aside: Aside) -> anyhow::Result<()> {
    let number =
        chunk.before + chunk.records.ranges().take_while(|at| at.start < start).count() as u64;
    bail!(
        "{}: record {} {aside}; correct it, or let such records pass (--missing pass) or drop them \
         (--missing drop)",
        chunk.origin,
        number + 1
    )
}

/// Writes a JSON object with one more member at its end; anything else as it is.
fn mark(record: &[u8], field: &str, verdict: Verdict, out: &mut Vec<u8>) {
    let is_object = record.trim_ascii_start().starts_with(b"{");
    let Some(end) = memrchr(b'}', record).filter(|_| is_object) else {
        return out.extend_from_slice(record);
    };
    let inside = record[..end].trim_ascii_end();
    out.extend_from_slice(inside);
    if !inside.ends_with(b"{") {
        out.push(b',');
    }
    let verdict = match verdict {
        Verdict::New => "new",
        Verdict::Duplicate => "duplicate",
        Verdict::Aside(_) => "missing",
    };
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, field);
    let _ = write!(out, ":\"{verdict}\"");
    out.extend_from_slice(&record[end..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_members() {
        for (record, marked) in [
            ("{\"a\":1}\n", "{\"a\":1,\"x\\\"\":\"new\"}\n"),
            (" {} \r\n", " {\"x\\\"\":\"new\"} \r\n"),
            ("{\"a\":{}, }", "{\"a\":{},,\"x\\\"\":\"new\"}"),
            ("{\"a\":\"{\" }", "{\"a\":\"{\",\"x\\\"\":\"new\"}"),
            ("[{}]\n", "[{}]\n"),
            ("}\n", "}\n"),
            ("\n", "\n"),
            ("", ""),
        ] {
            let mut out = Vec::new();
            mark(record.as_bytes(), "x\"", Verdict::New, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), marked, "{record}");
        }
    }
}
