//! Words of commands that are not wishes: moments, counts, and words that are not welcome.

use lately::Time;

use crate::engine::{self, Refusal};
use crate::object::Stored;
use crate::ours::Call;

/// When a command happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// As it arrives.
    Now,
    /// When the client says.
    At(Time),
}

impl When {
    /// Reads milliseconds since 1970, or since whenever the client counts from.
    pub fn at(word: &[u8]) -> Result<Self, Refusal> {
        millis(word)
            .map(|millis| When::At(Time::from_millis(millis)))
            .ok_or_else(|| Refusal::new("the moment must be milliseconds, from 0 to 2^63 - 1"))
    }

    /// The moment that may follow the key of a command, which has no other words.
    pub fn after_key(call: &Call<'_>, command: &str) -> Result<Self, Refusal> {
        match call.words()[..] {
            [_, _] => Ok(When::Now),
            [_, _, moment] => When::at(moment),
            _ => Err(wrong_number(command)),
        }
    }

    /// The moment for a filter. The clock is read only for filters that ask for it.
    pub fn time(self, stored: &Stored) -> Time {
        match self {
            When::At(moment) => moment,
            When::Now if stored.is_timed() => engine::now(),
            When::Now => Time::ZERO,
        }
    }
}

/// Milliseconds, as many as the engine's integers hold.
pub fn millis(word: &[u8]) -> Option<u64> {
    whole(word).filter(|&millis| i64::try_from(millis).is_ok())
}

/// How many times, from 1 on.
pub fn times(word: &[u8]) -> Result<u64, Refusal> {
    whole(word)
        .filter(|&times| times > 0)
        .ok_or_else(|| Refusal::new("the number of times must be a whole number from 1 on"))
}

/// A whole number, as plain digits.
pub fn whole(word: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(word).ok()?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// The refusal of a command with too few or too many words.
pub fn wrong_number(command: &str) -> Refusal {
    Refusal::new(format_args!("wrong number of arguments for '{command}' command"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_are_numbers() {
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        for word in [&b""[..], b"-1", b"+1", b" 1", b"1.0", b"18446744073709551616", b"\xff"] {
            assert_eq!(whole(word), None);
        }
        assert!(When::at(b"9223372036854775807").is_ok());
        assert!(When::at(b"9223372036854775808").is_err());
        assert!(times(b"0").is_err());
    }
}
