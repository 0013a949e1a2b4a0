//! The growing filter as bytes: written, and read without trust.
//!
//! A payload is items, lost entries, the number of segments, the length of the directory's prefixes
//! and how many entries of the next table are made, 2^31 more if that is a shorter one (two filters
//! that were equal once must split their segments at the same moments for ever), and for every segment, in the order of
//! their prefixes, its depth, the number of its bins (zero for a blind one) and its words, and if
//! anything can be taken back, the number of its origins and those.

use alloc::vec::Vec;

use super::directory::{Directory, Listed, MOST_DEPTH, MOST_NOTES, MOST_SEGMENTS, longest_prefix};
use super::filter::Growing;
use super::origin::Origins;
use super::parameters::GrowingParameters;
use super::segment::{BLOCKS, MOST_BINS, SLOTS, Segment, words_of};
use super::stock::Stock;
use crate::bits::first_hash;
use crate::codec::{Reader, Writer};
use crate::error::Error;

/// Added to the entries of the next table if that is a shorter one.
const HALVING: u32 = 1 << 31;

pub(super) fn write(filter: &Growing, out: &mut Writer) {
    let directory = &filter.directory;
    filter.stock.write(out);
    write_table(directory, out);
    for hash in directory.first_hashes() {
        let (depth, segment) = directory.segment(hash);
        out.u8(depth as u8);
        out.u8(segment.bins(filter.parameters.width_at(hash, depth)) as u8);
        out.words(segment.words());
        if let Some(origins) = directory.origins(hash) {
            out.u32(origins.words().len() as u32);
            out.words(origins.words());
        }
    }
}

/// Writes how many segments there are, and how far their tables are made.
pub(super) fn write_table(directory: &Directory, out: &mut Writer) {
    out.u32(directory.segment_count() as u32);
    out.u8(directory.length() as u8);
    match directory.entries_of_half() {
        0 => out.u32(directory.next_entries().map_or(0, |(made, _)| made) as u32),
        made => out.u32(HALVING | made as u32),
    }
}

pub(super) fn read(
    parameters: GrowingParameters,
    payload: &mut Reader<'_>,
) -> Result<Growing, Error> {
    let stock = Stock::read(payload)?;
    let directory = read_directory(payload, parameters.removing, |payload, prefix, depth| {
        let width = parameters.width_at(first_hash(prefix, depth), depth);
        let segment = read_segment(payload, width)?;
        let origins = match parameters.removing {
            true => read_origins(payload, prefix, depth)?,
            false => Origins::default(),
        };
        Ok(Listed { segment, depth, origins })
    })?;
    let entries = |hash| {
        let (depth, segment) = directory.segment(hash);
        segment.count(parameters.width_at(hash, depth)) as u64
    };
    let stock = stock.of_at_most(directory.first_hashes().map(entries).sum());
    Ok(Growing::from_parts(parameters, directory, stock))
}

