//! Which (k, l), which bits and which blocks: memory against cache lines.

use alloc::vec::Vec;

use super::AgePartitionedParameters;
use crate::blueprint::{Blueprint, Floor};
#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use crate::frontier::Frontier;
use crate::plan::Goal;
use crate::probability::{even_load, least, most_load};
use crate::sliding::slices::BlockShape;

/// Memory that is given for fewer cache lines: a tenth, since who wants least memory has smaller
/// structures to choose from.
const LEANNESS: f64 = 1.1;

/// More slices per key than this only add lines.
const MOST_SLICES_PER_KEY: u32 = 8;

/// Slices per class and words of a block: from all blocks of a class in one line to four lines.
const GROUPS: [(u32, u32); 10] =
    [(2, 4), (2, 8), (4, 2), (4, 4), (4, 8), (8, 1), (8, 2), (8, 4), (16, 1), (16, 2)];

/// The ways to keep `rate` over `window`, with at most this slack behind it.
pub fn choices(window: u64, rate: f64, slack: u64) -> Frontier<AgePartitionedParameters> {
    let mut found = Frontier::new();
    for bound in bounds(window, rate, slack) {
        if found.has_place_for(bound.heap_bytes(), bound.lines_touched()) {
            found.add(sized(bound, rate));
        }
    }
    found
}

/// The one with the fewest lines of those that are hardly larger than the smallest. The same as by
/// [`choices`], without sizing all of them: with few lines first, until one is small enough.
pub fn with_error(window: u64, rate: f64, slack: u64) -> Option<AgePartitionedParameters> {
    let bounds = bounds(window, rate, slack);
    let most = (LEANNESS * least_bytes(&bounds, rate)? as f64) as u64;
    let mut bounds: Vec<_> =
        bounds.into_iter().map(|bound| (bound.lines_touched(), bound)).collect();
    bounds.retain(|(_, bound)| bound.heap_bytes() <= most);
    bounds.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let alike = bounds.chunk_by(|(one, _), (other, _)| one == other);
    alike.into_iter().find_map(|alike| {
        let mut best: Option<(u64, AgePartitionedParameters)> = None;
        for (_, bound) in alike {
            let most = best.map_or(most, |(bytes, _)| bytes - 1);
            if bound.heap_bytes() <= most
                && let Some(sized) = sized_within(*bound, rate, most)
                && sized.heap_bytes() <= most
            {
                best = Some((sized.heap_bytes(), sized));
            }
        }
        best.map(|(_, sized)| sized)
    })
}

/// What none that keeps `rate` can be cheaper than, if slices filled evenly: with fewer blocks than it takes
/// even if all slices but the full ones were empty.
pub fn floor(goal: &Goal, window: u64, rate: f64, slack: u64) -> Floor {
    let full_slices = bounds(window, rate, slack).into_iter().map(|bound| {
        let (k, l) = (f64::from(bound.slices_per_key), f64::from(bound.generations()));
        // All but k - 1 of the slices are full, and of these there are l + 2 - k windows. Each is found
        // where the slice before it does not hold the key and no other window was found.
        let others = (l + 1.0 - k) * (1.0 - rate.powf(1.0 / k)) * (1.0 - rate);
        let chance = (rate / (1.0 + others)).powf(1.0 / k);
        let blocks = blocks_at(&bound, most_load(chance, bound.block.bits)).max(1);
        let full = AgePartitionedParameters { blocks, ..bound };
        (full.heap_bytes(), full.lines_touched())
    });
    Floor::of(goal, full_slices)
}

/// The size of the smallest.
fn least_bytes(bounds: &[AgePartitionedParameters], rate: f64) -> Option<u64> {
    let mut bounds: Vec<_> = bounds.iter().map(|&bound| (bound.heap_bytes(), bound)).collect();
    bounds.sort_by_key(|&(bytes, _)| bytes);
    let mut least = None;
    for (bytes, bound) in bounds {
        let found = match least {
            None => Some(sized(bound, rate)),
            Some(least) if bytes < least => sized_within(bound, rate, least),
            Some(_) => break,
        };
        least = least.into_iter().chain(found.map(|found| found.heap_bytes())).min();
    }
    least
}

/// What may keep the rate, each with fewer blocks than that takes.
fn bounds(window: u64, rate: f64, slack: u64) -> Vec<AgePartitionedParameters> {
    let mut bounds = Vec::new();
    for shape in shapes(window, slack) {
        let each = rate / f64::from(shape.generations() + 1);
        let chance = each.powf(1.0 / f64::from(shape.slices_per_key));
        for bits in BlockShape::bits_worth_trying(chance) {
            let block = BlockShape { bits, ..shape.block };
            let shape = AgePartitionedParameters { block, ..shape };
            if block.is_valid() {
                bounds.push(AgePartitionedParameters {
                    blocks: blocks_at(&shape, even_load(chance, bits)).max(1),
                    ..shape
                });
            }
        }
    }
    bounds
}

