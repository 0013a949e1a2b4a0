//! How keys are printed: flags of the commands that list them.

use clap::Args;

use super::figures::Figures;

#[derive(Debug, Args)]
pub(crate) struct Printing {
    /// Print JSON, one object per key, such as {"count":3,"key":"a"}; keys of several parts are arrays
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) figures: Figures,

    /// End with 1 if no key is printed
    #[arg(long, help_heading = "Output")]
    #[arg(hide_short_help = true)]
    pub(crate) exit_status: bool,
}
