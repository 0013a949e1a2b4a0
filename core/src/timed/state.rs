//! Saving and opening. Everything that decides about later answers is kept; what follows from it is not.
//!
//! A segment is written as the buckets that have entries and the values of its slots, without those that are
//! free, nor where each is: that does not matter to any answer.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::clock::{REGION_BITS, REGIONS, region_of};
use super::deal::{coarse, fine, most_bins_for};
use super::entry::{Entry, ones};
use super::filter::{Region, TimedWindow, part};
use super::lay::stored;
use super::level::{Headcount, PARTS, is_step};
use super::parameters::TimedWindowParameters;
use super::segment::{Info, Segment, Shape};
use super::tend::{MOST_DEPTH, longest_prefix};
use super::turns::Turns;
use super::validate::are_entries;
use crate::bits::{BitReader, BitWriter, Extendible, Scalar};
use crate::codec::{Reader, Writer};
use crate::error::Error;
#[cfg(not(feature = "std"))]
use crate::float::Float as _;

/// How often the buckets of a written segment are halved at most, however often those in memory are.
const MOST_WRITTEN_COARSE: u32 = 3;

/// Bytes of a segment without entries.
const LEAST_SEGMENT_BYTES: u64 = 13;

/// What is written instead of 1 for a filter that was told the time, if segments have missed turns of its clock.
const BEHIND: u8 = 2;

/// Writes everything that is not in the parameters.
pub(super) fn write(filter: &TimedWindow, out: &mut Writer) {
    let behind = filter.turns.behind() > 0;
    out.u8(if behind { BEHIND } else { filter.clock.is_some().into() });
    out.u64(filter.clock.unwrap_or(0));
    out.u64(filter.lost);
    out.u64(filter.hand);
    out.u8(filter.turn as u8);
    out.u32(filter.quiet);
    out.u8(filter.short as u8);
    out.u32(filter.round);
    if behind {
        filter.turns.write(filter.current(), out);
    }
    for region in &*filter.regions {
        out.u8(region.population.bits() as u8);
        region.population.least().iter().for_each(|&least| out.u64(least));
    }
    out.u32(filter.segments.arrays() as u32);
    out.u8(filter.segments.length() as u8);
    out.u8(filter.segments.next_length().unwrap_or(0) as u8);
    out.u32(filter.segments.next_entries() as u32);
    let mut bits = BitWriter::new();
    for hash in filter.segments.first_hashes() {
        let (depth, words) = filter.segments.get(hash);
        let segment = Segment { words };
        let generation = filter.regions[region_of(hash)].generation;
        out.u8(depth as u8);
        write_segment(&filter.shape, &segment, generation, &mut bits, out);
    }
}

fn write_segment(
    shape: &Shape,
    segment: &Segment<&[u64]>,
    generation: u64,
    bits: &mut BitWriter,
    out: &mut Writer,
) {
    let info = segment.info();
    out.u64(generation.wrapping_sub(segment.generation()));
    out.u16(info.blind as u16);
    out.u16(info.count as u16);
    if info.count == 0 {
        return;
    }
    let info = Info { coarse: info.coarse.min(MOST_WRITTEN_COARSE), ..info };
    out.u8(info.bins as u8);
    out.u8(info.remainder_bits as u8);
    out.u8(u8::from(info.mixed) | (info.coarse as u8) << 1);
    bits.clear();
    let entries = segment.entries(Scalar, shape);
    let values: Vec<_> = entries.iter().map(|&entry| coarse(shape, info, entry)).collect();
    let mut buckets = values.iter().map(|value| value.0).peekable();
    for number in 0..info.buckets(shape) {
        let mut occupied = false;
        while buckets.next_if_eq(&number).is_some() {
            occupied = true;
        }
        bits.push(1, occupied.into());
    }
    for (at, &(bucket, field, beside)) in values.iter().enumerate() {
        let last = values.get(at + 1).is_none_or(|next| next.0 != bucket);
        bits.push(1, last.into());
        bits.push(info.value_bits(shape), field << shape.beside_bits() | beside);
    }
    out.words(bits.as_words());
}

