//! Which k, l and b: memory against cache lines.

use std::ops::RangeInclusive;

use super::TimeLimitedParameters;
use super::turn::BEYOND;
use lately::Span;
use lately::frontier::Frontier;
use lately::probability::even_load;
use lately::raw::Blueprint;
use lately::sliding::slices::BlockShape;

/// Memory that is given for fewer cache lines: hardly any, since no other structure that keeps a
/// span is smaller.
const LEANNESS: f64 = 1.03;

/// More turns than this make slices of a few keys.
pub(super) const MOST_TURNS: u32 = 1 << 16;

/// Chances of a full slice for which slices are neither mostly empty nor mostly full.
pub(super) const CHANCES: RangeInclusive<f64> = 0.0001..=0.75;

/// More slices per key than this only add lines.
const MOST_SLICES_PER_KEY: u32 = 8;

/// Numbers of turns that are tried.
const TURNS: [u32; 12] = [2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48];

/// Keys to start with, and keys to choose for, when nobody says how many there will be.
pub(super) const UNKNOWN: (u64, u64) = (1 << 10, 1 << 17);

/// The ways to keep `rate` over `span`, with at most this slack behind it, for so many keys.
pub fn choices(
    span: Span,
    rate: f64,
    slack: Span,
    expected: u64,
) -> Frontier<TimeLimitedParameters> {
    search((span, rate, slack, expected), Frontier::new())
}

/// The one with the fewest lines of those that are hardly larger than the smallest.
pub fn with_error(
    span: Span,
    rate: f64,
    slack: Span,
    expected: u64,
) -> Option<TimeLimitedParameters> {
    search((span, rate, slack, expected), Frontier::up_to(LEANNESS)).pick(LEANNESS)
}

fn search(
    (span, rate, slack, expected): (Span, f64, Span, u64),
    mut found: Frontier<TimeLimitedParameters>,
) -> Frontier<TimeLimitedParameters> {
    for slices_per_key in 1..=MOST_SLICES_PER_KEY {
        // The fewest turns whose slack is short enough, and more.
        let longest = (slack.millis() / u64::from(slices_per_key)).max(1);
        let fewest = span.millis().div_ceil(longest).min(MOST_TURNS.into()) as u32;
        let more = TURNS.into_iter().filter(|&turns| turns > fewest);
        for turns in more.chain([fewest]) {
            // A trifle less, because powers and roots round.
            let each = (1.0 - 1e-12) * rate / (f64::from(turns) + BEYOND);
            let slice_chance = each.powf(1.0 / f64::from(slices_per_key));
            for bits_per_slice in BlockShape::bits_worth_trying(slice_chance) {
                let choice = TimeLimitedParameters {
                    span,
                    slices_per_key,
                    turns,
                    bits_per_slice,
                    slice_chance,
                    expected,
                };
                let possible = CHANCES.contains(&slice_chance) && choice.slack() <= slack;
                if possible && found.has_place_for(at_least(&choice), choice.lines_touched()) {
                    found.add(choice);
                }
            }
        }
    }
    found
}

/// Fewer bytes than this cannot do: what it would take if all blocks filled evenly.
fn at_least(choice: &TimeLimitedParameters) -> u64 {
    let load = even_load(choice.slice_chance, choice.bits_per_slice);
    let (k, l) = (f64::from(choice.slices_per_key), f64::from(choice.turns));
    (choice.expected as f64 * k * (k + l) / l / load / 8.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the short search passes over would not have been picked.
    #[test]
    fn the_short_search_finds_what_the_long_one_does() {
        let span = Span::from_millis(3_600_000);
        for expected in [10, 1_000, 100_000] {
            for rate in [0.1, 0.001, 1e-9] {
                for slack in [u64::MAX, 3_600_000, 400_000] {
                    let slack = Span::from_millis(slack);
                    let long = choices(span, rate, slack, expected).pick(LEANNESS);
                    let short = with_error(span, rate, slack, expected);
                    assert_eq!(short, long, "{expected} {rate} {slack}");
                }
            }
        }
    }
}
