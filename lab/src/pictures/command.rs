//! The command beside others that drop repeated lines: those that are installed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use lately::{Hashing, Seed};

use super::figure::{Drawn, Effort, Sheet};
use crate::children::{Took, line, make};

/// A command that prints every line of its input once.
struct Rival {
    /// In the table.
    name: &'static str,
    /// What is looked for on the path, unless a variable of the environment says where it is.
    program: &'static str,
    variable: &'static str,
    /// What it is told, of a file that it reads itself if it cannot read its input.
    arguments: fn(&str) -> Vec<String>,
    /// The share of the lines that it may lose.
    loses: f64,
}

/// A line in a billion, and one in a thousand. The rest confuse nothing, or but equal hashes of 64 bits.
const RIVALS: [Rival; 8] = [
    Rival {
        name: "`lately dedup --ever`",
        loses: 1e-9,
        arguments: |_| words("dedup --ever"),
        ..LATELY
    },
    Rival {
        name: "`lately dedup --ever --error 0.1%`",
        loses: 1e-3,
        arguments: |_| words("dedup --ever --error 0.1%"),
        ..LATELY
    },
    Rival { name: "huniq", program: "huniq", variable: "LAB_HUNIQ", ..EXACT },
    Rival { name: "runiq", program: "runiq", variable: "LAB_RUNIQ", ..EXACT },
    Rival { name: "xuniq", program: "xuniq", variable: "LAB_XUNIQ", ..EXACT },
    Rival {
        name: "`awk '!seen[$0]++'`",
        program: "awk",
        variable: "LAB_AWK",
        arguments: |_| vec!["!seen[$0]++".to_owned()],
        ..EXACT
    },
    Rival {
        name: "`sort -u`",
        program: "sort",
        variable: "LAB_SORT",
        arguments: |_| words("-u"),
        ..EXACT
    },
    Rival {
        name: "duckdb",
        program: "duckdb",
        variable: "LAB_DUCKDB",
        arguments: |file| vec!["-c".to_owned(), duckdb(file)],
        ..EXACT
    },
];

const EXACT: Rival =
    Rival { name: "", program: "", variable: "", arguments: |_| Vec::new(), loses: 0.0 };

const LATELY: Rival = Rival { program: "lately", variable: "LAB_LATELY", ..EXACT };

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// One column, whatever is in it.
fn duckdb(file: &str) -> String {
    let read = format!(
        "read_csv('{file}', header = false, auto_detect = false, columns = {{'line': 'VARCHAR'}})"
    );
    format!("COPY (SELECT DISTINCT line FROM {read}) TO '/dev/stdout' (FORMAT csv, HEADER false)")
}

/// CPU time and peak memory of everybody who is installed, on the same lines.
pub fn command(effort: Effort) -> Result<Drawn> {
    let lines = effort.pick(1_000_000, 10_000_000);
    let folder = built()?.join("lab/lines");
    fs::create_dir_all(&folder)?;
    let file = folder.join(lines.to_string());
    make(&file, lines, line)?;
    let truth = Printed::once(&file)?;
    let mut installed = Vec::new();
    let mut missing = Vec::new();
    for rival in &RIVALS {
        match rival.find()? {
            Some(path) => installed.push((rival, path, Vec::new())),
            None => missing.push(rival.name),
        }
    }
    let output = folder.join("printed");
    for (rival, path, _) in &installed {
        // What is printed is looked at once, and timed without.
        rival.run(path, &file, File::create(&output)?.into())?;
        let printed = Printed::all(&output)?;
        let most = rival.loses * truth.lines as f64;
        let lost = truth.lines as i64 - printed.lines as i64;
        ensure!(
            printed == truth || (1..=most.ceil() as i64).contains(&lost),
            "{} prints {} lines, and {} are different",
            rival.name,
            printed.lines,
            truth.lines
        );
    }
    fs::remove_file(output)?;
    for _ in 0..effort.pick(2, 5) {
        for (rival, path, took) in &mut installed {
            took.push(rival.run(path, &file, Stdio::null())?);
        }
    }
    let mut sheet =
        Sheet::new(&["command", "CPU seconds", "peak memory", "bytes per different line"]);
    for (rival, _, took) in &installed {
        let seconds = took.iter().map(|took| took.cpu_seconds).fold(f64::INFINITY, f64::min);
        let bytes = took.iter().map(|took| took.bytes).max().unwrap_or(0);
        sheet.row([
            rival.name.to_owned(),
            format!("{seconds:.2}"),
            format!("{:.1} MB", bytes as f64 / 1e6),
            format!("{:.1}", bytes as f64 / truth.lines as f64),
        ]);
    }
    let mut found = vec![format!(
        "{lines} lines, {} of them different; the least CPU time of all rounds, the most memory.",
        truth.lines
    )];
    if !missing.is_empty() {
        found.push(format!("Not found on this machine: {}.", missing.join(", ")));
    }
    Ok(Drawn { sheets: vec![sheet], found, ..Drawn::default() })
}

