//! A dump under way: `BF.SCANDUMP` hands out a filter in pieces, all of it as it was at the first piece.
//!
//! Insertions go on in between, and pieces of different moments do not fit together. So a filter that
//! takes more than one piece is written once, and what was written is kept beside it until the last piece
//! is fetched, another dump begins, or nobody has asked for a minute.

use lately::Time;

use crate::engine;
use crate::metrics;

/// The most bytes of one piece.
pub const PIECE_BYTES: usize = 16 << 20;

/// Milliseconds after which a dump that nobody asks for is given up.
const PATIENCE: u64 = 60_000;

/// What `BF.SCANDUMP` and `BF.LOADCHUNK` call an iterator: one number, below 2^53, which clients in any
/// language can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iterator {
    /// Which dump of the key it belongs to; 0 if that has one piece only.
    pub dump: u16,
    /// One more than the number of bytes up to the end of the piece; 0 before the first.
    pub position: u64,
}

const POSITION_BITS: u32 = 40;
const DUMP_BITS: u32 = 12;

impl Iterator {
    /// The iterator of a number.
    pub fn of(number: u64) -> Option<Self> {
        let dump = u16::try_from(number >> POSITION_BITS).ok()?;
        Some(Self { dump, position: number & ((1 << POSITION_BITS) - 1) })
    }

    /// The iterator after these bytes.
    pub fn after(dump: u16, end: usize) -> Self {
        Self { dump, position: end as u64 + 1 }
    }

    /// As a number.
    pub fn number(self) -> i64 {
        (i64::from(self.dump) << POSITION_BITS) | self.position as i64
    }
}

/// What is kept of a filter while it is handed out.
#[derive(Debug)]
pub struct Dump {
    number: u16,
    bytes: Vec<u8>,
    /// When somebody asked last.
    asked: Time,
}

impl Dump {
    /// Keeps these bytes. Any random number tells it from others of the same key.
    pub fn new(bytes: Vec<u8>, random: [u8; 2]) -> Self {
        metrics::BYTES.add(bytes.capacity() as u64);
        let number = 1 + u16::from_le_bytes(random) % ((1 << DUMP_BITS) - 1);
        Self { number, bytes, asked: engine::now() }
    }

    /// The number by which iterators know it.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The piece from a position on; empty at the end.
    pub fn piece(&mut self, start: usize) -> &[u8] {
        self.asked = engine::now();
        let start = start.min(self.bytes.len());
        &self.bytes[start..self.bytes.len().min(start + PIECE_BYTES)]
    }

    /// Whether nobody has asked for it for so long that nobody will.
    pub fn is_given_up(&self) -> bool {
        engine::now().millis().saturating_sub(self.asked.millis()) > PATIENCE
    }

    /// Bytes on the heap.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity()
    }
}

impl Drop for Dump {
    fn drop(&mut self) {
        metrics::BYTES.subtract(self.bytes.capacity() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterators_are_numbers() {
        for (dump, end) in [(0, 0), (0, 5), (1, 0), (4095, 1 << 39)] {
            let iterator = Iterator::after(dump, end);
            let number = iterator.number();
            assert!((1..1 << 53).contains(&number));
            assert_eq!(Iterator::of(number as u64), Some(iterator));
        }
        assert_eq!(Iterator::of(0), Some(Iterator { dump: 0, position: 0 }));
        assert_eq!(Iterator::of(u64::MAX), None);
    }
}
