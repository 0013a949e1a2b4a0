//! Finds a few values in a JSON document without reading the rest of it.
//!
//! The wanted paths form a tree. Objects and arrays on the way to a value are walked; everything
//! else is stepped over by its brackets and quotes; and the walk stops when the last value is
//! found. So what follows is never looked at, and nothing is checked that need not be: this tells
//! where values are, not whether a document is valid. Of members with the same name the first
//! counts.

use std::ops::Range;

use memchr::memchr2;

use super::path::Path;

/// The paths to look for, merged where they begin alike.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    root: Node,
    /// Each has the value of its place.
    paths: Vec<Path>,
}

#[derive(Debug, Default)]
struct Node {
    children: Vec<(String, Node)>,
    /// Which of the wanted values this is, if it is one.
    slots: Vec<usize>,
}

impl Node {
    /// The node at the end of these steps, made if need be.
    fn at(&mut self, steps: &[String]) -> &mut Node {
        steps.iter().fold(self, |node, step| {
            let known = node.children.iter().position(|(name, _)| name == step);
            let index = known.unwrap_or_else(|| {
                node.children.push((step.clone(), Node::default()));
                node.children.len() - 1
            });
            &mut node.children[index].1
        })
    }
}

/// The document is not JSON, as far as it was looked at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Tree {
    /// Adds a path, and says at which place of `found` its value will be.
    pub(crate) fn add(&mut self, path: &Path) -> usize {
        if let Some(slot) = self.paths.iter().position(|known| known == path) {
            return slot;
        }
        let slot = self.paths.len();
        for steps in path.ways() {
            self.root.at(steps).slots.push(slot);
        }
        self.paths.push(path.clone());
        slot
    }

    /// Where each wanted value is in the document; `None` for those that are not there.
    pub(crate) fn find(
        &self,
        document: &[u8],
        found: &mut Vec<Option<Range<usize>>>,
    ) -> Result<(), Malformed> {
        found.clear();
        found.resize(self.paths.len(), None);
        let mut walk = Walk { bytes: document, at: 0, left: found.len(), found };
        walk.space();
        walk.value(&self.root)
    }
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Values not found yet; at zero the walk stops, wherever it is.
    left: usize,
    found: &'a mut [Option<Range<usize>>],
}