/// The same with as many blocks as it takes.
fn sized(bound: AgePartitionedParameters, rate: f64) -> AgePartitionedParameters {
    let sized = |blocks| AgePartitionedParameters { blocks, ..bound };
    sized(least(bound.blocks, |blocks| sized(blocks).false_positive_rate() <= rate))
}

/// The same in at most so many bytes, give or take a block; `None` if it errs too often even then.
fn sized_within(
    bound: AgePartitionedParameters,
    rate: f64,
    bytes: u64,
) -> Option<AgePartitionedParameters> {
    let sized = |blocks| AgePartitionedParameters { blocks, ..bound };
    let keeps = |blocks| sized(blocks).false_positive_rate() <= rate;
    let most = bytes / bound.block_bytes() + 1;
    let (mut too_few, mut many) = (bound.blocks - 1, bound.blocks.max(most));
    if !keeps(many) {
        return None;
    }
    // The bound is that of small errors, and may be too high for large ones.
    if too_few > 0 && keeps(too_few) {
        too_few = 0;
    }
    while many - too_few > 1 {
        let middle = too_few + (many - too_few) / 2;
        if keeps(middle) {
            many = middle;
        } else {
            too_few = middle;
        }
    }
    Some(sized(many))
}

/// The one that errs least in `bytes`; `None` if none with so little slack fits.
pub fn with_memory(window: u64, bytes: u64, slack: u64) -> Option<AgePartitionedParameters> {
    let mut best: Option<(f64, AgePartitionedParameters)> = None;
    for shape in shapes(window, slack) {
        let spare = bytes.checked_sub(AgePartitionedParameters { blocks: 0, ..shape }.heap_bytes());
        let group = shape.block_bytes();
        let blocks = spare.map_or(0, |spare| spare / group);
        if blocks == 0 {
            continue;
        }
        for bits in shape.block.words..=BlockShape::MOST_BITS {
            let block = BlockShape { bits, ..shape.block };
            let sized = AgePartitionedParameters { block, blocks, ..shape };
            // Found at least as often as in the last window, whose slices are all full.
            if best.is_some_and(|(least, _)| sized.last_window_chance() >= least) {
                continue;
            }
            let rate = sized.false_positive_rate();
            if best.is_none_or(|(least, _)| rate < least) {
                best = Some((rate, sized));
            }
        }
    }
    best.map(|(_, sized)| sized)
}

/// Numbers of slices and generations that keep to the slack, with blocks to go with them; not
/// sized yet.
fn shapes(window: u64, slack: u64) -> Vec<AgePartitionedParameters> {
    let keeps_to_slack =
        |shape: &AgePartitionedParameters| shape.window() + shape.slack() - window <= slack;
    let mut shapes = Vec::new();
    for slices_per_key in 1..=MOST_SLICES_PER_KEY {
        let shape = |slices_per_class: u32, words: u32| {
            let generations = slices_per_key * (slices_per_class - 1);
            AgePartitionedParameters {
                generation: window.div_ceil(generations.into()),
                slices_per_key,
                slices_per_class,
                block: BlockShape { words, bits: 1 },
                blocks: 1,
            }
        };
        let usual = GROUPS.into_iter().map(|(slots, words)| shape(slots, words));
        let before = shapes.len();
        shapes.extend(usual.filter(keeps_to_slack));
        if shapes.len() == before {
            // Little slack takes many short generations, and these small blocks.
            shapes.extend((17..=64).map(|slots| shape(slots, 1)).find(keeps_to_slack));
        }
    }
    shapes
}

/// Blocks of a full slice with so many keys per bit.
fn blocks_at(shape: &AgePartitionedParameters, load: f64) -> u64 {
    (shape.slice_items() as f64 / load / f64::from(64 * shape.block.words)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the short search passes over would not have been picked.
    #[test]
    fn the_short_search_finds_what_the_long_one_does() {
        for window in [1, 17, 1_000, 1_000_000] {
            for rate in [0.3, 0.01, 1e-4, 1e-9] {
                for slack in [u64::MAX, window, window / 10] {
                    let long = choices(window, rate, slack).pick(LEANNESS);
                    assert_eq!(with_error(window, rate, slack), long, "{window} {rate} {slack}");
                }
            }
        }
    }
}
