//! The small click log that the README's command reads: `examples/data/clicks.ndjson`.
//!
//! Four thousand clicks of a made-up advertising network, the same forever. People double-click, a
//! queue delivers some clicks twice within seconds, and one device replays the same click all day.

use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result, bail};
use testkit::random::SplitMix64;

const FILE: &str = "examples/data/clicks.ndjson";
const CLICKS: usize = 4_000;

/// Writes the file.
pub fn write() -> Result<()> {
    fs::write(FILE, generate()).with_context(|| format!("cannot write {FILE}"))
}

/// Fails if the file is not what the generator writes.
pub fn verify() -> Result<()> {
    let found = fs::read_to_string(FILE).with_context(|| format!("cannot read {FILE}"))?;
    if found != generate() {
        bail!("{FILE} is not what `cargo xtask clicks` writes");
    }
    Ok(())
}

fn generate() -> String {
    let mut random = SplitMix64::new(2024);
    let mut log = String::new();
    let mut recent: Vec<String> = Vec::new();
    let mut millis = 1_735_689_600_000; // 2025-01-01T00:00:00Z
    for number in 0..CLICKS {
        millis += random.below(400);
        let kind = random.below(100);
        let line = match kind {
            // Delivered again: the same record, a few places later.
            0..12 if recent.len() > 20 => {
                let back = 1 + random.below(20) as usize;
                recent[recent.len() - back].clone()
            }
            12..15 if number > 100 => recent[7].clone(),
            _ => click(&mut random, number, millis),
        };
        writeln!(log, "{line}").expect("strings grow");
        recent.push(line);
    }
    log
}

fn click(random: &mut SplitMix64, number: usize, millis: u64) -> String {
    let user = random.below(900);
    let ad = random.below(40);
    let page = ["/", "/news", "/sport", "/weather", "/video"][random.below(5) as usize];
    format!(
        r#"{{"id":"c{number:05}","ts":{millis},"user":"u{user:03}","ad":{ad},"page":"{page}"}}"#
    )
}
