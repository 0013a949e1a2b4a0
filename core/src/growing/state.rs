//! The growing filter as bytes: written, and read without trust.
//!
//! A payload is items, lost entries, the number of addresses, and for every address its depth, and
//! if it has a segment, the number of its bins (zero for a blind one) and its words, and if anything
//! can be taken back, the number of its origins and those.

use super::directory::{DEPTHS, Directory, MOST_SEGMENTS};
use super::filter::Growing;
use super::origin::Origins;
use super::parameters::GrowingParameters;
use super::segment::{BLOCKS, HEAD, MOST_BINS, SLOTS, Segment};
use crate::codec::{Reader, Writer};
use crate::error::Error;

pub(super) fn write(filter: &Growing, out: &mut Writer) {
    out.u64(filter.items);
    out.u64(filter.lost);
    out.u32(filter.directory.address_count() as u32);
    let mut notes = filter.directory.notes();
    for (index, (segment, depth)) in filter.directory.entries().enumerate() {
        let origins = notes.next();
        out.u8(depth);
        if has_segment(index, depth) {
            let stride = filter.parameters.stride(depth.into());
            out.u8(segment.bins(stride) as u8);
            out.words(segment.words());
            if let Some(origins) = origins {
                out.u32(origins.words().len() as u32);
                out.words(origins.words());
            }
        }
    }
}

pub(super) fn read(
    parameters: &mut Reader<'_>,
    payload: &mut Reader<'_>,
) -> Result<Growing, Error> {
    let parameters = read_parameters(parameters)?;
    let items = payload.u64("items")?;
    let lost = payload.u64("lost entries")?;
    let addresses = payload.u32("addresses")?;
    // Every address takes a byte at least.
    if !(1..=2 * MOST_SEGMENTS as u32).contains(&addresses)
        || u64::from(addresses) > payload.remaining()
    {
        let expected = "from 1 to 2^28, and as many as there are";
        return Err(Error::Field { field: "addresses", found: addresses.into(), expected });
    }
    let mut directory = Directory::empty(parameters.removing);
    let (mut segments, mut entries, mut bytes) = (0, 0, 0);
    for index in 0..addresses as usize {
        let depth = payload.u8("depth")?;
        if usize::from(depth) >= DEPTHS {
            let expected = "at most 27";
            return Err(Error::Field { field: "depth", found: depth.into(), expected });
        }
        let (mut segment, mut origins) = (Segment::blind(), Origins::default());
        if has_segment(index, depth) {
            let stride = parameters.stride(depth.into());
            segment = read_segment(payload, stride)?;
            segments += 1;
            entries += segment.count(stride) as u64;
            if parameters.removing {
                origins = read_origins(payload, index as u64, depth.into())?;
            }
            bytes += segment.heap_bytes() + origins.heap_bytes();
        }
        directory.push(segment, depth, origins);
    }
    directory.count_segments(segments);
    check_depths(&directory)?;
    // Entries without a remainder are stored more than once, so there may be fewer items. More are
    // forged, and no harm.
    let items = items.min(entries);
    Ok(Growing::from_parts(parameters, directory, items, lost, bytes))
}

/// Whether the address with this index has a segment: the one that covers it is at least as deep as
/// the address is long.
fn has_segment(index: usize, depth: u8) -> bool {
    u32::from(depth) >= usize::BITS - index.leading_zeros()
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

/// Checks that the segments share all prefixes between them, and that every address knows the depth
/// of the one that covers it.
fn check_depths(directory: &Directory) -> Result<(), Error> {
    // Prefixes as fractions of the longest, and the addresses sorted by them.
    const WHOLE: u32 = DEPTHS as u32;
    let mut addresses: Vec<(u64, u32, u8)> = (0..)
        .zip(directory.entries())
        .map(|(index, (_, depth))| {
            let (length, number) = prefix_of(index);
            (number << (WHOLE - length), length, depth)
        })
        .collect();
    addresses.sort_unstable();
    let mut covered = 0;
    let mut current = 0;
    for (position, length, depth) in addresses {
        let fault =
            Error::Field { field: "depth", found: depth.into(), expected: "that of the cover" };
        let begins = u32::from(depth) >= length;
        if begins != (position == covered) || (!begins && depth != current) {
            return Err(fault);
        }
        if begins {
            covered = position + (1 << (WHOLE - u32::from(depth)));
            current = depth;
        }
    }
    if covered != 1 << WHOLE {
        let expected = "a segment for every prefix";
        return Err(Error::Field { field: "addresses", found: covered, expected });
    }
    let usual = directory.segment_count().ilog2();
    if directory.address_count() < 1 << usual {
        let expected = "at least as many as segments";
        let found = directory.address_count() as u64;
        return Err(Error::Field { field: "addresses", found, expected });
    }
    Ok(())
}

/// Length and number of the shortest prefix with an address.
fn prefix_of(index: u64) -> (u32, u64) {
    let length = u64::BITS - u64::leading_zeros(index);
    let number = if index == 0 { 0 } else { (index << 1) - (1 << length) + 1 };
    (length, number)
}

/// What is noted with the segment of an address.
fn read_origins(payload: &mut Reader<'_>, index: u64, depth: u32) -> Result<Origins, Error> {
    let count = payload.u32("origins")?;
    let origins = Origins::from_words(payload.words("origins", count.into())?);
    let (length, number) = prefix_of(index);
    if !origins.belong_to(number << (depth - length), depth) {
        let expected = "those of buckets that begin in their segment";
        return Err(Error::Field { field: "origins", found: count.into(), expected });
    }
    Ok(origins)
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
