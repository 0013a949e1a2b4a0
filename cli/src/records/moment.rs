//! When an event happened, as records write it: RFC 3339 (UTC if it names no zone), RFC 2822, the log
//! format of web servers, a number since 1970, or any format that is told.

use anyhow::Context;
use clap::ValueEnum;
use jiff::Timestamp;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::fmt::{rfc2822, temporal};
use jiff::tz::TimeZone;
use lately::Time;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Unit {
    /// Told from its size: right for every moment from 1973 to 5138
    #[default]
    Auto,
    /// Seconds since 1970; may have a fraction
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

impl Unit {
    /// Thousandths of this unit in a millisecond; `whole` is a number of it.
    fn thousandths(self, whole: i64) -> i128 {
        match self {
            Unit::S => 1,
            Unit::Ms => 1_000,
            Unit::Us => 1_000_000,
            Unit::Ns => 1_000_000_000,
            Unit::Auto => match whole.unsigned_abs() {
                ..100_000_000_000 => 1,
                100_000_000_000..100_000_000_000_000 => 1_000,
                100_000_000_000_000..100_000_000_000_000_000 => 1_000_000,
                _ => 1_000_000_000,
            },
        }
    }
}

/// The moment in a field; `None` if there is none. What was before 1970 counts as 1970.
pub(crate) fn parse(text: &[u8], unit: Unit) -> Option<Time> {
    let text = text.trim_ascii();
    let millis = match text {
        [_, _, _, _, b'-', ..] => iso(text)?.as_millisecond().into(),
        [b'[', inside @ .., b']'] | inside @ [_, _, b'/', ..] => {
            formatted(inside, WEB_SERVERS)?.as_millisecond().into()
        }
        _ if text.contains(&b' ') => mail(text)?.as_millisecond().into(),
        _ => number(std::str::from_utf8(text).ok()?, unit)?,
    };
    Some(Time::from_millis(u64::try_from(millis.max(0)).ok()?))
}

/// How records write their moments.
#[derive(Debug, Clone)]
pub(crate) enum Spelling {
    /// In one of the usual ways; numbers count this.
    Usual(Unit),
    /// In this one, in the notation of `strptime`.
    Format(String),
}

impl Spelling {
    /// The moment in a field, if there is one.
    pub(crate) fn read(&self, text: &[u8]) -> Option<Time> {
        match self {
            Spelling::Usual(unit) => parse(text, *unit),
            Spelling::Format(format) => {
                let millis = formatted(text.trim_ascii(), format)?.as_millisecond();
                Some(Time::from_millis(u64::try_from(millis.max(0)).ok()?))
            }
        }
    }
}

/// A format that can be read by, as it was written.
pub(crate) fn format(text: &str) -> anyhow::Result<String> {
    let moment = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    strtime::format(text, &moment).context("write for example %d/%b/%Y:%H:%M:%S %z")?;
    Ok(text.to_owned())
}

/// Of Apache, nginx and others: `24/Mar/2018:17:15:20 +0000`.
const WEB_SERVERS: &str = "%d/%b/%Y:%H:%M:%S %z";

fn iso(text: &[u8]) -> Option<Timestamp> {
    static PARSER: temporal::DateTimeParser = temporal::DateTimeParser::new();
    let zoned = PARSER.parse_timestamp(text).ok();
    zoned.or_else(|| TimeZone::UTC.to_timestamp(PARSER.parse_datetime(text).ok()?).ok())
}

fn mail(text: &[u8]) -> Option<Timestamp> {
    static PARSER: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new();
    PARSER.parse_timestamp(text).ok()
}

/// Without a zone it is UTC, and without a time of day midnight.
fn formatted(text: &[u8], format: &str) -> Option<Timestamp> {
    let parts = BrokenDownTime::parse(format, text).ok()?;
    if parts.offset().is_some() || parts.timestamp().is_some() {
        return parts.to_timestamp().ok();
    }
    let civil = parts.to_datetime().or_else(|_| parts.to_date().map(|date| date.at(0, 0, 0, 0)));
    TimeZone::UTC.to_timestamp(civil.ok()?).ok()
}

/// Milliseconds, rounded down. In whole numbers: a nanosecond count does not fit a float.
fn number(text: &str, unit: Unit) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain([b'0'; 2]).take(3);
    let part = digits.fold(0, |part, digit| 10 * part + i128::from(digit - b'0'));
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    let whole: i64 = whole.parse().ok()?;
    Some((1_000 * i128::from(whole) + sign * part).div_euclid(unit.thousandths(whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str, unit: Unit) -> Option<u64> {
        parse(text.as_bytes(), unit).map(Time::millis)
    }

    #[test]
    fn moments_in_every_spelling() {
        const MOMENT: u64 = 1_442_018_818_771;
        for text in [
            "2015-09-12T00:46:58.771Z",
            "2015-09-12T02:46:58.771999+02:00",
            "2015-09-12t00:46:58.771z",
            " 2015-09-12 00:46:58.771Z ",
            "2015-09-12T00:46:58.771",
            "2015-09-12 00:46:58.771",
            "1442018818.771",
            "1442018818771",
            "1442018818771.9",
            "1442018818771999",
            "1442018818771000000",
        ] {
            assert_eq!(millis(text, Unit::Auto), Some(MOMENT), "{text}");
        }
        for text in [
            "2015-09-12T00:46:58",
            "12/Sep/2015:00:46:58 +0000",
            "[12/Sep/2015:02:46:58 +0200]",
            "Sat, 12 Sep 2015 00:46:58 +0000",
            "12 Sep 2015 02:46:58 +0200",
            "Sat, 12 Sep 2015 00:46:58 GMT",
        ] {
            assert_eq!(millis(text, Unit::Auto), Some(1_442_018_818_000), "{text}");
        }
        assert_eq!(millis("2015-09-12", Unit::Auto), Some(1_442_016_000_000), "midnight");
        assert_eq!(millis("1442018818", Unit::Auto), Some(1_442_018_818_000));
        assert_eq!(millis("1442018818.7", Unit::S), Some(1_442_018_818_700));
        assert_eq!(millis("5000", Unit::S), Some(5_000_000));
        assert_eq!(millis("5000", Unit::Ms), Some(5_000));
        assert_eq!(millis("5000", Unit::Us), Some(5));
        assert_eq!(millis("5000", Unit::Ns), Some(0));
        assert_eq!(millis("-5.5", Unit::S), Some(0), "before 1970");
        assert_eq!(millis("1960-01-01T00:00:00Z", Unit::Auto), Some(0));
    }

    #[test]
    fn moments_in_a_format_of_ones_own() {
        let millis = |text: &str, format: &str| {
            Spelling::Format(format.to_owned()).read(text.as_bytes()).map(Time::millis)
        };
        for (text, format, moment) in [
            ("12.09.2015 00:46", "%d.%m.%Y %H:%M", Some(1_442_018_760_000)),
            ("12.09.2015 02:46 +0200", "%d.%m.%Y %H:%M %z", Some(1_442_018_760_000)),
            ("20150912", "%Y%m%d", Some(1_442_016_000_000)),
            ("1442018818", "%s", Some(1_442_018_818_000)),
            ("2015/09/12 00:46:58.771", "%Y/%m/%d %H:%M:%S%.f", Some(1_442_018_818_771)),
            ("2015-09-12", "%d.%m.%Y", None),
            ("12.09.2015 and more", "%d.%m.%Y", None),
        ] {
            assert_eq!(millis(text, format), moment, "{text}");
        }
    }

    #[test]
    fn what_is_no_moment() {
        let texts = ["", "-", ".", "1.", ".5", "1e9", "true", "2015-09", "12/Sep/2015", "Sat 12"];
        let more = ["2015-13-12T00:46:58Z", "2015-13-12T00:46:58", "1.-5", "99999999999999999999"];
        for text in texts.into_iter().chain(more) {
            assert_eq!(millis(text, Unit::Auto), None, "{text}");
        }
    }
}
