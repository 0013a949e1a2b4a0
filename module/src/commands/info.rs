//! `LATELY.INFO` and `LATELY.CARD`: what a filter promises, and how it stands.

use std::borrow::Cow;
use std::cell::OnceCell;

use lately::{Hashing, Promise, Reach, Window};

use super::moment::MOMENT;
use crate::args::{self, When};
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::object::{Stored, Value};
use crate::ours::{Call, Ours};

/// `LATELY.INFO key [field]`
pub struct Info;

/// `LATELY.CARD key [milliseconds]`
pub struct Card;

impl Command<Ours> for Info {
    const DOC: Doc = Doc {
        name: c"LATELY.INFO",
        summary: c"Says what a filter promises and how it stands, or one field of that",
        complexity: c"O(1)",
        arity: -2,
        effect: Effect::ReadAll,
        keys: Keys::First,
        args: &[Arg::key(), Arg::new(c"field", Kind::Bytes).maybe()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let field = match call.words()[..] {
            [_, _] => None,
            [_, _, field] => Some(field.to_ascii_lowercase()),
            _ => return Err(args::wrong_number("lately.info")),
        };
        let mut key = call.key(1, Access::Read);
        let value = key.value()?.ok_or(NO_KEY)?;
        let look = Look::at(value)?;
        let Some(field) = field else {
            let all = FIELDS.iter().map(|(name, tell)| (Cow::Borrowed(*name), tell(&look)));
            return Ok(Reply::Map(all.collect()));
        };
        match FIELDS.iter().find(|(name, _)| name.as_bytes() == field) {
            Some((_, tell)) => Ok(tell(&look)),
            None => {
                let known = FIELDS.map(|(name, _)| name).join(", ");
                Err(Refusal::new(format_args!("no such field; there are: {known}")))
            }
        }
    }
}

impl Command<Ours> for Card {
    const DOC: Doc = Doc {
        name: c"LATELY.CARD",
        summary: c"Says how many different items are in the window now or at a moment, where that is known",
        complexity: c"O(1)",
        arity: -2,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key(), MOMENT.maybe()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let when = When::after_key(call, "lately.card")?;
        match call.key(1, Access::Read).value()? {
            Some(value) => {
                let stored = value.filter()?;
                Ok(Reply::count(stored.distinct(when.time(stored))?))
            }
            None => Ok(Reply::Int(0)),
        }
    }
}

/// The refusal of commands that need a key.
pub const NO_KEY: Refusal = Refusal::coded("ERR no such key");

/// A filter that is looked at. What takes time is found out when a field asks for it, and once.
struct Look<'a> {
    stored: &'a Stored,
    bytes: u64,
    promise: OnceCell<Promise>,
    /// The share of unseen items that are reported now.
    now: OnceCell<f64>,
}

impl<'a> Look<'a> {
    fn at(value: &'a mut Value) -> Result<Self, Refusal> {
        let bytes = value.memory_bytes() as u64;
        let stored = value.filter()?;
        Ok(Self { stored, bytes, promise: OnceCell::new(), now: OnceCell::new() })
    }

    fn promise(&self) -> &Promise {
        self.promise.get_or_init(|| self.stored.filter().blueprint().promise())
    }

    fn false_positives_now(&self) -> f64 {
        *self.now.get_or_init(|| self.stored.filter().false_positive_rate())
    }

    /// How far back it remembers, if that may be less than its window: at the server's time, as others are answered.
    fn reach(&self) -> Option<Reach> {
        self.stored.filter().reach(When::Now.time(self.stored))
    }

    fn exceeds_promise(&self) -> bool {
        self.false_positives_now() > SAMPLED * self.promise().false_positives
    }

    /// The window, if it is shorter than planned.
    fn short_window(&self) -> Option<Window> {
        let now = Window::Within(self.reach()?.now);
        (now != self.promise().window).then_some(now)
    }

    /// What it keeps: as planned, or, where more came than fits, with the error or the window that it has now.
    fn kept_promise(&self) -> Promise {
        let mut kept = *self.promise();
        if self.exceeds_promise() {
            kept.false_positives = self.false_positives_now();
        }
        kept.window = self.short_window().unwrap_or(kept.window);
        kept
    }
}

/// The error now comes from a sample where a filter is large: so much more than the promise is no chance.
const SAMPLED: f64 = 1.2;

/// The fields by name, and how each is told.
type Field = (&'static str, fn(&Look<'_>) -> Reply);

const FIELDS: [Field; 20] = [
    ("structure", |look| Reply::text(look.stored.filter().blueprint().structure())),
    ("promise", |look| Reply::text(look.kept_promise().to_string())),
    ("window", |look| {
        Reply::text(match look.promise().window {
            Window::Last(_) => "last",
            Window::Within(_) => "within",
            Window::Ever => "ever",
        })
    }),
    ("extent", |look| match look.promise().window {
        Window::Last(n) => Reply::count(n),
        Window::Within(span) => Reply::count(span.millis()),
        Window::Ever => Reply::Null,
    }),
    ("slack", |look| Reply::text(look.promise().slack.to_string())),
    ("false-positives", |look| Reply::Double(look.promise().false_positives)),
    ("false-negatives", |look| Reply::Double(look.promise().false_negatives)),
    ("false-positives-now", |look| Reply::Double(look.false_positives_now())),
    ("exceeds-promise", |look| Reply::Int(look.exceeds_promise().into())),
    ("remembers", |look| match look.reach() {
        Some(reach) => Reply::count(reach.now.millis()),
        None => Reply::Null,
    }),
    ("remembered-least", |look| match look.reach() {
        Some(reach) => Reply::count(reach.least.millis()),
        None => Reply::Null,
    }),
    ("clock", |look| match look.stored.filter().clock() {
        Some(clock) => Reply::count(clock.millis()),
        None => Reply::Null,
    }),
    ("bytes", |look| Reply::count(look.bytes)),
    ("inserted", |look| Reply::count(look.stored.tally.inserted)),
    ("new", |look| Reply::count(look.stored.tally.new)),
    ("counting", |look| Reply::Int(look.stored.is_counting().into())),
    ("top", |look| look.stored.most_told().map_or(Reply::Null, |most| Reply::count(most as u64))),
    ("hashing", |look| {
        Reply::text(match look.stored.hashing {
            Hashing::Fast(_) => "fast",
            Hashing::Keyed(_) => "keyed",
        })
    }),
    // Seeds use all 64 bits, which the protocol's integers do not hold.
    ("seed", |look| match look.stored.hashing {
        Hashing::Fast(seed) => Reply::text(seed.0.to_string()),
        Hashing::Keyed(_) => Reply::Null,
    }),
    ("parameters", |look| {
        let fields = look.stored.filter().blueprint().fields().into_iter();
        Reply::Map(fields.map(|(name, value)| (Cow::Borrowed(name), Reply::text(value))).collect())
    }),
];
