//! One command under way: its words, its keys, and what it sends to replicas.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::ops::Range;
use std::slice;

use lately::Time;

use super::ahead::Ahead;
use super::api;
use super::idle::Address;
use super::items::Items;
use super::module::Module;
use super::register;
use super::reply::Refusal;

/// A command that the engine has asked us to carry out.
pub struct Call<'a, M> {
    ctx: *mut api::Ctx,
    /// The engine's own strings; it keeps them until the command is done.
    strings: &'a [*mut api::String],
    module: PhantomData<M>,
}

/// Where a command comes from.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    ctx: *mut api::Ctx,
    call: PhantomData<&'a ()>,
}

impl Origin<'_> {
    /// Whether the command comes from a primary, or from our own file at start: it was accepted
    /// once and must not be refused now.
    pub fn is_replayed(self) -> bool {
        let replayed = api::CTX_FLAGS_REPLICATED | api::CTX_FLAGS_LOADING;
        // SAFETY: `ctx` is the context of a command that is under way for `'a`.
        let flags = unsafe { api::GetContextFlags(self.ctx) };
        flags & replayed != 0
    }
}

/// What a command wants of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Look at it.
    Read,
    /// Change or create it.
    Write,
}

impl<'a, M: Module> Call<'a, M> {
    /// Takes what the engine passed to a command.
    ///
    /// # Safety
    ///
    /// The arguments are those of a command callback, and `'a` ends with it.
    pub unsafe fn new(ctx: *mut api::Ctx, strings: *mut *mut api::String, count: usize) -> Self {
        // SAFETY: the engine passes `count` valid strings, which live as long as the command.
        let strings = unsafe { slice::from_raw_parts(strings, count) };
        Self { ctx, strings, module: PhantomData }
    }

