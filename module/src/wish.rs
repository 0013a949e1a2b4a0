//! The words of `LATELY.RESERVE` and `LATELY.PLAN`, and the goal they stand for.
//!
//! `LAST 1000000 ERROR 0.1% SEED 7` is a wish: what it leaves open is filled from `lately.default`,
//! and a filter of it is replicated as a wish that leaves nothing open.

use std::fmt::Write;

use lately::catalog::CATALOG;
use lately::plan::{Goal, Limit, Plan};
use lately::queries::TopKeys;
use lately::raw::quantity;
use lately::{ErrorRate, Hashing, Memory, Seed, Slack, Span, Window};

use crate::args;
use crate::engine::Refusal;
use crate::object::Bloom;

/// What someone wants of a filter, as far as they said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wish {
    /// How far back.
    pub window: Option<Window>,
    /// The error or the memory.
    pub limit: Option<Limit>,
    /// The memory beyond which the window becomes shorter.
    pub shortening: Option<Memory>,
    /// How much older than the window.
    pub slack: Option<Slack>,
    /// How many keys to expect.
    pub capacity: Option<u64>,
    /// How often, not only whether.
    pub counting: bool,
    /// Whether single items are to be forgotten again.
    pub removing: bool,
    /// How many of the items that came most often are to be told.
    pub top: Option<usize>,
    /// The structure by name.
    pub structure: Option<&'static str>,
    /// How keys become hashes.
    pub hashing: WishedHashing,
    /// What `BF.RESERVE` said, for `BF.INFO`.
    pub bloom: Option<Bloom>,
}

/// How keys become hashes, as far as someone said.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum WishedHashing {
    /// With a seed of the server's choice.
    #[default]
    Any,
    /// Under a secret of the server's choice.
    AnyKeyed,
    /// Exactly so.
    Exactly(Hashing),
}

