//! The part of the engine's C interface that we use, declared by hand.
//!
//! Every name is the engine's own without its prefix: what `RedisModule_OpenKey` does is said in the
//! engine's manual, and here it is `api::OpenKey`. One table has all functions with their types. From it
//! come the functions that we call, the search for them when the module loads, and the refusal to load
//! where one is missing.
//!
//! C does not check types across libraries. So whatever is declared here is called by
//! `module/tests/test_interface.py` on every engine, and sizes are asserted in `types`.

#![allow(unsafe_code, non_snake_case, clippy::too_many_arguments)]

mod types;

use std::ffi::{CStr, c_char, c_double, c_int, c_long, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

pub use types::*;

macro_rules! interface {
    (
        required {$(
            fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;
        )*}
        variadic {$(
            fn $open_name:ident($($open_arg:ident: $open_type:ty),*) $(-> $open_result:ty)?;
        )*}
        $(optional $prefix:literal {$(
            fn $maybe_name:ident($($maybe_arg:ident: $maybe_type:ty),*) $(-> $maybe_result:ty)?;
        )*})*
    ) => {
        /// The place of each function among all.
        #[derive(Clone, Copy)]
        enum Place {
            $($name,)*
            $($open_name,)*
            $($($maybe_name,)*)*
        }

        /// The functions by their names in the engine, and whether we need them.
        const NAMES: &[(&CStr, bool)] = &[
            $((c_string(concat!("RedisModule_", stringify!($name), "\0")), true),)*
            $((c_string(concat!("RedisModule_", stringify!($open_name), "\0")), true),)*
            $($((c_string(concat!($prefix, stringify!($maybe_name), "\0")), false),)*)*
        ];

        $(
            #[inline(always)]
            pub unsafe fn $name($($arg: $type),*) $(-> $result)? {
                // SAFETY: the engine has it, of this type; the caller vouches for the arguments.
                unsafe {
                    let function: unsafe extern "C" fn($($type),*) $(-> $result)? =
                        transmute(find(Place::$name));
                    function($($arg),*)
                }
            }
        )*

        $(
            /// The function itself, because arguments of any number cannot be handed on.
            #[inline(always)]
            pub unsafe fn $open_name()
            -> unsafe extern "C" fn($($open_arg: $open_type,)* ...) $(-> $open_result)? {
                // SAFETY: the engine has it, of this type.
                unsafe { transmute(find(Place::$open_name)) }
            }
        )*

        $($(
            /// The function, where the engine has it.
            #[inline(always)]
            pub fn $maybe_name()
            -> Option<unsafe extern "C" fn($($maybe_arg: $maybe_type),*) $(-> $maybe_result)?> {
                // SAFETY: null is `None`, and what the engine has is of this type.
                unsafe { transmute(find(Place::$maybe_name)) }
            }
        )*)*
    };
}

interface! {
    required {
        // Memory.
        fn TryAlloc(bytes: usize) -> *mut c_void;
        fn Calloc(count: usize, bytes: usize) -> *mut c_void;
        fn Realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
        fn Free(block: *mut c_void);
        fn MallocSize(block: *mut c_void) -> usize;
        fn DefragAlloc(ctx: *mut DefragCtx, block: *mut c_void) -> *mut c_void;

        // What the engine is told when the module loads.
        fn IsModuleNameBusy(name: *const c_char) -> c_int;
        fn SetModuleAttribs(ctx: *mut Ctx, name: *const c_char, version: c_int, interface: c_int);
        fn SetModuleOptions(ctx: *mut Ctx, options: c_int);
        fn CreateDataType(
            ctx: *mut Ctx, name: *const c_char, version: c_int, methods: *mut TypeMethods
        ) -> *mut Type;
        fn CreateCommand(
            ctx: *mut Ctx, name: *const c_char, function: CmdFunc, flags: *const c_char,
            first_key: c_int, last_key: c_int, key_step: c_int
        ) -> c_int;
        fn GetCommand(ctx: *mut Ctx, name: *const c_char) -> *mut Command;
        fn SetCommandInfo(command: *mut Command, info: *const CommandInfo) -> c_int;
        fn RegisterNumericConfig(
            ctx: *mut Ctx, name: *const c_char, default: i64, flags: c_uint, least: i64, most: i64,
            get: ConfigGet<i64>, set: ConfigSet<i64>, apply: Option<ConfigApply>,
            private: *mut c_void
        ) -> c_int;
        fn RegisterStringConfig(
            ctx: *mut Ctx, name: *const c_char, default: *const c_char, flags: c_uint,
            get: ConfigGet<*mut String>, set: ConfigSet<*mut String>, apply: Option<ConfigApply>,
            private: *mut c_void
        ) -> c_int;
        fn RegisterBoolConfig(
            ctx: *mut Ctx, name: *const c_char, default: c_int, flags: c_uint,
            get: ConfigGet<c_int>, set: ConfigSet<c_int>, apply: Option<ConfigApply>,
            private: *mut c_void
        ) -> c_int;
        fn LoadConfigs(ctx: *mut Ctx) -> c_int;
        fn CreateTimer(
            ctx: *mut Ctx, millis: i64, function: TimerFunc, private: *mut c_void
        ) -> u64;
        fn RegisterInfoFunc(ctx: *mut Ctx, function: InfoFunc) -> c_int;

        // Strings.
        fn CreateString(ctx: *mut Ctx, start: *const c_char, length: usize) -> *mut String;
        fn FreeString(ctx: *mut Ctx, string: *mut String);
        fn StringPtrLen(string: *const String, length: *mut usize) -> *const c_char;

        // Keys and their values.
        fn OpenKey(ctx: *mut Ctx, name: *mut String, mode: c_int) -> *mut Key;
        fn CloseKey(key: *mut Key);
        fn SelectDb(ctx: *mut Ctx, database: c_int) -> c_int;
        fn GetSelectedDb(ctx: *mut Ctx) -> c_int;
        fn ScanCursorCreate() -> *mut ScanCursor;
        fn ScanCursorDestroy(cursor: *mut ScanCursor);
        fn Scan(
            ctx: *mut Ctx, cursor: *mut ScanCursor, function: ScanFunc, private: *mut c_void
        ) -> c_int;
        fn KeyType(key: *mut Key) -> c_int;
        fn ModuleTypeGetType(key: *mut Key) -> *mut Type;
        fn ModuleTypeGetValue(key: *mut Key) -> *mut c_void;
        fn ModuleTypeSetValue(key: *mut Key, kind: *mut Type, value: *mut c_void) -> c_int;
        fn ModuleTypeReplaceValue(
            key: *mut Key, kind: *mut Type, value: *mut c_void, old: *mut *mut c_void
        ) -> c_int;

        // A command and what surrounds it.
        fn GetContextFlags(ctx: *mut Ctx) -> c_int;
        fn AvoidReplicaTraffic() -> c_int;
        fn RedactClientCommandArgument(ctx: *mut Ctx, place: c_int) -> c_int;
        fn GetRandomBytes(start: *mut u8, length: usize);
        fn Milliseconds() -> i64;
        fn ReplicateVerbatim(ctx: *mut Ctx) -> c_int;
        fn NotifyKeyspaceEvent(
            ctx: *mut Ctx, kind: c_int, event: *const c_char, key: *mut String
        ) -> c_int;
        fn GetServerInfo(ctx: *mut Ctx, section: *const c_char) -> *mut ServerInfoData;
        fn ServerInfoGetFieldUnsigned(
            info: *mut ServerInfoData, field: *const c_char, error: *mut c_int
        ) -> u64;
        fn FreeServerInfo(ctx: *mut Ctx, info: *mut ServerInfoData);

        // Answers.
        fn ReplyWithSimpleString(ctx: *mut Ctx, text: *const c_char) -> c_int;
        fn ReplyWithError(ctx: *mut Ctx, text: *const c_char) -> c_int;
        fn ReplyWithLongLong(ctx: *mut Ctx, number: i64) -> c_int;
        fn ReplyWithBool(ctx: *mut Ctx, yes: c_int) -> c_int;
        fn ReplyWithDouble(ctx: *mut Ctx, number: c_double) -> c_int;
        fn ReplyWithStringBuffer(ctx: *mut Ctx, start: *const c_char, length: usize) -> c_int;
        fn ReplyWithNull(ctx: *mut Ctx) -> c_int;
        fn ReplyWithArray(ctx: *mut Ctx, length: c_long) -> c_int;
        fn ReplyWithMap(ctx: *mut Ctx, length: c_long) -> c_int;
        fn ReplyWithCallReply(ctx: *mut Ctx, reply: *mut CallReply) -> c_int;

        // Answers to ourselves.
        fn CallReplyType(reply: *mut CallReply) -> c_int;
        fn CallReplyLength(reply: *mut CallReply) -> usize;
        fn CallReplyInteger(reply: *mut CallReply) -> i64;
        fn CallReplyArrayElement(reply: *mut CallReply, place: usize) -> *mut CallReply;
        fn FreeCallReply(reply: *mut CallReply);

        // Dumps, synchronizations, digests.
        fn SaveUnsigned(io: *mut IO, number: u64);
        fn SaveStringBuffer(io: *mut IO, start: *const c_char, length: usize);
        fn LoadUnsigned(io: *mut IO) -> u64;
        fn LoadStringBuffer(io: *mut IO, length: *mut usize) -> *mut c_char;
        fn IsIOError(io: *mut IO) -> c_int;
        fn DigestAddStringBuffer(digest: *mut Digest, start: *const c_char, length: usize);
        fn DigestEndSequence(digest: *mut Digest);

        // `INFO`.
        fn InfoAddSection(ctx: *mut InfoCtx, name: *const c_char) -> c_int;
        fn InfoAddFieldULongLong(ctx: *mut InfoCtx, name: *const c_char, number: u64) -> c_int;
    }
    variadic {
        fn Log(ctx: *mut Ctx, level: *const c_char, format: *const c_char);
        fn LogIOError(io: *mut IO, level: *const c_char, format: *const c_char);
        fn Call(
            ctx: *mut Ctx, command: *const c_char, format: *const c_char
        ) -> *mut CallReply;
        fn Replicate(ctx: *mut Ctx, command: *const c_char, format: *const c_char) -> c_int;
        fn EmitAOF(io: *mut IO, command: *const c_char, format: *const c_char);
    }
    optional "RedisModule_" {
        // Since 7.2.
        fn CachedMicroseconds() -> i64;
        fn SetCommandACLCategories(command: *mut Command, categories: *const c_char) -> c_int;
        // Since 7.4, and in Valkey since 8.0.
        fn AddACLCategory(ctx: *mut Ctx, name: *const c_char) -> c_int;
    }
    optional "ValkeyModule_" {
        fn GetModuleOptionsAll() -> c_int;
    }
}

/// Where the functions are; null before the module is loaded, and for those that the engine lacks.
static FOUND: [AtomicPtr<c_void>; NAMES.len()] =
    [const { AtomicPtr::new(null_mut()) }; NAMES.len()];

/// Finds all functions, before anything else is done: not even memory can be had without them. Says in
/// the server's log which ones are missing that we need.
///
/// # Safety
///
/// `ctx` comes from the engine, for the time of the load callback.
pub unsafe fn load(ctx: *mut Ctx) -> Result<(), Missing> {
    // SAFETY: the first field of a context is the function that finds the others.
    let Some(get_api) = (unsafe { (*ctx).get_api }) else { return Err(Missing) };
    for ((name, _), place) in NAMES.iter().zip(&FOUND) {
        let mut found = null_mut();
        // SAFETY: a C string, and room for a pointer, which stays null if there is none.
        unsafe { get_api(name.as_ptr(), &mut found) };
        place.store(found, Ordering::Relaxed);
    }
    let missing = NAMES
        .iter()
        .zip(&FOUND)
        .filter(|((_, is_needed), found)| *is_needed && found.load(Ordering::Relaxed).is_null());
    let mut outcome = Ok(());
    for ((name, _), _) in missing {
        outcome = Err(Missing);
        if !FOUND[Place::Log as usize].load(Ordering::Relaxed).is_null() {
            let message = c"lately needs Redis 7.0 or later, or Valkey: this server has no %s";
            // SAFETY: the function is there, with a format that takes one C string.
            unsafe { Log()(ctx, c"warning".as_ptr(), message.as_ptr(), name.as_ptr()) };
        }
    }
    outcome
}

/// The engine lacks a function that we need.
#[derive(Debug)]
pub struct Missing;

/// Where a function is.
#[inline(always)]
fn find(place: Place) -> *mut c_void {
    #[cfg(debug_assertions)]
    CALLS[place as usize].fetch_add(1, Ordering::Relaxed);
    FOUND[place as usize].load(Ordering::Relaxed)
}

/// How often each function was called, for the test that none is declared in vain or wrongly.
#[cfg(debug_assertions)]
static CALLS: [std::sync::atomic::AtomicU64; NAMES.len()] =
    [const { std::sync::atomic::AtomicU64::new(0) }; NAMES.len()];

/// The functions that the engine has, by name, and how often each was called so far.
#[cfg(debug_assertions)]
pub fn calls() -> impl Iterator<Item = (&'static CStr, u64)> {
    let functions = NAMES.iter().zip(&FOUND).zip(&CALLS);
    functions
        .filter(|((_, found), _)| !found.load(Ordering::Relaxed).is_null())
        .map(|(((name, _), _), calls)| (*name, calls.load(Ordering::Relaxed)))
}

const fn c_string(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name has its NUL at the end"),
    }
}
