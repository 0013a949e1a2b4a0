//! Records of figures: what was measured, where, with what and when; and what was finished of a run that
//! was interrupted.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::figure::{Drawn, Effort, Figure};
use crate::machine::Machine;

/// A figure as it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Its name.
    pub figure: String,
    /// What measures it again.
    pub command: String,
    /// The seed that its streams and hashes follow from.
    pub seed: u64,
    /// Whether the run was shortened.
    pub quick: bool,
    /// How long it took, in seconds.
    pub seconds: u64,
    /// Programs that wanted to run when it began, this one not counted; times of a busy machine say little.
    pub load: f64,
    /// Where, with what and when.
    pub machine: Machine,
    /// What came out.
    pub drawn: Drawn,
}

/// The seed of all figures; some derive others from it.
pub const SEED: u64 = 1;

impl Kept {
    /// Measures a figure.
    pub fn measured(figure: &Figure, effort: Effort) -> Result<Self> {
        let load = load();
        let machine = Machine::here();
        let start = std::time::Instant::now();
        let drawn = (figure.measure)(effort).with_context(|| figure.name.to_owned())?;
        let quick = effort == Effort::Quick;
        let short = if quick { " --quick" } else { "" };
        Ok(Self {
            figure: figure.name.to_owned(),
            command: format!("cargo lab report --only {}{short}", figure.name),
            seed: SEED,
            quick,
            seconds: start.elapsed().as_secs(),
            load,
            machine,
            drawn,
        })
    }

    /// The record of this name in a folder.
    pub fn read(folder: &Path, name: &str) -> Result<Self> {
        let path = path(folder, name);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Keeps it in a folder, and never leaves half a file behind.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = path(folder, &self.figure);
        let unfinished = path.with_extension("unfinished");
        fs::create_dir_all(folder)?;
        fs::write(&unfinished, lines(&serde_json::to_value(self)?))?;
        Ok(fs::rename(unfinished, path)?)
    }
}

fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json"))
}

/// JSON with one line for each point and row, which a review can read.
fn lines(record: &serde_json::Value) -> String {
    fn write(value: &serde_json::Value, indent: usize, text: &mut String) {
        use serde_json::Value::{Array, Object};
        let is_leaf = |value: &serde_json::Value| match value {
            Object(map) => map.values().all(|value| !value.is_object() && !value.is_array()),
            Array(list) => list.iter().all(|value| !value.is_object() && !value.is_array()),
            _ => true,
        };
        let pad = "  ".repeat(indent + 1);
        let end = "  ".repeat(indent);
        match value {
            Object(map) if indent == 0 || !is_leaf(value) => {
                let fields: Vec<String> = map
                    .iter()
                    .map(|(name, value)| {
                        let mut field =
                            format!("{pad}{}: ", serde_json::Value::from(name.as_str()));
                        write(value, indent + 1, &mut field);
                        field
                    })
                    .collect();
                *text += &format!("{{\n{}\n{end}}}", fields.join(",\n"));
            }
            Array(list) if !is_leaf(value) => {
                let items: Vec<String> = list
                    .iter()
                    .map(|value| {
                        let mut item = pad.clone();
                        write(value, indent + 1, &mut item);
                        item
                    })
                    .collect();
                *text += &format!("[\n{}\n{end}]", items.join(",\n"));
            }
            _ => *text += &value.to_string(),
        }
    }
    let mut text = String::new();
    write(record, 0, &mut text);
    text + "\n"
}

/// Programs that wanted to run during the last minute, without this one.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    ((load - 1.0).max(0.0) * 10.0).round() / 10.0
}

/// What was finished of a run, so that it goes on where it stopped.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Which run: another program, or another effort, begins anew.
    run: String,
    /// Figures that are done.
    done: Vec<String>,
}

impl Progress {
    /// What an earlier run left, or nothing.
    pub fn resume(folder: &Path, effort: Effort) -> Self {
        let run = format!("{effort:?} {}", program());
        let text = fs::read_to_string(folder.join(PROGRESS)).unwrap_or_default();
        let earlier: Self = serde_json::from_str(&text).unwrap_or_default();
        if earlier.run == run { earlier } else { Self { run, done: Vec::new() } }
    }

    /// Whether a figure was finished.
    pub fn has(&self, figure: &str) -> bool {
        self.done.iter().any(|done| done == figure)
    }

    /// One more is finished.
    pub fn finished(&mut self, figure: &str, folder: &Path) -> Result<()> {
        self.done.push(figure.to_owned());
        fs::create_dir_all(folder)?;
        Ok(fs::write(folder.join(PROGRESS), serde_json::to_string(self)?)?)
    }

    /// All of these are: who asks for them again has them measured again.
    pub fn ended(&mut self, figures: &[&Figure], folder: &Path) -> Result<()> {
        self.done.retain(|done| !figures.iter().any(|figure| figure.name == done));
        Ok(fs::write(folder.join(PROGRESS), serde_json::to_string(self)?)?)
    }

    /// The next run begins anew.
    pub fn clear(folder: &Path) {
        let _ = fs::remove_file(folder.join(PROGRESS));
    }
}

const PROGRESS: &str = "progress.json";

/// This very program: one that was built again may measure something else.
fn program() -> String {
    let about = std::env::current_exe().and_then(fs::metadata);
    about.map_or_else(
        |_| "unknown".to_owned(),
        |about| format!("{} {:?}", about.len(), about.modified()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_where_it_stopped_and_another_one_does_not() {
        let folder =
            std::env::temp_dir().join(format!("lately-lab-progress-{}", std::process::id()));
        let mut first = Progress::resume(&folder, Effort::Quick);
        first.finished("one", &folder).unwrap();
        let again = Progress::resume(&folder, Effort::Quick);
        assert!(again.has("one") && !again.has("two"));
        assert!(!Progress::resume(&folder, Effort::Full).has("one"));
        Progress::clear(&folder);
        assert!(!Progress::resume(&folder, Effort::Quick).has("one"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn records_have_a_line_for_every_point() {
        let record = serde_json::json!({"a": 1, "list": [{"x": 1.5}, {"x": 2}], "row": ["b", "c"]});
        let text = lines(&record);
        assert_eq!(text.lines().count(), 8, "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), record);
    }
}
