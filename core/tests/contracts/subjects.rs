//! What the contracts are run on: every row of the catalog, on a grid of goals.

use lately::plan::Goal;
use lately::raw::{Blueprint, Filter};
use lately::spectral::{BlockedParameters, Rule, SpectralParameters, Storage};
use lately::{ErrorRate, Memory, Promise, Seed, Slack, Span, Time, Window};
use lately_papers::CATALOG;

/// A way to build filters that all make the same promise.
pub struct Subject {
    /// Structure and parameters, for messages.
    pub label: String,
    /// What it promises.
    pub promise: Promise,
    /// Bytes that its blueprint plans; `None` if it adapts to what it holds.
    pub planned_bytes: Option<u64>,
    /// Cache lines that an operation touches: slow structures get shorter streams.
    pub lines: f64,
    /// Builds an empty one with this seed.
    pub build: Build,
    /// Builds an empty one that is not built alike.
    pub stranger: Build,
}

/// Builds an empty filter with a seed.
pub type Build = Box<dyn Fn(u64) -> Box<dyn Filter>>;

impl Subject {
    pub fn of(blueprint: Box<dyn Blueprint>) -> Self {
        Subject {
            label: format!("{} {:?}", blueprint.structure(), blueprint.fields()),
            promise: blueprint.promise(),
            planned_bytes: (!blueprint.adapts()).then(|| blueprint.heap_bytes()),
            lines: blueprint.lines_touched(),
            build: Box::new(move |seed| blueprint.build(Seed(seed)).unwrap()),
            stranger: Box::new(|seed| {
                let rule = Rule::MinimumSelection;
                SpectralParameters::with_error(77, 0.05, rule).allocate(Seed(seed))
            }),
        }
    }

    /// Whether it keeps a window by count and never forgets inside it.
    pub fn counts_items(&self) -> bool {
        matches!(self.promise.window, Window::Last(_)) && self.promise.false_negatives == 0.0
    }

    /// Whether it keeps a window by count and may forget inside it.
    pub fn may_forget(&self) -> bool {
        matches!(self.promise.window, Window::Last(_)) && self.promise.false_negatives > 0.0
    }

    /// Whether it keeps a window by time.
    pub fn measures_time(&self) -> bool {
        matches!(self.promise.window, Window::Within(_))
    }

    /// Whether it never forgets anything, at any size. Counters are sized for a number of keys, and
    /// have contracts of their own.
    pub fn remembers_ever(&self) -> bool {
        self.promise.window == Window::Ever
            && self.promise.false_negatives == 0.0
            && !self.counts_sightings()
    }

    /// Whether it never forgets anything but what is taken back.
    pub fn takes_back(&self) -> bool {
        self.remembers_ever() && (self.build)(0).as_removing().is_some()
    }

    /// Whether it says how often.
    pub fn counts_sightings(&self) -> bool {
        (self.build)(0).as_counting().is_some()
    }

    /// Whether it says how often, and how many different ones, of what is in its window and nothing else.
    pub fn knows_how_many(&self) -> bool {
        let nothing_older = match (self.promise.window, self.promise.slack) {
            (Window::Ever, _) | (_, Slack::Items(0)) => true,
            (_, Slack::Time(slack)) => slack.millis() == 0,
            _ => false,
        };
        nothing_older && self.counts_sightings() && (self.build)(0).distinct(Time::ZERO).is_some()
    }

    /// Whether it says how often, and can take back.
    pub fn takes_back_sightings(&self) -> bool {
        let slides = matches!(self.promise.window, Window::Last(_));
        self.counts_sightings() && !slides && (self.build)(0).as_removing().is_some()
    }

    /// Whether it says how often, and cannot take back.
    pub fn keeps_sightings(&self) -> bool {
        self.counts_sightings() && (self.build)(0).as_removing().is_none()
    }

    /// Whether it says how often by the rule of minimal increase.
    pub fn increases_minimally(&self) -> bool {
        let rule = ("rule", Rule::MinimalIncrease.name().to_owned());
        (self.build)(0).blueprint().fields().contains(&rule)
    }

    /// Whether it says how often in a window.
    pub fn counts_in_a_window(&self) -> bool {
        self.promise.window != Window::Ever && self.counts_sightings()
    }

    /// Whether counts of two can be multiplied.
    pub fn multiplies(&self) -> bool {
        let other = (self.build)(0);
        (self.build)(0).as_counting().is_some_and(|counter| counter.multiply(&*other).is_ok())
    }

    /// Whether it says how often, and can be combined with another.
    pub fn combines(&self) -> bool {
        let other = (self.build)(0);
        (self.build)(0).as_counting().is_some_and(|counter| counter.merge(&*other).is_ok())
    }

    /// Insertions for a contract that must see many windows go by.
    pub fn steps(&self) -> usize {
        let affordable = 3e6 / self.lines;
        (10.0 * self.cycle()).max(3_000.0).min(affordable).max(1.2 * self.cycle()) as usize
    }

    /// Insertions for a contract that must see a window or two.
    pub fn few_steps(&self) -> usize {
        (2.5 * self.cycle()).clamp(1_500.0, 50_000.0) as usize
    }

