//! Texts of 16 to 40 bytes: identifiers, as people write them.

use testkit::random::SplitMix64;

/// Texts, one after the other in memory, as a program has them that reads a stream.
pub struct Texts {
    text: String,
    ends: Vec<usize>,
}

/// Which texts; those of different parts have none in common.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// Texts that are inserted, by their number.
    Stream,
    /// Texts that never are.
    Absent,
    /// Others that never are, to have memory in the caches again.
    WarmUp,
}

const SHORTEST: u64 = 16;
const LONGEST: u64 = 40;

impl Texts {
    /// The texts with these numbers.
    pub fn of(part: Part, numbers: impl Iterator<Item = u64>) -> Self {
        let mut texts = Self { text: String::new(), ends: Vec::new() };
        for number in numbers {
            let mut random = SplitMix64::new(number << 2 | part as u64);
            let length = SHORTEST + random.below(LONGEST - SHORTEST + 1);
            let mut letters = 0;
            for place in 0..length {
                if place % 8 == 0 {
                    letters = random.next_u64();
                }
                texts.text.push(char::from(LETTERS[(letters >> (8 * (place % 8))) as usize % 64]));
            }
            texts.ends.push(texts.text.len());
        }
        texts
    }

    /// All of them.
    pub fn all(&self) -> Vec<&str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end]).collect()
    }
}

static LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn texts_have_all_lengths_and_no_two_are_equal() {
        let parts = [Part::Stream, Part::Absent, Part::WarmUp].map(|part| Texts::of(part, 0..2000));
        let all: Vec<&str> = parts.iter().flat_map(Texts::all).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 6000);
        let lengths: HashSet<usize> = all.iter().map(|text| text.len()).collect();
        assert_eq!(lengths, (16..=40).collect());
    }
}
