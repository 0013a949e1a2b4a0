//! Counts keys without end, among the last n, or in the last t.
//!
//! How many different keys will come is not known, and a counter is made for a number of them. So
//! without end, and in a span of time, counters are added as keys come: *layers*, each for four times
//! as many keys as the one before and with half its error, so that all errors together stay below
//! the one asked for. A key is counted in the first layer that knows it, and its count is the sum
//! over all: no sighting is ever missing from it.

use std::collections::VecDeque;

use anyhow::Context;
use lately::plan::{Goal, Limit};
use lately::queries::{Heavy, Kept};
use lately::raw::{Counting, Untyped};
use lately::{Builder, ErrorRate, Seed, Span, Time, Window};

use crate::stats::About;

/// The counts, and the keys that came most often.
pub(crate) struct Tally {
    counter: Counter,
    kept: Kept,
    /// Sightings so far.
    sightings: u64,
    /// The latest moment so far.
    latest: Time,
    late: u64,
}

enum Counter {
    Ever(Layers),
    Last(Untyped),
    Within { layers: Layers, span: Span, sightings: VecDeque<Sighting> },
}

/// What will have to be taken back, when, and from which layer.
struct Sighting {
    moment: Time,
    hash: u64,
    layer: u8,
}

impl Tally {
    /// An empty one, that lists at most `room` keys of those that came at least `floor` times.
    pub(crate) fn new(goal: Goal, seed: Seed, room: u64, floor: u64) -> anyhow::Result<Self> {
        let counter = match goal.window {
            Window::Last(_) => Counter::Last(Builder::<Untyped>::from(goal).seed(seed.0).build()?),
            Window::Ever => Counter::Ever(Layers::new(goal, seed)?),
            Window::Within(span) => {
                // What leaves the window is taken back.
                let goal = Goal { window: Window::Ever, removing: true, ..goal };
                let layers = Layers::new(goal, seed)?;
                Counter::Within { layers, span, sightings: VecDeque::new() }
            }
        };
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let kept = Kept::new(goal.window, room, floor);
        Ok(Self { counter, kept, sightings: 0, latest: Time::ZERO, late: 0 })
    }

    /// Counts a sighting of a key, and says whether the key was new. One earlier than the latest is
    /// taken to happen with the latest.
    pub(crate) fn add(&mut self, hash: u64, key: &[u8], moment: Time) -> anyhow::Result<bool> {
        self.late += u64::from(moment < self.latest);
        self.latest = self.latest.max(moment);
        let count = match &mut self.counter {
            Counter::Ever(layers) => layers.add(hash)?.0,
            Counter::Last(counter) => add(counter, hash),
            Counter::Within { layers, span, sightings } => {
                take_back(layers, sightings, *span, self.latest)?;
                let (count, layer) = layers.add(hash)?;
                sightings.push_back(Sighting { moment: self.latest, hash, layer });
                count
            }
        };
        self.sightings += 1;
        let moment = match self.counter {
            Counter::Within { .. } => self.latest.millis(),
            _ => self.sightings,
        };
        let counter = &self.counter;
        self.kept.note((hash, key), moment, count, |hash, heavy| counter.now(hash, heavy));
        Ok(count == 1)
    }

    /// Lets go what is older than the window at a moment, for clocks that go on without records.
    pub(crate) fn turn(&mut self, now: Time) -> anyhow::Result<()> {
        if let Counter::Within { layers, span, sightings } = &mut self.counter {
            self.latest = self.latest.max(now);
            take_back(layers, sightings, *span, self.latest)?;
            self.kept.advance(self.latest.millis());
        }
        Ok(())
    }

    /// Every key that counts at least so much, most frequent first; without a threshold, all that
    /// are kept.
    pub(crate) fn list(&self, at_least: Option<u64>) -> anyhow::Result<Vec<(&[u8], u64)>> {
        let at_least = at_least.unwrap_or(0).max(self.kept.floor());
        Ok(self.kept.at_least(at_least, |hash, heavy| self.counter.now(hash, heavy))?)
    }

    /// Keys that came less often may not be listed.
    pub(crate) fn floor(&self) -> u64 {
        self.kept.floor()
    }

    /// Records that told a moment before the latest.
    pub(crate) fn late(&self) -> u64 {
        self.late
    }

    /// What to tell of it.
    pub(crate) fn about(&self, goal: &Goal) -> About {
        match &self.counter {
            Counter::Last(counter) => About::of(counter),
            Counter::Ever(layers) => layers.about(goal),
            Counter::Within { layers, sightings, .. } => {
                let mut about = layers.about(goal);
                about.filter_bytes += (sightings.capacity() * size_of::<Sighting>()) as u64;
                about
            }
        }
    }
}

impl Counter {
    /// The count of a kept key at this moment. Without end it is that of when it last came, before
    /// others collided with it.
    fn now(&self, hash: u64, heavy: &Heavy) -> u64 {
        match self {
            Counter::Ever(_) => heavy.count,
            Counter::Last(counter) => counting(counter).count_hash(hash, Time::ZERO),
            Counter::Within { layers, .. } => layers.count(hash),
        }
    }
}

