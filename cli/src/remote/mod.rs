//! A filter that many workers share, inside Redis or Valkey with our module: one key, or one logical
//! filter split over several.
//!
//! Items are hashed here, under the seed of the filter, and travel as eight bytes each.
//!
//! When a connection breaks before the answers arrive, the batch is sent again, and nobody knows
//! whether its items were inserted by the first attempt: if so, they now look like repeats. All
//! records of such a batch count as new, so that a record may come twice but none is lost.

mod address;
mod link;

pub(crate) use address::Address;
pub(crate) use lately::shards::Shards;

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, bail};
use lately::plan::{Goal, Limit};
use lately::{Seed, Slack, Time, Window};
use redis::{Cmd, Value};

use crate::judge::Repeats;
use crate::stats::About;
use link::{Answered, Link};

/// What is asked of a shared filter.
pub(crate) struct Request<'a> {
    pub(crate) address: &'a Address,
    pub(crate) shards: Shards,
    /// How long to try to reach a server that was lost.
    pub(crate) patience: Duration,
    pub(crate) goal: Goal,
    pub(crate) structure: Option<&'a str>,
    pub(crate) seed: Seed,
    pub(crate) repeats: Repeats,
}

/// A filter behind a connection.
pub(crate) struct Remote {
    link: Link,
    shards: Shards,
    keys: Vec<String>,
    goal: Goal,
    repeats: Repeats,
    /// The verdicts on the current records.
    new: Vec<bool>,
    /// Records that were taken for new because their answers were lost.
    uncertain: u64,
}

/// Hashes for one shard at one moment.
struct Errand {
    shard: usize,
    /// When they happened; the server's clock tells if they do not say.
    time: Option<Time>,
    hashes: Vec<u8>,
    /// Where their verdicts belong.
    places: Vec<usize>,
}

impl Remote {
    /// Makes the filter if it is missing; refuses one that is another than was asked for.
    pub(crate) fn open(request: &Request<'_>) -> anyhow::Result<Self> {
        let mut link = Link::open(request.address, request.patience)?;
        let keys = keys(request.shards, &request.address.key);
        for key in &keys {
            reserve(&mut link, key, request)?;
        }
        let Request { shards, goal, repeats, .. } = *request;
        Ok(Self { link, shards, keys, goal, repeats, new: Vec::new(), uncertain: 0 })
    }

    /// One verdict per hash: whether it was not seen in the window. `times` is empty, or has a
    /// moment for each.
    pub(crate) fn judge(&mut self, hashes: &[u64], times: &[Time]) -> anyhow::Result<&[bool]> {
        self.new.clear();
        self.new.resize(hashes.len(), true);
        let errands = self.errands(hashes, times);
        let commands: Vec<Cmd> = errands.iter().map(|errand| self.command(errand)).collect();
        let Answered { answers, certain } = self.link.run::<Vec<u8>>(&commands)?;
        if !certain {
            self.uncertain += hashes.len() as u64;
            return Ok(&self.new);
        }
        for (errand, answer) in errands.iter().zip(answers) {
            if answer.len() != errand.places.len() {
                bail!("a shard gave {} answers for {}", answer.len(), errand.places.len());
            }
            for (&place, digit) in errand.places.iter().zip(answer) {
                self.new[place] = digit == b'1';
            }
        }
        Ok(&self.new)
    }

    /// What the filter says of itself: all shards together.
    pub(crate) fn about(&mut self) -> anyhow::Result<About> {
        let window = match (self.goal.window, self.shards.slack(self.goal.window)) {
            (window, 0) => window.to_string(),
            (window, slack) => format!("{window}, or up to {slack} more by sharding"),
        };
        let mut about = About {
            structure: String::new(),
            window,
            filter_bytes: 0,
            predicted_false_positive_rate: 0.0,
            predicted_false_negative_rate: 0.0,
            estimated_false_positive_rate: 0.0,
            uncertain: self.uncertain,
        };
        // A hash is asked of one shard, so that the worst of them speaks for all.
        let worst = |one: &mut f64, other: String| {
            *one = one.max(other.parse().unwrap_or(1.0));
        };
        for key in &self.keys {
            let info = info(&mut self.link, key)?;
            about.structure = text(&info, "structure")?;
            about.filter_bytes += text(&info, "bytes")?.parse::<u64>()?;
            worst(&mut about.predicted_false_positive_rate, text(&info, "false-positives")?);
            worst(&mut about.predicted_false_negative_rate, text(&info, "false-negatives")?);
            worst(&mut about.estimated_false_positive_rate, text(&info, "false-positives-now")?);
        }
        Ok(about)
    }