impl Walk<'_> {
    /// Walks through a value that holds wanted ones, or would if it were an object or array.
    fn value(&mut self, node: &Node) -> Result<(), Malformed> {
        match self.peek() {
            Some(b'{') => self.members(node),
            Some(b'[') => self.elements(node),
            _ => self.skip(),
        }
    }

    fn members(&mut self, node: &Node) -> Result<(), Malformed> {
        self.at += 1;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let name = self.string()?;
            self.space();
            self.expect(b':')?;
            self.space();
            let child = node.children.iter().find(|(wanted, _)| name.is(wanted, self.bytes));
            self.child(child)?;
            if self.left == 0 || self.ends(b'}')? {
                return Ok(());
            }
        }
    }

    fn elements(&mut self, node: &Node) -> Result<(), Malformed> {
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        for index in 0_u64.. {
            let child = node.children.iter().find(|(wanted, _)| wanted.parse() == Ok(index));
            self.child(child)?;
            if self.left == 0 || self.ends(b']')? {
                break;
            }
        }
        Ok(())
    }

    /// One value inside another: wanted, on the way to a wanted one, or neither.
    fn child(&mut self, child: Option<&(String, Node)>) -> Result<(), Malformed> {
        let Some((_, node)) = child else { return self.skip() };
        let start = self.at;
        if node.children.is_empty() {
            self.skip()?;
        } else {
            self.value(node)?;
        }
        for &slot in &node.slots {
            if self.found[slot].is_none() {
                self.found[slot] = Some(start..self.at);
                self.left -= 1;
            }
        }
        Ok(())
    }

    /// Whether the object or array ends here; otherwise another value follows.
    fn ends(&mut self, bracket: u8) -> Result<bool, Malformed> {
        self.space();
        if self.peek() == Some(bracket) {
            self.at += 1;
            return Ok(true);
        }
        self.expect(b',')?;
        self.space();
        Ok(false)
    }

    /// Steps over any value.
    fn skip(&mut self) -> Result<(), Malformed> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{' | b'[') => self.skip_nested(),
            _ => self.skip_word(),
        }
    }

    fn skip_nested(&mut self) -> Result<(), Malformed> {
        let mut depth = 0_usize;
        loop {
            match self.peek().ok_or(Malformed)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Steps over a number, `true`, `false` or `null`.
    fn skip_word(&mut self) -> Result<(), Malformed> {
        let rest = &self.bytes[self.at..];
        let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-+.".contains(byte);
        let word = &rest[..rest.iter().position(|byte| !in_word(byte)).unwrap_or(rest.len())];
        match word {
            b"true" | b"false" | b"null" | [b'-' | b'0'..=b'9', ..] => {
                self.at += word.len();
                Ok(())
            }
            _ => Err(Malformed),
        }
    }

    /// Steps over a string, and says what it was.
    fn string(&mut self) -> Result<Text, Malformed> {
        self.expect(b'"')?;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at = quote_or_escape(self.bytes, self.at).ok_or(Malformed)?;
            if self.bytes[self.at] == b'"' {
                self.at += 1;
                return Ok(Text { inside: start..self.at - 1, escaped });
            }
            // Whatever is escaped, it does not end the string.
            self.at = (self.at + 2).min(self.bytes.len());
            escaped = true;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
}

/// A string of the document.
struct Text {
    inside: Range<usize>,
    escaped: bool,
}

impl Text {
    /// Whether it says this. Only the rare one with escapes is decoded.
    fn is(&self, name: &str, document: &[u8]) -> bool {
        let inside = &document[self.inside.clone()];
        if !self.escaped {
            return inside == name.as_bytes();
        }
        let quoted = [b"\"", inside, b"\""].concat();
        serde_json::from_slice::<String>(&quoted).is_ok_and(|decoded| decoded == name)
    }
}

/// Where the next quote or backslash is. Most strings are short, so a few words are looked at here
/// before a search is started that is made for long ones.
#[inline]
fn quote_or_escape(bytes: &[u8], mut at: usize) -> Option<usize> {
    const WORDS: usize = 4;
    for _ in 0..WORDS {
        let Some(word) = bytes[at..].first_chunk() else { break };
        let word = u64::from_le_bytes(*word);
        let hits = zero_bytes(word ^ QUOTES) | zero_bytes(word ^ ESCAPES);
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr2(b'"', b'\\', &bytes[at..]).map(|found| at + found)
}

const ONES: u64 = u64::MAX / 255;
const QUOTES: u64 = ONES * b'"' as u64;
const ESCAPES: u64 = ONES * b'\\' as u64;

/// The highest bit of each byte that is zero. Bytes above the first such may be wrong.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values at these paths, or `None` if the document is not JSON.
    fn find<'a>(document: &'a str, paths: &[&str]) -> Option<Vec<Option<&'a str>>> {
        let mut tree = Tree::default();
        let slots: Vec<_> = paths.iter().map(|path| tree.add(&path.parse().unwrap())).collect();
        let mut found = Vec::new();
        tree.find(document.as_bytes(), &mut found).ok()?;
        Some(slots.iter().map(|&slot| found[slot].clone().map(|at| &document[at])).collect())
    }

    #[test]
    fn values_are_found_wherever_they_are() {
        let document = r#" { "a\"}" : [1, {"x":"]"}, -2.5e3] , "user":{"name":"{","id":"u\\"},
            "i\u0064":7,"t":null,"list":[[],{},{"k":true}], "last" : "z" } "#;
        for (path, value) in [
            ("/user/id", Some(r#""u\\""#)),
            ("user.name", Some(r#""{""#)),
            ("/id", Some("7")),
            ("t", Some("null")),
            ("list.2.k", Some("true")),
            ("/list/1", Some("{}")),
            ("/a\"}/2", Some("-2.5e3")),
            ("/a\"}/1", Some(r#"{"x":"]"}"#)),
            ("last", Some("\"z\"")),
            ("user", Some(r#"{"name":"{","id":"u\\"}"#)),
            ("list.3", None),
            ("user.none", None),
            ("t.deeper", None),
            ("x", None),
        ] {
            assert_eq!(find(document, &[path]), Some(vec![value]), "{path}");
        }
    }

    #[test]
    fn many_paths_take_one_walk() {
        let document = r#"{"a":{"b":1,"c":2},"d":3,"a":{"b":4}}"#;
        let found = find(document, &["a.c", "/d", "a", "a.b", "a.c", "e"]).unwrap();
        let a = Some(r#"{"b":1,"c":2}"#);
        assert_eq!(found, [Some("2"), Some("3"), a, Some("1"), Some("2"), None]);
    }

    #[test]
    fn names_with_dots_are_names_too() {
        let flat = r#"{"ts":1,"id.orig_h":"10.0.0.1","id.resp_h":"10.0.0.2", and so on"#;
        assert_eq!(find(flat, &["id.orig_h"]), Some(vec![Some("\"10.0.0.1\"")]));
        assert_eq!(find(flat, &["ts", "id.resp_h"]).unwrap()[1], Some("\"10.0.0.2\""));
        let nested = r#"{"id":{"orig_h":"10.0.0.1"}}"#;
        assert_eq!(find(nested, &["id.orig_h"]), Some(vec![Some("\"10.0.0.1\"")]));
        let both = find(r#"{"a.b":1,"a":{"b":2}}"#, &["a.b", "/a/b", "/a.b"]).unwrap();
        assert_eq!(both, [Some("1"), Some("2"), Some("1")], "what comes first counts");
    }

    #[test]
    fn what_follows_the_last_value_is_not_looked_at() {
        assert_eq!(find(r#"{"id":1, and so on"#, &["id"]), Some(vec![Some("1")]));
        assert_eq!(find(r#"{"id":1, and so on"#, &["x"]), None);
    }

    #[test]
    fn strings_of_all_lengths() {
        for length in 0..100 {
            for special in 0..=length {
                let text = "x".repeat(special) + "\\\"" + &"y".repeat(length - special);
                let document = format!("{{\"{text}\":1,\"z\":\"{text}\"}}");
                let expected = format!("\"{text}\"");
                assert_eq!(find(&document, &["z"]), Some(vec![Some(&expected[..])]));
            }
        }
    }

    /// Cut anywhere, it is either found or not JSON; nothing panics.
    #[test]
    fn damage_is_noticed() {
        let document = r#"{"a":[1,{"b":"\u00e9\""}],"c":{},"id":"x"}"#;
        for cut in 0..document.len() {
            let found = document.get(..cut).and_then(|cut| find(cut, &["id"]));
            let expected = (cut == document.len() - 1).then(|| vec![Some("\"x\"")]);
            assert_eq!(found, expected, "{cut}");
        }
        for document in ["", "x=1", "{", "{id:1}", "{\"id\"}", "{\"id\":}", "[1 2]", "{\"a\":1]"] {
            assert_eq!(find(document, &["id"]), None, "{document}");
        }
        for document in ["1", "null", "\"id\"", "[]", "{}", "[1,2]"] {
            assert_eq!(find(document, &["id"]), Some(vec![None]), "{document}");
        }
    }
}
