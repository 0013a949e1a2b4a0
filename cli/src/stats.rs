//! What happened, for people and for programs.

use std::fmt::{self, Write};
use std::time::{Duration, Instant};

use lately::raw::Untyped;
use lately::{Memory, Span, Time};
use serde::Serialize;

use crate::records::Aside;

/// Counts of one run.
#[derive(Debug)]
pub(crate) struct Counts {
    begun: Instant,
    pub(crate) bytes: u64,
    pub(crate) unique: u64,
    pub(crate) duplicates: u64,
    pub(crate) no_key: u64,
    pub(crate) no_time: u64,
    /// Those whose time is not believed.
    pub(crate) ahead: u64,
    pub(crate) malformed: u64,
    pub(crate) late: u64,
}

impl Counts {
    pub(crate) fn new() -> Self {
        Self {
            begun: Instant::now(),
            bytes: 0,
            unique: 0,
            duplicates: 0,
            no_key: 0,
            no_time: 0,
            ahead: 0,
            malformed: 0,
            late: 0,
        }
    }

    /// Counts a record that was not judged.
    pub(crate) fn put_aside(&mut self, aside: Aside) {
        match aside {
            Aside::Header | Aside::Cut => {}
            Aside::NoKey => self.no_key += 1,
            Aside::NoTime => self.no_time += 1,
            Aside::Ahead(_) => self.ahead += 1,
            Aside::Malformed => self.malformed += 1,
        }
    }

    /// Records that were judged.
    pub(crate) fn judged(&self) -> u64 {
        self.unique + self.duplicates
    }

    /// Records without what it takes to judge them.
    pub(crate) fn missing(&self) -> u64 {
        self.no_key + self.no_time + self.ahead + self.malformed
    }

    /// Everything to tell at this moment.
    pub(crate) fn report(&self, about: About) -> Report {
        let elapsed = self.begun.elapsed();
        let records = self.judged() + self.missing();
        Report {
            records,
            unique: self.unique,
            duplicates: self.duplicates,
            missing: self.missing(),
            no_key: self.no_key,
            no_time: self.no_time,
            too_far_ahead: self.ahead,
            malformed: self.malformed,
            late: self.late,
            bytes: self.bytes,
            seconds: elapsed.as_secs_f64(),
            records_per_second: rate(records, elapsed),
            bytes_per_second: rate(self.bytes, elapsed),
            about,
        }
    }
}

/// What to tell of a filter, wherever it is.
#[derive(Debug, Serialize)]
pub(crate) struct About {
    pub(crate) structure: String,
    pub(crate) window: String,
    pub(crate) filter_bytes: u64,
    pub(crate) predicted_false_positive_rate: f64,
    pub(crate) predicted_false_negative_rate: f64,
    pub(crate) estimated_false_positive_rate: f64,
    /// How far back a window that shortens remembers, in milliseconds, ...
    pub(crate) remembers: Option<u64>,
    /// ... and the least it ever was.
    pub(crate) remembered_least: Option<u64>,
    /// Records that were taken for new because the answer of a server was lost.
    pub(crate) uncertain: u64,
}

impl About {
    /// What there is to tell of a filter in this process.
    pub(crate) fn of(seen: &Untyped) -> Self {
        let promise = seen.promise();
        let reach = seen.filter().reach(Time::ZERO);
        Self {
            structure: seen.filter().blueprint().structure().to_owned(),
            window: promise.window.to_string(),
            filter_bytes: seen.filter().heap_bytes(),
            predicted_false_positive_rate: promise.false_positives,
            predicted_false_negative_rate: promise.false_negatives,
            estimated_false_positive_rate: seen.filter().false_positive_rate(),
            remembers: reach.map(|reach| reach.now.millis()),
            remembered_least: reach.map(|reach| reach.least.millis()),
            uncertain: 0,
        }
    }
}

