//! Yes-or-no answers for the items of one command: for the usual single item without an allocation,
//! which would cost more than the filter itself, and told by the variant alone, which fits a register.

/// One answer per item.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Answers {
    /// None yet.
    #[default]
    None,
    /// No, for the only item.
    No,
    /// Yes, for the only item.
    Yes,
    /// The answers in the order of the items.
    Many(Vec<bool>),
}

impl From<bool> for Answers {
    fn from(only: bool) -> Self {
        if only { Answers::Yes } else { Answers::No }
    }
}

impl Answers {
    /// The same answer for so many items.
    pub fn all(answer: bool, items: usize) -> Self {
        match items {
            0 => Answers::None,
            1 => answer.into(),
            _ => Answers::Many(vec![answer; items]),
        }
    }

    /// Lets `work` answer for hashes, some at a time, so that they need no list on the heap.
    pub fn in_batches(
        mut hashes: impl Iterator<Item = u64>,
        mut work: impl FnMut(&[u64], &mut [bool]),
    ) -> Self {
        let mut batch = [0; BATCH];
        let mut answers = Self::default();
        loop {
            let mut count = 0;
            for (place, hash) in batch.iter_mut().zip(&mut hashes) {
                *place = hash;
                count += 1;
            }
            if count == 0 {
                return answers;
            }
            let mut some = [false; BATCH];
            work(&batch[..count], &mut some[..count]);
            answers.extend(&some[..count]);
        }
    }

    /// Adds the answers for further items.
    pub fn extend(&mut self, more: &[bool]) {
        match (&mut *self, more) {
            (_, []) => {}
            (Answers::None, &[only]) => *self = only.into(),
            (Answers::Many(answers), _) => answers.extend_from_slice(more),
            _ => *self = Answers::Many([self.as_slice(), more].concat()),
        }
    }

    /// The answer for the only item.
    pub fn only(&self) -> Option<bool> {
        matches!(self, Answers::No | Answers::Yes).then(|| matches!(self, Answers::Yes))
    }

    /// The answers in the order of the items.
    pub fn as_slice(&self) -> &[bool] {
        match self {
            Answers::None => &[],
            Answers::No => &[false],
            Answers::Yes => &[true],
            Answers::Many(answers) => answers,
        }
    }
}

/// Hashes at a time: enough that the library can fetch memory ahead.
const BATCH: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stay_in_order() {
        let mut answers = Answers::default();
        let mut expected = Vec::new();
        for more in [&[][..], &[true], &[], &[false, true], &[false]] {
            answers.extend(more);
            expected.extend_from_slice(more);
            assert_eq!(answers.as_slice(), expected);
        }
        assert_eq!(Answers::all(true, 1).as_slice(), [true]);
        assert_eq!(Answers::all(false, 3).as_slice(), [false; 3]);
    }
}
