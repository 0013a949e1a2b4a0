//! Dictionaries of short hashes with counts, for the rings of [`short_hash`](super::short_hash).

mod hashed;
mod quotient;

pub use hashed::HashCounts;
pub use quotient::QuotientCounts;

/// How far what lies at these places, in their order and each as soon after its own as there is room,
/// reaches beyond the last slot, and so into the first. Each is a place and a length; all have room.
fn beyond(slots: usize, places: impl Iterator<Item = (usize, usize)>) -> usize {
    // What goes on at the first slot may push what lies there, but not up to the end once more: some
    // slot is free.
    let end = places.fold(0, |end: usize, (place, length)| end.max(place) + length);
    end.saturating_sub(slots)
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, VecDeque};

    use super::super::short_hash::Counts;
    use crate::hash::{reduce, remix};

    /// A window of random, clustered and constant hashes, against a map: after every step the hash
    /// that came, the one that left and a random one are known exactly when they should be.
    pub fn agrees_with_a_plain_map<C: Counts>(lengths: &[u32]) {
        for &bits in lengths {
            for window in [1u64, 2, 3, 20, 300] {
                let values = C::values(window, bits);
                let streams: [&dyn Fn(u64) -> u64; 5] = [
                    &|step| reduce(remix(step, 1), values).0,
                    &|step| remix(step, 2) % values.min(5),
                    &|step| values - 1 - remix(step, 3) % values.min(30),
                    &|_| values / 2,
                    &|step| if step % 500 < 250 { values - 1 } else { remix(step, 4) % values },
                ];
                for (number, stream) in streams.iter().enumerate() {
                    let mut counts = C::new(window, bits);
                    let mut plain: HashMap<u64, u64> = HashMap::new();
                    let mut ring = VecDeque::new();
                    for step in 0..6 * window + 500 {
                        let label =
                            format!("{bits} bits, window {window}, stream {number}, {step}");
                        let came = 1 + stream(step);
                        let mut left = came;
                        if ring.len() as u64 == window {
                            left = ring.pop_front().unwrap();
                            counts.take(left);
                            let copies = plain.get_mut(&left).unwrap();
                            *copies -= 1;
                            if *copies == 0 {
                                plain.remove(&left);
                            }
                        }
                        counts.add(came);
                        *plain.entry(came).or_default() += 1;
                        ring.push_back(came);
                        for asked in [came, left, 1 + reduce(remix(step, 9), values).0] {
                            assert_eq!(
                                counts.contains(asked),
                                plain.contains_key(&asked),
                                "{label}"
                            );
                        }
                        assert_eq!(counts.distinct(), plain.len() as u64, "{label}");
                    }
                    // Those made at once are the same, and stay so.
                    let mut made = C::of(window, bits, ring.iter().copied().collect());
                    while let Some(left) = ring.pop_front() {
                        assert_eq!(made.distinct(), plain.len() as u64);
                        for asked in ring.iter().copied().take(5).chain([left]) {
                            assert!(made.contains(asked), "{bits} bits, window {window}");
                        }
                        for asked in (0..20).map(|i| 1 + reduce(remix(i, 10), values).0) {
                            assert_eq!(made.contains(asked), plain.contains_key(&asked));
                        }
                        made.take(left);
                        let copies = plain.get_mut(&left).unwrap();
                        *copies -= 1;
                        if *copies == 0 {
                            plain.remove(&left);
                        }
                    }
                    assert_eq!(made.distinct(), 0);
                }
            }
        }
    }
}
