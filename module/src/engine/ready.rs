//! Answers that are ready: `[0]` and `[1]`, what a command with one item answers.
//!
//! Made of an array and a number, such an answer costs two calls of the engine, which is as much as
//! the filter itself. But an answer that the engine gave us can be passed on in one. So, when the
//! module loads, it asks itself for both, and keeps what comes.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use super::api;
use super::reply::Reply;

/// For 0 and for 1; null where there is none.
static READY: [AtomicPtr<api::CallReply>; 2] =
    [AtomicPtr::new(null_mut()), AtomicPtr::new(null_mut())];

/// What the module asks itself for, if it does.
static REHEARSED: AtomicU8 = AtomicU8::new(NOTHING);

const NOTHING: u8 = 2;

/// Makes the answers. `command` takes no words and answers [`rehearsed`] if there is such a thing.
///
/// # Safety
///
/// `ctx` is the context of the load callback, and the command is registered.
pub unsafe fn rehearse(ctx: *mut api::Ctx, command: &CStr) {
    for (number, ready) in (0..).zip(&READY) {
        REHEARSED.store(number, Ordering::Relaxed);
        // SAFETY: the format announces no words. The answer is ours, and stays for as long as the
        // module: nothing manages the memory of this context.
        unsafe {
            let answer = api::Call()(ctx, command.as_ptr(), c"".as_ptr());
            if is_only(answer, number.into()) {
                ready.store(answer, Ordering::Relaxed);
            } else if !answer.is_null() {
                api::FreeCallReply(answer);
            }
        }
    }
    REHEARSED.store(NOTHING, Ordering::Relaxed);
}

/// What to answer if it is the module itself that asks.
pub fn rehearsed() -> Option<Reply> {
    match REHEARSED.load(Ordering::Relaxed) {
        NOTHING => None,
        number => Some(Reply::Answers((number == 1).into())),
    }
}

/// Sends the only answer of a command, and says whether it could.
///
/// # Safety
///
/// `ctx` is the context of a command under way.
pub unsafe fn send(ctx: *mut api::Ctx, answer: bool) -> bool {
    let ready = READY[usize::from(answer)].load(Ordering::Relaxed);
    // SAFETY: the caller vouches for `ctx`; the answer is one of the engine's, never freed.
    unsafe { !ready.is_null() && api::ReplyWithCallReply(ctx, ready) == api::OK }
}

/// Whether this is an array of one number.
///
/// # Safety
///
/// `answer` is null or an answer of the engine.
unsafe fn is_only(answer: *mut api::CallReply, number: i64) -> bool {
    // SAFETY: null has no type; an array of length one has a first element, which belongs to it.
    unsafe {
        let is = |answer, kind| api::CallReplyType(answer) == kind;
        if answer.is_null() || !is(answer, api::REPLY_ARRAY) {
            return false;
        }
        let first = api::CallReplyArrayElement(answer, 0);
        api::CallReplyLength(answer) == 1
            && is(first, api::REPLY_INTEGER)
            && api::CallReplyInteger(first) == number
    }
}
