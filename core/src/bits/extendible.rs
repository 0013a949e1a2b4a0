//! Arrays of words, each for all hashes that begin with a prefix of its own.
//!
//! An array's *depth* is the length of its prefix, and arrays are replaced by two for prefixes one bit
//! longer, one by one: extendible hashing. A table with an entry for every prefix of some length says
//! where the array is, how long and how deep, so that an array is two reads away from a hash:
//!
//! ```text
//! prefix      000 001 010 011 100 101 110 111
//! array        0   0   2   2   1   3   4   4
//! depth        2   2   2   2   3   3   2   2
//! ```
//!
//! An array as deep as the table is long can be split only when the table was doubled. So that nobody
//! pays for that at once, the next table is made a few entries at a time, ahead of need, and takes over
//! when it is complete.
#![allow(unsafe_code)]

use super::aligned::LINE_BYTES;
use std::ptr;

/// Words that an array has at most.
pub const MOST_WORDS: usize = (1 << LENGTH_BITS) - 1;

const LENGTH_BITS: u32 = 14;
const DEPTH_BITS: u32 = 5;
const ADDRESS_BITS: u32 = 64 - LENGTH_BITS - DEPTH_BITS;

/// An array and its depth in one word: the address, of which the lowest bits are known to be zero,
/// above the length and the depth.
#[derive(Debug, Clone, Copy)]
struct Entry(u64);

impl Entry {
    /// Gives the array to this entry: it has to be freed by [`Entry::into_array`] once.
    fn new(array: Box<[u64]>, depth: u32) -> Self {
        let length = array.len();
        assert!(length <= MOST_WORDS, "{length} words are too many for an array");
        assert!(depth < 1 << DEPTH_BITS, "a prefix of {depth} bits is too long");
        let address = Box::into_raw(array).cast::<u64>().expose_provenance() as u64;
        // True of the user space of all systems that do not have to be asked for more.
        assert!(address >> 3 >> ADDRESS_BITS == 0, "an address of more than 48 bits");
        Self(address >> 3 << (64 - ADDRESS_BITS) | (length as u64) << DEPTH_BITS | u64::from(depth))
    }

    #[inline(always)]
    fn depth(self) -> u32 {
        self.0 as u32 % (1 << DEPTH_BITS)
    }

    #[inline(always)]
    fn words(self) -> usize {
        (self.0 >> DEPTH_BITS) as usize % (1 << LENGTH_BITS)
    }

    #[inline(always)]
    fn array(self) -> *mut [u64] {
        let address = self.0 >> (64 - ADDRESS_BITS) << 3;
        let first = ptr::with_exposed_provenance_mut::<u64>(address as usize);
        ptr::slice_from_raw_parts_mut(first, self.words())
    }

    /// Takes the array back.
    ///
    /// # Safety
    ///
    /// Nobody else has done or will do so, and nobody looks at it through an entry any more.
    unsafe fn into_array(self) -> Box<[u64]> {
        // SAFETY: it was made from a box of this type, and the caller answers for the rest.
        unsafe { Box::from_raw(self.array()) }
    }
}

/// Arrays of words by prefix.
///
/// The entries below the prefix of an array, in the table and in the part of the next one that is
/// made, own it together; no other entry holds it.
pub struct Extendible {
    /// Length of the prefixes in the table.
    length: u32,
    /// By prefix, all 2^length of them.
    table: Vec<Entry>,
    /// The first entries of a table twice as long.
    next: Vec<Entry>,
    arrays: usize,
    /// Of all arrays.
    words: usize,
}

impl Extendible {
    /// Arrays with their depths, in the order of their prefixes, and a table of prefixes of this
    /// length.
    ///
    /// # Panics
    ///
    /// If they are not one for every prefix, or one is deeper than that.
    pub fn new(length: u32, arrays: impl IntoIterator<Item = (u32, Box<[u64]>)>) -> Self {
        let table = Vec::with_capacity(1 << length);
        let mut made = Self { length, table, next: Vec::new(), arrays: 0, words: 0 };
        for (depth, array) in arrays {
            assert!(depth <= length, "prefixes of {length} bits do not tell {depth} bits apart");
            let below = 1 << (length - depth);
            let first = made.table.len();
            assert!(first.is_multiple_of(below) && first >> length == 0, "no such prefix is left");
            (made.arrays, made.words) = (made.arrays + 1, made.words + array.len());
            made.table.resize(first + below, Entry::new(array, depth));
        }
        assert!(made.table.len() >> length == 1, "prefixes without an array");
        made
    }

    /// Length of the prefixes in the table.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// How many arrays there are.
    pub fn arrays(&self) -> usize {
        self.arrays
    }