    /// The words of the command; the first is its name.
    pub fn words(&self) -> Vec<&'a [u8]> {
        self.items(0).iter().collect()
    }

    /// How many words the command has.
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// One word of the command.
    pub fn word(&self, place: usize) -> &'a [u8] {
        // SAFETY: this is a string of the command, which lives as long as `'a`.
        unsafe { bytes_of(self.strings[place]) }
    }

    /// The words of the command from one on.
    pub fn items(&self, first: usize) -> Items<'a> {
        Items(&self.strings[first..])
    }

    /// Asks for the memory of the words from one on, if it is only one.
    #[inline(always)]
    pub fn ahead(&self, first: usize) -> Option<Ahead> {
        (first + 1 == self.len()).then(|| Ahead::ask(self.word(first)))
    }

    /// Where the key is that a word names.
    pub fn address(&self, word: usize) -> Address {
        // SAFETY: `ctx` is the context of this command.
        let database = unsafe { api::GetSelectedDb(self.ctx) };
        Address { database, name: self.word(word).into() }
    }

    /// Bytes nobody can guess.
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        // SAFETY: writes `N` bytes into an array of `N`.
        unsafe { api::GetRandomBytes(bytes.as_mut_ptr(), N) };
        bytes
    }

    /// Where the command comes from.
    pub fn origin(&self) -> Origin<'a> {
        Origin { ctx: self.ctx, call: PhantomData }
    }

    /// Whether the command comes from a primary, or from our own file at start.
    pub fn is_replayed(&self) -> bool {
        self.origin().is_replayed()
    }

    /// Refuses what would go beyond the server's `maxmemory`, or does not fit into the machine. The
    /// engine itself only looks before a command, not at what the command is about to take; and systems
    /// promise memory that they do not have.
    pub fn make_room(&self, bytes: u64) -> Result<(), Refusal> {
        // SAFETY: the section name is a C string; the data is freed below, and only read between.
        let (limit, used, machine) = unsafe {
            let info = api::GetServerInfo(self.ctx, c"memory".as_ptr());
            let read = |field: &CStr| {
                let mut error = 0;
                let value = api::ServerInfoGetFieldUnsigned(info, field.as_ptr(), &mut error);
                if error == 0 { value } else { 0 }
            };
            let found = (read(c"maxmemory"), read(c"used_memory"), read(c"total_system_memory"));
            api::FreeServerInfo(self.ctx, info);
            found
        };
        // Where keys may be evicted, only what could never fit is refused.
        let used = if self.may_evict() { 0 } else { used };
        if limit > 0 && used.saturating_add(bytes) > limit {
            return Err(Refusal::OUT_OF_MEMORY);
        }
        if machine > 0 && bytes > machine {
            return Err(Refusal::new(format_args!(
                "a key would take {bytes} bytes of memory; this machine has {machine}"
            )));
        }
        Ok(())
    }

    fn may_evict(&self) -> bool {
        // SAFETY: `ctx` is the context of this command.
        let flags = unsafe { api::GetContextFlags(self.ctx) };
        flags & api::CTX_FLAGS_EVICT != 0
    }

    /// Opens the key that a word names. One at a time: the borrow makes sure.
    pub fn key(&mut self, word: usize, access: Access) -> Key<'_, M> {
        self.open(word, access)
    }

    /// Opens two keys at once, the second to read; `None` if both words name one key, whose value
    /// nobody may hold twice.
    pub fn pair(&mut self, one: (usize, Access), other: usize) -> Option<[Key<'_, M>; 2]> {
        let (word, access) = one;
        let differ = self.word(word) != self.word(other);
        differ.then(|| [self.open(word, access), self.open(other, Access::Read)])
    }

    fn open(&self, word: usize, access: Access) -> Key<'_, M> {
        let mode = match access {
            Access::Read => api::READ,
            Access::Write => api::READ | api::WRITE,
        };
        // SAFETY: context and key name belong to this command.
        let key = unsafe { api::OpenKey(self.ctx, self.strings[word], mode) };
        Key { key, call: PhantomData }
    }

    /// Sends a command to replicas and to the append-only file in place of this one: the key that
    /// word 1 names, and these words of the command.
    pub fn replicate_items(&self, command: &CStr, items: Range<usize>) {
        self.replicate_strings(command, &self.strings[items]);
    }

    /// The same with a moment between the two.
    pub fn replicate_at(&self, command: &CStr, moment: Time, items: Range<usize>) {
        let items = &self.strings[items];
        // SAFETY: the format announces a string, a number, and a vector with its length.
        unsafe {
            api::Replicate()(
                self.ctx,
                command.as_ptr(),
                c"slv".as_ptr(),
                self.strings[1],
                moment.millis() as i64,
                items.as_ptr(),
                items.len(),
            );
        }
    }

    /// Sends that a word of the command was counted so often, at a moment or at the latest that its filter
    /// knows.
    pub fn replicate_count(&self, moment: Option<Time>, item: usize, times: i64) {
        let (key, item) = (self.strings[1], self.strings[item]);
        // SAFETY: the formats announce strings and numbers in this order.
        unsafe {
            let replicate = api::Replicate();
            match moment {
                Some(moment) => {
                    let (command, moment) = (c"LATELY.INCRBYAT", moment.millis() as i64);
                    let format = c"slsl".as_ptr();
                    replicate(self.ctx, command.as_ptr(), format, key, moment, item, times);
                }
                None => {
                    let command = c"LATELY.INCRBY";
                    replicate(self.ctx, command.as_ptr(), c"ssl".as_ptr(), key, item, times);
                }
            }
        }
    }

    /// Sends this command to replicas and to the append-only file with a moment added, announced by
    /// a word.
    pub fn replicate_with_moment(&self, command: &CStr, word: &CStr, moment: Time) {
        let words = &self.strings[1..];
        // SAFETY: the format announces a vector with its length, a C string and a number.
        unsafe {
            api::Replicate()(
                self.ctx,
                command.as_ptr(),
                c"vcl".as_ptr(),
                words.as_ptr(),
                words.len(),
                word.as_ptr(),
                moment.millis() as i64,
            );
        }
    }

    /// Sends a command to replicas and to the append-only file: the key that word 1 names and these
    /// words, separated by spaces.
    pub fn replicate_words(&self, command: &CStr, words: &str) {
        // SAFETY: strings are made from buffers with their lengths, and freed once they are sent, of
        // which the engine keeps references of its own.
        unsafe {
            let strings: Vec<_> = words
                .split_ascii_whitespace()
                .map(|word| {
                    let start = word.as_ptr().cast::<c_char>();
                    api::CreateString(self.ctx, start, word.len())
                })
                .collect();
            self.replicate_strings(command, &strings);
            for string in strings {
                api::FreeString(self.ctx, string);
            }
        }
    }

    /// Sends a command: the key that word 1 names, and strings of the engine.
    fn replicate_strings(&self, command: &CStr, strings: &[*mut api::String]) {
        // SAFETY: the format announces a string, and a vector with its length.
        unsafe {
            api::Replicate()(
                self.ctx,
                command.as_ptr(),
                c"sv".as_ptr(),
                self.strings[1],
                strings.as_ptr(),
                strings.len(),
            );
        }
    }

    /// Sends this very command to replicas and to the append-only file.
    pub fn replicate_verbatim(&self) {
        // SAFETY: `ctx` is the context of this command.
        unsafe { api::ReplicateVerbatim(self.ctx) };
    }

    /// Has the engine show something else in place of a word, where it shows commands.
    pub fn hide(&self, word: usize) {
        // SAFETY: `ctx` is the context of this command; a place that it does not have is refused.
        unsafe { api::RedactClientCommandArgument(self.ctx, word as c_int) };
    }

    /// Tells subscribers what happened to the key that word 1 names.
    pub fn notify(&self, event: &CStr) {
        // SAFETY: context and key name belong to this command.
        unsafe {
            api::NotifyKeyspaceEvent(self.ctx, api::NOTIFY_MODULE, event.as_ptr(), self.strings[1]);
        }
    }
}

