//! Parameters of a structure, and all that is known before its first byte is allocated.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::codec::{Reader, Writer};
use crate::error::Error;
use crate::filter::Filter;
use crate::hash::Seed;
use crate::memory;
use crate::parameters::{Parameters, Told};
use crate::plan::Goal;
use crate::promise::{Mistakes, Promise};

/// The parameters of one structure. Formulas over them answer what it will keep and cost.
pub trait Blueprint: Told + Debug + Send + Sync {
    /// What the structure will keep.
    fn promise(&self) -> Promise;

    /// How many different keys the promise of false positives holds for; `None` if for any number.
    /// Structures that neither forget nor grow have such a limit, and beyond it err more often.
    fn promised_items(&self) -> Option<u64> {
        None
    }

    /// The errors to expect over a long stream of keys drawn evenly from an alphabet of this size,
    /// or from one without end; every key not in the window counts as unseen, however short a time
    /// ago it left. The planner compares these when the memory is given. Unless a structure knows
    /// better, what it promises.
    fn expected_mistakes(&self, alphabet: Option<u64>) -> Mistakes {
        let _ = alphabet;
        let Promise { false_positives, false_negatives, .. } = self.promise();
        Mistakes { false_positives, false_negatives }
    }

    /// Bytes on the heap: exactly for structures of fixed size, and for those that adapt, when
    /// they hold what the goal expects.
    fn heap_bytes(&self) -> u64;

    /// Whether the structure grows and shrinks with what it holds, so that
    /// [`heap_bytes`](Self::heap_bytes) is an estimate.
    fn adapts(&self) -> bool {
        false
    }

    /// Bytes on the heap for which the machine is asked before an empty one is built: none if it starts small,
    /// as most do that adapt.
    fn bytes_at_first(&self) -> u64 {
        if self.adapts() { 0 } else { self.heap_bytes() }
    }

    /// Whether [`heap_bytes`](Self::heap_bytes) holds for an even stream only, and other rhythms of as
    /// many keys take several times that. The planner takes such a structure if no other will do.
    fn needs_even_stream(&self) -> bool {
        false
    }

    /// Whether it is smaller than its like by less than it is slower: for those who want the least memory.
    /// Where the error is given, the planner takes it only if it saves a tenth besides.
    fn is_lean(&self) -> bool {
        false
    }

    /// Cache lines that one insert-and-check touches on average, when none is in the cache.
    fn lines_touched(&self) -> f64;

    /// Items that one insert-and-check looks at one by one, at 20 instructions each; none unless the structure
    /// scans.
    fn items_scanned(&self) -> f64 {
        0.0
    }

    /// Allocates the empty structure, and aborts if there is not enough memory: call
    /// [`build`](#method.build), which asks first. `seed` drives its random choices, if it makes any.
    fn allocate(&self, seed: Seed) -> Box<dyn Filter>;
}

impl<'a> dyn Blueprint + 'a {
    /// The structure's name in the catalog; of one that is not there, that it is not.
    pub fn structure(&self) -> &'static str {
        self.row().map_or("unlisted", |row| row.name)
    }

    /// What one insert-and-check costs, in instructions: the planner's measure of speed, the same on
    /// every machine. `cargo lab instructions` holds it against what the structures really take.
    pub fn cost(&self) -> f64 {
        cost(self.lines_touched(), self.items_scanned())
    }

    /// Refuses one that differs, and says in what.
    pub fn check_alike(&self, other: &Self) -> Result<(), Error> {
        if self == other {
            return Ok(());
        }
        let (ours, theirs) = (self.structure(), other.structure());
        if ours != theirs {
            // Parameters of different structures have nothing to do with each other.
            return Err(Error::Different {
                differences: format!("structure ({ours} and {theirs})"),
            });
        }
        let theirs = other.fields();
        let differences = self.fields().into_iter().filter_map(|(name, ours)| {
            let other = theirs.iter().find(|(other, _)| *other == name);
            let other = other.map_or("none", |(_, value)| value);
            (other != ours).then(|| format!("{name} ({ours} and {other})"))
        });
        Err(Error::Different { differences: differences.collect::<Vec<_>>().join(", ") })
    }

    /// The empty structure, or an error if the machine will not give the memory.
    pub fn build(&self, seed: Seed) -> Result<Box<dyn Filter>, Error> {
        memory::ask_for(self.bytes_at_first())?;
        Ok(self.allocate(seed))
    }
}

/// The cost of touching so many lines and scanning so many items, in instructions.
fn cost(lines: f64, items: f64) -> f64 {
    /// To hash a key, to answer, and what all structures have in common.
    const EACH: f64 = 200.0;
    /// What is done with a line, and some of the time in which it comes.
    const LINE: f64 = 50.0;
    /// What is done with an item of a scan.
    const ITEM: f64 = 20.0;
    EACH + LINE * lines + ITEM * items
}

