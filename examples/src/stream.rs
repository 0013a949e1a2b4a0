//! Drops what a queue delivered twice from a stream of `tokio`, and keeps what it knows on disk.
//! `cargo run -p lately-examples --example stream`

use std::path::Path;
use std::{fs, io};

use lately::Lately;
use tokio_stream::{Stream, StreamExt};

/// Events that did not come among the last million.
fn fresh(mut seen: Lately, events: impl Stream<Item = u64>) -> impl Stream<Item = (u64, Vec<u8>)> {
    events.filter_map(move |event| {
        // What is known goes along with some events: whoever handles them saves it afterwards.
        let is_new = seen.insert(event);
        is_new.then(|| (event, if event % 1000 == 999 { seen.save() } else { Vec::new() }))
    })
}

fn open(path: &Path) -> Result<Lately, Box<dyn std::error::Error>> {
    match fs::read(path) {
        Ok(saved) => Ok(Lately::open(&saved)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(Lately::last(1_000_000).error(1e-6).build()?)
        }
        Err(error) => Err(error.into()),
    }
}

/// Handles events, and returns how many.
fn run(path: &Path, events: Vec<u64>) -> Result<u64, Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut fresh = Box::pin(fresh(open(path)?, tokio_stream::iter(events)));
    let mut handled = 0;
    while let Some((_event, saved)) = runtime.block_on(fresh.next()) {
        handled += 1;
        if !saved.is_empty() {
            let beside = path.with_extension("tmp");
            fs::write(&beside, saved)?;
            fs::rename(beside, path)?;
        }
    }
    Ok(handled)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("lately-stream-{}", std::process::id()));
    println!("{} of 6000 are new", run(&path, (0..3000).chain(0..3000).collect())?);
    println!("after a restart, {} of 4000 are new", run(&path, (0..4000).collect())?);
    Ok(fs::remove_file(path)?)
}

#[test]
fn a_restart_forgets_nothing_that_was_saved() {
    let path = std::env::temp_dir().join(format!("lately-test-{}", std::process::id()));
    assert_eq!(run(&path, (0..3000).chain(0..3000).collect()).unwrap(), 3000);
    let again = run(&path, (0..4000).collect()).unwrap();
    fs::remove_file(path).unwrap();
    assert_eq!(again, 1000);
}
