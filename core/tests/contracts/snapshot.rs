//! Saved and opened, a filter goes on as if nothing had happened.

use lately::raw::codec;

use super::membership::{HASHING, hash, some_streams};
use super::subjects::Subject;
use lately::Time;

/// At several moments of a stream, the filter is saved and opened: the copy saves to the same
/// bytes, promises the same, and gives the same answers to the rest of the stream.
pub fn saving_changes_nothing(subject: &Subject) {
    for (seed, (name, keys)) in (1..).zip(some_streams()) {
        let hashes: Vec<u64> = keys.take(subject.few_steps()).map(|key| hash(seed, key)).collect();
        let mut filter = (subject.build)(seed);
        let mut copies = Vec::new();
        let mut answers = Vec::new();
        let moments = [0, 1, 2, hashes.len() / 3, hashes.len() / 2];
        for (step, &hash) in hashes.iter().enumerate() {
            if moments.contains(&step) {
                let bytes = codec::save(&*filter, HASHING);
                let (copy, hashing) = codec::open_of(lately_papers::CATALOG, &bytes).expect(name);
                assert_eq!(hashing, HASHING);
                assert_eq!(codec::save(&*copy, HASHING), bytes, "{}: {name}", subject.label);
                assert_eq!(copy.blueprint().promise(), filter.blueprint().promise());
                copies.push((step, copy));
            }
            answers.push(filter.insert_hash(hash, Time::from_millis(step as u64)));
        }
        for (start, mut copy) in copies {
            for (step, &hash) in hashes.iter().enumerate().skip(start) {
                let answer = copy.insert_hash(hash, Time::from_millis(step as u64));
                assert_eq!(
                    answer, answers[step],
                    "{}: {name}: saved at {start}, differs at {step}",
                    subject.label
                );
            }
        }
    }
}
