//! Claims about the rate of hits among trials, judged by the Chernoff bound (see the parent module).
//!
//! Each claim comes twice: `assert_...` panics with the numbers, `rate_is_...` answers, so that tests
//! can plant a wrong rate and see it caught.

/// Asserts that the rate is `predicted`, neither more nor less.
///
/// Exactness is a strong claim: with enough trials, any rounding in the prediction is refuted. See
/// [`assert_rate_within`] for approximations.
///
/// # Panics
///
/// If [`rate_is`] says no, with probability at most `alarm` when the claim is true; and on arguments
/// that cannot be: no trials, more hits than trials, a probability outside `[0, 1]`.
#[track_caller]
pub fn assert_rate(hits: u64, trials: u64, predicted: f64, alarm: f64) {
    if !rate_is(hits, trials, predicted, alarm) {
        refute(hits, trials, alarm, format_args!("exactly {predicted:.6e}"));
    }
}

/// Asserts that the rate is at most `bound`.
///
/// # Panics
///
/// If [`rate_is_at_most`] says no, with probability at most `alarm` when the claim is true; and on
/// arguments that cannot be, like [`assert_rate`].
#[track_caller]
pub fn assert_rate_at_most(hits: u64, trials: u64, bound: f64, alarm: f64) {
    if !rate_is_at_most(hits, trials, bound, alarm) {
        refute(hits, trials, alarm, format_args!("at most {bound:.6e}"));
    }
}

/// Asserts that the rate is at least `bound`.
///
/// # Panics
///
/// If [`rate_is_at_least`] says no, with probability at most `alarm` when the claim is true; and on
/// arguments that cannot be, like [`assert_rate`].
#[track_caller]
pub fn assert_rate_at_least(hits: u64, trials: u64, bound: f64, alarm: f64) {
    if !rate_is_at_least(hits, trials, bound, alarm) {
        refute(hits, trials, alarm, format_args!("at least {bound:.6e}"));
    }
}

/// Asserts that the rate is between `predicted * (1 - tolerance)` and `predicted * (1 + tolerance)`.
///
/// The tolerance is for what the formula leaves out; chance is allowed for on top of it.
///
/// # Panics
///
/// If [`rate_is_within`] says no, with probability at most `alarm` when the claim is true; on a
/// negative tolerance; and on arguments that cannot be, like [`assert_rate`].
#[track_caller]
pub fn assert_rate_within(
    hits: u64,
    trials: u64,
    predicted: f64,
    relative_tolerance: f64,
    alarm: f64,
) {
    if !rate_is_within(hits, trials, predicted, relative_tolerance, alarm) {
        let claim = format_args!("{predicted:.6e} within a factor of 1 ± {relative_tolerance}");
        refute(hits, trials, alarm, claim);
    }
}

/// Whether the hits are compatible with the rate `predicted`; half the alarm goes to each side.
#[track_caller]
pub fn rate_is(hits: u64, trials: u64, predicted: f64, alarm: f64) -> bool {
    rate_is_within(hits, trials, predicted, 0.0, alarm)
}

/// Whether the hits are compatible with a rate of at most `bound`.
#[track_caller]
pub fn rate_is_at_most(hits: u64, trials: u64, bound: f64, alarm: f64) -> bool {
    check(hits, trials, bound, alarm);
    !is_too_high(hits, trials, bound, alarm)
}

/// Whether the hits are compatible with a rate of at least `bound`.
#[track_caller]
pub fn rate_is_at_least(hits: u64, trials: u64, bound: f64, alarm: f64) -> bool {
    check(hits, trials, bound, alarm);
    !is_too_low(hits, trials, bound, alarm)
}

/// Whether the hits are compatible with some rate no farther from `predicted` than the tolerance;
/// half the alarm goes to each side.
#[track_caller]
pub fn rate_is_within(
    hits: u64,
    trials: u64,
    predicted: f64,
    relative_tolerance: f64,
    alarm: f64,
) -> bool {
    check(hits, trials, predicted, alarm);
    assert!(relative_tolerance >= 0.0, "tolerance is negative: {relative_tolerance}");
    let lowest = (predicted * (1.0 - relative_tolerance)).max(0.0);
    let highest = (predicted * (1.0 + relative_tolerance)).min(1.0);
    !is_too_low(hits, trials, lowest, alarm / 2.0)
        && !is_too_high(hits, trials, highest, alarm / 2.0)
}

