//! The words of a bin that say which slots belong to which bucket.

use super::bins::{NOBODY, SLOTS, THRESHOLD_BITS};
use crate::bits::{Isa, planes};

/// The words as one bucket sees them: what a lookup needs, without taking the words apart.
///
/// A lookup waits for memory, and whatever waits with it is in the way of the next lookup. So
/// everything that follows from the bucket alone is done beforehand, and little afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    bucket: Bucket,
    pub(crate) ends: u64,
    /// The words with buckets. Above those of the first, the threshold; above those of the second,
    /// anything.
    words: [u64; 2],
    /// The byte of them with this bucket.
    byte: u8,
}

/// The words taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The [bit](bit_of) of bucket b: it has entries. As many bits are set as in `ends`.
    pub(crate) occupied: [u64; 2],
    /// Entries of smaller buckets are all in this bin. Stored inverted, so that zeroed memory is an
    /// empty bin.
    pub(crate) threshold: u32,
    /// Bit i: slot i is the last of its bucket. The highest one is the last used slot.
    pub(crate) ends: u64,
}

/// The slots of one bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The first slot, or where it would be; 64 beyond the last slot of a full bin.
    pub(crate) first: u32,
    /// The ends from the first slot on; its own is the lowest, or that of the next bucket if it is
    /// empty.
    pub(crate) ends: u64,
    /// Whether it has slots.
    pub(crate) occupied: bool,
}

/// Buckets of the first word; the threshold is above them.
const FIRST_BUCKETS: u32 = u64::BITS - THRESHOLD_BITS;
/// Buckets that a bin may have, or a few more.
const MOST_BUCKETS: usize = 1 << THRESHOLD_BITS;
/// The bits of the buckets of the first word.
pub(crate) const FIRST_MASK: u64 = u64::MAX >> THRESHOLD_BITS;

/// The number of a bucket, below [`MOST_BUCKETS`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket(u8);

impl Bucket {
    #[inline(always)]
    pub(crate) fn new(number: u32) -> Self {
        Self(number as u8 % MOST_BUCKETS as u8)
    }

    /// In which byte of the two words it is.
    #[inline(always)]
    pub(crate) fn byte(self) -> usize {
        // There are no more bytes than that.
        usize::from(BUCKETS.byte[usize::from(self.0)]) % 16
    }

    /// Its bit in that byte.
    #[inline(always)]
    pub(crate) fn bit(self) -> u8 {
        BUCKETS.bit[usize::from(self.0)]
    }
}

/// What follows from the number of a bucket. A table, because that takes a dozen instructions less.
struct Buckets {
    /// For each of the two words, the bits of smaller buckets.
    below: [[u64; MOST_BUCKETS]; 2],
    /// The least first word with a threshold that is not above the bucket.
    elsewhere: [u64; MOST_BUCKETS],
    /// In which byte of the two words its bit is, ...
    byte: [u8; MOST_BUCKETS],
    /// ... and that bit.
    bit: [u8; MOST_BUCKETS],
}

static BUCKETS: Buckets = {
    let mut buckets = Buckets {
        below: [[0; MOST_BUCKETS]; 2],
        elsewhere: [0; MOST_BUCKETS],
        byte: [0; MOST_BUCKETS],
        bit: [0; MOST_BUCKETS],
    };
    let mut bucket = 0;
    while bucket < MOST_BUCKETS {
        let bit = bit_of(bucket as u32) % u128::BITS;
        let bits = (1_u128 << bit) - 1;
        buckets.below[0][bucket] = bits as u64 & FIRST_MASK;
        buckets.below[1][bucket] = (bits >> u64::BITS) as u64;
        // The threshold is stored inverted. What is below it in the word makes no difference.
        buckets.elsewhere[bucket] = (NOBODY as u64 - bucket as u64) << FIRST_BUCKETS;
        buckets.byte[bucket] = (bit / u8::BITS) as u8;
        buckets.bit[bucket] = 1 << (bit % u8::BITS);
        bucket += 1;
    }
    buckets
};

/// The bit of a bucket in the two words.
#[inline(always)]
pub(crate) const fn bit_of(bucket: u32) -> u32 {
    bucket + if bucket < FIRST_BUCKETS { 0 } else { THRESHOLD_BITS }
}

/// The bucket that has a bit.
#[inline(always)]
fn bucket_of(bit: u32) -> u32 {
    if bit < u64::BITS { bit } else { bit - THRESHOLD_BITS }
}

impl Run {
    /// All its slots.
    #[inline(always)]
    pub(crate) fn slots(&self) -> u64 {
        if !self.occupied {
            return 0;
        }
        (self.ends ^ self.ends.wrapping_sub(1)).unbounded_shl(self.first)
    }

    /// True if the slot of the lowest bit of `slots`, counted from the first, belongs to the run, or to
    /// the next one if this is empty. `slots` is not zero.
    #[inline(always)]
    pub(crate) fn reaches(&self, slots: u64) -> bool {
        // Beyond the last run there are no ends, and nothing is reached.
        slots & slots.wrapping_neg() <= self.ends & self.ends.wrapping_neg()
    }

    /// The ends of a bin, with one more entry at the start of this run.
    #[inline(always)]
    pub(crate) fn open(&self, ends: u64) -> u64 {
        planes::open(ends, 1 << self.first, u64::from(!self.occupied))
    }
}

impl View {
    #[inline(always)]
    pub(crate) fn new(bucket: Bucket, ends: u64, words: [u64; 2], byte: u8) -> Self {
        Self { bucket, ends, words, byte }
    }

