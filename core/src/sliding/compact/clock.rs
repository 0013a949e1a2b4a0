//! Time, one home after the other, so that neighbours are as far apart in it as can be.
//!
//! As in [`Generations`](crate::sliding::Generations), a window is cut into c generations, and a home's own
//! generation ends when the sweep reaches it, once per *pass*. Two things differ.
//!
//! **The sweep is interleaved.** It does not visit homes from left to right but every eighth, eight times,
//! in the order 0, 4, 2, 6, 1, 5, 3, 7. A home holds most just before it is swept. From left to right,
//! those that hold most would lie side by side, and what spills from one would find the next one
//! full; interleaved, any eight neighbours hold together what they hold on average.
//!
//! **Generations can be cut finer than they are swept.** Where the slack is smaller than a generation, an
//! entry also says in which part of one it came, and a lookup asks whether it is still alive. So the
//! number of sweeps does not depend on the slack.
//!
//! Worked example: 16 homes. The first lane is homes 0 and 8, the second 4 and 12. Home 4 is the third in
//! turn of 16, and home 5, whose lane is the sixth, the eleventh: half a pass later.

use super::Shape;
use super::shape::LANES;
use super::store::Moment;
use crate::dictionary::Sweep;
use crate::sliding::Passes;

/// The turn of each lane, and the lane of each turn: its bits in reverse.
const TURNS: [u64; LANES] = [0, 4, 2, 6, 1, 5, 3, 7];

/// Parts of an element in which the length of a generation is counted, so that little is lost by
/// rounding it up.
const PARTS: u64 = 64;

/// How a window is cut into generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Generations in a window, the paper's c. They are counted modulo one more.
    pub count: u64,
    /// Each has two to the power of this many parts that lookups tell apart.
    pub fine_bits: u32,
}

impl Division {
    /// The widest that is worth it: with more generations than these, sweeps take as much time as all the
    /// rest of an insertion, and parts of generations serve as well.
    const MOST_WHOLE_BITS: u32 = 5;
    /// The finest parts.
    pub const MOST_FINE_BITS: u32 = 24;

    /// Bits of the number of a generation.
    pub const fn tag_bits(&self) -> u32 {
        u64::BITS - self.count.leading_zeros()
    }

    /// Tags are below this.
    pub const fn tags(&self) -> u64 {
        (self.count + 1) << self.fine_bits
    }

    /// Elements of a generation, in parts of an element.
    const fn generation(&self, window: u64) -> u64 {
        (window * PARTS).div_ceil(self.count)
    }

    /// Elements of a generation.
    pub fn pass(&self, window: u64) -> f64 {
        self.generation(window) as f64 / PARTS as f64
    }

    /// Largest distance at which an element can still be reported, error apart.
    pub const fn reach(&self, window: u64) -> u64 {
        let generation = self.generation(window) as u128;
        let parts = PARTS as u128;
        // Swept before the lookup, at the latest one generation after the window; or not alive one part of
        // it later.
        (match self.fine_bits {
            0 => (generation * (self.count as u128 + 1)).div_ceil(parts) - 1,
            fine => (generation * (((self.count as u128) << fine) + 1)) / (parts << fine),
        }) as u64
    }

    /// For each number of tag bits, the ways to cut a window that keep within a slack and store least: the
    /// finest that needs no parts, and that with the fewest parts.
    pub fn choices(window: u64, slack: u64) -> impl Iterator<Item = Self> {
        let keeps = move |division: &Self| {
            division.count <= window && division.reach(window) <= window.saturating_add(slack)
        };
        let whole = (1..=Self::MOST_WHOLE_BITS).filter_map(move |bits| {
            let counts = (1 << (bits - 1)..1 << bits).rev();
            counts.map(|count| Self { count, fine_bits: 0 }).find(keeps)
        });
        let fine = (3..=4).filter_map(move |bits| {
            let count = (1 << bits) - 1;
            (1..=Self::MOST_FINE_BITS).map(|fine_bits| Self { count, fine_bits }).find(keeps)
        });
        whole.chain(fine)
    }
}

/// The clock of a filter: which home to sweep when, and what its tags mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepClock {
    division: Division,
    /// Elements since the beginning. All that follows could be computed from it.
    elements: u64,
    homes: u64,
    /// What an element adds to the credit.
    step: u64,
    /// The credit that a sweep of one home takes: a generation, since each home is swept once in it.
    price: u64,
    /// Credit that is left.
    credit: u64,
    /// Homes swept in the current pass.
    swept: u64,
    /// The generation of the homes that the current pass has not reached.
    generation: u64,
    /// That of the others.
    next: u64,
    /// Homes of a lane.
    lane: u64,
    /// For each lane, the place of its first home in a pass.
    lanes: [u64; LANES],
    /// 2^63 over that, rounded up.
    lane_inverse: u64,
    /// 2^64 over the credit of a part of a generation, rounded down.
    tick: u64,
}

