//! Where a value is in a JSON document, as people write it.
//!
//! `/user/id` is a JSON pointer (RFC 6901), in which `~1` stands for a slash and `~0` for a tilde.
//! `user.id` or `.user.id` is the same with dots, and `user.id` also the member of that very name, as
//! some logs have them. `$.user.id`, `users[0].id` and `['user'].id` are understood as well. Numbers
//! count the elements of arrays from zero.

use std::fmt;
use std::str::FromStr;

/// A path of at least one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    steps: Vec<String>,
    /// The name with dots that it may be instead.
    name: Option<String>,
}

impl Path {
    /// All ways that lead there; what is found first counts.
    pub(crate) fn ways(&self) -> impl Iterator<Item = &[String]> {
        std::iter::once(&self.steps[..])
            .chain(self.name.as_slice().iter().map(std::slice::from_ref))
    }
}

impl FromStr for Path {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(pointer) = text.strip_prefix('/') {
            return Ok(Self { steps: pointer.split('/').map(unescape).collect(), name: None });
        }
        let steps = dotted(text).ok_or_else(|| {
            format!(
                "{text:?} is no path to one value; write /user/id or user.id, and /users/0/id for \
                 the first of an array"
            )
        })?;
        let plain = !text.starts_with(['.', '$']) && !text.contains('[');
        Ok(Self { name: (plain && steps.len() > 1).then(|| text.to_owned()), steps })
    }
}

/// The steps of a path with dots and brackets; `None` if it is none, or one to many values.
fn dotted(text: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    let from_root = text.strip_prefix('$').filter(|rest| rest.starts_with(['.', '[']));
    let mut rest = from_root.unwrap_or(text);
    if !rest.starts_with(['.', '[']) {
        rest = name(rest, &mut steps)?;
    }
    while !rest.is_empty() {
        rest = match rest.strip_prefix('.') {
            Some(rest) if rest.starts_with('[') => rest,
            Some(rest) => name(rest, &mut steps)?,
            None => bracket(rest, &mut steps)?,
        };
    }
    (!steps.is_empty()).then_some(steps)
}

/// Takes a name from the front, and leaves what follows it.
fn name<'a>(text: &'a str, steps: &mut Vec<String>) -> Option<&'a str> {
    let (name, rest) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
    steps.push(name.to_owned());
    (!name.is_empty()).then_some(rest)
}

/// Takes `[0]` or `['name']` from the front, and leaves what follows it.
fn bracket<'a>(text: &'a str, steps: &mut Vec<String>) -> Option<&'a str> {
    let inside = text.strip_prefix('[')?;
    let (step, rest) = match inside.chars().next()? {
        quote @ ('\'' | '"') => inside[1..].split_once(quote)?,
        _ => {
            let end = inside.find(|digit: char| !digit.is_ascii_digit())?;
            inside.split_at(end)
        }
    };
    steps.push(step.to_owned());
    if step.is_empty() { None } else { rest.strip_prefix(']') }
}

/// As a JSON pointer: two spellings of one path look the same.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps
            .iter()
            .try_for_each(|step| write!(f, "/{}", step.replace('~', "~0").replace('/', "~1")))
    }
}

fn unescape(step: &str) -> String {
    // In this order, as `~01` stands for `~1`.
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With dots it may be the name of one member, but only where nothing says otherwise.
    #[test]
    fn names_with_dots() {
        let ways = |text: &str| -> Vec<String> {
            text.parse::<Path>().unwrap().ways().map(|steps| steps.join(" ")).collect()
        };
        assert_eq!(ways("id.orig_h"), ["id orig_h", "id.orig_h"]);
        for text in ["/id/orig_h", ".id.orig_h", "$.id.orig_h", "id['orig_h']"] {
            assert_eq!(ways(text), ["id orig_h"]);
        }
        assert_eq!(ways("id"), ["id"]);
    }

    #[test]
    fn both_spellings() {
        for (text, steps, pointer) in [
            ("/user/id", &["user", "id"][..], "/user/id"),
            ("user.id", &["user", "id"], "/user/id"),
            (".id", &["id"], "/id"),
            ("id", &["id"], "/id"),
            ("/", &[""], "/"),
            ("/a~1b/c~0d/~01", &["a/b", "c~d", "~1"], "/a~1b/c~0d/~01"),
            ("/a.b/0", &["a.b", "0"], "/a.b/0"),
            ("$.user.id", &["user", "id"], "/user/id"),
            ("$['user'].id", &["user", "id"], "/user/id"),
            ("users[0].id", &["users", "0", "id"], "/users/0/id"),
            (".users.[12][\"a.b\"]", &["users", "12", "a.b"], "/users/12/a.b"),
            ("[0]", &["0"], "/0"),
            ("$oid", &["$oid"], "/$oid"),
            ("_id.$oid", &["_id", "$oid"], "/_id/$oid"),
        ] {
            let path: Path = text.parse().unwrap();
            assert_eq!(path.steps, steps, "{text}");
            assert_eq!(path.to_string(), pointer, "{text}");
        }
        for text in
            ["", ".", "a..b", "a.", "$.", "$..id", "a[*].b", "a[", "a[0", "a[]", "a[0]b", "a[-1]"]
        {
            assert!(text.parse::<Path>().unwrap_err().contains("write /user/id"), "{text}");
        }
    }
}