/// An open key; closed when dropped.
pub struct Key<'c, M> {
    /// Null when a key opened for reading does not exist.
    key: *mut api::Key,
    call: PhantomData<&'c mut M>,
}

impl<M: Module> Key<'_, M> {
    /// The value, if there is one and it is ours.
    pub fn value(&mut self) -> Result<Option<&mut M::Value>, Refusal> {
        // Asked first, because it is the only question in the usual case.
        // SAFETY: the key is open, or null, and nobody else holds its value while it is open.
        match unsafe { our_value::<M>(self.key) } {
            None if self.exists() => Err(Refusal::WRONG_TYPE),
            value => Ok(value),
        }
    }

    /// Whether there is a value, ours or not.
    pub fn exists(&self) -> bool {
        if self.key.is_null() {
            return false;
        }
        // SAFETY: the key is open.
        let kind = unsafe { api::KeyType(self.key) };
        kind != api::KEYTYPE_EMPTY
    }

    /// Stores a value in place of whatever was there; the time to live of a value of ours stays.
    pub fn put(&mut self, value: M::Value) {
        let ours = matches!(self.value(), Ok(Some(_)));
        let value = Box::into_raw(Box::new(value)).cast();
        let mut old = std::ptr::null_mut();
        // SAFETY: the key is open for writing; the engine owns `value` from here on and gives it
        // back to the `free` callback. A value that was replaced is given back here.
        unsafe {
            if ours {
                api::ModuleTypeReplaceValue(self.key, register::data_type(), value, &mut old);
                drop(Box::from_raw(old.cast::<M::Value>()));
            } else {
                let kind = register::data_type();
                api::ModuleTypeSetValue(self.key, kind, value);
            }
        }
    }
}

/// The value of a key, if it is ours.
///
/// # Safety
///
/// The key is open for as long as `'a`, or null, and nobody else holds its value.
#[inline(always)]
pub unsafe fn our_value<'a, M: Module>(key: *mut api::Key) -> Option<&'a mut M::Value> {
    // SAFETY: of null the engine says that it has no type. A value is ours if its type is; then the
    // pointer is one that `put`, `rdb_load` or `copy` made, of the module that was loaded.
    unsafe {
        let kind = api::ModuleTypeGetType(key);
        if kind.is_null() || kind != register::data_type() {
            return None;
        }
        Some(&mut *api::ModuleTypeGetValue(key).cast::<M::Value>())
    }
}

impl<M> Drop for Key<'_, M> {
    fn drop(&mut self) {
        if !self.key.is_null() {
            // SAFETY: opened by `Call::key` and not closed since.
            unsafe { api::CloseKey(self.key) };
        }
    }
}

/// The server's clock, as it was when the command, script or transaction began where the engine
/// keeps that.
pub fn now() -> Time {
    // SAFETY: both take nothing.
    let millis = unsafe {
        match api::CachedMicroseconds() {
            Some(microseconds) => microseconds() / 1000,
            None => api::Milliseconds(),
        }
    };
    Time::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// The bytes of an engine's string.
///
/// # Safety
///
/// `string` is valid, and stays so for `'a`.
pub unsafe fn bytes_of<'a>(string: *const api::String) -> &'a [u8] {
    let mut length = 0;
    // SAFETY: the caller vouches for the string; the engine gives its start and length.
    unsafe {
        let start = api::StringPtrLen(string, &mut length);
        slice::from_raw_parts(start.cast::<u8>(), length)
    }
}
