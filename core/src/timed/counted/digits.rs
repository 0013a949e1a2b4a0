//! Counts as digits, one in every slot.
//!
//! A count of one, by far the commonest, must cost no more than a slot, and a slot has one bit for it. So
//! digits are 1 and 2, stored as 0 and 1, and digit i stands for 2^i of them: *bijective* notation, in which
//! every number from 1 on is written in one way and zero in none.
//!
//! ```text
//! count     1    2    3     4     5     6     7      8   ...  1000
//! digits    1    2    1 1   2 1   1 2   2 2   1 1 1  2 1 1    9 of them, the lowest first
//! stored    0    1    0 0   1 0   0 1   1 1   0 0 0  1 0 0
//! ```

use alloc::vec::Vec;

use super::super::entry::Entry;

/// Bits of a slot that are a digit.
pub(super) const DIGIT_BITS: u32 = 1;

/// Slots of a number.
const MOST_DIGITS: usize = 62;

/// The largest count: whoever counts as much may have been seen more often.
pub(super) const MOST_COUNT: u64 = (1 << (MOST_DIGITS + 1)) - 2;

/// The stored digits of a count that is not zero, the lowest first.
pub(super) fn digits(count: u64) -> impl Iterator<Item = u32> {
    (0..slots_of(count)).map(move |slot| digit(count, slot))
}

/// One of them.
#[inline(always)]
pub(super) fn digit(count: u64, slot: usize) -> u32 {
    (stored_digits(count) >> slot & 1) as u32
}

/// All of them as one binary number: what the count is above the least of its length.
#[inline(always)]
pub(super) fn stored_digits(count: u64) -> u64 {
    count - least(slots_of(count))
}

/// The least count of so many slots.
#[inline(always)]
pub(super) fn least(slots: usize) -> u64 {
    (1 << slots) - 1
}

/// How many slots a count takes.
#[inline(always)]
pub(super) fn slots_of(count: u64) -> usize {
    (u64::BITS - 1 - (count + 1).leading_zeros()) as usize
}

/// What a stored digit stands for, in the given slot of its number.
#[inline(always)]
pub(super) fn worth(digit: u32, slot: usize) -> u64 {
    (u64::from(digit) + 1) << slot
}

/// An entry with its whole count; its own digit says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Summed {
    pub(super) entry: Entry,
    pub(super) count: u64,
}

/// The numbers whose digits these entries are: neighbours of one key and tag belong together.
pub(super) fn counted(entries: &[Entry]) -> Vec<Summed> {
    let mut numbers: Vec<Summed> = Vec::with_capacity(entries.len());
    let mut slot = 0;
    for &entry in entries {
        let (digit, entry) = (entry.payload, Entry { payload: 0, ..entry });
        match numbers.last_mut() {
            Some(number) if number.entry == entry => {
                slot += 1;
                number.count += worth(digit, slot);
            }
            _ => {
                slot = 0;
                numbers.push(Summed { entry, count: worth(digit, 0) });
            }
        }
    }
    numbers
}

/// Adds up numbers of one key and tag. They are in order of their keys; within a key, tags are in that of
/// their first appearance.
pub(super) fn add_up(numbers: &mut Vec<Summed>) {
    let (mut kept, mut first) = (0, 0);
    for next in 0..numbers.len() {
        let Summed { entry, count } = numbers[next];
        if kept > 0 && numbers[kept - 1].entry.key() != entry.key() {
            first = kept;
        }
        match numbers[first..kept].iter_mut().find(|number| number.entry.tag == entry.tag) {
            Some(number) => number.count = (number.count + count).min(MOST_COUNT),
            None => {
                numbers[kept] = numbers[next];
                kept += 1;
            }
        }
    }
    numbers.truncate(kept);
}

