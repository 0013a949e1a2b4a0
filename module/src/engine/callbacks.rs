//! Every function that the engine calls. Each hands over to safe code behind [`fence`]: a panic that
//! left this library would abort the server, and with it everybody's data.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use super::allocator;
use super::api;
use super::call::Call;
use super::idle::{self, Idle};
use super::module::{Command, Module};
use super::ready;
use super::register;
use super::reply::{Refusal, Reply, send};
use super::settings::{Number, Switch, Text};
use super::streams;

const OK: c_int = api::OK;
const ERR: c_int = api::ERR;

/// Faults caught so far.
static FAULTS: AtomicU64 = AtomicU64::new(0);

/// How many faults were caught before they could take the server down.
pub fn faults() -> u64 {
    FAULTS.load(Ordering::Relaxed)
}

/// Runs `body`; if it panics, counts that and gives `otherwise`.
pub fn fence<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        FAULTS.fetch_add(1, Ordering::Relaxed);
        otherwise
    })
}

/// Loads a module.
///
/// # Safety
///
/// Only `RedisModule_OnLoad` calls it, with what the engine passed, and always for the same module: what
/// keys hold is taken to be its values.
pub unsafe fn on_load<M: Module>(ctx: *mut c_void, words: c_int) -> c_int {
    let ctx = ctx.cast::<api::Ctx>();
    // SAFETY: `ctx` comes from the engine. Nothing is allocated before the interface is there.
    unsafe {
        if api::load(ctx).is_err() {
            return ERR;
        }
        allocator::begin();
        fence(ERR, || match load::<M>(ctx, words) {
            Ok(()) => OK,
            Err(problem) => {
                log(ctx, c"warning", problem);
                ERR
            }
        })
    }
}

unsafe fn load<M: Module>(ctx: *mut api::Ctx, words: c_int) -> Result<(), &'static CStr> {
    // SAFETY: `ctx` is the context of the load callback, and the interface is there.
    unsafe {
        if api::IsModuleNameBusy(M::NAME.as_ptr()) != 0 {
            return Err(c"a module named lately is loaded already");
        }
        api::SetModuleAttribs(ctx, M::NAME.as_ptr(), M::VERSION, api::APIVER_1);
        if words > 0 {
            return Err(c"lately takes no arguments: set lately.* in the configuration instead");
        }
        register::register_type::<M>(ctx).map_err(|_| c"the type lately-rs is taken")?;
        // Failing reads come back as errors. We keep no state outside of keys that an answer depends
        // on, so that databases may be swapped and slots be moved under us.
        let options = api::OPTIONS_HANDLE_IO_ERRORS
            | api::OPTIONS_HANDLE_REPL_ASYNC_LOAD
            | atomic_slot_migration();
        api::SetModuleOptions(ctx, options);
        register::register_settings(ctx, &M::SETTINGS)
            .map_err(|_| c"a setting of lately was refused")?;
        register::register_category(ctx, M::NAME);
        for entry in M::COMMANDS {
            register::register_command(ctx, entry)
                .map_err(|_| c"a command of lately was refused; is the module loaded twice?")?;
        }
        if let Some((commands, notice)) = M::more_commands() {
            let mut commands = commands.iter();
            if !commands.all(|entry| register::register_command(ctx, entry).is_ok()) {
                log(ctx, c"notice", notice);
            }
        }
        ready::rehearse(ctx, M::REHEARSAL);
        api::RegisterInfoFunc(ctx, info::<M>);
        idle::call_later::<M>(ctx, M::PAUSE);
    }
    Ok(())
}

/// The option with which Valkey lets a module's keys take part in slot migration; nothing where the
/// engine is not Valkey, because there the bit may come to mean something else.
fn atomic_slot_migration() -> c_int {
    // SAFETY: it takes nothing.
    let known = api::GetModuleOptionsAll().map_or(0, |all| unsafe { all() });
    known & api::OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION
}

unsafe fn log(ctx: *mut api::Ctx, level: &CStr, message: &CStr) {
    // SAFETY: C strings, and a format that takes one.
    unsafe {
        api::Log()(ctx, level.as_ptr(), c"%s".as_ptr(), message.as_ptr());
    }
}

