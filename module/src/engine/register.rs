//! What the engine is told when the module loads: the type, the commands, the settings.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_int, c_void};
use std::marker::PhantomData;
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::api;
use super::callbacks;
use super::docs::{Arg, Doc, Effect, Keys, Kind};
use super::module::{Command, Module};
use super::settings::Settings;

/// One command of the table of a module.
pub struct Entry<M> {
    /// What it tells about itself.
    pub doc: &'static Doc,
    handler: api::CmdFunc,
    module: PhantomData<M>,
}

/// The entry of a command.
pub const fn command<M: Module, C: Command<M>>() -> Entry<M> {
    Entry { doc: &C::DOC, handler: callbacks::run::<M, C>, module: PhantomData }
}

static DATA_TYPE: AtomicPtr<api::Type> = AtomicPtr::new(null_mut());

/// The engine's handle of our type.
pub fn data_type() -> *mut api::Type {
    DATA_TYPE.load(Ordering::Relaxed)
}

/// Something the engine refused.
#[derive(Debug)]
pub struct Rejected;

fn accepted(status: c_int) -> Result<(), Rejected> {
    if status == api::OK { Ok(()) } else { Err(Rejected) }
}

/// Registers the type of our values.
///
/// # Safety
///
/// `ctx` is the context of the load callback, and the API is initialized. So for all below.
pub unsafe fn register_type<M: Module>(ctx: *mut api::Ctx) -> Result<(), Rejected> {
    // SAFETY: all callbacks left null are optional.
    let mut methods: api::TypeMethods = unsafe { zeroed() };
    methods.version = api::TYPE_METHOD_VERSION;
    methods.rdb_load = Some(callbacks::rdb_load::<M>);
    methods.rdb_save = Some(callbacks::rdb_save::<M>);
    methods.aof_rewrite = Some(callbacks::aof_rewrite::<M>);
    methods.mem_usage = Some(callbacks::mem_usage::<M>);
    methods.digest = Some(callbacks::digest::<M>);
    methods.free = Some(callbacks::free::<M>);
    methods.free_effort = Some(callbacks::free_effort::<M>);
    methods.copy = Some(callbacks::copy::<M>);
    methods.defrag = Some(callbacks::defrag);
    // SAFETY: the caller vouches for `ctx`; the engine copies `methods`.
    let data_type =
        unsafe { api::CreateDataType(ctx, M::TYPE_NAME.as_ptr(), M::RECORD_VERSION, &mut methods) };
    DATA_TYPE.store(data_type, Ordering::Relaxed);
    if data_type.is_null() { Err(Rejected) } else { Ok(()) }
}

/// Registers the settings and takes what the configuration file says about them.
pub unsafe fn register_settings(ctx: *mut api::Ctx, settings: &Settings) -> Result<(), Rejected> {
    // SAFETY: the caller vouches for `ctx`; names and defaults are static, and so are the settings
    // that come back to the callbacks as private data.
    unsafe {
        for number in settings.numbers.iter().copied() {
            let memory = if number.is_memory { api::CONFIG_MEMORY } else { 0 };
            accepted(api::RegisterNumericConfig(
                ctx,
                number.name.as_ptr(),
                number.default,
                memory,
                number.range.0,
                number.range.1,
                callbacks::get_number,
                callbacks::set_number,
                None,
                private(number),
            ))?;
        }
        for text in settings.texts.iter().copied() {
            accepted(api::RegisterStringConfig(
                ctx,
                text.name.as_ptr(),
                text.default.as_ptr(),
                api::CONFIG_DEFAULT,
                callbacks::get_text,
                callbacks::set_text,
                None,
                private(text),
            ))?;
        }
        for switch in settings.switches.iter().copied() {
            accepted(api::RegisterBoolConfig(
                ctx,
                switch.name.as_ptr(),
                switch.default.into(),
                if switch.is_fixed { api::CONFIG_IMMUTABLE } else { api::CONFIG_DEFAULT },
                callbacks::get_switch,
                callbacks::set_switch,
                None,
                private(switch),
            ))?;
        }
        accepted(api::LoadConfigs(ctx))
    }
}

fn private<T>(setting: &'static T) -> *mut c_void {
    (&raw const *setting).cast_mut().cast()
}

