//! What the engine is told when the module loads: the type, the commands, the settings.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_int, c_void};
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use valkey_module::raw;

use super::callbacks::{self, Handler};
use crate::commands::Command;
use crate::docs::{Arg, Doc, Keys, Kind};
use crate::{config, persist};

/// One command of the table.
pub struct Entry {
    /// What it tells about itself.
    pub doc: &'static Doc,
    handler: Handler,
}

/// The entry of a command.
pub const fn command<C: Command>() -> Entry {
    Entry { doc: &C::DOC, handler: callbacks::run::<C> }
}

/// The name of our type: nine characters, as the engine wants.
const TYPE_NAME: &CStr = c"lately-rs";

/// The category of our commands in access lists, where the engine lets us add one.
const CATEGORY: &CStr = c"lately";

static DATA_TYPE: AtomicPtr<raw::RedisModuleType> = AtomicPtr::new(null_mut());

/// The engine's handle of our type.
pub fn data_type() -> *mut raw::RedisModuleType {
    DATA_TYPE.load(Ordering::Relaxed)
}

/// Something the engine refused.
#[derive(Debug)]
pub struct Rejected;

fn accepted(status: c_int) -> Result<(), Rejected> {
    if status as isize == raw::REDISMODULE_OK { Ok(()) } else { Err(Rejected) }
}

/// Registers the type of our values.
///
/// # Safety
///
/// `ctx` is the context of the load callback, and the API is initialized. So for all below.
pub unsafe fn register_type(ctx: *mut raw::RedisModuleCtx) -> Result<(), Rejected> {
    // SAFETY: all callbacks left null are optional.
    let mut methods: raw::RedisModuleTypeMethods = unsafe { zeroed() };
    methods.version = raw::REDISMODULE_TYPE_METHOD_VERSION.into();
    methods.rdb_load = Some(callbacks::rdb_load);
    methods.rdb_save = Some(callbacks::rdb_save);
    methods.aof_rewrite = Some(callbacks::aof_rewrite);
    methods.mem_usage = Some(callbacks::mem_usage);
    methods.digest = Some(callbacks::digest);
    methods.free = Some(callbacks::free);
    methods.free_effort = Some(callbacks::free_effort);
    methods.copy = Some(callbacks::copy);
    methods.defrag = Some(callbacks::defrag);
    // SAFETY: the caller vouches for `ctx`; the engine copies `methods`.
    let data_type = unsafe {
        raw::RedisModule_CreateDataType.ok_or(Rejected)?(
            ctx,
            TYPE_NAME.as_ptr(),
            persist::RECORD_VERSION,
            &mut methods,
        )
    };
    DATA_TYPE.store(data_type, Ordering::Relaxed);
    if data_type.is_null() { Err(Rejected) } else { Ok(()) }
}

/// Registers the settings and takes what the configuration file says about them.
pub unsafe fn register_settings(ctx: *mut raw::RedisModuleCtx) -> Result<(), Rejected> {
    // SAFETY: the caller vouches for `ctx`; names and defaults are static, and so are the settings
    // that come back to the callbacks as private data.
    unsafe {
        for number in config::NUMBERS {
            let memory = if number.is_memory { raw::REDISMODULE_CONFIG_MEMORY } else { 0 };
            accepted(raw::RedisModule_RegisterNumericConfig.ok_or(Rejected)?(
                ctx,
                number.name.as_ptr(),
                number.default,
                memory,
                number.range.0,
                number.range.1,
                Some(callbacks::get_number),
                Some(callbacks::set_number),
                None,
                private(number),
            ))?;
        }
        for text in config::TEXTS {
            accepted(raw::RedisModule_RegisterStringConfig.ok_or(Rejected)?(
                ctx,
                text.name.as_ptr(),
                text.default.as_ptr(),
                raw::REDISMODULE_CONFIG_DEFAULT,
                Some(callbacks::get_text),
                Some(callbacks::set_text),
                None,
                private(text),
            ))?;
        }
        for switch in config::SWITCHES {
            accepted(raw::RedisModule_RegisterBoolConfig.ok_or(Rejected)?(
                ctx,
                switch.name.as_ptr(),
                switch.default.into(),
                raw::REDISMODULE_CONFIG_IMMUTABLE,
                Some(callbacks::get_switch),
                Some(callbacks::set_switch),
                None,
                private(switch),
            ))?;
        }
        accepted(raw::RedisModule_LoadConfigs.ok_or(Rejected)?(ctx))
    }
}

fn private<T>(setting: &'static T) -> *mut c_void {
    (&raw const *setting).cast_mut().cast()
}

