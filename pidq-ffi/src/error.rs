//! `pidq_error_t`: error code, location and help.

use std::ffi::c_char;

use crate::abi_error::ErrorCode;
use crate::error_handle::ErrorHandle;
use crate::handle::{borrow, delete};
use crate::panic_guard::{guard, guard_or};
use crate::slice::{Slice, Text};

/// Returns the stable code, such as "PQ1001". The string is static.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_code(error: *const ErrorHandle) -> *const c_char {
    // SAFETY: the rules of the header.
    guard_or(std::ptr::null(), || Ok(unsafe { borrow(error) }?.0.code.as_ptr()))
}

/// Returns the code as a number, such as `PIDQ_ERROR_UNKNOWN_FUNCTION`; `PIDQ_OK` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_number(error: *const ErrorHandle) -> ErrorCode {
    guard_or(ErrorCode::PIDQ_OK, || {
        // SAFETY: the rules of the header.
        let code = unsafe { borrow(error) }?.0.code;
        Ok(ErrorCode::from_text(code.to_str().unwrap_or_default()))
    })
}

/// Returns the stage: "parse", "compile", "eval", "limit" or "input". The string is static.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_stage(error: *const ErrorHandle) -> *const c_char {
    // SAFETY: the rules of the header.
    guard_or(std::ptr::null(), || Ok(unsafe { borrow(error) }?.0.stage.as_ptr()))
}

/// Returns the message, in one line. The error owns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_message(error: *const ErrorHandle) -> Slice {
    // SAFETY: the rules of the header.
    guard_or(Slice::NONE, || Ok(unsafe { borrow(error) }?.0.message.slice()))
}

/// Returns the help; `data` is NULL if there is none. The error owns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_help(error: *const ErrorHandle) -> Slice {
    // SAFETY: the rules of the header.
    guard_or(Slice::NONE, || Ok(unsafe { borrow(error) }?.0.help.as_ref().map_or(Slice::NONE, Text::slice)))
}

/// Writes the byte range in the query text (in the input, for codes that begin with PQ5). Returns false, without
/// writing, if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_span(error: *const ErrorHandle, start: *mut usize, end: *mut usize) -> bool {
    // SAFETY: the rules of the header.
    guard_or(false, || Ok(unsafe { write_pair(borrow(error)?.0.span, start, end) }))
}

/// Writes line and column of the span, both from 1, the column in characters. Returns false if they are not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_location(error: *const ErrorHandle, line: *mut usize, column: *mut usize) -> bool {
    // SAFETY: the rules of the header.
    guard_or(false, || Ok(unsafe { write_pair(borrow(error)?.0.location, line, column) }))
}

/// Returns the whole error as a JSON object: code, stage, message, span, help, suggestions, path in the data. The error
/// owns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_json(error: *const ErrorHandle) -> Slice {
    // SAFETY: the rules of the header.
    guard_or(Slice::NONE, || Ok(unsafe { borrow(error) }?.0.json.slice()))
}

/// Returns the whole error as text for display, in one or more lines, each with a newline at its end: with the query, in
/// which the span is underlined, and the help. The error owns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_text(error: *const ErrorHandle) -> Slice {
    // SAFETY: the rules of the header.
    guard_or(Slice::NONE, || Ok(unsafe { borrow(error) }?.0.rendered.slice()))
}

/// Deletes an error. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_delete(error: *mut ErrorHandle) {
    // SAFETY: the rules of the header.
    guard(|| unsafe { delete(error) });
}

/// Writes two numbers, if present, to the pointers that are not null.
///
/// # Safety
/// Each pointer is null or valid for writes.
unsafe fn write_pair(pair: Option<(usize, usize)>, first: *mut usize, second: *mut usize) -> bool {
    let Some((start, end)) = pair else { return false };
    for (pointer, number) in [(first, start), (second, end)] {
        if !pointer.is_null() {
            // SAFETY: the caller promises that it is valid for writes.
            unsafe { pointer.write(number) };
        }
    }
    true
}