impl SweepClock {
    /// A clock at the beginning of a pass; `None` if the parts of a generation are finer than we can
    /// count.
    pub fn new(window: u64, division: Division, shape: &Shape) -> Option<Self> {
        let homes = shape.homes as u64;
        let (step, price) = (homes.checked_mul(PARTS)?, division.generation(window));
        let tick = match division.fine_bits {
            0 => 0,
            fine => {
                let all = price.checked_mul(homes).filter(|&all| all >> 63 == 0)?;
                u64::try_from((1_u128 << (u64::BITS + fine)) / u128::from(all)).ok()?
            }
        };
        let lane = homes / LANES as u64;
        Some(Self {
            division,
            elements: 0,
            homes,
            step,
            price,
            credit: 0,
            swept: 0,
            generation: 0,
            next: 1,
            lane,
            lanes: TURNS.map(|turn| turn * lane),
            lane_inverse: (1_u64 << 63).div_ceil(lane),
            tick,
        })
    }

    /// The generation after another; also the oldest that lives beside it.
    #[inline(always)]
    fn after(&self, generation: u64) -> u64 {
        if generation == self.division.count { 0 } else { generation + 1 }
    }

    /// At which place of a pass a home is swept.
    #[inline(always)]
    fn position(&self, home: usize) -> u64 {
        self.lanes[home % LANES] + (home / LANES) as u64
    }

    /// The home that is swept at a place of a pass: the inverse.
    #[inline(always)]
    fn home(&self, position: u64) -> usize {
        let turn = ((u128::from(position) * u128::from(self.lane_inverse)) >> 63) as u64;
        let at = position - turn * self.lane;
        at as usize * LANES + TURNS[turn as usize % LANES] as usize
    }

    /// Credit since a position was swept.
    #[inline(always)]
    fn since(&self, position: u64) -> u64 {
        let after = if self.swept > position { 0 } else { self.homes };
        (self.swept + after - position - 1) * self.price + self.credit
    }

    fn since_wide(&self, position: u64) -> u128 {
        let after = if self.swept > position { 0 } else { self.homes };
        u128::from(self.swept + after - position - 1) * u128::from(self.price)
            + u128::from(self.credit)
    }

    /// The part of a generation so much after its beginning.
    #[inline(always)]
    fn part(&self, since: u64) -> u64 {
        ((u128::from(since) * u128::from(self.tick)) >> u64::BITS) as u64
    }
}

impl Passes for SweepClock {
    type Moment = Moment;

    fn after_elements(self, elements: u64) -> Self {
        let all = u128::from(elements) * u128::from(self.step);
        let pass = u128::from(self.price) * u128::from(self.homes);
        let rest = all % pass;
        let generation = (all / pass % u128::from(self.division.count + 1)) as u64;
        Self {
            elements,
            generation,
            next: self.after(generation),
            swept: (rest / u128::from(self.price)) as u64,
            credit: (rest % u128::from(self.price)) as u64,
            ..self
        }
    }

    #[inline(always)]
    fn advance(&mut self) -> bool {
        self.credit += self.step;
        self.elements = self.elements.wrapping_add(1);
        self.credit >= self.price
    }

    #[inline(always)]
    fn sweep(&mut self, mut sweep: impl FnMut(Sweep)) {
        while self.credit >= self.price {
            self.credit -= self.price;
            let expired = self.next;
            let due = self.after(expired);
            let home = self.home(self.swept);
            self.swept += 1;
            let ends = self.swept == self.homes;
            if ends {
                self.swept = 0;
                (self.generation, self.next) = (expired, due);
            }
            sweep(Sweep { home, expired, due, ends });
        }
    }

    fn next_home(&self) -> usize {
        self.home(self.swept)
    }

    #[inline(always)]
    fn tag_of(&self, home: usize) -> u64 {
        let position = self.position(home);
        // Chosen, because nobody could guess the way that a branch would go.
        let generation = if position < self.swept { self.next } else { self.generation };
        match self.division.fine_bits {
            0 => generation,
            fine_bits => generation << fine_bits | self.part(self.since(position)),
        }
    }

    #[inline(always)]
    fn moment(&self, home: usize) -> Moment {
        let (now, fine_bits) = (self.tag_of(home), self.division.fine_bits);
        let due = self.after(now >> fine_bits);
        Moment { now, due, fine_bits, largest: self.division.tags() - 1 }
    }

    fn due(&self, home: usize) -> u64 {
        self.moment(home).due
    }

    #[inline(always)]
    fn is_alive(&self, home: usize, tag: u64) -> bool {
        self.moment(home).is_alive(tag)
    }

    fn age(&self, home: usize, tag: u64) -> (u64, u64) {
        let fine_bits = self.division.fine_bits;
        let now = self.moment(home).now >> fine_bits;
        let (generation, part) = (tag >> fine_bits, tag & ((1 << fine_bits) - 1));
        let passes = if now >= generation {
            now - generation
        } else {
            now + self.division.count + 1 - generation
        };
        let pass = u128::from(self.price) * u128::from(self.homes);
        // Where its part begins and ends, from the sweep that began its generation on.
        let start = |part: u64| match part {
            0 => 0,
            part if part >> fine_bits != 0 => pass,
            part => (u128::from(part) << u64::BITS).div_ceil(u128::from(self.tick)),
        };
        let elapsed = u128::from(passes) * pass + self.since_wide(self.position(home));
        let step = u128::from(self.step);
        let least = match elapsed.checked_sub(start(part + 1)) {
            Some(since) => since / step + 1,
            None => 0,
        };
        let most = elapsed.saturating_sub(start(part)) / step;
        (least.min(most) as u64, most as u64)
    }

