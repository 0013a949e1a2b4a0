//! Flags of `lately sketch`.

use std::path::PathBuf;

use anyhow::bail;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use lately::plan::Goal;
use lately::raw::{Untyped, quantity};
use lately::{Builder, Hashing, Seed, Window};

use super::counted::{Accuracy, Watching};
use super::inspect::Inspect;
use super::reading::Keying;
use crate::records::{Keys, Recipe};

/// Count into files that can be sent, added, multiplied and asked.
///
/// A sketch holds how often each key came, in a few bytes for each different key, without the keys.
/// Sketches made with the same options on many machines add up to that of the whole.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Sketch {
    #[command(subcommand)]
    pub(crate) deed: Deed,
}

const EXAMPLES: &str = "\
Examples:
  On two machines:
    lately sketch build --expected 1M --output one.lately events.log
    lately sketch build --expected 1M --output two.lately more.log
  And on a third:
    lately sketch merge --output both.lately one.lately two.lately
    echo a | lately sketch query both.lately";

#[derive(Debug, Subcommand)]
pub(crate) enum Deed {
    Build(Box<Build>),
    Merge(Merge),
    Multiply(Multiply),
    Query(Query),
    /// Show what a sketch holds: structure, parameters, promise, error at this moment
    #[command(long_about = None, after_help = INFO_EXAMPLES)]
    Info(Inspect),
}

const INFO_EXAMPLES: &str = "\
Examples:
  How it was made, and how well it counts by now:
    lately sketch info one.lately
  The same, for a program to read:
    lately sketch info --json one.lately";

/// Count the records of files into a sketch.
#[derive(Debug, Args)]
#[command(after_help = BUILD_EXAMPLES)]
pub(crate) struct Build {
    /// Where to write it, replacing what is there only once all is counted; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// How many different keys to expect, in all sketches that will be added to this one
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = quantity::items)]
    expected: Option<u64>,

    #[command(flatten)]
    accuracy: Accuracy,

    /// Count so that sightings can be taken back, at about twice the error
    #[arg(long)]
    #[arg(hide_short_help = true)]
    removable: bool,

    /// Use this structure: with all counters of a key in one cache line it is larger and faster; under
    /// recurring minimum wrong counts are off by little, and sketches cannot be added
    #[arg(long, value_name = "NAME", default_value = "spectral")]
    #[arg(value_parser = PossibleValuesParser::new(STRUCTURES))]
    #[arg(hide_short_help = true)]
    structure: String,

    /// Seed of the hashes; only sketches with the same seed can be added or multiplied
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    keying: Keying,

    #[command(flatten)]
    pub(crate) watching: Watching,

    /// Files, decompressed if need be; standard input if there are none, or for `-`
    #[arg(value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
}

/// Those that sketches can be.
const STRUCTURES: [&str; 3] = ["spectral", "spectral-blocked", "spectral-recurring"];

const BUILD_EXAMPLES: &str = "\
Examples:
  Lines:
    lately sketch build --expected 1M --output lines.lately events.log
  A value of JSON, at most one count in a hundred wrong:
    lately sketch build --expected 1M --error 1% --key /user/id -o users.lately events.ndjson";

impl Build {
    pub(crate) fn builder(&self) -> anyhow::Result<Builder<Untyped>> {
        if self.expected.is_none() {
            bail!(
                "say how many different keys there will be, in this and in all sketches to be added \
                 to it: --expected 1M"
            );
        }
        let goal = Goal {
            counting: true,
            removing: self.removable,
            expected_items: self.expected,
            ..Goal::new(Window::Ever, self.accuracy.limit())
        };
        self.accuracy.check(&goal, Some(&self.structure))?;
        Ok(Builder::from(goal).structure(&self.structure).seed(self.seed))
    }

    pub(crate) fn recipe(&self) -> Recipe {
        self.keying.recipe(Hashing::Fast(Seed(self.seed)), Keys::Hashed)
    }
}

/// Add sketches: the sum counts what any of them counted.
#[derive(Debug, Args)]
#[command(after_help = MERGE_EXAMPLES)]
pub(crate) struct Merge {
    /// Where to write the sum; may be one of those added; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Sketches made with the same options
    #[arg(value_name = "SKETCHES", required = true)]
    pub(crate) sketches: Vec<PathBuf>,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  One of two:
    lately sketch merge --output both.lately one.lately two.lately
  Adding to what is there:
    lately sketch merge -o one.lately one.lately two.lately";

/// Multiply two sketches: the product counts the rows that each key has in the join of both.
#[derive(Debug, Args)]
#[command(after_help = MULTIPLY_EXAMPLES)]
pub(crate) struct Multiply {
    /// Where to write the product; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// A sketch
    #[arg(value_name = "SKETCH")]
    pub(crate) one: PathBuf,

    /// Another one, made with the same options
    #[arg(value_name = "OTHER")]
    pub(crate) other: PathBuf,
}

const MULTIPLY_EXAMPLES: &str = "\
Examples:
  Which lines join, and how often:
    lately sketch multiply --output pairs.lately one.lately two.lately
    lately sketch query --above 1 pairs.lately events.log";

/// Ask a sketch how often keys came: one line per record, its count, a tab, the key.
#[derive(Debug, Args)]
#[command(after_help = QUERY_EXAMPLES)]
pub(crate) struct Query {
    /// Print only keys that came at least T times
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = quantity::items)]
    pub(crate) above: Option<u64>,

    /// Print only the sum of all counts, the mean, the least and the largest, and how many keys
    /// were asked for and seen
    #[arg(long, conflicts_with = "above")]
    pub(crate) sum: bool,

    #[command(flatten)]
    pub(crate) keying: Keying,

    #[command(flatten)]
    pub(crate) watching: Watching,

    /// Print JSON: an object per record, or one with --sum
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// A file made by `lately sketch`
    #[arg(value_name = "SKETCH")]
    pub(crate) sketch: PathBuf,

    /// Files with the keys to ask for; standard input if there are none, or for `-`
    #[arg(value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
}

const QUERY_EXAMPLES: &str = "\
Examples:
  Every line of a file:
    lately sketch query one.lately more.log
  All of them together:
    lately sketch query --sum one.lately more.log
  A single key:
    echo a | lately sketch query one.lately";