    /// Bytes on the heap, of tables and arrays.
    pub fn heap_bytes(&self) -> u64 {
        let entries = self.table.capacity() + self.next.capacity();
        (entries * size_of::<Entry>() + self.words * size_of::<u64>()) as u64
    }

    /// The array of a hash, and its depth.
    #[inline(always)]
    pub fn get(&self, hash: u64) -> (u32, &[u64]) {
        let entry = self.entry(hash);
        // SAFETY: entries own their arrays, and `self` is borrowed.
        (entry.depth(), unsafe { &*entry.array() })
    }

    /// The array of a hash, to write, and its depth.
    #[inline(always)]
    pub fn get_mut(&mut self, hash: u64) -> (u32, &mut [u64]) {
        let entry = self.entry(hash);
        // SAFETY: as above, and `self` is borrowed by nobody else.
        (entry.depth(), unsafe { &mut *entry.array() })
    }

    /// The first hashes of all arrays, in their order.
    pub fn first_hashes(&self) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(0), |&hash| self.next_hash(hash))
    }

    /// The first hash of the next array, given one of this.
    fn next_hash(&self, hash: u64) -> Option<u64> {
        let depth = self.entry(hash).depth();
        let next = prefix(hash, depth) + 1;
        (next >> depth == 0).then(|| next << 1 << (63 - depth))
    }

    /// Puts another array in the place of that of a hash, which is freed.
    pub fn replace(&mut self, hash: u64, array: Box<[u64]>) {
        let before = self.entry(hash);
        self.words = self.words + array.len() - before.words();
        let entry = Entry::new(array, before.depth());
        self.set_below(prefix(hash, before.depth()), entry);
        // SAFETY: all entries that held it hold the other one now.
        drop(unsafe { before.into_array() });
    }

    /// Puts two arrays in the place of that of a hash, which is freed, for prefixes one bit longer.
    /// Returns how many cache lines of tables that touched.
    ///
    /// # Panics
    ///
    /// If the array is as deep as the table is long.
    pub fn split(&mut self, hash: u64, halves: [Box<[u64]>; 2]) -> usize {
        let before = self.entry(hash);
        let depth = before.depth() + 1;
        assert!(depth <= self.length, "prefixes of {depth} bits are not in the table");
        let words: usize = halves.iter().map(|half| half.len()).sum();
        self.words = self.words + words - before.words();
        self.arrays += 1;
        let [lower, upper] = halves.map(|half| Entry::new(half, depth));
        let parent = prefix(hash, before.depth());
        self.set_below(2 * parent, lower);
        self.set_below(2 * parent + 1, upper);
        // SAFETY: all entries that held it hold one of the halves now.
        drop(unsafe { before.into_array() });
        // Neighbouring entries in both tables, which may begin anywhere.
        let lines = |below: u32| 2 + (size_of::<Entry>() << below) / LINE_BYTES;
        lines(self.length - depth) + lines(self.length + 1 - depth)
    }

    /// How many entries of the next table are made.
    pub fn next_entries(&self) -> usize {
        self.next.len()
    }

    /// Makes two entries of the next table, which takes over when it is complete.
    pub fn make_entries(&mut self) {
        if self.next.is_empty() {
            self.next.reserve_exact(2 * self.table.len());
        }
        let entry = self.table[self.next.len() / 2];
        self.next.extend([entry, entry]);
        if self.next.len() == 2 * self.table.len() {
            self.table = std::mem::take(&mut self.next);
            self.length += 1;
        }
    }

    #[inline(always)]
    fn entry(&self, hash: u64) -> Entry {
        // SAFETY: there is an entry for every prefix of this length.
        unsafe { *self.table.get_unchecked(prefix(hash, self.length) as usize) }
    }

    /// Sets all entries below a prefix that is as long as the array is deep.
    fn set_below(&mut self, prefix: u64, entry: Entry) {
        for (length, table) in [(self.length, &mut self.table), (self.length + 1, &mut self.next)] {
            let below = length - entry.depth();
            let first = (prefix as usize) << below;
            for made in table.iter_mut().take(first + (1 << below)).skip(first) {
                *made = entry;
            }
        }
    }

    /// All arrays with their depths, in the order of their prefixes.
    fn iter(&self) -> impl Iterator<Item = (u32, &[u64])> {
        self.first_hashes().map(|hash| self.get(hash))
    }
}

impl Drop for Extendible {
    fn drop(&mut self) {
        let mut first = 0;
        while let Some(&entry) = self.table.get(first) {
            first += 1 << (self.length - entry.depth());
            // SAFETY: the first entry below its prefix takes it, and nobody looks at the others.
            drop(unsafe { entry.into_array() });
        }
    }
}

