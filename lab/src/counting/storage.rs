//! What counters cost, in bits, in work and in nanoseconds, for every storage.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use lately::spectral::counters::{Bytes, Code, Counters, Fixed, Pools, Serial, StringArray};
use lately::spectral::{Allotment, Rows};
use testkit::oracle::Counts;
use testkit::random::SplitMix64;
use testkit::streams;

use super::hash;
use crate::summary::Summary;
use crate::table::Table;

/// Load 0.7 with five hashes.
fn rows(keys: u64) -> Rows {
    Rows { width: keys * 10 / 7, hashes: 5 }
}

/// Counts a stream of this mean frequency by minimum selection, key by key.
fn fill<C: Counters>(keys: u64, frequency: u64, skew: f64) -> C {
    let rows = rows(keys);
    let mut truth = Counts::new();
    for key in streams::zipf(keys, skew, 1).take((keys * frequency) as usize) {
        truth.add(key, 1);
    }
    let mut counts: Vec<(u64, u64)> = truth.iter().collect();
    counts.sort_unstable();
    let mut counters = C::new(rows.counters());
    for (key, count) in counts {
        counters.add_to_all(&rows.indices(hash(1, key)), count);
    }
    counters
}

/// Words of a string array that an access reads at most: those of a chunk of the longest counters.
const MOST_WORDS: usize = 21;

/// Bits per counter after mean frequencies from 1 to 1000. Claims: the string array takes at most
/// 1.3 times the sum of the lengths of all counters and 3.5 bits for each, and an access reads a
/// constant number of its words at most.
pub fn sizes(out: &mut impl Write) -> Result<bool> {
    let headings = [
        "skew",
        "freq",
        "lengths",
        "allowed",
        "string array",
        "serial",
        "pools",
        "bytes",
        "fixed 8..32",
        "snapshot elias",
        "steps 0,0",
        "steps 0,1",
        "steps 1,2",
        "words read",
        "verdict",
    ];
    let mut table = Table::new(&headings);
    let mut all_hold = true;
    for skew in [0.0, 1.0] {
        for (keys, frequency) in
            [(200_000, 1), (200_000, 3), (200_000, 10), (100_000, 100), (20_000, 1_000)]
        {
            let strings: StringArray = fill(keys, frequency, skew);
            let m = strings.len() as f64;
            let values = || (0..strings.len()).map(|index| strings.get(index));
            // The length of a number in binary, and none for zero.
            let lengths =
                values().map(|value| f64::from(64 - value.leading_zeros())).sum::<f64>() / m;
            let allowed = 1.3 * lengths + 3.5;
            let bits = |bytes: u64| bytes as f64 * 8.0 / m;
            let found = bits(strings.heap_bytes());
            let holds = found <= allowed && strings.longest_read() <= MOST_WORDS;
            all_hold &= holds;
            let coded =
                |code: Code| values().map(|value| f64::from(code.bits(value))).sum::<f64>() / m;
            let most = values().max().unwrap_or(0);
            let fixed = [8, 16, 32].into_iter().find(|&bits| most < 1 << bits).unwrap_or(64);
            let codes =
                [Code::ELIAS, Code::steps(&[0, 0]), Code::steps(&[0, 1]), Code::steps(&[1, 2])];
            let mut row = vec![
                skew.to_string(),
                frequency.to_string(),
                format!("{lengths:.2}"),
                format!("{allowed:.2}"),
                format!("{found:.2}"),
                format!("{:.2}", bits(fill::<Serial>(keys, frequency, skew).heap_bytes())),
                format!("{:.2}", bits(fill::<Pools>(keys, frequency, skew).heap_bytes())),
                format!("{:.2}", bits(fill::<Bytes>(keys, frequency, skew).heap_bytes())),
                fixed.to_string(),
            ];
            row.extend(codes.map(|code| format!("{:.2}", coded(code))));
            row.push(strings.longest_read().to_string());
            row.push(if holds { "holds" } else { "FAILS" }.to_owned());
            table.row(row);
        }
    }
    write!(out, "{table}")?;
    Ok(all_hold)
}

