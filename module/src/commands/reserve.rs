//! `LATELY.RESERVE`: makes an empty filter.

use lately::Time;

use crate::args::When;
use crate::config;
use crate::engine::{Access, Arg, Command, Doc, Effect, Keys, Kind, Refusal, Reply};
use crate::keeper;
use crate::object::{Stored, Value};
use crate::ours::{Call, Ours};
use crate::replicate::{self, Sent};
use crate::wish::Wish;

/// `LATELY.RESERVE key [LAST n | WITHIN ms | EVER] [ERROR e | MEMORY bytes] ...`
pub struct Reserve;

impl Command<Ours> for Reserve {
    const DOC: Doc = Doc {
        name: c"LATELY.RESERVE",
        summary: c"Makes an empty filter that remembers so far back, with this error or memory",
        complexity: c"O(1), and the memory of the filter",
        arity: -2,
        effect: Effect::WriteAll,
        keys: Keys::First,
        args: &[
            Arg::key(),
            WINDOW,
            LIMIT,
            SHORTEN_AT,
            SLACK,
            COUNTING,
            TOP,
            REMOVING,
            CAPACITY,
            STRUCTURE,
            HASHING,
        ],
    };

    fn run(call: &mut Call<'_>) -> Result<Reply, Refusal> {
        hide_secrets(call);
        let wish = Wish::parse(&call.words()[2..])?.or(default_wish()?);
        if call.key(1, Access::Write).exists() {
            return Err(Refusal::coded("BUSYKEY Target key name already exists."));
        }
        create(call, wish)?;
        call.notify(c"lately.reserve");
        Ok(Reply::Done)
    }
}

/// Has the engine show no secret in `SLOWLOG` and `MONITOR`, whatever comes of the command.
fn hide_secrets(call: &Call<'_>) {
    for place in 3..call.len() {
        if call.word(place - 1).eq_ignore_ascii_case(b"SECRET") {
            call.hide(place);
        }
    }
}

/// What a key is of which nobody said more: nothing, where there is no default.
pub fn default_wish() -> Result<Wish, Refusal> {
    let words = config::DEFAULT.get();
    if words.eq_ignore_ascii_case(config::NONE) {
        return Ok(Wish::default());
    }
    Wish::parse(&words.split_ascii_whitespace().map(str::as_bytes).collect::<Vec<_>>())
}

/// What a key is that nobody reserved.
pub fn unreserved_wish() -> Result<Wish, Refusal> {
    let wish = default_wish()?;
    if wish.window.is_none() {
        return Err(NOT_RESERVED);
    }
    Ok(wish)
}

/// The refusal of commands that would have to make a key, and must not.
pub const NOT_RESERVED: Refusal =
    Refusal::coded("ERR no such key; make it with LATELY.RESERVE, which says what to remember");

/// Lets `change` change the filter of the key that word 1 names; makes it first, as `wish` says, if
/// there is none.
#[inline(always)]
pub fn change_or_create<T>(
    call: &mut Call<'_>,
    wish: impl FnOnce() -> Result<Wish, Refusal>,
    change: impl FnOnce(&mut Stored) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let origin = call.origin();
    if let Some(value) = call.key(1, Access::Write).value()? {
        let stored = value.filter()?;
        stored.check_growth(origin)?;
        return change(stored);
    }
    // Changed before it is a key: what is refused leaves none behind.
    let (mut stored, exact) = Stored::create(call, wish()?)?;
    let changed = change(&mut stored)?;
    put(call, stored, &exact);
    Ok(changed)
}

/// The same at a moment that is believed; also says how that has to be sent.
#[inline(always)]
pub fn change_or_create_at<T>(
    call: &mut Call<'_>,
    when: When,
    wish: impl FnOnce() -> Result<Wish, Refusal>,
    change: impl FnOnce(&mut Stored, Time) -> Result<T, Refusal>,
) -> Result<(T, Sent), Refusal> {
    let origin = call.origin();
    change_or_create(
        call,
        wish,
        #[inline(always)]
        |stored| {
            let (time, sent) = replicate::moment(when, stored, origin)?;
            Ok((change(stored, time)?, sent))
        },
    )
}

/// Makes the filter of the key that word 1 names.
#[cold]
pub fn create(call: &mut Call<'_>, wish: Wish) -> Result<(), Refusal> {
    let (stored, exact) = Stored::create(call, wish)?;
    put(call, stored, &exact);
    Ok(())
}

#[cold]
fn put(call: &mut Call<'_>, mut stored: Stored, exact: &Wish) {
    keeper::keep(call.address(1), &mut stored);
    call.key(1, Access::Write).put(Value::Filter(stored));
    replicate::creation(call, exact);
}

/// How far back.
pub const WINDOW: Arg = Arg::new(c"window", Kind::OneOf(WINDOWS)).maybe();
const WINDOWS: &[Arg] = &[
    Arg::new(c"n", Kind::Integer).after(c"LAST"),
    Arg::new(c"milliseconds", Kind::Integer).after(c"WITHIN"),
    Arg::word(c"ever", c"EVER"),
];

/// How well, or how large.
pub const LIMIT: Arg = Arg::new(c"limit", Kind::OneOf(LIMITS)).maybe();
const LIMITS: &[Arg] = &[
    Arg::new(c"rate", Kind::Fraction).after(c"ERROR"),
    Arg::new(c"bytes", Kind::Integer).after(c"MEMORY"),
];

/// The memory beyond which the window becomes shorter.
pub const SHORTEN_AT: Arg = Arg::new(c"most", Kind::Integer).after(c"SHORTENAT").maybe();

/// How much older than the window a key may be reported.
pub const SLACK: Arg = Arg::new(c"slack", Kind::Integer).after(c"SLACK").maybe();

/// How often, not only whether.
pub const COUNTING: Arg = Arg::word(c"counting", c"COUNTING").maybe();

/// Which items came most often.
pub const TOP: Arg = Arg::new(c"k", Kind::Integer).after(c"TOP").maybe();

/// Items that are forgotten again.
pub const REMOVING: Arg = Arg::word(c"removing", c"REMOVING").maybe();

/// How many keys to expect.
pub const CAPACITY: Arg = Arg::new(c"capacity", Kind::Integer).after(c"CAPACITY").maybe();

/// Which structure.
pub const STRUCTURE: Arg = Arg::new(c"structure", Kind::Bytes).after(c"STRUCTURE").maybe();

const HASHING: Arg = Arg::new(c"hashing", Kind::OneOf(HASHINGS)).maybe();
const HASHINGS: &[Arg] = &[
    Arg::word(c"keyed", c"KEYED"),
    Arg::new(c"seed", Kind::Integer).after(c"SEED"),
    Arg::new(c"secret", Kind::Bytes).after(c"SECRET"),
];
