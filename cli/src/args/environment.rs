//! Options from the environment: `LATELY_LAST=1M` is `--last 1M`.
//!
//! What is on the command line wins, also over its opposites: `--ever` is not in conflict with
//! `LATELY_LAST`. So the command line is parsed first, and again with the options added that it
//! leaves open.

use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error};

/// What the arguments (the first is the program) and the environment ask for.
pub(crate) fn matches(
    definition: Command,
    mut arguments: Vec<OsString>,
) -> Result<ArgMatches, Error> {
    // The usual case, at a third of the work.
    if !std::env::vars_os().any(|(name, _)| name.as_encoded_bytes().starts_with(b"LATELY_")) {
        return definition.try_get_matches_from(&arguments);
    }
    let stated = definition.clone().try_get_matches_from(&arguments)?;
    let mut built = definition.clone();
    // Only then are options that exclude each other known as such.
    built.build();
    let (mut command, mut stated) = (&built, &stated);
    let mut place = 0;
    while let Some((name, inner)) = stated.subcommand()
        && let Some(found) = command.find_subcommand(name)
    {
        let names = arguments[place..].iter();
        place += names.take_while(|argument| *argument != name).count() + 1;
        (command, stated) = (found, inner);
    }
    let open = command.get_arguments().filter(|arg| !is_settled(command, stated, arg));
    let found: Vec<_> = open.filter_map(from_environment).collect();
    // Right after the name of the command, before anything that ends the options.
    arguments.splice(place..place, found);
    definition.try_get_matches_from(&arguments)
}

/// Whether the command line states the option or one that excludes it.
fn is_settled(command: &Command, stated: &ArgMatches, arg: &Arg) -> bool {
    let is_stated = |other: &Arg| {
        stated.value_source(other.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let excludes = |other: &&Arg| {
        let conflict = |one, another: &Arg| {
            command.get_arg_conflicts_with(one).iter().any(|arg| arg.get_id() == another.get_id())
        };
        let rivals = command.get_groups().any(|group| {
            let has = |arg: &Arg| group.get_args().any(|id| id == arg.get_id());
            !group.clone().is_multiple() && has(arg) && has(other)
        });
        rivals || conflict(arg, other) || conflict(other, arg)
    };
    is_stated(arg) || command.get_arguments().filter(excludes).any(is_stated)
}

/// The option as an argument, if its variable is set. Switches are on unless it says otherwise.
fn from_environment(arg: &Arg) -> Option<OsString> {
    let option = arg.get_long()?;
    let variable = format!("LATELY_{}", option.replace('-', "_").to_uppercase());
    let value = std::env::var_os(variable).filter(|value| !value.is_empty())?;
    let mut argument = OsString::from(format!("--{option}"));
    match arg.get_action() {
        ArgAction::Set | ArgAction::Append => {
            argument.push("=");
            argument.push(value);
            Some(argument)
        }
        ArgAction::SetTrue => {
            let off = ["0", "false", "no", "off"].map(OsStr::new).contains(&value.as_os_str());
            (!off).then_some(argument)
        }
        _ => None,
    }
}
