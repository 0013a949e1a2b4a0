//! Answers and refusals: values that handlers return, written to the client in one place and only
//! once a handler is done, so that a fault never leaves half an answer.

#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{CString, c_char, c_long};

use super::answers::Answers;
use super::api;

/// What a command answers. RESP3 types fall back to their RESP2 forms for clients that speak that.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// `+OK`.
    Done,
    /// A number.
    Int(i64),
    /// Yes or no; 1 or 0 in RESP2.
    Bool(bool),
    /// A fraction; text in RESP2.
    Double(f64),
    /// Text.
    Text(Cow<'static, str>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Nothing.
    Null,
    /// 1 or 0 for each item.
    Answers(Answers),
    /// Several answers.
    Array(Vec<Reply>),
    /// Named answers; in RESP2 names and answers alternate.
    Map(Vec<(Cow<'static, str>, Reply)>),
    /// An error in place of one of several answers.
    Refused(Refusal),
}

impl Reply {
    /// A number, cut off where the protocol's integers end.
    pub fn count(count: u64) -> Self {
        Reply::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// Text made at run time.
    pub fn text(text: impl Into<String>) -> Self {
        Reply::Text(Cow::Owned(text.into()))
    }

    /// Text or nothing.
    pub fn double_or_null(number: Option<f64>) -> Self {
        number.map_or(Reply::Null, Reply::Double)
    }
}

/// Why a command was refused: the error as the client reads it, code first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(Cow<'static, str>);

impl Refusal {
    /// The key holds something else.
    pub const WRONG_TYPE: Refusal =
        Refusal(Cow::Borrowed("WRONGTYPE Operation against a key holding the wrong kind of value"));

    /// Memory is short.
    pub const OUT_OF_MEMORY: Refusal =
        Refusal(Cow::Borrowed("OOM command not allowed when used memory > 'maxmemory'."));

    /// A fault of ours that was caught.
    pub const FAULT: Refusal = Refusal(Cow::Borrowed(
        "ERR internal fault in lately, caught; please report it with the server's log",
    ));

    /// A refusal that begins with its own code, such as `BUSYKEY`.
    pub const fn coded(text: &'static str) -> Self {
        Refusal(Cow::Borrowed(text))
    }

    /// A refusal with the general code.
    pub fn new(text: impl std::fmt::Display) -> Self {
        Refusal(Cow::Owned(format!("ERR {text}")))
    }

    /// The text, code first.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl From<lately::Error> for Refusal {
    fn from(error: lately::Error) -> Self {
        Refusal::new(error)
    }
}

/// Writes an answer to the client of `ctx`.
///
/// # Safety
///
/// `ctx` is the context of a command under way.
pub unsafe fn send(ctx: *mut api::Ctx, reply: &Reply) {
    // SAFETY: the caller vouches for `ctx`; buffers are passed with their lengths and copied. These
    // functions exist in every engine that `on_load` accepts.
    unsafe {
        match reply {
            Reply::Done => {
                api::ReplyWithSimpleString(ctx, c"OK".as_ptr());
            }
            Reply::Int(number) => {
                api::ReplyWithLongLong(ctx, *number);
            }
            Reply::Bool(yes) => {
                api::ReplyWithBool(ctx, (*yes).into());
            }
            Reply::Double(number) => {
                api::ReplyWithDouble(ctx, *number);
            }
            Reply::Text(text) => send_bytes(ctx, text.as_bytes()),
            Reply::Bytes(bytes) => send_bytes(ctx, bytes),
            Reply::Null => {
                api::ReplyWithNull(ctx);
            }
            Reply::Answers(answers) => {
                let answers = answers.as_slice();
                api::ReplyWithArray(ctx, answers.len() as c_long);
                for &answer in answers {
                    api::ReplyWithLongLong(ctx, answer.into());
                }
            }
            Reply::Array(replies) => {
                api::ReplyWithArray(ctx, replies.len() as c_long);
                for reply in replies {
                    send(ctx, reply);
                }
            }
            Reply::Map(fields) => {
                api::ReplyWithMap(ctx, fields.len() as c_long);
                for (name, reply) in fields {
                    send_bytes(ctx, name.as_bytes());
                    send(ctx, reply);
                }
            }
            Reply::Refused(refusal) => {
                // Line ends would break the protocol, NUL the C string.
                let line = refusal.text().replace(['\r', '\n', '\0'], " ");
                let line = CString::new(line).expect("NUL was replaced");
                api::ReplyWithError(ctx, line.as_ptr());
            }
        }
    }
}

unsafe fn send_bytes(ctx: *mut api::Ctx, bytes: &[u8]) {
    let start = bytes.as_ptr().cast::<c_char>();
    // SAFETY: as in `send`.
    unsafe { api::ReplyWithStringBuffer(ctx, start, bytes.len()) };
}
