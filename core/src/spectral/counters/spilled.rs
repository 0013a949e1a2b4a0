//! Counters that have no room in their word: a list that grows without moving what it holds.
//!
//! A plain vector would now and then move everything at once, and whoever added the counter that was
//! too many would wait for it. Here only the last of several *pages* grows, until it is full.

use alloc::vec::Vec;

/// Counters of spilled words, side by side for each word.
#[derive(Debug, Clone, Default)]
pub struct Spilled {
    pages: Vec<Vec<u64>>,
    words: usize,
}

/// Counters in a page.
const PAGE: usize = 1 << 12;

/// Pages that are freed together.
const PAGES_AT_ONCE: usize = 4;

impl Spilled {
    /// How many words have spilled.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Adds the counters of a word, and gives the place of the first.
    pub fn push(&mut self, counters: &[u64]) -> usize {
        if self.pages.last().is_none_or(|page| page.len() + counters.len() > PAGE) {
            if self.pages.len() == self.pages.capacity() {
                self.pages.reserve_exact(1 + self.pages.len() / 8);
            }
            self.pages.push(Vec::new());
        }
        let number = self.pages.len() - 1;
        let page = &mut self.pages[number];
        if page.len() + counters.len() > page.capacity() {
            // An eighth more than needed: memory stays close to what it holds.
            let more = counters.len() * (1 + page.len() / counters.len() / 8);
            page.reserve_exact(more.min(PAGE - page.len()));
        }
        let place = number * PAGE + page.len();
        page.extend_from_slice(counters);
        self.words += 1;
        place
    }

    /// A counter.
    #[inline]
    pub fn get(&self, place: usize) -> u64 {
        self.pages[place / PAGE][place % PAGE]
    }

    /// Replaces a counter.
    #[inline]
    pub fn set(&mut self, place: usize, value: u64) {
        self.pages[place / PAGE][place % PAGE] = value;
    }

    /// Frees a few pages, when nobody needs their counters any more, and says whether there were any.
    pub fn let_some_go(&mut self) -> bool {
        let left = self.pages.len().saturating_sub(PAGES_AT_ONCE);
        self.pages.drain(left..).count() > 0
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> u64 {
        // All pages but the last are full, or nearly.
        let last = self.pages.last().map_or(0, Vec::capacity);
        let full = self.pages.len().saturating_sub(1) * self.pages.first().map_or(0, Vec::capacity);
        (8 * (full + last) + size_of::<Vec<u64>>() * self.pages.capacity()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing moves: places stay good, whatever comes, and bytes are what the pages have.
    #[test]
    fn places_stay_good() {
        for lanes in [1, 3, 8, 10] {
            let mut spilled = Spilled::default();
            let mut places = Vec::new();
            for word in 0..3_000_u64 {
                places.push(spilled.push(&vec![word; lanes]));
            }
            assert_eq!(spilled.words(), 3_000);
            for (word, &place) in (0..).zip(&places) {
                assert!((place..place + lanes).all(|place| spilled.get(place) == word));
            }
            spilled.set(places[7] + lanes - 1, 99);
            assert_eq!(spilled.get(places[7] + lanes - 1), 99);
            let pages: usize = spilled.pages.iter().map(|page| 8 * page.capacity()).sum();
            let index = size_of::<Vec<u64>>() * spilled.pages.capacity();
            assert_eq!(spilled.heap_bytes(), (pages + index) as u64);
            while spilled.let_some_go() {}
            assert!(spilled.pages.is_empty());
        }
    }
}
