//! `moment`: slices by age at their worst moment, just before they move on, against the recurrence.
//!
//! First what the planner chooses, then the pairs (k, l) of the authors of the time-limited filter
//! with one bit per slice, as they have it, at the rate for which they list them. Many filters of
//! different seeds are asked, because questions to one share its luck.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use lately::sliding::age_partitioned::choices;
use lately::sliding::{AgePartitioned, TimeLimited, TimeLimitedParameters};
use lately::{Hashing, Membership, Seed, Span, Time};
use testkit::stats::{lower_confidence, upper_confidence};
use testkit::streams;

use super::span::MENU;
use crate::record::Tally;
use crate::table::Table;

/// How hard to look.
#[derive(Debug, Args)]
pub struct Options {
    /// False positives to count per line; 10000 tell a difference of 1%
    #[arg(long, default_value_t = 20_000)]
    hits: u64,
    /// The smallest rate to measure; each step of ten takes ten times as long
    #[arg(long, default_value_t = 1e-5)]
    least: f64,
}

/// Insertions of a generation: many, so that slices are filled evenly.
const GENERATION: u64 = 10_000;

/// Measures them all; says whether each is within 2% of the recurrence (99.9% sure of that much),
/// and none of the planner's is above what was asked.
pub fn moment(options: &Options, out: &mut impl Write) -> Result<bool> {
    let headings = [
        "who",
        "k",
        "l",
        "bits",
        "asked",
        "computed",
        "measured",
        "ratio",
        "99.9% sure",
        "verdict",
    ];
    let mut table = Table::new(&headings);
    let mut all_kept = true;
    let mut line = |who: &str, shape: [u32; 3], asked: f64, computed: f64, tally: Tally| {
        let [low, high] = [lower_confidence, upper_confidence]
            .map(|bound| bound(tally.hits, tally.trials, 0.0005) / computed);
        let kept = low <= 1.02 && high >= 0.98 && (who == "pair" || computed <= asked);
        all_kept &= kept;
        let [k, l, bits] = shape.map(|number| number.to_string());
        table.row([
            who.to_owned(),
            k,
            l,
            bits,
            format!("{asked:.0e}"),
            format!("{computed:.4e}"),
            format!("{:.4e}", tally.rate()),
            format!("{:.4}", tally.rate() / computed),
            format!("{low:.4} .. {high:.4}"),
            if kept { "kept" } else { "MISSED" }.to_owned(),
        ]);
    };
    for rate in [0.1, 0.01, 0.001, 1e-4, 1e-5] {
        if rate < options.least {
            continue;
        }
        for choice in choices(20 * GENERATION, rate, u64::MAX).iter() {
            let computed = choice.false_positive_rate();
            let tally = ask(options, |seed| {
                let mut filter = AgePartitioned::new(*choice);
                let slices = u64::from(choice.slices_per_key * choice.slices_per_class);
                fill(&mut filter, 2 * slices * choice.generation, |_| Time::ZERO, seed);
                (filter, Time::ZERO)
            });
            let shape = [choice.slices_per_key, choice.generations(), choice.block.bits];
            line("choice", shape, rate, computed, tally);
        }
    }
    for &(rate, pairs) in MENU.iter().filter(|(rate, _)| *rate >= options.least) {
        for &(k, l) in pairs {
            // One key a millisecond: every turn brings exactly one generation.
            let parameters = TimeLimitedParameters {
                span: Span::from_millis(u64::from(l) * GENERATION),
                slices_per_key: k,
                turns: l,
                bits_per_slice: 1,
                slice_chance: 0.5,
                expected: u64::from(l) * GENERATION,
            };
            let computed = parameters.steady_false_positive_rate();
            let tally = ask(options, |seed| {
                let mut filter = TimeLimited::new(parameters);
                let keys = u64::from(k + 2 * l) * GENERATION;
                fill(&mut filter, keys, Time::from_millis, seed);
                (filter, Time::from_millis(keys - 1))
            });
            line("pair", [k, l, 1], rate, computed, tally);
        }
    }
    write!(out, "{table}")?;
    Ok(all_kept)
}

fn fill(filter: &mut impl Membership, keys: u64, now: impl Fn(u64) -> Time, seed: u64) {
    let hashing = Hashing::Fast(Seed(seed));
    for (i, key) in (0..keys).zip(streams::distinct(seed)) {
        filter.insert_hash(hashing.hash(&key.to_le_bytes()), now(i));
    }
}

/// Asks filters of different seeds about absent keys until there are hits enough.
fn ask<F: Membership>(options: &Options, build: impl Fn(u64) -> (F, Time)) -> Tally {
    /// Filters that share the questions.
    const FILTERS: u64 = 8;
    let mut tally = Tally::default();
    for seed in 0..FILTERS {
        let (filter, now) = build(seed);
        let hashing = Hashing::Fast(Seed(seed));
        // The number of trials must not depend on what is found, or it would bias the rate: so many
        // hits are expected by the first filter, and all others are asked as often.
        let mut absent = streams::absent(seed);
        let mut asked = 0;
        let mut hits = 0;
        let enough = |asked: u64, hits: u64| match seed {
            0 => hits >= options.hits / FILTERS && asked.is_multiple_of(1 << 16),
            _ => asked == tally.trials / seed,
        };
        while !enough(asked, hits) {
            let key = absent.next().expect("streams are endless");
            hits += u64::from(filter.contains_hash(hashing.hash(&key.to_le_bytes()), now));
            asked += 1;
        }
        tally.add(Tally { hits, trials: asked });
    }
    tally
}
