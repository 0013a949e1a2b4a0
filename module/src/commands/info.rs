//! `LATELY.INFO` and `LATELY.CARD`: what a filter promises, and how it stands.

use std::borrow::Cow;

use lately::{Hashing, Window};

use super::Command;
use crate::args;
use crate::docs::{Arg, Doc, Effect, Keys, Kind};
use crate::engine::{Access, Call, Refusal, Reply};
use crate::object::Value;

/// `LATELY.INFO key [field]`
pub struct Info;

/// `LATELY.CARD key`
pub struct Card;

impl Command for Info {
    const DOC: Doc = Doc {
        name: c"LATELY.INFO",
        summary: c"Says what a filter promises and how it stands, or one field of that",
        complexity: c"O(1) for most structures",
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
        let fields = describe(value)?;
        let Some(field) = field else { return Ok(Reply::Map(fields)) };
        let known = fields.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(", ");
        fields
            .into_iter()
            .find_map(|(name, reply)| (name.as_bytes() == field).then_some(reply))
            .ok_or_else(|| Refusal::new(format_args!("no such field; there are: {known}")))
    }
}

impl Command for Card {
    const DOC: Doc = Doc {
        name: c"LATELY.CARD",
        summary: c"Says how many different items a filter has counted as new",
        complexity: c"O(1)",
        arity: 2,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        match call.key(1, Access::Read).value()? {
            Some(value) => Ok(Reply::count(value.filter()?.tally.new)),
            None => Ok(Reply::Int(0)),
        }
    }
}

/// The refusal of commands that need a key.
pub const NO_KEY: Refusal = Refusal::coded("ERR no such key");

type Fields = Vec<(Cow<'static, str>, Reply)>;

fn describe(value: &mut Value) -> Result<Fields, Refusal> {
    let bytes = value.memory_bytes() as u64;
    let stored = value.filter()?;
    let counting = stored.is_counting();
    let tally = stored.tally;
    // Seeds use all 64 bits, which the protocol's integers do not hold.
    let (hashing, seed) = match stored.hashing {
        Hashing::Fast(seed) => ("fast", Reply::text(seed.0.to_string())),
        Hashing::Keyed(_) => ("keyed", Reply::Null),
    };
    let blueprint = stored.filter().blueprint();
    let promise = blueprint.promise();
    let (window, extent) = match promise.window {
        Window::Last(n) => ("last", Some(n)),
        Window::Within(span) => ("within", Some(span.millis())),
        Window::Ever => ("ever", None),
    };
    let parameters = blueprint
        .fields()
        .into_iter()
        .map(|(name, value)| (Cow::Borrowed(name), Reply::text(value)))
        .collect();
    let fields = [
        ("structure", Reply::text(blueprint.structure())),
        ("promise", Reply::text(promise.to_string())),
        ("window", Reply::text(window)),
        ("extent", extent.map_or(Reply::Null, Reply::count)),
        ("slack", Reply::text(promise.slack.to_string())),
        ("false-positives", Reply::Double(promise.false_positives)),
        ("false-negatives", Reply::Double(promise.false_negatives)),
        ("false-positives-now", Reply::Double(stored.filter().false_positive_rate())),
        (
            "clock",
            stored.filter().clock().map_or(Reply::Null, |clock| Reply::count(clock.millis())),
        ),
        ("bytes", Reply::count(bytes)),
        ("inserted", Reply::count(tally.inserted)),
        ("new", Reply::count(tally.new)),
        ("counting", Reply::Int(counting.into())),
        ("hashing", Reply::text(hashing)),
        ("seed", seed),
        ("parameters", Reply::Map(parameters)),
    ];
    Ok(fields.into_iter().map(|(name, reply)| (Cow::Borrowed(name), reply)).collect())
}
