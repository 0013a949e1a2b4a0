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
mod load;
mod merge;
mod plan;
mod reserve;
mod seen;
mod turn_back;
mod until;

pub use help::Help;

use crate::docs::Doc;
use crate::engine::{Call, Entry, Refusal, Reply, command};

/// A command.
pub trait Command {
    /// What it tells about itself.
    const DOC: Doc;

    /// Carries it out.
    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal>;
}

/// The commands of our own family.
pub static LATELY: &[Entry] = &[
    command::<reserve::Reserve>(),
    command::<add::Add>(),
    command::<add::AddAt>(),
    command::<add::AddNx>(),
    command::<add::AddNxAt>(),
    command::<add::Insert>(),
    command::<until::AddUntil>(),
    command::<until::AddUntilAt>(),
    command::<forget::Forget>(),
    command::<hashes::AddHashes>(),
    command::<hashes::SeenHashes>(),
    command::<seen::Seen>(),
    command::<seen::SeenAt>(),
    command::<age::Age>(),
    command::<age::AgeAt>(),
    command::<count::Count>(),
    command::<count::CountAt>(),
    command::<count::IncrBy>(),
    command::<count::IncrByAt>(),
    command::<info::Card>(),
    command::<info::Info>(),
    command::<expire::Expire>(),
    command::<turn_back::TurnBack>(),
    command::<merge::Merge>(),
    command::<load::Dump>(),
    command::<load::Load>(),
    command::<plan::Plan>(),
    command::<help::Help>(),
];

/// The commands of RedisBloom and valkey-bloom, for clients that speak those.
pub static BLOOM: &[Entry] = &[
    command::<bloom::reserve::Reserve>(),
    command::<bloom::add::Add>(),
    command::<bloom::add::MAdd>(),
    command::<bloom::add::Insert>(),
    command::<bloom::exists::Exists>(),
    command::<bloom::exists::MExists>(),
    command::<bloom::info::Card>(),
    command::<bloom::info::Info>(),
    command::<bloom::chunks::ScanDump>(),
    command::<bloom::chunks::LoadChunk>(),
];