    /// Insertions until everything has been replaced.
    fn cycle(&self) -> f64 {
        match (self.promise.window, self.promise.slack) {
            (Window::Last(window), Slack::Items(slack)) => (window + slack) as f64,
            (Window::Last(window), _) => 2.0 * window as f64,
            _ => 2_000.0,
        }
    }

    /// The window and the slack of a subject that counts items.
    pub fn window_and_slack(&self) -> (u64, Option<u64>) {
        let Window::Last(window) = self.promise.window else {
            panic!("{} does not count items", self.label);
        };
        match self.promise.slack {
            Slack::Items(slack) => (window, Some(slack)),
            _ => (window, None),
        }
    }
}

/// Every row on every goal that it accepts.
pub fn subjects() -> Vec<Subject> {
    let goals = goals();
    let rows = CATALOG.iter();
    let mut subjects: Vec<Subject> = rows
        .flat_map(|row| goals.iter().filter_map(|goal| (row.propose)(goal).ok()))
        .chain(rules_and_storages())
        .map(Subject::of)
        .collect();
    // So little memory that the luck of a single window would drown what it promises; those that
    // may forget are judged in the long run, and here they have something to forget.
    let tight = Goal::new(Window::Last(3_000), Memory::from_bytes(1_500));
    let proposed = CATALOG.iter().filter_map(|row| (row.propose)(&tight).ok());
    subjects.extend(proposed.map(Subject::of).filter(Subject::may_forget));
    subjects
}

/// Spectral filters that no goal proposes: every rule and every storage.
fn rules_and_storages() -> Vec<Box<dyn Blueprint>> {
    let planned = SpectralParameters::with_error(5_000, 0.05, Rule::MinimumSelection);
    let second_width = planned.rows.width / 2;
    let rules = [
        Rule::MinimalIncrease,
        Rule::RecurringMinimum { second_width },
        Rule::MarkedRecurringMinimum { second_width },
    ];
    let mut blueprints: Vec<Box<dyn Blueprint>> = Vec::new();
    for storage in Storage::ALL {
        blueprints.push(Box::new(SpectralParameters { storage, ..planned }));
    }
    for rule in rules {
        blueprints.push(Box::new(SpectralParameters { rule, ..planned }));
    }
    let blocked = BlockedParameters::with_error(5_000, 0.05, rules[2]);
    blueprints.push(Box::new(blocked));
    let storage = Storage::StringArray;
    blueprints.push(Box::new(SpectralParameters { rule: rules[0], storage, ..planned }));
    blueprints
}

/// Room for all keys of any contract: what a window that shortens keeps when they do not fit, its own tests say.
const SHORTENING: u64 = 1 << 20;

/// Windows around the sizes where structures change: one item, one bin, a few bins, many.
pub fn goals() -> Vec<Goal> {
    let rate = |rate| ErrorRate::new(rate).unwrap();
    let mut goals = Vec::new();
    for window in [1, 2, 3, 63, 64, 65, 1_000, 5_000] {
        for error in [0.1, 0.01, 0.0001] {
            goals.push(Goal::new(Window::Last(window), rate(error)));
        }
    }
    goals.push(Goal { slack: Slack::Items(100), ..Goal::new(Window::Last(2_000), rate(0.01)) });
    for (window, bytes) in [(1, 300), (500, 1_500)] {
        goals.push(Goal::new(Window::Last(window), Memory::from_bytes(bytes)));
    }
    for millis in [1, 10, 1_000] {
        let window = Window::Within(Span::from_millis(millis));
        goals.push(Goal { expected_items: Some(1_000), ..Goal::new(window, rate(0.01)) });
    }
    for millis in [1, 10, 1_000] {
        let window = Window::Within(Span::from_millis(millis));
        let shortening = Some(Memory::from_bytes(SHORTENING));
        goals.push(Goal { shortening, ..Goal::new(window, rate(0.01)) });
    }
    for error in [0.1, 0.001] {
        goals.push(Goal::new(Window::Ever, rate(error)));
        goals.push(Goal { removing: true, ..Goal::new(Window::Ever, rate(error)) });
        let counting = Goal { counting: true, ..Goal::new(Window::Ever, rate(error)) };
        goals.push(counting);
        let counting = Goal { expected_items: Some(5_000), ..counting };
        goals.push(counting);
        goals.push(Goal { removing: true, ..counting });
    }
    for window in [1, 100, 3_000] {
        goals.push(Goal { counting: true, ..Goal::new(Window::Last(window), rate(0.01)) });
    }
    for millis in [1, 10, 1_000] {
        let window = Window::Within(Span::from_millis(millis));
        goals.push(Goal { counting: true, ..Goal::new(window, rate(0.01)) });
    }
    let slack = Slack::Time(Span::from_millis(40));
    let window = Window::Within(Span::from_millis(1_000));
    goals.push(Goal { counting: true, slack, ..Goal::new(window, rate(0.001)) });
    let counting = Goal { counting: true, ..Goal::new(Window::Ever, Memory::from_bytes(50_000)) };
    goals.push(Goal { expected_items: Some(5_000), ..counting });
    goals
}
