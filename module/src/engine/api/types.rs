//! The types and constants of the interface, laid out as the engine's C compiler does.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// Types of which the engine hands out pointers only.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub struct $name {
            _unknown: [u8; 0],
        }
    )*};
}

handles! {
    /// An answer to a command that the module gave itself.
    CallReply;
    /// A command.
    Command;
    /// One visit of the engine that moves values to where memory is less scattered.
    DefragCtx;
    /// A digest under way.
    Digest;
    /// An `INFO` under way.
    InfoCtx;
    /// A dump, a synchronization or an append-only file under way.
    IO;
    /// An open key.
    Key;
    /// How far a walk through the keys has come.
    ScanCursor;
    /// What `INFO` says.
    ServerInfoData;
    /// Bytes.
    String;
    /// A type of values.
    Type;
}

/// What the engine passes to whatever it calls.
#[repr(C)]
pub struct Ctx {
    /// The function that finds all others: the one field that the engine tells of.
    pub(super) get_api: Option<GetApi>,
}

/// Writes where the function of a name is, if there is one.
pub(super) type GetApi =
    unsafe extern "C" fn(name: *const c_char, found: *mut *mut c_void) -> c_int;

/// A command, as the engine calls it.
pub type CmdFunc = unsafe extern "C" fn(*mut Ctx, *mut *mut String, c_int) -> c_int;

/// What the engine calls when a timer is due.
pub type TimerFunc = unsafe extern "C" fn(*mut Ctx, private: *mut c_void);

/// What the engine calls for every key of a walk.
pub type ScanFunc =
    unsafe extern "C" fn(*mut Ctx, name: *mut String, *mut Key, private: *mut c_void);

/// What the engine calls for our section of `INFO`.
pub type InfoFunc = unsafe extern "C" fn(*mut InfoCtx, for_crash_report: c_int);

/// What the engine calls to show a setting.
pub type ConfigGet<T> = unsafe extern "C" fn(name: *const c_char, private: *mut c_void) -> T;

/// What the engine calls to change a setting.
pub type ConfigSet<T> = unsafe extern "C" fn(
    name: *const c_char,
    value: T,
    private: *mut c_void,
    error: *mut *mut String,
) -> c_int;

/// What the engine calls once several settings have changed.
pub type ConfigApply =
    unsafe extern "C" fn(ctx: *mut Ctx, private: *mut c_void, error: *mut *mut String) -> c_int;

/// What the engine calls for values of a type. Later versions of it have more fields, which engines do
/// not look for in this one.
#[repr(C)]
pub struct TypeMethods {
    /// [`TYPE_METHOD_VERSION`].
    pub version: u64,
    /// Reads a value.
    pub rdb_load: Option<unsafe extern "C" fn(*mut IO, version: c_int) -> *mut c_void>,
    /// Writes a value.
    pub rdb_save: Option<unsafe extern "C" fn(*mut IO, value: *mut c_void)>,
    /// Writes a value as commands.
    pub aof_rewrite: Option<unsafe extern "C" fn(*mut IO, key: *mut String, value: *mut c_void)>,
    /// Bytes of a value.
    pub mem_usage: Option<unsafe extern "C" fn(value: *const c_void) -> usize>,
    /// What distinguishes a value from others.
    pub digest: Option<unsafe extern "C" fn(*mut Digest, value: *mut c_void)>,
    /// Frees a value.
    pub free: Option<unsafe extern "C" fn(value: *mut c_void)>,
    /// Reads what belongs to no key.
    pub aux_load: Option<unsafe extern "C" fn(*mut IO, version: c_int, when: c_int) -> c_int>,
    /// Writes what belongs to no key.
    pub aux_save: Option<unsafe extern "C" fn(*mut IO, when: c_int)>,
    /// When to write it.
    pub aux_save_triggers: c_int,
    /// How much work it is to free a value.
    pub free_effort: Option<unsafe extern "C" fn(key: *mut String, value: *const c_void) -> usize>,
    /// Told that a value leaves its key.
    pub unlink: Option<unsafe extern "C" fn(key: *mut String, value: *const c_void)>,
    /// Copies a value.
    pub copy: Option<
        unsafe extern "C" fn(from: *mut String, to: *mut String, *const c_void) -> *mut c_void,
    >,
    /// Moves a value.
    pub defrag: Option<
        unsafe extern "C" fn(*mut DefragCtx, key: *mut String, value: *mut *mut c_void) -> c_int,
    >,
}

