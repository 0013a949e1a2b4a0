//! All tests of the command from outside, in one program. `cargo test -p lately-cli --test all state::` runs those
//! of one file.

mod ahead;
mod command;
mod count;
mod dedup;
mod habits;
mod input;
mod inspect;
mod join;
mod keys;
mod output;
mod passing;
mod plan;
mod robustness;
mod shared;
mod sketch;
mod state;
mod stop;
mod time;
