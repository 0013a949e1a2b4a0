//! What a command tells about itself: one description for `COMMAND DOCS`, `COMMAND GETKEYS`, access
//! lists and `LATELY.HELP`.

use std::ffi::CStr;
use std::fmt::Write;

/// The description of one command.
#[derive(Debug)]
pub struct Doc {
    /// Its name.
    pub name: &'static CStr,
    /// What it does, in one sentence.
    pub summary: &'static CStr,
    /// How its time grows.
    pub complexity: &'static CStr,
    /// Number of words with the name; negative if at least that many.
    pub arity: i32,
    /// What it may do, and what it needs.
    pub effect: Effect,
    /// Which words are keys.
    pub keys: Keys,
    /// Its arguments.
    pub args: &'static [Arg],
}

/// What a command may do, which decides where it may run and who may run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Reads a key in constant time per item.
    Read,
    /// Reads all of a key.
    ReadAll,
    /// Changes a key in constant time per item; may need memory.
    Write,
    /// Changes a key in constant time per item; makes it smaller, so that it may run when memory is short.
    Free,
    /// Writes all of a key; needs memory.
    WriteAll,
    /// Touches no key.
    Nothing,
}

impl Effect {
    /// The engine's flags.
    pub fn flags(self) -> &'static CStr {
        match self {
            Effect::Read => c"readonly fast",
            Effect::ReadAll => c"readonly",
            Effect::Write => c"write deny-oom fast",
            Effect::Free => c"write fast",
            Effect::WriteAll => c"write deny-oom",
            Effect::Nothing => c"fast allow-loading allow-stale",
        }
    }

    /// The categories of the engine's access lists, besides our own.
    pub fn categories(self) -> &'static CStr {
        match self {
            Effect::Read => c"read fast",
            Effect::ReadAll => c"read slow",
            Effect::Write | Effect::Free => c"write fast",
            Effect::WriteAll => c"write slow",
            Effect::Nothing => c"fast",
        }
    }
}

/// Which words of a command are keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// None.
    None,
    /// The word after the name.
    First,
    /// The word after the name is written, all that follow are read.
    FirstThenSources,
}

/// One argument, or a group of them.
#[derive(Debug)]
pub struct Arg {
    /// What it stands for.
    pub name: &'static CStr,
    /// What it looks like.
    pub kind: Kind,
    /// The word that announces it.
    pub token: Option<&'static CStr>,
    /// Whether it may be left out.
    pub optional: bool,
    /// Whether it may be given several times.
    pub multiple: bool,
}

/// What an argument looks like.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A key; by its place among the command's key specifications.
    Key(i32),
    /// Any bytes.
    Bytes,
    /// A whole number.
    Integer,
    /// A fraction.
    Fraction,
    /// Milliseconds since 1970.
    Moment,
    /// Only its token.
    Token,
    /// One of several.
    OneOf(&'static [Arg]),
    /// Several in a row.
    Block(&'static [Arg]),
}

impl Arg {
    /// A required argument.
    pub const fn new(name: &'static CStr, kind: Kind) -> Self {
        Arg { name, kind, token: None, optional: false, multiple: false }
    }

    /// The key a command works on.
    pub const fn key() -> Self {
        Arg::new(c"key", Kind::Key(0))
    }

    /// One or more items.
    pub const fn items() -> Self {
        Arg::new(c"item", Kind::Bytes).many()
    }

    /// A word that stands alone.
    pub const fn word(name: &'static CStr, token: &'static CStr) -> Self {
        Arg::new(name, Kind::Token).after(token)
    }

    /// The same, announced by a word.
    pub const fn after(mut self, token: &'static CStr) -> Self {
        self.token = Some(token);
        self
    }

    /// The same, but it may be left out.
    pub const fn maybe(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The same, but it may be given several times.
    pub const fn many(mut self) -> Self {
        self.multiple = true;
        self
    }
}

impl Doc {
    /// How the command is written: `LATELY.SEEN key item [item ...]`.
    pub fn syntax(&self) -> String {
        let mut line = text(self.name).to_owned();
        for arg in self.args {
            write!(line, " {}", arg.syntax()).expect("strings grow");
        }
        line
    }

    /// What it does.
    pub fn summary(&self) -> &'static str {
        text(self.summary)
    }
}

impl Arg {
    fn syntax(&self) -> String {
        let body = match self.kind {
            Kind::Token => String::new(),
            Kind::OneOf(args) => join(args, " | "),
            Kind::Block(args) => join(args, " "),
            _ => text(self.name).to_owned(),
        };
        let one = match self.token {
            Some(token) if body.is_empty() => text(token).to_owned(),
            Some(token) => format!("{} {body}", text(token)),
            None => body,
        };
        let all = if self.multiple { format!("{one} [{one} ...]") } else { one };
        match (self.optional, self.kind) {
            (true, _) => format!("[{all}]"),
            (false, Kind::OneOf(_)) => format!("<{all}>"),
            (false, _) => all,
        }
    }
}

fn join(args: &[Arg], between: &str) -> String {
    args.iter().map(Arg::syntax).collect::<Vec<_>>().join(between)
}

fn text(name: &'static CStr) -> &'static str {
    name.to_str().expect("our own names are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_reads_as_in_manuals() {
        const PAIR: &[Arg] = &[Arg::new(c"item", Kind::Bytes), Arg::new(c"times", Kind::Integer)];
        const EITHER: &[Arg] =
            &[Arg::new(c"n", Kind::Integer).after(c"LAST"), Arg::word(c"ever", c"EVER")];
        const DOC: Doc = Doc {
            name: c"LATELY.X",
            summary: c"",
            complexity: c"",
            arity: -3,
            effect: Effect::Read,
            keys: Keys::First,
            args: &[
                Arg::key(),
                Arg::new(c"window", Kind::OneOf(EITHER)).maybe(),
                Arg::new(c"pair", Kind::Block(PAIR)).many(),
            ],
        };
        assert_eq!(DOC.syntax(), "LATELY.X key [LAST n | EVER] item times [item times ...]");
    }
}