/// Where programs are built.
fn built() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    Ok(program.parent().context("the program lies in no directory")?.to_owned())
}

impl Rival {
    /// Where it is: as its variable says, or on the path; our own also where it is built.
    fn find(&self) -> Result<Option<PathBuf>> {
        if let Some(named) = std::env::var_os(self.variable) {
            let named = PathBuf::from(named);
            ensure!(named.is_file(), "{} is {}: no file", self.variable, named.display());
            return Ok(Some(named));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        if self.program == LATELY.program {
            let profiles = built()?;
            folders = vec![profiles.with_file_name("command"), profiles];
        }
        let files = folders.into_iter().map(|folder| folder.join(self.program));
        Ok(files.into_iter().find(|file| file.is_file()))
    }

    fn run(&self, path: &Path, file: &Path, output: Stdio) -> Result<Took> {
        let arguments = (self.arguments)(&file.display().to_string());
        // Bytes are bytes: in other languages they would be slower.
        Took::by(Command::new(path).args(arguments).env("LC_ALL", "C"), file, output)
    }
}

/// Lines in any order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Printed {
    lines: u64,
    /// Of the hashes of all.
    sum: u64,
}

impl Printed {
    /// All lines of a file.
    fn all(file: &Path) -> Result<Self> {
        Self::of(file, |_| true)
    }

    /// All different ones.
    fn once(file: &Path) -> Result<Self> {
        let mut seen = HashSet::new();
        Self::of(file, |hash| seen.insert(hash))
    }

    fn of(file: &Path, mut counts: impl FnMut(u64) -> bool) -> Result<Self> {
        let mut printed = Self::default();
        for line in BufReader::new(File::open(file)?).split(b'\n') {
            let hash = Hashing::Fast(Seed(1)).hash(&line?);
            if counts(hash) {
                printed.lines += 1;
                printed.sum = printed.sum.wrapping_add(hash);
            }
        }
        Ok(printed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_whatever_their_order() {
        let folder = std::env::temp_dir().join(format!("lately-lab-lines-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let written = |name: &str, text: &str| {
            let file = folder.join(name);
            fs::write(&file, text).unwrap();
            file
        };
        let truth = Printed::once(&written("read", "a\nb\na\nc\n")).unwrap();
        let printed = |text: &str| Printed::all(&written("printed", text)).unwrap();
        assert_eq!(printed("c\na\nb\n"), truth);
        for wrong in ["c\na\n", "c\na\na\n", "c\na\nb\nb\n", "a\nb\nd\n"] {
            assert_ne!(printed(wrong), truth, "{wrong:?}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    /// Somebody who is not there is said to be missing; a variable that names no file is a mistake.
    #[test]
    fn who_is_not_there_is_missing() {
        let nobody = Rival { program: "nobody-has-this", variable: "LAB_NOBODY", ..EXACT };
        assert_eq!(nobody.find().unwrap(), None);
        let wrong = Rival { program: "sort", variable: "PATH", ..EXACT };
        assert!(wrong.find().is_err());
    }
}
