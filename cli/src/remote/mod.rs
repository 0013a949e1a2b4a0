//! A filter that many workers share, inside Redis or Valkey with our module: one key, or one logical
//! filter split over several.
//!
//! Items are hashed here, under the seed of the filter, and travel as eight bytes each.
//!
//! Whoever inserts an item before its record is printed loses the record when it is killed in between:
//! to all others it is a repeat from then on. So there are two ways ([`Delivery`]). At least once: ask,
//! print, then insert. The insertions of a batch travel with the questions of the next, so that it takes
//! as many round trips. At most once: insert, and print what was new.
//!
//! When a connection breaks before the answers to insertions arrive, the batch is sent again, and nobody
//! knows whether its items were inserted by the first attempt: if so, they now look like repeats. At most
//! once nevertheless means that all records of such a batch count as new: then a record may come twice,
//! but none is lost with a server.

mod address;
mod batch;
mod link;

pub(crate) use address::Address;
pub(crate) use lately::raw::Shards;

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueEnum;
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
    pub(crate) delivery: Delivery,
}

/// What happens to records of a worker that is killed, and to those that come to two workers at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Delivery {
    /// None is lost; those that were just printed may come again
    AtLeastOnce,
    /// None comes twice; those that were just about to be printed are lost
    AtMostOnce,
}

/// A filter behind a connection.
pub(crate) struct Remote {
    link: Link,
    shards: Shards,
    keys: Vec<String>,
    goal: Goal,
    repeats: Repeats,
    delivery: Delivery,
    /// The verdicts on the current records.
    new: Vec<bool>,
    /// Insertions of records that are about to be printed.
    owed: Vec<Cmd>,
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
        let Request { shards, goal, repeats, delivery, .. } = *request;
        let (new, owed) = (Vec::new(), Vec::new());
        Ok(Self { link, shards, keys, goal, repeats, delivery, new, owed, uncertain: 0 })
    }

    /// How many records may be judged before they are printed. Asked about all of them at once, the
    /// filter does not know how many come between: a window by count gets longer by so many. If
    /// repeats leave windows as they are, each must end where it ends, or the insertion of a record
    /// that was taken for a repeat would begin another.
    pub(crate) fn together(&self) -> usize {
        let together = match (self.delivery, self.goal.window, self.goal.slack) {
            (Delivery::AtMostOnce, ..) | (_, Window::Within(_) | Window::Ever, _) => u64::MAX,
            (_, Window::Last(_), _) if self.repeats == Repeats::Leave => 1,
            (_, Window::Last(n), Slack::Items(slack)) => slack.min(n / 2),
            (_, Window::Last(n), _) => n / 2,
        };
        usize::try_from(together.max(1)).unwrap_or(usize::MAX)
    }

    /// Whether records must be printed before others are judged.
    pub(crate) fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Inserts what was printed.
    pub(crate) fn settle(&mut self) -> anyhow::Result<()> {
        if self.owes() {
            let owed = std::mem::take(&mut self.owed);
            self.link.run::<Vec<u8>>(&owed)?;
        }
        Ok(())
    }

    /// One verdict per hash: whether it was not seen in the window. `times` is empty, or has a
    /// moment for each. What was judged before must have been printed.
    pub(crate) fn judge(&mut self, hashes: &[u64], times: &[Time]) -> anyhow::Result<&[bool]> {
        self.new.clear();
        self.new.resize(hashes.len(), true);
        let errands = self.errands(0..hashes.len(), hashes, times);
        match self.delivery {
            Delivery::AtMostOnce => self.insert(&errands)?,
            Delivery::AtLeastOnce => {
                self.ask(&errands)?;
                let how = (self.goal.window, self.shards, self.repeats);
                batch::resolve(how, hashes, times, &mut self.new);
                // Every record is a place in a window by count; elsewhere it would only take time.
                let counted = matches!(self.goal.window, Window::Last(_));
                let all = counted || self.repeats == Repeats::Refresh;
                let inserted = |&place: &usize| all || self.new[place];
                let errands = self.errands((0..hashes.len()).filter(inserted), hashes, times);
                self.owed = errands.iter().map(|errand| self.insertion(errand)).collect();
            }
        }
        Ok(&self.new)
    }

    /// Inserts, and learns what was new.
    fn insert(&mut self, errands: &[Errand]) -> anyhow::Result<()> {
        let commands: Vec<Cmd> = errands.iter().map(|errand| self.insertion(errand)).collect();
        let Answered { answers, certain } = self.link.run::<Vec<u8>>(&commands)?;
        if certain {
            return self.take(errands, &answers, b'1');
        }
        self.uncertain += self.new.len() as u64;
        Ok(())
    }

    /// Inserts what is owed, and asks what is not in the window.
    fn ask(&mut self, errands: &[Errand]) -> anyhow::Result<()> {
        let owed = self.owed.len();
        let mut commands = std::mem::take(&mut self.owed);
        commands.extend(errands.iter().map(|errand| self.question(errand)));
        let Answered { answers, .. } = self.link.run::<Vec<u8>>(&commands)?;
        self.take(errands, &answers[owed..], b'0')
    }

    /// Notes for which hashes the answer is the digit of what is new.
    fn take(&mut self, errands: &[Errand], answers: &[Vec<u8>], new: u8) -> anyhow::Result<()> {
        for (errand, answer) in errands.iter().zip(answers) {
            if answer.len() != errand.places.len() {
                bail!("a shard gave {} answers for {}", answer.len(), errand.places.len());
            }
            for (&place, &digit) in errand.places.iter().zip(answer) {
                self.new[place] = digit == new;
            }
        }
        Ok(())
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
            remembers: None,
            remembered_least: None,
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
            let least = |one: &mut Option<u64>, field: &str| {
                // Modules of older releases do not tell it, and shorten nothing.
                let other = text(&info, field).ok().and_then(|millis| millis.parse().ok());
                *one = [*one, other].into_iter().flatten().min();
            };
            least(&mut about.remembers, "remembers");
            least(&mut about.remembered_least, "remembered-least");
        }
        Ok(about)
    }

    /// The hashes at some places, by shard and moment.
    fn errands(
        &self,
        places: impl Iterator<Item = usize>,
        hashes: &[u64],
        times: &[Time],
    ) -> Vec<Errand> {
        let mut errands: Vec<Errand> = Vec::new();
        let mut current: Vec<Option<usize>> = vec![None; self.keys.len()];
        for place in places {
            let hash = hashes[place];
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

    fn question(&self, errand: &Errand) -> Cmd {
        self.command("LATELY.SEENHASHES", errand)
    }

    fn insertion(&self, errand: &Errand) -> Cmd {
        let mut command = self.command("LATELY.ADDHASHES", errand);
        if self.repeats == Repeats::Leave {
            command.arg("NX");
        }
        command
    }

    fn command(&self, name: &str, errand: &Errand) -> Cmd {
        let mut command = redis::cmd(name);
        command.arg(&self.keys[errand.shard]).arg(&errand.hashes);
        if let Some(time) = errand.time {
            command.arg("AT").arg(time.millis());
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
    if let Some(memory) = goal.shortening {
        say("SHORTENAT", share(memory.bytes()).to_string());
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
