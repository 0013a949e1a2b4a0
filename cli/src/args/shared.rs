//! Flags of a filter that many share.

use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use lately::plan::Goal;
use lately::{Seed, Span};

use crate::judge::{Repeats, Seen};
use crate::remote::{Address, Delivery, Remote, Request, Shards};

#[derive(Debug, Args)]
pub(crate) struct Shared {
    /// Keep the filter in Redis or Valkey, with our module loaded, where many workers share it:
    /// `redis://[user:password@]host[:port][/database]/key`, or `rediss://`; of a cluster any node
    #[arg(long = "redis", value_name = "URL", help_heading = "Shared filter")]
    #[arg(conflicts_with = "state")]
    address: Option<String>,

    /// Split the filter over this many keys, `key:0` and so on, which a cluster spreads over its
    /// nodes. Windows by time stay as they are; windows by count get some slack, which `--stats`
    /// tells
    #[arg(long, value_name = "N", help_heading = "Shared filter", requires = "address")]
    #[arg(default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    #[arg(hide_short_help = true)]
    shards: u32,

    /// What becomes of records when a worker is killed, or when they come to two workers at once.
    /// At least once: a record is printed, and then marked as seen in the server. At most once: the
    /// other way round, so that workers never print the same record
    #[arg(long, value_name = "HOW", help_heading = "Shared filter", requires = "address")]
    #[arg(default_value = "at-least-once", hide_short_help = true)]
    deliver: Delivery,

    /// How long to try to reach a server that was lost. No record is lost with it; some may come
    /// twice
    #[arg(long, value_name = "SPAN", help_heading = "Shared filter", requires = "address")]
    #[arg(default_value = "1m")]
    #[arg(hide_short_help = true)]
    patience: Span,
}

impl Shared {
    /// Whether a filter in a server is asked for.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.address.is_some()
    }

    /// The filter in the server, made if it is missing; nothing if none is asked for.
    pub(crate) fn open(
        &self,
        goal: Goal,
        structure: Option<&str>,
        seed: Seed,
        repeats: Repeats,
    ) -> anyhow::Result<Option<Seen>> {
        let Some(address) = &self.address else { return Ok(None) };
        // Not while flags are read: whoever complains about a flag repeats it, password and all.
        let address: &Address = &address.parse().map_err(|why| anyhow!("--redis: {why}"))?;
        let shards = Shards(self.shards);
        let patience = Duration::from_millis(self.patience.millis());
        let delivery = self.deliver;
        let request =
            Request { address, shards, patience, goal, structure, seed, repeats, delivery };
        Remote::open(&request).map(|remote| Some(Seen::There(Box::new(remote))))
    }
}
