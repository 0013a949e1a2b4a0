//! What people are used to: `lately FILE` like `uniq FILE`, and `-c` as `uniq` has it.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::bail;

use super::Command;

/// Adds `dedup` where no command is named, and none can be meant: before a file, before options that
/// are not of `lately` itself, and if there is nothing but a pipe to read.
pub(super) fn name_the_command(
    definition: &clap::Command,
    arguments: &mut Vec<OsString>,
) -> anyhow::Result<()> {
    let of_itself = ["-h", "--help", "-V", "--version", "help"].map(OsStr::new);
    let is_dedup = match arguments.get(1) {
        None if io::stdin().is_terminal() => {
            bail!("name a file to print without its repeated lines: lately FILE; see --help")
        }
        None => true,
        Some(first) if of_itself.contains(&first.as_os_str()) => false,
        Some(first) if definition.get_subcommands().any(|known| *first == *known.get_name()) => {
            false
        }
        Some(first) => first.as_encoded_bytes().starts_with(b"-") || Path::new(first).exists(),
    };
    if is_dedup {
        arguments.insert(1.min(arguments.len()), "dedup".into());
    }
    Ok(())
}

/// Whoever writes `-c FILE` and names nothing to read wants what `uniq -c FILE` does, not to wait at
/// the keyboard for rows with a column of that name.
pub(super) fn refuse_files_for_columns(command: &Command) -> anyhow::Result<()> {
    let (reading, name) = match command {
        Command::Dedup(request) => (&request.reading, "dedup"),
        Command::Count(request) => (&request.reading, "count"),
        _ => return Ok(()),
    };
    let Some(file) = reading.column_that_is_a_file() else { return Ok(()) };
    bail!(
        "--column (-c) takes the name of a column, and {file} is a file, with nothing to read it \
         from; `lately count {file}` tells how often each line came, `lately {name} {file}` reads the \
         lines of the file, and `lately {name} -c {file} -` rows with such a column from standard \
         input"
    )
}
