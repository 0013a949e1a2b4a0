//! The detectors that the paper compares, with its parameters: alone, in a queue, and what laws and theorems
//! say of them.

use lately::duplicates::law::{Crowd, Stream, theorem_7, theorem_8};
use lately::duplicates::{
    AloneParameters, Detector, Even, QueuingParameters, QuotientTable, Rotation, Subfilter, Update,
};
use lately::raw::{Blueprint, Mistakes};
use lately_papers::{Cuckoo, Ones, StableBloom, StreamingQuotient};

use super::Point;

/// A detector with the parameters that the paper compares.
#[derive(Clone, Copy)]
pub enum Part {
    /// A quotient hash table.
    Table(QuotientTable),
    /// A streaming quotient filter.
    Signatures(StreamingQuotient),
    /// A cuckoo filter.
    Cuckoo(Cuckoo),
    /// A stable Bloom filter.
    Stable(StableBloom),
}

/// The four of section 4.2, in so many bits: one bucket of three bits, or two bits per cell.
pub fn published(bits: u64) -> [(&'static str, Part); 4] {
    let ones = Ones { remainder: 2, kept: 1 };
    let signatures = StreamingQuotient::with_bits(bits, 1, ones).expect("there is room");
    let cuckoo = Cuckoo::with_bits(bits, 1, 3).expect("there is room");
    let decrements = StableBloom::decrements_for(bits / 2, 2, 2, 0.02);
    let stable = StableBloom { cells: bits / 2, bits: 2, hashes: 2, decrements };
    [
        ("QHT", Part::Table(table(bits))),
        ("SQF", Part::Signatures(signatures)),
        ("Cuckoo", Part::Cuckoo(cuckoo)),
        ("SBF", Part::Stable(stable)),
    ]
}

/// Its table, in so many bits.
pub fn table(bits: u64) -> QuotientTable {
    let table = QuotientTable::with_bits(bits, 1, Even { bits: 3 }).expect("there is room");
    QuotientTable { update: Update::KeepRandom, ..table }
}

impl Part {
    /// By itself.
    pub fn alone(self, name: &str, window: u64) -> Point {
        fn boxed<D: Detector>(window: u64, detector: D) -> Box<dyn Blueprint> {
            Box::new(AloneParameters { window, detector })
        }
        let blueprint = match self {
            Part::Table(part) => boxed(window, part),
            Part::Signatures(part) => boxed(window, part),
            Part::Cuckoo(part) => boxed(window, part),
            Part::Stable(part) => boxed(window, part),
        };
        Point { series: name.to_owned(), x: window, window, blueprint }
    }

    /// The errors over a whole stream of this length, from empty on.
    pub fn while_filling(self, length: u64, alphabet: u64) -> Mistakes {
        const MOMENTS: u32 = 64;
        let stream = Stream::new(length, Some(alphabet));
        let (mut wrong, mut unseen, mut missed, mut seen) = (0.0, 0.0, 0.0, 0.0);
        for moment in 0..MOMENTS {
            let n = length as f64 * (f64::from(moment) + 0.5) / f64::from(MOMENTS);
            let (errors, repeats) = (self.after(n, n, stream), stream.among(n));
            wrong += (1.0 - repeats) * errors.false_positives;
            unseen += 1.0 - repeats;
            missed += repeats * errors.false_negatives;
            seen += repeats;
        }
        Mistakes { false_positives: wrong / unseen, false_negatives: missed / seen }
    }

    /// In a queue.
    pub fn queued(
        self,
        name: &str,
        window: u64,
        filters: u64,
        rotation: Rotation,
        x: u64,
    ) -> Point {
        let turn = rotation.turn(window, filters);
        fn boxed<S: Subfilter>(queue: (u64, u64, u64), subfilter: S) -> Box<dyn Blueprint> {
            let (window, filters, turn) = queue;
            Box::new(QueuingParameters { window, filters, turn, subfilter })
        }
        let queue = (window, filters, turn);
        let blueprint = match self {
            Part::Table(part) => boxed(queue, part),
            Part::Signatures(part) => boxed(queue, part),
            Part::Cuckoo(part) => boxed(queue, part),
            Part::Stable(part) => boxed(queue, part),
        };
        let how = match rotation {
            Rotation::AsPublished => "as published",
            Rotation::Covering => "covering",
        };
        Point { series: format!("{name} {how}"), x, window, blueprint }
    }

    /// What Theorems 7 and 8 say of so many in a queue.
    pub fn by_theorems(self, window: u64, filters: u64, alphabet: u64) -> Mistakes {
        let stream = Stream::new(window, Some(alphabet));
        let turn = window as f64 / filters as f64;
        let after = |n, last| self.after(n, last, stream);
        Mistakes {
            false_positives: theorem_7(filters, turn, after),
            false_negatives: theorem_8(stream, filters, turn, after),
        }
    }

    fn after(self, n: f64, last: f64, stream: Stream) -> Mistakes {
        match self {
            Part::Table(part) => part.after(n, last, stream, Crowd::AVERAGE),
            Part::Signatures(part) => part.after(n, last, stream, Crowd::AVERAGE),
            Part::Cuckoo(part) => part.after(n, last, stream, Crowd::AVERAGE),
            Part::Stable(part) => part.after(n, last, stream, Crowd::AVERAGE),
        }
    }
}
