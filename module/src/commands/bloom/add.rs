//! `BF.ADD`, `BF.MADD` and `BF.INSERT`: insert items, and make the filter if there is none.

use super::Shape;
use crate::answers::Answers;
use crate::args::{self, When};
use crate::commands::Command;
use crate::commands::reserve::change_or_create;
use crate::docs::{Arg, Doc, Effect, Keys, Kind};
use crate::engine::{Call, Refusal, Reply};
use crate::object::Repeat;
use crate::replicate;

/// `BF.ADD key item`
pub struct Add;

/// `BF.MADD key item [item ...]`
pub struct MAdd;

/// `BF.INSERT key [CAPACITY c] [ERROR e] [EXPANSION x] [NOCREATE] [NONSCALING] ITEMS item [item ...]`
pub struct Insert;

impl Command for Add {
    const DOC: Doc = Doc {
        name: c"BF.ADD",
        summary: c"Inserts an item; 1 if it was new",
        complexity: c"O(1)",
        arity: 3,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), Arg::new(c"item", Kind::Bytes)],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let answers = insert(call, Shape::default, 2)?;
        match answers.into_iter().next() {
            Some(Reply::Refused(refusal)) => Err(refusal),
            Some(answer) => Ok(answer),
            None => Err(Refusal::FAULT),
        }
    }
}

impl Command for MAdd {
    const DOC: Doc = Doc {
        name: c"BF.MADD",
        summary: c"Inserts items; 1 for each that was new",
        complexity: c"O(N) where N is the number of items",
        arity: -3,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[Arg::key(), Arg::items()],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        Ok(Reply::Array(insert(call, Shape::default, 2)?))
    }
}

impl Command for Insert {
    const DOC: Doc = Doc {
        name: c"BF.INSERT",
        summary: c"Inserts items, and makes the filter as told if there is none",
        complexity: c"O(N) where N is the number of items",
        arity: -4,
        effect: Effect::Write,
        keys: Keys::First,
        args: &[
            Arg::key(),
            Arg::new(c"capacity", Kind::Integer).after(c"CAPACITY").maybe(),
            Arg::new(c"error", Kind::Fraction).after(c"ERROR").maybe(),
            Arg::new(c"expansion", Kind::Integer).after(c"EXPANSION").maybe(),
            Arg::word(c"nocreate", c"NOCREATE").maybe(),
            Arg::word(c"nonscaling", c"NONSCALING").maybe(),
            Arg::items().after(c"ITEMS"),
        ],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        let mut shape = Shape::default()?;
        let mut create = true;
        let mut place = 2;
        let words = call.words();
        loop {
            let too_few = || args::wrong_number("bf.insert");
            let word = *words.get(place).ok_or_else(too_few)?;
            place += 1;
            match word.to_ascii_uppercase().as_slice() {
                b"ITEMS" => break,
                b"NOCREATE" => create = false,
                b"NONSCALING" => shape.bloom.expansion = 0,
                option @ (b"CAPACITY" | b"ERROR" | b"EXPANSION") => {
                    let value = *words.get(place).ok_or_else(too_few)?;
                    match option {
                        b"CAPACITY" => {
                            shape.bloom.capacity = super::capacity(value, "ERR bad capacity")?;
                            shape.is_told = true;
                        }
                        b"ERROR" => shape.error = super::error_rate(value, "ERR bad error rate")?,
                        _ => shape.bloom.expansion = super::expansion(value, "ERR bad expansion")?,
                    }
                    place += 1;
                }
                _ => return Err(Refusal::coded("ERR unknown argument received")),
            }
        }
        if place == words.len() {
            return Err(args::wrong_number("bf.insert"));
        }
        let shape = || if create { Ok(shape) } else { Err(super::NOT_FOUND) };
        Ok(Reply::Array(insert(call, shape, place)?))
    }
}

/// Inserts the words from `first` on. As in RedisBloom, a filter that must not grow takes what it
/// can, and the answers end with the refusal.
fn insert(
    call: &mut Call<'_>,
    shape: impl FnOnce() -> Result<Shape, Refusal>,
    first: usize,
) -> Result<Vec<Reply>, Refusal> {
    let items = call.items(first);
    let ahead = call.ahead(first);
    let wish = || Ok(shape()?.wish());
    let origin = call.origin();
    let (answers, sent) = change_or_create(call, wish, |stored| {
        let (moment, sent) = replicate::moment(When::Now, stored, origin);
        let mut answers = Vec::with_capacity(items.len());
        for item in items.iter() {
            let only = || std::iter::once(item);
            // A full filter still answers for what it has.
            if super::is_full(stored) && stored.seen(only(), ahead, moment) == Answers::No {
                answers.push(Reply::Refused(Refusal::coded("ERR non scaling filter is full")));
                break;
            }
            let new = stored.insert(only(), ahead, moment, Repeat::Refreshes);
            answers.push(Reply::Bool(new == Answers::Yes));
        }
        Ok((answers, sent))
    })?;
    let taken = answers.iter().filter(|answer| matches!(answer, Reply::Bool(_))).count();
    if taken > 0 {
        replicate::insertion_of(call, sent, first..first + taken);
        call.notify(c"bloom.add");
    }
    Ok(answers)
}
