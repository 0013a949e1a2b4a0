//! How long a new remainder must be: the law of the error.
//!
//! A filter for `n` keys gives each a chance of `ε/n` to be mistaken for another. Here nobody knows n: it
//! rises and falls with the rate. So a region counts its entries, s, and remembers the least it had while
//! any of them lived, b. A key that comes at s gets a remainder so long that its chance is at most
//! `ε φ(s/b) / s`, where φ falls with the growth s/b: the [`STEPS`].
//!
//! **Then all live entries together err with at most ε.** Take them in the order in which they came. When
//! the k-th came, k - 1 others were there, so at most x of them came at s ≤ x. Those that came at s ≤ b:
//! at most b of them, `φ(1)/b` each. The others, one for each s above: `φ(s/b)/s`. Together
//! `φ(1) + ∫ φ(u)/u du` from 1 to the growth. φ is scaled so that this is 1 for a growth by
//! [`MOST_GROWTH`]. Entries that leave take nothing with them that others need, and a remainder that is cut
//! to what a key that comes now would get is as if it had come now.
//!
//! Worked example: at a steady rate s/b is about 1.14, and all keys get φ(1) = 0.43 of ε: 1.2 bits more than
//! if n were known. In a burst from 1000 keys to a million, all but the first few hundred get 3 bits more
//! than that. They leave with the burst, t later, and nothing of it stays: that is why a window by time pays
//! less for not knowing n than a set that only grows.

#[cfg(not(feature = "std"))]
use crate::float::Float as _;

/// Growth since the least population, as a fraction, up to which a remainder has so many bits more.
const STEPS: [Step; 4] = [
    Step { most: (3, 2), bits: 0 },
    Step { most: (512, 1), bits: 3 },
    Step { most: (16_384, 1), bits: 5 },
    Step { most: (MOST_GROWTH, 1), bits: 8 },
];

struct Step {
    most: (u64, u64),
    bits: u32,
}

/// Growth within a window for which the law holds. Beyond it memory ends.
const MOST_GROWTH: u64 = 1 << 40;

/// The most bits that a step adds.
pub(super) const MOST_BITS: u32 = STEPS[STEPS.len() - 1].bits;

/// Parts of a window whose least population is kept, and one that is going on.
pub(super) const PARTS: usize = 10;

/// φ(1): the part of the error that keys may use while nothing grows.
pub(super) fn calm_share() -> f64 {
    let mut whole = 1.0;
    let mut from = 1.0;
    for Step { most: (over, under), bits } in STEPS {
        let to = over as f64 / under as f64;
        whole += (to / from).ln() * (-f64::from(bits)).exp2();
        from = to;
    }
    1.0 / whole
}

/// Whether a step adds so many bits.
pub(super) fn is_step(bits: u32) -> bool {
    STEPS.iter().any(|step| step.bits == bits)
}

/// The entries of a region, and what new ones need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Headcount {
    items: u64,
    /// Of each part of the last window, by the number of the part.
    least: [u64; PARTS],
    /// The part that is going on.
    part: u64,
    /// A smaller population counts as this one.
    floor: u64,
    /// Bits that remainders have beyond those of a calm time.
    bits: u32,
    /// Beyond this population they need more.
    enough_until: u64,
}

impl Headcount {
    pub(super) fn new(floor: u64) -> Self {
        Self::from_parts(floor, 0, 0, [0; PARTS], 0)
    }

    pub(super) fn from_parts(
        floor: u64,
        items: u64,
        part: u64,
        least: [u64; PARTS],
        bits: u32,
    ) -> Self {
        let mut made = Self { items, least, part, floor, bits, enough_until: 0 };
        made.raise();
        made
    }

    #[inline(always)]
    pub(super) fn items(&self) -> u64 {
        self.items
    }

    #[inline(always)]
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    pub(super) fn least(&self) -> &[u64; PARTS] {
        &self.least
    }

    /// One more.
    #[inline(always)]
    pub(super) fn add(&mut self) {
        self.items += 1;
        if self.items > self.enough_until {
            self.raise();
        }
    }

