//! `lately sketch`: counts in files that can be sent, added, multiplied and asked.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use lately::queries::Aggregate;
use lately::{Counter, Time};
use serde_json::json;

use crate::args::{Build, Deed, Merge, Multiply, Query};
use crate::input::Files;
use crate::listing::Listing;
use crate::output;
use crate::records::Keys;
use crate::state;
use crate::stats::Counts;
use crate::watch;

pub(crate) fn run(deed: &Deed) -> anyhow::Result<()> {
    match deed {
        Deed::Build(request) => build(request),
        Deed::Merge(request) => merge(request),
        Deed::Multiply(request) => multiply(request),
        Deed::Query(request) => query(request),
        Deed::Info(request) => {
            open(&request.file)?;
            super::inspect::run(request)
        }
    }
}

/// A sketch from its file.
pub(super) fn open(path: &Path) -> anyhow::Result<Counter> {
    let sketch = state::read(path)?.seen;
    if sketch.filter().counting().is_none() {
        bail!(
            "{} does not count: it is a {}, for `lately inspect`; make a sketch with `lately sketch \
             build`",
            path.display(),
            sketch.filter().blueprint().structure()
        );
    }
    Ok(Counter::from_untyped(sketch)?)
}

fn save(sketch: &Counter, path: &Path) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        return output::print_bytes(&sketch.save());
    }
    // Through links, so that the file is replaced and not a link to it.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    state::replace(&path, &[&sketch.save()])
}

fn build(request: &Build) -> anyhow::Result<()> {
    let mut sketch = request.builder()?.build()?;
    let files = Files::once(&request.files);
    let mut counts = Counts::new();
    let (_, unjudged) =
        watch::read(files, request.recipe(), &request.watching, &mut counts, |chunk, _| {
            let filter = sketch.filter_mut();
            for hashes in chunk.records.hashes().chunks(32) {
                filter.prefetch_hashes(hashes);
                hashes.iter().for_each(|&hash| _ = filter.insert_hash(hash, Time::ZERO));
            }
            Ok(())
        })?;
    request.watching.tell(&unjudged)?;
    save(&Counter::from_untyped(sketch)?, &request.output)
}

fn merge(request: &Merge) -> anyhow::Result<()> {
    let [first, rest @ ..] = &request.sketches[..] else { bail!("name the sketches to add") };
    let mut sum = open(first)?;
    for path in rest {
        let added = sum.merge(&open(path)?);
        added.with_context(|| cannot("add", path, first))?;
    }
    save(&sum, &request.output)
}

fn multiply(request: &Multiply) -> anyhow::Result<()> {
    let mut product = open(&request.one)?;
    let multiplied = product.multiply(&open(&request.other)?);
    multiplied.with_context(|| cannot("multiply", &request.other, &request.one))?;
    save(&product, &request.output)
}

fn cannot(what: &str, other: &Path, first: &Path) -> String {
    let (other, first) = (other.display(), first.display());
    format!("cannot {what} {other} and {first}, make both with the same options")
}

fn query(request: &Query) -> anyhow::Result<()> {
    let sketch = open(&request.sketch)?;
    let counter = sketch.counting();
    let recipe = request.keying.recipe(sketch.hashing(), Keys::Kept);
    let mut listing = Listing::new(&recipe, request.json);
    let mut asked = Vec::new();
    let mut counts = Counts::new();
    let files = Files::once(&request.files);
    let (_, unjudged) = watch::read(files, recipe, &request.watching, &mut counts, |chunk, _| {
        let hashes = chunk.records.hashes();
        if request.sum {
            asked.push(Aggregate::over(counter, hashes.iter().copied()));
            return Ok(());
        }
        for (&hash, key) in hashes.iter().zip(chunk.records.keys()) {
            let count = counter.count_hash(hash, Time::ZERO);
            if count >= request.above.unwrap_or(0) {
                listing.print(&[("count", count)], key)?;
            }
        }
        // Whoever asks key by key waits for answers.
        listing.flush()
    })?;
    if request.sum {
        print_sum(&asked.into_iter().sum(), request.json)?;
    }
    request.watching.tell(&unjudged)
}

fn print_sum(all: &Aggregate, as_json: bool) -> anyhow::Result<()> {
    let Aggregate { keys, seen, sum, largest, least } = *all;
    if as_json {
        let mean = all.mean();
        let figures = json!({ "keys": keys, "seen": seen, "sum": sum, "mean": mean,
            "least": least, "largest": largest });
        return output::print(&format!("{figures}\n"));
    }
    let mean = all.mean().map_or("-".to_owned(), |mean| format!("{mean:.3}"));
    output::print(&format!(
        "keys     {keys}\nseen     {seen}\nsum      {sum}\nmean     {mean}\n\
         least    {least}\nlargest  {largest}\n"
    ))
}
