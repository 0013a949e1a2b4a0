//! Strings of varying length one behind the other, with an index into them: sections 4.1 and 4.2
//! of the paper, as far as the string-array index and the serial form share it.
//!
//! Sixteen counters form a *chunk*, coded as one bit string by a [`ChunkCode`]; 32 chunks form a
//! *group*. The coarse vector holds the absolute position of every group, the offset vector 16 bits
//! for every chunk, relative to its group. Behind every chunk lie a few bits of slack, and behind
//! every group a few more:
//!
//! ```text
//! base array  |chunk 0 ..|chunk 1 .. .|chunk 2 .|  ...  |chunk 31 ..|......|chunk 32 ...
//! coarse      ^ group 0                                                    ^ group 1
//! offsets     0          11           24        34
//! ```
//!
//! A counter that outgrows its bits takes them from the slack of its chunk. If there is none, it
//! pushes the chunks behind it up to the nearest slack of its group. If the whole group has none,
//! everything is laid out anew, with fresh slack and with the code that now fits best. The slack of
//! a group holds any single counter, so one new layout is always enough.
//!
//! What differs from the paper: slack comes per chunk and group instead of between single counters,
//! so that a push moves at most a group; and a new layout is made when slack runs out, instead of
//! after a number of insertions. [`Moved`] counts what all this moves.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::ops::Range;

use super::{Counters, MOST};
use crate::bits::{move_bits_up, prefetch, write_bits};

/// Counters in a chunk.
pub const CHUNK: usize = 16;

/// Chunks in a group. A chunk is shorter than 1,300 bits, so offsets in a group fit 16 bits.
const GROUP: usize = 32;

/// How sixteen counters become one bit string.
pub trait ChunkCode: Clone + Debug + Send + Sync + 'static {
    /// The code for counters that are all zero.
    fn new() -> Self;

    /// The code that suits such values best.
    fn fitting(values: &[u64]) -> Self;

    /// Writes a chunk from the start of `out` on, which holds zeros, and says how many bits it
    /// took.
    fn encode(&self, values: &[u64; CHUNK], out: &mut [u64; CHUNK_WORDS]) -> usize;

    /// The counters of the chunk at a position.
    fn decode(&self, words: &[u64], position: usize) -> [u64; CHUNK];

    /// Bits of the chunk at a position.
    fn measure(&self, words: &[u64], position: usize) -> usize;

    /// One counter of the chunk at a position.
    fn get(&self, words: &[u64], position: usize, lane: usize) -> u64;

    /// Replaces one counter if no other bit has to move, and says whether it did.
    fn replace(&self, words: &mut [u64], position: usize, lane: usize, value: u64) -> bool;

    /// Bytes of its tables on the heap.
    fn heap_bytes(&self) -> u64;

    /// Bits of a chunk in which half of the counters are small and the rest zero.
    const TYPICAL_BITS: usize;
}

/// Words that hold a chunk wherever it starts, and one more: counters of 63 bits with 16 bits each
/// for saying so.
pub const CHUNK_WORDS: usize = 22;

/// Counters in strings of the length that each needs.
#[derive(Debug, Clone)]
pub struct Chunked<K> {
    len: usize,
    code: K,
    /// The base array, and two spare words.
    words: Vec<u64>,
    /// The coarse vector: where each group begins, and at last where the array ends.
    groups: Vec<u64>,
    /// The offset vector: where each chunk begins, from the beginning of its group.
    offsets: Vec<u16>,
    /// Bits that chunks gave up since the last layout.
    freed: usize,
    work: Moved,
}

/// What keeping a [`Chunked`] in order has cost since it was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    /// Chunks coded anew because one of their counters changed its length.
    pub recoded: u64,
    /// Chunks pushed aside.
    pub pushed: u64,
    /// Chunks laid out anew.
    pub laid_out: u64,
}

impl<K: ChunkCode> Counters for Chunked<K> {
    const ADAPTS: bool = true;
    // The group, the offset, and a string that may cross into a second line.
    const LINES: f64 = 3.2;
    const LARGEST: u64 = MOST;

    fn new(len: usize) -> Self {
        Self::laid_out(len, |stride| zeros(len).step_by(stride))
    }

