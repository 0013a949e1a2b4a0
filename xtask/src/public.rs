//! The public list: all that users of the library can name, one line each, in `core/public.txt`.
//!
//! A change of what is public is a promise made or broken, so it should be seen in review: `cargo xtask
//! lint` fails until the list is written again. It is made from the source, as `rustfmt` leaves it, of
//! the modules that are public without any feature; what is behind the feature `internals` is not in it.

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
    let rooms = inside(&library);
    let mut lines = Vec::new();
    for file in files(Path::new("core/src"), ".rs") {
        let name = file.strip_prefix("core/src").unwrap_or(&file).to_path_buf();
        if !rooms.iter().any(|room| is_in(&name, room)) {
            let text = fs::read_to_string(&file)?;
            let items = items(&text).into_iter();
            lines.extend(items.map(|item| format!("{}: {item}\n", name.display())));
        }
    }
    Ok(lines.concat())
}

/// The rooms that the feature opens, as `inside!(...)` lists them.
fn inside(library: &str) -> Vec<String> {
    let rooms = library.split("\ninside!(").nth(1).and_then(|rest| rest.split(')').next());
    rooms.unwrap_or("").split_whitespace().map(str::to_owned).collect()
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
        if line.starts_with("impl") || line.starts_with("pub trait ") {
            let whole = line.trim_end_matches('{').trim();
            let name =
                whole.split(": ").next().filter(|_| line.starts_with("pub")).unwrap_or(whole);
            place = format!("{name} ");
        } else if line == "}" {
            place.clear();
        }
        let in_trait = place.starts_with("pub trait") && line.starts_with("    fn ");
        let word = line.trim_start();
        if !word.starts_with("pub ") && !in_trait {
            continue;
        }
        let mut item = word.to_owned();
        let is_field = item.ends_with(',');
        while !is_field && !item.contains(['{', ';']) {
            let Some(more) = lines.next() else { break };
            item = format!("{item} {}", more.trim());
        }
        // Lists of names are part of the item; bodies and values are not.
        let end = match item.split_whitespace().nth(1) {
            Some("use") => None,
            Some("static") => item.find('='),
            _ => item.find('{'),
        };
        let end = end.unwrap_or(item.len());
        let item = item[..end].trim_end().trim_end_matches([';', ',']);
        let place = if line.starts_with(' ') { place.as_str() } else { "" };
        items.push(format!("{place}{item}"));
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_public_is_listed_and_nothing_else() {
        let text = "pub struct A {\n    pub b: u8,\n    c: u8,\n}\n\nimpl A {\n    pub fn d(\n        &self,\n    ) -> u8 {\n        0\n    }\n\n    pub(crate) fn e() {}\n}\n\npub trait F {\n    fn g(&self);\n}\n\npub use h::{I, J};\n#[cfg(test)]\nmod tests { pub fn k() {} }\n";
        assert_eq!(
            items(text),
            [
                "pub struct A",
                "pub b: u8",
                "impl A pub fn d( &self, ) -> u8",
                "pub trait F",
                "pub trait F fn g(&self)",
                "pub use h::{I, J}",
            ]
        );
    }

    #[test]
    fn changes_are_told() {
        assert_eq!(differences("a\nb\n", "b\nc\n"), "- a\n+ c\n");
        assert_eq!(inside("x\ninside!(bits growing);\n"), ["bits", "growing"]);
        assert!(is_in(Path::new("bits/row.rs"), "bits") && is_in(Path::new("bits.rs"), "bits"));
        assert!(!is_in(Path::new("bitset.rs"), "bits"));
    }
}