/// Registers one command with all that is known about it.
pub unsafe fn register_command(
    ctx: *mut raw::RedisModuleCtx,
    entry: &Entry,
) -> Result<(), Rejected> {
    let Doc { name, summary, complexity, arity, effect, keys, args } = entry.doc;
    let last = match keys {
        Keys::None => (0, 0),
        Keys::First => (1, 1),
        Keys::FirstThenSources => (-1, 1),
    };
    let first = c_int::from(*keys != Keys::None);
    // SAFETY: the caller vouches for `ctx`; all names are C strings, and the engine copies what it
    // keeps of the description before `specifications` and `arguments` are dropped.
    unsafe {
        accepted(raw::RedisModule_CreateCommand.ok_or(Rejected)?(
            ctx,
            name.as_ptr(),
            Some(entry.handler),
            effect.flags().as_ptr(),
            first,
            last.0,
            last.1,
        ))?;
        let command = raw::RedisModule_GetCommand.ok_or(Rejected)?(ctx, name.as_ptr());
        let specifications = key_specifications(entry.doc);
        let arguments = Arguments::of(args);
        let version = raw::RedisModuleCommandInfoVersion {
            version: 1,
            sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
            sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
            sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
        };
        let info = raw::RedisModuleCommandInfo {
            version: &version,
            summary: summary.as_ptr(),
            complexity: complexity.as_ptr(),
            since: SINCE.as_ptr(),
            history: null_mut(),
            tips: null(),
            arity: *arity,
            key_specs: specifications.as_ptr().cast_mut(),
            args: arguments.list.as_ptr().cast_mut(),
        };
        accepted(raw::RedisModule_SetCommandInfo.ok_or(Rejected)?(command, &info))?;

        // Engines before 7.2 derive the categories from the flags.
        if let Some(set_categories) = raw::RedisModule_SetCommandACLCategories {
            let mut categories = effect.categories().to_bytes().to_vec();
            if let Some(_ours) = raw::RedisModule_AddACLCategory {
                categories.push(b' ');
                categories.extend_from_slice(CATEGORY.to_bytes());
            }
            let categories = CString::new(categories).expect("made of C strings");
            accepted(set_categories(command, categories.as_ptr()))?;
        }
    }
    Ok(())
}

/// The release that brought all commands so far.
const SINCE: &CStr = c"0.1.0";

/// Adds our category to access lists, where the engine has such a thing.
pub unsafe fn register_category(ctx: *mut raw::RedisModuleCtx) {
    // SAFETY: the caller vouches for `ctx`. Being refused costs nothing but the category's name.
    unsafe {
        if let Some(add) = raw::RedisModule_AddACLCategory {
            add(ctx, CATEGORY.as_ptr());
        }
    }
}

fn key_specifications(doc: &Doc) -> Vec<raw::RedisModuleCommandKeySpec> {
    use crate::docs::Effect;
    let first = match doc.effect {
        Effect::Read | Effect::ReadAll | Effect::Nothing => {
            raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS
        }
        Effect::Write => {
            raw::REDISMODULE_CMD_KEY_RW
                | raw::REDISMODULE_CMD_KEY_ACCESS
                | raw::REDISMODULE_CMD_KEY_UPDATE
        }
        Effect::WriteAll => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_UPDATE,
    };
    let sources = raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS;
    let mut list = match doc.keys {
        Keys::None => vec![],
        Keys::First => vec![key_range(first, 1, 0)],
        Keys::FirstThenSources => vec![key_range(first, 1, 0), key_range(sources, 2, -1)],
    };
    // SAFETY: zeros end the list.
    list.push(unsafe { zeroed() });
    list
}

/// Keys from the word at `first` to the word `last` further on, or to the end if that is -1.
fn key_range(flags: u32, first: c_int, last: c_int) -> raw::RedisModuleCommandKeySpec {
    // SAFETY: plain data; what matters is set below.
    let mut spec: raw::RedisModuleCommandKeySpec = unsafe { zeroed() };
    spec.flags = flags.into();
    spec.begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
    spec.bs.index.pos = first;
    spec.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
    // SAFETY: a plain union; the type above says which part of it is read.
    let range = unsafe { &mut spec.fk.range };
    range.lastkey = last;
    range.keystep = 1;
    range.limit = 0;
    spec
}

/// Arguments as the engine wants them: lists that end with zeros, pointing at further lists.
struct Arguments {
    list: Vec<raw::RedisModuleCommandArg>,
    /// Kept alive for the pointers in `list`.
    _parts: Vec<Arguments>,
}

impl Arguments {
    fn of(args: &'static [Arg]) -> Self {
        let mut list = Vec::new();
        let mut parts = Vec::new();
        for arg in args {
            // SAFETY: plain data; null pointers mean nothing was said.
            let mut one: raw::RedisModuleCommandArg = unsafe { zeroed() };
            one.name = arg.name.as_ptr();
            one.token = arg.token.map_or(null(), CStr::as_ptr);
            one.key_spec_index = -1;
            one.flags = (if arg.optional { raw::REDISMODULE_CMD_ARG_OPTIONAL } else { 0 }
                | if arg.multiple { raw::REDISMODULE_CMD_ARG_MULTIPLE } else { 0 })
                as c_int;
            use raw::{
                RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_BLOCK as BLOCK,
                RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_DOUBLE as DOUBLE,
                RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_INTEGER as INTEGER,
                RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY as KEY,
                RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_ONEOF as ONE_OF,
                RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_PURE_TOKEN as TOKEN,
                RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_STRING as STRING,
                RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_UNIX_TIME as MOMENT,
            };
            one.type_ = match arg.kind {
                Kind::Key(place) => {
                    one.key_spec_index = place;
                    KEY
                }
                Kind::Bytes => STRING,
                Kind::Integer => INTEGER,
                Kind::Fraction => DOUBLE,
                Kind::Moment => MOMENT,
                Kind::Token => TOKEN,
                Kind::OneOf(_) => ONE_OF,
                Kind::Block(_) => BLOCK,
            };
            if let Kind::OneOf(inner) | Kind::Block(inner) = arg.kind {
                let inner = Arguments::of(inner);
                one.subargs = inner.list.as_ptr().cast_mut();
                parts.push(inner);
            }
            list.push(one);
        }
        // SAFETY: zeros end the list.
        list.push(unsafe { zeroed() });
        Self { list, _parts: parts }
    }
}
