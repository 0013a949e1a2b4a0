//! Mutants: the library with one small fault each. A test should fail for every one of them; what survives
//! shows where nothing is tested, unless the fault makes no difference.
//!
//! `cargo-mutants` plants them, in a copy of the tree. There are thousands, and for each the library and its
//! tests are built and run. So they come in random order, and the chore ends when the time does. All are tried with
//! the quick tests of their room, unoptimized: that takes seconds to build. What survives is tried again with all
//! tests but the longest. Those for which no test can fail are listed in [`REASONS`], each with the reason why.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::steps::succeed;
use crate::venv::target;

/// The version that is installed, since others plant other faults.
const VERSION: &str = "27.1.0";

/// What is known to survive: a mutant as it is printed, without line and column, and below it, indented,
/// why no test fails.
const REASONS: &str = "xtask/mutants.txt";

/// Where faults are planted unless told otherwise.
const ROOMS: [&str; 4] =
    ["core/src/dictionary", "core/src/growing", "core/src/codec", "core/src/plan"];

/// The programs of tests: those of the library.
const PROGRAMS: [&str; 3] = ["--lib", "--test", "all"];

/// The tests that find most faults, by what their names contain.
const QUICK: [&str; 9] = [
    "codec",
    "dictionary",
    "golden",
    "growing",
    "parameters",
    "plan",
    "sliding",
    "succinct",
    "told",
];

/// But not those that take seconds unoptimized.
const NOT_QUICK: [&str; 17] = [
    "--skip=a_stated_number",
    "--skip=a_union_remembers",
    "--skip=age_partitioned",
    "--skip=compact",
    "--skip=contracts::",
    "--skip=crowd",
    "--skip=forged",
    "--skip=growing_counts::",
    "--skip=hostile::",
    "--skip=laws::",
    "--skip=memory",
    "--skip=overflow_is_told",
    "--skip=remainders_that_differ",
    "--skip=right_number",
    "--skip=slices",
    "--skip=timed",
    "--skip=work_is_constant",
];

/// Of all tests, those that take nine tenths of their time.
const TOO_LONG: [&str; 7] = [
    "--skip=every_bit_forged",
    "--skip=laws::",
    "--skip=_memory::",
    "--skip=random_words_forged",
    "--skip=threads::",
    "--skip=window_counts::",
    "--skip=what_a_right_number_takes",
];

/// The part of the time after which what has survived is tried again.
const SECOND_LOOK: (u64, u64) = (2, 3);

/// What to plant, and for how long.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    minutes: u64,
    /// Files, or folders of them.
    paths: Vec<String>,
}

/// Plants faults and runs the tests. Fails if one survives that is not listed.
pub fn run(arguments: &[&str]) -> Result<()> {
    let Wanted { minutes, paths } = wanted(arguments, changed)?;
    if paths.is_empty() {
        println!("nothing of the library has changed");
        return Ok(());
    }
    let reasons = reasons(&fs::read_to_string(REASONS)?)?;
    let program = installed()?;
    let list = mutants(&program, &paths).arg("--list").output()?;
    ensure!(list.status.success(), "{}", String::from_utf8_lossy(&list.stderr));
    let all = String::from_utf8(list.stdout)?.lines().count();

    let minutes_of = |part: u64, of: u64| Duration::from_secs(60 * minutes * part / of);
    let start = Instant::now();
    let look = Look { name: "first", profile: "mutants-quick", tests: &[&QUICK, &NOT_QUICK] };
    let (first, ended) =
        look.run(&mut mutants(&program, &paths), start + minutes_of(SECOND_LOOK.0, SECOND_LOOK.1))?;
    // It also fails if a mutant survives; but then it has tried some.
    ensure!(
        first.tried() > 0 || ended.is_none_or(|succeeded| succeeded),
        "cargo-mutants tried none"
    );
    let (known, doubtful): (Vec<_>, Vec<_>) = first
        .missed
        .iter()
        .partition(|missed| reasons.iter().any(|reason| speaks_of(reason, missed)));
    let Outcome { caught, hung, unviable, .. } = &first;
    println!(
        "\n{} of {all} mutants tried, {} of which do not compile",
        first.tried(),
        unviable.len()
    );
    println!("caught by quick tests: {}, and {} by running too long", caught.len(), hung.len());
    let mut survived = Vec::new();
    if !doubtful.is_empty() {
        let look = Look { name: "second", profile: "mutants", tests: &[&TOO_LONG] };
        let again = &mut these(&program, &doubtful);
        let (second, _) = look.run(again, start + minutes_of(1, 1))?;
        let (caught, rest): (Vec<_>, Vec<_>) =
            doubtful.into_iter().partition(|one| second.is_caught(one));
        let unsure: Vec<_>;
        (survived, unsure) = rest.into_iter().partition(|one| second.missed.contains(one));
        println!("caught by others: {}, not tried with those: {}", caught.len(), unsure.len());
    }
    println!("survived: {}, for a reason: {}", survived.len(), known.len());
    if !survived.is_empty() {
        let survived: Vec<&str> = survived.into_iter().map(String::as_str).collect();
        bail!("no test fails, and {REASONS} has no reason why:\n{}", survived.join("\n"));
    }
    Ok(())
}

