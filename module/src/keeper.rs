//! Windows by time give memory back while nobody uses them: a timer looks after them, a little at a time.
//!
//! What the keeper does to a filter it sends to replicas and to the append-only file, as `LATELY.EXPIRE` with
//! the moment and the number of steps: so they stay equal, bit by bit. A replica does nothing by itself.
//!
//! It knows of filters that were reserved here. Others, that were loaded, renamed, copied, moved or restored,
//! it finds by a walk through all keys, which begins when there are more filters than it knows of.
//!
//! Time goes on for a filter whose last moment was the server's own. One that is told moments by its clients
//! may live in another time, where it is not for us to say how late it is: of that only what has left the
//! window by its own clock is given back.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use lately::{Slack, Span, Time, Window};

use crate::engine::{Address, Walk, now};
use crate::object::{ClockOf, Stored, Value};
use crate::ours::Idle;
use crate::{config, metrics};

/// How long between two looks if all was done.
pub const PAUSE: Span = Span::from_millis(100);

/// How long between two looks if something was left.
const SHORT_PAUSE: Span = Span::from_millis(10);

/// How long one look may take, but for its last round of steps.
const LOOK: Duration = Duration::from_micros(300);

/// Steps between two looks at the clock.
const ROUND: usize = 16;

/// Steps for one filter in one look: as many as `LATELY.EXPIRE` takes.
pub const MOST_STEPS: usize = 256;

/// How long after a walk that did not find all the next one begins.
const WALK_AGAIN: Span = Span::from_millis(10_000);

/// A filter that was all right is looked at again after this part of its window, but at least so often.
const PART: u64 = 32;
const SELDOM: u64 = 60_000;

static KEEPER: Mutex<Keeper> = Mutex::new(Keeper::new());

/// Looks after a filter from now on.
pub fn keep(address: Address, stored: &mut Stored) {
    // If the keeper is at work, and another module that it woke comes here: a walk will find this one.
    if stored.is_timed()
        && let Some(mut keeper) = keeper()
    {
        keeper.add(address, stored, now());
    }
}

/// Looks after what is due, and says after which pause to come again.
pub fn look_after(idle: &mut Idle) -> Span {
    let Some(mut keeper) = keeper().filter(|_| config::EXPIRE_IDLE.get()) else { return PAUSE };
    if idle.is_in_charge() {
        return keeper.look_after(idle, now(), Instant::now());
    }
    // Whoever is, tells. Should this server be again, it finds them again.
    keeper.visits.clear();
    keeper.walk = None;
    PAUSE
}

fn keeper() -> Option<MutexGuard<'static, Keeper>> {
    match KEEPER.try_lock() {
        Ok(keeper) => Some(keeper),
        Err(TryLockError::Poisoned(poisoned)) => Some(PoisonError::into_inner(poisoned)),
        Err(TryLockError::WouldBlock) => None,
    }
}

struct Keeper {
    /// By the moment at which each is due, and its number.
    visits: BTreeMap<(Time, u64), (Address, State)>,
    /// The number of the last one.
    number: u64,
    walk: Option<Walk>,
    /// When to walk again.
    walk_again: Time,
}

/// What is known of a filter since the last look at it.
#[derive(Default)]
struct State {
    /// Its clock when it was left.
    left: Option<Time>,
    /// Its clock when somebody else had moved it.
    used: Time,
    /// Whether nothing is left to do until somebody uses it.
    rests: bool,
}

/// What was done in a look.
struct Looked {
    moment: Time,
    steps: usize,
    /// When to come again.
    pause: Span,
}

impl Keeper {
    const fn new() -> Self {
        Self { visits: BTreeMap::new(), number: 0, walk: None, walk_again: Time::ZERO }
    }

    fn add(&mut self, address: Address, stored: &mut Stored, due: Time) {
        self.number += 1;
        stored.keeper_number = self.number;
        self.visits.insert((due, self.number), (address, State::default()));
    }

    fn look_after(&mut self, idle: &mut Idle, now: Time, begun: Instant) -> Span {
        self.look_for_others(idle, now, begun);
        let mut next = if self.walk.is_some() { SHORT_PAUSE } else { PAUSE };
        while let Some(first) = self.visits.first_entry().filter(|first| first.key().0 <= now) {
            if begun.elapsed() >= LOOK {
                return SHORT_PAUSE;
            }
            let ((_, number), (address, mut state)) = first.remove_entry();
            let looked = idle.look(&address, |value| match value {
                Value::Filter(stored) if stored.keeper_number == number => {
                    Some(state.look_at(stored, now, begun))
                }
                _ => None,
            });
            // What is gone, or is kept under another number, is no longer visited.
            let Some(Some(looked)) = looked else { continue };
            if looked.steps > 0 {
                idle.replicate(c"LATELY.EXPIRE", &address, looked.moment, looked.steps as u64);
            }
            next = next.min(looked.pause);
            self.visits.insert((now.after(looked.pause), number), (address, state));
        }
        next
    }

    /// Walks on through all keys, if there are filters that nobody told us of.
    fn look_for_others(&mut self, idle: &mut Idle, now: Time, begun: Instant) {
        let are_missing = metrics::TIMED_FILTERS.get() > self.visits.len() as u64;
        if self.walk.is_none() && are_missing && now >= self.walk_again {
            self.walk = Some(Walk::default());
        }
        while begun.elapsed() < LOOK / 2 {
            let Some(mut walk) = self.walk.take() else { return };
            let goes_on = idle.walk(&mut walk, |address, value| match value {
                Value::Filter(stored) if stored.is_timed() => self.add(address, stored, now),
                _ => {}
            });
            if goes_on {
                self.walk = Some(walk);
            } else {
                self.walk_again = now.after(WALK_AGAIN);
            }
        }
    }
}

impl State {
    fn look_at(&mut self, stored: &mut Stored, now: Time, begun: Instant) -> Looked {
        let (span, life) = stay(stored);
        let pause = (span.millis() / PART).clamp(PAUSE.millis(), SELDOM);
        let nothing = |moment| Looked { moment, steps: 0, pause: Span::from_millis(pause) };
        let Some(clock) = stored.filter().clock() else { return nothing(now) };
        if self.left != Some(clock) {
            self.used = clock;
            self.rests = false;
        }
        let moment = match stored.clock_of {
            ClockOf::Server => now.max(clock),
            ClockOf::Clients => clock,
        };
        if self.rests || moment == clock && stored.expire(clock, 0) {
            return nothing(moment);
        }
        let mut looked = nothing(moment);
        let is_done = loop {
            looked.steps += ROUND;
            let is_done = stored.expire(moment, ROUND);
            if is_done || looked.steps >= MOST_STEPS || begun.elapsed() >= LOOK {
                break is_done;
            }
        };
        self.left = stored.filter().clock();
        self.rests = is_done && moment > self.used.after(life);
        if !is_done {
            looked.pause = SHORT_PAUSE;
        }
        looked
    }
}

/// The window of a filter, and the longest that anything stays in it.
fn stay(stored: &Stored) -> (Span, Span) {
    let promise = stored.filter().blueprint().promise();
    let Window::Within(span) = promise.window else { return (Span::LONGEST, Span::LONGEST) };
    let slack = match promise.slack {
        Slack::Time(slack) => slack,
        Slack::Items(_) | Slack::Unlimited => span,
    };
    (span, Span::from_millis(span.millis().saturating_add(slack.millis())))
}
