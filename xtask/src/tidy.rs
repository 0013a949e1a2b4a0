//! House rules that no other tool checks.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::HELP;
use crate::named::{Known, stems};

/// Lines that a file may have before its tests: more is a second idea.
const LONGEST_FILE: usize = 400;

/// Folders that may hold code which the compiler cannot check.
const FENCED: [&str; 3] = ["core/src/bits/", "module/src/engine/", "python/src/arrow/"];

/// The folder that knows nothing of what lives behind it.
const APART: &str = "module/src/engine/";

/// Fails with everything that breaks a rule.
pub fn check() -> Result<()> {
    let mut faults = Vec::new();
    let mut code = String::new();
    for file in files(Path::new("."), ".rs") {
        let text = fs::read_to_string(&file)?;
        faults.extend(faults_of(&name_of(&file), &text));
        if file.ends_with("tests/all.rs") {
            faults.extend(idle_tests(&file, &text)?);
        }
        code.push_str(&text);
    }
    for file in files(Path::new("."), ".py") {
        code.push_str(&fs::read_to_string(&file)?);
    }
    let known = Known::collect(HELP, code)?;
    for file in files(Path::new("."), ".md") {
        faults.extend(known.faults_of(&name_of(&file), &fs::read_to_string(&file)?));
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}

fn faults_of(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let lines = code.lines().count();
    let is_test = name.contains("/tests/");
    if lines > LONGEST_FILE && !is_test {
        faults.push(format!("{name}: {lines} lines before its tests; at most {LONGEST_FILE}"));
    }
    let documented = text.starts_with("//!") || text.starts_with("#![doc = include_str!");
    if !documented {
        faults.push(format!("{name}: begins without saying what it is for (//!)"));
    }
    if name.ends_with("/utils.rs") {
        faults.push(format!("{name}: a file needs a subject"));
    }
    // Written in two parts, so that this line does not find itself.
    let lifted = concat!("allow(", "unsafe_code)");
    if text.contains(lifted) && !FENCED.iter().any(|fence| name.starts_with(fence)) {
        faults.push(format!("{name}: lifts the fence around what the compiler cannot check"));
    }
    // In two parts too. What a macro says of where it is belongs to whoever uses it.
    let ours = concat!("crate", "::");
    let imports = |line: &str| line.contains(ours) && !line.contains(concat!("$crate", "::"));
    if name.starts_with(APART) && code.lines().any(imports) {
        faults.push(format!("{name}: the fence knows what lives behind it; ask a `Module`"));
    }
    faults
}

/// Files beside one that names all tests of a crate which neither it nor the manifest names: nobody runs them.
fn idle_tests(all: &Path, named: &str) -> Result<Vec<String>> {
    let folder = all.parent().context("a file is in a folder")?;
    let manifest = fs::read_to_string(folder.with_file_name("Cargo.toml"))?;
    let beside =
        stems(folder)?.into_iter().filter(|name| folder.join(name).with_extension("rs").exists());
    Ok(beside
        .filter(|name| !is_run(name, named, &manifest))
        .map(|name| format!("{}: `mod {name};` is missing", name_of(all)))
        .collect())
}

fn is_run(name: &str, all: &str, manifest: &str) -> bool {
    all.contains(&format!("mod {name};")) || manifest.contains(&format!("\"tests/{name}.rs\""))
}

fn name_of(file: &Path) -> String {
    file.to_string_lossy().trim_start_matches("./").to_owned()
}

/// All files below a folder whose names end so, in order.
pub fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            files.extend(self::files(&path, end));
        } else if name.ends_with(end) {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_noticed_when_broken() {
        let good = "//! An idea.\n";
        assert!(faults_of("core/src/idea.rs", good).is_empty());
        let long = format!("{good}{}", "fn f() {}\n".repeat(LONGEST_FILE));
        assert_eq!(faults_of("core/src/idea.rs", &long).len(), 1);
        assert_eq!(faults_of("core/src/idea.rs", "fn f() {}").len(), 1);
        assert_eq!(faults_of("core/src/utils.rs", good).len(), 1);
        let fence = format!("{good}#![{}]", concat!("allow(", "unsafe_code)"));
        assert_eq!(faults_of("core/src/idea.rs", &fence).len(), 1);
        assert!(faults_of("core/src/bits/idea.rs", &fence).is_empty());
        let circle = format!("{good}use {}object::Value;\n", concat!("crate", "::"));
        assert_eq!(faults_of("module/src/engine/idea.rs", &circle).len(), 1);
        assert!(faults_of("module/src/idea.rs", &circle).is_empty());
        assert!(is_run("idea", "mod idea;", "") && is_run("idea", "", "path = \"tests/idea.rs\""));
        assert!(!is_run("idea", "mod ideas;", "path = \"tests/all.rs\""));
    }
}
