//! The commands: one type each, with its description and what it does. All items or none: a command
//! that is refused has changed nothing.

mod add;
mod age;
mod bloom;
mod count;
mod expire;
mod forget;
mod hashes;
mod help;
mod info;
mod limit;
mod load;
mod merge;
mod moment;
mod plan;
mod reserve;
mod seen;
mod top;
mod turn_back;
mod until;

pub use help::Help;

use crate::engine::{Entry, command};
use crate::ours::Ours;

/// The commands of our own family.
pub static LATELY: &[Entry<Ours>] = &[
    command::<Ours, reserve::Reserve>(),
    command::<Ours, add::Add>(),
    command::<Ours, add::AddAt>(),
    command::<Ours, add::AddNx>(),
    command::<Ours, add::AddNxAt>(),
    command::<Ours, add::Insert>(),
    command::<Ours, until::AddUntil>(),
    command::<Ours, until::AddUntilAt>(),
    command::<Ours, forget::Forget>(),
    command::<Ours, hashes::AddHashes>(),
    command::<Ours, hashes::SeenHashes>(),
    command::<Ours, seen::Seen>(),
    command::<Ours, seen::SeenAt>(),
    command::<Ours, age::Age>(),
    command::<Ours, age::AgeAt>(),
    command::<Ours, count::Count>(),
    command::<Ours, count::CountAt>(),
    command::<Ours, count::IncrBy>(),
    command::<Ours, count::IncrByAt>(),
    command::<Ours, limit::Limit>(),
    command::<Ours, limit::LimitAt>(),
    command::<Ours, top::Top>(),
    command::<Ours, top::TopAt>(),
    command::<Ours, info::Card>(),
    command::<Ours, info::Info>(),
    command::<Ours, expire::Expire>(),
    command::<Ours, turn_back::TurnBack>(),
    command::<Ours, merge::Merge>(),
    command::<Ours, load::Dump>(),
    command::<Ours, load::Load>(),
    command::<Ours, plan::Plan>(),
    command::<Ours, help::Help>(),
];

/// The commands of RedisBloom and valkey-bloom, for clients that speak those.
pub static BLOOM: &[Entry<Ours>] = &[
    command::<Ours, bloom::reserve::Reserve>(),
    command::<Ours, bloom::add::Add>(),
    command::<Ours, bloom::add::MAdd>(),
    command::<Ours, bloom::add::Insert>(),
    command::<Ours, bloom::exists::Exists>(),
    command::<Ours, bloom::exists::MExists>(),
    command::<Ours, bloom::info::Card>(),
    command::<Ours, bloom::info::Info>(),
    command::<Ours, bloom::chunks::ScanDump>(),
    command::<Ours, bloom::chunks::LoadChunk>(),
];
