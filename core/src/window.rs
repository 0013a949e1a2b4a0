//! How far back "lately" reaches, and the time it is measured in.

use alloc::borrow::ToOwned;
use alloc::string::ToString;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;
#[cfg(feature = "std")]
use std::time::SystemTime;

use crate::error::Error;
use crate::quantity;

/// How far back a structure must remember.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// The last `n` insertions: a key whose previous insertion is at most `n` insertions back.
    Last(u64),
    /// The last span of time: a key inserted at most this long ago.
    Within(Span),
    /// Everything since the beginning.
    Ever,
}

impl Window {
    /// The longest count window accepted: positions in a stream stay far below `u64::MAX`.
    pub const LONGEST: u64 = 1 << 48;

    /// Refuses an empty window and one that no machine could hold.
    pub fn validate(self) -> Result<Self, Error> {
        match self {
            Window::Last(n) if n == 0 || n > Self::LONGEST => Err(Error::Parameter {
                name: "window",
                found: n.to_string(),
                expected: "from 1 to 2^48 items",
            }),
            Window::Within(span) if span.millis() == 0 => Err(Error::Parameter {
                name: "window",
                found: span.to_string(),
                expected: "at least one millisecond",
            }),
            valid => Ok(valid),
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Window::Last(n) => write!(f, "the last {n} items"),
            Window::Within(span) => write!(f, "the last {span}"),
            Window::Ever => write!(f, "everything"),
        }
    }
}

/// How far back a filter remembers that forgets sooner when more comes than fits: what was seen less than this ago is
/// there for sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// At the moment: the window unless more came than fits.
    pub now: Span,
    /// The least it ever was.
    pub least: Span,
}

/// How far beyond its window a structure may still report a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slack {
    /// Up to this many insertions longer than the window.
    Items(u64),
    /// Up to this much time longer than the window.
    Time(Span),
    /// No limit is promised; for [`Window::Ever`] there is nothing to limit.
    Unlimited,
}

impl fmt::Display for Slack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slack::Items(items) => write!(f, "{items} items"),
            Slack::Time(span) => write!(f, "{span}"),
            Slack::Unlimited => write!(f, "unlimited"),
        }
    }
}

/// A moment, in milliseconds since an epoch of the caller's choice.
///
/// Structures never read a clock: every operation is told the time. A moment earlier than one
/// already seen is taken as the latest seen, so nothing stored is forgotten early. At the door one
/// that is too far ahead is refused: see [`Horizon`](crate::raw::Horizon).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// The epoch itself; what to pass to structures that count items and ignore time.
    pub const ZERO: Time = Time(0);

    /// The moment this many milliseconds after the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// The moment that is so much later; the last one of all if there is none.
    pub const fn after(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The span from `earlier` to this moment; nothing if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// A length of time in milliseconds.
///
/// ```
/// use lately::Span;
///
/// assert_eq!("10m".parse::<Span>()?, Span::from_millis(600_000));
/// assert_eq!("1.5s".parse::<Span>()?.millis(), 1_500);
/// assert_eq!("1h30m".parse::<Span>()?, "90m".parse()?);
/// assert_eq!(Span::from_millis(90_000).to_string(), "90s");
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span(u64);

impl Span {
    /// The longest: longer than all time.
    pub const LONGEST: Span = Span(u64::MAX);

    /// A span of this many milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Its length in milliseconds.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// Its length in whole units, of the largest of which it has two at least: for people.
    ///
    /// ```
    /// use lately::Span;
    ///
    /// assert_eq!(Span::from_millis(7_200_001).rounded().to_string(), "2h");
    /// ```
    pub fn rounded(self) -> Self {
        let units = UNITS.iter().rev().map(|&(_, unit)| unit);
        let unit = units.into_iter().find(|unit| self.0 / 2 >= *unit).unwrap_or(1);
        Self(self.0 - self.0 % unit)
    }
}

#[cfg(feature = "std")]
impl From<SystemTime> for Time {
    /// Milliseconds since 1970; what is before that is the epoch.
    fn from(time: SystemTime) -> Self {
        Time::ZERO.after(time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().into())
    }
}

impl From<Duration> for Span {
    /// In milliseconds; what is shorter than one is one, unless it is nothing.
    fn from(duration: Duration) -> Self {
        let millis = duration.as_nanos().div_ceil(1_000_000);
        Span(u64::try_from(millis).unwrap_or(u64::MAX))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        Duration::from_millis(span.0)
    }
}

/// Suffixes with their milliseconds; `ms` before `s` and `m`, which end or begin it.
const UNITS: [(&str, u64); 6] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
    ("w", 604_800_000),
];

