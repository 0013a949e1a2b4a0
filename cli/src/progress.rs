//! A bar on the terminal of whoever waits.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shown only to people: when standard error is a terminal that the records do not go to as well.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Redraws per second, at most.
    const RATE: u8 = 10;

    /// Hidden.
    pub(crate) fn none() -> Self {
        Self { bar: None }
    }

    /// Of `total` bytes, if that is known. `silent` says that nothing is written to standard output
    /// meanwhile.
    pub(crate) fn new(total: Option<u64>, silent: bool) -> Self {
        if !io::stderr().is_terminal() || (io::stdout().is_terminal() && !silent) {
            return Self::none();
        }
        let target = ProgressDrawTarget::stderr_with_hz(Self::RATE);
        let bar = ProgressBar::with_draw_target(total, target);
        let template = match total {
            Some(_) => "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left",
            None => "{spinner} {bytes}  {bytes_per_sec}  {elapsed}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        bar.set_style(style.progress_chars("=> "));
        if total.is_none() {
            bar.enable_steady_tick(Duration::from_secs(1) / Self::RATE.into());
        }
        Self { bar: Some(bar) }
    }

    pub(crate) fn set(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
    }
}

impl Drop for Progress {
    /// Leaves the terminal as it was, also before a complaint.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
