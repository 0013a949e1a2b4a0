//! `lately join`: how many rows each key has in the join of two files, by exchanging filters.
//!
//! The files are read several times, never kept: once to know how many keys there are, once into the
//! filters, once for the candidates, and the second file once more to verify them.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use lately::queries::bifocal::{Relation, Sample, join_size};
use lately::queries::bloomjoin::{Bloomjoin, Candidate, Traffic, verify};
use lately::raw::codec;
use lately::{Counter, Hashing, Lately, Memory, Time};
use serde::Serialize;

use super::Ended;
use super::sketch;
use crate::args::{Join, Watching};
use crate::input::{Chunk, Files};
use crate::listing::Listing;
use crate::records::Recipe;
use crate::stats::{Counts, grouped, percent};
use crate::unjudged::Unjudged;
use crate::watch;

pub(crate) fn run(request: &Join) -> anyhow::Result<Ended> {
    for path in [&request.here, &request.there] {
        if path.as_os_str() == "-" {
            bail!("files are read several times to join them; save standard input to a file first");
        }
    }
    let found =
        if is_snapshot(&request.there)? { with_sketch(request)? } else { with_file(request)? };
    print(request, &found)?;
    let empty = found.result.is_empty();
    Ok(if empty && request.printing.exit_status { Ended::NothingNew } else { Ended::Well })
}

/// What came out.
struct Found {
    result: Vec<Candidate>,
    report: Report,
    /// How the keys are made up.
    recipe: Recipe,
}

/// Both files are at hand.
fn with_file(request: &Join) -> anyhow::Result<Found> {
    let hashing = Hashing::Fast(request.seed());
    let [here, there] = request.recipes(hashing)?;
    let mut here = Site::new(&request.here, here, &request.watching)?;
    let mut there = Site::new(&request.there, there, &request.watching)?;
    let builder = Lately::ever().counting().error(request.error).seed(request.seed().0);
    let builder = builder.expected_items(here.keys.max(there.keys).max(1));
    let (ours, our_sample) = here.count(builder.build()?)?;
    let (theirs, their_sample) = there.count(builder.build()?)?;
    let estimate = join_size(
        Relation { counter: ours.counting(), sample: &our_sample },
        Relation { counter: theirs.counting(), sample: &their_sample },
    );
    let join = Bloomjoin::new(ours, &theirs.save())?;
    let candidates = here.candidates(&join, request.having)?;
    let exact = there.rows_of(&candidates)?;
    let result = verify(&candidates, request.having, |key| exact[key]);
    let mut report = Report::new(&here, &candidates, &result, join.traffic(&candidates));
    report.compare(&here, &there, estimate);
    Ok(Found { result, report, recipe: here.recipe })
}

/// Of the other file there is a sketch only: what joins is known, but not verified.
fn with_sketch(request: &Join) -> anyhow::Result<Found> {
    let theirs = sketch::open(&request.there)?;
    let [recipe, _] = request.recipes(theirs.hashing())?;
    let mut here = Site::new(&request.here, recipe, &request.watching)?;
    let (ours, _) = here.count(theirs.empty_alike()?)?;
    let path = request.there.display();
    let join =
        Bloomjoin::new(ours, &theirs.save()).with_context(|| format!("cannot use {path}"))?;
    let candidates = here.candidates(&join, request.having)?;
    // Our rows are known exactly, which the product does not tell.
    let rows = |key: &[u8]| theirs.count(key);
    let result = verify(&candidates, request.having, rows);
    let traffic = Traffic { filter: join.traffic(&[]).filter, ..Traffic::default() };
    let report = Report::new(&here, &candidates, &result, traffic);
    Ok(Found { result, report, recipe: here.recipe })
}

/// A file, and what is known of it.
struct Site<'a> {
    path: PathBuf,
    recipe: Recipe,
    watching: &'a Watching,
    /// Rows with keys, different keys (about), and bytes.
    rows: u64,
    keys: u64,
    bytes: u64,
    missing: u64,
}