/// Blueprints of the same structure with the same parameters.
impl<'a> PartialEq for dyn Blueprint + 'a {
    fn eq(&self, other: &Self) -> bool {
        let written = |blueprint: &Self| {
            let mut out = Writer::new();
            blueprint.write_parameters(&mut out);
            (blueprint.structure(), out.into_bytes())
        };
        written(self) == written(other)
    }
}

/// What parameters provide to join a [`Catalog`](crate::catalog::Catalog), as a [`Row`](crate::catalog::Row).
pub trait Structure: Blueprint + Parameters {
    /// Whether its window becomes shorter when more comes than fits. Whoever asks for that gets no other
    /// structure, and nobody else gets this one.
    const SHORTENS: bool = false;

    /// The parameters that reach a goal, or why none do.
    fn propose(goal: &Goal) -> Result<Self, Unfit>;

    /// What it takes for a goal at the very least, much sooner known than [`propose`](Self::propose) finds
    /// parameters: who looks for the best of all need not size what cannot be that. Asked only of
    /// structures that are worth the question; the others are sized at once.
    fn floor(goal: &Goal) -> Floor {
        let _ = goal;
        Floor::NONE
    }

    /// Reads what [`Filter::write_payload`] of a filter with these parameters wrote.
    fn open(self, payload: &mut Reader<'_>) -> Result<Box<dyn Filter>, Error>;
}

/// Why a structure cannot reach a goal, completing the sentence "it ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unfit(pub &'static str);

/// What a structure takes for a goal at the very least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// Bytes on the heap. If the memory is given: what it takes to err almost always.
    pub bytes: u64,
    /// Its price for the goal.
    pub price: f64,
    /// Whether the price holds for an even stream only: see [`Blueprint::needs_even_stream`].
    pub needs_even_stream: bool,
}

impl Floor {
    /// Nothing is known.
    pub const NONE: Floor = Floor { bytes: 0, price: 0.0, needs_even_stream: false };

    /// It cannot be reached.
    pub const ENDLESS: Floor =
        Floor { bytes: u64::MAX, price: f64::INFINITY, needs_even_stream: false };

    /// The least memory that it can be given at all.
    pub fn of_bytes(bytes: u64) -> Floor {
        Floor { bytes, ..Floor::NONE }
    }

    /// Of parameters that take at least so many bytes and lines each, the cheapest.
    pub fn of(goal: &Goal, choices: impl IntoIterator<Item = (u64, f64)>) -> Floor {
        choices.into_iter().fold(Floor::ENDLESS, |least, (bytes, lines)| Floor {
            bytes: least.bytes.min(bytes),
            price: least.price.min(goal.price_of(bytes, cost(lines, 0.0))),
            ..least
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sliding::DoubleBufferParameters;
    use crate::spectral::{Rule, SpectralParameters, Storage};
    use crate::window::Window;

    #[test]
    fn differences_are_named() {
        let ours = SpectralParameters::with_error(100, 0.01, Rule::MinimumSelection);
        let check = |theirs: &dyn Blueprint| {
            let ours: &dyn Blueprint = &ours;
            assert_eq!(ours.check_alike(theirs).is_ok(), ours == theirs);
            ours.check_alike(theirs).map_err(|error| error.to_string())
        };
        assert_eq!(check(&ours.clone()), Ok(()));
        let mut theirs = ours;
        theirs.rows.width = 7;
        theirs.storage = Storage::Serial;
        let error = check(&theirs).unwrap_err();
        let width = ours.rows.width;
        let expected = format!("width ({width} and 7), storage (bytes and serial)");
        assert!(error.contains(&expected), "{error}");
        let error = check(&DoubleBufferParameters { window: 1, blocks: 1 }).unwrap_err();
        assert!(error.contains("structure (spectral and double-buffer)"), "{error}");
    }

    /// More than any machine has: refused where it is needed at once, and no reason to refuse what starts small.
    #[test]
    fn only_what_is_needed_at_first_is_asked_for() {
        let error = crate::ErrorRate::new(0.01).unwrap();
        let last = Goal::new(Window::Last(1 << 47), error);
        let ever = Goal { expected_items: Some(1 << 56), ..Goal::new(Window::Ever, error) };
        let counting = |goal| Goal { counting: true, ..goal };
        let mut small = 0;
        for row in crate::catalog::ROWS {
            for goal in [last, counting(last), ever, counting(ever)] {
                let Ok(blueprint) = (row.propose)(&goal) else { continue };
                if blueprint.heap_bytes() < 1 << 45 {
                    continue;
                }
                let built = blueprint.build(Seed(1));
                let starts_small = blueprint.bytes_at_first() < 1 << 20;
                assert_eq!(built.is_ok(), starts_small, "{}", row.name);
                assert!(built.is_ok_and(|filter| filter.heap_bytes() < 1 << 20) == starts_small);
                small += usize::from(starts_small);
            }
        }
        assert!(small >= 3, "{small}");
    }
}
