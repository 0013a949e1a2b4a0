//! Settings: `CONFIG GET lately.*`.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, Ordering};
use std::sync::{PoisonError, RwLock};

use lately::ErrorRate;
use lately::raw::LargePages;

use crate::engine::Refusal;
use crate::wish::Wish;

/// A whole number.
#[derive(Debug)]
pub struct Number {
    /// Its name, after `lately.`.
    pub name: &'static CStr,
    /// What it is unless set.
    pub default: i64,
    /// The least and the most it may be.
    pub range: (i64, i64),
    /// Whether it counts bytes, so that it reads `64mb`.
    pub is_memory: bool,
    value: AtomicI64,
}

impl Number {
    const fn new(name: &'static CStr, default: i64, range: (i64, i64), is_memory: bool) -> Self {
        Number { name, default, range, is_memory, value: AtomicI64::new(default) }
    }

    /// The number now.
    pub fn get(&self) -> i64 {
        self.value.load(Ordering::Relaxed)
    }

    /// Changes it.
    pub fn set(&self, value: i64) {
        self.value.store(value, Ordering::Relaxed);
    }
}

/// Yes or no.
#[derive(Debug)]
pub struct Switch {
    /// Its name, after `lately.`.
    pub name: &'static CStr,
    /// What it is unless set.
    pub default: bool,
    /// Whether it is decided when the module loads.
    pub is_fixed: bool,
    /// Told when it changes.
    tell: fn(bool),
    value: AtomicBool,
}

impl Switch {
    /// What it is.
    pub fn get(&self) -> bool {
        self.value.load(Ordering::Relaxed)
    }

    /// Changes it.
    pub fn set(&self, value: bool) {
        self.value.store(value, Ordering::Relaxed);
        (self.tell)(value);
    }
}

/// A few words.
#[derive(Debug)]
pub struct Text {
    /// Its name, after `lately.`.
    pub name: &'static CStr,
    /// What it is unless set.
    pub default: &'static CStr,
    accept: fn(&str) -> Result<(), Refusal>,
    value: RwLock<String>,
    /// The engine's copy, which it wants to be shown and never frees: `engine` looks after it.
    pub shown: AtomicPtr<c_void>,
}

impl Text {
    const fn new(
        name: &'static CStr,
        default: &'static CStr,
        accept: fn(&str) -> Result<(), Refusal>,
    ) -> Self {
        let shown = AtomicPtr::new(std::ptr::null_mut());
        Text { name, default, accept, value: RwLock::new(String::new()), shown }
    }

    /// The words now.
    pub fn get(&self) -> String {
        self.value.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes them, if they make sense.
    pub fn set(&self, value: &[u8]) -> Result<(), Refusal> {
        let value = std::str::from_utf8(value).map_err(|_| Refusal::new("not text"))?;
        (self.accept)(value)?;
        value.clone_into(&mut self.value.write().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}

/// What a key is that `LATELY.ADD` creates, and what `LATELY.RESERVE` takes for what it is not told:
/// the words of `LATELY.RESERVE`; or [`NONE`].
pub static DEFAULT: Text = Text::new(c"default", c"LAST 100000 ERROR 0.001", |words| {
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
pub static BLOOM_COMMANDS: Switch = Switch {
    name: c"bloom-commands",
    default: true,
    is_fixed: true,
    tell: |_| {},
    value: AtomicBool::new(true),
};

/// Whether large filters ask for large pages. Somebody who adds an item waits until the system has
/// cleared such a page, and everybody else with them, so a server has to be asked for it.
pub static LARGE_PAGES: Switch = Switch {
    name: c"large-pages",
    default: false,
    is_fixed: false,
    tell: |wanted| if wanted { LargePages::AskedFor } else { LargePages::Left }.choose(),
    value: AtomicBool::new(false),
};

/// Whether windows by time give memory back while nobody uses them.
pub static EXPIRE_IDLE: Switch = Switch {
    name: c"expire-idle",
    default: true,
    is_fixed: false,
    tell: |_| {},
    value: AtomicBool::new(true),
};

/// All settings that are numbers.
pub static NUMBERS: [&Number; 4] = [&MAX_KEY_BYTES, &MAX_AHEAD, &BLOOM_CAPACITY, &BLOOM_EXPANSION];

/// All settings that are words.
pub static TEXTS: [&Text; 2] = [&DEFAULT, &BLOOM_ERROR_RATE];

/// All settings that are yes or no.
pub static SWITCHES: [&Switch; 3] = [&BLOOM_COMMANDS, &EXPIRE_IDLE, &LARGE_PAGES];

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
