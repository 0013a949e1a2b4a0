//! Time in generations.
//!
//! A *tick* is a part of the span, and a *generation* lasts one tick. Of a key only the generation of its
//! last sighting is stored, so it is remembered for whole generations: as many *ages* as cover the span,
//! and what is left of its own. With a span of 7 s and a tick of 1 s there are 7 ages: a key that comes
//! at 2.3 s is of generation 2, is seven generations old at 9 s, and is gone at 10 s.
//!
//! If all keys changed their generation at once, memory would go up for a tick and come down at once. So
//! the keys are in eight *regions*, by the first bits of their hashes, and the generations of each end an
//! eighth of a tick after those of the one before.

/// Bits of a hash that tell its region.
pub(super) const REGION_BITS: u32 = 3;
/// How many regions there are.
pub(super) const REGIONS: usize = 1 << REGION_BITS;

/// The region of a hash.
#[inline(always)]
pub(super) fn region_of(hash: u64) -> usize {
    (hash >> (u64::BITS - REGION_BITS)) as usize
}

/// How a span is cut into generations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticks {
    /// Milliseconds of a generation, at least 1.
    tick: u64,
    /// How many generations old a key may be.
    ages: u32,
}

impl Ticks {
    /// A span in so many generations, or fewer if it has fewer milliseconds.
    pub(super) fn new(span: u64, generations: u32) -> Self {
        let tick = span.div_ceil(generations.into());
        Self { tick, ages: span.div_ceil(tick) as u32 }
    }

    pub(super) fn ages(self) -> u32 {
        self.ages
    }

    /// How long after its last sighting a key is reported at most, in milliseconds.
    pub(super) fn longest(self) -> u64 {
        let longest = u128::from(self.tick) * (u128::from(self.ages) + 1) - 1;
        longest.min(u64::MAX.into()) as u64
    }

    /// Bits that tell the generations of live keys apart.
    pub(super) fn tag_bits(self) -> u32 {
        u32::BITS - self.ages.leading_zeros()
    }

    /// The generation of a region at a moment.
    #[inline]
    pub(super) fn generation(self, region: usize, now: u64) -> u64 {
        let (regions, tick) = (REGIONS as u128, u128::from(self.tick));
        let ahead = (REGIONS - 1 - region) as u128 * tick;
        ((regions * u128::from(now) + ahead) / (regions * tick)) as u64
    }

    /// The moment in eighths of a tick: generations begin where one begins.
    pub(super) fn eighth(self, now: u64) -> u64 {
        let eighths = REGIONS as u128 * u128::from(now) / u128::from(self.tick);
        eighths.min(u64::MAX.into()) as u64
    }

    /// The first of those eighths in which a region is in this generation, or the last there is.
    pub(super) fn first_eighth(region: usize, generation: u64) -> u64 {
        let eighths = generation.saturating_mul(REGIONS as u64);
        eighths.saturating_sub((REGIONS - 1 - region) as u64)
    }

    /// The first moment at which a region is in this generation, or the last there is.
    pub(super) fn begin(self, region: usize, generation: u64) -> u64 {
        let (regions, tick) = (REGIONS as u128, u128::from(self.tick));
        let ahead = (REGIONS - 1 - region) as u128;
        let eighths = (regions * u128::from(generation)).saturating_sub(ahead);
        u64::try_from((eighths * tick).div_ceil(regions)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_begin_where_they_say_and_cover_the_span() {
        for span in [1, 2, 6, 7, 8, 100, 7_000, 86_400_000] {
            for generations in [1, 3, 7, 15, 255] {
                let ticks = Ticks::new(span, generations);
                assert!(ticks.ages() <= generations && ticks.ages() < 1 << ticks.tag_bits());
                assert!(u64::from(ticks.ages()) * ticks.tick >= span);
                let slack = ticks.longest() - span;
                assert!(slack <= span.div_ceil(generations.into()) + u64::from(ticks.ages()));
                for region in 0..REGIONS {
                    for now in (0..40).chain(1_700_000_000_000..1_700_000_000_040) {
                        let generation = ticks.generation(region, now);
                        let (begin, end) =
                            (ticks.begin(region, generation), ticks.begin(region, generation + 1));
                        assert!((begin..end).contains(&now), "{span} {generations} {region} {now}");
                        let eighth = ticks.eighth(now);
                        assert!(eighth >= Ticks::first_eighth(region, generation));
                        assert!(eighth < Ticks::first_eighth(region, generation + 1));
                        let kept = ticks.generation(region, now + span) - generation;
                        assert!(kept <= ticks.ages().into());
                        let gone = ticks.generation(region, now + ticks.longest() + 1) - generation;
                        assert!(gone > ticks.ages().into());
                    }
                }
            }
        }
    }

    #[test]
    fn there_is_a_generation_at_the_end_of_time() {
        for span in [1, 1_000, u64::MAX] {
            let ticks = Ticks::new(span, 7);
            for region in 0..REGIONS {
                let last = ticks.generation(region, u64::MAX);
                assert_eq!(ticks.generation(region, ticks.begin(region, last)), last);
            }
            assert!(ticks.longest() >= span);
        }
    }
}