/// One run in numbers. As JSON it keeps these names.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    records: u64,
    unique: u64,
    duplicates: u64,
    missing: u64,
    no_key: u64,
    no_time: u64,
    too_far_ahead: u64,
    malformed: u64,
    late: u64,
    /// Read, after decompression.
    bytes: u64,
    seconds: f64,
    records_per_second: f64,
    bytes_per_second: f64,
    #[serde(flatten)]
    about: About,
}

impl Report {
    pub(crate) fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: u64| match self.unique + self.duplicates {
            0 => String::new(),
            all => format!(" ({:.2}%)", 100.0 * part as f64 / all as f64),
        };
        writeln!(f, "records     {}", grouped(self.records))?;
        writeln!(f, "unique      {}{}", grouped(self.unique), share(self.unique))?;
        writeln!(f, "duplicates  {}{}", grouped(self.duplicates), share(self.duplicates))?;
        if self.missing > 0 {
            write!(f, "missing     {}", grouped(self.missing))?;
            let kinds = [
                ("no key", self.no_key),
                ("no time", self.no_time),
                ("too far ahead", self.too_far_ahead),
                ("not JSON", self.malformed),
            ];
            let kinds: Vec<_> = kinds
                .into_iter()
                .filter(|&(_, count)| count > 0)
                .map(|(name, count)| format!("{name}: {}", grouped(count)))
                .collect();
            writeln!(f, " ({})", kinds.join(", "))?;
        }
        if self.late > 0 {
            writeln!(f, "late        {}", grouped(self.late))?;
        }
        let memory = |bytes: f64| Memory::from_bytes(bytes as u64);
        writeln!(
            f,
            "read        {} in {:.2} s: {}/s, {} records/s",
            memory(self.bytes as f64),
            self.seconds,
            memory(self.bytes_per_second),
            grouped(self.records_per_second as u64)
        )?;
        let about = &self.about;
        if about.uncertain > 0 {
            let count = grouped(about.uncertain);
            writeln!(f, "uncertain   {count} taken for new: a server's answers were lost")?;
        }
        if let (Some(now), Some(least)) = (about.remembers, about.remembered_least) {
            let [now, least] = [now, least].map(|millis| Span::from_millis(millis).rounded());
            writeln!(f, "window      {now} at the end, {least} at the least")?;
        }
        writeln!(f, "filter      {} of {}", memory(about.filter_bytes as f64), about.structure)?;
        write!(f, "error       {} at most", percent(about.predicted_false_positive_rate))?;
        writeln!(f, ", {} at the end", percent(about.estimated_false_positive_rate))
    }
}

/// A share as people read it: `0.1%`, `0.0987%`, `2.0e-16`.
pub(crate) fn percent(share: f64) -> String {
    // An estimate of next to nothing may come out below it.
    let share = if share > 0.0 { share } else { 0.0 };
    if share > 0.0 && share < 1e-6 {
        return format!("{share:.1e}");
    }
    // Three digits that say something, and no zeros after them.
    let digits = (1.0 - (100.0 * share).log10().floor()).clamp(0.0, 6.0) + 1.0;
    let text = format!("{:.*}", digits as usize, 100.0 * share);
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}%")
}

/// A number that can be read: `12 345 678`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        // Writing to a string cannot fail.
        let _ = text.write_char(digit);
    }
    text
}

fn rate(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_all_sizes() {
        for (share, text) in [
            (0.0, "0%"),
            (-0.0, "0%"),
            (-1e-17, "0%"),
            (1.0, "100%"),
            (0.5, "50%"),
            (0.12345, "12.3%"),
            (0.001, "0.1%"),
            (0.000_998_6, "0.0999%"),
            (0.000_001, "0.0001%"),
            (2e-16, "2.0e-16"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn digits_in_groups() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1 000"), (12_345_678, "12 345 678")]
        {
            assert_eq!(grouped(number), text);
        }
    }
}
