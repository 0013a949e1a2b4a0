//! Which moments are believed: one wrong moment must not spoil a window.
//!
//! A window by time moves on to the latest moment that it is told. Told once that it is the year
//! 2100, by a clock that is wrong or by microseconds taken for milliseconds, it would forget all it
//! holds, take everything after for late, and never forget again. So a moment is believed only up
//! to a limit ahead:
//!
//! - of the clock on the wall, where there is one. Then the window's clock is never further ahead
//!   than the limit, however many moments are wrong. Gaps do not matter, and neither does how far in
//!   the past a stream begins.
//! - of the latest moment seen, where there is no clock, as in a simulation. The very first moment
//!   is believed, and a gap that is longer than the limit is not.
//!
//! What is not believed is refused, and changes nothing.
//!
//! ```
//! use lately::{Window, Time, Span};
//! use lately::raw::Horizon;
//!
//! let horizon = Horizon::of(Window::Within("10m".parse()?), None);
//! assert_eq!(horizon.limit(), "1h".parse()?);
//! let noon = Time::from_millis(1_700_000_000_000);
//! assert!(horizon.check(noon.after("50m".parse()?), None, Some(noon)).is_ok());
//! assert!(horizon.check(Time::from_millis(1_700_000_000_000_000), None, Some(noon)).is_err());
//! # Ok::<(), lately::Error>(())
//! ```

use alloc::sync::Arc;

use crate::clock::{Clock, SystemClock};
use crate::error::Error;
use crate::window::{Span, Time, Window};

/// How far ahead a moment is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Horizon(Span);

impl Horizon {
    /// Believes every moment.
    pub const ENDLESS: Horizon = Horizon(Span::LONGEST);

    /// Clocks of machines that work together may differ by so much, however short the window is.
    const LEAST: Span = Span::from_millis(3_600_000);

    /// Believes moments up to so far ahead.
    pub const fn new(limit: Span) -> Self {
        Self(limit)
    }

    /// What a window by time believes: moments up to `max_ahead`, or, if that is not said, as far
    /// ahead as it reaches back, or an hour if that is more. Others believe everything.
    pub fn of(window: Window, max_ahead: Option<Span>) -> Self {
        match window {
            Window::Within(span) => Self(max_ahead.unwrap_or(span.max(Self::LEAST))),
            Window::Last(_) | Window::Ever => Self::ENDLESS,
        }
    }

    /// How far ahead a moment is believed.
    pub const fn limit(self) -> Span {
        self.0
    }

    /// The last moment that is believed, given the latest seen and the clock on the wall; none if
    /// nothing was seen and there is no clock.
    pub fn end(self, latest: Option<Time>, wall: Option<Time>) -> Option<Time> {
        Some(wall.or(latest)?.after(self.0))
    }

    /// Refuses a moment that is not believed.
    pub fn check(
        self,
        moment: Time,
        latest: Option<Time>,
        wall: Option<Time>,
    ) -> Result<(), Error> {
        match wall.or(latest) {
            Some(now) if moment > now.after(self.0) => Err(Error::TooFarAhead {
                moment,
                ahead: moment.since(now),
                of: if wall.is_some() { "the clock" } else { "the latest moment seen" },
                limit: self.0,
            }),
            _ => Ok(()),
        }
    }
}

/// A [`Horizon`] that looks at a clock only when a moment lies beyond what it saw last: one
/// comparison for all others.
#[derive(Debug, Clone)]
pub struct Lookout {
    horizon: Horizon,
    clock: Arc<dyn Clock>,
    /// Up to here moments are believed without another look.
    until: Time,
}

impl Lookout {
    /// One that looks at the clock of the machine.
    pub fn new(horizon: Horizon) -> Self {
        Self::with_clock(horizon, Arc::new(SystemClock))
    }

    /// One that looks at this clock.
    pub fn with_clock(horizon: Horizon, clock: Arc<dyn Clock>) -> Self {
        // No clock and no moment is before the epoch.
        Self { horizon, clock, until: Time::ZERO.after(horizon.limit()) }
    }

    /// Refuses a moment that is not believed; `latest` says the latest moment seen.
    #[inline]
    pub fn check(
        &mut self,
        moment: Time,
        latest: impl FnOnce() -> Option<Time>,
    ) -> Result<(), Error> {
        if moment <= self.until { Ok(()) } else { self.look(moment, latest()) }
    }

    /// Forgets how far it saw: for when the latest moment seen was set back.
    pub fn forget(&mut self) {
        self.until = Time::ZERO.after(self.horizon.limit());
    }

