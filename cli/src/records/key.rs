//! From the parts of a record that make it the same as another to one hash.
//!
//! One part is hashed as it is, so that the same key hashes alike whether it came as a line, from a
//! column or from JSON, here or anywhere else. Several parts are joined with their lengths before
//! them, so that `ab, c` and `a, bc` differ.

use std::borrow::Cow;

use lately::Hashing;

use super::{Keys, Recipe};

/// What is ignored when keys are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Folding {
    /// Upper and lower case are the same.
    pub(crate) case: bool,
    /// Blanks before and after do not count.
    pub(crate) blanks: bool,
}

impl Folding {
    /// The part without what is to be ignored.
    fn fold<'a>(self, part: &'a [u8]) -> Cow<'a, [u8]> {
        let part = if self.blanks { part.trim_ascii() } else { part };
        if !self.case || !part.iter().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
            return part.into();
        }
        match std::str::from_utf8(part) {
            // Up and down again, so that letters with several lower cases meet.
            Ok(text) if !part.is_ascii() => {
                let upper = text.chars().flat_map(char::to_uppercase);
                upper.flat_map(char::to_lowercase).collect::<String>().into_bytes().into()
            }
            _ => part.to_ascii_lowercase().into(),
        }
    }
}

/// Keys, one after the other, where they are kept.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }
}

/// The parts of a key of several, as [`Hasher`] joined them.
pub(crate) fn parts(mut joined: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = joined.split_first_chunk()?;
        let (part, rest) = rest.split_at_checked(u64::from_le_bytes(*length) as usize)?;
        joined = rest;
        Some(part)
    })
}

/// Makes hashes of keys, part by part, and keeps the keys if they are wanted.
#[derive(Debug)]
pub(crate) struct Hasher {
    hashing: Hashing,
    folding: Folding,
    keys: Keys,
    joined: Vec<u8>,
}

impl Hasher {
    pub(crate) fn new(recipe: &Recipe) -> Self {
        let Recipe { hashing, folding, keys, .. } = *recipe;
        Self { hashing, folding, keys, joined: Vec::new() }
    }

    /// The hash of a key that is one part.
    #[inline]
    pub(crate) fn hash(&self, part: &[u8], texts: &mut Texts) -> u64 {
        if self.folding == Folding::default() {
            return self.finish(part, texts);
        }
        self.finish(&self.folding.fold(part), texts)
    }

    #[inline]
    fn finish(&self, key: &[u8], texts: &mut Texts) -> u64 {
        if self.keys == Keys::Kept {
            texts.push(key);
        }
        self.hashing.hash(key)
    }

    /// Adds a part to a key of several.
    pub(crate) fn join(&mut self, part: &[u8]) {
        let part = self.folding.fold(part);
        self.joined.extend_from_slice(&(part.len() as u64).to_le_bytes());
        self.joined.extend_from_slice(&part);
    }

    /// The hash of the parts joined since the last call.
    pub(crate) fn joined(&mut self, texts: &mut Texts) -> u64 {
        let hash = self.finish(&self.joined, texts);
        self.joined.clear();
        hash
    }

    /// Forgets the parts of a key that turned out to lack one.
    pub(crate) fn abandon(&mut self) {
        self.joined.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_ignores_what_it_should() {
        let both = Folding { case: true, blanks: true };
        for (part, folded) in [
            ("", ""),
            (" a b\r", "a b"),
            ("Straße", "strasse"),
            ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
            ("σίσυφος", "σίσυφοσ"),
            ("ÀB", "àb"),
        ] {
            assert_eq!(*both.fold(part.as_bytes()), *folded.as_bytes(), "{part}");
        }
        assert_eq!(*both.fold(b"A\xff"), *b"a\xff");
        assert_eq!(*Folding { case: false, blanks: true }.fold(b" A "), *b"A");
        assert_eq!(*Folding { case: true, blanks: false }.fold(b" A "), *b" a ");
    }

    #[test]
    fn parts_do_not_run_together() {
        let (hashing, folding) = (Hashing::default(), Folding::default());
        let mut hasher = Hasher { hashing, folding, keys: Keys::Kept, joined: Vec::new() };
        let mut texts = Texts::default();
        let mut hash = |parts: [&[u8]; 2]| {
            parts.into_iter().for_each(|part| hasher.join(part));
            hasher.joined(&mut texts)
        };
        assert_eq!(hash([b"ab", b"c"]), hash([b"ab", b"c"]));
        assert_ne!(hash([b"ab", b"c"]), hash([b"a", b"bc"]));
        let kept: Vec<Vec<_>> = texts.iter().map(|key| parts(key).collect()).collect();
        assert_eq!(kept.len(), 4);
        assert_eq!(kept[0], [&b"ab"[..], b"c"]);
        assert_eq!(kept[3], [&b"a"[..], b"bc"]);
    }
}
