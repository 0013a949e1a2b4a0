//! Values in dumps, full synchronizations and append-only files: the module says what is written, this
//! file calls the engine to write and read it.

#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::slice;

use super::api;
use super::module::Module;

/// A value on its way in: its parts come in the order in which they were written.
pub struct Incoming<'a> {
    io: *mut api::IO,
    call: PhantomData<&'a ()>,
}

impl Incoming<'_> {
    /// The next part, a number.
    pub fn number(&mut self) -> Result<u64, String> {
        // SAFETY: `io` is the engine's, for as long as `'a`.
        let number = unsafe { api::LoadUnsigned(self.io) };
        if self.failed() { Err(short()) } else { Ok(number) }
    }

    /// The next part, bytes.
    pub fn bytes(&mut self) -> Result<Vec<u8>, String> {
        let mut length = 0;
        // SAFETY: as above; a buffer that the engine gave is ours, of this length, and freed once.
        unsafe {
            let start = api::LoadStringBuffer(self.io, &mut length);
            if start.is_null() || self.failed() {
                return Err(short());
            }
            let bytes = slice::from_raw_parts(start.cast::<u8>(), length).to_vec();
            api::Free(start.cast());
            Ok(bytes)
        }
    }

    fn failed(&self) -> bool {
        // SAFETY: as above.
        unsafe { api::IsIOError(self.io) != 0 }
    }
}

fn short() -> String {
    "the data ends too early".to_owned()
}

/// A value on its way out.
pub struct Outgoing<'a> {
    io: *mut api::IO,
    call: PhantomData<&'a ()>,
}

impl Outgoing<'_> {
    /// Writes a part, a number.
    pub fn number(&mut self, number: u64) {
        // SAFETY: `io` is the engine's, for as long as `'a`.
        unsafe { api::SaveUnsigned(self.io, number) };
    }

    /// Writes a part, bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: as above; the engine copies the bytes.
        unsafe { api::SaveStringBuffer(self.io, bytes.as_ptr().cast::<c_char>(), bytes.len()) };
    }
}

/// A command that makes a value again, but for its key.
pub struct Remade<'a> {
    /// Its name.
    pub command: &'static CStr,
    /// Its words after the key.
    pub words: Vec<Cow<'a, [u8]>>,
}

/// Reads a value; says in the server's log why not, if not.
///
/// # Safety
///
/// `io` comes from the engine, for the time of this call. So for all below.
pub unsafe fn load<M: Module>(io: *mut api::IO, version: c_int) -> Option<M::Value> {
    let value = if version > M::RECORD_VERSION {
        Err(format!("written by a newer lately (record version {version}); upgrade"))
    } else {
        M::load(&mut Incoming { io, call: PhantomData })
    };
    value
        .inspect_err(|problem| {
            let problem = CString::new(problem.as_str()).unwrap_or_default();
            let (level, format) = (c"warning".as_ptr(), c"lately: %s".as_ptr());
            // SAFETY: the caller vouches for `io`; the format takes one C string.
            unsafe { api::LogIOError()(io, level, format, problem.as_ptr()) };
        })
        .ok()
}

/// Writes a value.
pub unsafe fn save<M: Module>(io: *mut api::IO, value: &M::Value) {
    M::save(value, &mut Outgoing { io, call: PhantomData });
}

/// Writes a value as a command that makes it again.
pub unsafe fn rewrite<M: Module>(io: *mut api::IO, key: *mut api::String, value: &M::Value) {
    let Remade { command, words } = M::remake(value);
    // SAFETY: the caller vouches for `io` and `key`. Strings are made from buffers with their lengths, and
    // freed once they are written; the format announces the key, and a vector with its length.
    unsafe {
        let string = |word: &Cow<'_, [u8]>| {
            api::CreateString(null_mut(), word.as_ptr().cast::<c_char>(), word.len())
        };
        let strings: Vec<_> = words.iter().map(string).collect();
        // The strings have copies.
        drop(words);
        api::EmitAOF()(io, command.as_ptr(), c"sv".as_ptr(), key, strings.as_ptr(), strings.len());
        for string in strings {
            api::FreeString(null_mut(), string);
        }
    }
}
