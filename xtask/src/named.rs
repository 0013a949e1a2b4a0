//! Whatever a document names as the source of a figure is there: commands, experiments and tests.
//!
//! A figure without its command cannot be checked, and a command that was renamed is as good as none.
//! Only what stands in backticks counts. `cargo lab X` is a file of `lab/src/cmd/`, and what follows
//! `count` and `grow` one of the experiments listed there, what follows `run` one of the experiments;
//! `cargo xtask X` is a line of its help; `lately X` is one of the
//! commands in `cli/src/args/mod.rs`, or a flag; `--test X` is a file of some `tests/`, and what follows it is one too,
//! `file::`, or part of a function's name; and a name of at least three words joined by underscores is a function of some Rust or Python file.

use std::fs;
use std::path::Path;

use anyhow::Result;

/// All that can be named.
pub struct Known {
    chores: String,
    lab: Vec<String>,
    /// Sources of the lab's experiments, which name them.
    experiments: String,
    /// The list of the command's commands.
    commands: String,
    /// Files of tests.
    tests: Vec<String>,
    /// All code, in which tests are found.
    code: String,
}

impl Known {
    /// What the workspace has.
    pub fn collect(chores: &str, code: String) -> Result<Self> {
        let text = |folder: &str| -> Result<String> {
            let mut texts = String::new();
            for entry in fs::read_dir(folder)? {
                texts.push_str(&fs::read_to_string(entry?.path())?);
            }
            Ok(texts)
        };
        Ok(Self {
            chores: chores.to_owned(),
            lab: stems("lab/src/cmd")?,
            experiments: text("lab/src/experiments")? + &text("lab/src/cmd")?,
            commands: fs::read_to_string("cli/src/args/mod.rs")?,
            tests: [stems("core/tests")?, stems("cli/tests")?, stems("papers/tests")?].concat(),
            code,
        })
    }

    /// What a document names and nobody has.
    pub fn faults_of(&self, name: &str, document: &str) -> Vec<String> {
        // Code blocks have languages of their own, and are run by others.
        let prose = document.split("```").step_by(2).collect::<Vec<_>>().join(" ");
        let missing = |quoted: &&str| !self.has(&quoted.split_whitespace().collect::<Vec<_>>());
        let quoted = prose.split('`').skip(1).step_by(2).collect::<Vec<_>>();
        let missing = quoted.iter().filter(|quoted| missing(quoted));
        missing.map(|quoted| format!("{name}: there is no `{quoted}`")).collect()
    }

    fn has(&self, words: &[&str]) -> bool {
        match words {
            ["cargo", "lab", "run", experiment, ..] => self.has_experiment(experiment),
            ["cargo", "lab", group @ ("count" | "grow"), which, ..] => {
                self.has_lab(group) && (is_flag(which) || self.has_experiment(which))
            }
            ["cargo", "lab", command, ..] => self.has_lab(command),
            ["cargo", "xtask", chore, ..] => {
                let listed = |line: &str| line.split_whitespace().next() == Some(chore);
                self.chores.lines().any(listed) || self.chores.contains(&format!("`{chore}`"))
            }
            ["lately", command, ..] | ["cargo", "lately", command, ..] => {
                is_flag(command) || !is_word(command) || has_variant(&self.commands, command)
            }
            ["cargo", "test", "-p", _, "--test", file, part, ..] => {
                self.has_tests(file) && (is_flag(part) || self.has_tests_of(part))
            }
            [name] if is_test_name(name) => {
                let defined = |keyword| self.code.contains(&format!("{keyword} {name}"));
                defined("fn") || defined("def") || self.code.contains(&format!("{name}:"))
            }
            _ => true,
        }
    }

    fn has_tests(&self, file: &str) -> bool {
        self.tests.iter().any(|known| known == file)
    }

    /// Those of a file, or those whose names have this part.
    fn has_tests_of(&self, part: &str) -> bool {
        let mut names = self.code.split("fn ").map(|rest| rest.split('(').next().unwrap_or(rest));
        part.strip_suffix("::")
            .map_or_else(|| names.any(|name| name.contains(part)), |file| self.has_tests(file))
    }

    fn has_lab(&self, command: &str) -> bool {
        self.lab.iter().any(|known| known == command)
    }

    /// By its name in the code, or as the variant that becomes a command.
    fn has_experiment(&self, name: &str) -> bool {
        let is_placeholder = name.chars().all(char::is_uppercase);
        let is_named = || self.experiments.contains(&format!("\"{name}\""));
        is_placeholder || is_named() || has_variant(&self.experiments, name)
    }
}

/// Whether some enumeration in this code has the variant that becomes a command of this name.
fn has_variant(code: &str, name: &str) -> bool {
    let capitalized = |word: &str| word[..1].to_uppercase() + &word[1..];
    let variant: String = name.split('-').filter(|it| !it.is_empty()).map(capitalized).collect();
    [",", "("].iter().any(|end| code.contains(&format!("    {variant}{end}")))
}

fn is_flag(word: &str) -> bool {
    word.starts_with('-')
}

fn is_word(word: &str) -> bool {
    word.chars().all(|letter| letter.is_ascii_lowercase())
}

fn is_test_name(name: &str) -> bool {
    let is_name =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    name.chars().all(is_name) && name.matches('_').count() >= 3 && !name.starts_with('_')
}

/// Names of the files of a folder, without their ends.
pub fn stems(folder: impl AsRef<Path>) -> Result<Vec<String>> {
    let mut stems = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        stems.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    Ok(stems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_noticed() {
        let known = Known {
            chores: "  test     everything\n  redis  (`valkey` likewise)".to_owned(),
            lab: vec!["count".to_owned(), "soak".to_owned()],
            experiments: "    StorageSpeed,\n    Rules(Options),\n name: \"sliding-speed\""
                .to_owned(),
            commands: "    Plan(Plan),\n".to_owned(),
            tests: vec!["all".to_owned(), "timed".to_owned()],
            code: "fn keys_that_left_are_gone() {}".to_owned(),
        };
        for there in [
            "`cargo lab soak sliding`",
            "`cargo lab count storage-speed`",
            "`cargo lab count rules --keys 5`",
            "`cargo lab run sliding-speed`",
            "`cargo\nlab run NAME`",
            "`cargo xtask test`",
            "`cargo xtask valkey`",
            "`lately plan --last 5`",
            "`lately --help`",
            "`keys_that_left_are_gone`",
            "`cargo test -p lately --test all timed:: -- --nocapture`",
            "`cargo test -p lately --test all left_are`",
            "`cargo test -p lately --test timed -- --nocapture`",
            "`some_field` and `lately::plan`",
            "```sh\ncargo lab nothing\n```",
        ] {
            assert_eq!(known.faults_of("page", there), [""; 0], "{there}");
        }
        for gone in [
            "`cargo lab nothing`",
            "`cargo lab count nothing`",
            "`cargo lab run nothing`",
            "`cargo xtask nothing`",
            "`lately nothing --last 5`",
            "`keys_that_stayed_are_there`",
            "`cargo test -p lately --test nothing -- --nocapture`",
            "`cargo test -p lately --test all nothing:: -- --nocapture`",
            "`cargo test -p lately --test all stayed_are`",
        ] {
            assert_eq!(known.faults_of("page", gone).len(), 1, "{gone}");
        }
    }
}