impl<'a> Site<'a> {
    /// Reads it for the first time.
    fn new(path: &Path, recipe: Recipe, watching: &'a Watching) -> anyhow::Result<Self> {
        let path = path.to_owned();
        let mut site = Self { path, recipe, watching, rows: 0, keys: 0, bytes: 0, missing: 0 };
        let mut seen = Lately::ever().build()?.into_untyped();
        let (mut rows, mut keys, mut new) = (0, 0, Vec::new());
        let (counts, unjudged) = site.read(|chunk| {
            let hashes = chunk.records.hashes();
            new.resize(hashes.len(), false);
            seen.filter_mut().insert_hashes(hashes, Time::ZERO, &mut new);
            rows += hashes.len() as u64;
            keys += new.iter().filter(|&&new| new).count() as u64;
        })?;
        watching.tell(&unjudged)?;
        (site.rows, site.keys) = (rows, keys);
        (site.bytes, site.missing) = (counts.bytes, counts.missing());
        Ok(site)
    }

    fn read(&self, mut each: impl FnMut(&Chunk)) -> anyhow::Result<(Counts, Unjudged)> {
        let mut counts = Counts::new();
        let files = Files::once(std::slice::from_ref(&self.path));
        let watching = self.watching;
        let (_, unjudged) =
            watch::read(files, self.recipe.clone(), watching, &mut counts, |chunk, _| {
                each(chunk);
                Ok(())
            })?;
        Ok((counts, unjudged))
    }

    /// Counts all keys, and samples them.
    fn count(&mut self, mut filter: Counter) -> anyhow::Result<(Counter, Sample)> {
        let mut sample =
            Sample::new(Sample::size_for(self.rows), filter.hashing().structure_seed());
        self.read(|chunk| {
            for &hash in chunk.records.hashes() {
                filter.counting_mut().add_hash(hash, 1, Time::ZERO);
                sample.offer(hash);
            }
        })?;
        Ok((filter, sample))
    }

    /// The keys that may join.
    fn candidates(&self, join: &Bloomjoin, having: u64) -> anyhow::Result<Vec<Candidate>> {
        let mut scan = join.scan(having);
        self.read(|chunk| chunk.records.keys().for_each(|key| scan.see(key)))?;
        Ok(scan.candidates())
    }

    /// How many rows each candidate has here, exactly.
    fn rows_of<'c>(&self, candidates: &'c [Candidate]) -> anyhow::Result<HashMap<&'c [u8], u64>> {
        let mut rows: HashMap<&[u8], u64> =
            candidates.iter().map(|candidate| (&candidate.key[..], 0)).collect();
        self.read(|chunk| {
            for key in chunk.records.keys() {
                if let Some(rows) = rows.get_mut(key) {
                    *rows += 1;
                }
            }
        })?;
        Ok(rows)
    }
}

/// What joining took and gave. As JSON it keeps these names; what is not known is `null`.
#[derive(Serialize)]
struct Report {
    rows_here: u64,
    rows_there: Option<u64>,
    missing: u64,
    /// Keys of the result, and rows of the join that they have together.
    result_keys: u64,
    result_rows: u64,
    /// Rows of the whole join, by bifocal sampling.
    estimated_rows: Option<f64>,
    candidates: u64,
    /// Candidates that are not in the result, of all different keys here that are not.
    false_positive_share: Option<f64>,
    bytes_filter: u64,
    bytes_candidates: u64,
    bytes_counts: u64,
    bytes_exchanged: u64,
    /// Of the smaller file, which would be sent otherwise.
    bytes_of_rows: Option<u64>,
    share_of_rows: Option<f64>,
    verified: bool,
}