impl Clone for Extendible {
    fn clone(&self) -> Self {
        let mut copy =
            Self::new(self.length, self.iter().map(|(depth, array)| (depth, array.into())));
        (0..self.next.len() / 2).for_each(|_| copy.make_entries());
        copy
    }
}

impl std::fmt::Debug for Extendible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Extendible({} arrays of {} words)", self.arrays, self.words)
    }
}

/// The first bits of a hash.
#[inline(always)]
pub fn prefix(hash: u64, length: u32) -> u64 {
    // In two steps, so that no bits are not a shift by 64.
    hash >> 1 >> (63 - length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    fn array(len: usize, fill: u64) -> Box<[u64]> {
        vec![fill; len].into()
    }

    /// What should be there, as a list of depths, lengths and words.
    fn assert_holds(arrays: &Extendible, expected: &[(u32, usize, u64)]) {
        let found = arrays.iter().map(|(depth, words)| {
            assert!(words.iter().all(|&word| word == words[0]));
            (depth, words.len(), words.first().copied().unwrap_or(0))
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(arrays.arrays(), expected.len());
        let words: usize = expected.iter().map(|&(_, len, _)| len).sum();
        let entries = arrays.table.capacity() + arrays.next.capacity();
        assert_eq!(arrays.heap_bytes(), 8 * (entries + words) as u64);
    }

    #[test]
    fn arrays_are_found_by_their_prefix() {
        let first = [(1, array(2, 7)), (2, array(3, 8)), (2, array(0, 0))];
        let mut arrays = Extendible::new(2, first);
        assert_eq!(arrays.get(u64::MAX >> 1), (1, &[7; 2][..]));
        assert_eq!(arrays.get(1 << 63), (2, &[8; 3][..]));
        assert_eq!(arrays.get(u64::MAX), (2, &[][..]));
        arrays.get_mut(0).1.fill(9);
        arrays.replace(u64::MAX, array(1, 5));
        assert_holds(&arrays, &[(1, 2, 9), (2, 3, 8), (2, 1, 5)]);
        arrays.split(1, [array(4, 1), array(6, 2)]);
        assert_holds(&arrays, &[(2, 4, 1), (2, 6, 2), (2, 3, 8), (2, 1, 5)]);
        assert_eq!(arrays.next_hash(1 << 62), Some(1 << 63));
        assert_eq!(arrays.next_hash(u64::MAX), None);
    }

    /// Beside a plain list of arrays in order, with tables that are made while arrays change.
    #[test]
    fn growing_tables_forget_nothing() {
        let mut arrays = Extendible::new(0, [(0, array(1, 0))]);
        let mut expected = vec![(0, 1, 0)];
        for step in 1..600 {
            let (hash, len) = (remix(step, 1), 1 + (remix(step, 2) % 9) as usize);
            let (depth, _) = arrays.get(hash);
            let before = |&(deep, ..): &(u32, usize, u64)| u64::MAX.unbounded_shr(deep);
            let mut start = 0_u64;
            let at = expected.iter().position(|entry| {
                let end = start.saturating_add(before(entry));
                start = end.wrapping_add(1);
                end >= hash
            });
            let at = at.expect("an array for every hash");
            if depth < arrays.length() && step % 3 == 0 {
                arrays.split(hash, [array(len, step), array(len + 1, step + 1000)]);
                let halves = [(depth + 1, len, step), (depth + 1, len + 1, step + 1000)];
                expected.splice(at..=at, halves);
            } else {
                arrays.replace(hash, array(len, step));
                expected[at] = (depth, len, step);
            }
            if arrays.length() < 8 {
                arrays.make_entries();
            }
            assert_holds(&arrays, &expected);
            let copy = arrays.clone();
            assert_holds(&copy, &expected);
            assert_eq!(copy.next_entries(), arrays.next_entries());
        }
        assert!(expected.len() > 50 && arrays.length() == 8);
    }

    #[test]
    #[should_panic(expected = "prefixes without an array")]
    fn every_prefix_has_an_array() {
        Extendible::new(2, [(1, array(1, 0)), (2, array(1, 0))]);
    }

    #[test]
    #[should_panic(expected = "not in the table")]
    fn what_the_table_does_not_tell_apart_is_not_split() {
        Extendible::new(0, [(0, array(1, 0))]).split(0, [array(1, 0), array(1, 0)]);
    }

    #[test]
    #[should_panic(expected = "too many")]
    fn an_array_has_a_length_that_fits() {
        Extendible::new(0, [(0, array(MOST_WORDS + 1, 0))]);
    }
}
