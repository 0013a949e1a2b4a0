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
//! when it is complete. Arrays of sibling prefixes can be replaced by one again, and a table of which no
//! array needs the last bit is halved in the same way.
#![allow(unsafe_code)]

use super::aligned::LINE_BYTES;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr;

/// Words that an array has at most.
pub const MOST_WORDS: usize = (1 << LENGTH_BITS) - 1;

const LENGTH_BITS: u32 = 14;
const DEPTH_BITS: u32 = 5;
const ADDRESS_BITS: u32 = 64 - LENGTH_BITS - DEPTH_BITS;

/// The lowest bits of an address of words, which are zero: three, or two where words need not lie on
/// multiples of their size.
const ZERO_BITS: u32 = align_of::<u64>().trailing_zeros();

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
        assert!(address >> ZERO_BITS >> ADDRESS_BITS == 0, "an address of more than 48 bits");
        Self(
            address >> ZERO_BITS << (64 - ADDRESS_BITS)
                | (length as u64) << DEPTH_BITS
                | u64::from(depth),
        )
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
        let address = self.0 >> (64 - ADDRESS_BITS) << ZERO_BITS;
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
    /// The first entries of the table that will be next.
    next: Vec<Entry>,
    /// Length of the prefixes in that: one more or one less.
    next_length: u32,
    /// How many arrays have each depth.
    depths: [u32; 1 << DEPTH_BITS],
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
        assert!(length < 1 << DEPTH_BITS, "prefixes of {length} bits are too long");
        let table = Vec::with_capacity(1 << length);
        let (next, next_length, depths) = (Vec::new(), length + 1, [0; 1 << DEPTH_BITS]);
        let mut made = Self { length, table, next, next_length, depths, arrays: 0, words: 0 };
        for (depth, array) in arrays {
            assert!(depth <= length, "prefixes of {length} bits do not tell {depth} bits apart");
            let below = 1 << (length - depth);
            let first = made.table.len();
            assert!(first.is_multiple_of(below) && first >> length == 0, "no such prefix is left");
            (made.arrays, made.words) = (made.arrays + 1, made.words + array.len());
            made.depths[depth as usize] += 1;
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
        (entries * size_of::<Entry>()) as u64 + self.array_bytes()
    }

    /// Those of the arrays alone.
    pub fn array_bytes(&self) -> u64 {
        (self.words * size_of::<u64>()) as u64
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
        core::iter::successors(Some(0), |&hash| self.next_hash(hash))
    }

    /// The first hash of the next array, given one of this.
    pub fn next_hash(&self, hash: u64) -> Option<u64> {
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

    /// Gives the array of a hash another length: the last words go, or come as zeros.
    pub fn resize(&mut self, hash: u64, words: usize) {
        let before = self.entry(hash);
        self.words = self.words + words - before.words();
        // SAFETY: all entries that hold it are replaced before anybody looks at one, and nothing between
        // panics: there are less than 2^14 words, or so many that the allocator ends the program.
        let mut array = unsafe { before.into_array() }.into_vec();
        let grown = words.saturating_sub(array.len());
        array.reserve_exact(grown);
        array.resize(words.min(MOST_WORDS), 0);
        let entry = Entry::new(array.into_boxed_slice(), before.depth());
        self.set_below(prefix(hash, before.depth()), entry);
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
        if depth > self.next_length {
            self.forget_next();
        }
        let words: usize = halves.iter().map(|half| half.len()).sum();
        self.words = self.words + words - before.words();
        self.arrays += 1;
        self.depths[depth as usize - 1] -= 1;
        self.depths[depth as usize] += 2;
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

    /// Puts one array in the place of that of a hash and that of its sibling, both of which are freed,
    /// for the prefix without its last bit.
    ///
    /// # Panics
    ///
    /// If the sibling is split further, or the prefix is empty.
    pub fn merge(&mut self, hash: u64, array: Box<[u64]>) {
        let depth = self.entry(hash).depth();
        assert!(depth > 0, "an array for all hashes has no sibling");
        let halves = [hash, sibling(hash, depth)].map(|hash| self.entry(hash));
        assert!(halves[1].depth() == depth, "the sibling is split");
        self.words = self.words + array.len() - halves[0].words() - halves[1].words();
        self.arrays -= 1;
        self.depths[depth as usize] -= 2;
        self.depths[depth as usize - 1] += 1;
        self.set_below(prefix(hash, depth - 1), Entry::new(array, depth - 1));
        for half in halves {
            // SAFETY: all entries that held one of them hold the other array now.
            drop(unsafe { half.into_array() });
        }
    }

    /// How many entries of the next table are made.
    pub fn next_entries(&self) -> usize {
        self.next.len()
    }

    /// Length of the prefixes in the next table, if any of its entries is made.
    pub fn next_length(&self) -> Option<u32> {
        (!self.next.is_empty()).then_some(self.next_length)
    }

    /// How many arrays have this depth.
    pub fn arrays_of_depth(&self, depth: u32) -> u32 {
        self.depths[depth as usize]
    }

    /// Makes two entries of a table twice as long, which takes over when it is complete.
    pub fn make_entries(&mut self) {
        self.begin_next(self.length + 1);
        let entry = self.table[self.next.len() / 2];
        self.next.extend([entry, entry]);
        self.take_over();
    }

    /// Makes two entries of a table half as long, or the only one, which takes over when it is
    /// complete.
    ///
    /// # Panics
    ///
    /// If an array is as deep as the table is long.
    pub fn make_entries_of_half(&mut self) {
        assert!(self.depths[self.length as usize] == 0, "a bit of prefix that arrays need");
        self.begin_next(self.length - 1);
        let made = 2 * self.next.len();
        self.next.extend(self.table[made..].iter().step_by(2).take(2));
        self.take_over();
    }

    /// Forgets what is made of the next table.
    pub fn forget_next(&mut self) {
        self.next = Vec::new();
    }

    fn begin_next(&mut self, length: u32) {
        if self.next_length != length {
            self.forget_next();
        }
        if self.next.is_empty() {
            self.next_length = length;
            self.next.reserve_exact(1 << length);
        }
    }

    fn take_over(&mut self) {
        if self.next.len() >> self.next_length == 1 {
            self.table = core::mem::take(&mut self.next);
            self.length = self.next_length;
        }
    }

    #[inline(always)]
    fn entry(&self, hash: u64) -> Entry {
        // SAFETY: there is an entry for every prefix of this length.
        unsafe { *self.table.get_unchecked(prefix(hash, self.length) as usize) }
    }

    /// Sets all entries below a prefix that is as long as the array is deep.
    fn set_below(&mut self, prefix: u64, entry: Entry) {
        for (length, table) in [(self.length, &mut self.table), (self.next_length, &mut self.next)]
        {
            if table.is_empty() {
                continue;
            }
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
        copy.next_length = self.next_length;
        while copy.next.len() < self.next.len() {
            if self.next_length > self.length {
                copy.make_entries();
            } else {
                copy.make_entries_of_half();
            }
        }
        copy
    }
}

impl core::fmt::Debug for Extendible {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Extendible({} arrays of {} words)", self.arrays, self.words)
    }
}

/// A hash whose prefix of so many bits differs in the last of them only.
#[inline(always)]
pub fn sibling(hash: u64, depth: u32) -> u64 {
    hash ^ 1 << (64 - depth)
}

/// The first hashes of both halves of the hashes that begin with the same bits as this one.
pub fn children(hash: u64, depth: u32) -> [u64; 2] {
    [0, 1].map(|side| first_hash(prefix(hash, depth) << 1 | side, depth + 1))
}

/// The first hash that begins with these bits.
pub fn first_hash(prefix: u64, length: u32) -> u64 {
    prefix.unbounded_shl(64 - length)
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

    /// Under Miri, where looking at everything takes minutes, only now and then.
    fn is_checked(step: u64) -> bool {
        !cfg!(miri) || step.is_multiple_of(97)
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
            if !is_checked(step) {
                continue;
            }
            assert_holds(&arrays, &expected);
            let copy = arrays.clone();
            assert_holds(&copy, &expected);
            assert_eq!(copy.next_entries(), arrays.next_entries());
        }
        assert!(expected.len() > 50 && arrays.length() == 8);
    }

    /// Splits and merges at random, with tables that are made longer and shorter meanwhile.
    #[test]
    fn what_is_merged_is_one_again_and_tables_shrink() {
        let mut arrays = Extendible::new(1, [(1, array(1, 0)), (1, array(1, 1))]);
        let (mut longest, mut halvings) = (0, 0);
        // Under Miri so few that it takes no minutes: longer, shorter, and longer again.
        let (steps, often) = if cfg!(miri) { (6_000, 0) } else { (20_000, 4) };
        for step in 2..steps {
            let hash = remix(step, 3);
            let (depth, _) = arrays.get(hash);
            let grows = step / 2_000 % 2 == 0;
            if grows && depth < arrays.length() && depth < 7 {
                arrays.split(hash, [array(2, step), array(3, step)]);
                assert_eq!(
                    arrays.get(hash),
                    (depth + 1, &*array(2 + prefix(hash, depth + 1) as usize % 2, step))
                );
            } else if !grows && depth > 1 && arrays.get(sibling(hash, depth)).0 == depth {
                arrays.merge(hash, array(5, step));
                assert_eq!(arrays.get(hash), (depth - 1, &*array(5, step)));
                assert_eq!(arrays.get(sibling(hash, depth)), (depth - 1, &*array(5, step)));
            }
            let length = arrays.length();
            if grows && length < 7 {
                arrays.make_entries();
            } else if length > 1 && arrays.arrays_of_depth(length) == 0 && step % 3 == 0 {
                arrays.make_entries_of_half();
                halvings += u32::from(arrays.length() < length);
            }
            longest = longest.max(arrays.length());
            if !is_checked(step) {
                continue;
            }
            let found: Vec<_> =
                arrays.iter().map(|(depth, words)| (depth, words.to_vec())).collect();
            let copy = arrays.clone();
            assert!(
                copy.iter().map(|(depth, words)| (depth, words.to_vec())).eq(found.iter().cloned())
            );
            assert_eq!(
                (copy.next_length(), copy.next_entries()),
                (arrays.next_length(), arrays.next_entries())
            );
            let covered: u64 = found.iter().map(|(depth, _)| 1 << (8 - depth)).sum();
            assert_eq!((covered, found.len()), (1 << 8, arrays.arrays()));
            for depth in 0..8 {
                let of_depth = found.iter().filter(|found| found.0 == depth).count();
                assert_eq!(arrays.arrays_of_depth(depth), of_depth as u32);
            }
            let words: usize = found.iter().map(|(_, words)| words.len()).sum();
            let entries = arrays.table.capacity() + arrays.next.capacity();
            assert_eq!(arrays.heap_bytes(), 8 * (entries + words) as u64);
        }
        assert!(longest == 7 && halvings > often, "{longest} {halvings}");
    }

    #[test]
    #[should_panic(expected = "the sibling is split")]
    fn only_siblings_are_merged() {
        let first = [(1, array(1, 0)), (2, array(1, 0)), (2, array(1, 0))];
        Extendible::new(2, first).merge(0, array(1, 0));
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
