//! Endless sequences of times in milliseconds, to zip with keys.
//!
//! A clock says when each item comes. All but [`frozen_time`] begin at 0; [`starting_at`] moves them to
//! where real clocks are.
//!
//! ```
//! use testkit::streams::{clocks, distinct};
//!
//! let mut items = distinct(7).zip(clocks::steady(2));
//! assert_eq!(items.nth(4).unwrap().1, 2000); // two a second: the fifth comes after two seconds
//! ```

use crate::random::{SplitMix64, derive};

/// The same number of items every second.
///
/// # Panics
///
/// If `per_second` is 0.
pub fn steady(per_second: u64) -> impl Iterator<Item = u64> + Clone + Send {
    assert!(per_second > 0, "no items in any second");
    (0_u64..).map(move |step| (u128::from(step) * 1000 / u128::from(per_second)) as u64)
}

/// A low rate for one period, a high rate for the next, and again, without transition.
///
/// # Panics
///
/// If a rate is above 10^9 a second or so low that a period stays empty.
pub fn rate_swings(
    low_per_second: u64,
    high_per_second: u64,
    period_ms: u64,
) -> impl Iterator<Item = u64> + Clone + Send {
    for rate in [low_per_second, high_per_second] {
        assert!(rate <= NANOS_PER_SECOND, "too many items in a second: {rate}");
        assert!(
            rate.saturating_mul(period_ms) >= 1000,
            "no item in a period of {period_ms} ms at {rate} per second"
        );
    }
    let mut nanos = 0;
    std::iter::repeat_with(move || {
        let now_ms = nanos / NANOS_PER_MILLISECOND;
        let is_low = (now_ms / period_ms).is_multiple_of(2);
        nanos += NANOS_PER_SECOND / if is_low { low_per_second } else { high_per_second };
        now_ms
    })
}

/// A steady rate, interrupted after every `busy_ms` by the next of `gaps_ms`, in turn.
///
/// # Panics
///
/// If `per_second` or `busy_ms` is 0, or there are no gaps.
pub fn idle_gaps(
    per_second: u64,
    busy_ms: u64,
    gaps_ms: &[u64],
) -> impl Iterator<Item = u64> + Clone + Send + use<> {
    assert!(busy_ms > 0, "nothing between the gaps");
    assert!(!gaps_ms.is_empty(), "at least one gap");
    let gaps_ms = gaps_ms.to_vec();
    let (mut taken, mut idle_ms) = (0, 0);
    steady(per_second).map(move |active_ms| {
        while taken < active_ms / busy_ms {
            idle_ms += gaps_ms[(taken % gaps_ms.len() as u64) as usize];
            taken += 1;
        }
        active_ms + idle_ms
    })
}

/// `size` items in one millisecond, then none for `gap_ms`, and again.
///
/// # Panics
///
/// If `size` is 0.
pub fn same_millisecond_bursts(size: u64, gap_ms: u64) -> impl Iterator<Item = u64> + Clone + Send {
    assert!(size > 0, "a burst has at least one item");
    (0_u64..).map(move |step| step / size * gap_ms)
}

/// The times of `clock`, each moved into the past by up to `back_ms`, evenly, but not below 0.
///
/// A little is jitter between machines; more than the window is a clock that was set.
pub fn time_going_back<C>(
    clock: C,
    back_ms: u64,
    seed: u64,
) -> impl Iterator<Item = u64> + Clone + Send
where
    C: Iterator<Item = u64> + Clone + Send,
{
    let mut random = SplitMix64::new(derive(seed, "going back"));
    clock.map(move |now_ms| now_ms.saturating_sub(random.below(back_ms.saturating_add(1))))
}

/// The times of `clock`, but every so often one that is wrong: ahead by at least a day, at most by
/// all time, as when microseconds are taken for milliseconds or a machine believes in another
/// century.
///
/// # Panics
///
/// If `every` is 0.
pub fn wild_moments<C>(clock: C, every: u64, seed: u64) -> impl Iterator<Item = u64> + Clone + Send
where
    C: Iterator<Item = u64> + Clone + Send,
{
    assert!(every > 0, "at least one of so many is wrong");
    let mut random = SplitMix64::new(derive(seed, "wild moments"));
    clock.zip(1_u64..).map(move |(now_ms, step)| {
        if !step.is_multiple_of(every) {
            return now_ms;
        }
        match random.below(3) {
            0 => now_ms.max(DAY_MS).saturating_mul(1000),
            1 => now_ms.saturating_add(DAY_MS << random.below(36)),
            _ => u64::MAX,
        }
    })
}