/// Reads what [`write()`] wrote.
pub(super) fn read(
    parameters: TimedWindowParameters,
    payload: &mut Reader<'_>,
) -> Result<TimedWindow, Error> {
    let refuse = |field, found: u64, expected| Err(Error::Field { field, found, expected });
    let (shape, ticks) = (parameters.shape(), parameters.ticks());
    let started = payload.u8("started")?;
    let clock = payload.u64("clock")?;
    if started > BEHIND || started == 0 && clock != 0 {
        return refuse("started", started.into(), "0 with a clock of 0, 1 or 2");
    }
    let lost = payload.u64("lost")?;
    let hand = payload.u64("hand")?;
    let turn = payload.u8("turn")?;
    let quiet = payload.u32("quiet")?;
    let short = u32::from(payload.u8("bits that remainders lack")?);
    let round = payload.u32("round")?;
    if short > parameters.most_remainder_bits() {
        return refuse("bits that remainders lack", short.into(), "no more than there are");
    }
    if turn >= 4 {
        return refuse("turn", turn.into(), "at most 3");
    }
    let generations: [u64; REGIONS] =
        core::array::from_fn(|region| ticks.generation(region, clock));
    let mut turns = match started {
        BEHIND => Turns::read(&shape, generations, payload)?,
        _ => Turns::default(),
    };
    let mut levels = [(0, [0; PARTS]); REGIONS];
    for (bits, least) in &mut levels {
        *bits = payload.u8("bits of growth")?.into();
        if !is_step(*bits) {
            return refuse("bits of growth", (*bits).into(), "those of a step");
        }
        for least in least {
            *least = payload.u64("least population")?;
        }
    }

    let count = payload.u32("segments")?;
    let length = u32::from(payload.u8("length of prefixes")?);
    let next_length = u32::from(payload.u8("next length of prefixes")?);
    let next_entries = payload.u32("next entries")?;
    if u64::from(count).saturating_mul(LEAST_SEGMENT_BYTES) > payload.remaining() {
        return refuse("segments", count.into(), "no more than there are bytes for");
    }
    if !(REGION_BITS..=MOST_DEPTH.min(longest_prefix(count as usize) + 1)).contains(&length) {
        return refuse(
            "length of prefixes",
            length.into(),
            "from 3 on, and little more than needed",
        );
    }
    let mut segments = Vec::with_capacity(count as usize);
    let mut items = [0; REGIONS];
    let mut kept = Vec::with_capacity(count as usize);
    // The first prefix of the table that no segment has yet.
    let mut first = 0_u64;
    for _ in 0..count {
        let depth = u32::from(payload.u8("depth")?);
        let fits = (REGION_BITS..=length).contains(&depth)
            && first >> length == 0
            && first.is_multiple_of(1 << (length - depth));
        if !fits {
            return refuse("depth", depth.into(), "that of a prefix which is left");
        }
        let hash = first << (u64::BITS - length);
        first += 1 << (length - depth);
        let region = region_of(hash);
        let late = payload.u64("generations since the last sweep")?;
        if !turns.meet(region, generations[region], late) {
            return refuse("generations since the last sweep", late, "those of a segment");
        }
        let generation = generations[region].wrapping_sub(late);
        let (segment, entries) = read_segment(&parameters, &shape, generation, payload)?;
        items[region] += entries as u64;
        segments.push((depth, segment.words));
        kept.push((hash, depth));
    }
    if first >> length != 1 {
        return refuse("segments", count.into(), "as many as cover all prefixes");
    }
    if (started == BEHIND) != (turns.behind() > 0) {
        return refuse("started", started.into(), "2 if segments have missed a turn");
    }
    let mut segments = Extendible::new(length, segments);
    make_next(&mut segments, next_length, next_entries)?;
    let regions = Box::new(core::array::from_fn(|region| {
        let generation = generations[region];
        let (bits, least) = levels[region];
        let (floor, part) = (parameters.floor(), part(&shape, generation));
        let population = Headcount::from_parts(floor, items[region], part, least, bits);
        Region { generation, population }
    }));
    let mut filter = TimedWindow::from_parts(parameters, regions, segments);
    filter.clock = (started > 0).then_some(clock);
    (filter.lost, filter.hand, filter.turn, filter.quiet) = (lost, hand, turn.into(), quiet);
    (filter.short, filter.round) = (short, round);
    filter.turns = turns;
    if filter.clock.is_some() {
        filter.find_next_change();
    }
    for (hash, depth) in kept {
        filter.weigh_living(hash, depth);
    }
    Ok(filter)
}