    fn errands(&self, hashes: &[u64], times: &[Time]) -> Vec<Errand> {
        let mut errands: Vec<Errand> = Vec::new();
        let mut current: Vec<Option<usize>> = vec![None; self.keys.len()];
        for (place, &hash) in hashes.iter().enumerate() {
            let shard = self.shards.of(hash);
            let time = times.get(place).copied();
            let errand = match current[shard] {
                Some(errand) if errands[errand].time == time => errand,
                _ => {
                    errands.push(Errand { shard, time, hashes: vec![], places: vec![] });
                    *current[shard].insert(errands.len() - 1)
                }
            };
            errands[errand].hashes.extend_from_slice(&hash.to_le_bytes());
            errands[errand].places.push(place);
        }
        errands
    }

    fn command(&self, errand: &Errand) -> Cmd {
        let mut command = redis::cmd("LATELY.ADDHASHES");
        command.arg(&self.keys[errand.shard]).arg(&errand.hashes);
        if let Some(time) = errand.time {
            command.arg("AT").arg(time.millis());
        }
        if self.repeats == Repeats::Leave {
            command.arg("NX");
        }
        command
    }
}

/// Makes the filter of one shard, or finds the one that is there.
fn reserve(link: &mut Link, key: &str, request: &Request<'_>) -> anyhow::Result<()> {
    let words = words(request);
    let mut command = redis::cmd("LATELY.RESERVE");
    command.arg(key).arg(&words).arg("SEED").arg(request.seed.0);
    let Err(error) = link.run::<Value>(&[command]) else { return Ok(()) };
    if !format!("{error:#}").contains("already exists") {
        return Err(error.context(format!("cannot make the filter {key}")));
    }
    let info = info(link, key).with_context(|| format!("{key} holds something else"))?;
    let (window, extent) = match request.goal.window {
        Window::Last(n) => ("last", request.shards.window(n).to_string()),
        Window::Within(span) => ("within", span.millis().to_string()),
        Window::Ever => ("ever", String::new()),
    };
    let wanted = [("window", window.to_owned()), ("extent", extent)];
    for (field, wanted) in wanted.into_iter().chain([("seed", request.seed.0.to_string())]) {
        let found = text(&info, field)?;
        if found != wanted {
            bail!("{key} is there with another {field}: {found:?}, not {wanted:?}");
        }
    }
    Ok(())
}

/// The words of `LATELY.RESERVE` for one shard.
fn words(request: &Request<'_>) -> Vec<String> {
    let Request { goal, shards, .. } = request;
    let share = |amount: u64| (amount / u64::from(shards.0)).max(1);
    let mut words = match goal.window {
        Window::Last(n) => vec!["LAST".to_owned(), shards.window(n).to_string()],
        Window::Within(span) => vec!["WITHIN".to_owned(), span.millis().to_string()],
        Window::Ever => vec!["EVER".to_owned()],
    };
    let mut say = |word: &str, value: String| words.extend([word.to_owned(), value]);
    match goal.limit {
        Limit::Error(rate) => say("ERROR", rate.get().to_string()),
        Limit::Memory(memory) => say("MEMORY", share(memory.bytes()).to_string()),
    }
    match goal.slack {
        Slack::Items(items) => say("SLACK", share(items).to_string()),
        Slack::Time(span) => say("SLACK", span.millis().to_string()),
        Slack::Unlimited => {}
    }
    if let Some(items) = goal.expected_items {
        say("CAPACITY", share(items).to_string());
    }
    if let Some(name) = request.structure {
        say("STRUCTURE", name.to_owned());
    }
    words
}

fn info(link: &mut Link, key: &str) -> anyhow::Result<HashMap<String, Value>> {
    let mut command = redis::cmd("LATELY.INFO");
    command.arg(key);
    let Answered { mut answers, .. } = link.run(&[command])?;
    answers.pop().context("no answer")
}

/// A field as text; nothing if there is nothing.
fn text(info: &HashMap<String, Value>, field: &str) -> anyhow::Result<String> {
    let value = info.get(field).with_context(|| format!("the module does not tell {field}"))?;
    let text: Option<String> = redis::from_redis_value(value.clone())?;
    Ok(text.unwrap_or_default())
}

/// The keys of the shards.
fn keys(shards: Shards, key: &str) -> Vec<String> {
    match shards.0 {
        1 => vec![key.to_owned()],
        shards => (0..shards).map(|shard| format!("{key}:{shard}")).collect(),
    }
}
