//! Every structure of the catalog has what a structure needs; a failure names what is missing.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use lately::catalog::Row;
use lately::raw::codec;
use lately_papers::CATALOG;

use crate::contracts::subjects;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What a row lacks, each as something to do.
fn missing(name: &str, family: u16, parameters: &str) -> Vec<String> {
    let mut missing = Vec::new();
    if !subjects::subjects().iter().any(|subject| subject.label.starts_with(&format!("{name} "))) {
        missing.push(format!("{name}: contracts: add a goal it accepts to `goals` in subjects.rs"));
    }
    let golden = format!("core/tests/golden/{name}-v{}.bin", codec::VERSION);
    if !root().join(&golden).exists() {
        missing.push(format!("{name}: {golden}: run `cargo xtask golden`"));
    }
    let wanted = format!("| {family} | `{name}` | {parameters} |");
    let format = fs::read_to_string(root().join("FORMAT.md")).unwrap_or_default();
    if !format.contains(&wanted) {
        missing.push(format!("{name}: FORMAT.md: write about {wanted}"));
    }
    let readme = fs::read_to_string(root().join("README.md")).unwrap_or_default();
    if !readme.contains(&format!("`{name}`")) {
        missing.push(format!("{name}: README.md: say what it is for"));
    }
    missing
}

/// The parameters in FORMAT.md are those that structures list: `cargo xtask golden` writes them.
#[test]
fn the_format_has_the_parameters_of_every_structure() {
    let path = root().join("FORMAT.md");
    let text = fs::read_to_string(&path).unwrap();
    let written = text.lines().map(|line| {
        let cells: Vec<&str> = line.splitn(5, '|').map(str::trim).collect();
        let row = CATALOG.iter().find(|row| {
            cells.len() == 5 && cells[1..3] == [row.family.to_string(), format!("`{}`", row.name)]
        });
        match row {
            Some(row) => {
                ["", cells[1], cells[2], &(row.described)(), cells[4]].join(" | ").trim().into()
            }
            None => line.to_owned(),
        }
    });
    let written = written.map(|line| line + "\n").collect::<String>();
    if std::env::var_os("LATELY_WRITE_GOLDEN").is_some() {
        fs::write(&path, &written).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == written, "FORMAT.md: run `cargo xtask golden`");
}

#[test]
fn nothing_is_missing() {
    let missing: Vec<String> =
        CATALOG.iter().flat_map(|row| missing(row.name, row.family, &(row.described)())).collect();
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

#[test]
fn a_structure_without_anything_is_noticed() {
    let missing = missing("ghost", 60_000, "window").join("\n");
    for part in ["contracts", "golden", "FORMAT.md", "README.md"] {
        assert!(missing.contains(part), "{part} is not asked for:\n{missing}");
    }
}

#[test]
fn names_and_families_are_unique_and_well_formed() {
    let mut names = HashMap::new();
    let mut families = HashMap::new();
    for row in CATALOG.iter() {
        let Row { name, family, strength, .. } = row;
        assert!(names.insert(name, ()).is_none(), "two structures are called {name}");
        assert!(families.insert(family, ()).is_none(), "two structures have family {family}");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
        assert!(!strength.is_empty() && !strength.ends_with('.'), "{name}: {strength}");
    }
}
