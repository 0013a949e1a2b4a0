//! What the engine asks of us: the one place where the fence and what lives behind it meet.

use std::ffi::{CStr, c_int};

use lately::Span;

use crate::commands::{self, Help};
use crate::engine::{self, Command, Entry, Incoming, Module, Outgoing, Remade, Settings};
use crate::object::Value;
use crate::persist::{self, Record};
use crate::{config, keeper, metrics};

/// This module.
pub struct Ours;

/// A command of ours under way.
pub type Call<'a> = engine::Call<'a, Ours>;

/// An open key of a command.
pub type Key<'c> = engine::Key<'c, Ours>;

/// A moment between commands.
pub type Idle = engine::Idle<Ours>;

impl Module for Ours {
    type Value = Value;

    const NAME: &CStr = c"lately";
    const VERSION: c_int = 1;
    const TYPE_NAME: &CStr = c"lately-rs";
    const RECORD_VERSION: c_int = persist::RECORD_VERSION;
    const COMMANDS: &'static [Entry<Self>] = commands::LATELY;
    const REHEARSAL: &CStr = Help::DOC.name;
    const SETTINGS: Settings = config::ALL;
    const PAUSE: Span = keeper::PAUSE;

    fn more_commands() -> Option<(&'static [Entry<Self>], &'static CStr)> {
        let notice = c"BF commands are taken by another module; lately leaves them";
        config::BLOOM_COMMANDS.get().then_some((commands::BLOOM, notice))
    }

    fn metrics() -> Vec<(&'static CStr, u64)> {
        metrics::all().to_vec()
    }

    fn look_after(idle: &mut Idle) -> Span {
        keeper::look_after(idle)
    }

    fn load(from: &mut Incoming<'_>) -> Result<Value, String> {
        persist::load(from)
    }

    fn save(value: &Value, to: &mut Outgoing<'_>) {
        persist::save(value, to);
    }

    fn remake(value: &Value) -> Remade<'_> {
        persist::remake(value)
    }

    fn memory_bytes(value: &Value) -> usize {
        value.memory_bytes()
    }

    fn digest(value: &Value) -> Vec<u8> {
        match value {
            Value::Filter(stored) => persist::to_bytes(&Record::of(stored)),
            Value::Arriving(part) => part.clone(),
        }
    }

    fn copy(value: &Value) -> Option<Value> {
        match value {
            Value::Filter(stored) => stored.copy().ok().map(Value::Filter),
            Value::Arriving(part) => Some(Value::Arriving(part.clone())),
        }
    }
}
