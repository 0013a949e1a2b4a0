//! What a process takes of the machine for a structure that grows, beside the heap that the structure counts:
//! each in a fresh process, because a process keeps what it once had.

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use lately::key::Hashed;
use lately::raw::quantity;
use lately::{Lately, NoClock, Time};
use testkit::random::SplitMix64;

/// What to hold.
#[derive(Debug, Args)]
pub struct Options {
    /// Numbers of keys
    #[arg(long, value_delimiter = ',', default_value = "1M,5M", value_parser = quantity::items)]
    keys: Vec<u64>,
    /// Share of wrong answers
    #[arg(long, default_value_t = 0.001)]
    error: f64,
    /// Hold it in this process, and tell heap and resident memory
    #[arg(long, hide = true)]
    hold: Option<String>,
}

const HELD: [&str; 3] = ["growing", "growing-counts", "timed"];

/// Keys that are inserted before the first look, so that what the process itself takes is there.
const FIRST: u64 = 2_000;

/// Resident memory above the heap that may be.
const MOST: f64 = 1.06;

/// Measures each in a process of its own; says whether none takes much more than its heap.
pub fn resident(options: &Options, out: &mut impl Write) -> Result<bool> {
    if let Some(name) = &options.hold {
        let (heap, resident) = hold(name, options.keys[0], options.error)?;
        writeln!(out, "{heap} {resident}")?;
        return Ok(true);
    }
    let mut holds = true;
    for &keys in &options.keys {
        for name in HELD {
            let program = std::env::current_exe()?;
            let (keys_said, error) = (keys.to_string(), options.error.to_string());
            let said =
                ["count", "resident", "--hold", name, "--keys", &keys_said, "--error", &error];
            let told = Command::new(program).args(said).output()?;
            let text = String::from_utf8(told.stdout)?;
            let numbers: Vec<u64> = text.split_whitespace().flat_map(str::parse).collect();
            let [heap, resident] = numbers[..] else { bail!("{name} told {text:?}") };
            let bits = |bytes: u64| 8.0 * bytes as f64 / keys as f64;
            let ratio = resident as f64 / heap as f64;
            writeln!(
                out,
                "{name}, {keys} keys: heap {:.2} bits per key, resident {:.2}, {ratio:.3} of it",
                bits(heap),
                bits(resident)
            )?;
            holds &= ratio <= MOST;
        }
    }
    Ok(holds)
}

/// Inserts so many keys, and tells the heap and the resident memory that it is of.
fn hold(name: &str, keys: u64, error: f64) -> Result<(u64, u64)> {
    let mut random = SplitMix64::new(1);
    let (mut before, mut small) = (0, 0);
    let mut heap = 0;
    let span = Duration::from_millis(keys);
    let mut growing = Lately::ever().error(error).build()?;
    let mut counts = Lately::ever().counting().error(error).build()?;
    let mut timed = Lately::within(span).error(error).checked_by(NoClock).build()?;
    // A window is full after one of its length, and is what it stays like after some.
    let all = if name == "timed" { 3 * keys } else { keys };
    for number in 0..all {
        let key = Hashed(random.next_u64());
        match name {
            "growing" => drop(growing.insert(key)),
            "growing-counts" => drop(counts.add(key)),
            "timed" => drop(timed.insert_at(key, Time::from_millis(number))?),
            other => bail!("nobody is called {other}"),
        }
        if number + 1 == FIRST || number + 1 == all {
            heap = match name {
                "growing" => growing.heap_bytes(),
                "growing-counts" => counts.heap_bytes(),
                _ => timed.heap_bytes(),
            };
        }
        if number + 1 == FIRST {
            (before, small) = (resident_bytes()?, heap);
        }
    }
    Ok((heap, (resident_bytes()? + small).saturating_sub(before)))
}

fn resident_bytes() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("no /proc here")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
    let kilobytes = line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok());
    Ok(1024 * kilobytes.context("VmRSS is no number")?)
}