impl Wish {
    /// Reads the words.
    pub fn parse(words: &[&[u8]]) -> Result<Self, Refusal> {
        let mut wish = Wish::default();
        let mut slack = None;
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let option = word.to_ascii_uppercase();
            let mut value = || match words.next() {
                Some(word) => text(word),
                None => Err(Refusal::new(format_args!("{} needs a value", lossy(&option)))),
            };
            match option.as_slice() {
                b"LAST" => once(&mut wish.window, Window::Last(quantity::items(value()?)?))?,
                b"WITHIN" => once(&mut wish.window, Window::Within(span(value()?)?))?,
                b"EVER" => once(&mut wish.window, Window::Ever)?,
                b"ERROR" => once(&mut wish.limit, value()?.parse::<ErrorRate>()?.into())?,
                b"MEMORY" => once(&mut wish.limit, value()?.parse::<Memory>()?.into())?,
                b"SHORTENAT" => once(&mut wish.shortening, value()?.parse::<Memory>()?)?,
                b"SLACK" => once(&mut slack, value()?)?,
                b"CAPACITY" => once(&mut wish.capacity, quantity::items(value()?)?)?,
                b"COUNTING" => wish.counting = true,
                b"REMOVING" => wish.removing = true,
                b"TOP" => once(&mut wish.top, top(value()?)?)?,
                b"STRUCTURE" => once(&mut wish.structure, CATALOG.row_named(value()?)?.name)?,
                b"BLOOM" => {
                    let (capacity, expansion) = (number(value()?)?, number(value()?)?);
                    once(&mut wish.bloom, Bloom { capacity, expansion })?;
                }
                b"KEYED" => wish.hash_as(WishedHashing::AnyKeyed)?,
                b"SEED" => wish.hash_as(WishedHashing::Exactly(seed(value()?)?))?,
                b"SECRET" => wish.hash_as(WishedHashing::Exactly(secret(value()?)?))?,
                _ => {
                    return Err(Refusal::new(format_args!("unknown option '{}'", lossy(word))));
                }
            }
        }
        wish.slack = slack.map(|slack| wish.read_slack(slack)).transpose()?;
        Ok(wish)
    }

    /// What is left open here, as it is there.
    pub fn or(mut self, other: Wish) -> Self {
        // What else is said of a window belongs to that window. So does a wish that was replicated
        // owe nothing to the settings of the replica.
        if self.window.is_none() {
            self.window = other.window;
            self.shortening = self.shortening.or(other.shortening);
            self.slack = self.slack.or(other.slack);
            self.capacity = self.capacity.or(other.capacity);
            self.counting |= other.counting;
            self.removing |= other.removing;
            self.top = self.top.or(other.top);
            self.structure = self.structure.or(other.structure);
        }
        self.limit = self.limit.or(other.limit);
        if self.hashing == WishedHashing::Any {
            self.hashing = other.hashing;
        }
        self
    }

    /// The goal that the planner knows.
    pub fn goal(&self) -> Result<Goal, Refusal> {
        let window = self.window.ok_or(Refusal::new("give a window: LAST, WITHIN or EVER"))?;
        let limit = self.limit.ok_or(Refusal::new("give ERROR or MEMORY"))?;
        let mut goal = Goal::new(window, limit);
        goal.shortening = self.shortening;
        goal.slack = self.slack.unwrap_or(goal.slack);
        goal.expected_items = self.capacity;
        goal.counting = self.counting;
        goal.removing = self.removing;
        Ok(goal)
    }

    /// The plan to carry out: the best, or the one for the structure that was named.
    pub fn plan(&self) -> Result<Plan, Refusal> {
        let goal = self.goal()?;
        if self.top.is_some() && !self.counting {
            return Err(Refusal::new("TOP tells how often items came; reserve it with COUNTING"));
        }
        let telling = self.top.and_then(|_| TopKeys::structure(goal.window));
        Ok(match self.structure.or(telling) {
            Some(name) => goal.plan_with(CATALOG.row_named(name)?)?,
            None => goal.best_plan()?,
        })
    }

    /// The words that make the same filter anywhere: of a wish with a window, a limit, a structure
    /// and its hashing.
    pub fn words(&self) -> String {
        let mut words = String::new();
        let mut say = |word: std::fmt::Arguments<'_>| {
            write!(words, "{word} ").expect("strings grow");
        };
        match self.window {
            Some(Window::Last(n)) => say(format_args!("LAST {n}")),
            Some(Window::Within(span)) => say(format_args!("WITHIN {}", span.millis())),
            Some(Window::Ever) => say(format_args!("EVER")),
            None => {}
        }
        match self.limit {
            // Rust prints the shortest digits that read back as the same number.
            Some(Limit::Error(rate)) => say(format_args!("ERROR {}", rate.get())),
            Some(Limit::Memory(memory)) => say(format_args!("MEMORY {}", memory.bytes())),
            None => {}
        }
        if let Some(memory) = self.shortening {
            say(format_args!("SHORTENAT {}", memory.bytes()));
        }
        match self.slack {
            Some(Slack::Items(items)) => say(format_args!("SLACK {items}")),
            Some(Slack::Time(span)) => say(format_args!("SLACK {}", span.millis())),
            Some(Slack::Unlimited) | None => {}
        }
        if let Some(capacity) = self.capacity {
            say(format_args!("CAPACITY {capacity}"));
        }
        if self.counting {
            say(format_args!("COUNTING"));
        }
        if self.removing {
            say(format_args!("REMOVING"));
        }
        if let Some(top) = self.top {
            say(format_args!("TOP {top}"));
        }
        if let Some(name) = self.structure {
            say(format_args!("STRUCTURE {name}"));
        }
        match self.hashing {
            WishedHashing::Exactly(Hashing::Fast(seed)) => say(format_args!("SEED {}", seed.0)),
            WishedHashing::Exactly(Hashing::Keyed(secret)) => {
                say(format_args!("SECRET {:032x}", u128::from_le_bytes(secret)));
            }
            WishedHashing::AnyKeyed => say(format_args!("KEYED")),
            WishedHashing::Any => {}
        }
        if let Some(Bloom { capacity, expansion }) = self.bloom {
            say(format_args!("BLOOM {capacity} {expansion}"));
        }
        words
    }

    fn hash_as(&mut self, hashing: WishedHashing) -> Result<(), Refusal> {
        if self.hashing != WishedHashing::Any {
            return Err(Refusal::new("give one of KEYED, SEED and SECRET, once"));
        }
        self.hashing = hashing;
        Ok(())
    }

    fn read_slack(&self, slack: &str) -> Result<Slack, Refusal> {
        match self.window {
            // Exact to the item.
            Some(Window::Last(_)) if slack == "0" => Ok(Slack::Items(0)),
            Some(Window::Last(_)) => Ok(Slack::Items(quantity::items(slack)?)),
            Some(Window::Within(_)) => Ok(Slack::Time(span(slack)?)),
            _ => Err(Refusal::new("SLACK belongs to LAST or WITHIN")),
        }
    }
}

