//! Flags of `lately join`.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use lately::raw::quantity;
use lately::{ErrorRate, Hashing, Seed};

use super::counted::Watching;
use super::printing::Printing;
use super::reading::Keying;
use crate::records::{Column, Keys, Path, Recipe};

/// Print how many rows each key has in the join of two files, and what joining them over a network
/// would cost.
///
/// Like SELECT key, count(*) FROM a, b WHERE a.key = b.key GROUP BY key HAVING count(*) >= T. The
/// files are taken for two sites that exchange a filter and candidates instead of rows. What is
/// printed is exact. If the second is a sketch (`lately sketch build`), the other site is not at hand:
/// then its counts are not verified, and may be too high but never too low.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Join {
    /// Print only keys with at least T rows in the join
    #[arg(long, value_name = "T", default_value = "1", allow_negative_numbers = true)]
    #[arg(value_parser = quantity::items)]
    pub(crate) having: u64,

    /// Share of the keys here that become candidates by mistake: fewer cost a larger filter
    #[arg(long, value_name = "E", default_value = "1%", allow_negative_numbers = true)]
    pub(crate) error: ErrorRate,

    /// Seed of the hashes
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    #[arg(hide_short_help = true)]
    seed: u64,

    #[command(flatten)]
    keying: Keying,

    /// Where the second file has the key, if elsewhere: a value of its JSON
    #[arg(long, value_name = "PATH", help_heading = "Keys")]
    other_key: Vec<Path>,

    /// Where the second file has the key, if elsewhere: a column of its rows
    #[arg(long, value_name = "NAME|N", help_heading = "Keys")]
    #[arg(conflicts_with_all = ["other_key", "zero"])]
    other_column: Vec<Column>,

    #[command(flatten)]
    pub(crate) watching: Watching,

    #[command(flatten)]
    pub(crate) printing: Printing,

    /// The file at this site, decompressed if need be
    #[arg(value_name = "A")]
    pub(crate) here: PathBuf,

    /// The file at the other site, or a sketch of it
    #[arg(value_name = "B")]
    pub(crate) there: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  Users with events in both files, and how many pairs of them:
    lately join --key /user/id events.ndjson more.ndjson
  Only those with at least a hundred pairs, and what was exchanged:
    lately join --having 100 --stats --key /user/id events.ndjson more.ndjson 2> report.txt
  JSON here, rows there:
    lately join --key /user/email --other-column email events.ndjson people.csv
  The other site sent a sketch of its file:
    lately sketch build --expected 1M --key /user/id -o more.lately more.ndjson
    lately join --key /user/id events.ndjson more.lately";

impl Join {
    /// How to read both files. Keys of one part only meet keys of one part.
    pub(crate) fn recipes(&self, hashing: Hashing) -> anyhow::Result<[Recipe; 2]> {
        let here = self.keying.recipe(hashing, Keys::Kept);
        let elsewhere = (&self.other_key[..], &self.other_column[..]);
        let there = self.keying.recipe_elsewhere(elsewhere, hashing, Keys::Kept);
        if here.parts() != there.parts() {
            bail!(
                "keys of {} and of {} parts never meet; name as many for both files",
                here.parts(),
                there.parts()
            );
        }
        Ok([here, there])
    }

    pub(crate) fn seed(&self) -> Seed {
        Seed(self.seed)
    }
}