/// One time that mutants are tried.
struct Look<'a> {
    name: &'a str,
    profile: &'a str,
    /// What tests are told.
    tests: &'a [&'a [&'a str]],
}

/// What became of mutants.
struct Outcome {
    caught: Vec<String>,
    hung: Vec<String>,
    unviable: Vec<String>,
    missed: Vec<String>,
}

impl Outcome {
    fn tried(&self) -> usize {
        self.caught.len() + self.hung.len() + self.unviable.len() + self.missed.len()
    }

    fn is_caught(&self, mutant: &String) -> bool {
        self.caught.contains(mutant) || self.hung.contains(mutant)
    }
}

impl Look<'_> {
    /// Tries mutants until the time is over; whether that ended well, if it ended by itself.
    fn run(&self, command: &mut Command, deadline: Instant) -> Result<(Outcome, Option<bool>)> {
        let out = target().join("mutants").join(self.name);
        if out.exists() {
            fs::remove_dir_all(&out)?;
        }
        let copies = out.join("copies");
        fs::create_dir_all(&copies)?;
        command.args(["--shuffle", "--profile", self.profile, "--timeout-multiplier", "3"]);
        command.args(["--minimum-test-timeout", "60"]).arg("--output").arg(&out);
        command.arg("--").args(PROGRAMS).arg("--").args(self.tests.concat()).env("TMPDIR", copies);
        let ended = until(deadline, Duration::from_secs(20), &mut command.spawn()?)?;
        let outcome = |name: &str| lines(&out.join("mutants.out").join(format!("{name}.txt")));
        let (caught, hung) = (outcome("caught")?, outcome("timeout")?);
        let (unviable, missed) = (outcome("unviable")?, outcome("missed")?);
        Ok((Outcome { caught, hung, unviable, missed }, ended))
    }
}

fn wanted(arguments: &[&str], changed: impl Fn(&str) -> Result<Vec<String>>) -> Result<Wanted> {
    let mut wanted = Wanted { minutes: 30, paths: Vec::new() };
    let mut since = None;
    let mut rest = arguments.iter().peekable();
    while let Some(&argument) = rest.next() {
        match argument {
            "--minutes" => {
                let minutes = rest.next().context("--minutes needs a number")?;
                wanted.minutes = minutes.parse().context("minutes must be a number")?;
            }
            "--changed" => {
                let is_path = |next: &&str| next.starts_with("--") || Path::new(next).exists();
                since = Some(rest.next_if(|next| !is_path(next)).map_or("HEAD", |next| next));
            }
            path => {
                ensure!(Path::new(path).exists(), "there is no {path}");
                wanted.paths.push(path.trim_end_matches('/').to_owned());
            }
        }
    }
    match since {
        Some(since) => {
            let rooms = |file: &String| {
                wanted.paths.is_empty() || wanted.paths.iter().any(|path| is_in(file, path))
            };
            wanted.paths = changed(since)?.into_iter().filter(rooms).collect();
        }
        None if wanted.paths.is_empty() => wanted.paths = ROOMS.map(str::to_owned).into(),
        None => (),
    }
    Ok(wanted)
}

fn is_in(file: &str, path: &str) -> bool {
    Path::new(file).starts_with(path)
}

/// Files of the library that differ from a commit.
fn changed(since: &str) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["diff", "--name-only", "--diff-filter=d", since, "--", "core/src"]);
    let output = git.output().context("cannot start git")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
}

