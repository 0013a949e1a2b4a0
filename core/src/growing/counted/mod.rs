//! How often, ever, without knowing how many keys there will be.
//!
//! The segments of [`Growing`](super::Growing), with a count beside every signature. A slot is the field
//! of a signature and a *code* of a few bits; a count that is too large for the code goes on in the next
//! slots of the run, its *digits* ([`shape`]). Codes are as long as suits the counts of their segment:
//! one bit where every key is new, five where all come often ([`census`]).
//!
//! *A key has one entry, and no entry is a prefix of another.* Whoever comes and is matched by an entry
//! is counted there, however short that is; whoever is not gets a new one, as long as can be. So at most
//! one entry matches a hash, now and after every split, all sightings of a key are counted in the one
//! that matches it, and no count is ever too low.
//!
//! Two keys that share an entry are both too high from then on, by all of the other's sightings. A key
//! that comes meets a strange entry with the chance ε' that `Growing` would have to report it; one that
//! is there is met by later ones as often. So at most 2ε' of all keys are counted too high, and
//! signatures are planned for half of the error that is promised.
//!
//! Worked example: codes of 2 bits, and keys `a` once, `b` five times, in one bucket. `a` has code 0. `b`
//! has code 3, which says that digits follow, and one digit of 1: 4 + 1.
//!
//! After Pandey, Bender, Johnson and Patro, *A General-Purpose Counting Filter* (SIGMOD 2017), whose
//! counts also lie in the slots of the run; codes that differ by segment and signatures that differ in
//! length are ours.

mod abilities;
mod blueprint;
mod census;
mod counts;
mod draft;
mod filter;
mod remake;
mod shape;
mod state;
#[cfg(test)]
mod tests;
mod union;

pub use blueprint::GrowingCountsParameters;
pub use filter::GrowingCounts;
