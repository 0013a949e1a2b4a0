//! The fence around the engine's C interface: all that the compiler cannot check is in this folder. It knows
//! nothing of ours: what it needs of the rest of the module it asks of a [`Module`].
//!
//! | File | What |
//! |---|---|
//! | `api` | the part of the interface that we use, as the engine has it |
//! | `callbacks` | every function the engine calls, each a call into safe code behind `catch_unwind` |
//! | `call` | one command under way: its words, its keys, what it replicates; and the clock |
//! | `idle` | what is done between commands: the timer, and walks through all keys |
//! | `ahead` | memory that is asked for before its key is opened |
//! | `reply` | answers and refusals, as values and on the wire |
//! | `ready` | the answers of one item, made once |
//! | `streams` | values in dumps, synchronizations and append-only files |
//! | `register` | what the engine is told when the module loads |
//! | `allocator` | the engine's allocator as ours |
//! | `module` | what it asks of the module, and of each command |
//! | `docs`, `settings`, `answers` | what commands tell about themselves, settings, answers of yes and no |

mod ahead;
mod allocator;
mod answers;
mod api;
mod call;
mod callbacks;
mod docs;
mod idle;
mod items;
mod module;
mod ready;
mod register;
mod reply;
mod settings;
mod streams;

pub use ahead::{Ahead, Guessable};
pub use allocator::Heap;
pub use answers::Answers;
pub use call::{Access, Call, Key, Origin, now};
pub use callbacks::{faults, on_load};
pub use docs::{Arg, Doc, Effect, Keys, Kind};
pub use idle::{Address, Idle, Walk};
pub use items::Items;
pub(crate) use module::export;
pub use module::{Command, Module};
pub use ready::rehearsed;
pub use register::{Entry, command};
pub use reply::{Refusal, Reply};
pub use settings::{Number, Settings, Switch, Text};
pub use streams::{Incoming, Outgoing, Remade};