/// The program, which is installed if it is not there.
fn installed() -> Result<PathBuf> {
    let root = target().join("mutants").join(VERSION);
    let program = root.join("bin/cargo-mutants");
    if !program.exists() {
        let mut cargo = Command::new("cargo");
        cargo.args(["install", "--quiet", "--locked", "cargo-mutants", "--version", VERSION]);
        succeed(cargo.arg("--root").arg(&root))?;
    }
    Ok(program)
}

/// The mutants of these paths.
fn mutants(program: &Path, paths: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(["mutants", "--no-config", "--package", "lately"]);
    for path in paths {
        let end = if Path::new(path).is_dir() { "/**" } else { "" };
        command.args(["--file", &format!("{}{end}", in_any_room(path))]);
    }
    command
}

/// Just these mutants, as they were printed, and those of their files that no expression keeps out: fields that are
/// left away.
fn these(program: &Path, names: &[&String]) -> Command {
    let mut command = mutants(program, &[]);
    for name in names {
        let file = name.split(':').next().unwrap_or_default();
        command.args(["--file", &in_any_room(file)]);
        command.args(["--re", &format!("^{}$", literally(name))]);
    }
    command
}

/// A path as `cargo-mutants` knows it: there are dots in it where a room is declared.
fn in_any_room(path: &str) -> String {
    format!("**/{}", path.trim_start_matches("core/src/"))
}

/// An expression that only this text matches.
fn literally(text: &str) -> String {
    let special =
        |letter: &char| !letter.is_ascii_alphanumeric() && !" _/:,;=<>'\"%@#!".contains(*letter);
    text.chars()
        .flat_map(|letter| special(&letter).then_some('\\').into_iter().chain([letter]))
        .collect()
}

/// Waits until a process has ended, or ends it when its time is over: it then has some time to put its own
/// processes to an end. Whether it succeeded, if it ended by itself.
fn until(deadline: Instant, grace: Duration, process: &mut Child) -> Result<Option<bool>> {
    if let Some(success) = ended(deadline, process)? {
        return Ok(Some(success));
    }
    signal("INT", process)?;
    // Whoever was started where that is ignored, as behind a shell's `&`, does not hear it.
    if ended(Instant::now() + grace, process)?.is_none() {
        signal("TERM", process)?;
        process.wait()?;
    }
    Ok(None)
}

/// Whether a process succeeded that has ended until then.
fn ended(deadline: Instant, process: &mut Child) -> Result<Option<bool>> {
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(Some(status.success()));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(200));
    }
}

fn signal(name: &str, process: &Child) -> Result<()> {
    // The shell's own: a bare machine has no program of that name.
    let kill = format!("kill -{name} \"$0\"");
    succeed(Command::new("sh").args(["-c", &kill, &process.id().to_string()]))
}

fn lines(file: &Path) -> Result<Vec<String>> {
    let text = if file.exists() { fs::read_to_string(file)? } else { String::new() };
    Ok(text.lines().map(str::to_owned).collect())
}

/// The mutants that are listed with a reason.
fn reasons(text: &str) -> Result<Vec<String>> {
    let mut mutants: Vec<(String, bool)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("  "), mutants.last_mut()) {
            (None, _) => mutants.push((line.to_owned(), false)),
            (Some(_), Some((_, reason))) => *reason = true,
            (Some(reason), None) => bail!("{REASONS}: {reason:?} is a reason for nothing"),
        }
    }
    // Those that stand together have one reason.
    let last = mutants.last().is_none_or(|(_, reason)| *reason);
    ensure!(last, "{REASONS}: the last one has no reason");
    Ok(mutants.into_iter().map(|(mutant, _)| mutant).collect())
}

/// Whether a reason is one for a mutant, wherever that stands. Where three dots are in it, there may be anything: it
/// speaks of all such faults of a function.
fn speaks_of(reason: &str, mutant: &str) -> bool {
    let mutant = without_place(mutant);
    match reason.split_once("...") {
        Some((begin, end)) => mutant
            .strip_prefix(begin)
            .is_some_and(|rest| rest.len() >= end.len() && rest.ends_with(end)),
        None => reason == mutant,
    }
}

