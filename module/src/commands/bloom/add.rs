//! `BF.ADD`, `BF.MADD` and `BF.INSERT`: insert items, and make the filter if there is none.

use lately::Time;

use super::Shape;
use crate::args::{self, When};
use crate::commands::reserve::change_or_create_at;
use crate::engine::{Ahead, Answers, Arg, Command, Doc, Effect, Items, Keys, Kind, Refusal, Reply};
use crate::object::{Repeat, Stored};
use crate::ours::{Call, Ours};
use crate::replicate;

/// `BF.ADD key item`
pub struct Add;

/// `BF.MADD key item [item ...]`
pub struct MAdd;

/// `BF.INSERT key [CAPACITY c] [ERROR e] [EXPANSION x] [NOCREATE] [NONSCALING] ITEMS item [item ...]`
pub struct Insert;

impl Command<Ours> for Add {
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
        let (answers, refusal) = insert(call, Shape::default, 2)?;
        refusal.map_or(Ok(Reply::Bool(answers == Answers::Yes)), Err)
    }
}

impl Command<Ours> for MAdd {
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
        Ok(array(insert(call, Shape::default, 2)?))
    }
}

impl Command<Ours> for Insert {
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
        Ok(array(insert(call, shape, place)?))
    }
}

/// What became of items: the answers for those that were taken, and why the next one was not.
type Taken = (Answers, Option<Refusal>);

/// Inserts the words from `first` on. As in RedisBloom, a filter that must not grow takes what it
/// can, and the answers end with the refusal.
///
/// All of it becomes part of the command, as in `LATELY.ADD`.
#[inline(always)]
fn insert(
    call: &mut Call<'_>,
    shape: impl FnOnce() -> Result<Shape, Refusal>,
    first: usize,
) -> Result<Taken, Refusal> {
    let items = call.items(first);
    let ahead = call.ahead(first);
    let wish = || Ok(shape()?.wish());
    let (taken, sent) = change_or_create_at(
        call,
        When::Now,
        wish,
        #[inline(always)]
        |stored, moment| {
            Ok(match super::most_items(stored) {
                None => (stored.insert(items.iter(), ahead, moment, Repeat::Refreshes), None),
                Some(most) => insert_until_full(stored, most, items, ahead, moment),
            })
        },
    )?;
    let count = taken.0.as_slice().len();
    if count > 0 {
        replicate::insertion_of(call, sent, first..first + count);
        call.notify(c"bloom.add");
    }
    Ok(taken)
}

/// Inserts items until the filter has the most that it takes. It then still answers for what it has.
#[inline(never)]
fn insert_until_full(
    stored: &mut Stored,
    most: u64,
    items: Items<'_>,
    ahead: Option<Ahead>,
    moment: Time,
) -> Taken {
    let mut answers = Answers::default();
    for item in items.iter() {
        let only = || std::iter::once(item);
        let is_full = stored.tally.new >= most;
        if is_full && stored.seen(only(), ahead, moment) == Answers::No {
            return (answers, Some(Refusal::coded("ERR non scaling filter is full")));
        }
        let new = stored.insert(only(), ahead, moment, Repeat::Refreshes);
        answers.extend(new.as_slice());
    }
    (answers, None)
}

fn array((answers, refusal): Taken) -> Reply {
    let taken = answers.as_slice().iter().map(|&new| Reply::Bool(new));
    Reply::Array(taken.chain(refusal.map(Reply::Refused)).collect())
}
