//! Damaged and forged snapshots: an error, never a panic, never memory that the input does not
//! justify.

use std::sync::LazyLock;

use crate::heap::counted;
use crate::samples::{HASHING, KEYS, filled, key_hash, moment, samples, single_bits, variants};
use lately::catalog::Row;
use lately::plan::Goal;
use lately::raw::codec::{self, CHECKSUM_BYTES, HEADER_BYTES, MAGIC, Writer};
use lately::raw::{Blueprint, Filter, Told, remix};
use lately::spectral::{Rows, Rule, SpectralParameters, Storage};
use lately::{Error, ErrorRate, Hashing, Memory, Seed, Span, Time, Window};
use lately_papers::CATALOG;
use testkit::cpu::assert_proportional;
use xxhash_rust::xxh3::xxh3_64;

/// Opens bytes, and fails if that allocated more than twice the input and a megabyte, all
/// allocations added up.
fn open(bytes: &[u8]) -> Result<Box<dyn Filter>, Error> {
    let (opened, taken) = counted(|| codec::open_of(CATALOG, bytes));
    let allocated = taken.bytes_total;
    let justified = 2 * bytes.len() as u64 + (1 << 20);
    assert!(allocated <= justified, "{allocated} bytes for an input of {}", bytes.len());
    opened.map(|(filter, _)| filter)
}

/// The bytes with a checksum that fits them.
pub fn forge(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - CHECKSUM_BYTES;
    let checksum = xxh3_64(&bytes[..end]).to_le_bytes();
    bytes[end..].copy_from_slice(&checksum);
    bytes
}

/// The snapshot of every sample.
fn snapshots() -> Vec<(&'static str, Vec<u8>)> {
    let snapshot = |filter: &dyn Filter| codec::save(filter, HASHING);
    let samples = samples().into_iter().map(|(_, filter)| filter);
    let named = |filter: Box<dyn Filter>| (filter.blueprint().structure(), snapshot(&*filter));
    samples.chain(variants()).map(named).collect()
}

/// Hashes of the keys of samples, and of some more.
static HASHES: LazyLock<Vec<u64>> = LazyLock::new(|| (0..KEYS + AHEAD).map(key_hash).collect());
const AHEAD: u64 = 7;

/// Uses a filter that a forged snapshot gave: answers may be anything, but they must come.
fn exercise(mut filter: Box<dyn Filter>) {
    for ((i, &hash), &ahead) in (0..KEYS).zip(&*HASHES).zip(&HASHES[AHEAD as usize..]) {
        filter.contains_hash(hash, moment(i));
        filter.insert_hash(hash, moment(i));
        filter.insert_new_hash(ahead, moment(i));
    }
    if let Some(counter) = filter.as_counting() {
        for (i, &hash) in (0..8).zip(&*HASHES) {
            counter.add_hash(hash, 1 << (8 * i), moment(i));
            counter.count_hash(hash, moment(i));
            let _ = counter.take_back_hash(hash, 2, moment(i));
        }
    }
    filter.false_positive_rate();
    codec::save(&*filter, HASHING);
}

#[test]
fn truncated_at_every_byte() {
    for (name, bytes) in snapshots() {
        for length in 0..bytes.len() {
            assert!(open(&bytes[..length]).is_err(), "{name}: cut to {length}");
        }
        assert!(open(&bytes).is_ok());
    }
}

#[test]
fn every_bit_flipped() {
    for (name, bytes) in snapshots() {
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&damaged).is_err(), "{name}: bit {bit}");
        }
    }
}

#[test]
fn every_bit_forged() {
    for (_, bytes) in snapshots() {
        for bit in 0..8 * (bytes.len() - CHECKSUM_BYTES) {
            let mut forged = bytes.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(filter) = open(&forge(forged)) {
                exercise(filter);
            }
        }
    }
}

#[test]
fn random_words_forged_into_parameters_and_payload() {
    for (_, bytes) in snapshots() {
        for round in 0..4_000 {
            let mut forged = bytes.clone();
            let last = bytes.len() - CHECKSUM_BYTES - 8;
            let at = HEADER_BYTES + (remix(round, 1) % (last - HEADER_BYTES + 1) as u64) as usize;
            let small = remix(round, 2) >> (remix(round, 3) % 64);
            forged[at..at + 8].copy_from_slice(&small.to_le_bytes());
            if let Ok(filter) = open(&forge(forged)) {
                exercise(filter);
            }
        }
    }
}

#[test]
fn lengths_that_promise_more_than_there_is() {
    for (name, bytes) in snapshots() {
        for (offset, size) in [(32, 4), (36, 8)] {
            let mut forged = bytes.clone();
            forged[offset..offset + size].fill(0xff);
            let error = open(&forge(forged)).unwrap_err();
            assert!(matches!(error, Error::Truncated { .. }), "{name}: {error}");
        }
    }
}