impl Report {
    fn new(here: &Site<'_>, candidates: &[Candidate], result: &[Candidate], sent: Traffic) -> Self {
        let rows = result.iter().map(|found| found.pairs);
        Self {
            rows_here: here.rows,
            rows_there: None,
            missing: here.missing,
            result_keys: result.len() as u64,
            result_rows: rows.fold(0, u64::saturating_add),
            estimated_rows: None,
            candidates: candidates.len() as u64,
            false_positive_share: None,
            bytes_filter: sent.filter,
            bytes_candidates: sent.candidates,
            bytes_counts: sent.counts,
            bytes_exchanged: sent.total(),
            bytes_of_rows: None,
            share_of_rows: None,
            verified: false,
        }
    }

    /// Adds what is known only with both files at hand.
    fn compare(&mut self, here: &Site<'_>, there: &Site<'_>, estimate: f64) {
        let others = here.keys.saturating_sub(self.result_keys).max(1);
        let rows = here.bytes.min(there.bytes);
        self.rows_there = Some(there.rows);
        self.missing += there.missing;
        self.estimated_rows = Some(estimate);
        self.false_positive_share =
            Some((self.candidates - self.result_keys) as f64 / others as f64);
        self.bytes_of_rows = Some(rows);
        self.share_of_rows = Some(self.bytes_exchanged as f64 / rows.max(1) as f64);
        self.verified = true;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = self.rows_there.map_or("a sketch".to_owned(), grouped);
        writeln!(f, "rows        {} here, {there} there", grouped(self.rows_here))?;
        if self.missing > 0 {
            writeln!(f, "missing     {}", grouped(self.missing))?;
        }
        let (keys, rows) = (grouped(self.result_keys), grouped(self.result_rows));
        let most = if self.verified { "" } else { " at most, not verified" };
        writeln!(f, "result      {keys} keys, {rows} rows{most}")?;
        if let Some(estimate) = self.estimated_rows {
            writeln!(f, "estimate    {} rows in all, by sampling", grouped(estimate as u64))?;
        }
        write!(f, "candidates  {}", grouped(self.candidates))?;
        if let Some(share) = self.false_positive_share {
            write!(f, ", false for {} of the other keys here", percent(share))?;
        }
        writeln!(f)?;
        let memory = |bytes| Memory::from_bytes(bytes).to_string();
        write!(f, "exchanged   {}", memory(self.bytes_exchanged))?;
        let parts = [self.bytes_filter, self.bytes_candidates, self.bytes_counts].map(memory);
        write!(f, " (filter {}, candidates {}, counts {})", parts[0], parts[1], parts[2])?;
        if let (Some(rows), Some(share)) = (self.bytes_of_rows, self.share_of_rows) {
            let (rows, share) = (memory(rows), percent(share));
            write!(f, "; {share} of {rows}, the rows of the smaller file")?;
        }
        writeln!(f)
    }
}

/// Prints the result, the keys with most rows first.
fn print(request: &Join, found: &Found) -> anyhow::Result<()> {
    let mut result: Vec<&Candidate> = found.result.iter().collect();
    result.sort_by(|a, b| b.pairs.cmp(&a.pairs).then_with(|| a.key.cmp(&b.key)));
    let mut listing = Listing::new(&found.recipe, request.printing.json);
    for candidate in result {
        let Candidate { key, rows, pairs } = candidate;
        let numbers = [("count", *pairs), ("here", *rows), ("there", pairs / rows)];
        listing.print(&numbers, key)?;
    }
    listing.flush()?;
    let report = &found.report;
    request.printing.figures.tell(report, || Ok(serde_json::to_string_pretty(report)? + "\n"))
}

/// Whether a file is a snapshot, by how it begins.
fn is_snapshot(path: &Path) -> anyhow::Result<bool> {
    let failed = || format!("cannot open {}", path.display());
    let mut head = Vec::new();
    let file = File::open(path).with_context(failed)?;
    // A directory opens, and is told from files later.
    let read = file.take(codec::MAGIC.len() as u64).read_to_end(&mut head);
    Ok(read.is_ok() && head == codec::MAGIC)
}
