//! Values in dumps, full synchronizations and append-only files: `persist` says what is written,
//! this file calls the engine to write and read it.

#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int};
use std::slice;

use super::api;
use crate::object::Value;
use crate::persist::{self, Record};

/// The kinds of values, as the first number of each says.
const FILTER: u64 = 0;
const ARRIVING: u64 = 1;

/// Reads a value; says in the server's log why not, if not.
///
/// # Safety
///
/// `io` comes from the engine, for the time of this call. So for all below.
pub unsafe fn load(io: *mut api::IO, version: c_int) -> Option<Value> {
    let value = if version > persist::RECORD_VERSION {
        Err(format!("written by a newer lately (record version {version}); upgrade"))
    } else {
        // SAFETY: the caller vouches for `io`.
        unsafe { read(io) }
    };
    value
        .inspect_err(|problem| {
            let problem = CString::new(problem.as_str()).unwrap_or_default();
            let (level, format) = (c"warning".as_ptr(), c"lately: %s".as_ptr());
            // SAFETY: as above, with a format that takes one C string.
            unsafe { api::LogIOError()(io, level, format, problem.as_ptr()) };
        })
        .ok()
}

unsafe fn read(io: *mut api::IO) -> Result<Value, String> {
    let short = || "the data ends too early".to_owned();
    // SAFETY: after every read the engine says whether that failed; a buffer it gave is ours.
    unsafe {
        let failed = || api::IsIOError(io) != 0;
        let number = || {
            let number = api::LoadUnsigned(io);
            if failed() { Err(short()) } else { Ok(number) }
        };
        let bytes = || {
            let mut length = 0;
            let start = api::LoadStringBuffer(io, &mut length);
            if start.is_null() || failed() {
                return Err(short());
            }
            let bytes = slice::from_raw_parts(start.cast::<u8>(), length).to_vec();
            api::Free(start.cast());
            Ok(bytes)
        };
        match number()? {
            FILTER => {
                let mut numbers = [0; persist::NUMBERS];
                for place in &mut numbers {
                    *place = number()?;
                }
                let record = Record::from_numbers(numbers, bytes()?);
                Ok(Value::Filter(record.open().map_err(|error| error.to_string())?))
            }
            ARRIVING => Ok(Value::Arriving(bytes()?)),
            other => Err(format!("a value of an unknown kind ({other})")),
        }
    }
}

/// Writes a value.
pub unsafe fn save(io: *mut api::IO, value: &Value) {
    // SAFETY: the caller vouches for `io`; the engine copies the bytes.
    unsafe {
        let number = |number| api::SaveUnsigned(io, number);
        let bytes = |bytes: &[u8]| {
            api::SaveStringBuffer(io, start(bytes), bytes.len());
        };
        match value {
            Value::Filter(stored) => {
                let record = Record::of(stored);
                number(FILTER);
                record.numbers().into_iter().for_each(number);
                bytes(&record.snapshot);
            }
            Value::Arriving(part) => {
                number(ARRIVING);
                bytes(part);
            }
        }
    }
}

/// Writes a value as a command that makes it again.
pub unsafe fn rewrite(io: *mut api::IO, key: *mut api::String, value: &Value) {
    // SAFETY: the caller vouches for `io` and `key`; each format announces what follows it.
    unsafe {
        let emit = api::EmitAOF();
        match value {
            Value::Filter(stored) => {
                let record = Record::of(stored);
                let [inserted, new, is_bloom, capacity, expansion] = record.numbers();
                // The format ends before the last three where there is nothing to say.
                let format = if is_bloom != 0 { c"sbcllcll" } else { c"sbcll" };
                emit(
                    io,
                    c"LATELY.LOAD".as_ptr(),
                    format.as_ptr(),
                    key,
                    start(&record.snapshot),
                    record.snapshot.len(),
                    c"TALLY".as_ptr(),
                    inserted,
                    new,
                    c"BLOOM".as_ptr(),
                    capacity,
                    expansion,
                );
            }
            Value::Arriving(part) => {
                let next = part.len() as i64 + 1;
                let command = c"BF.LOADCHUNK".as_ptr();
                emit(io, command, c"slb".as_ptr(), key, next, start(part), part.len());
            }
        }
    }
}

fn start(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}