/// A clock that stands still.
pub fn frozen_time(now_ms: u64) -> impl Iterator<Item = u64> + Clone + Send {
    std::iter::repeat(now_ms)
}

/// The times of `clock`, counted from `start_ms`.
pub fn starting_at<C>(start_ms: u64, clock: C) -> impl Iterator<Item = u64> + Clone + Send
where
    C: Iterator<Item = u64> + Clone + Send,
{
    clock.map(move |now_ms| start_ms + now_ms)
}

const DAY_MS: u64 = 86_400_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
const NANOS_PER_MILLISECOND: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn count_between(clock: impl Iterator<Item = u64>, from_ms: u64, to_ms: u64) -> usize {
        clock.skip_while(|&now_ms| now_ms < from_ms).take_while(|&now_ms| now_ms < to_ms).count()
    }

    #[test]
    fn steady_keeps_its_rate() {
        for rate in [1, 3, 1000, 7777] {
            assert_eq!(count_between(steady(rate), 0, 1000), rate as usize);
            assert_eq!(count_between(steady(rate), 5000, 7000), 2 * rate as usize);
        }
    }

    #[test]
    fn swings_change_the_rate_by_their_factor() {
        let clock = rate_swings(10, 10_000, 1000);
        for low in [0, 2000, 4000] {
            assert_eq!(count_between(clock.clone(), low, low + 1000), 10);
            assert_eq!(count_between(clock.clone(), low + 1000, low + 2000), 10_000);
        }
    }

    #[test]
    fn gaps_come_in_turn() {
        let times: Vec<u64> = idle_gaps(1000, 2, &[10, 100]).take(7).collect();
        assert_eq!(times, [0, 1, 12, 13, 114, 115, 126]);
    }

    #[test]
    fn slow_clocks_take_all_gaps_they_skip() {
        let times: Vec<u64> = idle_gaps(1, 500, &[1, 10]).take(3).collect();
        assert_eq!(times, [0, 1011, 2022]);
    }

    #[test]
    fn bursts_share_a_millisecond() {
        let times: Vec<u64> = same_millisecond_bursts(3, 50).take(7).collect();
        assert_eq!(times, [0, 0, 0, 50, 50, 50, 100]);
    }

    #[test]
    fn going_back_goes_back_but_not_too_far() {
        let straight = steady(1000).take(10_000);
        let times: Vec<u64> = time_going_back(straight.clone(), 20, 1).collect();
        assert!(times.windows(2).filter(|pair| pair[1] < pair[0]).count() > 1000);
        let lags: Vec<u64> = straight.zip(&times).map(|(right, now)| right - now).collect();
        assert_eq!((lags.iter().min(), lags.iter().max()), (Some(&0), Some(&20)));
    }

    #[test]
    fn wild_moments_are_a_day_ahead_at_least_and_all_others_are_right() {
        let straight = starting_at(1_700_000_000_000, steady(1000)).take(10_000);
        let (mut wrong, mut farthest) = (0, 0);
        for (step, (right, told)) in (1..).zip(straight.clone().zip(wild_moments(straight, 7, 1))) {
            if step % 7 == 0 {
                assert!(told - right >= DAY_MS);
                wrong += 1;
                farthest = farthest.max(told);
            } else {
                assert_eq!(told, right);
            }
        }
        assert_eq!((wrong, farthest), (10_000 / 7, u64::MAX));
    }

    #[test]
    fn frozen_time_stands_and_starts_shift() {
        assert!(frozen_time(5).take(100).all(|now_ms| now_ms == 5));
        let times: Vec<u64> = starting_at(100, steady(1000)).take(3).collect();
        assert_eq!(times, [100, 101, 102]);
    }

    #[test]
    #[should_panic(expected = "no item in a period")]
    fn empty_periods_are_refused() {
        let _ = rate_swings(1, 1000, 999);
    }
}
