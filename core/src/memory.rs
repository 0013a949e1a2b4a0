//! A memory budget, as people write it.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::error::Error;
use crate::quantity;

/// How much memory a structure may use.
///
/// ```
/// use lately::Memory;
///
/// let budget: Memory = "8MiB".parse()?;
/// assert_eq!(budget, Memory::from_bytes(8 << 20));
/// assert_eq!(budget.bits(), 64 << 20);
/// assert_eq!("12500B".parse::<Memory>()?.bits(), 100_000);
/// assert_eq!("64 kB".parse::<Memory>()?.bytes(), 64_000);
/// # Ok::<(), lately::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memory {
    bytes: u64,
}

impl Memory {
    /// A budget in bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self { bytes }
    }

    /// The budget in whole bytes.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// The budget in bits; at most `u64::MAX`.
    pub const fn bits(self) -> u64 {
        self.bytes.saturating_mul(8)
    }
}

/// Whether the machine would give so many bytes at this moment.
///
/// Reserving and giving back costs nothing: pages are only touched when written.
pub(crate) fn ask_for(bytes: u64) -> Result<(), Error> {
    let reserved =
        usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if reserved { Ok(()) } else { Err(Error::OutOfMemory { bytes }) }
}

/// Suffixes in lower case, longest first where one ends another.
const UNITS: [(&str, u64); 12] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("b", 1),
];

impl FromStr for Memory {
    type Err = Error;

    /// Reads `12500`, `12500B`, `64kB`, `8MiB`, `1.5G`. A bare `k`, `M` or `G` is binary, as in
    /// most tools that size memory.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refusal = || Error::Parameter {
            name: "memory",
            found: text.to_owned(),
            expected: "a size of at least one byte, such as 12500B, 64kB or 8MiB",
        };
        let lower = text.trim().to_ascii_lowercase();
        quantity::parse(&lower, &UNITS)
            .or_else(|| quantity::parse_number(&lower, 1))
            .map(Self::from_bytes)
            .ok_or_else(refusal)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes as f64;
        match self.bytes {
            0..1024 => write!(f, "{}B", self.bytes),
            1024..0x10_0000 => write!(f, "{:.1}KiB", bytes / 1024.0),
            0x10_0000..0x4000_0000 => write!(f, "{:.1}MiB", bytes / 1_048_576.0),
            0x4000_0000..0x100_0000_0000 => write!(f, "{:.1}GiB", bytes / 1_073_741_824.0),
            _ => write!(f, "{:.1}TiB", bytes / 1_099_511_627_776.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_forms_people_write() {
        for (text, bytes) in [
            ("1", 1),
            ("100k", 102_400),
            ("100 KB", 100_000),
            ("1.5G", 3 << 29),
            ("2TiB", 2 << 40),
            (" 7b ", 7),
        ] {
            assert_eq!(text.parse::<Memory>().unwrap().bytes(), bytes, "{text}");
        }
    }

    #[test]
    fn refuses_nonsense() {
        for text in
            ["", "0", "0MiB", "-1", "MiB", "1e99", "99999999999999999999", "20000000TB", "x"]
        {
            assert!(text.parse::<Memory>().is_err(), "{text}");
        }
    }
}
