//! Flags of a filter that many share, in a build without a client for servers. They are known, and say
//! which build has it.

use anyhow::bail;
use clap::Args;
use lately::Seed;
use lately::plan::Goal;

use crate::judge::{Repeats, Seen};

#[derive(Debug, Args)]
pub(crate) struct Shared {
    /// Keep the filter in Redis or Valkey; not in this build, but in that of
    /// `cargo install lately-cli --features redis`
    #[arg(long = "redis", value_name = "URL", help_heading = "Shared filter")]
    address: Option<String>,

    /// Split the filter over this many keys
    #[arg(long, value_name = "N", hide = true, requires = "address")]
    shards: Option<String>,

    /// Whether records are printed or marked first
    #[arg(long, value_name = "HOW", hide = true, requires = "address")]
    deliver: Option<String>,

    /// How long to try to reach a server that was lost
    #[arg(long, value_name = "SPAN", hide = true, requires = "address")]
    patience: Option<String>,
}

impl Shared {
    /// Whether a filter in a server is asked for.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.address.is_some()
    }

    /// Refused; nothing if none is asked for.
    pub(crate) fn open(
        &self,
        _: Goal,
        _: Option<&str>,
        _: Seed,
        _: Repeats,
    ) -> anyhow::Result<Option<Seen>> {
        match self.address {
            None => Ok(None),
            Some(_) => bail!(
                "--redis: this build has no client for Redis and Valkey; `cargo install lately-cli \
                 --features redis` has one, and in a clone `cargo run --release -p lately-cli \
                 --features redis --`"
            ),
        }
    }
}
