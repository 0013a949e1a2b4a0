//! A request to end, from the keyboard or the system, ends the stream as if its input ended there.
//! What is to be done at the end is done, and then the process dies of the signal after all: whoever
//! waits for it must know that there would have been more.

use std::process::ExitCode;

/// What SIGINT and SIGTERM do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnSignals {
    /// They end the process at once.
    Die,
    /// They end the stream, and the process when everything is done.
    EndInOrder,
}

/// The signal that filters die of whose reader went away.
pub(crate) const BROKEN_PIPE: i32 = 13;

/// Hands the first SIGINT or SIGTERM on. A second one ends the process as usual, for those who
/// cannot wait.
#[cfg(unix)]
pub(crate) fn hand_on(stop: impl Fn(i32) + Send + 'static) -> anyhow::Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use anyhow::Context;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;

    const FAILED: &str = "cannot wait for signals";
    let stopping = Arc::new(AtomicBool::new(false));
    // What whoever started it wants to be ignored is: in the background of a script, the keyboard.
    let heeded: Vec<_> = [SIGINT, SIGTERM].into_iter().filter(|&it| !is_ignored(it)).collect();
    for &signal in &heeded {
        // In this order: the first signal finds the flag unset, and sets it.
        flag::register_conditional_default(signal, Arc::clone(&stopping)).context(FAILED)?;
        flag::register(signal, Arc::clone(&stopping)).context(FAILED)?;
    }
    let mut signals = Signals::new(heeded).context(FAILED)?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            stop(signal);
        }
    });
    Ok(())
}

/// Elsewhere the process ends at once, and its last checkpoint stays.
#[cfg(not(unix))]
pub(crate) fn hand_on(_: impl Fn(i32) + Send + 'static) -> anyhow::Result<()> {
    Ok(())
}

/// Whether a signal is ignored, where the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.unwrap_or(0) >> (signal - 1) & 1 == 1
}

/// Ends the process by a signal, as if nobody had waited for it.
#[cfg(unix)]
pub(crate) fn die_of(signal: i32) -> ExitCode {
    // Returns only if that cannot be.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    ExitCode::from(128_u8.saturating_add(signal as u8))
}

/// Elsewhere nobody dies of signals.
#[cfg(not(unix))]
pub(crate) fn die_of(signal: i32) -> ExitCode {
    ExitCode::from(128_u8.saturating_add(signal as u8))
}