    #[cold]
    fn look(&mut self, moment: Time, latest: Option<Time>) -> Result<(), Error> {
        let wall = self.clock.now();
        self.horizon.check(moment, latest, wall)?;
        if let Some(end) = self.horizon.end(latest, wall) {
            self.until = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::NoClock;

    const HOUR: Span = Horizon::LEAST;
    const NOW: Time = Time::from_millis(1_700_000_000_000);

    #[test]
    fn as_far_as_the_window_and_an_hour_at_least() {
        let day = Span::from_millis(24 * HOUR.millis());
        let short = Span::from_millis(1);
        assert_eq!(Horizon::of(Window::Within(day), None).limit(), day);
        assert_eq!(Horizon::of(Window::Within(short), None).limit(), HOUR);
        assert_eq!(Horizon::of(Window::Within(day), Some(short)).limit(), short);
        for window in [Window::Last(5), Window::Ever] {
            let end = Horizon::of(window, Some(short)).end(Some(Time::ZERO), Some(NOW));
            assert_eq!(end, Some(Time::from_millis(u64::MAX)));
        }
    }

    #[test]
    fn the_clock_counts_and_without_one_the_latest_moment() {
        let horizon = Horizon::new(HOUR);
        let (night, early) = (Time::from_millis(NOW.millis() - 20 * HOUR.millis()), Time::ZERO);
        let (last, beyond) = (NOW.after(HOUR), NOW.after(HOUR).after(Span::from_millis(1)));
        let far = Time::from_millis(u64::MAX);
        // Moment, latest seen, clock, believed.
        let cases = [
            (early, None, Some(NOW), true),
            (NOW, Some(night), Some(NOW), true),
            (last, Some(night), Some(NOW), true),
            (beyond, Some(night), Some(NOW), false),
            // A latest moment that is ahead itself is no reason to go on from there.
            (beyond, Some(last), Some(NOW), false),
            (far, Some(far), Some(NOW), false),
            (far, None, Some(NOW), false),
            (far, None, None, true),
            (NOW, Some(night), None, false),
            (last, Some(NOW), None, true),
            (beyond, Some(NOW), None, false),
            (early, Some(NOW), None, true),
            (far, Some(far), None, true),
        ];
        for (moment, latest, wall, believed) in cases {
            let found = horizon.check(moment, latest, wall).is_ok();
            assert_eq!(found, believed, "{moment:?} {latest:?} {wall:?}");
            let end = horizon.end(latest, wall);
            assert_eq!(end.is_none_or(|end| moment <= end), believed);
        }
    }

    /// Says the time, and how often it was asked.
    #[derive(Debug, Default)]
    struct CountingClock {
        asked: std::sync::atomic::AtomicU64,
    }

    impl Clock for CountingClock {
        fn now(&self) -> Option<Time> {
            let asked = self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Some(NOW.after(Span::from_millis(asked)))
        }
    }

    #[test]
    fn a_lookout_looks_seldom_and_answers_like_its_horizon() {
        let clock = Arc::new(CountingClock::default());
        let mut lookout = Lookout::with_clock(Horizon::new(HOUR), clock.clone());
        for step in 0..10_000 {
            let moment = NOW.after(Span::from_millis(step % 3_000));
            assert!(lookout.check(moment, || None).is_ok());
        }
        assert_eq!(clock.asked.load(std::sync::atomic::Ordering::Relaxed), 1);
        assert!(lookout.check(Time::from_millis(u64::MAX), || None).is_err());

        let mut blind = Lookout::with_clock(Horizon::new(HOUR), Arc::new(NoClock));
        let (far, back) = (Time::from_millis(u64::MAX - 1), Time::from_millis(5));
        for moment in [far, back, far] {
            assert!(blind.check(moment, || Some(far)).is_ok());
        }
        blind.forget();
        assert!(blind.check(far, || Some(back)).is_err());
        assert!(blind.check(far, || None).is_ok(), "the first");
        assert!(blind.check(far, || Some(back)).is_err(), "and nothing is concluded from it");
    }

    #[test]
    fn what_is_refused_is_told_with_what_to_do() {
        let refused =
            Horizon::new(HOUR).check(Time::from_millis(4_102_444_800_000), None, Some(NOW));
        assert_eq!(
            refused.unwrap_err().to_string(),
            "the moment 4102444800000 is 3972w ahead of the clock, and at most 60m are believed; \
             nothing was changed; correct it (moments are milliseconds), or allow more (max_ahead)"
        );
    }
}
