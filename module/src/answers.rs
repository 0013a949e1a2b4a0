//! Yes-or-no answers for the items of one command: for the usual single item without an allocation,
//! which would cost more than the filter itself.

/// One answer per item.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Answers {
    /// None yet.
    #[default]
    None,
    /// The answer for the only item.
    One(bool),
    /// The answers in the order of the items.
    Many(Vec<bool>),
}

impl Answers {
    /// The same answer for so many items.
    pub fn all(answer: bool, items: usize) -> Self {
        match items {
            0 => Answers::None,
            1 => Answers::One(answer),
            _ => Answers::Many(vec![answer; items]),
        }
    }

    /// Adds the answers for further items.
    pub fn extend(&mut self, more: &[bool]) {
        *self = match (std::mem::take(self), more) {
            (answers, []) => answers,
            (Answers::None, &[only]) => Answers::One(only),
            (Answers::None, _) => Answers::Many(more.to_vec()),
            (Answers::One(first), _) => Answers::Many([&[first], more].concat()),
            (Answers::Many(mut answers), _) => {
                answers.extend_from_slice(more);
                Answers::Many(answers)
            }
        };
    }

    /// The answers in the order of the items.
    pub fn as_slice(&self) -> &[bool] {
        match self {
            Answers::None => &[],
            Answers::One(answer) => std::slice::from_ref(answer),
            Answers::Many(answers) => answers,
        }
    }
}

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