/// Takes back what is older than the span.
fn take_back(
    layers: &mut Layers,
    sightings: &mut VecDeque<Sighting>,
    span: Span,
    now: Time,
) -> anyhow::Result<()> {
    let is_over =
        |sighting: &Sighting| now.millis().saturating_sub(sighting.moment.millis()) > span.millis();
    while sightings.front().is_some_and(is_over) {
        if let Some(sighting) = sightings.pop_front() {
            layers.take_back(sighting.hash, sighting.layer)?;
        }
    }
    Ok(())
}

/// Counters for more and more keys.
struct Layers {
    goal: Goal,
    seed: Seed,
    layers: Vec<Layer>,
}

struct Layer {
    counter: Untyped,
    /// Different keys in it, and for how many it was made.
    keys: u64,
    capacity: u64,
}

impl Layers {
    /// Keys of the first layer if nothing is expected: so few that it stays in a core's cache.
    const FIRST: u64 = 1 << 16;

    /// How many times as many keys the next layer is for.
    const GROWTH: u64 = 4;

    fn new(goal: Goal, seed: Seed) -> anyhow::Result<Self> {
        let mut layers = Self { goal, seed, layers: Vec::new() };
        layers.grow()?;
        Ok(layers)
    }

    /// Adds a layer.
    fn grow(&mut self) -> anyhow::Result<()> {
        let before = self.layers.last().map(|layer| layer.capacity * Self::GROWTH);
        let capacity = before.or(self.goal.expected_items).unwrap_or(Self::FIRST);
        let mut goal = Goal { expected_items: Some(capacity), ..self.goal };
        if let Limit::Error(rate) = goal.limit {
            // Half for the first, a quarter for the second: never more than the whole.
            let share = 0.5_f64.powi(self.layers.len() as i32 + 1);
            goal.limit =
                Limit::Error(ErrorRate::new((rate.get() * share).max(ErrorRate::SMALLEST))?);
        }
        let counter = Builder::<Untyped>::from(goal).seed(self.seed.0).build();
        let counter = counter.context("there are too many different keys for this error")?;
        self.layers.push(Layer { counter, keys: 0, capacity });
        Ok(())
    }

    /// Counts a sighting; gives the count with it, and the layer it is in.
    fn add(&mut self, hash: u64) -> anyhow::Result<(u64, u8)> {
        let (mut sum, mut home) = (0, None);
        for (index, layer) in self.layers.iter().enumerate() {
            let count = counting(&layer.counter).count_hash(hash, Time::ZERO);
            sum += count;
            if count > 0 {
                home = home.or(Some(index));
            }
        }
        let home = match home {
            Some(home) => home,
            None => self.home_of_new()?,
        };
        let layer = &mut self.layers[home];
        layer.keys += u64::from(sum == 0);
        add(&mut layer.counter, hash);
        // In its layer it counts exactly one more now, whatever the rule.
        Ok((sum + 1, home as u8))
    }

    /// The layer for a key that none knows. Given a memory, there is only one.
    fn home_of_new(&mut self) -> anyhow::Result<usize> {
        let full = self.layers.last().is_some_and(|layer| layer.keys >= layer.capacity);
        if full && matches!(self.goal.limit, Limit::Error(_)) {
            self.grow()?;
        }
        Ok(self.layers.len() - 1)
    }

    fn take_back(&mut self, hash: u64, layer: u8) -> anyhow::Result<()> {
        let layer = &mut self.layers[usize::from(layer)];
        let counter = layer.counter.filter_mut().as_counting().expect("built for counting");
        if counter.take_back_hash(hash, 1, Time::ZERO)? == 0 {
            // Keys that collided when they came were not counted.
            layer.keys = layer.keys.saturating_sub(1);
        }
        Ok(())
    }

    fn count(&self, hash: u64) -> u64 {
        let counts = self.layers.iter().map(|layer| &layer.counter);
        counts.map(|counter| counting(counter).count_hash(hash, Time::ZERO)).sum()
    }

    /// The first layer in words, all of them in numbers.
    fn about(&self, goal: &Goal) -> About {
        let each = || self.layers.iter().map(|layer| About::of(&layer.counter));
        let right = |of: fn(&About) -> f64| 1.0 - each().fold(1.0, |all, it| all * (1.0 - of(&it)));
        About {
            window: goal.window.to_string(),
            filter_bytes: each().map(|about| about.filter_bytes).sum(),
            predicted_false_positive_rate: right(|about| about.predicted_false_positive_rate),
            estimated_false_positive_rate: right(|about| about.estimated_false_positive_rate),
            ..About::of(&self.layers[0].counter)
        }
    }
}

fn add(counter: &mut Untyped, hash: u64) -> u64 {
    let counter = counter.filter_mut().as_counting().expect("built for counting");
    counter.add_hash(hash, 1, Time::ZERO)
}

fn counting(counter: &Untyped) -> &dyn Counting {
    counter.filter().counting().expect("built for counting")
}
