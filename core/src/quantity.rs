//! Numbers with a unit, as people write them: `8MiB`, `10m`, `1.5M`.

use alloc::borrow::ToOwned;

use crate::error::Error;

/// Reads a number of items: `250`, `1_000_000`, `100k`, `1.5M`, `2G`, `1e6`. Units are decimal.
///
/// ```
/// assert_eq!(lately::raw::quantity::items("1.5M")?, 1_500_000);
/// assert_eq!(lately::raw::quantity::items("1e6")?, 1_000_000);
/// assert!(lately::raw::quantity::items("-3").is_err());
/// # Ok::<(), lately::Error>(())
/// ```
pub fn items(text: &str) -> Result<u64, Error> {
    const UNITS: [(&str, u64); 4] =
        [("k", 1_000), ("m", 1_000_000), ("g", 1_000_000_000), ("b", 1_000_000_000)];
    let plain = text.trim().to_ascii_lowercase().replace('_', "");
    parse(&plain, &UNITS).or_else(|| parse_number(&plain, 1)).ok_or_else(|| Error::Parameter {
        name: "number of items",
        found: text.to_owned(),
        expected: "a positive number, such as 250, 100k, 1.5M or 1e6",
    })
}

/// Reads `text` as a positive number followed by one of `units`; the first suffix that fits is
/// taken, so a suffix stands before any other that ends it.
pub(crate) fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    units.iter().find_map(|&(suffix, unit)| {
        let number = text.strip_suffix(suffix)?.trim_end();
        parse_number(number, unit)
    })
}

/// `number * unit`, rounded down; `None` unless it is at least 1 and far from overflow.
pub(crate) fn parse_number(number: &str, unit: u64) -> Option<u64> {
    let value = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(unit)?,
        Err(_) => {
            let value = number.parse::<f64>().ok()? * unit as f64;
            if !(1.0..1e18).contains(&value) {
                return None;
            }
            value as u64
        }
    };
    (value > 0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_refuse_nonsense() {
        for text in ["", "0", "-1", "k", "1x", "0.2", "NaN", "inf", "1e30", "99999999999999999999"]
        {
            let error = items(text).unwrap_err().to_string();
            assert!(error.contains("number of items"), "{text}: {error}");
        }
    }
}
