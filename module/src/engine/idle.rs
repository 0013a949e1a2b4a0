//! What is done between commands, when the engine's timer says so: keys are opened as a command would, but
//! nobody asked, so nobody's view of them changes: not when they were used last, not what a transaction
//! watches.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

use lately::{Span, Time};

use super::api;
use super::call::our_value;
use super::module::Module;

/// A moment between commands.
pub struct Idle<M> {
    ctx: *mut api::Ctx,
    module: PhantomData<M>,
}

/// Where a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The number of its database.
    pub database: c_int,
    /// Its name.
    pub name: Box<[u8]>,
}

impl<M: Module> Idle<M> {
    /// Takes what the engine passed to a timer.
    ///
    /// # Safety
    ///
    /// `ctx` comes from the engine, and the value is dropped before its call ends.
    pub unsafe fn new(ctx: *mut api::Ctx) -> Self {
        Self { ctx, module: PhantomData }
    }

    /// Whether this server decides what happens to its keys: not a replica, not loading, not handing over.
    pub fn is_in_charge(&self) -> bool {
        // SAFETY: `ctx` is the context of the timer; the other takes nothing.
        unsafe {
            let flags = api::GetContextFlags(self.ctx);
            let not_ours = api::CTX_FLAGS_SLAVE | api::CTX_FLAGS_LOADING;
            flags & not_ours == 0 && api::AvoidReplicaTraffic() == 0
        }
    }

    /// Lets `look` look at the value of a key, if there is one and it is ours.
    pub fn look<T>(
        &mut self,
        address: &Address,
        look: impl FnOnce(&mut M::Value) -> T,
    ) -> Option<T> {
        const QUIETLY: c_int = api::READ | api::OPEN_KEY_NOTOUCH | api::OPEN_KEY_NOSTATS;
        self.select(address.database)?;
        // SAFETY: the context is the timer's, the string is made of a buffer with its length and freed,
        // the key is open while its value is looked at, and closed if it was opened.
        unsafe {
            let start = address.name.as_ptr().cast::<c_char>();
            let name = api::CreateString(self.ctx, start, address.name.len());
            let key = api::OpenKey(self.ctx, name, QUIETLY);
            let seen = our_value::<M>(key).map(look);
            if !key.is_null() {
                api::CloseKey(key);
            }
            api::FreeString(self.ctx, name);
            seen
        }
    }

    /// Sends a command to replicas and to the append-only file: a key, a moment and a number.
    pub fn replicate(&mut self, command: &CStr, address: &Address, moment: Time, number: u64) {
        if self.select(address.database).is_none() {
            return;
        }
        // SAFETY: the format announces a buffer with its length, and two numbers.
        unsafe {
            api::Replicate()(
                self.ctx,
                command.as_ptr(),
                c"bll".as_ptr(),
                address.name.as_ptr().cast::<c_char>(),
                address.name.len(),
                moment.millis() as i64,
                number as i64,
            );
        }
    }

    /// Goes on with a walk through all keys by one small step, and tells of values that are ours; `false`
    /// at its end.
    pub fn walk(&mut self, walk: &mut Walk, mut found: impl FnMut(Address, &mut M::Value)) -> bool {
        if self.select(walk.database).is_none() {
            return false;
        }
        let mut visit = |name: &[u8], value: &mut M::Value| {
            found(Address { database: walk.database, name: name.into() }, value);
        };
        let mut visit: Visit<'_, M> = &mut visit;
        let cursor = walk.cursor.get_or_insert_with(Cursor::new);
        // SAFETY: the cursor is the engine's; it calls `tell` before it returns, with what it was given.
        let more = unsafe {
            api::Scan(self.ctx, cursor.0.as_ptr(), tell::<M>, (&raw mut visit).cast::<c_void>())
        };
        if more == 0 {
            walk.cursor = None;
            walk.database += 1;
        }
        true
    }

    fn select(&mut self, database: c_int) -> Option<()> {
        // SAFETY: `ctx` is the context of the timer.
        let selected = unsafe { api::SelectDb(self.ctx, database) };
        (selected == api::OK).then_some(())
    }
}

/// A walk through the keys of all databases.
#[derive(Debug, Default)]
pub struct Walk {
    database: c_int,
    cursor: Option<Cursor>,
}

/// How far a walk through one database has come.
#[derive(Debug)]
struct Cursor(NonNull<api::ScanCursor>);

// SAFETY: nobody else has it, and the engine's allocator, where it came from, serves any thread.
unsafe impl Send for Cursor {}

impl Cursor {
    fn new() -> Self {
        // SAFETY: takes nothing; the engine ends rather than give none.
        Self(NonNull::new(unsafe { api::ScanCursorCreate() }).expect("the engine makes cursors"))
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        // SAFETY: made by `ScanCursorCreate`, and not destroyed since.
        unsafe { api::ScanCursorDestroy(self.0.as_ptr()) };
    }
}

/// Who is told of keys and their values.
type Visit<'v, M> = &'v mut dyn FnMut(&[u8], &mut <M as Module>::Value);

/// Called by the engine for every key of a step.
unsafe extern "C" fn tell<M: Module>(
    _ctx: *mut api::Ctx,
    name: *mut api::String,
    key: *mut api::Key,
    visit: *mut c_void,
) {
    super::callbacks::fence((), || {
        // SAFETY: the engine passes a name and a key, both valid for this call, and what `walk` gave it.
        unsafe {
            let Some(value) = our_value::<M>(key) else { return };
            let visit = &mut *visit.cast::<Visit<'_, M>>();
            visit(super::call::bytes_of(name), value);
        }
    });
}

/// Has the module called after a pause.
///
/// # Safety
///
/// `ctx` comes from the engine.
pub unsafe fn call_later<M: Module>(ctx: *mut api::Ctx, pause: Span) {
    let millis = pause.millis() as i64;
    // SAFETY: the caller vouches for `ctx`.
    unsafe { api::CreateTimer(ctx, millis, super::callbacks::timer::<M>, null_mut()) };
}
