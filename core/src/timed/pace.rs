//! Two clocks: that of the world, and one that is ahead of it wherever memory was short.
//!
//! The segments of a [window that shortens](super::shortening) have a clock of their own. It goes as fast as that of
//! the world, but for *leaps*: when there is no room for more, it leaps to where the next generation ends, and what is
//! too old then can go. Between leaps both go on alike, so the leaps tell for every moment of one clock which one of the other it
//! was.
//!
//! Worked example: a window of 7 s. From second 100 on ten times as many keys come as there is room for, and every tenth of a
//! second the inner clock leaps by nine. In second 101 of the world it is at 110, and everything since 103 is
//! there: what was seen in the last 0.7 s. From then on few keys come, and there are no leaps. In second 105
//! it is at 114, everything since 107 is there, and that was seen in the last 4.3 s.
//!
//! Leaps are forgotten when all that was seen before has left. Those that are next to each other become one where
//! that is less than a 28th of the span: what was seen between them counts as seen before both. So there are few, and
//! what is told of the window is a little less than the truth, never more.

use alloc::collections::VecDeque;

use crate::codec::{Reader, Writer};
use crate::error::Error;

/// Of a span, what one leap is at most that is made of several.
const GRAINS: u64 = 28;

/// Leaps that are known at most: of two in a row, one becomes of both what is less than a grain, and all are of the
/// last two spans.
pub(super) const MOST: usize = 64;

/// Bytes of them.
pub(super) const MOST_BYTES: u64 = (MOST * size_of::<Leap>()) as u64;

/// In these moments of the world, the inner clock went from here to there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Leap {
    first: u64,
    last: u64,
    from: u64,
    to: u64,
}

impl Leap {
    /// What the inner clock was ahead before.
    fn ahead_before(&self) -> u64 {
        self.from - self.first
    }

    /// What it was ahead afterwards.
    fn ahead_after(&self) -> u64 {
        self.to - self.last
    }
}

/// Both clocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pace {
    /// How long keys live at the longest, by the inner clock.
    longest: u64,
    /// Leaps that are no longer together are one.
    grain: u64,
    /// The latest moment that was told, if any.
    clock: Option<u64>,
    /// What the inner clock is ahead.
    ahead: u64,
    /// The oldest first.
    leaps: VecDeque<Leap>,
}

impl Pace {
    pub(super) fn new(span: u64, longest: u64) -> Self {
        let leaps = VecDeque::with_capacity(MOST);
        Self { longest, grain: span / GRAINS, clock: None, ahead: 0, leaps }
    }

    /// The latest moment that was told, if any.
    pub(super) fn clock(&self) -> Option<u64> {
        self.clock
    }

    pub(super) fn heap_bytes(&self) -> u64 {
        (self.leaps.capacity() * size_of::<Leap>()) as u64
    }

    /// The latest of a moment and the clock.
    #[inline(always)]
    pub(super) fn latest(&self, now: u64) -> u64 {
        self.clock.unwrap_or(0).max(now)
    }

    /// What the inner clock says at a moment, or at the latest there was.
    #[inline(always)]
    pub(super) fn inner(&self, now: u64) -> u64 {
        self.latest(now).saturating_add(self.ahead)
    }

    /// Takes notice of the time, and says what the inner clock says. Both end when the inner one does.
    #[inline(always)]
    pub(super) fn advance(&mut self, now: u64) -> u64 {
        let now = self.latest(now).min(u64::MAX - self.ahead);
        self.clock = Some(now);
        now + self.ahead
    }

    /// The inner clock leaps, and leaps before which everything has left are forgotten.
    pub(super) fn leap(&mut self, to: u64) {
        let now = self.clock.unwrap_or(0);
        let from = now + self.ahead;
        let left = |leap: &Leap| to - leap.to > self.longest;
        while self.leaps.front().is_some_and(left) {
            self.leaps.pop_front();
        }
        let full = self.leaps.len() == MOST;
        match self.leaps.back_mut() {
            Some(last) if full || to - last.from <= self.grain => (last.last, last.to) = (now, to),
            _ => self.leaps.push_back(Leap { first: now, last: now, from, to }),
        }
        self.ahead = to - now;
    }

