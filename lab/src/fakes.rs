//! A pretended clock, and contenders that take exactly the time they are told to.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lately::{Promise, Slack, Time, Window};

use crate::clock::Clock;
use crate::contender::{Profile, Subject};

/// A clock that only moves when somebody acts, and what was acted before it.
#[derive(Clone, Default)]
pub(crate) struct Stage(Rc<Scene>);

#[derive(Default)]
struct Scene {
    nanos: Cell<u64>,
    built: Cell<u64>,
    insertions: RefCell<Vec<(usize, u64)>>,
}

impl Stage {
    /// Lets time pass.
    pub(crate) fn pass(&self, nanos: u64) {
        self.0.nanos.set(self.0.nanos.get() + nanos);
    }

    /// Actors built so far.
    pub(crate) fn built(&self) -> u64 {
        self.0.built.get()
    }

    /// Who inserted which key, in order.
    pub(crate) fn insertions(&self) -> Vec<(usize, u64)> {
        self.0.insertions.borrow().clone()
    }
}

impl Clock for Stage {
    fn nanos(&self) -> u64 {
        self.0.nanos.get()
    }
}

/// Takes `cost` nanoseconds for everything and has seen nothing.
pub(crate) struct Actor {
    stage: Stage,
    name: usize,
    cost: u64,
}

impl Actor {
    /// An actor with a number for a name.
    pub(crate) fn new(stage: Stage, name: usize, cost: u64) -> Self {
        stage.0.built.set(stage.built() + 1);
        Self { stage, name, cost }
    }
}

impl Subject for Actor {
    fn profile(&self) -> Profile {
        Profile::of_rival(Promise {
            window: Window::Ever,
            slack: Slack::Unlimited,
            false_positives: 0.0,
            false_negatives: 1.0,
        })
    }

    fn insert(&mut self, key: u64, _now: Time) -> bool {
        self.stage.pass(self.cost);
        self.stage.0.insertions.borrow_mut().push((self.name, key));
        true
    }

    fn contains(&self, _key: u64, _now: Time) -> bool {
        self.stage.pass(self.cost);
        false
    }
}
