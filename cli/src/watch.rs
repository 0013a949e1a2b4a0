//! Reads whole files for commands that look at keys, not at records.

use anyhow::bail;
use lately::Time;

use crate::args::{Keyless, Watching};
use crate::input::{Chunk, Ending, Event, Files, Stream};
use crate::progress::Progress;
use crate::records::Recipe;
use crate::signals::OnSignals;
use crate::stats::Counts;
use crate::unjudged::Unjudged;

/// Hands every chunk to `each`, to the end, or if the files have none, until someone asks to stop:
/// [`Ending`] says which. Records without a key are counted, or are an error; [`Unjudged`] has what
/// there is to say of them.
pub(crate) fn read(
    files: Files,
    recipe: Recipe,
    watching: &Watching,
    counts: &mut Counts,
    mut each: impl FnMut(&Chunk, &mut Counts) -> anyhow::Result<()>,
) -> anyhow::Result<(Ending, Unjudged)> {
    let progress = if watching.no_progress {
        Progress::none()
    } else {
        // Nothing is printed before the end.
        Progress::new(files.bytes(), true)
    };
    let mut unjudged = Unjudged::new(&recipe);
    let on_signals = if files.follow { OnSignals::EndInOrder } else { OnSignals::Die };
    let stream = Stream::start(files, recipe, on_signals)?;
    loop {
        match stream.wait(None) {
            Some(Event::Chunk(chunk)) => {
                put_aside(&chunk, watching.missing, counts)?;
                unjudged.look_at(&chunk);
                counts.bytes += chunk.length() as u64;
                each(&chunk, counts)?;
                progress.set(stream.progress());
                stream.recycle(*chunk);
            }
            Some(Event::End(end)) => return end.map(|ending| (ending, unjudged)),
            None => {}
        }
    }
}

/// The records of a chunk that have keys: the hash and the moment of each.
pub(crate) fn sightings(chunk: &Chunk) -> impl Iterator<Item = (u64, Time)> {
    let (hashes, times) = (chunk.records.hashes(), chunk.records.times());
    let moments = times.iter().copied().chain(std::iter::repeat(chunk.now));
    hashes.iter().copied().zip(moments)
}

fn put_aside(chunk: &Chunk, missing: Option<Keyless>, counts: &mut Counts) -> anyhow::Result<()> {
    for &(index, aside) in chunk.records.asides() {
        counts.put_aside(aside);
        if missing == Some(Keyless::Fail) && aside.is_fault() {
            let number = chunk.before + index as u64 + 1;
            bail!(
                "{}: record {number} {aside}; correct it, or leave such records out \
                 (--missing skip)",
                chunk.origin
            );
        }
    }
    Ok(())
}
