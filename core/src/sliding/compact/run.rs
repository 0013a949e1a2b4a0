//! Which slots belong to which bucket, and what becomes of that when entries leave.

use crate::bits::Isa;

/// Buckets that a block may have, or one more.
const MOST_BUCKETS: usize = 128;
/// Buckets of the first word. Its last bit says whether the run of the last slot goes on next door.
pub(super) const FIRST_BUCKETS: u32 = u64::BITS - 1;
/// That bit.
pub(super) const GOES_ON: u64 = 1 << FIRST_BUCKETS;

/// The number of a bucket, below [`MOST_BUCKETS`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket(u8);

impl Bucket {
    #[inline(always)]
    pub(super) fn new(number: u32) -> Self {
        Self(number as u8 % MOST_BUCKETS as u8)
    }

    /// In which byte it is, from the first word of buckets on; the number of guests lies between the
    /// two words.
    #[inline(always)]
    pub(super) fn byte(self) -> usize {
        // There are no more bytes than that.
        usize::from(BUCKETS.byte[usize::from(self.0)]) % 32
    }

    /// Its bit in that byte.
    #[inline(always)]
    pub(super) fn bit(self) -> u8 {
        BUCKETS.bit[usize::from(self.0)]
    }

    /// How many smaller buckets have entries.
    #[inline(always)]
    pub(super) fn rank(self, words: [u64; 2]) -> u32 {
        let [first_below, second_below] = &BUCKETS.below;
        let bucket = usize::from(self.0);
        (words[0] & first_below[bucket]).count_ones()
            + (words[1] & second_below[bucket]).count_ones()
    }
}

/// What follows from the number of a bucket. A table, because that takes fewer instructions.
struct Buckets {
    /// For each of the two words, the bits of smaller buckets.
    below: [[u64; MOST_BUCKETS]; 2],
    byte: [u8; MOST_BUCKETS],
    bit: [u8; MOST_BUCKETS],
}

static BUCKETS: Buckets = {
    let mut buckets =
        Buckets { below: [[0; MOST_BUCKETS]; 2], byte: [0; MOST_BUCKETS], bit: [0; MOST_BUCKETS] };
    let mut bucket = 0;
    while bucket < MOST_BUCKETS {
        let bit = bit_of(bucket as u32) % u128::BITS;
        let bits = (1_u128 << bit) - 1;
        buckets.below[0][bucket] = bits as u64 & !GOES_ON;
        buckets.below[1][bucket] = (bits >> u64::BITS) as u64;
        buckets.byte[bucket] = (bit / u8::BITS + bit / u64::BITS) as u8;
        buckets.bit[bucket] = 1 << (bit % u8::BITS);
        bucket += 1;
    }
    buckets
};

/// The bit of a bucket in the two words.
#[inline(always)]
pub(super) const fn bit_of(bucket: u32) -> u32 {
    bucket + if bucket < FIRST_BUCKETS { 0 } else { 1 }
}

/// Where in its home block the run of a bucket begins, or would.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first slot; 64 if it is next door.
    pub(super) first: u32,
    /// The ends from the first slot on. Its own is the lowest, or that of the next bucket if it is
    /// empty. Zero if the run does not end in this block: it does next door, or there is none.
    pub(super) ends: u64,
}

impl Run {
    /// The run of the bucket of which `rank` smaller ones have entries, in a block with these ends whose
    /// first slots are taken by `guests`.
    #[inline(always)]
    pub(super) fn new<I: Isa>(isa: I, ends: u64, guests: u32, rank: u32) -> Self {
        let own = ends ^ isa.low_bits(ends, guests);
        // A home may have more runs than a block has slots; then all are dropped.
        let rest = isa.drop_ones(own, rank);
        let first = u64::BITS - (ends ^ rest).leading_zeros();
        Self { first, ends: rest.wrapping_shr(first) }
    }

    /// The slots from the first on that it has at most, counted from the first: all if it does not end
    /// here.
    #[inline(always)]
    pub(super) fn reach(&self) -> u64 {
        self.ends ^ self.ends.wrapping_sub(1)
    }
}

