//! The growing filter as bytes: written, and read without trust.
//!
//! A payload is items, lost entries, the number of segments, the slots of the directory in the
//! order in which they came (two for every segment), and for every segment its number of bins and
//! its words.

use super::directory::{DEPTHS, Directory, MOST_SEGMENTS, Slot};
use super::filter::Growing;
use super::parameters::GrowingParameters;
use super::segment::{BLOCKS, HEAD, MOST_BINS, SLOTS, Segment};
use crate::codec::{Reader, Writer};
use crate::error::Error;

pub(super) fn write(filter: &Growing, out: &mut Writer) {
    out.u64(filter.items);
    out.u64(filter.lost);
    out.u32(filter.directory.segment_count() as u32);
    for slot in filter.directory.slots() {
        out.u32(slot.0);
    }
    let depths = depths(&filter.directory);
    for (segment, depth) in filter.directory.segments().zip(depths) {
        out.u8(segment.bins(filter.parameters.stride(depth)) as u8);
        out.words(segment.words());
    }
}

pub(super) fn read(
    parameters: &mut Reader<'_>,
    payload: &mut Reader<'_>,
) -> Result<Growing, Error> {
    let parameters = read_parameters(parameters)?;
    let items = payload.u64("items")?;
    let lost = payload.u64("lost entries")?;
    let count = payload.u32("segments")? as usize;
    if !(1..=MOST_SEGMENTS).contains(&count) {
        let expected = "from 1 to 2^26";
        return Err(Error::Field { field: "segments", found: count as u64, expected });
    }
    let mut directory = Directory::empty();
    let slots = payload.bytes("directory", 8 * count as u64)?;
    for slot in slots.as_chunks().0 {
        directory.push_slot(Slot(u32::from_le_bytes(*slot)));
    }
    check_prefixes(&directory, count)?;
    let (mut entries, mut bytes) = (0, 0);
    for depth in depths(&directory) {
        let segment = read_segment(payload, parameters.stride(depth))?;
        entries += segment.count(parameters.stride(depth)) as u64;
        bytes += segment.heap_bytes();
        directory.push_segment(segment);
    }
    // Entries without a remainder are stored more than once.
    if items > entries {
        let expected = "at most the entries stored";
        return Err(Error::Field { field: "items", found: items, expected });
    }
    Ok(Growing::from_parts(parameters, directory, items, lost, bytes))
}

fn read_parameters(reader: &mut Reader<'_>) -> Result<GrowingParameters, Error> {
    let expected_items = reader.u64("expected items")?;
    let removing = reader.u8("removing")?;
    let bins = reader.u8("bins")?.into();
    let remainder_bits = reader.array::<DEPTHS>("remainder bits")?;
    if removing > 1 {
        let expected = "0 or 1";
        return Err(Error::Field { field: "removing", found: removing.into(), expected });
    }
    let removing = removing == 1;
    let parameters = GrowingParameters { expected_items, removing, bins, remainder_bits };
    if !parameters.is_valid() {
        let expected = "of a segment whose entries fit its halves";
        return Err(Error::Field { field: "bins or remainder bits", found: bins.into(), expected });
    }
    Ok(parameters)
}

/// The depth of every segment.
fn depths(directory: &Directory) -> Vec<u32> {
    let mut depths = vec![0; directory.slots().count() / 2];
    for slot in directory.slots() {
        depths[slot.number()] = slot.depth();
    }
    depths
}

/// Every segment has one prefix, and all slots below it lead there.
fn check_prefixes(directory: &Directory, count: usize) -> Result<(), Error> {
    let fault = |slot: Slot| Error::Field {
        field: "directory",
        found: slot.0.into(),
        expected: "one prefix for every segment",
    };
    // Prefixes as fractions of the longest.
    const WHOLE: u32 = DEPTHS as u32;
    let mut met = vec![false; count];
    let mut segments = 0;
    let (mut position, mut until, mut current) = (0u64, 0u64, None);
    for (length, slot) in directory.in_order() {
        if position == until {
            let depth = slot.depth();
            if slot.number() >= count || met[slot.number()] || depth > length {
                return Err(fault(slot));
            }
            met[slot.number()] = true;
            segments += 1;
            until = position + (1 << (WHOLE - depth));
            if !position.is_multiple_of(until - position) {
                return Err(fault(slot));
            }
            current = Some(slot);
        } else if current != Some(slot) {
            return Err(fault(slot));
        }
        position += 1 << (WHOLE - length);
        if position > until {
            return Err(fault(slot));
        }
    }
    if segments == count { Ok(()) } else { Err(fault(Slot(count as u32))) }
}

fn read_segment(payload: &mut Reader<'_>, stride: usize) -> Result<Segment, Error> {
    let bins = usize::from(payload.u8("bins of a segment")?);
    if bins == 0 {
        return Ok(Segment::blind());
    }
    let expected = "a segment that does not contradict itself";
    let fault = Error::Field { field: "segment", found: bins as u64, expected };
    if bins > MOST_BINS {
        return Err(fault);
    }
    let words = payload.words("segment", (HEAD + bins * stride) as u64)?;
    let segment = Segment::from_words(words);
    if is_sound(&segment, stride, bins) { Ok(segment) } else { Err(fault) }
}

/// Checks every invariant of a segment.
fn is_sound(segment: &Segment, stride: usize, bins: usize) -> bool {
    let starts: Vec<usize> = (0..BLOCKS).map(|number| segment.block(number).start()).collect();
    // The last slot is free, so that every block starts inside.
    starts[0] == 0
        && starts.is_sorted()
        && starts[BLOCKS - 1] < SLOTS * bins
        && entry(segment, stride, SLOTS * bins - 1) == FREE
        && (0..BLOCKS).all(|number| is_sound_block(segment, stride, number, bins))
}

/// A free slot.
const FREE: (bool, u64) = (false, 0);

/// Checks that a block has a run for every occupied bucket, sorted and without gaps.
fn is_sound_block(segment: &Segment, stride: usize, number: usize, bins: usize) -> bool {
    let block = segment.block(number);
    let end = segment.end(stride, number);
    let limit = if number + 1 < BLOCKS { segment.block(number + 1).start() } else { SLOTS * bins };
    let (mut runs, mut before) = (0, 0);
    for slot in block.start()..end {
        let (ends, field) = entry(segment, stride, slot);
        if field == 0 || field < before {
            return false;
        }
        before = if ends { 0 } else { field };
        runs += u32::from(ends);
    }
    runs == block.occupied().count_ones()
        && (end..limit).all(|slot| entry(segment, stride, slot) == FREE)
}

/// Whether a slot ends its run, and its field.
fn entry(segment: &Segment, stride: usize, slot: usize) -> (bool, u64) {
    let words = segment.bin(stride, slot / SLOTS);
    let bit = |word: u64| word >> (slot % SLOTS) & 1;
    let field = words[1..].iter().rev().fold(0, |field, &plane| field << 1 | bit(plane));
    (bit(words[0]) == 1, field)
}