/// Brings the digits of every number together: they are in the order in which they came, and so are numbers of
/// one key then.
pub(in super::super) fn gather(entries: &mut [Entry]) {
    for of_key in entries.chunk_by_mut(|one, other| one.key() == other.key()) {
        let mut done = 0;
        while done < of_key.len() {
            let tag = of_key[done].tag;
            let digits = of_key[done..].iter().filter(|entry| entry.tag == tag).count();
            // Those of this tag first, in the order they are in.
            of_key[done..].sort_by_key(|entry| entry.tag != tag);
            done += digits;
        }
    }
}

/// The entries that are the digits of these numbers.
pub(super) fn entries_of(numbers: &[Summed]) -> Vec<Entry> {
    let mut entries = Vec::with_capacity(numbers.len() + numbers.len() / 8);
    for number in numbers {
        let entry = |payload| Entry { payload, ..number.entry };
        entries.extend(digits(number.count).map(entry));
    }
    entries
}

/// Cuts remainders to so many bits, and adds up what is equal then.
pub(in super::super) fn cut_counts(entries: &[Entry], most: u32) -> Vec<Entry> {
    let mut numbers = counted(entries);
    numbers.iter_mut().for_each(|number| number.entry = number.entry.cut(most));
    add_up(&mut numbers);
    entries_of(&numbers)
}

/// Whether these can be the entries of a segment: in order, every tag of a key once, and no count too large.
pub(in super::super) fn are_counts(entries: &[Entry]) -> bool {
    let lengths_fit = entries
        .chunk_by(|one, next| (one.key(), one.tag) == (next.key(), next.tag))
        .all(|digits| digits.len() <= MOST_DIGITS);
    if !lengths_fit || !entries.is_sorted_by_key(|entry| entry.key()) {
        return false;
    }
    let mut numbers = counted(entries);
    let before = numbers.len();
    add_up(&mut numbers);
    numbers.len() == before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::remix;

    #[test]
    fn every_count_is_written_in_one_way() {
        for count in (1..5_000).chain([1 << 40, MOST_COUNT - 1, MOST_COUNT]) {
            let written: Vec<u32> = digits(count).collect();
            assert_eq!(written.len(), slots_of(count));
            let read = written.iter().enumerate().map(|(slot, &digit)| worth(digit, slot));
            assert_eq!(read.sum::<u64>(), count);
        }
        assert_eq!((digits(0).count(), slots_of(MOST_COUNT)), (0, MOST_DIGITS));
        assert_eq!(digits(8).collect::<Vec<_>>(), [1, 0, 0]);
    }

    /// Entries of few keys and tags, with counts of all sizes: cut shorter and shorter, the count of every
    /// key that is left and tag is the sum over those it was made of.
    #[test]
    fn what_becomes_equal_is_added_up() {
        let mut numbers: Vec<Summed> = (0..900)
            .map(|i| {
                let (bucket, tag) = ((remix(i, 1) % 3) as u32, (remix(i, 4) % 5) as u32);
                let entry = Entry { bucket, remainder: remix(i, 2) | 1, tag, payload: 0 };
                let count = 1 + remix(i, 3) % (1 << (remix(i, 6) % 12));
                Summed { entry: entry.cut((remix(i, 5) % 9) as u32), count }
            })
            .collect();
        numbers.sort_by_key(|number| number.entry.key());
        add_up(&mut numbers);
        let mut entries = entries_of(&numbers);
        for most in (0..9).rev() {
            assert!(are_counts(&entries) && counted(&entries) == numbers);
            let shorter = cut_counts(&entries, most);
            let summed = counted(&shorter);
            for number in &summed {
                let parts = numbers.iter().filter(|part| part.entry.cut(most) == number.entry);
                assert_eq!(parts.map(|part| part.count).sum::<u64>(), number.count);
            }
            (entries, numbers) = (shorter, summed);
        }
        assert_eq!(numbers.len(), 3 * 5);
        let mut twice = entries.clone();
        twice.extend(entries.iter().take(1));
        assert!(!are_counts(&twice));
    }
}
