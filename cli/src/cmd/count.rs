//! `lately count`: how often each key came.

use anyhow::bail;
use lately::Hashing;

use super::Ended;
use crate::args::Count;
use crate::input::Ending;
use crate::listing::Listing;
use crate::records::Keys;
use crate::stats::Counts;
use crate::tally::Tally;
use crate::watch;

/// How many records before its turn the memory of a key is asked for.
const AHEAD: usize = 16;

pub(crate) fn run(request: &Count) -> anyhow::Result<Ended> {
    let goal = request.counted.goal()?;
    let recipe = request.reading.recipe(goal.window, Hashing::Fast(request.seed()), Keys::Kept);
    let (room, at_least) = (request.room(), request.above.unwrap_or(1));
    let mut tally = match request.first(goal.window) {
        Some(most) => Tally::of_first(goal, request.seed(), most)?,
        None => Tally::of_often(goal, request.seed(), room, at_least)?,
    };
    let mut listing = Listing::new(&recipe, request.printing.json);
    let mut counts = Counts::new();
    let files = request.reading.files();
    let (ending, unjudged) =
        watch::read(files, recipe, &request.watching, &mut counts, |chunk, counts| {
            let hashes = chunk.records.hashes();
            hashes.iter().take(AHEAD).for_each(|&hash| tally.prefetch(hash));
            let ahead = hashes.iter().skip(AHEAD).map(Some).chain(std::iter::repeat(None));
            let keys = watch::sightings(chunk).zip(chunk.records.keys()).zip(ahead);
            for (((hash, moment), key), ahead) in keys {
                if let Some(&ahead) = ahead {
                    tally.prefetch(ahead);
                }
                let new = tally.add(hash, key, moment);
                counts.unique += u64::from(new);
                counts.duplicates += u64::from(!new);
            }
            // Records that tell their time turn the clock themselves.
            if chunk.records.times().is_empty() {
                tally.turn(chunk.now);
            }
            Ok(())
        })?;
    counts.late = tally.late();

    let most = usize::try_from(request.top.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let found = tally.list(at_least)?;
    for &(key, count) in found.iter().take(most) {
        listing.print(&[("count", count)], key)?;
    }
    listing.flush()?;
    if request.printing.figures.are_wanted() {
        let report = counts.report(tally.about());
        request.printing.figures.tell(&report, || report.json())?;
    }
    request.watching.tell(&unjudged)?;
    let floor = tally.floor();
    if floor > at_least && found.len() < most {
        bail!(
            "there was room for {} keys only, so those that came less than {floor} times are not \
             all printed; ask for --above {floor}, or give more --room",
            room
        );
    }
    Ok(match ending {
        Ending::Stopped(signal) => Ended::Stopped(signal),
        Ending::Complete if found.is_empty() && request.printing.exit_status => Ended::NothingNew,
        Ending::Complete => Ended::Well,
    })
}