    fn from_values<I>(len: usize, values: impl Fn() -> I) -> Option<Self>
    where
        I: Iterator<Item = Option<u64>>,
    {
        // Before anything is made of them.
        if values().any(|value| value.is_none()) {
            return None;
        }
        let chunks = |stride| {
            let mut values = values().map(|value| value.unwrap_or(0));
            zeros(len)
                .map(move |zeros| zeros.map(|zero| values.next().unwrap_or(zero)))
                .step_by(stride)
        };
        Some(Self::laid_out(len, chunks))
    }

    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn get(&self, index: usize) -> u64 {
        assert!(index < self.len);
        self.code.get(&self.words, self.start(index / CHUNK), index % CHUNK)
    }

    fn set(&mut self, index: usize, value: u64) {
        assert!(index < self.len);
        let value = value.min(MOST);
        let (chunk, lane) = (index / CHUNK, index % CHUNK);
        let start = self.start(chunk);
        if !self.code.replace(&mut self.words, start, lane, value) {
            self.recode(chunk, lane, value);
        }
    }

    /// Laid out anew once, instead of whenever the slack of a group ends.
    fn combine(&mut self, other: &Self, by: impl Fn(u64, u64) -> u64) {
        let pairs = |chunk| {
            let (mut ours, theirs) = (self.chunk(chunk), other.chunk(chunk));
            for (ours, theirs) in ours.iter_mut().zip(theirs) {
                *ours = by(*ours, theirs).min(MOST);
            }
            ours
        };
        let combined = Self::laid_out(self.len, |stride| self.chunks().step_by(stride).map(pairs));
        self.replace(combined);
    }

    #[inline]
    fn prefetch(&self, index: usize) {
        // Finding the string itself would wait for the offsets.
        prefetch(&self.offsets, index / CHUNK);
    }

    fn heap_bytes(&self) -> u64 {
        let words = self.words.capacity() + self.groups.capacity();
        8 * words as u64 + 2 * self.offsets.capacity() as u64 + self.code.heap_bytes()
    }

    fn heap_bytes_for(len: usize) -> u64 {
        let (chunks, groups) = shape(len);
        let bits = chunks * (K::TYPICAL_BITS + slack(K::TYPICAL_BITS)) + groups * GROUP_SLACK;
        let words = bits.div_ceil(64) + SPARE_WORDS + groups + 1;
        (8 * words + 2 * chunks) as u64 + K::new().heap_bytes()
    }
}

/// Words behind the base array, so that reading a little beyond a string is possible.
const SPARE_WORDS: usize = 2;

/// Bits behind every group: more than one counter can need at once.
const GROUP_SLACK: usize = 96;

/// Bits of slack behind a chunk of this many bits.
const fn slack(bits: usize) -> usize {
    2 + bits / 16
}

/// Chunks and groups for this many counters.
const fn shape(len: usize) -> (usize, usize) {
    let chunks = len.div_ceil(CHUNK);
    (chunks, chunks.div_ceil(GROUP))
}

impl<K: ChunkCode> Chunked<K> {
    /// What changes have cost so far.
    pub fn work(&self) -> Moved {
        self.work
    }

    /// Words of the base array that an access to any counter reads at most, at this moment.
    pub fn longest_read(&self) -> usize {
        let bits = |chunk| self.code.measure(&self.words, self.start(chunk));
        let longest = (0..self.offsets.len()).map(bits).max().unwrap_or(0);
        // A chunk that begins within a word reaches into one more.
        longest.div_ceil(64) + 1
    }

    /// Bits in all: base array with its slack, coarse vector, offsets and tables.
    pub fn total_bits(&self) -> u64 {
        8 * self.heap_bytes()
    }

    #[inline]
    fn start(&self, chunk: usize) -> usize {
        self.groups[chunk / GROUP] as usize + usize::from(self.offsets[chunk])
    }

    /// Where the slack of a chunk ends.
    fn end(&self, chunk: usize) -> usize {
        let last = (chunk + 1).is_multiple_of(GROUP) || chunk + 1 == self.offsets.len();
        if last { self.groups[chunk / GROUP + 1] as usize } else { self.start(chunk + 1) }
    }