/// Bits per counter of every storage after a stream of this mean frequency, the sum of the lengths of all
/// counters first.
pub fn bits_per_counter(keys: u64, frequency: u64, skew: f64) -> [(&'static str, f64); 6] {
    let strings: StringArray = fill(keys, frequency, skew);
    let m = strings.len() as f64;
    let values = || (0..strings.len()).map(|index| strings.get(index));
    let lengths = values().map(|value| f64::from(64 - value.leading_zeros())).sum::<f64>() / m;
    let elias = values().map(|value| f64::from(Code::ELIAS.bits(value))).sum::<f64>() / m;
    let bits = |bytes: u64| bytes as f64 * 8.0 / m;
    [
        ("sum of lengths", lengths),
        ("string array", bits(strings.heap_bytes())),
        ("serial", bits(fill::<Serial>(keys, frequency, skew).heap_bytes())),
        ("pools", bits(fill::<Pools>(keys, frequency, skew).heap_bytes())),
        ("bytes", bits(fill::<Bytes>(keys, frequency, skew).heap_bytes())),
        ("snapshot, Elias", elias),
    ]
}

/// Chunks that a string array recodes, pushes aside and lays out anew, per addition. Claims: the
/// work per addition does not grow with the number of additions.
pub fn growth(out: &mut impl Write) -> Result<bool> {
    let headings =
        ["counters", "stream", "additions", "recoded", "pushed", "laid out", "chunks/addition"];
    let mut table = Table::new(&headings);
    let mut all_hold = true;
    for (counters, skew) in [(10_000, 0.0), (100_000, 0.0), (1_000_000, 0.0), (100_000, 1.0)] {
        let mut array = StringArray::new(counters as usize);
        let mut stream = streams::zipf(counters, skew, 1);
        let counter_of = Rows { width: counters, hashes: 1 };
        let mut done = 0_u64;
        let mut before: Option<f64> = None;
        for additions in [100_000, 1_000_000, 10_000_000] {
            while done < additions {
                let key = stream.next().expect("streams do not end");
                array.add_to_all(&counter_of.indices(hash(1, key)), 1);
                done += 1;
            }
            let work = array.work();
            let per_addition =
                (work.recoded + work.pushed + work.laid_out) as f64 / additions as f64;
            // Laying out a whole array once may fall just before the first mark.
            all_hold &= before.is_none_or(|before| per_addition <= 1.1 * before.max(0.5));
            before = Some(per_addition);
            table.row([
                counters.to_string(),
                if skew == 0.0 { "even" } else { "skewed" }.to_owned(),
                additions.to_string(),
                work.recoded.to_string(),
                work.pushed.to_string(),
                work.laid_out.to_string(),
                format!("{per_addition:.3}"),
            ]);
        }
    }
    write!(out, "{table}")?;
    Ok(all_hold)
}

/// Nanoseconds per addition to one counter and per look at one, on counters that hold a stream of
/// mean frequency 10 and skew 1. Claims nothing.
pub fn speed(out: &mut impl Write) -> Result<bool> {
    let mut table =
        Table::new(&["storage", "bits/counter", "ns/addition", "least", "ns/look", "least"]);
    let mut race = Race { keys: 200_000, samples: Vec::new() };
    race.enter::<Fixed<u8>>("fixed-8");
    race.enter::<Fixed<u32>>("fixed-32");
    race.enter::<Bytes>("bytes");
    race.enter::<Pools>("pools");
    race.enter::<StringArray>("string-array");
    race.enter::<Serial>("serial");
    for (name, bits, additions, looks) in &race.samples {
        let [additions, looks] =
            [additions, looks].map(|times| Summary::of(times).expect("samples"));
        table.row([
            (*name).to_owned(),
            format!("{bits:.2}"),
            format!("{:.1}", additions.median),
            format!("{:.1}", additions.least),
            format!("{:.1}", looks.median),
            format!("{:.1}", looks.least),
        ]);
    }
    write!(out, "{table}")?;
    Ok(true)
}

struct Race {
    keys: u64,
    samples: Vec<(&'static str, f64, Vec<f64>, Vec<f64>)>,
}

impl Race {
    fn enter<C: Counters>(&mut self, name: &'static str) {
        const ROUNDS: usize = 15;
        const OPERATIONS: usize = 200_000;
        let mut counters: C = fill(self.keys, 10, 1.0);
        let bits = counters.heap_bytes() as f64 * 8.0 / counters.len() as f64;
        let mut random = SplitMix64::new(1);
        let (mut additions, mut looks) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let at: Vec<usize> =
                (0..OPERATIONS).map(|_| random.below(counters.len() as u64) as usize).collect();
            let per = |start: Instant| start.elapsed().as_nanos() as f64 / OPERATIONS as f64;
            let start = Instant::now();
            for &index in &at {
                counters.add_to_all(&[index], 1);
            }
            additions.push(per(start));
            let start = Instant::now();
            let sum = at.iter().fold(0, |sum: u64, &index| sum.wrapping_add(counters.get(index)));
            looks.push(per(start));
            black_box(sum);
        }
        self.samples.push((name, bits, additions, looks));
    }
}
