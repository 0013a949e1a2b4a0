//! Dictionaries of short hashes with counts, for the rings of [`short_hash`](super::short_hash).

mod hashed;
mod quotient;
mod whole;

pub use hashed::HashCounts;
pub use quotient::QuotientCounts;
pub use whole::WholeHashes;

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
    use super::{HashCounts, QuotientCounts};
    use crate::hash::{reduce, remix};

    #[test]
    fn hash_counts_agree_with_a_plain_map() {
        agrees_with_a_plain_map::<HashCounts>(&[2, 5, 9, 64]);
    }

    #[test]
    fn quotient_counts_agree_with_a_plain_map() {
        agrees_with_a_plain_map::<QuotientCounts>(&[2, 3, 7, 40]);
    }

    /// A window of random, clustered and constant hashes, one or several at a time, against a map: after
    /// every step the hash that came, the one that left and a random one count as they should.
    fn agrees_with_a_plain_map<C: Counts>(lengths: &[u32]) {
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
                    let mut ring: VecDeque<(u64, u64)> = VecDeque::new();
                    let mut held = 0;
                    for step in 0..6 * window + 500 {
                        let label =
                            format!("{bits} bits, window {window}, stream {number}, {step}");
                        let came = 1 + stream(step);
                        let many = step % 5 == 4;
                        let times = if many { remix(step, 5) % (window + 1) } else { 1 };
                        let mut left = came;
                        while held + times > window {
                            let (oldest, all) = ring.pop_front().unwrap();
                            let leaving = all.min(held + times - window);
                            (left, held) = (oldest, held - leaving);
                            counts.take(left, leaving);
                            take(&mut plain, left, leaving);
                            if leaving < all {
                                ring.push_front((left, all - leaving));
                            }
                        }
                        counts.add(came, times);
                        if times > 0 {
                            *plain.entry(came).or_default() += times;
                            ring.push_back((came, times));
                            held += times;
                        }
                        for asked in [came, left, 1 + reduce(remix(step, 9), values).0] {
                            let copies = plain.get(&asked).copied().unwrap_or(0);
                            assert_eq!(counts.copies(asked), copies, "{label}");
                        }
                        assert_eq!(counts.distinct(), plain.len() as u64, "{label}");
                    }
                    // Those made at once are the same, and stay so.
                    let all = ring
                        .iter()
                        .flat_map(|&(short, times)| std::iter::repeat_n(short, times as usize));
                    let mut made = C::of(window, bits, all.collect());
                    while let Some((left, times)) = ring.pop_front() {
                        assert_eq!(made.distinct(), plain.len() as u64);
                        let some = ring.iter().map(|&(short, _)| short).take(5).chain([left]);
                        for asked in some.chain((0..20).map(|i| 1 + reduce(remix(i, 10), values).0))
                        {
                            let copies = plain.get(&asked).copied().unwrap_or(0);
                            assert_eq!(made.copies(asked), copies, "{bits} bits, window {window}");
                        }
                        made.take(left, times);
                        take(&mut plain, left, times);
                    }
                    assert_eq!(made.distinct(), 0);
                }
            }
        }
    }

    fn take(plain: &mut HashMap<u64, u64>, short: u64, times: u64) {
        let copies = plain.get_mut(&short).unwrap();
        *copies -= times;
        if *copies == 0 {
            plain.remove(&short);
        }
    }
}
