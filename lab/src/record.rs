//! What was measured, kept whole: raw samples and counts, with everything needed to repeat it.
//!
//! A record is one run of one experiment. Tables, plots and reports are computed from it and never
//! stored in it. It is saved after every cell, so that an interrupted run loses one cell at most.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// One run of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the experiment.
    pub experiment: String,
    /// What it asks.
    pub question: String,
    /// `race` or `accuracy`.
    pub kind: String,
    /// Name of the stream.
    pub stream: String,
    /// The seed from which all keys, hashes and choices follow.
    pub seed: u64,
    /// Whether the run was shortened.
    pub quick: bool,
    /// Where, with what and when.
    pub machine: Machine,
    /// One row per size, limit and contender.
    pub rows: Vec<Row>,
}

/// One contender in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Items in the window or set.
    pub size: u64,
    /// What was asked of all: an error such as `1%`, or a memory such as `1.2MiB`.
    pub limit: String,
    /// Who was measured.
    pub contender: String,
    /// Whether it is of our catalog.
    pub ours: bool,
    /// Why it was not measured, if it was not. All that follows is then empty.
    pub skipped: Option<String>,
    /// Its parameters by name.
    pub parameters: Vec<(String, String)>,
    /// What it promises.
    pub promise: Option<Promised>,
    /// Cache lines per insertion, from its formula.
    pub lines_touched: Option<f64>,
    /// The least bits per item that any structure could use.
    pub lower_bound_bits_per_item: Option<f64>,
    /// Bytes on the heap after the stream, counted by the allocator.
    pub heap_bytes: Option<u64>,
    /// Bytes on the heap after the stream, by its own account.
    pub reported_bytes: Option<u64>,
    /// Times, in a race.
    pub timing: Option<Timing>,
    /// Wrong answers, in an accuracy experiment.
    pub errors: Option<Errors>,
}

/// A promise, in numbers and words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Promised {
    /// The window, in words.
    pub window: String,
    /// The slack, in words.
    pub slack: String,
    /// Largest share of keys outside that are reported as seen.
    pub false_positives: f64,
    /// Largest share of keys inside that are reported as new.
    pub false_negatives: f64,
}

/// What a race measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Every operation that the contender has.
    pub operations: Vec<OperationTiming>,
    /// The slowest single insertion.
    pub worst_insert_ns: u64,
}

/// Rounds of one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationTiming {
    /// Name of the operation.
    pub operation: String,
    /// Nanoseconds per key, one sample per round, in the order of the rounds.
    pub nanos_per_key: Vec<f64>,
    /// Answers "seen" among all rounds, and keys asked.
    pub seen: Tally,
}

/// What an accuracy experiment measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Keys inside the window reported as new.
    pub inside: Tally,
    /// Keys of the stream that were new, or older than window and slack, reported as seen.
    pub outside: Tally,
    /// Keys never inserted, reported as seen, at moments of the structure's life.
    pub moments: Vec<Moment>,
}

/// Questions about keys never inserted, at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Insertions before it.
    pub inserted: u64,
    /// Whether the structure had reached its steady state (for sets: its full size).
    pub steady: bool,
    /// Reported as seen.
    pub unseen: Tally,
}

/// So many hits in so many trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How often it happened.
    pub hits: u64,
    /// How often it could have.
    pub trials: u64,
}

impl Tally {
    /// Counts one trial.
    pub fn count(&mut self, hit: bool) {
        self.add(Tally { hits: u64::from(hit), trials: 1 });
    }

    /// Adds another tally.
    pub fn add(&mut self, other: Tally) {
        self.hits += other.hits;
        self.trials += other.trials;
    }

    /// Hits over trials; zero without trials.
    pub fn rate(&self) -> f64 {
        self.hits as f64 / self.trials.max(1) as f64
    }
}

impl Row {
    /// Counted bytes in bits per item.
    pub fn bits_per_item(&self) -> Option<f64> {
        Some(self.heap_bytes? as f64 * 8.0 / self.size as f64)
    }
}

impl Timing {
    /// The rounds of an operation, if the contender has it.
    pub fn operation(&self, name: &str) -> Option<&OperationTiming> {
        self.operations.iter().find(|timing| timing.operation == name)
    }
}

impl Errors {
    /// All questions about keys never inserted in the steady state.
    pub fn steady(&self) -> Tally {
        let mut all = Tally::default();
        self.moments.iter().filter(|moment| moment.steady).for_each(|m| all.add(m.unseen));
        all
    }

    /// The moment with the most false positives.
    pub fn worst(&self) -> Tally {
        let tallies = self.moments.iter().map(|moment| moment.unseen);
        tallies.max_by(|a, b| a.rate().total_cmp(&b.rate())).unwrap_or_default()
    }
}