/// A command.
pub unsafe extern "C" fn run<M: Module, C: Command<M>>(
    ctx: *mut api::Ctx,
    words: *mut *mut api::String,
    count: c_int,
) -> c_int {
    let outcome = fence(None, || {
        // SAFETY: the engine passes the context and words of a command.
        let mut call = unsafe { Call::new(ctx, words, count as usize) };
        Some(C::run(&mut call))
    });
    // The usual ends, of one item. There is nothing on the heap then: no need to look for it.
    let is_sent = match &outcome {
        Some(Ok(Reply::Answers(answers))) => {
            // SAFETY: the command is still under way; so below.
            answers.only().is_some_and(|answer| unsafe { ready::send(ctx, answer) })
        }
        // SAFETY: as above.
        Some(Ok(Reply::Bool(yes))) => unsafe { api::ReplyWithBool(ctx, (*yes).into()) == OK },
        _ => false,
    };
    if is_sent {
        std::mem::forget(outcome);
        return OK;
    }
    let reply = outcome.unwrap_or(Err(Refusal::FAULT)).unwrap_or_else(Reply::Refused);
    // SAFETY: as above.
    fence((), || unsafe { send(ctx, &reply) });
    OK
}

/// Called every now and then, between commands.
pub unsafe extern "C" fn timer<M: Module>(ctx: *mut api::Ctx, _private: *mut c_void) {
    let pause = fence(M::PAUSE, || {
        // SAFETY: `ctx` is the engine's, for the time of this call.
        M::look_after(&mut unsafe { Idle::new(ctx) })
    });
    // SAFETY: as above.
    unsafe { idle::call_later::<M>(ctx, pause) };
}

/// A value of ours as the engine keeps it.
///
/// # Safety
///
/// `value` was made by `Key::put`, `rdb_load` or `copy`, and nobody changes it for now.
unsafe fn borrow<'a, M: Module>(value: *const c_void) -> &'a M::Value {
    // SAFETY: the caller vouches for it.
    unsafe { &*value.cast::<M::Value>() }
}

fn give<V>(value: V) -> *mut c_void {
    Box::into_raw(Box::new(value)).cast()
}

/// Reads a value from a dump or a full synchronization.
pub unsafe extern "C" fn rdb_load<M: Module>(io: *mut api::IO, version: c_int) -> *mut c_void {
    // SAFETY: `io` is the engine's, for the time of this call; so for the next two.
    fence(null_mut(), || unsafe { streams::load::<M>(io, version) }.map_or(null_mut(), give))
}

/// Writes a value into a dump or a full synchronization.
pub unsafe extern "C" fn rdb_save<M: Module>(io: *mut api::IO, value: *mut c_void) {
    // SAFETY: as above, and the value is ours.
    fence((), || unsafe { streams::save::<M>(io, borrow::<M>(value)) });
}

/// Writes a value as commands that make it again.
pub unsafe extern "C" fn aof_rewrite<M: Module>(
    io: *mut api::IO,
    key: *mut api::String,
    value: *mut c_void,
) {
    // SAFETY: as above.
    fence((), || unsafe { streams::rewrite::<M>(io, key, borrow::<M>(value)) });
}

/// Bytes of a value.
pub unsafe extern "C" fn mem_usage<M: Module>(value: *const c_void) -> usize {
    // SAFETY: the value is ours.
    fence(0, || M::memory_bytes(unsafe { borrow::<M>(value) }))
}

/// Everything that distinguishes a value from others.
pub unsafe extern "C" fn digest<M: Module>(digest: *mut api::Digest, value: *mut c_void) {
    fence((), || {
        // SAFETY: the value is ours, `digest` the engine's.
        unsafe {
            let bytes = M::digest(borrow::<M>(value));
            let start = bytes.as_ptr().cast::<c_char>();
            api::DigestAddStringBuffer(digest, start, bytes.len());
            api::DigestEndSequence(digest);
        }
    });
}

/// Frees a value; also from the engine's background thread.
pub unsafe extern "C" fn free<M: Module>(value: *mut c_void) {
    // SAFETY: the engine gives back what `give` gave it, once.
    fence((), || drop(unsafe { Box::from_raw(value.cast::<M::Value>()) }));
}

/// How much work it is to free a value: giving pages back is what takes time.
pub unsafe extern "C" fn free_effort<M: Module>(
    _key: *mut api::String,
    value: *const c_void,
) -> usize {
    const PAGE: usize = 4096;
    // SAFETY: the value is ours.
    fence(1, || 1 + M::memory_bytes(unsafe { borrow::<M>(value) }) / PAGE)
}