    fn most_sweeps(&self) -> u64 {
        self.step.div_ceil(self.price)
    }

    fn elements(&self) -> u64 {
        self.elements
    }

    fn past_the_window(&self) -> f64 {
        // A home swept u elements ago has due entries at distances from u to u + pass before the window's
        // end and beyond, as far as the stream goes back; u is uniform over the homes.
        let pass = self.price as f64 / PARTS as f64;
        let beyond = self.elements as f64 - self.division.count as f64 * pass;
        let beyond = beyond.clamp(0.0, pass);
        let past = beyond - beyond * beyond / (2.0 * pass);
        past / (pass - (pass - beyond) * (pass - beyond) / (2.0 * pass))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(homes: usize) -> Shape {
        Shape { homes, buckets: 63, remainder_bits: 8, tag_bits: 3, fine_bits: 0 }
    }

    const DIVISIONS: [Division; 4] = [
        Division { count: 1, fine_bits: 0 },
        Division { count: 7, fine_bits: 0 },
        Division { count: 7, fine_bits: 5 },
        Division { count: 15, fine_bits: 3 },
    ];

    #[test]
    fn every_home_has_one_turn_and_neighbours_are_apart() {
        for homes in [8, 16, 24, 4096] {
            let clock = SweepClock::new(10_000, DIVISIONS[1], &shape(homes)).unwrap();
            for position in 0..homes as u64 {
                let home = clock.home(position);
                assert_eq!(clock.position(home), position);
                if home % LANES != LANES - 1 {
                    let distance = clock.position(home + 1).abs_diff(position);
                    assert!(distance >= homes as u64 / 4, "{home} of {homes}: {distance}");
                }
            }
        }
    }

    #[test]
    fn the_clock_follows_from_the_number_of_elements() {
        for division in DIVISIONS {
            for (window, homes) in [(100, 8), (1000, 16), (12_345, 200)] {
                let start = SweepClock::new(window, division, &shape(homes)).unwrap();
                let mut clock = start;
                for elements in 1..4 * window {
                    if clock.advance() {
                        clock.sweep(|_| {});
                    }
                    assert_eq!(clock, start.after_elements(elements), "{elements} of {window}");
                }
            }
        }
    }

    /// What an entry's tag says of its age, and of its life, against the truth.
    #[test]
    fn tags_tell_ages_and_lives() {
        for division in DIVISIONS {
            for (window, homes) in [(64, 8), (1000, 16), (5000, 96)] {
                let mut clock = SweepClock::new(window, division, &shape(homes)).unwrap();
                let reach = division.reach(window);
                // For each home the tags of its last insertion, one insertion per element and home.
                let mut inserted: Vec<(u64, u64)> = Vec::new();
                for now in 0..4 * window {
                    let mut gone = Vec::new();
                    if clock.advance() {
                        clock.sweep(|sweep| gone.push((sweep.home, sweep.expired)));
                    }
                    let home = (now * 7 % homes as u64) as usize;
                    for (swept, expired) in gone {
                        // Nothing of this generation and home is younger than the window.
                        for (then, tag) in &inserted {
                            if *then * 7 % homes as u64 == swept as u64
                                && tag >> division.fine_bits == expired
                                && now - then <= reach + 1
                            {
                                assert!(now - then > window, "{now} {then} {division:?}");
                            }
                        }
                    }
                    inserted.push((now, clock.moment(home).now));
                    if now % 3 == 0 {
                        for distance in [0, 1, window / 2, window - 1, window] {
                            let Some(then) = now.checked_sub(distance) else { continue };
                            let home = (then * 7 % homes as u64) as usize;
                            let tag = inserted[then as usize].1;
                            assert!(clock.moment(home).is_alive(tag));
                            let (least, most) = clock.age(home, tag);
                            assert!(
                                (least..=most).contains(&distance),
                                "{distance} {least} {most}"
                            );
                            assert!(most <= reach);
                        }
                        if division.fine_bits > 0 {
                            // Dead beyond its reach, until the sweep comes.
                            let Some(then) = now.checked_sub(reach + 1) else { continue };
                            let home = (then * 7 % homes as u64) as usize;
                            assert!(!clock.moment(home).is_alive(inserted[then as usize].1));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_slack_is_kept() {
        for window in [1, 2, 100, 10_000, 1_000_000] {
            for slack in [0, 1, window / 1000, window / 7, window] {
                for division in Division::choices(window, slack) {
                    let reach = division.reach(window);
                    assert!((window..=window + slack).contains(&reach), "{window} {slack}");
                }
            }
        }
        let bits = |slack| {
            Division::choices(1_000_000, slack).map(|way| way.tag_bits() + way.fine_bits).min()
        };
        assert_eq!((bits(142_857), bits(1000), bits(10)), (Some(3), Some(11), Some(17)));
    }
}