/// What the ends of a stretch of slots become when some of the entries go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left<W> {
    /// For each run in order, whether any of it is left.
    pub(super) runs: W,
    /// The ends of what is left, packed.
    pub(super) ends: W,
}

/// Without `dead`, of the slots `used`, which end with the end of a run.
#[inline(always)]
pub(super) fn left<I: Isa>(isa: I, used: u64, ends: u64, dead: u64) -> Left<u64> {
    let kept = used & !dead;
    // A run with a survivor: adding the survivors to the ones before its end carries into the end.
    let inner = used & !ends;
    let survives = (inner.wrapping_add(kept & inner) | kept) & ends;
    // A run's first slot moves up to its first survivor: a carry through the dead.
    let first = ends << 1 | 1;
    let moved = dead.wrapping_add(first & dead) & !dead;
    let first = isa.extract(first | moved, kept);
    let last = 1u64.unbounded_shl(kept.count_ones().wrapping_sub(1));
    Left { runs: isa.extract(survives, ends), ends: first >> 1 | last }
}

/// The same for the slots of two blocks.
#[inline(always)]
pub(super) fn left_of_two<I: Isa>(isa: I, used: u128, ends: u128, dead: u128) -> Left<u128> {
    let kept = used & !dead;
    let inner = used & !ends;
    let survives = (inner.wrapping_add(kept & inner) | kept) & ends;
    let first = ends << 1 | 1;
    let moved = dead.wrapping_add(first & dead) & !dead;
    let first = extract(isa, first | moved, kept);
    let last = 1u128.unbounded_shl(kept.count_ones().wrapping_sub(1));
    Left { runs: extract(isa, survives, ends), ends: first >> 1 | last }
}

#[inline(always)]
fn extract<I: Isa>(isa: I, word: u128, mask: u128) -> u128 {
    let low = mask as u64;
    let high = u128::from(isa.extract((word >> u64::BITS) as u64, (mask >> u64::BITS) as u64));
    high << low.count_ones() | u128::from(isa.extract(word as u64, low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::Scalar;
    use crate::hash::remix;
    use testkit::rounds;

    /// Both forms against a list of runs.
    #[test]
    fn runs_lose_what_is_dead() {
        for round in 0..rounds(20_000) as u64 {
            let draw = |stream| remix(round, stream);
            let slots = (draw(0) % 129) as u32;
            let used = u128::MAX.unbounded_shr(128 - slots);
            let bits = |stream| u128::from(draw(stream)) << 64 | u128::from(draw(stream + 1));
            let top = used & !(used >> 1);
            let ends = bits(1) & bits(3) & used | top;
            let dead = if round % 2 == 0 { bits(5) } else { bits(5) | bits(7) } & used;
            let (mut runs, mut left_ends, mut run, mut count, mut left_count) = (0, 0, 0, 0, 0);
            for slot in 0..slots {
                if dead >> slot & 1 == 0 {
                    (run, count) = (run + 1, count + 1);
                }
                if ends >> slot & 1 == 1 {
                    if run > 0 {
                        runs |= 1u128 << left_count;
                        left_ends |= 1u128 << (count - 1);
                    }
                    (run, left_count) = (0, left_count + 1);
                }
            }
            let expected = Left { runs, ends: left_ends };
            assert_eq!(left_of_two(Scalar, used, ends, dead), expected, "{round}");
            if slots <= 64 {
                let short = left(Scalar, used as u64, ends as u64, dead as u64);
                let short = Left { runs: short.runs.into(), ends: short.ends.into() };
                assert_eq!(short, expected, "{round}");
            }
        }
    }

    /// More runs than a block has slots must not come round to the first ones.
    #[test]
    fn ranks_beyond_the_slots_find_nothing() {
        for rank in 64..128 {
            let run = Run::new(Scalar, u64::MAX, 0, rank);
            assert_eq!((run.first, run.ends), (64, 0), "{rank}");
        }
    }
}
