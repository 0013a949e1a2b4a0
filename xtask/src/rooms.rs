//! The format of the library's rooms, which `cargo fmt` does not see: a macro declares them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::steps::succeed;

const LIBRARY: &str = "core/src";

/// Fails if `rustfmt` would write a room otherwise.
pub fn check() -> Result<()> {
    let source = fs::read_to_string(Path::new(LIBRARY).join("lib.rs"))?;
    let rooms = rooms(&source).context("core/src/lib.rs declares no rooms by `inside!`")?;
    let files: Vec<PathBuf> = rooms.iter().map(|room| file(room)).collect();
    ensure!(!files.is_empty(), "`inside!` declares no rooms");
    succeed(Command::new("rustfmt").args(["--check", "--edition", "2024"]).args(files))
}

/// The rooms that are declared in the library's source.
fn rooms(source: &str) -> Option<Vec<&str>> {
    let (_, declared) = source.split_once("\ninside!(")?;
    let (names, _) = declared.split_once(')')?;
    Some(names.split_whitespace().collect())
}

/// Where a room is.
fn file(room: &str) -> PathBuf {
    let alone = Path::new(LIBRARY).join(format!("{room}.rs"));
    if alone.exists() { alone } else { Path::new(LIBRARY).join(room).join("mod.rs") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_found_where_they_are_declared() {
        let source =
            "macro_rules! inside {\n    () => {};\n}\n\ninside!(\n    bits timed\n    sample\n);\n";
        assert_eq!(rooms(source), Some(vec!["bits", "timed", "sample"]));
        assert_eq!(rooms("mod bits;"), None);
    }
}
