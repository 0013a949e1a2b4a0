//! Why a state does not fit the flags, in words.

use lately::plan::{Goal, Limit};
use lately::raw::Blueprint;
use lately::{ErrorRate, Hashing};
use lately_papers::CATALOG;

use super::{Note, Saved};

/// What the flags ask for.
pub(crate) struct Asked {
    pub(crate) goal: Goal,
    /// The error or the memory, if they state one. If not, that of the state is as good.
    pub(crate) limit: Option<Limit>,
    /// The structure, if they name one.
    pub(crate) structure: Option<String>,
    pub(crate) hashing: Hashing,
    pub(crate) note: Note,
}

/// A name, what it is there, and what it is here.
type Pair = (&'static str, String, String);

const LIMIT: &str = "limit";

impl Saved {
    /// What differs from what the flags ask for: `name is this there and that here`. Nothing if it
    /// is the same.
    pub(crate) fn differences(&self, asked: &Asked) -> anyhow::Result<Vec<String>> {
        let there = self.seen.filter().blueprint();
        let mut pairs = vec![("seed", seed(self.seen.hashing()), seed(asked.hashing))];
        if let Some(here) = &asked.structure {
            pairs.push(("structure", there.structure().to_owned(), here.clone()));
        }
        match &self.note {
            Some(note) => pairs.extend(between_notes(note, &asked.note)),
            None => {
                // The library's default, where its snapshots come from.
                let limit = asked.limit.unwrap_or(ErrorRate::DEFAULT.into());
                let goal = Goal { limit, ..asked.goal };
                let plan = goal.plan_with(CATALOG.row_named(there.structure())?)?;
                let parameters = between_parameters(there, &*plan.blueprint);
                let same_window = there.promise().window == asked.goal.window;
                if asked.limit.is_some() || !same_window {
                    pairs.extend(parameters);
                }
            }
        }
        if asked.limit.is_none() {
            pairs.retain(|(name, ..)| *name != LIMIT);
        }
        pairs.retain(|(_, there, here)| there != here);
        let text = |(name, there, here)| format!("{name} is {there} there and {here} here");
        Ok(pairs.into_iter().map(text).collect())
    }
}

fn between_notes(there: &Note, here: &Note) -> Vec<Pair> {
    let on = |refresh| if refresh { "on" } else { "off" };
    let pair = |name, of: &dyn Fn(&Note) -> String| (name, of(there), of(here));
    vec![
        pair("window", &|note| note.window.clone()),
        pair(LIMIT, &|note| note.limit.clone()),
        pair("slack", &|note| note.slack.clone()),
        pair("key", &|note| note.keys.clone()),
        pair("--refresh", &|note| on(note.refresh).to_owned()),
    ]
}

fn between_parameters(there: &dyn Blueprint, here: &dyn Blueprint) -> Vec<Pair> {
    let fields = there.fields().into_iter().zip(here.fields());
    fields.map(|((name, there), (_, here))| (name, there, here)).collect()
}

fn seed(hashing: Hashing) -> String {
    match hashing {
        Hashing::Fast(seed) => seed.0.to_string(),
        Hashing::Keyed(_) => "secret".to_owned(),
    }
}