#[test]
fn bytes_after_the_end() {
    for (name, mut bytes) in snapshots() {
        bytes.push(0);
        assert!(matches!(open(&bytes), Err(Error::Length { .. })), "{name}");
    }
}

/// Nothing may hide in a snapshot: under a right checksum and with right lengths, bytes that no field
/// claims are refused, wherever they are.
#[test]
fn bytes_that_nobody_claims() {
    for (name, bytes) in snapshots() {
        let parameters = u32::from_le_bytes(bytes[32..36].try_into().unwrap());
        let payload = u64::from_le_bytes(bytes[36..44].try_into().unwrap());
        let end = bytes.len() - CHECKSUM_BYTES;
        for surplus in [1, 8, 64] {
            let mut longer = bytes.clone();
            longer[32..36].copy_from_slice(&(parameters + surplus).to_le_bytes());
            let at = HEADER_BYTES + parameters as usize;
            longer.splice(at..at, vec![0; surplus as usize]);
            refused(&longer, &format!("{name}: {surplus} bytes after the parameters"));

            let mut longer = bytes.clone();
            longer[36..44].copy_from_slice(&(payload + u64::from(surplus)).to_le_bytes());
            longer.splice(end..end, vec![0; surplus as usize]);
            refused(&longer, &format!("{name}: {surplus} bytes after the payload"));

            // The same bytes, claimed by the wrong one of both.
            let mut shifted = bytes.clone();
            shifted[32..36].copy_from_slice(&(parameters + surplus).to_le_bytes());
            if let Some(rest) = payload.checked_sub(surplus.into()) {
                shifted[36..44].copy_from_slice(&rest.to_le_bytes());
                refused(&shifted, &format!("{name}: {surplus} bytes of the payload as parameters"));
            }
        }
    }
}

/// A forged snapshot must be refused, and never by its checksum.
fn refused(bytes: &[u8], label: &str) {
    match open(&forge(bytes.to_vec())) {
        Ok(_) => panic!("{label}: accepted"),
        Err(error) => assert!(!matches!(error, Error::Checksum { .. }), "{label}: {error}"),
    }
}

/// A slice by time that claims to hold more keys than its size allows would break the promised error
/// from then on.
#[test]
fn slices_that_claim_more_than_they_hold() {
    let sample = samples().into_iter().find(|(row, _)| row.name == "time-limited").unwrap().1;
    for filter in [sample, filled(&single_bits())] {
        let bytes = codec::save(&*filter, HASHING);
        let end = bytes.len() - CHECKSUM_BYTES;
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let (mut slices, mut capacity_of_all) = (0, 0);
        for at in HEADER_BYTES..end - 33 {
            // A slice is block words, bits, capacity, received, whether and when it was last used,
            // and its words: a capacity is where that is so, and where no other value is taken.
            let (bits, capacity, received) = (word(at + 4), word(at + 12), word(at + 20));
            let block_words = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let plausible =
                block_words <= 8 && (1..1 << 20).contains(&bits) && received <= capacity;
            if !plausible || !(1..1 << 20).contains(&capacity) || bytes[at + 28] > 1 {
                continue;
            }
            let with_capacity = |capacity: u64| {
                let mut forged = bytes.clone();
                forged[at + 12..at + 20].copy_from_slice(&capacity.to_le_bytes());
                open(&forge(forged))
            };
            // Whatever else looks like one is refused as something else, or not at all.
            let Err(Error::Field { field: "capacity", .. }) = with_capacity(u64::MAX) else {
                continue;
            };
            slices += 1;
            capacity_of_all += capacity;
            assert!(with_capacity(capacity).is_ok());
            for more in [2 * capacity + 10, 1 << 40] {
                let error = with_capacity(more).unwrap_err();
                assert!(matches!(error, Error::Field { field: "capacity", .. }), "{error}");
            }
        }
        assert!(slices > 3 && capacity_of_all > 0, "{slices} slices");
    }
}