/// A rate that the true one exceeds with probability at most `alarm`; 1 without trials.
///
/// ```
/// // No hit in a million: the rate is below 21 in a million, but for one chance in 10^9.
/// let highest = testkit::stats::upper_confidence(0, 1_000_000, 1e-9);
/// assert!((20.7e-6..20.8e-6).contains(&highest));
/// ```
#[track_caller]
pub fn upper_confidence(hits: u64, trials: u64, alarm: f64) -> f64 {
    check_counts(hits, trials);
    check_alarm(alarm);
    if hits == trials {
        return 1.0;
    }
    let measured = hits as f64 / trials as f64;
    farthest(measured, 1.0, |rate| is_too_low(hits, trials, rate, alarm))
}

/// A rate that the true one falls short of with probability at most `alarm`; 0 without trials.
///
/// ```
/// assert!(testkit::stats::lower_confidence(500, 1000, 1e-9) > 0.39);
/// ```
#[track_caller]
pub fn lower_confidence(hits: u64, trials: u64, alarm: f64) -> f64 {
    check_counts(hits, trials);
    check_alarm(alarm);
    if hits == 0 {
        return 0.0;
    }
    let measured = hits as f64 / trials as f64;
    farthest(measured, 0.0, |rate| is_too_high(hits, trials, rate, alarm))
}

fn is_too_high(hits: u64, trials: u64, bound: f64, alarm: f64) -> bool {
    let measured = hits as f64 / trials as f64;
    measured > bound && trials as f64 * divergence(measured, bound) > -alarm.ln()
}

fn is_too_low(hits: u64, trials: u64, bound: f64, alarm: f64) -> bool {
    let measured = hits as f64 / trials as f64;
    measured < bound && trials as f64 * divergence(measured, bound) > -alarm.ln()
}

/// Kullback-Leibler divergence in nats between coins that show heads at the rates `a` and `p`;
/// infinite where `p` makes `a` impossible.
fn divergence(a: f64, p: f64) -> f64 {
    let heads = if a == 0.0 { 0.0 } else { a * (a / p).ln() };
    // The quotient (1 - a) / (1 - p) is close to 1 for small rates; ln_1p keeps its digits.
    let tails = if a == 1.0 { 0.0 } else { (1.0 - a) * ((p - a) / (1.0 - p)).ln_1p() };
    heads + tails
}

/// Between `near`, which is not refuted, and `far`, which is: where refutation starts, rounded
/// towards `far`, so that the confidence is not overstated.
fn farthest(near: f64, far: f64, is_refuted: impl Fn(f64) -> bool) -> f64 {
    let (mut kept, mut refuted) = (near, far);
    // Each round halves the distance; 100 exhaust the digits of any rate above 2^-48.
    for _ in 0..100 {
        let middle = f64::midpoint(kept, refuted);
        if is_refuted(middle) {
            refuted = middle;
        } else {
            kept = middle;
        }
    }
    refuted
}

#[track_caller]
fn check(hits: u64, trials: u64, claimed: f64, alarm: f64) {
    assert!(trials > 0, "no trials: nothing was measured");
    assert!((0.0..=1.0).contains(&claimed), "not a rate: {claimed}");
    check_counts(hits, trials);
    check_alarm(alarm);
}

#[track_caller]
fn check_counts(hits: u64, trials: u64) {
    assert!(hits <= trials, "more hits than trials: {hits} of {trials}");
}

#[track_caller]
fn check_alarm(alarm: f64) {
    assert!(alarm > 0.0 && alarm < 1.0, "not an alarm probability: {alarm}");
}