/// Registers one command with all that is known about it.
pub unsafe fn register_command<M: Module>(
    ctx: *mut api::Ctx,
    entry: &Entry<M>,
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
        accepted(api::CreateCommand(
            ctx,
            name.as_ptr(),
            entry.handler,
            effect.flags().as_ptr(),
            first,
            last.0,
            last.1,
        ))?;
        let command = api::GetCommand(ctx, name.as_ptr());
        let specifications = key_specifications(entry.doc);
        let arguments = Arguments::of(args);
        let version = api::CommandInfoVersion {
            version: api::COMMAND_INFO_VERSION,
            sizeof_historyentry: size_of::<api::CommandHistoryEntry>(),
            sizeof_keyspec: size_of::<api::CommandKeySpec>(),
            sizeof_arg: size_of::<api::CommandArg>(),
        };
        let info = api::CommandInfo {
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
        accepted(api::SetCommandInfo(command, &info))?;

        // Engines before 7.2 derive the categories from the flags.
        if let Some(set_categories) = api::SetCommandACLCategories() {
            let mut categories = effect.categories().to_bytes().to_vec();
            if let Some(_ours) = api::AddACLCategory() {
                categories.push(b' ');
                categories.extend_from_slice(M::NAME.to_bytes());
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
pub unsafe fn register_category(ctx: *mut api::Ctx, name: &CStr) {
    // SAFETY: the caller vouches for `ctx`. Being refused costs nothing but the category's name.
    unsafe {
        if let Some(add) = api::AddACLCategory() {
            add(ctx, name.as_ptr());
        }
    }
}

fn key_specifications(doc: &Doc) -> Vec<api::CommandKeySpec> {
    let first = match doc.effect {
        Effect::Read | Effect::ReadAll | Effect::Nothing => api::CMD_KEY_RO | api::CMD_KEY_ACCESS,
        Effect::Write | Effect::Free => api::CMD_KEY_RW | api::CMD_KEY_ACCESS | api::CMD_KEY_UPDATE,
        Effect::WriteAll => api::CMD_KEY_RW | api::CMD_KEY_UPDATE,
    };
    let sources = api::CMD_KEY_RO | api::CMD_KEY_ACCESS;
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
fn key_range(flags: u64, first: c_int, last: c_int) -> api::CommandKeySpec {
    // SAFETY: plain data; what matters is set below.
    let mut spec: api::CommandKeySpec = unsafe { zeroed() };
    spec.flags = flags;
    spec.begin_search_type = api::KSPEC_BS_INDEX;
    spec.bs.index = first;
    spec.find_keys_type = api::KSPEC_FK_RANGE;
    spec.fk.range = api::KeyRange { lastkey: last, keystep: 1, limit: 0 };
    spec
}

/// Arguments as the engine wants them: lists that end with zeros, pointing at further lists.
struct Arguments {
    list: Vec<api::CommandArg>,
    /// Kept alive for the pointers in `list`.
    _parts: Vec<Arguments>,
}

impl Arguments {
    fn of(args: &'static [Arg]) -> Self {
        let mut list = Vec::new();
        let mut parts = Vec::new();
        for arg in args {
            // SAFETY: plain data; null pointers mean nothing was said.
            let mut one: api::CommandArg = unsafe { zeroed() };
            one.name = arg.name.as_ptr();
            one.token = arg.token.map_or(null(), CStr::as_ptr);
            one.key_spec_index = -1;
            one.flags = if arg.optional { api::CMD_ARG_OPTIONAL } else { 0 }
                | if arg.multiple { api::CMD_ARG_MULTIPLE } else { 0 };
            one.type_ = match arg.kind {
                Kind::Key(place) => {
                    one.key_spec_index = place;
                    api::ARG_TYPE_KEY
                }
                Kind::Bytes => api::ARG_TYPE_STRING,
                Kind::Integer => api::ARG_TYPE_INTEGER,
                Kind::Fraction => api::ARG_TYPE_DOUBLE,
                Kind::Moment => api::ARG_TYPE_UNIX_TIME,
                Kind::Token => api::ARG_TYPE_PURE_TOKEN,
                Kind::OneOf(_) => api::ARG_TYPE_ONEOF,
                Kind::Block(_) => api::ARG_TYPE_BLOCK,
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
