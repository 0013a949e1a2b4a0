//! Which (k, l), which bits and which blocks: memory against cache lines.

use super::AgePartitionedParameters;
use crate::blueprint::Blueprint;
use crate::plan::Frontier;
use crate::probability::least;
use crate::sliding::slices::BlockShape;

/// Memory that is given for fewer cache lines: a tenth, since who wants least memory has smaller
/// structures to choose from.
pub(super) const LEANNESS: f64 = 1.1;

/// More slices per key than this only add lines.
const MOST_SLICES_PER_KEY: u32 = 8;

/// Slices per class and words of a block: from all blocks of a class in one line to four lines.
const GROUPS: [(u32, u32); 10] =
    [(2, 4), (2, 8), (4, 2), (4, 4), (4, 8), (8, 1), (8, 2), (8, 4), (16, 1), (16, 2)];

/// The ways to keep `rate` over `window`, with at most this slack behind it.
pub fn choices(window: u64, rate: f64, slack: u64) -> Frontier<AgePartitionedParameters> {
    let mut found = Frontier::new();
    for shape in shapes(window, slack) {
        let each = rate / f64::from(shape.generations() + 1);
        let chance = each.powf(1.0 / f64::from(shape.slices_per_key));
        for bits in BlockShape::bits_worth_trying(chance) {
            let block = BlockShape { bits, ..shape.block };
            let sized = |blocks| AgePartitionedParameters { block, blocks, ..shape };
            let smallest = sized(at_least(&sized(1), chance).max(1));
            if block.is_valid()
                && found.has_place_for(smallest.heap_bytes(), smallest.lines_touched())
            {
                let law = block.law();
                let keeps = |blocks| sized(blocks).false_positive_rate_by(&law) <= rate;
                let blocks = least(smallest.blocks, keeps);
                found.add(sized(blocks));
            }
        }
    }
    found
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
