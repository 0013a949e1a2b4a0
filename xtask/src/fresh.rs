//! The commands of the README where nothing is installed: in a bare Debian that has the Rust
//! toolchain and no more, as root and as somebody who may install nothing.
//!
//! The machine of a developer has what was installed by hand long ago, so a step that forgets to
//! install something passes there. A bare root is a Debian as `debootstrap` makes it, unpacked anew
//! for each visitor, with a clean clone, an empty home, and processes and mounts of its own. What
//! comes in from outside is the toolchain, and what package clients need to reach their registries:
//! name resolution, certificates, their configuration.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use wait4::Wait4;

use crate::packages;
use crate::steps::succeed;

/// Where bare roots are made.
const FOLDER: &str = "target/fresh";

/// The clone, inside the root.
const CLONE: &str = "/srv/lately";

/// The toolchain, inside the root.
const TOOLCHAIN: &str = "/opt/rust";

/// Files from outside that decide whether package clients reach anything.
const CLIENTS: [&str; 8] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/ssl/certs/ca-certificates.crt",
    // Whoever installs certificates makes the bundle anew, from these too.
    "/usr/local/share/ca-certificates",
    "/etc/pip.conf",
    "/etc/apt/sources.list",
    "/etc/apt/sources.list.d",
    "/etc/apt/auth.conf.d",
];

/// Somebody who comes to the project for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visitor {
    /// May install what is missing.
    Root,
    /// May not. The compiler is there, by whoever administers the machine.
    Ordinary,
}

impl Visitor {
    fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Ordinary => "ordinary",
        }
    }

    fn home(self) -> &'static str {
        match self {
            Self::Root => "/root",
            Self::Ordinary => "/home/ordinary",
        }
    }

    /// User and group, as `chroot` and `chown` take them.
    fn ids(self) -> &'static str {
        match self {
            Self::Root => "0:0",
            Self::Ordinary => "1000:1000",
        }
    }
}

/// Both commands for both visitors, or for the one that is named.
pub fn run(only: Option<&str>) -> Result<()> {
    let both = [Visitor::Ordinary, Visitor::Root];
    let visitors: Vec<_> =
        both.into_iter().filter(|visitor| only.is_none_or(|name| name == visitor.name())).collect();
    ensure!(!visitors.is_empty(), "the visitors are called root and ordinary");
    ensure!(packages::is_root(), "only root can make and enter a bare root: run this as root");
    packages::require(packages::FOR_BARE_ROOTS)?;
    let commands = Commands::of(&fs::read_to_string("README.md")?)?;
    let bare = bare_debian()?;
    let mut report = Vec::new();
    for visitor in visitors {
        let root = Root::unpack(&bare, visitor)?;
        report.push(root.receive(&commands).with_context(|| format!("as {}", visitor.name()))?);
    }
    println!("\n{}", report.join("\n"));
    Ok(())
}

/// What the README tells a newcomer to type.
#[derive(Debug, PartialEq)]
struct Commands {
    /// Installs the compiler; as root.
    compiler: String,
    /// Does the main job.
    main: String,
    /// Passes the tests.
    test: String,
}

impl Commands {
    /// The commands in the README's section of that name, word for word.
    fn of(readme: &str) -> Result<Self> {
        let section = readme.split("\n## ").find(|section| section.starts_with("Two commands"));
        let section = section.context("the README has no section \"Two commands\"")?;
        let shell = section.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
        let lines = shell.flat_map(str::lines).map(str::trim);
        let commands: Vec<_> =
            lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        let [compiler, main, test] = commands[..] else {
            bail!("the README's section has {} commands, not three", commands.len());
        };
        Ok(Self { compiler: compiler.into(), main: main.into(), test: test.into() })
    }
}

