//! A log replayed by its own times, every answer compared with the exact truth.
//!
//! The log is NDJSON, one event on a line; its time is RFC 3339 in UTC, its key any field.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use lately::raw::Filter;
use lately::{ErrorRate, Hashing, Seed, Span};
use testkit::stats::rate_is_at_most;

use super::{Expected, Truth, fresh, millis};

/// A log.
#[derive(Debug, Args)]
pub struct Log {
    /// The log; `-` is standard input
    path: PathBuf,
    /// The field of the key
    #[arg(long, default_value = "page")]
    key: String,
    /// The field of the time
    #[arg(long, default_value = "time")]
    time: String,
}

/// What to replay.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    log: Log,
    /// Windows
    #[arg(long, value_delimiter = ',', default_value = "1m,10m,1h,6h")]
    within: Vec<Span>,
    /// Promised share of false positives
    #[arg(long, default_value = "0.1%")]
    error: ErrorRate,
}

const HASHING: Hashing = Hashing::Fast(Seed(1));

/// Replays it through every window; says whether nothing was forgotten and no more reported than promised.
pub fn replay(options: &Options, out: &mut impl Write) -> Result<bool> {
    let events = options.log.events()?;
    let mut holds = true;
    for &within in &options.within {
        let mut filter = fresh("timed", within, options.error)?;
        holds &= replay_one(&mut *filter, &events, within, options.error, out)?;
    }
    Ok(holds)
}

fn replay_one(
    filter: &mut dyn Filter,
    events: &[(u64, u64)],
    within: Span,
    error: ErrorRate,
    out: &mut impl Write,
) -> Result<bool> {
    let mut truth = Truth::of(filter)?;
    let (mut forgotten, mut absent, mut reported, mut seen) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (mut now, mut most) = (0, 0);
    for &(key, at) in events {
        // What comes late counts as coming now, as it does for a filter.
        now = at.max(now);
        let expected = truth.expects(key, now);
        let new = filter.insert_hash(key, millis(at));
        truth.record(key, now);
        forgotten += u64::from(new && expected == Expected::Seen);
        seen += u64::from(expected == Expected::Seen);
        absent += u64::from(expected == Expected::New);
        reported += u64::from(!new && expected == Expected::New);
        most = most.max(filter.heap_bytes());
    }
    writeln!(
        out,
        "{} events within {within}: {seen} repeats, {forgotten} of them forgotten; {reported} of {absent} \
         others reported ({error} promised); at most {most} bytes",
        events.len(),
    )?;
    Ok(forgotten == 0 && rate_is_at_most(reported, absent, error.get(), 1e-9))
}

impl Log {
    /// The hash of the key of every event, and its moment.
    pub fn events(&self) -> Result<Vec<(u64, u64)>> {
        let source: Box<dyn Read> = match self.path.to_str() {
            Some("-") => Box::new(std::io::stdin()),
            _ => Box::new(File::open(&self.path).context("the log does not open")?),
        };
        let lines = BufReader::new(source).lines().enumerate();
        let event = |(number, line): (usize, std::io::Result<String>)| {
            self.event(&line?).with_context(|| format!("line {}", number + 1))
        };
        lines.map(event).collect()
    }

    fn event(&self, line: &str) -> Result<(u64, u64)> {
        let event: serde_json::Value = serde_json::from_str(line)?;
        let time = event[&self.time].as_str().context("no time")?;
        let key = event[&self.key].to_string();
        let moment = moment(time).with_context(|| format!("not a time: {time}"))?;
        Ok((HASHING.hash(key.as_bytes()), moment))
    }
}

/// Milliseconds since 1970 of a time like `2015-09-12T00:46:58.771Z`.
fn moment(text: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let month = time::Month::try_from(number(5..7)? as u8).ok()?;
    let date = time::Date::from_calendar_date(number(0..4)? as i32, month, number(8..10)? as u8);
    let days = date.ok()?.to_julian_day() - 2_440_588;
    let seconds = number(11..13)? * 3_600 + number(14..16)? * 60 + number(17..19)?;
    let millis = if text.get(19..20) == Some(".") { number(20..23)? } else { 0 };
    Some((u64::try_from(days).ok()? * 86_400 + seconds) * 1_000 + millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(moment("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(moment("2015-09-12T00:46:58.771Z"), Some(1_442_018_818_771));
        assert_eq!(moment("2015-09-12T00:46:58Z"), Some(1_442_018_818_000));
        assert_eq!(moment("yesterday"), None);
    }
}
