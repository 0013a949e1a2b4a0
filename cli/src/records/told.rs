//! The moments that records tell, as far as they are believed.

use jiff::Timestamp;
use lately::Time;
use lately::raw::Lookout;

use super::{Aside, Recipe, Spelling};

/// Reads moments.
#[derive(Debug)]
pub(crate) struct Moments {
    spelling: Spelling,
    lookout: Lookout,
}

impl Moments {
    pub(crate) fn new(recipe: &Recipe) -> Self {
        Self { spelling: recipe.spelling.clone(), lookout: Lookout::new(recipe.horizon) }
    }

    /// The moment in a field, if the record has it; otherwise why it cannot be judged.
    pub(crate) fn read(&mut self, field: Option<&[u8]>) -> Result<Time, Aside> {
        let moment = field.and_then(|field| self.spelling.read(field));
        let moment = moment.ok_or(Aside::NoTime)?;
        match self.lookout.check(moment, || None) {
            Ok(()) => Ok(moment),
            Err(_) => Err(Aside::Ahead(moment)),
        }
    }
}

/// A moment as people read it.
pub(crate) fn text(moment: Time) -> String {
    let since_1970 = i64::try_from(moment.millis()).ok();
    let timestamp = since_1970.and_then(|millis| Timestamp::from_millisecond(millis).ok());
    match timestamp {
        Some(timestamp) => timestamp.to_string(),
        // No calendar reaches so far.
        None => format!("{} ms after 1970", moment.millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_in_words() {
        assert_eq!(text(Time::from_millis(4_102_444_800_000)), "2100-01-01T00:00:00Z");
        assert_eq!(text(Time::from_millis(1_500)), "1970-01-01T00:00:01.5Z");
        assert_eq!(text(Time::from_millis(u64::MAX)), "18446744073709551615 ms after 1970");
    }
}