/// However its content is chosen, a snapshot eight times as long takes about eight times as long to
/// open: nobody can hang a server with a few kilobytes.
#[test]
fn opening_takes_time_in_proportion() {
    let streams: [(&str, Stream); 3] = [
        ("random", |i, _| remix(i, 1)),
        // All in one corner of tables that mix the hash once more.
        ("in a corner", |i, _| (64 * i..).find(|&hash| remix(hash, 0) >> 58 == 0).unwrap()),
        // Neighbours in tables that do not, the last first.
        ("backwards", |i, n| (2 * n - i) * (u64::MAX / (1_024 * n))),
    ];
    for row in CATALOG.iter() {
        for (name, hash) in streams {
            let [Some(some), Some(eightfold)] = [2_000, 16_000].map(|n| crowded(row, n, hash))
            else {
                continue;
            };
            let [some, eightfold] = [some, eightfold].map(|filter| codec::save(&*filter, HASHING));
            let open = |bytes: &[u8]| drop(codec::open_of(CATALOG, bytes).unwrap());
            let label = format!("{} of {name} hashes", row.name);
            assert_proportional(&label, &some, &eightfold, open);
        }
    }
    // Counters of all lengths, which their writer would have stored otherwise.
    for storage in [Storage::StringArray, Storage::Serial, Storage::Pools] {
        let [some, eightfold] = [2_000, 16_000].map(|n| {
            let rows = Rows { width: n, hashes: 2 };
            let (rule, bytes) = (Rule::MinimumSelection, Storage::Bytes);
            let written = SpectralParameters { items: n, rows, rule, storage: bytes };
            let mut filter = written.allocate(Seed(0));
            let counting = filter.as_counting().unwrap();
            for i in 0..n {
                counting.add_hash(remix(i, 1), 1 << (i % 50), Time::ZERO);
            }
            let snapshot = codec::save(&*filter, HASHING);
            let parameters = |parameters: &SpectralParameters| {
                let mut out = Writer::new();
                parameters.write_parameters(&mut out);
                out.into_bytes()
            };
            let (before, after) =
                (parameters(&written), parameters(&SpectralParameters { storage, ..written }));
            let (head, rest) = snapshot.split_at(HEADER_BYTES);
            assert_eq!(before.len(), after.len());
            forge([head, &after, rest.strip_prefix(&before[..]).unwrap()].concat())
        });
        let open = |bytes: &[u8]| drop(codec::open_of(CATALOG, bytes).unwrap());
        assert_proportional(&format!("{storage:?}"), &some, &eightfold, open);
        // And so does adding them up.
        let merge = |bytes: &[u8]| {
            let [mut ours, theirs] = [0, 1].map(|_| codec::open_of(CATALOG, bytes).unwrap().0);
            ours.as_counting().unwrap().merge(&*theirs).unwrap();
        };
        assert_proportional(&format!("merged {storage:?}"), &some, &eightfold, merge);
    }
}

/// The i-th hash of n.
type Stream = fn(u64, u64) -> u64;

/// A filter for so many keys, and as many of these hashes in it; `None` if a row is for fewer.
fn crowded(row: &Row, n: u64, hash: Stream) -> Option<Box<dyn Filter>> {
    let rate = ErrorRate::new(0.001).unwrap();
    let counted = Goal::new(Window::Last(n), rate);
    let timed = Goal::new(Window::Within(Span::from_millis(1_000)), rate);
    let ever = Goal { expected_items: Some(n), ..Goal::new(Window::Ever, rate) };
    let goals = [
        counted,
        Goal { expected_items: Some(n), ..timed },
        ever,
        Goal { shortening: Some(Memory::from_bytes(64 * n + (1 << 16))), ..timed },
        Goal { counting: true, ..ever },
        Goal { counting: true, ..counted },
        Goal::new(Window::Last(n), Memory::from_bytes(2 * n)),
    ];
    let blueprint = goals.iter().find_map(|goal| (row.propose)(goal).ok())?;
    let mut filter = blueprint.build(HASHING.structure_seed()).unwrap();
    // One scans all that it holds at every insertion.
    let keys = if row.name == "compact-short-hash" { n / 16 } else { n };
    for i in 0..keys {
        filter.insert_hash(hash(i, n), Time::ZERO);
    }
    Some(filter)
}

#[test]
fn another_kind_of_file() {
    for bytes in [&b"{\"a\": 1}"[..], b"REDIS0011", &[0; 100], &[0xff; 100]] {
        assert_eq!(open(bytes).unwrap_err(), Error::NotASnapshot);
    }
    assert!(matches!(open(&MAGIC[..3]), Err(Error::Truncated { .. })));
    assert!(matches!(open(b""), Err(Error::Truncated { .. })));
}

#[test]
fn written_by_a_newer_release() {
    let (_, bytes) = snapshots().swap_remove(0);
    let mut newer = bytes.clone();
    newer[8..10].copy_from_slice(&(codec::VERSION + 1).to_le_bytes());
    let error = open(&newer).unwrap_err();
    assert_eq!(error, Error::Version { newest: codec::VERSION, found: codec::VERSION + 1 });
    assert!(error.to_string().contains("upgrade"));
    let mut unknown = bytes;
    unknown[10..12].copy_from_slice(&u16::MAX.to_le_bytes());
    assert_eq!(open(&forge(unknown)).unwrap_err(), Error::Family { found: u16::MAX });
}

#[test]
fn the_secret_key_survives() {
    let (_, filter) = samples().swap_remove(0);
    let hashing = Hashing::Keyed([9; 16]);
    let (_, opened) = codec::open_of(CATALOG, &codec::save(&*filter, hashing)).unwrap();
    assert_eq!(opened, hashing);
}