/// Copies a value for `COPY`.
pub unsafe extern "C" fn copy<M: Module>(
    _from: *mut api::String,
    _to: *mut api::String,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: the value is ours.
    fence(null_mut(), || M::copy(unsafe { borrow::<M>(value) }).map_or(null_mut(), give))
}

/// Moves a value to where memory is less scattered. Only the small block that the engine holds: the
/// rest of a filter is a handful of large blocks, which allocators place page by page.
pub unsafe extern "C" fn defrag(
    ctx: *mut api::DefragCtx,
    _key: *mut api::String,
    value: *mut *mut c_void,
) -> c_int {
    // SAFETY: the engine moves the bytes of the block and frees the old one, or answers null. A
    // `Value` does not point into itself, so that it may be moved like any Rust value.
    unsafe {
        let moved = api::DefragAlloc(ctx, *value);
        if !moved.is_null() {
            *value = moved;
        }
    }
    0
}

/// Our section of `INFO`.
unsafe extern "C" fn info<M: Module>(ctx: *mut api::InfoCtx, _crash: c_int) {
    // SAFETY: `ctx` is the engine's; names are C strings.
    fence((), || unsafe {
        if api::InfoAddSection(ctx, c"".as_ptr()) == OK {
            for (name, value) in M::metrics() {
                api::InfoAddFieldULongLong(ctx, name.as_ptr(), value);
            }
        }
        #[cfg(debug_assertions)]
        if api::InfoAddSection(ctx, c"interface".as_ptr()) == OK {
            for (name, calls) in api::calls() {
                api::InfoAddFieldULongLong(ctx, name.as_ptr(), calls);
            }
        }
    });
}

/// Shows a setting that is a number.
pub unsafe extern "C" fn get_number(_name: *const c_char, private: *mut c_void) -> i64 {
    // SAFETY: the private data is the static that was registered; so for all below.
    unsafe { &*private.cast::<Number>() }.get()
}

/// Changes a setting that is a number.
pub unsafe extern "C" fn set_number(
    _name: *const c_char,
    value: i64,
    private: *mut c_void,
    _error: *mut *mut api::String,
) -> c_int {
    // SAFETY: as above.
    unsafe { &*private.cast::<Number>() }.set(value);
    OK
}

/// Shows a setting that is yes or no.
pub unsafe extern "C" fn get_switch(_name: *const c_char, private: *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe { &*private.cast::<Switch>() }.get().into()
}

/// Changes a setting that is yes or no.
pub unsafe extern "C" fn set_switch(
    _name: *const c_char,
    value: c_int,
    private: *mut c_void,
    _error: *mut *mut api::String,
) -> c_int {
    // SAFETY: as above.
    unsafe { &*private.cast::<Switch>() }.set(value != 0);
    OK
}

/// Shows a setting that is words.
pub unsafe extern "C" fn get_text(_name: *const c_char, private: *mut c_void) -> *mut api::String {
    // SAFETY: as above. The engine reads the string and leaves it to us.
    unsafe { &*private.cast::<Text>() }.shown.load(Ordering::Relaxed).cast()
}

/// Changes a setting that is words.
pub unsafe extern "C" fn set_text(
    _name: *const c_char,
    value: *mut api::String,
    private: *mut c_void,
    error: *mut *mut api::String,
) -> c_int {
    // SAFETY: as above; `value` is a string of the engine, `error` a place for one, which it frees.
    fence(ERR, || unsafe {
        let text = &*private.cast::<Text>();
        let mut length = 0;
        let start = api::StringPtrLen(value, &mut length);
        let make = |bytes: &[u8]| {
            let start = bytes.as_ptr().cast::<c_char>();
            api::CreateString(null_mut(), start, bytes.len())
        };
        let words = slice::from_raw_parts(start.cast::<u8>(), length);
        if let Err(refusal) = text.set(words) {
            *error = make(refusal.text().trim_start_matches("ERR ").as_bytes());
            return ERR;
        }
        let old = text.shown.swap(make(words).cast(), Ordering::Relaxed);
        if !old.is_null() {
            api::FreeString(null_mut(), old.cast());
        }
        OK
    })
}
