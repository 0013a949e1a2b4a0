//! Flags of `lately plan`.

use clap::Args;
use lately::ErrorRate;
use lately::catalog::CATALOG;
use lately::plan::{Goal, Limit};

use crate::wanted::Wanted;

/// Show which structures reach a goal, best first, and what each costs and promises.
///
/// Memory is compared with the least that any structure could use, even one not invented yet.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Plan {
    #[command(flatten)]
    wanted: Wanted,

    /// It must tell how often a line came, not only whether; needs --last, or --expected with the
    /// number of different lines
    #[arg(long)]
    counting: bool,

    /// Show published structures too that are never the best, to compare with
    #[arg(long)]
    all: bool,

    /// Print JSON: an array with one object per plan
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  What remembering a million lines costs, with one mistake in a thousand:
    lately plan --last 1M --error 0.1%
  How few mistakes fit into 4 MiB, for a program to read:
    lately plan --last 1M --memory 4MiB --json
  What counting a million different lines costs:
    lately plan --counting --ever --expected 1M";

impl Plan {
    /// The plans that reach the goal, and the goal itself.
    pub(crate) fn plans(&self) -> anyhow::Result<(Goal, Vec<lately::plan::Plan>)> {
        let catalog = if self.all { lately_papers::CATALOG } else { CATALOG };
        if self.counting {
            // Whoever counts settles for a larger error.
            let limit = self.wanted.limit().unwrap_or(Limit::Error(ErrorRate::DEFAULT));
            let goal = Goal { counting: true, limit, ..self.wanted.goal()? };
            return Ok((goal, self.wanted.explain(goal.plans_of(catalog))?));
        }
        self.wanted.reach(|goal| goal.plans_of(catalog))
    }
}
