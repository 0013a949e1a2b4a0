//! Mutants: the library with one small fault each. A test should fail for every one of them; what survives
//! shows where nothing is tested, unless the fault makes no difference.
//!
//! `cargo-mutants` plants them, in a copy of the tree. There are thousands, and for each the library and its
//! tests are built and run. So they come in random order, and the chore ends when the time does. Those for
//! which no test can fail are listed in [`REASONS`], each with the reason why.

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

/// The tests: those of the library.
const TESTS: [&str; 4] = ["--lib", "--test", "all", "--"];

/// But not those that take nine tenths of their time.
const TOO_LONG: [&str; 10] = [
    "--skip=contracts::",
    "--skip=elastic::",
    "--skip=every_bit_forged",
    "--skip=growing_counts::",
    "--skip=laws::",
    "--skip=_memory::",
    "--skip=random_words_forged",
    "--skip=threads::",
    "--skip=window_counts::",
    "--skip=what_a_right_number_takes",
];

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

    let out = target().join("mutants");
    let found = out.join("mutants.out");
    if found.exists() {
        fs::remove_dir_all(&found)?;
    }
    let copies = out.join("copies");
    fs::create_dir_all(&copies)?;
    let mut command = mutants(&program, &paths);
    command.args(["--shuffle", "--profile", "mutants", "--timeout-multiplier", "3"]);
    command.args(["--minimum-test-timeout", "60"]).arg("--output").arg(&out);
    command.arg("--").args(TESTS).args(TOO_LONG).env("TMPDIR", copies);
    let deadline = Instant::now() + Duration::from_secs(60 * minutes);
    let ended = until(deadline, Duration::from_secs(20), &mut command.spawn()?)?;

    let outcome = |name: &str| lines(&found.join(format!("{name}.txt")));
    let (caught, hung) = (outcome("caught")?.len(), outcome("timeout")?.len());
    let (missed, unviable) = (outcome("missed")?, outcome("unviable")?.len());
    let tried = caught + hung + missed.len() + unviable;
    // It also fails if a mutant survives; but then it has tried some.
    ensure!(tried > 0 || ended.is_none_or(|succeeded| succeeded), "cargo-mutants tried none");
    let (known, new): (Vec<_>, Vec<_>) =
        missed.iter().partition(|missed| reasons.contains(&without_place(missed)));
    println!("\n{tried} of {all} mutants tried, {unviable} of which do not compile");
    println!("caught: {caught}, and {hung} by running too long");
    println!("survived: {}, for a reason: {}", new.len(), known.len());
    if !new.is_empty() {
        let new: Vec<&str> = new.into_iter().map(String::as_str).collect();
        bail!("no test fails, and {REASONS} has no reason why:\n{}", new.join("\n"));
    }
    Ok(())
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
        // By the names that are shown: those of files have dots in them where a room is declared.
        let end = if Path::new(path).is_dir() { '/' } else { ':' };
        command.args(["--re", &format!("^{}{end}", path.replace('.', r"\."))]);
    }
    command
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
        assert!(reasons.contains(&without_place(found)));
        assert!(!reasons.contains(&without_place("core/src/a.rs:12:34: replace + with - in b::c")));
        assert!(!reasons.contains(&without_place("core/src/b.rs:12:34: replace + with * in b::c")));
    }

    #[test]
    fn a_mutant_needs_a_reason() {
        assert!(reasons("a\nb\n  Both are the same.\n").is_ok());
        assert!(reasons("a\n  The same.\nb\n").is_err());
        assert!(reasons("  The same.\na\n").is_err());
        assert_eq!(reasons("# None.\n").unwrap(), [""; 0]);
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
