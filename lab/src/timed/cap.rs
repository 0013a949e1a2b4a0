//! A limit per key on a log replayed by its own times: every decision is compared with the exact truth, and what
//! passed with what an exact limit lets pass.

use std::collections::{HashMap, VecDeque};
use std::io::Write;

use anyhow::{Context, Result};
use clap::Args;
use lately::{ErrorRate, Slack, Span};
use testkit::stats::rate_is_at_most;

use super::replay::Log;
use super::{COUNTING, fresh, millis};

/// What to replay, and what may pass.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    log: Log,
    /// Windows
    #[arg(long, value_delimiter = ',', default_value = "10m,1h,6h")]
    within: Vec<Span>,
    /// At most so many of a key
    #[arg(long, default_value_t = 5)]
    limit: u64,
    /// Promised share of wrong counts
    #[arg(long, default_value = "0.1%")]
    error: ErrorRate,
}

/// The moments at which each key passed.
#[derive(Default)]
struct Passed(HashMap<u64, VecDeque<u64>>);

impl Passed {
    /// How often a key passed in a span before a moment; what is older is dropped.
    fn count(&mut self, key: u64, now: u64, longest: u64, span: u64) -> u64 {
        let moments = self.0.entry(key).or_default();
        while moments.front().is_some_and(|at| now - at > longest) {
            moments.pop_front();
        }
        moments.iter().filter(|at| now - **at <= span).count() as u64
    }

    fn pass(&mut self, key: u64, now: u64) {
        self.0.entry(key).or_default().push_back(now);
    }
}

/// Replays it through every window; says whether the limit was kept and nobody denied without reason but as
/// promised.
pub fn cap(options: &Options, out: &mut impl Write) -> Result<bool> {
    let events = options.log.events()?;
    let mut holds = true;
    for &within in &options.within {
        let mut filter = fresh(COUNTING, within, options.error)?;
        let Slack::Time(slack) = filter.blueprint().promise().slack else { unreachable!() };
        let (span, longest) = (within.millis(), within.millis() + slack.millis());
        let (mut ours, mut exact) = (Passed::default(), Passed::default());
        let (mut passed, mut exactly) = (0_u64, 0_u64);
        let (mut beyond, mut by_slack, mut by_error) = (0_u64, 0_u64, 0_u64);
        let (mut now, mut most) = (0, 0);
        for &(key, at) in &events {
            now = at.max(now);
            if exact.count(key, now, longest, span) < options.limit {
                exact.pass(key, now);
                exactly += 1;
            }
            let counter = filter.as_counting().context("it counts")?;
            let told = counter.admit_hash(key, 1, options.limit, millis(now));
            let inside = ours.count(key, now, longest, span);
            let stored = ours.count(key, now, longest, longest);
            if told.allowed {
                beyond += u64::from(inside >= options.limit);
                ours.pass(key, now);
                passed += 1;
            } else if stored < options.limit {
                by_error += 1;
            } else if inside < options.limit {
                by_slack += 1;
            }
            most = most.max(filter.heap_bytes());
        }
        writeln!(
            out,
            "{} events, at most {} within {within}: {passed} passed ({exactly} by an exact limit), {beyond} \
             beyond the limit; denied wrongly: {by_slack} by the slack, {by_error} by error ({} \
             promised); at most {most} bytes",
            events.len(),
            options.limit,
            options.error,
        )?;
        let denied = rate_is_at_most(by_error, events.len() as u64, options.error.get(), 1e-9);
        holds &= beyond == 0 && denied;
    }
    Ok(holds)
}
