//! Settings as the engine knows them: numbers, words, yes or no.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, Ordering};
use std::sync::{PoisonError, RwLock};

use super::reply::Refusal;

/// All settings of a module.
pub struct Settings {
    /// Those that are numbers.
    pub numbers: &'static [&'static Number],
    /// Those that are words.
    pub texts: &'static [&'static Text],
    /// Those that are yes or no.
    pub switches: &'static [&'static Switch],
}

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
    /// A setting of this name.
    pub const fn new(
        name: &'static CStr,
        default: i64,
        range: (i64, i64),
        is_memory: bool,
    ) -> Self {
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
    /// A setting of this name, that tells nobody.
    pub const fn new(name: &'static CStr, default: bool) -> Self {
        let value = AtomicBool::new(default);
        Switch { name, default, is_fixed: false, tell: |_| {}, value }
    }

    /// The same, decided when the module loads.
    pub const fn fixed(mut self) -> Self {
        self.is_fixed = true;
        self
    }

    /// The same, that tells of changes.
    pub const fn telling(mut self, tell: fn(bool)) -> Self {
        self.tell = tell;
        self
    }

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
    /// The engine's copy, which it wants to be shown and never frees.
    pub(super) shown: AtomicPtr<c_void>,
}

impl Text {
    /// A setting of this name, that takes what `accept` accepts.
    pub const fn new(
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
