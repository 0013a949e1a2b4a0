//! Moves among the states of a chain.

use alloc::vec::Vec;

/// Chances to come from one state into another, by where they lead: laws follow them thousands of times.
#[derive(Debug, Clone)]
pub struct Moves {
    /// From where, and with which chance, for one state after another.
    into: Vec<(u32, f64)>,
    /// Where those of each state end.
    ends: Vec<u32>,
}

impl Moves {
    /// The moves among so many states: from, to, chance.
    pub fn new(states: usize, mut moves: Vec<(usize, usize, f64)>) -> Self {
        moves.retain(|&(.., chance)| chance != 0.0);
        moves.sort_by_key(|&(from, to, _)| (to, from));
        let into = moves.iter().map(|&(from, _, chance)| (from as u32, chance)).collect();
        let end = |state: usize| moves.partition_point(|&(_, to, _)| to <= state) as u32;
        Self { into, ends: (0..states).map(end).collect() }
    }

    /// The chances of each state after one move, written to `next`.
    pub(super) fn follow(&self, states: &[f64], next: &mut [f64]) {
        for (next, into) in next.iter_mut().zip(self.by_end()) {
            *next = into.iter().map(|&(from, chance)| states[from as usize] * chance).sum();
        }
    }

    /// For each state, from where one comes there and with which chance.
    pub(super) fn by_end(&self) -> impl Iterator<Item = &[(u32, f64)]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let into = &self.into[start as usize..end as usize];
            start = end;
            into
        })
    }

    /// The chances of each state after one move.
    pub(super) fn step(&self, states: &[f64]) -> Vec<f64> {
        let mut next = vec![0.0; states.len()];
        self.follow(states, &mut next);
        next
    }

    /// The one state that all moves lead to, if there is one.
    pub(super) fn only_end(&self) -> Option<usize> {
        let first = self.ends.iter().position(|&end| end > 0)?;
        (self.ends[first] as usize == self.into.len()).then_some(first)
    }
}