impl Record {
    /// Continues the record of an earlier run of the same experiment, commit, machine and day, if
    /// the directory holds one: its cells stay until they are measured again.
    pub fn resume(&mut self, directory: &Path) {
        let earlier = fs::read_to_string(self.path(directory)).ok();
        let earlier = earlier.and_then(|text| serde_json::from_str::<Record>(&text).ok());
        if let Some(mut earlier) = earlier {
            let rows = std::mem::take(&mut earlier.rows);
            if *self == earlier {
                self.rows = rows;
            }
        }
    }

    /// Adds a cell, in place of what was measured of it before: only rows of the same run may be
    /// compared.
    pub fn put(&mut self, cell: Vec<Row>) {
        for new in &cell {
            self.rows.retain(|old| (old.size, &old.limit) != (new.size, &new.limit));
        }
        self.rows.extend(cell);
    }

    /// Writes the record as `<date>-<experiment>.json` into a directory, over an older one of the
    /// same name, and never leaves half a file behind.
    pub fn save(&self, directory: &Path) -> Result<PathBuf> {
        let path = self.path(directory);
        let unfinished = path.with_extension("json.unfinished");
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&unfinished, text))
            .and_then(|()| fs::rename(&unfinished, &path))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    fn path(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{}-{}.json", self.machine.date, self.experiment))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row with everything filled in.
    pub(crate) fn row() -> Row {
        let tally = |hits| Tally { hits, trials: 1_000_000 };
        Row {
            size: 1000,
            limit: "1%".into(),
            contender: "double-buffer".into(),
            ours: true,
            skipped: None,
            parameters: vec![("window".into(), "1000".into())],
            promise: Some(Promised {
                window: "the last 1000 items".into(),
                slack: "1000 items".into(),
                false_positives: 0.01,
                false_negatives: 0.0,
            }),
            lines_touched: Some(2.0),
            lower_bound_bits_per_item: Some(9.4),
            heap_bytes: Some(2500),
            reported_bytes: Some(2480),
            timing: Some(Timing {
                operations: vec![OperationTiming {
                    operation: "insert".into(),
                    nanos_per_key: vec![10.5, 10.25, 1.0 / 3.0],
                    seen: tally(5),
                }],
                worst_insert_ns: 12_000,
            }),
            errors: Some(Errors {
                inside: tally(0),
                outside: tally(9000),
                moments: vec![
                    Moment { inserted: 500, steady: false, unseen: tally(100) },
                    Moment { inserted: 1000, steady: true, unseen: tally(9900) },
                    Moment { inserted: 1500, steady: true, unseen: tally(5000) },
                ],
            }),
        }
    }

    fn record() -> Record {
        Record {
            experiment: "round-trip".into(),
            question: "Does it come back?".into(),
            kind: "race".into(),
            stream: "distinct".into(),
            seed: u64::MAX,
            quick: true,
            machine: Machine {
                cpu: "Abacus(R) 3000".into(),
                caches: "1K, 2K".into(),
                cores: 2,
                compiler: "rustc 1.89.0".into(),
                debug_build: false,
                commit: "0123456789".into(),
                modified: true,
                date: "2031-12-31".into(),
            },
            rows: vec![],
        }
    }

    /// A directory of its own, removed when the test is over.
    struct Directory(PathBuf);

    impl Directory {
        fn new(test: &str) -> Self {
            let name = format!("lately-lab-{test}-{}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_record_comes_back_as_it_was_saved() {
        let directory = Directory::new("round-trip");
        let saved = Record { rows: vec![row()], ..record() };
        let path = saved.save(&directory.0).unwrap();
        assert_eq!(saved.save(&directory.0).unwrap(), path);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), saved);
        assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 1, "nothing unfinished stays");
    }

    #[test]
    fn a_later_run_keeps_what_it_does_not_measure_again() {
        let directory = Directory::new("resume");
        let rival = Row { contender: "rival".into(), ..row() };
        let other = Row { limit: "0.1%".into(), ..row() };
        let saved = Record { rows: vec![row(), rival, other.clone()], ..record() };
        saved.save(&directory.0).unwrap();

        let mut later = record();
        later.resume(&directory.0);
        assert_eq!(later, saved);
        let again = Row { heap_bytes: Some(1), ..row() };
        later.put(vec![again.clone()]);
        assert_eq!(later.rows, [other, again]);

        let mut elsewhere = Record { seed: 1, ..record() };
        elsewhere.resume(&directory.0);
        assert_eq!(elsewhere.rows, []);
    }

    #[test]
    fn steady_and_worst_moments() {
        let errors = row().errors.unwrap();
        assert_eq!(errors.steady(), Tally { hits: 14_900, trials: 2_000_000 });
        assert_eq!(errors.worst(), Tally { hits: 9900, trials: 1_000_000 });
        assert_eq!(Errors::default().worst(), Tally::default());
    }
}
