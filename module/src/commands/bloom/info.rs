//! `BF.INFO` and `BF.CARD`: what other implementations tell of a filter.

use std::borrow::Cow;

use crate::args;
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::object::Bloom;
use crate::ours::{Call, Ours};

/// `BF.CARD key`
pub struct Card;

/// `BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]`
pub struct Info;

impl Command<Ours> for Card {
    const DOC: Doc = Doc {
        name: c"BF.CARD",
        summary: c"Says how many items were new when they were inserted",
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

impl Command<Ours> for Info {
    const DOC: Doc = Doc {
        name: c"BF.INFO",
        summary: c"Tells of a filter",
        complexity: c"O(1)",
        arity: -2,
        effect: Effect::Read,
        keys: Keys::First,
        args: &[Arg::key(), Arg::new(c"field", Kind::OneOf(FIELDS)).maybe()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let field = match call.words()[..] {
            [_, _] => None,
            [_, _, field] => Some(field.to_ascii_uppercase()),
            _ => return Err(args::wrong_number("bf.info")),
        };
        let mut key = call.key(1, Access::Read);
        let value = key.value()?.ok_or(super::NOT_FOUND)?;
        let bytes = value.memory_bytes() as u64;
        let stored = value.filter()?;
        let items = stored.tally.new;
        let bloom = stored.bloom.unwrap_or(Bloom { capacity: items, expansion: 1 });
        let expansion = match bloom.expansion {
            0 => Reply::Null,
            expansion => Reply::count(expansion),
        };
        // Ours grows in one piece and by small steps: it has always room for what it holds.
        let fields = [
            (&b"CAPACITY"[..], "Capacity", Reply::count(bloom.capacity.max(items))),
            (b"SIZE", "Size", Reply::count(bytes)),
            (b"FILTERS", "Number of filters", Reply::Int(1)),
            (b"ITEMS", "Number of items inserted", Reply::count(items)),
            (b"EXPANSION", "Expansion rate", expansion),
        ];
        let Some(field) = field else {
            let fields = fields.into_iter().map(|(_, name, reply)| (Cow::Borrowed(name), reply));
            return Ok(Reply::Map(fields.collect()));
        };
        fields
            .into_iter()
            .find_map(|(word, _, reply)| (word == field).then(|| Reply::Array(vec![reply])))
            .ok_or(Refusal::coded("ERR invalid information value"))
    }
}

const FIELDS: &[Arg] = &[
    Arg::word(c"capacity", c"CAPACITY"),
    Arg::word(c"size", c"SIZE"),
    Arg::word(c"filters", c"FILTERS"),
    Arg::word(c"items", c"ITEMS"),
    Arg::word(c"expansion", c"EXPANSION"),
];