/// Makes as much of the next table as there was.
fn make_next(segments: &mut Extendible, next: u32, entries: u32) -> Result<(), Error> {
    let length = segments.length();
    let made = entries as usize;
    let possible = match next {
        0 => entries == 0,
        next if next == length + 1 => next <= MOST_DEPTH,
        next => next + 1 == length && next >= REGION_BITS && segments.arrays_of_depth(length) == 0,
    };
    if !possible || next != 0 && (made == 0 || made >> next != 0 || !made.is_multiple_of(2)) {
        let expected = "an even part of a table of prefixes one bit longer, or shorter and enough";
        return Err(Error::Field { field: "next entries", found: entries.into(), expected });
    }
    while segments.next_entries() < made {
        if next > length {
            segments.make_entries();
        } else {
            segments.make_entries_of_half();
        }
    }
    Ok(())
}

/// Reads a segment of this generation, and says how many entries it has.
fn read_segment(
    parameters: &TimedWindowParameters,
    shape: &Shape,
    generation: u64,
    payload: &mut Reader<'_>,
) -> Result<(Segment, usize), Error> {
    let fault = |found: u64| Error::Field {
        field: "segment",
        found,
        expected: "a segment that does not contradict itself",
    };
    let blind = u32::from(payload.u16("generations of blindness")?);
    let count = usize::from(payload.u16("entries of a segment")?);
    if blind > shape.ages + 1 {
        return Err(fault(blind.into()));
    }
    if count == 0 {
        return Ok((Segment::empty(generation, blind), 0));
    }
    let bins = usize::from(payload.u8("bins")?);
    let remainder_bits = u32::from(payload.u8("remainder bits of a segment")?);
    let kind = payload.u8("kind of a segment")?;
    let (mixed, coarse) = (kind & 1 != 0, u32::from(kind >> 1));
    let info = Info { count, bins, remainder_bits, mixed, coarse, blind, ..Info::default() };
    let fits = coarse <= MOST_WRITTEN_COARSE
        && (0..=parameters.most_remainder_bits()).contains(&remainder_bits)
        && (1..=most_bins_for(count).min(info.most_bins(shape))).contains(&bins);
    if !fits {
        return Err(fault(count as u64));
    }
    let bits = info.buckets(shape) as usize + count * (1 + info.value_bits(shape)) as usize;
    let words = payload.words("entries", bits.div_ceil(64) as u64)?;
    let entries =
        read_entries(shape, info, generation, count, &words, bits).ok_or(fault(bits as u64))?;
    let info = info.with_bins(shape, bins);
    // In as many bins as it was, so that what is saved again is the same; in more if it cannot be.
    let made = Segment::of_bins(Scalar, shape, generation, info, &entries);
    let made = made.or_else(|| {
        let stored_in = |info| stored(shape, info, &entries);
        Segment::laid_out(Scalar, shape, generation, info, stored_in)
    });
    let made = made.ok_or(fault(count as u64))?;
    Ok((made, count))
}

/// The entries in these bits, if they are what entries can be.
fn read_entries(
    shape: &Shape,
    info: Info,
    generation: u64,
    count: usize,
    words: &[u64],
    bits: usize,
) -> Option<Vec<Entry>> {
    let buckets = info.buckets(shape);
    let mut occupied = BitReader::new(words, 0);
    let mut slots = BitReader::new(words, buckets as usize);
    let mut entries = Vec::with_capacity(count);
    for bucket in 0..buckets {
        let mut last = occupied.take(1) == 0;
        while !last {
            if entries.len() == count {
                return None;
            }
            last = slots.take(1) == 1;
            let value = slots.take(info.value_bits(shape));
            // The one that ends a remainder is after the bits that belong to the bucket.
            let field = value >> shape.beside_bits();
            if info.mixed && field.trailing_zeros() > info.remainder_bits {
                return None;
            }
            let entry =
                fine(shape, info, bucket, field, value & ones(shape.beside_bits() as usize));
            if shape.age(generation, entry.tag) > shape.ages {
                return None;
            }
            entries.push(entry);
        }
    }
    let left = BitReader::new(words, bits).take((words.len() * 64 - bits) as u32);
    (entries.len() == count && left == 0 && are_entries(shape, &entries)).then_some(entries)
}
