//! `lately completions` and `lately man`: what shells and `man` know about the command, made from
//! its own definition.

use std::fs;

use anyhow::Context;
use clap_mangen::Man;

use crate::args;
use crate::output;

pub(crate) fn completions(request: &args::Completions) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(request.shell, &mut args::definition(), "lately", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

pub(crate) fn man(request: &args::Man) -> anyhow::Result<()> {
    let Some(folder) = &request.folder else {
        let mut page = Vec::new();
        Man::new(args::definition()).render(&mut page)?;
        return output::print(&String::from_utf8_lossy(&page));
    };
    let failed = || format!("cannot write to {}", folder.display());
    fs::create_dir_all(folder).with_context(failed)?;
    clap_mangen::generate_to(args::definition(), folder).with_context(failed)
}
