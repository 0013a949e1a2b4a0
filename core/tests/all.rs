//! All tests of the library from outside: one program, so that it is built once and no processor waits for the
//! others' last test. `cargo test -p lately --test all timed::` runs those of one file.

mod adversary;
mod catalog;
mod contracts;
mod door;
mod elastic;
mod golden;
mod growing;
mod growing_counts;
mod heap;
mod horizon;
mod hostile;
mod laws;
mod methods;
mod plans;
mod refused;
mod samples;
mod shortening;
mod sliding;
mod streams;
mod threads;
mod timed;
mod timed_memory;
mod told;
mod turns;
mod window_counts;
mod window_counts_memory;
