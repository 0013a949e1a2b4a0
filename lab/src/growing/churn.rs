//! Insertions, removals and insertions again: what is left is known, what is gone is gone.
//!
//! In every round each key is taken back, in a random order; a hundred removals later it comes again
//! in even rounds, and another key instead of it in odd ones.

use std::collections::VecDeque;
use std::io::Write;

use anyhow::{Result, anyhow};
use clap::Args;
use lately::Time;
use lately::growing::Growing;
use lately::raw::{Membership, Removing, quantity};
use testkit::random::SplitMix64;
use testkit::streams;

use super::{CLAIMS, bits, false_positives, growing, hash, verdict};
use crate::heap::Meter;
use crate::record::Tally;
use crate::table::Table;

/// How much.
#[derive(Debug, Args)]
pub struct Options {
    /// Keys that are in it
    #[arg(long, default_value = "1e6", value_parser = quantity::items)]
    items: u64,
    /// Rounds in which all of them are taken back and come again
    #[arg(long, default_value_t = 10)]
    rounds: u64,
}

/// Removals between that of a key and the insertion in its stead.
const PAUSE: usize = 100;

/// Claims, for each error, after every round: no key forgotten, no more false positives than
/// promised among keys never seen and keys taken back, no more bits per item than claimed.
pub fn churn(options: &Options, out: &mut impl Write) -> Result<bool> {
    let headings = ["error", "round", "forgotten", "refused", "never seen", "taken back", "bits"];
    let mut table = Table::new(&[&headings[..], &["verdict"]].concat());
    let mut all_kept = true;
    for (rate, claim) in CLAIMS {
        let mut life = Life::new(rate, options.items)?;
        for round in 0..options.rounds {
            life.round(round)?;
            let forgotten = life.keys.iter().filter(|&&key| !life.has(key)).count();
            let unseen = false_positives(&life.filter, rate, 100 + round).rate();
            let mut gone = Tally::default();
            life.gone.iter().for_each(|&key| gone.count(life.has(key)));
            let bits = bits(life.meter.bytes(), options.items);
            let luck = 5.0 * (rate / gone.trials.max(1) as f64).sqrt();
            let kept = forgotten == 0
                && life.refused == 0
                && unseen <= rate
                && gone.rate() <= rate + luck
                && bits <= claim;
            all_kept &= kept;
            table.row([
                rate.to_string(),
                (round + 1).to_string(),
                forgotten.to_string(),
                life.refused.to_string(),
                format!("{unseen:.3e}"),
                format!("{:.3e}", gone.rate()),
                format!("{bits:.2}"),
                verdict(kept),
            ]);
        }
    }
    write!(out, "{table}")?;
    Ok(all_kept)
}

struct Life {
    filter: Growing,
    meter: Meter,
    /// Keys that are in it, and those that were and are no longer.
    keys: Vec<u64>,
    gone: Vec<u64>,
    fresh: Box<dyn Iterator<Item = u64>>,
    /// Removals of what was inserted that found nothing.
    refused: u64,
}

impl Life {
    fn new(rate: f64, items: u64) -> Result<Self> {
        let mut fresh = streams::distinct(23);
        let keys: Vec<u64> = fresh.by_ref().take(items as usize).collect();
        let mut meter = Meter::default();
        let mut filter = meter.during(|| growing(rate, items, true))?;
        meter.during(|| keys.iter().for_each(|&key| _ = filter.insert_hash(hash(key), Time::ZERO)));
        Ok(Self { filter, meter, keys, gone: Vec::new(), fresh: Box::new(fresh), refused: 0 })
    }

    fn has(&self, key: u64) -> bool {
        self.filter.contains_hash(hash(key), Time::ZERO)
    }

    fn round(&mut self, round: u64) -> Result<()> {
        let mut random = SplitMix64::new(round);
        for last in (1..self.keys.len()).rev() {
            self.keys.swap(last, random.below(last as u64 + 1) as usize);
        }
        self.gone = if round.is_multiple_of(2) { Vec::new() } else { self.keys.clone() };
        let mut waiting = VecDeque::new();
        for index in 0..self.keys.len() {
            let key = self.keys[index];
            let removed = self.meter.during(|| self.filter.remove_hash(hash(key)));
            self.refused += u64::from(!removed);
            if !round.is_multiple_of(2) {
                self.keys[index] = self.fresh.next().ok_or_else(|| anyhow!("no more keys"))?;
            }
            waiting.push_back(self.keys[index]);
            if waiting.len() > PAUSE {
                self.insert(waiting.pop_front());
            }
        }
        waiting.into_iter().for_each(|key| self.insert(Some(key)));
        Ok(())
    }

    fn insert(&mut self, key: Option<u64>) {
        if let Some(key) = key {
            self.meter.during(|| self.filter.insert_hash(hash(key), Time::ZERO));
        }
    }
}