/// Milliseconds, or a span with a unit such as `10m`.
fn span(text: &str) -> Result<Span, Refusal> {
    match text.parse::<u64>() {
        Ok(millis) => Ok(Span::from_millis(millis)),
        Err(_) => Ok(text.parse::<Span>()?),
    }
}

/// How many items can be asked for: to sort out those that may come up takes a millisecond then.
const MOST_TOP: usize = 1_000;

fn top(text: &str) -> Result<usize, Refusal> {
    let top = args::whole(text.as_bytes()).and_then(|top| usize::try_from(top).ok());
    top.filter(|top| (1..=MOST_TOP).contains(top))
        .ok_or_else(|| Refusal::new(format_args!("TOP is a whole number from 1 to {MOST_TOP}")))
}

fn seed(text: &str) -> Result<Hashing, Refusal> {
    Ok(Hashing::Fast(Seed(number(text)?)))
}

fn number(text: &str) -> Result<u64, Refusal> {
    args::whole(text.as_bytes()).ok_or(Refusal::new("expected a number from 0 to 2^64 - 1"))
}

fn secret(text: &str) -> Result<Hashing, Refusal> {
    let refusal = || Refusal::new("SECRET is 32 hexadecimal digits");
    if text.len() != 32 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(refusal());
    }
    let secret = u128::from_str_radix(text, 16).map_err(|_| refusal())?;
    Ok(Hashing::Keyed(secret.to_le_bytes()))
}

fn once<T>(place: &mut Option<T>, value: T) -> Result<(), Refusal> {
    if place.replace(value).is_some() {
        return Err(Refusal::new("an option contradicts an earlier one"));
    }
    Ok(())
}

fn text(word: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(word).map_err(|_| Refusal::new("an option's value is not text"))
}

/// A word as it may stand in an error.
fn lossy(word: &[u8]) -> String {
    let short = &word[..word.len().min(64)];
    String::from_utf8_lossy(short).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Wish, Refusal> {
        Wish::parse(&words.split_whitespace().map(str::as_bytes).collect::<Vec<_>>())
    }

    #[test]
    fn words_read_back_as_the_same_wish() {
        for words in [
            "LAST 1000 ERROR 0.001",
            "LAST 1000 ERROR 0.1% SLACK 10 STRUCTURE double-buffer SEED 18446744073709551615",
            "within 10m memory 8MiB slack 1s",
            "within 10m error 0.1% shortenat 8MiB slack 1s",
            "EVER ERROR 0.0123456789 CAPACITY 1e6 COUNTING",
            "EVER ERROR 0.01 REMOVING",
            "LAST 5 ERROR 0.5 SECRET 000102030405060708090a0b0c0d0eff",
            "LAST 5 ERROR 0.5 KEYED",
            "EVER ERROR 0.01 CAPACITY 100 BLOOM 100 2",
            "WITHIN 1h ERROR 0.01 COUNTING TOP 10",
        ] {
            let wish = parse(words).unwrap();
            assert_eq!(parse(&wish.words()).unwrap(), wish, "{words}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for words in [
            "LAST",
            "LAST x",
            "LAST 1 LAST 2",
            "LAST 1 EVER",
            "ERROR 2",
            "ERROR 0.1 MEMORY 5",
            "WITHIN -3",
            "EVER SLACK 5",
            "WITHIN 5 SHORTENAT",
            "WITHIN 5 SHORTENAT 1MB SHORTENAT 2MB",
            "STRUCTURE nothing",
            "SECRET 00",
            "SECRET +0102030405060708090a0b0c0d0eff0",
            "KEYED SEED 5",
            "LAST 5 COUNTING TOP 0",
            "LAST 5 COUNTING TOP 1001",
            "hello",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
        assert!(Wish::parse(&[b"LAST", b"\xff"]).is_err());
    }

    #[test]
    fn defaults_fill_what_is_open() {
        let default = parse("LAST 100 ERROR 0.01 SLACK 5 CAPACITY 7").unwrap();
        let wish = parse("EVER").unwrap().or(default.clone());
        assert_eq!(wish.window, Some(Window::Ever));
        assert_eq!(wish.limit, default.limit);
        assert_eq!((wish.slack, wish.capacity), (None, None));
        assert_eq!(parse("").unwrap().or(default.clone()), default);
    }
}
