//! When an event happened, as records write it: RFC 3339, or a number since 1970.

use clap::ValueEnum;
use jiff::fmt::temporal::DateTimeParser;
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
    static PARSER: DateTimeParser = DateTimeParser::new();
    let text = text.trim_ascii();
    let millis = if text.get(4) == Some(&b'-') {
        PARSER.parse_timestamp(text).ok()?.as_millisecond().into()
    } else {
        number(std::str::from_utf8(text).ok()?, unit)?
    };
    Some(Time::from_millis(u64::try_from(millis.max(0)).ok()?))
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
            "1442018818.771",
            "1442018818771",
            "1442018818771.9",
            "1442018818771999",
            "1442018818771000000",
        ] {
            assert_eq!(millis(text, Unit::Auto), Some(MOMENT), "{text}");
        }
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
    fn what_is_no_moment() {
        let texts = ["", "-", ".", "1.", ".5", "1e9", "true", "2015-09-12", "2015-09-12T00:46:58"];
        for text in
            texts.into_iter().chain(["2015-13-12T00:46:58Z", "1.-5", "99999999999999999999"])
        {
            assert_eq!(millis(text, Unit::Auto), None, "{text}");
        }
    }
}