    /// This many instead of that many.
    pub(super) fn replace(&mut self, before: u64, after: u64) {
        self.items = self.items + after - before;
        let least = &mut self.least[(self.part % PARTS as u64) as usize];
        if self.items < *least {
            *least = self.items;
        }
        // Also if the least is new: what was calm beside the old one is growth beside the new one.
        self.raise();
    }

    /// Time goes on to another part of the window.
    pub(super) fn enter(&mut self, part: u64) {
        let passed = part.saturating_sub(self.part);
        for later in 0..passed.min(PARTS as u64) {
            self.least[((part - later) % PARTS as u64) as usize] = self.items;
        }
        self.part = part;
        if passed > 0 {
            self.bits = self.step().bits;
            self.raise();
        }
    }

    /// Time was set back to this part: all parts may have had the least of all.
    pub(super) fn set_back(&mut self, part: u64) {
        self.least = [self.least_of_all(); PARTS];
        self.part = part;
    }

    fn least_of_all(&self) -> u64 {
        self.least.iter().copied().fold(u64::MAX, u64::min)
    }

    fn step(&self) -> &'static Step {
        let (items, least) = (self.items.max(self.floor), self.least_of_all().max(self.floor));
        let grown = |step: &&Step| items <= limit(step, least);
        STEPS.iter().find(grown).unwrap_or(&STEPS[STEPS.len() - 1])
    }

    /// Takes as many bits as the growth needs, or stays with more.
    #[cold]
    fn raise(&mut self) {
        self.bits = self.bits.max(self.step().bits);
        let least = self.least_of_all().max(self.floor);
        let now = STEPS.iter().rfind(|step| step.bits <= self.bits);
        self.enough_until = now.map_or(0, |step| limit(step, least));
    }
}

/// The largest population for which a step is enough.
fn limit(step: &Step, least: u64) -> u64 {
    let (over, under) = step.most;
    (u128::from(least) * u128::from(over) / u128::from(under)).min(u64::MAX.into()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_a_calm_time_leaves_room_for_growth() {
        assert!((calm_share() - 0.432).abs() < 0.001, "{}", calm_share());
        // The sum of the law, numerically: a population that grows one by one from b to MOST_GROWTH b
        // in steps of a thousandth.
        let mut used = calm_share();
        let mut growth = 1.0_f64;
        while growth < MOST_GROWTH as f64 {
            let of = |step: &&Step| growth < step.most.0 as f64 / step.most.1 as f64;
            let bits = STEPS.iter().find(of).unwrap().bits;
            used += calm_share() * (-f64::from(bits)).exp2() * 0.001;
            growth *= 1.001_f64;
        }
        assert!((used - 1.0).abs() < 0.01, "{used}");
    }

    #[test]
    fn growth_asks_for_bits_and_a_calm_window_gives_them_back() {
        let mut region = Headcount::new(100);
        assert!((0..150).all(|_| {
            region.add();
            region.bits() == 0
        }));
        region.add();
        assert_eq!(region.bits(), 3);
        for _ in 0..60_000 {
            region.add();
        }
        assert_eq!(region.bits(), 5);
        for part in 1..PARTS as u64 {
            region.enter(part);
            assert_eq!(region.bits(), 5, "{part}");
        }
        region.enter(PARTS as u64);
        assert_eq!(region.bits(), 0);
        // What leaves makes the rest grow from less.
        region.replace(60_000, 0);
        assert_eq!(region.items(), 151);
        (0..100).for_each(|_| region.add());
        assert_eq!(region.bits(), 3);
        region.enter(1_000_000);
        assert_eq!((region.bits(), region.least_of_all()), (0, 251));
    }

    /// A minimum that came up only after the step was computed once made entries too short.
    #[test]
    fn a_new_minimum_counts_at_once() {
        let mut region = Headcount::new(10);
        (0..1_000).for_each(|_| region.add());
        region.enter(50);
        assert_eq!(region.bits(), 0);
        region.replace(900, 0);
        (0..50).for_each(|_| region.add());
        assert_eq!((region.items(), region.bits()), (150, 0));
        region.add();
        assert_eq!(region.bits(), 3);
    }
}