/// A bare Debian as an archive: made once, unpacked often.
fn bare_debian() -> Result<PathBuf> {
    let archive = std::path::absolute(FOLDER)?.join("debian.tar");
    if archive.exists() {
        return Ok(archive);
    }
    let making = archive.with_file_name("making");
    fs::create_dir_all(FOLDER)?;
    remove(&making)?;
    succeed(Command::new("debootstrap").args(["--variant=minbase", "bookworm"]).arg(&making))?;
    let unfinished = archive.with_extension("unfinished");
    succeed(Command::new("tar").arg("-C").arg(&making).arg("-cf").arg(&unfinished).arg("."))?;
    remove(&making)?;
    fs::rename(unfinished, &archive)?;
    Ok(archive)
}

/// A bare root with a clean clone in it.
struct Root {
    path: PathBuf,
    visitor: Visitor,
}

impl Root {
    fn unpack(bare: &Path, visitor: Visitor) -> Result<Self> {
        let root = Self { path: bare.with_file_name(visitor.name()), visitor };
        remove(&root.path)?;
        fs::create_dir_all(&root.path)?;
        succeed(Command::new("tar").arg("-C").arg(&root.path).arg("-xf").arg(bare))?;
        // What debootstrap wrote would be asked twice.
        if Path::new("/etc/apt").exists() {
            remove(&root.inside("/etc/apt/sources.list"))?;
        }
        for file in CLIENTS.iter().filter(|file| Path::new(file).exists()) {
            let inside = root.inside(file);
            remove(&inside)?;
            fs::create_dir_all(inside.parent().context("a file is in a folder")?)?;
            succeed(Command::new("cp").args(["-rL", file]).arg(inside))?;
        }
        for folder in [TOOLCHAIN, visitor.home()] {
            fs::create_dir_all(root.inside(folder))?;
        }
        let clone = root.inside(CLONE);
        succeed(Command::new("git").args(["clone", "--quiet", "--no-hardlinks", "."]).arg(&clone))?;
        let mut own = Command::new("chown");
        succeed(own.args(["-R", visitor.ids()]).arg(&clone).arg(root.inside(visitor.home())))?;
        Ok(root)
    }

    /// Runs the commands and says how it went in one line; an error unless it went as it should.
    fn receive(&self, commands: &Commands) -> Result<String> {
        let compiler = self.enter(Visitor::Root, &commands.compiler)?;
        ensure!(
            compiler.status.success(),
            "{:?} ended with {}",
            commands.compiler,
            compiler.status
        );
        let main = self.enter(self.visitor, &commands.main)?;
        ensure!(main.status.success(), "{:?} ended with {}", commands.main, main.status);
        ensure!(!main.output.is_empty(), "{:?} printed nothing", commands.main);
        let test = self.enter(self.visitor, &commands.test)?;
        match self.visitor {
            Visitor::Root => {
                ensure!(test.status.success(), "{:?} ended with {}", commands.test, test.status);
            }
            Visitor::Ordinary => check_partial(&test)?,
        }
        let seconds = |time: Duration| time.as_secs_f64().round();
        Ok(format!(
            "as {}: first output after {} s ({} s of processors); tests in {} s: {}",
            self.visitor.name(),
            seconds(main.first_output),
            seconds(main.cpu),
            seconds(test.wall),
            summary(&test.output)
        ))
    }

    /// Runs a command inside, from the clone.
    fn enter(&self, visitor: Visitor, command: &str) -> Result<Run> {
        eprintln!("== as {} in a bare root: {command}", visitor.name());
        let toolchain = toolchain()?;
        // Mounts and processes end with the namespaces.
        let script = "mount --make-rprivate / \
            && mount --rbind /dev \"$1/dev\" && mount -t proc proc \"$1/proc\" \
            && mount --bind -o ro \"$2\" \"$1$3\" && exec chroot --userspec=\"$4\" \"$1\" \
            sh -c 'cd \"$0\" && exec sh -c \"$1\"' \"$5\" \"$6\"";
        let mut outside = Command::new("unshare");
        outside.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh"]);
        outside.arg(&self.path).arg(toolchain).args([TOOLCHAIN, visitor.ids(), CLONE, command]);
        outside.env_clear().envs(std::env::vars().filter(|(name, _)| is_for_clients(name)));
        outside.env("HOME", visitor.home()).env("LANG", "C.UTF-8");
        outside.env("PATH", format!("{TOOLCHAIN}/bin:/usr/sbin:/usr/bin:/sbin:/bin"));
        Run::of(outside.stdin(Stdio::null()))
    }

