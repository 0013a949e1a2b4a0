//! Where a value is in a JSON document, as people write it.
//!
//! `/user/id` is a JSON pointer (RFC 6901), in which `~1` stands for a slash and `~0` for a tilde.
//! `user.id` or `.user.id` is the same with dots, for names that hold none. Numbers count the
//! elements of arrays from zero.

use std::fmt;
use std::str::FromStr;

/// A path of at least one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    steps: Vec<String>,
}

impl Path {
    pub(crate) fn steps(&self) -> &[String] {
        &self.steps
    }
}

impl FromStr for Path {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let steps: Vec<String> = match text.strip_prefix('/') {
            Some(pointer) => pointer.split('/').map(unescape).collect(),
            None => text.strip_prefix('.').unwrap_or(text).split('.').map(str::to_owned).collect(),
        };
        let dotted = !text.starts_with('/');
        if dotted && steps.iter().any(String::is_empty) {
            return Err(format!("{text:?} is no path; write /user/id or user.id"));
        }
        Ok(Self { steps })
    }
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
        ] {
            let path: Path = text.parse().unwrap();
            assert_eq!(path.steps(), steps, "{text}");
            assert_eq!(path.to_string(), pointer, "{text}");
        }
        for text in ["", ".", "a..b", "a."] {
            assert!(text.parse::<Path>().unwrap_err().contains("write /user/id"), "{text}");
        }
    }
}
