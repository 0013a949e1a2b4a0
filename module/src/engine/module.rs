//! Who lives behind the fence: all that the engine's callbacks ask of the rest of the module. This folder
//! knows nothing else of it.

use std::ffi::{CStr, c_int};

use lately::Span;

use super::call::Call;
use super::docs::Doc;
use super::idle::Idle;
use super::register::Entry;
use super::reply::{Refusal, Reply};
use super::settings::Settings;
use super::streams::{Incoming, Outgoing, Remade};

/// A module: its keys, its commands, its settings, and what it does between commands.
pub trait Module: Sized + 'static {
    /// What keys hold.
    type Value: Send + 'static;

    /// Its name, which is also that of its category in access lists.
    const NAME: &CStr;
    /// Its version.
    const VERSION: c_int;
    /// The name of the type of its values: nine characters, as the engine wants.
    const TYPE_NAME: &CStr;
    /// The version of what [`save`](Self::save) writes.
    const RECORD_VERSION: c_int;
    /// The commands that it cannot do without.
    const COMMANDS: &'static [Entry<Self>];
    /// A command that takes no words and answers [`rehearsed`](super::rehearsed) if there is such a thing.
    const REHEARSAL: &CStr;
    /// Its settings.
    const SETTINGS: Settings;
    /// How long after it was loaded, or failed, it wants to be called between commands.
    const PAUSE: Span;

    /// Commands that it does without if another module has them, and what is told then.
    fn more_commands() -> Option<(&'static [Entry<Self>], &'static CStr)>;

    /// What `INFO` shows, by name.
    fn metrics() -> Vec<(&'static CStr, u64)>;

    /// Called between commands; says after which pause to call again.
    fn look_after(idle: &mut Idle<Self>) -> Span;

    /// Reads a value, of this version or an earlier one.
    fn load(from: &mut Incoming<'_>) -> Result<Self::Value, String>;

    /// Writes a value.
    fn save(value: &Self::Value, to: &mut Outgoing<'_>);

    /// The command that makes a value again.
    fn remake(value: &Self::Value) -> Remade<'_>;

    /// Bytes in memory of a value, itself included.
    fn memory_bytes(value: &Self::Value) -> usize;

    /// Everything that distinguishes a value from others.
    fn digest(value: &Self::Value) -> Vec<u8>;

    /// The same value once more, if there is memory for it.
    fn copy(value: &Self::Value) -> Option<Self::Value>;
}

/// A command of a module.
pub trait Command<M: Module> {
    /// What it tells about itself.
    const DOC: Doc;

    /// Carries it out.
    fn run(call: &mut Call<'_, M>) -> Result<Reply, Refusal>;
}

/// Has the engine find a module when it loads this library.
macro_rules! export {
    ($module:ty) => {
        /// Called once, first of all.
        ///
        /// # Safety
        ///
        /// Only the engine calls it, with a context in which its interface can be looked up.
        #[unsafe(no_mangle)]
        #[allow(unsafe_code, non_snake_case)]
        pub unsafe extern "C" fn RedisModule_OnLoad(
            ctx: *mut ::std::ffi::c_void,
            _words: *mut ::std::ffi::c_void,
            count: ::std::ffi::c_int,
        ) -> ::std::ffi::c_int {
            // SAFETY: as above; and there is one such function in a library, so one module.
            unsafe { $crate::engine::on_load::<$module>(ctx, count) }
        }
    };
}

pub(crate) use export;