/// What a command tells about itself.
#[repr(C)]
pub struct CommandInfo {
    /// How large the parts of this are.
    pub version: *const CommandInfoVersion,
    /// What it does.
    pub summary: *const c_char,
    /// How its time grows.
    pub complexity: *const c_char,
    /// Since which release.
    pub since: *const c_char,
    /// What changed; a list that ends with zeros.
    pub history: *mut CommandHistoryEntry,
    /// Advice for clients.
    pub tips: *const c_char,
    /// Number of words with the name; negative if at least that many.
    pub arity: c_int,
    /// Which words are keys; a list that ends with zeros.
    pub key_specs: *mut CommandKeySpec,
    /// Its arguments; a list that ends with zeros.
    pub args: *mut CommandArg,
}

/// How large the parts of a [`CommandInfo`] are, so that later ones may be larger.
#[repr(C)]
pub struct CommandInfoVersion {
    /// [`COMMAND_INFO_VERSION`].
    pub version: c_int,
    /// Bytes of a [`CommandHistoryEntry`].
    pub sizeof_historyentry: usize,
    /// Bytes of a [`CommandKeySpec`].
    pub sizeof_keyspec: usize,
    /// Bytes of a [`CommandArg`].
    pub sizeof_arg: usize,
}

/// One change of a command.
#[repr(C)]
pub struct CommandHistoryEntry {
    /// Since which release.
    pub since: *const c_char,
    /// What changed.
    pub changes: *const c_char,
}

/// Some words of a command that are keys.
#[repr(C)]
pub struct CommandKeySpec {
    /// For those who read it.
    pub notes: *const c_char,
    /// What is done to them: `CMD_KEY_*`.
    pub flags: u64,
    /// How to find the first: `KSPEC_BS_*`.
    pub begin_search_type: c_int,
    /// Where the first is.
    pub bs: BeginSearch,
    /// How to find the others: `KSPEC_FK_*`.
    pub find_keys_type: c_int,
    /// Where the others are.
    pub fk: FindKeys,
}

/// Where the first key of a command is.
#[repr(C)]
#[derive(Clone, Copy)]
pub union BeginSearch {
    /// For [`KSPEC_BS_INDEX`]: its place.
    pub index: c_int,
    /// After a word.
    pub keyword: AfterKeyword,
}

/// A key after a word.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AfterKeyword {
    /// The word.
    pub keyword: *const c_char,
    /// From where on to look for it.
    pub startfrom: c_int,
}

/// Where the other keys of a command are.
#[repr(C)]
#[derive(Clone, Copy)]
pub union FindKeys {
    /// For [`KSPEC_FK_RANGE`].
    pub range: KeyRange,
    /// How many there are is said by a word: its place, that of the first key, the step.
    pub keynum: [c_int; 3],
}

/// Keys in a row.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KeyRange {
    /// The last, counted from the first; or from the end, if negative.
    pub lastkey: c_int,
    /// From one to the next.
    pub keystep: c_int,
    /// Only a part of them, if this is more than 1.
    pub limit: c_int,
}

/// An argument of a command.
#[repr(C)]
pub struct CommandArg {
    /// What it stands for.
    pub name: *const c_char,
    /// What it looks like: `ARG_TYPE_*`.
    pub type_: c_int,
    /// The place of its key among the command's, or -1.
    pub key_spec_index: c_int,
    /// The word that announces it.
    pub token: *const c_char,
    /// What it is for.
    pub summary: *const c_char,
    /// Since which release.
    pub since: *const c_char,
    /// How often it may come: `CMD_ARG_*`.
    pub flags: c_int,
    /// Since which release it should not be used.
    pub deprecated_since: *const c_char,
    /// Its parts; a list that ends with zeros.
    pub subargs: *mut CommandArg,
    /// How it is shown; unknown to Redis 7.0, which is told the size of all this.
    pub display_text: *const c_char,
}

