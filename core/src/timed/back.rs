//! A clock that is set back.

use alloc::vec::Vec;

use super::clock::region_of;
use super::counted::set_tags;
use super::filter::{TimedWindow, part};
use super::segment::{Info, Segment};
use crate::bits::Scalar;

impl TimedWindow {
    /// Sets the clock back: what was seen later counts as seen then.
    ///
    /// Looks at all entries at once, because all may have to change. It may: somebody asks for it by hand
    /// after a clock was wrong, and until it is done no answer would be right. What had left the window
    /// must not come back uncounted, so nothing of it can be put off.
    pub(super) fn set_back(&mut self, now: u64) {
        let hashes: Vec<u64> = self.segments.first_hashes().collect();
        for &hash in &hashes {
            self.sweep(Scalar, hash);
        }
        let before = self.regions.each_ref().map(|region| region.generation);
        self.clock = Some(now);
        for (number, region) in self.regions.iter_mut().enumerate() {
            region.generation = self.ticks.generation(number, now);
            self.weights.forget(&self.shape, number, u64::MAX, region.generation);
            region.population.set_back(part(&self.shape, region.generation));
        }
        self.find_next_change();
        self.quiet = 0;
        let shape = self.shape;
        for hash in hashes {
            let region = region_of(hash);
            let generation = self.regions[region].generation;
            let back = before[region] - generation;
            let tag = |tag| {
                let age = u64::from(shape.age(before[region], tag)).saturating_sub(back);
                shape.tag(generation.wrapping_sub(age))
            };
            if shape.payload_bits > 0 {
                self.add_up(hash, tag);
            }
            let (depth, words) = self.segments.get_mut(hash);
            let mut segment = Segment { words };
            if shape.payload_bits == 0 {
                segment.retag(&shape, tag);
            }
            let entries = segment.entries(Scalar, &shape);
            segment.set_generation(generation);
            let info = segment.info();
            if info.blind > 0 {
                let blind =
                    u64::from(info.blind).saturating_add(back).min(u64::from(shape.ages) + 1);
                segment.set_info(Info { blind: blind as u32, ..info });
            }
            self.weigh(hash, depth, &entries);
        }
    }

    /// Gives the counts of a segment other tags, and adds up those that are of one generation then.
    fn add_up(&mut self, hash: u64, tag: impl Fn(u32) -> u32) {
        let segment = Segment { words: self.segments.get(hash).1 };
        let (info, before) = (segment.info(), segment.entries(Scalar, &self.shape));
        let entries = set_tags(&before, tag);
        let generation = segment.generation();
        // There are no more than before, so they fit.
        let bits = info.remainder_bits;
        if let Some(made) =
            Segment::of_entries(Scalar, &self.shape, &entries, bits, generation, info.blind)
        {
            self.replace(hash, made);
            self.replaced(hash, before.len(), entries.len());
        }
    }
}
