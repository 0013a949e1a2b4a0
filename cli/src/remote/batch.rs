//! Which records of a batch are new, if the filter was asked about all of them beforehand.
//!
//! The filter knows nothing of the batch yet. So its answer holds for the first of equal records; what
//! those after it are follows from how far they are from it: `a b a` is new, new and seen in a window of
//! the last two or more, and new, new and new in that of the last one.

use std::collections::HashMap;

use lately::{Time, Window};

use super::Shards;
use crate::judge::Repeats;

/// Turns answers about a batch into verdicts on its records: `new` says of each whether the filter
/// does not know it, and then whether it is new where it stands. `times` is empty, or has a moment for
/// each.
pub(crate) fn resolve(
    (window, shards, repeats): (Window, Shards, Repeats),
    hashes: &[u64],
    times: &[Time],
    new: &mut [bool],
) {
    // Where the window of a key began: after how many records of its shard, and when.
    let mut begun: HashMap<u64, (u64, Time)> = HashMap::with_capacity(hashes.len());
    let mut counts = vec![0_u64; shards.0 as usize];
    let mut latest = Time::ZERO;
    for (place, (&hash, new)) in hashes.iter().zip(new).enumerate() {
        let count = &mut counts[shards.of(hash)];
        // What is late happens with the latest.
        latest = latest.max(times.get(place).copied().unwrap_or_default());
        if let Some(&(before, moment)) = begun.get(&hash) {
            *new = match window {
                Window::Last(n) => *count - before > shards.window(n),
                Window::Within(span) => latest.millis() - moment.millis() > span.millis(),
                Window::Ever => false,
            };
        }
        if *new || repeats == Repeats::Refresh {
            begun.insert(hash, (*count, latest));
        }
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use lately::Span;

    use super::*;

    fn verdicts(window: Window, repeats: Repeats, hashes: &[u64], times: &[u64]) -> Vec<bool> {
        let times: Vec<_> = times.iter().map(|&millis| Time::from_millis(millis)).collect();
        // Of all keys the filter knows one.
        let mut new: Vec<_> = hashes.iter().map(|&hash| hash != 9).collect();
        resolve((window, Shards(1), repeats), hashes, &times, &mut new);
        new
    }

    #[test]
    fn repeats_within_a_batch() {
        let (yes, no) = (true, false);
        let hashes = [1, 2, 1, 9, 1, 3, 4, 2];
        let ever = [yes, yes, no, no, no, yes, yes, no];
        assert_eq!(verdicts(Window::Ever, Repeats::Refresh, &hashes, &[]), ever);
        let refreshed = [yes, yes, no, no, no, yes, yes, yes];
        assert_eq!(verdicts(Window::Last(2), Repeats::Refresh, &hashes, &[]), refreshed);
        let left = [yes, yes, no, no, yes, yes, yes, yes];
        assert_eq!(verdicts(Window::Last(2), Repeats::Leave, &hashes, &[]), left);
        // Ten milliseconds; the fourth is late.
        let span = Window::Within(Span::from_millis(10));
        let (hashes, times) = ([1, 1, 1, 2, 2, 1], [0, 8, 16, 5, 27, 27]);
        let refreshed = [yes, no, no, yes, yes, yes];
        assert_eq!(verdicts(span, Repeats::Refresh, &hashes, &times), refreshed);
        let left = [yes, no, yes, yes, yes, yes];
        assert_eq!(verdicts(span, Repeats::Leave, &hashes, &times), left);
    }
}
