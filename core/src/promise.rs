//! What a structure keeps, and how often it errs: as numbers that the contracts test.

use core::fmt;

use crate::rate::write_percent;
use crate::window::{Slack, Window};

/// What a structure keeps: the contracts test every word of it.
///
/// A structure without false negatives keeps it whatever the stream. One that may forget
/// (`false_negatives > 0`) states the shares to expect in the long run on a stream whose keys are
/// fresh, or repeats at a distance evenly spread over the window; see
/// docs/duplicates.md.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Promise {
    /// A key seen this lately is in the window.
    pub window: Window,
    /// A key this much older than the window may still be reported as seen.
    pub slack: Slack,
    /// The share of unseen keys, and of keys older than window and slack, reported as seen, at the
    /// worst moment in the structure's life.
    pub false_positives: f64,
    /// The share of keys inside the window that are reported as new. Zero means never.
    pub false_negatives: f64,
}

impl Promise {
    /// Of a structure that forgets nothing inside its window.
    pub fn remembering(window: Window, slack: Slack, false_positives: f64) -> Self {
        Self { window, slack, false_positives, false_negatives: 0.0 }
    }

    /// The same for the last `window` items, reporting up to `slack` more.
    pub(crate) fn remembering_last(window: u64, slack: u64, false_positives: f64) -> Self {
        Self::remembering(Window::Last(window), Slack::Items(slack), false_positives)
    }
}

/// Both kinds of false answers, as shares over a long stream.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mistakes {
    /// Of the keys not in the window, those reported as seen.
    pub false_positives: f64,
    /// Of the keys in the window, those reported as new.
    pub false_negatives: f64,
}

impl Mistakes {
    /// Their sum: 0 for a perfect filter, 1 for one that answers by tossing a coin.
    pub fn total(&self) -> f64 {
        self.false_positives + self.false_negatives
    }

    /// Their mean, by weights that sum to 1.
    pub fn mean_of(weighted: impl IntoIterator<Item = (f64, Mistakes)>) -> Self {
        weighted.into_iter().fold(Self::default(), |mean, (weight, mistakes)| Self {
            false_positives: mean.false_positives + weight * mistakes.false_positives,
            false_negatives: mean.false_negatives + weight * mistakes.false_negatives,
        })
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.false_negatives == 0.0 && self.window == Window::Ever {
            f.write_str("forgets nothing")?;
        } else if self.false_negatives == 0.0 {
            write!(f, "never forgets {}", self.window)?;
        } else {
            write!(f, "remembers {}, forgetting ", self.window)?;
            write_percent(f, self.false_negatives)?;
            f.write_str(" of it")?;
        }
        match (self.window, self.slack) {
            (Window::Ever, _) => {}
            (_, Slack::Unlimited) => f.write_str("; may report older ones")?,
            (_, Slack::Items(0)) => f.write_str(", and nothing older")?,
            (_, slack) => write!(f, "; may report up to {slack} more")?,
        }
        f.write_str("; reports at most ")?;
        write_percent(f, self.false_positives)?;
        f.write_str(" of unseen keys as seen")
    }
}