/// What C gives these types on every machine whose pointers have 64 bits.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Ctx>() == 8);
    assert!(size_of::<TypeMethods>() == 112);
    assert!(offset_of!(TypeMethods, free) == 48);
    assert!(offset_of!(TypeMethods, aux_save_triggers) == 72);
    assert!(offset_of!(TypeMethods, free_effort) == 80);
    assert!(offset_of!(TypeMethods, defrag) == 104);
    assert!(size_of::<CommandInfo>() == 72);
    assert!(offset_of!(CommandInfo, arity) == 48);
    assert!(offset_of!(CommandInfo, key_specs) == 56);
    assert!(size_of::<CommandInfoVersion>() == 32);
    assert!(size_of::<CommandHistoryEntry>() == 16);
    assert!(size_of::<CommandKeySpec>() == 56);
    assert!(offset_of!(CommandKeySpec, begin_search_type) == 16);
    assert!(offset_of!(CommandKeySpec, bs) == 24);
    assert!(offset_of!(CommandKeySpec, find_keys_type) == 40);
    assert!(offset_of!(CommandKeySpec, fk) == 44);
    assert!(size_of::<CommandArg>() == 72);
    assert!(offset_of!(CommandArg, key_spec_index) == 12);
    assert!(offset_of!(CommandArg, flags) == 40);
    assert!(offset_of!(CommandArg, subargs) == 56);
};

pub const OK: c_int = 0;
pub const ERR: c_int = 1;
pub const APIVER_1: c_int = 1;

pub const READ: c_int = 1 << 0;
pub const WRITE: c_int = 1 << 1;
pub const OPEN_KEY_NOTOUCH: c_int = 1 << 16;
/// Engines before 7.2 do not know it, and ignore it.
pub const OPEN_KEY_NOSTATS: c_int = 1 << 18;
pub const KEYTYPE_EMPTY: c_int = 0;

pub const REPLY_INTEGER: c_int = 2;
pub const REPLY_ARRAY: c_int = 3;

/// The first with `free_effort`, `copy` and `defrag`.
pub const TYPE_METHOD_VERSION: u64 = 3;
pub const COMMAND_INFO_VERSION: c_int = 1;

pub const CMD_KEY_RO: u64 = 1 << 0;
pub const CMD_KEY_RW: u64 = 1 << 1;
pub const CMD_KEY_ACCESS: u64 = 1 << 4;
pub const CMD_KEY_UPDATE: u64 = 1 << 5;
pub const KSPEC_BS_INDEX: c_int = 2;
pub const KSPEC_FK_RANGE: c_int = 2;

pub const CMD_ARG_OPTIONAL: c_int = 1 << 0;
pub const CMD_ARG_MULTIPLE: c_int = 1 << 1;
pub const ARG_TYPE_STRING: c_int = 0;
pub const ARG_TYPE_INTEGER: c_int = 1;
pub const ARG_TYPE_DOUBLE: c_int = 2;
pub const ARG_TYPE_KEY: c_int = 3;
pub const ARG_TYPE_UNIX_TIME: c_int = 5;
pub const ARG_TYPE_PURE_TOKEN: c_int = 6;
pub const ARG_TYPE_ONEOF: c_int = 7;
pub const ARG_TYPE_BLOCK: c_int = 8;

pub const CONFIG_DEFAULT: c_uint = 0;
pub const CONFIG_IMMUTABLE: c_uint = 1 << 0;
pub const CONFIG_MEMORY: c_uint = 1 << 7;

pub const OPTIONS_HANDLE_IO_ERRORS: c_int = 1 << 0;
pub const OPTIONS_HANDLE_REPL_ASYNC_LOAD: c_int = 1 << 2;
/// Of Valkey alone.
pub const OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION: c_int = 1 << 5;

pub const CTX_FLAGS_SLAVE: c_int = 1 << 3;
pub const CTX_FLAGS_EVICT: c_int = 1 << 9;
pub const CTX_FLAGS_REPLICATED: c_int = 1 << 12;
pub const CTX_FLAGS_LOADING: c_int = 1 << 13;

pub const NOTIFY_MODULE: c_int = 1 << 13;