    fn inside(&self, path: &str) -> PathBuf {
        self.path.join(path.trim_start_matches('/'))
    }
}

/// How a command went.
struct Run {
    status: ExitStatus,
    output: String,
    first_output: Duration,
    wall: Duration,
    cpu: Duration,
}

impl Run {
    fn of(command: &mut Command) -> Result<Self> {
        let start = Instant::now();
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start unshare")?;
        let mut stdout = child.stdout.take().context("it has an output")?;
        let mut output = Vec::new();
        let mut first_output = None;
        let mut piece = [0; 1 << 16];
        loop {
            let length = stdout.read(&mut piece)?;
            if length == 0 {
                break;
            }
            first_output.get_or_insert_with(|| start.elapsed());
            output.extend_from_slice(&piece[..length]);
        }
        let end = child.wait4()?;
        let wall = start.elapsed();
        Ok(Self {
            status: end.status,
            output: String::from_utf8_lossy(&output).into_owned(),
            first_output: first_output.unwrap_or(wall),
            wall,
            cpu: end.rusage.utime + end.rusage.stime,
        })
    }
}

/// Whoever may install nothing is told what is missing for which step, and all other steps pass.
fn check_partial(test: &Run) -> Result<()> {
    let failed: Vec<_> = test.output.lines().filter(|line| line.starts_with("FAILED")).collect();
    ensure!(!failed.is_empty(), "nothing is installed, and no step failed:\n{}", test.output);
    let other: Vec<_> = failed.iter().filter(|line| !line.contains(": needs ")).collect();
    ensure!(other.is_empty(), "steps failed that need no package: {other:?}");
    ensure!(!test.status.success(), "a step failed, and the command ended as if none had");
    Ok(())
}

/// The last line of the report, and what failed.
fn summary(output: &str) -> String {
    let is_result = |line: &&str| line.contains(" passed, ") && line.ends_with(" failed");
    let is_failure = |line: &&str| line.starts_with("FAILED");
    let result = output.lines().rev().find(is_result).into_iter();
    result.chain(output.lines().filter(is_failure)).collect::<Vec<_>>().join("; ")
}

/// Variables that say how package clients reach their registries.
fn is_for_clients(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("_proxy") || name.contains("cert") || name.ends_with("ca_bundle")
}

fn toolchain() -> Result<PathBuf> {
    let rustc = Command::new("rustc").args(["--print", "sysroot"]).output()?;
    Ok(PathBuf::from(String::from_utf8(rustc.stdout)?.trim()))
}

fn remove(path: &Path) -> Result<()> {
    succeed(Command::new("rm").args(["-rf", "--one-file-system"]).arg(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_its_commands() {
        let readme = include_str!("../../README.md");
        let commands = Commands::of(readme).unwrap();
        assert!(commands.compiler.contains("gcc"), "{commands:?}");
        assert!(commands.main.starts_with("cargo lately"), "{commands:?}");
        assert_eq!(commands.test, "cargo xtask test");
    }

    #[test]
    fn only_steps_without_packages_may_fail_for_an_ordinary_visitor() {
        let run = |output: &str, code| Run {
            status: Command::new("sh").args(["-c", &format!("exit {code}")]).status().unwrap(),
            output: output.into(),
            first_output: Duration::ZERO,
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
        };
        check_partial(&run("ok  tests\nFAILED  module: needs redis-server\n", 1)).unwrap();
        assert!(check_partial(&run("FAILED  module: needs redis-server\n", 0)).is_err());
        assert!(check_partial(&run("FAILED  tests: cargo ended with 101\n", 1)).is_err());
        assert!(check_partial(&run("ok  tests\n", 0)).is_err());
    }
}
