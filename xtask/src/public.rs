//! The public list: all that users of the library can name, one line each, in `core/public.txt`.
//!
//! A change of what is public is a promise made or broken, so it should be seen in review: `cargo xtask
//! lint` fails until the list is written again. It is made from the source, as `rustfmt` leaves it, of
//! the modules that `lib.rs` opens or takes names from. Of the room `raw`, which may change, only the
//! names are in it, and of what the feature `internals` opens, nothing.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::tidy::files;

const LIST: &str = "core/public.txt";

/// Writes the list.
pub fn write() -> Result<()> {
    fs::write(LIST, list()?).with_context(|| format!("cannot write {LIST}"))
}

/// Fails with what is new or gone.
pub fn check() -> Result<()> {
    let (found, pinned) = (list()?, fs::read_to_string(LIST).unwrap_or_default());
    let differences = differences(&pinned, &found);
    if !differences.is_empty() {
        bail!("what is public has changed; if that is meant, `cargo xtask public`:\n{differences}");
    }
    Ok(())
}

fn differences(pinned: &str, found: &str) -> String {
    let lacks = |text: &str, line: &str| !text.lines().any(|other| other == line);
    let gone = pinned.lines().filter(|line| lacks(found, line)).map(|line| format!("- {line}\n"));
    let new = found.lines().filter(|line| lacks(pinned, line)).map(|line| format!("+ {line}\n"));
    gone.chain(new).collect()
}

fn list() -> Result<String> {
    let library = fs::read_to_string("core/src/lib.rs")?;
    let opened = opened(&library);
    let mut lines = Vec::new();
    for file in files(Path::new("core/src"), ".rs") {
        let name = file.strip_prefix("core/src").unwrap_or(&file).to_path_buf();
        if opened.iter().any(|room| is_in(&name, room)) {
            let text = fs::read_to_string(&file)?;
            let items = items(&text).into_iter();
            lines.extend(items.map(|item| format!("{}: {item}\n", name.display())));
        }
    }
    Ok(lines.concat())
}

/// The modules that are public, or whose names are; and the list of them itself.
fn opened(library: &str) -> Vec<String> {
    let word = |line: &str, before: &str| {
        let rest = line.strip_prefix(before)?;
        Some(rest.split([':', ';']).next()?.to_owned())
    };
    let opened = |line| word(line, "pub mod ").or_else(|| word(line, "pub use "));
    library.lines().filter_map(opened).chain(["lib".to_owned()]).collect()
}

fn is_in(file: &Path, room: &str) -> bool {
    file.starts_with(room) || file == PathBuf::from(format!("{room}.rs"))
}

/// Everything that begins with `pub `, up to its body, and under which `impl` it is.
fn items(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let mut items = Vec::new();
    let mut place = String::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        // What only a feature opens, or a private room holds.
        if line == "#[cfg(feature = \"internals\")]" {
            lines.next();
            continue;
        }
        if line.starts_with("mod ") && line.ends_with('{') {
            lines.by_ref().find(|line| *line == "}");
            continue;
        }
        if ["impl", "pub trait ", "pub enum "].iter().any(|start| line.starts_with(start)) {
            let whole = line.trim_end_matches('{').trim();
            let name =
                whole.split(": ").next().filter(|_| line.starts_with("pub")).unwrap_or(whole);
            place = format!("{name} ");
        } else if line == "}" {
            place.clear();
        }
        let in_trait = place.starts_with("pub trait") && line.starts_with("    fn ");
        let is_variant = place.starts_with("pub enum") && is_variant(line);
        let word = line.trim_start();
        if !word.starts_with("pub ") && !in_trait && !is_variant {
            continue;
        }
        let mut item = word.to_owned();
        let is_whole = item.ends_with(',') || is_variant;
        let ends: &[char] = if word.starts_with("pub use ") { &[';'] } else { &['{', ';'] };
        while !is_whole && !item.contains(ends) {
            let Some(more) = lines.next() else { break };
            item = format!("{item} {}", more.trim());
        }
        // Lists of names are part of the item; bodies and values are not.
        let end = match item.split_whitespace().nth(1) {
            Some("use") => None,
            Some("static") => item.find('='),
            _ => item.find(" = &[").or_else(|| item.find('{')),
        };
        let end = end.unwrap_or(item.len());
        let item = item[..end].trim_end().trim_end_matches([';', ',']);
        let place = if line.starts_with(' ') { place.as_str() } else { "" };
        items.push(format!("{place}{item}"));
    }
    items
}

/// A name alone in its column, as the variants of an enum are.
fn is_variant(line: &str) -> bool {
    line.strip_prefix("    ").is_some_and(|name| name.starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_public_is_listed_and_nothing_else() {
        let text = "pub struct A {\n    pub b: u8,\n    c: u8,\n}\n\nimpl A {\n    pub fn d(\n        &self,\n    ) -> u8 {\n        0\n    }\n\n    pub(crate) fn e() {}\n}\n\npub trait F {\n    fn g(&self);\n}\n\npub use h::{\n    I, J,\n};\npub enum L {\n    M,\n    N {\n        o: u8,\n    },\n}\n#[cfg(test)]\nmod tests { pub fn k() {} }\n";
        assert_eq!(
            items(text),
            [
                "pub struct A",
                "pub b: u8",
                "impl A pub fn d( &self, ) -> u8",
                "pub trait F",
                "pub trait F fn g(&self)",
                "pub use h::{ I, J, }",
                "pub enum L",
                "pub enum L M",
                "pub enum L N",
            ]
        );
    }

    #[test]
    fn changes_are_told() {
        assert_eq!(differences("a\nb\n", "b\nc\n"), "- a\n+ c\n");
        let library = "mod a;\npub mod b;\n    pub mod $c;\npub use d::{E, F};\n";
        assert_eq!(opened(library), ["b", "d", "lib"]);
        assert!(is_in(Path::new("bits/row.rs"), "bits") && is_in(Path::new("bits.rs"), "bits"));
        assert!(!is_in(Path::new("bitset.rs"), "bits"));
    }
}