/// Reads segments, each by its prefix and depth, and how far their tables are made.
pub(super) fn read_directory(
    payload: &mut Reader<'_>,
    notes: bool,
    read_segment: impl Fn(&mut Reader<'_>, u64, u32) -> Result<Listed, Error>,
) -> Result<Directory, Error> {
    let count = read_count(payload)?;
    let length = u32::from(payload.u8("length of prefixes")?);
    if length > longest_prefix(count as usize) {
        let expected = "at most 2 more than the logarithm of the segments";
        return Err(Error::Field { field: "length of prefixes", found: length.into(), expected });
    }
    let made = payload.u32("entries of the next table")?;
    let kept = read_segments(payload, count, length, read_segment)?;
    let mut directory = Directory::new(kept, length, notes);
    match directory.next_entries() {
        _ if made & HALVING != 0 => {
            let (made, all) = ((made & !HALVING) as usize, directory.entries() / 2);
            if !directory.can_halve() || made % 2 != 0 || !(1..all).contains(&made) {
                let expected = "an even number below that of half the entries";
                let field = "entries of the next table";
                return Err(Error::Field { field, found: made as u64, expected });
            }
            directory.make_entries_of_half(made / 2);
        }
        Some((_, all)) if made % 2 == 0 && (made as usize) < all => {
            (0..made / 2).for_each(|_| directory.make_entries());
        }
        _ if made == 0 => {}
        _ => {
            let expected = "an even number below that of all entries";
            let field = "entries of the next table";
            return Err(Error::Field { field, found: made.into(), expected });
        }
    }
    Ok(directory)
}

fn read_count(payload: &mut Reader<'_>) -> Result<u32, Error> {
    let count = payload.u32("segments")?;
    // Every segment takes two bytes at least.
    if !(1..=MOST_SEGMENTS as u32).contains(&count) || 2 * u64::from(count) > payload.remaining() {
        let expected = "from 1 to 2^27, and as many as there are";
        return Err(Error::Field { field: "segments", found: count.into(), expected });
    }
    Ok(count)
}

/// Segments that share all prefixes between them, none longer than `length`.
fn read_segments(
    payload: &mut Reader<'_>,
    count: u32,
    length: u32,
    read_segment: impl Fn(&mut Reader<'_>, u64, u32) -> Result<Listed, Error>,
) -> Result<Vec<Listed>, Error> {
    // Prefixes as fractions of the longest.
    const WHOLE: u64 = 1 << MOST_DEPTH;
    let mut kept = Vec::new();
    let mut covered = 0;
    for _ in 0..count {
        let depth = u32::from(payload.u8("depth")?);
        let share = WHOLE.unbounded_shr(depth);
        if depth > length || covered % share != 0 || covered == WHOLE {
            let expected = "a prefix that follows the one before";
            return Err(Error::Field { field: "depth", found: depth.into(), expected });
        }
        kept.push(read_segment(payload, covered / share, depth)?);
        covered += share;
    }
    if covered != WHOLE {
        let expected = "one for every prefix";
        return Err(Error::Field { field: "segments", found: count.into(), expected });
    }
    Ok(kept)
}

/// What is noted with the segment of a prefix.
fn read_origins(payload: &mut Reader<'_>, prefix: u64, depth: u32) -> Result<Origins, Error> {
    let count = payload.u32("origins")?;
    let origins = Origins::from_words(payload.words("origins", count.into())?.into());
    if origins.words().len() > MOST_NOTES || !origins.belong_to(prefix, depth) {
        let expected = "at most 16383, of buckets that begin in their segment";
        return Err(Error::Field { field: "origins", found: count.into(), expected });
    }
    Ok(origins)
}

fn read_segment(payload: &mut Reader<'_>, width: usize) -> Result<Segment, Error> {
    let bins = usize::from(payload.u8("bins of a segment")?);
    if bins == 0 {
        return Ok(Segment::blind());
    }
    let expected = "a segment that does not contradict itself";
    let fault = Error::Field { field: "segment", found: bins as u64, expected };
    let words = payload.words("segment", words_of(width, bins) as u64)?;
    let segment = Segment::from_words(words.into());
    if is_sound(&segment, width, bins) { Ok(segment) } else { Err(fault) }
}

// A byte tells no more bins than a segment can have.
const _: () = assert!(MOST_BINS == u8::MAX as usize);

/// Checks every invariant of a segment.
fn is_sound(segment: &Segment, width: usize, bins: usize) -> bool {
    let starts: Vec<usize> = (0..BLOCKS).map(|number| segment.block(number).start()).collect();
    // The last slot is free, so that every block starts inside.
    starts[0] == 0
        && starts.is_sorted()
        && starts[BLOCKS - 1] < SLOTS * bins
        && entry(segment, width, SLOTS * bins - 1) == FREE
        && (0..BLOCKS).all(|number| is_sound_block(segment, width, number, bins))
}

/// A free slot.
const FREE: (bool, u64) = (false, 0);

/// Checks that a block has a run for every occupied bucket, sorted and without gaps.
fn is_sound_block(segment: &Segment, width: usize, number: usize, bins: usize) -> bool {
    let block = segment.block(number);
    let end = segment.end(width, number);
    let limit = if number + 1 < BLOCKS { segment.block(number + 1).start() } else { SLOTS * bins };
    let (mut runs, mut before) = (0, 0);
    for slot in block.start()..end {
        let (ends, field) = entry(segment, width, slot);
        if field == 0 || field < before {
            return false;
        }
        before = if ends { 0 } else { field };
        runs += u32::from(ends);
    }
    runs == block.occupied().count_ones()
        && (end..limit).all(|slot| entry(segment, width, slot) == FREE)
}

/// Whether a slot ends its run, and its field.
fn entry(segment: &Segment, width: usize, slot: usize) -> (bool, u64) {
    (segment.ends_at(slot), segment.field(width, slot))
}

#[cfg(test)]
mod tests {
    use super::super::address::Block;
    use super::*;
    use crate::filter::Membership;
    use crate::hash::remix;
    use crate::window::Time;

    /// A filter of one segment with so many notes, all on its first bucket.
    fn with_notes(count: usize) -> Result<Growing, Error> {
        let parameters = GrowingParameters::with_error(0.01, 1_000, true).unwrap();
        let remainder_bits = parameters.remainder_bits.map(|bits| bits.min(2));
        let parameters = GrowingParameters { bins: 1, remainder_bits, ..parameters };
        let mut payload = Writer::new();
        write(&Growing::new(parameters), &mut payload);
        let mut payload = payload.into_bytes();
        payload.truncate(payload.len() - 4);
        payload.extend((count as u32).to_le_bytes());
        payload.extend([1, 0, 0, 0, 0, 0, 0, 0].repeat(count));
        read(parameters, &mut Reader::new(&payload))
    }

    #[test]
    fn blocks_begin_in_front_of_the_last_slot() {
        const WIDTH: usize = 5;
        let begins_at = |slot| {
            let mut segment = Segment::new(WIDTH, 2);
            segment.set_block(BLOCKS - 1, Block::new(slot, 0));
            is_sound(&segment, WIDTH, 2)
        };
        assert!(begins_at(2 * SLOTS - 1) && !begins_at(2 * SLOTS));
    }

    #[test]
    fn more_notes_than_fit_are_refused_and_never_made() {
        let refused = with_notes(MOST_NOTES + 1).expect_err("a note too many");
        assert!(refused.to_string().contains("16383"), "{refused}");
        // As many as fit: the segment with all of them does not split where there would be more.
        let mut filter = with_notes(MOST_NOTES).unwrap();
        for key in 0..3_000 {
            filter.insert_hash(remix(key, 1), Time::ZERO);
        }
        assert!(filter.segments() > 8);
        assert!((0..3_000).all(|key| filter.contains_hash(remix(key, 1), Time::ZERO)));
    }
}