    /// The clock is set back, and with it the inner one, to what this says: what came later counts as if it had come then.
    pub(super) fn set_back(&mut self, now: u64) -> u64 {
        while let Some(leap) = self.leaps.back().filter(|leap| leap.first > now) {
            self.ahead = leap.ahead_before();
            self.leaps.pop_back();
        }
        if let Some(leap) = self.leaps.back_mut().filter(|leap| leap.last >= now) {
            leap.last = now;
            self.ahead = leap.ahead_after();
        }
        self.clock = Some(now);
        now + self.ahead
    }

    /// The first moment from which on all keys came when the inner clock said this, or later.
    pub(super) fn first_since(&self, inner: u64) -> u64 {
        let mut ahead = self.ahead;
        for leap in self.leaps.iter().rev() {
            if inner > leap.from {
                return inner.saturating_sub(ahead).max(leap.last.saturating_add(1));
            }
            ahead = leap.ahead_before();
        }
        inner.saturating_sub(ahead)
    }

    /// The first moment at which the inner clock may have said this.
    pub(super) fn first_at(&self, inner: u64) -> u64 {
        let mut ahead = self.ahead;
        for leap in self.leaps.iter().rev() {
            if inner > leap.to {
                break;
            }
            if inner > leap.from {
                return leap.first;
            }
            ahead = leap.ahead_before();
        }
        inner.saturating_sub(ahead)
    }

    /// The last moment at which it may have said this.
    pub(super) fn last_at(&self, inner: u64) -> u64 {
        let mut ahead = self.ahead;
        for leap in self.leaps.iter().rev() {
            if inner >= leap.to {
                break;
            }
            if inner >= leap.from {
                return leap.last;
            }
            ahead = leap.ahead_before();
        }
        inner.saturating_sub(ahead)
    }

    /// Writes everything but the inner clock.
    pub(super) fn write(&self, out: &mut Writer) {
        out.u64(self.clock.unwrap_or(0));
        out.u8(self.leaps.len() as u8);
        for leap in &self.leaps {
            [leap.first, leap.last, leap.from, leap.to]
                .into_iter()
                .for_each(|moment| out.u64(moment));
        }
    }

    /// Reads what [`write`](Self::write) wrote, beside an inner clock that says this.
    pub(super) fn read(
        mut self,
        inner: Option<u64>,
        payload: &mut Reader<'_>,
    ) -> Result<Self, Error> {
        let refuse = |field, found, expected| Err(Error::Field { field, found, expected });
        let clock = payload.u64("clock of the world")?;
        let Some(ahead) = inner.unwrap_or(0).checked_sub(clock) else {
            return refuse("clock of the world", clock, "not ahead of the inner one");
        };
        let count = payload.u8("leaps")?;
        if usize::from(count) > MOST {
            return refuse("leaps", count.into(), "at most 64");
        }
        for _ in 0..count {
            let [first, last, from, to] = [(); 4].map(|()| payload.u64("leap"));
            let leap = Leap { first: first?, last: last?, from: from?, to: to? };
            let goes_on = match self.leaps.back() {
                Some(before) => {
                    before.last <= leap.first
                        && leap.from.checked_sub(leap.first) == Some(before.ahead_after())
                }
                None => leap.first <= leap.from,
            };
            // Its moments are of the world's clock, and lead to what the inner one is ahead now.
            let fits = leap.first <= leap.last && leap.last <= clock;
            let leaps = leap.to.checked_sub(leap.last) >= leap.from.checked_sub(leap.first);
            if !goes_on || !fits || !leaps {
                return refuse("leap", leap.first, "after the leap before, and ahead");
            }
            self.leaps.push_back(leap);
        }
        let known = self.leaps.back().map_or(ahead, Leap::ahead_after);
        if known != ahead || inner.is_none() && clock + u64::from(count) > 0 {
            return refuse("clock of the world", clock, "as far behind as the leaps say");
        }
        (self.clock, self.ahead) = (inner.map(|_| clock), ahead);
        Ok(self)
    }
}
