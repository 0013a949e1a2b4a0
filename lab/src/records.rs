//! Whatever is kept can be had again: every record names a command that exists, and every picture of the
//! report is what its record draws.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::experiments;
use crate::pictures::draw::draw;
use crate::pictures::keep::Kept;
use crate::pictures::{CHAPTERS, figures, page};

/// Where records, pictures and the page of the report are.
pub struct Places {
    /// All records.
    pub records: PathBuf,
    /// Those of the report, one file for each figure.
    pub report: PathBuf,
    /// One file for each picture.
    pub pictures: PathBuf,
    /// The report.
    pub page: PathBuf,
}

impl Places {
    /// In the repository.
    pub fn kept() -> Self {
        let lab = Path::new(env!("CARGO_MANIFEST_DIR"));
        let docs = lab.join("../docs");
        let records = lab.join("records");
        let report = records.join("report");
        Self { records, report, pictures: docs.join("report"), page: docs.join("report.md") }
    }

    /// Beside the program, where cleaning the build removes them.
    pub fn scratch() -> Result<Self> {
        let program = std::env::current_exe()?;
        let folder = program.parent().context("the program lies in no directory")?;
        Ok(Self::below(&folder.join("lab/report")))
    }

    fn below(folder: &Path) -> Self {
        let records = folder.join("records");
        let report = records.join("report");
        Self { records, report, pictures: folder.join("report"), page: folder.join("report.md") }
    }
}

/// The command that makes a record, by its path below the records; `None` if there is none.
fn command_of(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    if path.extension()? != "json" {
        return None;
    }
    match path.parent()?.to_str()? {
        "report" => {
            let figure = figures().find(|figure| figure.name == name)?;
            Some(format!("cargo lab report --only {}", figure.name))
        }
        "" => {
            // Day and name, as `2031-12-31-window-speed`.
            let experiment = name.splitn(4, '-').nth(3)?;
            experiments::named(experiment).ok()?;
            Some(format!("cargo lab run {experiment} --record"))
        }
        _ => None,
    }
}

/// Everything that is kept and that no command makes, or that is not what its record draws.
pub fn faults(places: &Places) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for path in files(&places.records)? {
        let below = path.strip_prefix(&places.records)?;
        if command_of(below).is_none() {
            faults.push(format!("{}: no command makes it", below.display()));
        }
    }
    for figure in figures() {
        let Ok(kept) = Kept::read(&places.report, figure.name) else {
            faults.push(format!("{}: is not kept; `cargo lab report` measures it", figure.name));
            continue;
        };
        if kept.drawn.panels.is_empty() {
            continue;
        }
        let picture = fs::read_to_string(places.pictures.join(format!("{}.svg", figure.name)));
        if picture.ok() != Some(draw(figure.title, &kept.drawn.panels)?) {
            faults.push(format!(
                "{}: the picture is not that of its record; `cargo lab report --redraw` draws it",
                figure.name
            ));
        }
    }
    let report = page(CHAPTERS, |figure| Kept::read(&places.report, figure.name).ok());
    if fs::read_to_string(&places.page).ok() != Some(report) {
        faults.push("docs/report.md: is not what the records say".to_owned());
    }
    Ok(faults)
}

/// All files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() { files.extend(self::files(&path)?) } else { files.push(path) }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_a_command() {
        let command = |path: &str| command_of(Path::new(path));
        let report = command("report/ours-day.json");
        assert_eq!(report.as_deref(), Some("cargo lab report --only ours-day"));
        let run = command("2031-12-31-window-speed.json");
        assert_eq!(run.as_deref(), Some("cargo lab run window-speed --record"));
        for orphan in
            ["report/nothing.json", "2031-12-31-nothing.json", "notes.csv", "x/ours-day.json"]
        {
            assert_eq!(command(orphan), None, "{orphan}");
        }
    }

    /// A record that nobody makes, one that is missing, and a picture that was painted over.
    #[test]
    fn what_cannot_be_had_again_is_named() {
        let folder =
            std::env::temp_dir().join(format!("lately-lab-records-{}", std::process::id()));
        let (kept, copy) = (Places::kept(), Places::below(&folder));
        for (from, to) in [(&kept.report, &copy.report), (&kept.pictures, &copy.pictures)] {
            fs::create_dir_all(to).unwrap();
            for file in files(from).unwrap() {
                fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
            }
        }
        fs::copy(&kept.page, &copy.page).unwrap();
        assert_eq!(faults(&copy).unwrap(), [""; 0]);

        fs::write(copy.records.join("by-hand.json"), "{}").unwrap();
        fs::remove_file(copy.report.join("ours-life.json")).unwrap();
        fs::write(copy.pictures.join("ours-day.svg"), "<svg/>").unwrap();
        let found = faults(&copy).unwrap().join("\n");
        for named in [
            "by-hand.json: no command",
            "ours-life: is not kept",
            "ours-day: the picture",
            "report.md",
        ] {
            assert!(found.contains(named), "{named}: {found}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
