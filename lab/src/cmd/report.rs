//! `report`: measures the figures of the report, draws them, and says whether they are those that are kept.

use std::fs;
use std::io::Write;

use anyhow::{Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use crate::machine::Machine;
use crate::pictures::compare::{Within, differences};
use crate::pictures::draw::draw;
use crate::pictures::figure::{Effort, Figure};
use crate::pictures::keep::{Kept, Progress};
use crate::pictures::{CHAPTERS, figures, page};
use crate::records::Places;

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Less of everything, beside the build, and compared with what is kept
    #[arg(long)]
    quick: bool,
    /// Only figures whose name contains this; may be repeated
    #[arg(long, value_name = "SUBSTRING")]
    only: Vec<String>,
    /// Begin anew, also if an earlier run was interrupted
    #[arg(long)]
    again: bool,
    /// Measure nothing: draw the pictures and the page from the records that are kept
    #[arg(long, conflicts_with_all = ["quick", "only", "again"])]
    redraw: bool,
    /// List the figures
    #[arg(long, conflicts_with_all = ["quick", "only", "again", "redraw"])]
    list: bool,
}

/// Measures and draws; says whether a quick run found what is kept.
pub fn report(options: &Options, out: &mut impl Write) -> Result<bool> {
    if options.list {
        for figure in figures() {
            writeln!(out, "{:<28}{}", figure.name, figure.title)?;
        }
        return Ok(true);
    }
    let kept = Places::kept();
    if options.redraw {
        figures()
            .try_for_each(|figure| kept.draw(figure, &Kept::read(&kept.report, figure.name)?))?;
        kept.write_page()?;
        return Ok(true);
    }
    let places = if options.quick { Places::scratch()? } else { Places::kept() };
    let effort = if options.quick { Effort::Quick } else { Effort::Full };
    let wanted = |figure: &&Figure| {
        options.only.is_empty()
            || options.only.iter().any(|part| figure.name.contains(part.as_str()))
    };
    let wanted: Vec<&Figure> = figures().filter(wanted).collect();
    ensure!(
        !wanted.is_empty(),
        "no figure is called so; `cargo lab report --list` has their names"
    );
    let scratch = Places::scratch()?.report;
    if options.again {
        Progress::clear(&scratch);
    }
    let mut progress = Progress::resume(&scratch, effort);
    let bar = bar(wanted.iter().map(|figure| figure.seconds).sum());
    let mut all_hold = true;
    for &figure in &wanted {
        bar.set_message(figure.name);
        let found = if progress.has(figure.name) {
            Kept::read(&places.report, figure.name)?
        } else {
            let found = Kept::measured(figure, effort)?;
            found.write(&places.report)?;
            progress.finished(figure.name, &scratch)?;
            found
        };
        places.draw(figure, &found)?;
        let verdict = if options.quick { judge(figure, &kept, &found) } else { Verdict::Measured };
        all_hold &= !matches!(verdict, Verdict::Differs(_) | Verdict::Missing);
        bar.suspend(|| {
            writeln!(out, "{:<28}{:>4} s  {}", figure.name, found.seconds, verdict.told())
        })?;
        bar.inc(figure.seconds);
    }
    bar.finish_and_clear();
    progress.ended(&wanted, &scratch)?;
    places.write_page()?;
    writeln!(out, "{}", places.page.display())?;
    Ok(all_hold)
}

/// Whether what was measured is what is kept.
enum Verdict {
    Measured,
    Same,
    OtherMachine,
    Missing,
    Differs(Vec<String>),
}

impl Verdict {
    fn told(&self) -> String {
        match self {
            Verdict::Measured => "measured".to_owned(),
            Verdict::Same => "as it is kept, within its spread".to_owned(),
            Verdict::OtherMachine => "times of another processor are kept; not compared".to_owned(),
            Verdict::Missing => "NOT KEPT: nobody committed a record".to_owned(),
            Verdict::Differs(faults) => format!("DIFFERS:\n  {}", faults.join("\n  ")),
        }
    }
}

fn judge(figure: &Figure, places: &Places, found: &Kept) -> Verdict {
    let Ok(kept) = Kept::read(&places.report, figure.name) else { return Verdict::Missing };
    let within = if figure.timed { Within::Times } else { Within::Spread };
    if figure.timed && kept.machine.cpu != Machine::here().cpu {
        return Verdict::OtherMachine;
    }
    let faults = differences(&kept.drawn, &found.drawn, within);
    if faults.is_empty() { Verdict::Same } else { Verdict::Differs(faults) }
}

impl Places {
    fn draw(&self, figure: &Figure, kept: &Kept) -> Result<()> {
        if kept.drawn.panels.is_empty() {
            return Ok(());
        }
        fs::create_dir_all(&self.pictures)?;
        let picture = draw(figure.title, &kept.drawn.panels)?;
        Ok(fs::write(self.pictures.join(format!("{}.svg", figure.name)), picture)?)
    }

    fn write_page(&self) -> Result<()> {
        let text = page(CHAPTERS, |figure| Kept::read(&self.report, figure.name).ok());
        Ok(fs::write(&self.page, text)?)
    }
}

/// A bar that tells the time left, on a terminal.
fn bar(seconds: u64) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{wide_bar} {msg}, {eta} left").expect("it is a template");
    let bar = ProgressBar::new(seconds).with_style(style);
    bar.enable_steady_tick(std::time::Duration::from_secs(1));
    bar
}