    /// True if entries of the bucket may live elsewhere.
    #[inline(always)]
    pub(crate) fn overflows(&self) -> bool {
        self.words[0] >= BUCKETS.elsewhere[usize::from(self.bucket.0)]
    }

    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.ends >> (SLOTS - 1) != 0
    }

    #[inline(always)]
    pub(crate) fn run<I: Isa>(&self, isa: I) -> Run {
        let [first, second] = self.words;
        let [first_below, second_below] = &BUCKETS.below;
        let bucket = usize::from(self.bucket.0);
        let rank = (first & first_below[bucket]).count_ones()
            + (second & second_below[bucket]).count_ones();
        // Rank 64 happens only beyond the last bucket of a full bin; nobody uses the answer then.
        let starts = self.ends << 1 | 1;
        let first = isa.deposit(1u64.wrapping_shl(rank), starts).trailing_zeros();
        Run {
            first,
            ends: self.ends.wrapping_shr(first),
            occupied: self.byte & self.bucket.bit() != 0,
        }
    }
}

impl Head {
    #[inline(always)]
    pub(crate) fn run<I: Isa>(&self, isa: I, bucket: u32) -> Run {
        let [first, second] = self.occupied;
        let bucket = Bucket::new(bucket);
        let own = if bucket.byte() < 8 { first } else { second };
        let byte = (own >> (8 * (bucket.byte() % 8))) as u8;
        View::new(bucket, self.ends, self.occupied, byte).run(isa)
    }

    #[inline(always)]
    pub(crate) fn count(&self) -> u32 {
        SLOTS - self.ends.leading_zeros()
    }

    /// The slots in use.
    #[inline(always)]
    pub(crate) fn used(&self) -> u64 {
        u64::MAX.unbounded_shr(self.ends.leading_zeros())
    }

    /// The buckets with entries, in order.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = u32> + use<> {
        let [low, high] = self.occupied;
        let occupied = u128::from(high) << 64 | u128::from(low);
        (0..128 - THRESHOLD_BITS).filter(move |&bucket| occupied >> bit_of(bucket) & 1 == 1)
    }

    /// Makes room for one more entry of `bucket` at the start of its run. The bin must not be full.
    #[inline(always)]
    pub(crate) fn open(&mut self, bucket: u32, run: Run) {
        self.ends = run.open(self.ends);
        let bit = bit_of(bucket);
        let one = 1 << (bit % 64);
        self.occupied[0] |= if bit < 64 { one } else { 0 };
        self.occupied[1] |= if bit < 64 { 0 } else { one };
    }

    /// The first slot of a bucket or a larger one.
    #[inline(always)]
    pub(crate) fn first_slot<I: Isa>(&self, isa: I, bucket: u32) -> usize {
        if bucket as usize >= MOST_BUCKETS {
            return self.count() as usize;
        }
        let [first, second] = self.occupied;
        let [first_below, second_below] = &BUCKETS.below;
        let below = [first & first_below[bucket as usize], second & second_below[bucket as usize]];
        let rank = below[0].count_ones() + below[1].count_ones();
        let passed = isa.deposit(isa.low_bits(u64::MAX, rank), self.ends);
        (u64::BITS - passed.leading_zeros()) as usize
    }

    /// The largest bucket. The bin must not be empty.
    #[inline(always)]
    pub(crate) fn last_bucket(&self) -> u32 {
        let [low, high] = self.occupied;
        let last = if high != 0 { 127 - high.leading_zeros() } else { 63 - low.leading_zeros() };
        bucket_of(last)
    }

    /// Removes the last slot and returns it with its bucket. The bin must not be empty.
    #[inline(always)]
    pub(crate) fn take_last(&mut self) -> (u64, u32) {
        let bucket = self.last_bucket();
        let bit = bit_of(bucket);
        let last = 1 << (SLOTS - 1 - self.ends.leading_zeros());
        let before = last >> 1;
        // If the slot before it ends a run, the last one had its bucket for itself.
        let alone = u64::from(self.ends & before != 0 || before == 0);
        self.occupied[(bit / 64) as usize] ^= alone << (bit % 64);
        self.ends = self.ends & !last | before;
        (last, bucket)
    }

    /// Adds a slot behind the last for an entry of a bucket, which is not smaller than the largest, and
    /// returns it. The bin must not be full.
    #[inline(always)]
    pub(crate) fn push_last(&mut self, bucket: u32) -> u64 {
        let slot = 1 << self.count();
        let bit = bit_of(bucket);
        let (word, bit) = ((bit / 64) as usize, 1 << (bit % 64));
        // The last of the bucket so far is no longer that.
        if self.occupied[word] & bit != 0 {
            self.ends ^= slot >> 1;
        }
        self.occupied[word] |= bit;
        self.ends |= slot;
        slot
    }

    /// Keeps only the slots in `kept`, a part of the used ones.
    #[inline(always)]
    pub(crate) fn keep<I: Isa>(&mut self, isa: I, kept: u64) {
        let (used, ends) = (self.used(), self.ends);
        let dead = used & !kept;
        // A run with a survivor: adding the survivors to the ones before its end carries into the
        // end.
        let inner = used & !ends;
        let survives = (inner.wrapping_add(kept & inner) | kept) & ends;
        let runs = isa.extract(survives, ends);
        let [low, high] = self.occupied;
        let runs_above = runs.unbounded_shr(low.count_ones());
        self.occupied = [isa.deposit(runs, low), isa.deposit(runs_above, high)];
        // A run's first slot moves up to its first survivor: a carry through the dead.
        let first = ends << 1 | 1;
        let moved = dead.wrapping_add(first & dead) & !dead;
        let first = isa.extract(first | moved, kept);
        let last = 1u64.unbounded_shl(kept.count_ones().wrapping_sub(1));
        self.ends = first >> 1 | last;
    }
}
