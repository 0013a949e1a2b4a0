//! The report as Markdown: every figure with what it says, its picture, its tables and its command.

use std::fmt::Write;

use super::figure::{Chapter, Figure, Sheet};
use super::keep::Kept;

/// The whole report, from the records of its figures. Figures without a record are left out.
pub fn page(chapters: &[Chapter], record: impl Fn(&Figure) -> Option<Kept>) -> String {
    let mut text = INTRODUCTION.to_owned();
    for chapter in chapters {
        write!(text, "\n## {}\n\n{}\n", chapter.title, chapter.says).expect(STRINGS);
        for figure in chapter.figures {
            if let Some(kept) = record(figure) {
                section(&mut text, figure, &kept);
            }
        }
    }
    text
}

const STRINGS: &str = "strings do not fail";

const INTRODUCTION: &str = "\
# The report

Figures and tables of the five papers, run again on our structures and on the papers' own, and then what we
measure besides. Dots are measured, with a bar where luck or noise could move them; full lines are our
formulas; dashed lines are what a paper or others say; red dashes are bounds that nothing can pass. An open
circle at the edge stands for a value beyond it, such as an error that was never seen.

`cargo lab report` measures all of it and draws it anew, `cargo lab report --quick` in minutes what is kept
here with less effort, and fails if it lies outside of its spread. Every figure names the command for itself
alone. How we measure is told in [METHODOLOGY](../lab/METHODOLOGY.md), and what favours us in
[BIAS](../lab/BIAS.md).
";

fn section(text: &mut String, figure: &Figure, kept: &Kept) {
    let Figure { name, title, says, .. } = figure;
    write!(text, "\n### {title}\n\n").expect(STRINGS);
    if !kept.drawn.panels.is_empty() {
        write!(text, "![{title}](report/{name}.svg)\n\n").expect(STRINGS);
    }
    writeln!(text, "{says}").expect(STRINGS);
    for sentence in &kept.drawn.found {
        writeln!(text, "{sentence}").expect(STRINGS);
    }
    for sheet in &kept.drawn.sheets {
        write!(text, "\n{}", table(sheet)).expect(STRINGS);
    }
    writeln!(text, "\n{}", origin(figure, kept)).expect(STRINGS);
}

/// Where the figures come from, in a line.
fn origin(figure: &Figure, kept: &Kept) -> String {
    let Kept { command, machine, load, seed, .. } = kept;
    let commit: String = machine.commit.chars().take(9).collect();
    let changed = if machine.modified { " and changes" } else { "" };
    let mut line = format!(
        "`{command}`, [record](../lab/records/report/{}.json): seed {seed}, commit {commit}{changed}, {}, {}",
        figure.name, machine.compiler, machine.date
    );
    if figure.timed {
        write!(line, "; {}, caches {}", machine.cpu, machine.caches).expect(STRINGS);
        if *load > 0.3 {
            write!(
                line,
                "; **the machine was busy** (load {load} besides on {} cores)",
                machine.cores
            )
            .expect(STRINGS);
        }
    }
    line + "."
}

fn table(sheet: &Sheet) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&sheet.headings);
    text += &format!("|{}\n", "---|".repeat(sheet.headings.len()));
    sheet.rows.iter().for_each(|row| text += &line(row));
    text
}
