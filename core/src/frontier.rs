//! Memory against speed: of many parameters that reach a goal, those that none beats in both.

use alloc::vec::Vec;

use crate::blueprint::Blueprint;

/// Parameters of one structure, none of which costs as much memory *and* touches as many cache lines
/// as another.
#[derive(Debug, Clone)]
pub struct Frontier<B> {
    /// Bytes, lines and parameters; bytes grow and lines fall.
    choices: Vec<(u64, f64, B)>,
    /// What is this many times as large as the smallest, or more, has no place.
    largest: f64,
}

impl<B: Blueprint> Frontier<B> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::up_to(f64::INFINITY)
    }

    /// Nothing yet, and nothing to come that is more than so many times as large as the smallest:
    /// for those who will [`pick`](Self::pick) with as much leanness, which makes the search short.
    pub fn up_to(largest: f64) -> Self {
        Self { choices: Vec::new(), largest }
    }

    /// Whether something of so many bytes and lines would be on the frontier.
    pub fn has_place_for(&self, bytes: u64, lines: f64) -> bool {
        let most = self.choices.first().map(|smallest| self.largest * smallest.0 as f64);
        most.is_none_or(|most| bytes as f64 <= most)
            && !self.choices.iter().any(|choice| choice.0 <= bytes && choice.1 <= lines)
    }

    /// Adds parameters, unless others beat them, and drops those that they beat.
    pub fn add(&mut self, choice: B) {
        let (bytes, lines) = (choice.heap_bytes(), choice.lines_touched());
        if self.has_place_for(bytes, lines) {
            self.choices.retain(|other| other.0 < bytes || other.1 < lines);
            let at = self.choices.partition_point(|other| other.0 < bytes);
            self.choices.insert(at, (bytes, lines, choice));
        }
    }

    /// The parameters, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = &B> {
        self.choices.iter().map(|(_, _, choice)| choice)
    }

    /// The parameters that touch the fewest lines in at most so many times the least memory; `None`
    /// if there are none at all.
    pub fn pick(self, leanness: f64) -> Option<B> {
        let affordable = leanness * self.choices.first()?.0 as f64;
        let lean = self.choices.into_iter().take_while(|choice| choice.0 as f64 <= affordable);
        lean.last().map(|(_, _, choice)| choice)
    }
}

impl<B: Blueprint> Default for Frontier<B> {
    fn default() -> Self {
        Self::new()
    }
}