/// `core/src/a.rs:12:34: replace ...` without line and column, which every edit moves.
fn without_place(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    match (parts.next(), parts.nth(2)) {
        (Some(file), Some(change)) => format!("{file}:{change}"),
        _ => mutant.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_is_known_wherever_it_stands() {
        let listed =
            "# Why none.\n\ncore/src/a.rs: replace + with * in b::c\n  Added to nothing.\n";
        let reasons = reasons(listed).unwrap();
        let found = "core/src/a.rs:12:34: replace + with * in b::c";
        assert!(speaks_of(&reasons[0], found));
        assert!(!speaks_of(&reasons[0], "core/src/a.rs:12:34: replace + with - in b::c"));
        assert!(!speaks_of(&reasons[0], "core/src/b.rs:12:34: replace + with * in b::c"));
        let all = "core/src/a.rs: replace ... in b::c";
        assert!(
            speaks_of(all, found) && speaks_of(all, "core/src/a.rs:1:2: replace - with / in b::c")
        );
        assert!(!speaks_of(all, "core/src/a.rs:12:34: replace + with * in b::d"));
        assert!(!speaks_of(all, "core/src/a.rs:12:34: delete ! in b::c"));
    }

    #[test]
    fn a_mutant_needs_a_reason() {
        assert!(reasons("a\nb\n  Both are the same.\n").is_ok());
        assert!(reasons("a\n  The same.\nb\n").is_err());
        assert!(reasons("  The same.\na\n").is_err());
        assert_eq!(reasons("# None.\n").unwrap(), [""; 0]);
    }

    /// A reason for a function that is gone would excuse the next one of that name.
    #[test]
    fn reasons_speak_of_what_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let reasons = reasons(&fs::read_to_string(root.join(REASONS)).unwrap()).unwrap();
        assert!(reasons.len() > 100);
        for reason in reasons {
            let (file, change) = reason.split_once(": ").unwrap();
            let code = fs::read_to_string(root.join(file)).expect(file);
            // `... in Type::function`, or the whole of it: `replace Type::function -> Type with value`.
            let function = match change.rsplit_once(" in ") {
                Some((_, function)) => function,
                None => change["replace ".len()..].split(" -> ").next().unwrap(),
            };
            let function = function.split(" with ").next().unwrap();
            let function = function.rsplit("::").next().unwrap();
            assert!(code.contains(&format!("fn {function}")), "{reason}: no function {function:?}");
        }
    }

    #[test]
    fn names_are_taken_literally() {
        assert_eq!(
            literally("a.rs:1: replace + with * in <impl A for B>::c"),
            r"a\.rs:1: replace \+ with \* in <impl A for B>::c"
        );
        assert_eq!(literally("Ok((0, [1]))"), r"Ok\(\(0, \[1\]\)\)");
    }

    #[test]
    fn what_is_wanted() {
        let since = |since: &str| {
            let changed = ["src/main.rs", "src/mutants.rs"].map(str::to_owned).to_vec();
            Ok(if since == "HEAD" { changed } else { changed[..1].to_vec() })
        };
        let paths = |arguments: &[&str]| wanted(arguments, since).unwrap().paths;
        assert_eq!(paths(&[]), ROOMS);
        assert_eq!(paths(&["src/"]), ["src"]);
        assert_eq!(paths(&["--changed"]), ["src/main.rs", "src/mutants.rs"]);
        assert_eq!(paths(&["--changed", "main"]), ["src/main.rs"]);
        assert_eq!(paths(&["--changed", "src/mutants.rs"]), ["src/mutants.rs"]);
        assert_eq!(paths(&["--changed", "main", "src/mutants.rs"]), [""; 0]);
        assert_eq!(wanted(&["--minutes", "7"], since).unwrap().minutes, 7);
        assert!(wanted(&["--minutes"], since).is_err());
        assert!(wanted(&["no-such-file"], since).is_err());
    }

    #[test]
    fn a_process_ends_with_its_time() {
        let soon = || Instant::now() + Duration::from_millis(50);
        let late = || Instant::now() + Duration::from_secs(60);
        let sleep = |seconds: &str| Command::new("sleep").arg(seconds).spawn().unwrap();
        let grace = Duration::from_secs(1);
        assert_eq!(until(soon(), grace, &mut sleep("60")).unwrap(), None);
        assert_eq!(until(late(), grace, &mut sleep("0")).unwrap(), Some(true));
    }
}
