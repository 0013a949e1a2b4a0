//! An error rate: a probability strictly between 0 and 1, as people write it.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use crate::error::Error;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;

/// The share of unseen keys that may be reported as seen.
///
/// ```
/// use lately::ErrorRate;
///
/// let rate: ErrorRate = "0.1%".parse()?;
/// assert_eq!(rate, "0.001".parse()?);
/// assert_eq!(rate.get(), 0.001);
/// assert_eq!(rate.to_string(), "0.1%");
/// assert!("1.5".parse::<ErrorRate>().is_err());
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct ErrorRate(f64);

impl ErrorRate {
    /// The rate the builder and the command use unless told otherwise: one in a thousand.
    pub const DEFAULT: ErrorRate = ErrorRate(0.001);

    /// The smallest rate accepted. Below it, collisions of the 64-bit key hashes themselves
    /// would no longer be negligible beside the rate.
    pub const SMALLEST: f64 = 1e-9;

    /// Where searches for the smallest error that fits into a memory begin: the logarithm of an error
    /// with which almost all answers are wrong.
    pub(crate) const LOOSEST_LOG2: f64 = -0.1;

    /// A rate from [`ErrorRate::SMALLEST`] up to, but not including, 1.
    pub fn new(rate: f64) -> Result<Self, Error> {
        if (Self::SMALLEST..1.0).contains(&rate) {
            Ok(Self(rate))
        } else {
            Err(refusal(rate.to_string()))
        }
    }

    /// The rate as a probability.
    pub fn get(self) -> f64 {
        self.0
    }

    /// `log2(1/rate)`: the bits that this rate costs per item at the very least.
    pub fn bits(self) -> f64 {
        -self.0.log2()
    }
}

impl Default for ErrorRate {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl From<ErrorRate> for f64 {
    fn from(rate: ErrorRate) -> f64 {
        rate.0
    }
}

impl FromStr for ErrorRate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let (number, percent) = match text.strip_suffix('%') {
            Some(number) => (number.trim_end(), true),
            None => (text, false),
        };
        let value: f64 = number.parse().map_err(|_| refusal(text.to_owned()))?;
        // Dividing rounds once, so "0.1%" is the same number as "0.001".
        let rate = if percent { value / 100.0 } else { value };
        Self::new(rate).map_err(|_| refusal(text.to_owned()))
    }
}

impl fmt::Display for ErrorRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_percent(f, self.0)
    }
}

/// Writes a probability as a percentage with at most four significant digits.
pub(crate) fn write_percent(f: &mut fmt::Formatter<'_>, rate: f64) -> fmt::Result {
    let percent = rate * 100.0;
    if percent == 0.0 || percent >= 100.0 {
        return write!(f, "{percent}%");
    }
    let decimals = (3 - percent.log10().floor() as i32).max(0) as usize;
    let digits = format!("{percent:.decimals$}");
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        &digits
    };
    write!(f, "{digits}%")
}

fn refusal(found: String) -> Error {
    Error::Parameter {
        name: "error rate",
        found,
        expected: "a number from 1e-9 up to but below 1, such as 0.001 or 0.1%",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_a_probability() {
        for text in ["", "%", "0", "0%", "1", "100%", "-0.1", "NaN", "inf", "1e-10", "a", "5 5%"] {
            let error = text.parse::<ErrorRate>().unwrap_err().to_string();
            assert!(error.contains("error rate is"), "{text}: {error}");
        }
    }

    #[test]
    fn display_parses_back() {
        for rate in [0.5, 0.25, 0.1, 0.01, 0.001, 0.0001, 1e-6, 0.0123] {
            let rate = ErrorRate::new(rate).unwrap();
            let again: ErrorRate = rate.to_string().parse().unwrap();
            assert!((again.get() / rate.get() - 1.0).abs() < 1e-3, "{rate}");
        }
    }
}
