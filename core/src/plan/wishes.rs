//! What a goal asks of a structure, and what the structure says if it cannot do that.

use super::{Goal, Limit};
use crate::blueprint::Unfit;
use crate::memory::Memory;
use crate::rate::ErrorRate;
use crate::window::{Slack, Span, Window};

impl Goal {
    /// The length of a window by count.
    pub fn last(&self) -> Result<u64, Unfit> {
        match self.window {
            Window::Last(window) => Ok(window),
            _ => Err(Unfit("keeps windows by count only")),
        }
    }

    /// The length of a window by time.
    pub fn within(&self) -> Result<Span, Unfit> {
        match self.window {
            Window::Within(span) => Ok(span),
            _ => Err(Unfit("keeps windows by time only")),
        }
    }

    /// For those without a window.
    pub fn ever(&self) -> Result<(), Unfit> {
        unless(self.window != Window::Ever, "never forgets")
    }

    /// For those that say whether, and no more.
    pub fn neither_counts_nor_removes(&self) -> Result<(), Unfit> {
        unless(self.counting || self.removing, "neither counts nor removes")
    }

    /// For those that say whether, and may be told to forget.
    pub fn does_not_count(&self) -> Result<(), Unfit> {
        unless(self.counting, "does not count")
    }

    /// For those that say how often.
    pub fn counts(&self) -> Result<(), Unfit> {
        unless(!self.counting, "counts, which costs more than is asked")
    }

    /// For those whose memory follows from their error.
    pub fn rate(&self) -> Result<ErrorRate, Unfit> {
        match self.limit {
            Limit::Error(rate) => Ok(rate),
            Limit::Memory(_) => Err(Unfit("is planned by its error, not by memory")),
        }
    }

    /// For those whose errors follow from their memory.
    pub fn memory(&self) -> Result<Memory, Unfit> {
        match self.limit {
            Limit::Memory(memory) => Ok(memory),
            Limit::Error(_) => Err(Unfit("may forget: it can keep a memory, not an error")),
        }
    }

    /// For those whose window becomes shorter before they take more than a memory.
    pub fn shortening(&self) -> Result<Memory, Unfit> {
        self.shortening.ok_or(Unfit("shortens its window, which is not asked for"))
    }

    /// How many items older than a window by count may be reported; `None` if any number.
    pub fn slack_in_items(&self) -> Option<u64> {
        match self.slack {
            Slack::Items(slack) => Some(slack),
            Slack::Time(_) | Slack::Unlimited => None,
        }
    }

    /// By how much older than a window by time a key may be and still be reported; `None` if by any.
    pub fn slack_in_time(&self) -> Result<Option<Span>, Unfit> {
        match self.slack {
            Slack::Time(slack) => Ok(Some(slack)),
            Slack::Items(_) => Err(Unfit("measures its slack in time")),
            Slack::Unlimited => Ok(None),
        }
    }
}

fn unless(wanted: bool, why: &'static str) -> Result<(), Unfit> {
    if wanted { Err(Unfit(why)) } else { Ok(()) }
}
