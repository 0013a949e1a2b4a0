//! A request to end, from the keyboard or the system, ends the stream as if its input ended there.

use std::sync::mpsc::Sender;

use crate::input::Event;

/// Sends [`Event::Stop`] at the first SIGINT or SIGTERM. A second one ends the process as
/// usual, for those who cannot wait.
#[cfg(unix)]
pub(crate) fn stop_on_signals(events: Sender<Event>) -> anyhow::Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use anyhow::Context;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;

    const FAILED: &str = "cannot wait for signals";
    let stopping = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset, and sets it.
        flag::register_conditional_default(signal, Arc::clone(&stopping)).context(FAILED)?;
        flag::register(signal, Arc::clone(&stopping)).context(FAILED)?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM]).context(FAILED)?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            let _ = events.send(Event::Stop);
        }
    });
    Ok(())
}

/// Elsewhere the process ends at once, and its last checkpoint stays.
#[cfg(not(unix))]
pub(crate) fn stop_on_signals(_: Sender<Event>) -> anyhow::Result<()> {
    Ok(())
}
