//! `LATELY.HELP`: the commands with their syntax, from the same descriptions as `COMMAND DOCS`.

use super::{BLOOM, LATELY};
use crate::config;
use crate::engine::{Command, Doc, Effect, Keys, Refusal, Reply, rehearsed};
use crate::ours::{Call, Ours};

/// `LATELY.HELP`
pub struct Help;

impl Command<Ours> for Help {
    const DOC: Doc = Doc {
        name: c"LATELY.HELP",
        summary: c"Lists the commands",
        complexity: c"O(1)",
        arity: 1,
        effect: Effect::Nothing,
        keys: Keys::None,
        args: &[],
    };

    fn run(_call: &mut Call<'_>) -> Result<Reply, Refusal> {
        if let Some(reply) = rehearsed() {
            return Ok(reply);
        }
        let bloom = if config::BLOOM_COMMANDS.get() { BLOOM } else { &[] };
        let lines = LATELY.iter().chain(bloom).flat_map(|entry| {
            [Reply::text(entry.doc.syntax()), Reply::text(format!("    {}", entry.doc.summary()))]
        });
        Ok(Reply::Array(lines.collect()))
    }
}