impl FromStr for Span {
    type Err = Error;

    /// Reads `500ms`, `90s`, `10m`, `24h`, `7d`, `2w`, and several together, the longest unit first:
    /// `1h30m`. A unit is required.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refusal = || Error::Parameter {
            name: "span of time",
            found: text.to_owned(),
            expected: "a number with a unit (ms, s, m, h, d, w), such as 90s, 1h30m or 24h",
        };
        sum_of_parts(text.trim()).map(Self).ok_or_else(refusal)
    }
}

/// Milliseconds in a number with a unit, and in more of them with ever shorter units.
fn sum_of_parts(text: &str) -> Option<u64> {
    let (mut rest, mut sum, mut longest) = (text, 0_u64, u64::MAX);
    while !rest.is_empty() {
        let begins = |letter: char| UNITS.iter().any(|(name, _)| name.starts_with(letter));
        let start = rest.find(begins)?;
        let end = rest[start..].find(|letter: char| !letter.is_ascii_alphabetic());
        let (part, others) = rest.split_at(end.map_or(rest.len(), |end| start + end));
        let (number, unit) = UNITS
            .iter()
            .find_map(|&(name, unit)| Some((part.strip_suffix(name)?.trim_end(), unit)))?;
        if unit >= longest {
            return None;
        }
        // None of a unit is no span of its own, but may stand between others: 1h0m30s.
        if number != "0" {
            sum = sum.checked_add(quantity::parse_number(number, unit)?)?;
        }
        (rest, longest) = (others.trim_start(), unit);
    }
    (sum > 0).then_some(sum)
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &(suffix, unit) = UNITS
            .iter()
            .rev()
            .find(|&&(_, unit)| self.0 >= 2 * unit && self.0.is_multiple_of(unit))
            .unwrap_or(&UNITS[0]);
        write!(f, "{}{suffix}", self.0 / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_and_print_the_same() {
        for text in ["1ms", "500ms", "90s", "10m", "24h", "7d", "2w", "36h"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn spans_of_several_parts() {
        for (text, same) in [
            ("1h30m", "90m"),
            ("1h 30m", "90m"),
            ("1d12h", "36h"),
            ("2m0.5s", "120500ms"),
            ("1s500ms", "1500ms"),
            ("1m1ms", "60001ms"),
            ("1h0m1s", "3601s"),
            ("1w2d3h4m5s6ms", "788645006ms"),
            ("1e1m", "10m"),
            ("10 m", "10m"),
        ] {
            assert_eq!(text.parse::<Span>().unwrap(), same.parse().unwrap(), "{text}");
        }
    }

    #[test]
    fn spans_refuse_nonsense() {
        for text in ["", "10", "s", "0s", "-1s", "1y", "0.0001ms", "1e40d", "99999999999999999999s"]
            .into_iter()
            .chain(["30m1h", "1h1h", "1h30", "1h-30m", "1h m", "1h30x", "1hm", "h30m", "1h,30m"])
            .chain(["1ms1s", "1hour", "1 h 30", "30500568904w7d"])
        {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn empty_and_absurd_windows_are_refused() {
        assert!(Window::Last(0).validate().is_err());
        assert!(Window::Last(u64::MAX).validate().is_err());
        assert!(Window::Within(Span::from_millis(0)).validate().is_err());
        assert!(Window::Last(1).validate().is_ok());
    }
}
