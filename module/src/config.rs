//! Settings: `CONFIG GET lately.*`.

use lately::ErrorRate;
use lately::raw::LargePages;

use crate::engine::{Number, Refusal, Settings, Switch, Text};
use crate::wish::Wish;

/// What a key is that `LATELY.ADD` creates, and what `LATELY.RESERVE` takes for what it is not told:
/// the words of `LATELY.RESERVE`; or [`NONE`].
pub static DEFAULT: Text =
    Text::new(c"default", c"LAST 100000 ERROR 0.001 CAPACITY 1000", |words| {
        if words.eq_ignore_ascii_case(NONE) {
            return Ok(());
        }
        let words: Vec<&[u8]> = words.split_ascii_whitespace().map(str::as_bytes).collect();
        let wish = Wish::parse(&words)?;
        if wish.window.is_none() || wish.limit.is_none() {
            return Err(Refusal::new(
                "give a window (LAST, WITHIN, EVER) and ERROR or MEMORY; or none",
            ));
        }
        wish.goal()?.best_plan()?;
        Ok(())
    });

/// The default of those who want no key that nobody reserved.
pub const NONE: &str = "none";

/// The error of filters that `BF.ADD` creates.
pub static BLOOM_ERROR_RATE: Text = Text::new(c"bloom-error-rate", c"0.01", |rate| {
    rate.parse::<ErrorRate>()?;
    Ok(())
});

/// The most bytes one key may take; 0 for as many as `maxmemory` lets it.
pub static MAX_KEY_BYTES: Number = Number::new(c"max-key-bytes", 0, (0, i64::MAX), true);

/// How many milliseconds ahead of the server's clock a moment is believed; 0 for as many as the window
/// has, or an hour if that is more.
pub static MAX_AHEAD: Number = Number::new(c"max-ahead", 0, (0, i64::MAX), false);

/// The capacity of filters that `BF.ADD` creates.
pub static BLOOM_CAPACITY: Number = Number::new(c"bloom-capacity", 100, (1, 1 << 48), false);

/// The expansion rate that `BF.INFO` shows; 0 makes `BF.ADD` create filters that do not grow.
pub static BLOOM_EXPANSION: Number = Number::new(c"bloom-expansion", 2, (0, 32_768), false);

/// Whether to provide `BF.*`.
pub static BLOOM_COMMANDS: Switch = Switch::new(c"bloom-commands", true).fixed();

/// Whether large filters ask for large pages. Somebody who adds an item waits until the system has
/// cleared such a page, and everybody else with them, so a server has to be asked for it.
pub static LARGE_PAGES: Switch = Switch::new(c"large-pages", false)
    .telling(|wanted| if wanted { LargePages::AskedFor } else { LargePages::Left }.choose());

/// Whether windows by time give memory back while nobody uses them.
pub static EXPIRE_IDLE: Switch = Switch::new(c"expire-idle", true);

/// All settings.
pub const ALL: Settings = Settings {
    numbers: &[&MAX_KEY_BYTES, &MAX_AHEAD, &BLOOM_CAPACITY, &BLOOM_EXPANSION],
    texts: &[&DEFAULT, &BLOOM_ERROR_RATE],
    switches: &[&BLOOM_COMMANDS, &EXPIRE_IDLE, &LARGE_PAGES],
};

/// Refuses a filter larger than one key may be.
pub fn check_key_bytes(bytes: u64) -> Result<(), Refusal> {
    let most = MAX_KEY_BYTES.get();
    if most > 0 && bytes > most as u64 {
        return Err(Refusal::new(format_args!(
            "a key would take {bytes} bytes; lately.max-key-bytes allows {most}"
        )));
    }
    Ok(())
}
