//! Commands as children of the lab: files for them to read, and what they take.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use testkit::random::SplitMix64;
use wait4::Wait4;

/// What a command took.
#[derive(Debug, Clone, Copy)]
pub struct Took {
    /// By the clock on the wall.
    pub seconds: f64,
    /// Of the processor, all threads together.
    pub cpu_seconds: f64,
    /// Memory at its peak.
    pub bytes: u64,
}

impl Took {
    /// Runs a command that reads a file as its input, to its end.
    ///
    /// The system counts the memory of whoever starts a program as its own peak, and the lab may have been large. So
    /// the lab starts itself anew, and that small one the command: [`Took::tell`].
    pub fn by(command: &Command, file: &Path, output: Stdio) -> Result<Self> {
        let program = command.get_program().display().to_string();
        let mut lab = Command::new(std::env::current_exe()?);
        lab.arg("child").arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            lab.env(name, value.unwrap_or_default());
        }
        let lab = lab.stdin(File::open(file)?).stdout(output).stderr(Stdio::piped());
        let ended = lab.spawn()?.wait_with_output()?;
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        ensure!(ended.status.success(), "{program} failed: {told}");
        let words: Vec<&str> = told.lines().last().unwrap_or("").split(' ').collect();
        let [seconds, cpu_seconds, bytes] = words[..] else { bail!("{program} told {told}") };
        Ok(Self {
            seconds: seconds.parse()?,
            cpu_seconds: cpu_seconds.parse()?,
            bytes: bytes.parse()?,
        })
    }

    /// Runs a command with the input and output of this process, and tells what it took; whether it ended well.
    pub fn tell(words: &[OsString]) -> Result<bool> {
        let [program, arguments @ ..] = words else { bail!("no command") };
        let begun = Instant::now();
        let child = Command::new(program).args(arguments).spawn();
        let ended = child.with_context(|| format!("cannot run {}", program.display()))?.wait4()?;
        let (seconds, used) = (begun.elapsed().as_secs_f64(), ended.rusage);
        let cpu_seconds = (used.utime + used.stime).as_secs_f64();
        eprintln!("{seconds} {cpu_seconds} {}", used.maxrss);
        Ok(ended.status.success())
    }
}

/// Half of the records repeat an earlier one, any of them with the same chance.
pub fn make(path: &Path, records: u64, text: impl Fn(u64, u64) -> String) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let unfinished = path.with_extension("tmp");
    let mut file = BufWriter::new(File::create(&unfinished)?);
    let mut random = SplitMix64::new(1);
    let mut fresh = 0;
    for _ in 0..records {
        let id = if fresh == 0 || random.below(2) == 0 {
            fresh += 1;
            fresh - 1
        } else {
            random.below(fresh)
        };
        file.write_all(text(id, SplitMix64::new(id).next_u64()).as_bytes())?;
    }
    file.flush()?;
    fs::rename(unfinished, path).context("cannot keep the file")
}

/// A line of 20 bytes.
pub fn line(id: u64, mixed: u64) -> String {
    format!("{mixed:016x}{:03x}\n", id % 4096)
}

/// A JSON document of about 150 bytes.
pub fn document(id: u64, mixed: u64) -> String {
    let (second, milli) = (id / 1000 % 60, id % 1000);
    let (user, age, product) = (mixed % 100_000, 20 + mixed % 50, (mixed >> 20) % 100_000);
    format!(
        "{{\"ts\":\"2024-05-01T12:00:{second:02}.{milli:03}Z\",\"id\":\"{mixed:016x}\",\
         \"user\":{{\"name\":\"user{user:05}\",\"age\":{age}}},\"event\":\"click\",\
         \"url\":\"/products/{product:05}\",\"ms\":{milli:05}}}\n"
    )
}
