//! Which (k, l), which bits and which blocks: memory against cache lines.

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use crate::float::Float as _;
use super::AgePartitionedParameters;
use crate::blueprint::Blueprint;
use crate::frontier::Frontier;
use crate::plan::Goal;
use crate::probability::least;
use crate::sliding::slices::BlockShape;

/// Memory that is given for fewer cache lines: a tenth, since who wants least memory has smaller
/// structures to choose from.
const LEANNESS: f64 = 1.1;

/// More slices per key than this only add lines.
const MOST_SLICES_PER_KEY: u32 = 8;

/// Bounds are those of small errors. For large ones they may be too high by one part in so many.
const UNCERTAIN: u64 = 8;

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
/// [`choices`], without sizing all that are larger.
pub fn with_error(window: u64, rate: f64, slack: u64) -> Option<AgePartitionedParameters> {
    let bounds = bounds(window, rate, slack);
    let most = (LEANNESS * least_bytes(&bounds, rate)? as f64) as u64;
    let mut found = Frontier::new();
    for bound in bounds {
        if bound.heap_bytes() <= most
            && found.has_place_for(bound.heap_bytes(), bound.lines_touched())
            && let Some(sized) = sized_within(bound, rate, most)
        {
            found.add(sized);
        }
    }
    found.pick(LEANNESS)
}

/// What none that keeps `rate` can be better than, as long as it is better to be smaller.
pub fn at_best(goal: &Goal, window: u64, rate: f64, slack: u64) -> Option<AgePartitionedParameters> {
    let less = |bound: AgePartitionedParameters| AgePartitionedParameters {
        blocks: (bound.blocks - bound.blocks / UNCERTAIN).max(1),
        ..bound
    };
    let priced = |bound| (goal.price_felt(&bound), bound);
    let bounds = bounds(window, rate, slack).into_iter().map(less).map(priced);
    bounds.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, bound)| bound)
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
                    blocks: at_least(&shape, chance).max(1),
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
    let group = 8 * bound.group_words() * u64::from(bound.slices_per_key);
    let (mut too_few, mut many) = (bound.blocks - 1, bound.blocks.max(bytes / group + 1));
    if !keeps(many) {
        return None;
    }
    // The bound may be too high: see `UNCERTAIN`.
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
        let group = 8 * shape.group_words() * u64::from(shape.slices_per_key);
        let blocks = spare.map_or(0, |spare| spare / group);
        if blocks == 0 {
            continue;
        }
        for bits in shape.block.words..=BlockShape::MOST_BITS {
            let block = BlockShape { bits, ..shape.block };
            let sized = AgePartitionedParameters { block, blocks, ..shape };
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

/// Fewer blocks than this cannot keep a full slice's chance below `chance`: what it would take if
/// all blocks filled evenly.
fn at_least(shape: &AgePartitionedParameters, chance: f64) -> u64 {
    let bits = f64::from(shape.block.bits);
    let load = -(-chance.powf(1.0 / bits)).ln_1p();
    let items = shape.generation as f64 * f64::from(shape.slices_per_key);
    (items * bits / load / f64::from(64 * shape.block.words)) as u64
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