    /// Gives a counter a value of another length.
    #[cold]
    fn recode(&mut self, chunk: usize, lane: usize, value: u64) {
        let start = self.start(chunk);
        let mut values = self.code.decode(&self.words, start);
        let before = self.code.measure(&self.words, start);
        values[lane] = value;
        let mut coded = [0; CHUNK_WORDS];
        let bits = self.code.encode(&values, &mut coded);
        self.work.recoded += 1;
        let room = self.end(chunk) - start;
        if bits > room && !self.push(chunk, bits - room) {
            let changed = |other| if other == chunk { values } else { self.chunk(other) };
            let laid_out =
                Self::laid_out(self.len, |stride| self.chunks().step_by(stride).map(changed));
            return self.replace(laid_out);
        }
        write_chunk(&mut self.words, start, &coded, bits);
        self.freed += before.saturating_sub(bits);
        if self.freed > *self.groups.last().expect("at least the end") as usize / 2 {
            let chunk = |chunk| self.chunk(chunk);
            let laid_out =
                Self::laid_out(self.len, |stride| self.chunks().step_by(stride).map(chunk));
            self.replace(laid_out);
        }
    }

    fn chunks(&self) -> Range<usize> {
        0..self.offsets.len()
    }

    fn chunk(&self, chunk: usize) -> [u64; CHUNK] {
        self.code.decode(&self.words, self.start(chunk))
    }

    /// Moves the chunks behind this one to make it longer by so many bits, or changes nothing if
    /// the slack of its group does not suffice.
    fn push(&mut self, chunk: usize, missing: usize) -> bool {
        let last = ((chunk / GROUP + 1) * GROUP).min(self.offsets.len());
        // How far each chunk must move: what is missing less the slack before it.
        let mut moves = [(0, 0); GROUP];
        let (mut still, mut count) = (missing, 0);
        for other in chunk + 1..last {
            let bits = self.code.measure(&self.words, self.start(other));
            moves[count] = (still, bits);
            count += 1;
            still = still.saturating_sub(self.end(other) - self.start(other) - bits);
            if still == 0 {
                break;
            }
        }
        if still > 0 {
            return false;
        }
        for (behind, &(by, bits)) in moves[..count].iter().enumerate().rev() {
            let other = chunk + 1 + behind;
            let start = self.start(other);
            move_bits_up(&mut self.words, start, start + by, bits);
            self.offsets[other] += by as u16;
        }
        self.work.pushed += count as u64;
        true
    }

    /// These counters with even slack and the code that fits them best. `values` gives every chunk, or
    /// every so many of them.
    fn laid_out<I>(len: usize, values: impl Fn(usize) -> I) -> Self
    where
        I: Iterator<Item = [u64; CHUNK]>,
    {
        let (chunks, groups) = shape(len);
        let stride = chunks.div_ceil(SAMPLED_CHUNKS).max(1);
        let code = K::fitting(&values(stride).flatten().collect::<Vec<_>>());

        let mut starts = Vec::with_capacity(groups + 1);
        let mut offsets = Vec::with_capacity(chunks);
        let mut position = 0;
        for (chunk, values) in values(1).enumerate() {
            if chunk.is_multiple_of(GROUP) {
                position += if chunk > 0 { GROUP_SLACK } else { 0 };
                starts.push(position as u64);
            }
            let bits = code.encode(&values, &mut [0; CHUNK_WORDS]);
            offsets.push((position - starts[chunk / GROUP] as usize) as u16);
            position += bits + slack(bits);
        }
        position += GROUP_SLACK;
        starts.push(position as u64);

        let mut words = vec![0; position.div_ceil(64) + SPARE_WORDS];
        for ((chunk, &offset), values) in offsets.iter().enumerate().zip(values(1)) {
            let mut coded = [0; CHUNK_WORDS];
            let bits = code.encode(&values, &mut coded);
            let start = starts[chunk / GROUP] as usize + usize::from(offset);
            write_chunk(&mut words, start, &coded, bits);
        }
        Self { len, code, words, groups: starts, offsets, freed: 0, work: Moved::default() }
    }

    /// Takes what was laid out anew in the place of this.
    fn replace(&mut self, laid_out: Self) {
        let laid = laid_out.offsets.len() as u64;
        let work = Moved { laid_out: self.work.laid_out + laid, ..self.work };
        *self = Self { work, ..laid_out };
    }
}

/// Chunks of zeros for so many counters.
fn zeros(len: usize) -> impl Iterator<Item = [u64; CHUNK]> {
    core::iter::repeat_n([0; CHUNK], shape(len).0)
}

/// Chunks looked at to choose a code.
const SAMPLED_CHUNKS: usize = 1_024;

fn write_chunk(words: &mut [u64], start: usize, coded: &[u64; CHUNK_WORDS], bits: usize) {
    for (index, &word) in coded.iter().take(bits.div_ceil(64)).enumerate() {
        let count = (bits - 64 * index).min(64) as u32;
        write_bits(words, start + 64 * index, count, word);
    }
}
