//! lately inside Redis and Valkey: filters over the last *n*, the last *t*, or ever, as keys that the
//! engine replicates, persists and clusters.
//!
//! | Where | What |
//! |---|---|
//! | `commands/` | one type per command: its description and what it does |
//! | `wish`, `args` | words of commands become values |
//! | `object`, `tally` | the stored value: any structure of the catalog, and what is known besides |
//! | `abilities` | what only some structures can do |
//! | `top` | which items came most often |
//! | `keeper` | windows by time give memory back while nobody uses them |
//! | `horizon` | which moments of clients are believed |
//! | `persist`, `dump`, `replicate` | what leaves the server, and why |
//! | `config`, `metrics` | what the engine shows of us |
//! | `ours` | what the engine asks of us |
//! | `engine/` | the fence around the engine's C interface |

mod abilities;
mod args;
mod commands;
mod config;
mod dump;
mod engine;
mod horizon;
mod keeper;
mod metrics;
mod object;
mod ours;
mod persist;
mod replicate;
mod tally;
mod top;
mod wish;

engine::export!(ours::Ours);