#[track_caller]
fn refute(hits: u64, trials: u64, alarm: f64, claim: std::fmt::Arguments<'_>) -> ! {
    let measured = hits as f64 / trials as f64;
    let lowest = lower_confidence(hits, trials, alarm / 2.0);
    let highest = upper_confidence(hits, trials, alarm / 2.0);
    panic!(
        "wrong rate: claimed {claim}, measured {measured:.6e} ({hits} hits in {trials} trials), \
         which speaks for {lowest:.6e} to {highest:.6e}; \
         a true claim fails like this with probability at most {alarm:e}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    const ALARM: f64 = 1e-9;

    fn simulate(rate: f64, trials: u64, random: &mut SplitMix64) -> u64 {
        (0..trials).filter(|_| random.unit() < rate).count() as u64
    }

    /// Exact probabilities of 0, 1, ..., `trials` hits.
    fn binomial(trials: u64, rate: f64) -> Vec<f64> {
        let mut row = vec![1.0];
        for _ in 0..trials {
            let mut next = vec![0.0; row.len() + 1];
            for (hits, chance) in row.iter().enumerate() {
                next[hits] += chance * (1.0 - rate);
                next[hits + 1] += chance * rate;
            }
            row = next;
        }
        row
    }

    #[test]
    fn a_true_claim_is_refuted_no_more_often_than_the_alarm() {
        for trials in [1, 2, 10, 100, 300] {
            for rate in [0.001, 0.01, 0.1, 0.5, 0.9, 0.999] {
                let chances = binomial(trials, rate);
                for alarm in [0.3, 0.05, 1e-3, 1e-6, 1e-9] {
                    let refuted = |claim: &dyn Fn(u64) -> bool| -> f64 {
                        (0..=trials).filter(|&h| !claim(h)).map(|h| chances[h as usize]).sum()
                    };
                    assert!(refuted(&|h| rate_is(h, trials, rate, alarm)) <= alarm);
                    assert!(refuted(&|h| rate_is_at_most(h, trials, rate, alarm)) <= alarm);
                    assert!(refuted(&|h| rate_is_at_least(h, trials, rate, alarm)) <= alarm);
                    assert!(refuted(&|h| upper_confidence(h, trials, alarm) >= rate) <= alarm);
                    assert!(refuted(&|h| lower_confidence(h, trials, alarm) <= rate) <= alarm);
                }
            }
        }
    }

    #[test]
    fn the_bound_is_not_so_cautious_as_to_be_useless() {
        // Exact binomial limits for 10^4 trials at rate 0.01 and one chance in a thousand are near
        // 132; Chernoff may cost a few hits more, not a few dozen.
        let first_refuted = (100..).find(|&h| !rate_is_at_most(h, 10_000, 0.01, 1e-3)).unwrap();
        assert!((132..145).contains(&first_refuted), "{first_refuted}");
    }

    #[test]
    fn right_rates_pass() {
        let mut random = SplitMix64::new(1);
        for rate in [0.0, 1e-4, 0.01, 0.3, 0.99, 1.0] {
            let hits = simulate(rate, 200_000, &mut random);
            assert_rate(hits, 200_000, rate, ALARM);
            assert_rate_at_most(hits, 200_000, rate, ALARM);
            assert_rate_at_least(hits, 200_000, rate, ALARM);
            assert_rate_within(hits, 200_000, rate, 0.05, ALARM);
        }
    }

    #[test]
    fn a_bound_allows_anything_on_its_good_side() {
        assert_rate_at_most(0, 1_000_000, 0.5, ALARM);
        assert_rate_at_least(1_000_000, 1_000_000, 0.5, ALARM);
    }

    #[test]
    fn a_tolerance_allows_what_exactness_does_not() {
        assert!(!rate_is(10_400, 1_000_000, 0.01, 1e-3));
        assert_rate_within(10_400, 1_000_000, 0.01, 0.05, 1e-3);
        assert_rate_within(9_600, 1_000_000, 0.01, 0.05, 1e-3);
        assert_rate_within(1000, 1000, 0.9, 0.5, ALARM); // the upper end is 1, not 1.35
    }

    #[test]
    #[should_panic(expected = "wrong rate: claimed exactly 1.000000e-2, measured 1.")]
    fn assert_rate_catches_a_rate_too_high() {
        let hits = simulate(0.012, 200_000, &mut SplitMix64::new(2));
        assert_rate(hits, 200_000, 0.01, ALARM);
    }

    #[test]
    #[should_panic(expected = "wrong rate: claimed exactly 1.000000e-2, measured 7.")]
    fn assert_rate_catches_a_rate_too_low() {
        let hits = simulate(0.008, 200_000, &mut SplitMix64::new(3));
        assert_rate(hits, 200_000, 0.01, ALARM);
    }

    #[test]
    #[should_panic(expected = "wrong rate: claimed at most 1.000000e-2")]
    fn assert_rate_at_most_catches_a_rate_too_high() {
        let hits = simulate(0.012, 200_000, &mut SplitMix64::new(4));
        assert_rate_at_most(hits, 200_000, 0.01, ALARM);
    }

    #[test]
    #[should_panic(expected = "wrong rate: claimed at least 1.000000e-2")]
    fn assert_rate_at_least_catches_a_rate_too_low() {
        let hits = simulate(0.008, 200_000, &mut SplitMix64::new(5));
        assert_rate_at_least(hits, 200_000, 0.01, ALARM);
    }

    #[test]
    #[should_panic(expected = "wrong rate: claimed 1.000000e-2 within")]
    fn assert_rate_within_catches_a_rate_too_high() {
        let hits = simulate(0.013, 200_000, &mut SplitMix64::new(6));
        assert_rate_within(hits, 200_000, 0.01, 0.1, ALARM);
    }

    #[test]
    #[should_panic(expected = "wrong rate: claimed 1.000000e-2 within")]
    fn assert_rate_within_catches_a_rate_too_low() {
        let hits = simulate(0.007, 200_000, &mut SplitMix64::new(7));
        assert_rate_within(hits, 200_000, 0.01, 0.1, ALARM);
    }

    #[test]
    #[should_panic(expected = "(1 hits in 10 trials), which speaks for")]
    fn what_cannot_happen_must_not_happen() {
        assert_rate_at_most(1, 10, 0.0, ALARM);
    }

    #[test]
    #[should_panic(expected = "at most 1e-9")]
    fn what_must_happen_must_not_fail() {
        assert_rate_at_least(9, 10, 1.0, ALARM);
    }

    #[test]
    #[should_panic(expected = "no trials")]
    fn no_trials_prove_nothing() {
        assert_rate_at_most(0, 0, 0.5, ALARM);
    }

    #[test]
    #[should_panic(expected = "more hits than trials")]
    fn hits_are_trials() {
        assert_rate(2, 1, 0.5, ALARM);
    }

    #[test]
    #[should_panic(expected = "not a rate")]
    fn rates_are_probabilities() {
        assert_rate(1, 2, f64::NAN, ALARM);
    }

    #[test]
    #[should_panic(expected = "not an alarm")]
    fn alarms_are_probabilities() {
        assert_rate(1, 2, 0.5, 0.0);
    }

    #[test]
    fn confidence_is_where_refutation_starts() {
        for (hits, trials) in [(0, 10), (1, 1000), (500, 1000), (999, 1000), (7, 1_000_000_000)] {
            let highest = upper_confidence(hits, trials, ALARM);
            assert!(rate_is_at_least(hits, trials, highest * (1.0 - 1e-9), ALARM));
            assert!(!rate_is_at_least(hits, trials, (highest * (1.0 + 1e-9)).min(1.0), ALARM));
        }
        for (hits, trials) in [(1, 1000), (500, 1000), (10, 10), (7, 1_000_000_000)] {
            let lowest = lower_confidence(hits, trials, ALARM);
            assert!(rate_is_at_most(hits, trials, lowest * (1.0 + 1e-9), ALARM));
            assert!(!rate_is_at_most(hits, trials, lowest * (1.0 - 1e-9), ALARM));
        }
    }

    #[test]
    fn confidence_has_closed_forms_at_the_ends() {
        // With no hits the bound reads (1 - rate)^trials = alarm.
        let expected = 1.0 - ALARM.powf(1.0 / 1000.0);
        assert!((upper_confidence(0, 1000, ALARM) - expected).abs() < 1e-12);
        assert!((lower_confidence(1000, 1000, ALARM) - (1.0 - expected)).abs() < 1e-12);
        assert_eq!(lower_confidence(0, 1000, ALARM), 0.0);
        assert_eq!(upper_confidence(1000, 1000, ALARM), 1.0);
        assert_eq!((lower_confidence(0, 0, ALARM), upper_confidence(0, 0, ALARM)), (0.0, 1.0));
    }
}
