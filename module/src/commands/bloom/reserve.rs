//! `BF.RESERVE`: makes an empty filter.

use super::Shape;
use crate::commands::reserve::create;
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::object::Bloom;
use crate::ours::{Call, Ours};

/// `BF.RESERVE key error_rate capacity [EXPANSION expansion | NONSCALING]`
pub struct Reserve;

impl Command<Ours> for Reserve {
    const DOC: Doc = Doc {
        name: c"BF.RESERVE",
        summary: c"Makes an empty filter with this error",
        complexity: c"O(1)",
        arity: -4,
        effect: Effect::WriteAll,
        keys: Keys::First,
        args: &[
            Arg::key(),
            Arg::new(c"error_rate", Kind::Fraction),
            Arg::new(c"capacity", Kind::Integer),
            Arg::new(c"growth", Kind::OneOf(GROWTH)).maybe(),
        ],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let words = call.words();
        let error = super::error_rate(words[2], "ERR bad error rate")?;
        let capacity = super::capacity(words[3], "ERR bad capacity")?;
        let default = Shape::default()?.bloom.expansion;
        let expansion = growth(&words[4..])?.unwrap_or(default);
        if call.key(1, Access::Write).value()?.is_some() {
            return Err(Refusal::coded("ERR item exists"));
        }
        let bloom = Bloom { capacity, expansion };
        create(call, Shape { error, bloom, is_told: true }.wish())?;
        call.notify(c"bloom.reserve");
        Ok(Reply::Done)
    }
}

const GROWTH: &[Arg] = &[
    Arg::new(c"expansion", Kind::Integer).after(c"EXPANSION"),
    Arg::word(c"nonscaling", c"NONSCALING"),
];

fn growth(words: &[&[u8]]) -> Result<Option<u64>, Refusal> {
    let mut nonscaling = false;
    let mut growth = None;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.to_ascii_uppercase().as_slice() {
            b"NONSCALING" => nonscaling = true,
            b"EXPANSION" => {
                let value = words.next().ok_or(Refusal::coded("ERR no expansion"))?;
                growth = Some(super::expansion(value, "ERR bad expansion")?);
            }
            _ => return Err(Refusal::coded("ERR unknown argument received")),
        }
    }
    match (nonscaling, growth) {
        (true, Some(1..)) => Err(Refusal::coded("ERR nonscaling filters cannot expand")),
        (true, _) => Ok(Some(0)),
        (false, growth) => Ok(growth),
    }
}
