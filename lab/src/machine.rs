//! The facts without which a measurement means nothing: machine, compiler, commit, date.

use std::process::Command;

use serde::{Deserialize, Serialize};

/// Where, with what and when something was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor.
    pub cpu: String,
    /// Its caches for data, from the nearest, as `32K, 1024K, 32768K`.
    #[serde(default)]
    pub caches: String,
    /// Processors that the process may use.
    pub cores: usize,
    /// What `rustc --version` says.
    pub compiler: String,
    /// Whether the lab was built without optimization; then its times mean nothing.
    pub debug_build: bool,
    /// The commit that was checked out.
    pub commit: String,
    /// Whether files differed from that commit.
    pub modified: bool,
    /// The day, in UTC, as `2031-12-31`.
    pub date: String,
}

impl Machine {
    /// This machine, now. What cannot be found out is "unknown".
    pub fn here() -> Self {
        let unknown = || "unknown".to_owned();
        Self {
            cpu: cpu_model(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
                .unwrap_or_else(unknown),
            caches: caches(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            compiler: output("rustc", &["--version"]).unwrap_or_else(unknown),
            debug_build: cfg!(debug_assertions),
            commit: output("git", &["rev-parse", "HEAD"]).unwrap_or_else(unknown),
            modified: output("git", &["status", "--porcelain"])
                .is_none_or(|files| !files.is_empty()),
            date: time::OffsetDateTime::now_utc().date().to_string(),
        }
    }
}

/// The first model name in the text of `/proc/cpuinfo`.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let (_, model) = line.split_once(':')?;
    Some(model.trim().to_owned())
}

/// The sizes of the caches of a processor that hold data.
fn caches() -> String {
    let read = |index: u32, what: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}");
        std::fs::read_to_string(path).map(|text| text.trim().to_owned())
    };
    let sizes = (0..8).filter(|&index| read(index, "type").is_ok_and(|kind| kind != "Instruction"));
    let sizes: Vec<String> = sizes.flat_map(|index| read(index, "size")).collect();
    if sizes.is_empty() { "unknown".to_owned() } else { sizes.join(", ") }
}

/// The same in bytes, from the nearest.
pub fn cache_bytes() -> Vec<u64> {
    let size = |text: &str| {
        let text = text.trim();
        let (number, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit())?);
        let unit = match unit {
            "K" => 1 << 10,
            "M" => 1 << 20,
            _ => return None,
        };
        Some(number.parse::<u64>().ok()? * unit)
    };
    caches().split(',').filter_map(size).collect()
}

/// What a command prints when run in the lab's directory; `None` if it fails.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let directory = env!("CARGO_MANIFEST_DIR");
    let output = Command::new(program).args(arguments).current_dir(directory).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_processor() {
        let text = "processor\t: 0\nmodel name\t: Abacus(R) 3000: fast\nmodel name\t: other\n";
        assert_eq!(cpu_model(text).as_deref(), Some("Abacus(R) 3000: fast"));
        assert_eq!(cpu_model(""), None);
    }

    #[test]
    fn the_date_is_one() {
        let date = Machine::here().date;
        let parts: Vec<&str> = date.split('-').collect();
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [4, 2, 2], "{date}");
    }
}
