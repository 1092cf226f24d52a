//! `pidq_error_t`: error code, location and help.

use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

use pidq_core::error::Code;
use serde_json::{Value as Json, json};

use crate::handle::{Slot, borrow, delete, handle};
use crate::panic_guard::{guard, guard_or};
use crate::slice::{Slice, Text};

/// Error. Delete it with `pidq_error_delete`.
pub struct ErrorHandle(Slot<AbiError>);

handle!(ErrorHandle, AbiError, b"errr", "error");

/// Codes of the ABI itself, in addition to those of the engine and of the formats.
const ABI_CODES: &[&str] = &["PQ9002", "PQ9003"];

/// Error of an ABI function, boxed to be one word wide.
pub struct AbiError(Box<ErrorTexts>);

/// Texts of an error, owned by its handle.
struct ErrorTexts {
    code: &'static CStr,
    stage: &'static CStr,
    message: Text,
    help: Option<Text>,
    span: Option<(usize, usize)>,
    location: Option<(usize, usize)>,
    json: Text,
    rendered: Text,
}

impl AbiError {
    /// Creates the error for an unexpected null pointer.
    pub fn null(name: &str) -> AbiError {
        AbiError::misuse(format!("`{name}` is NULL"))
    }

    /// Creates the error for a deleted or invalid handle.
    pub fn deleted(name: &str) -> AbiError {
        AbiError::misuse(format!("the {name} was deleted or is not a valid {name}"))
    }

    /// Creates the error for a text that is not UTF-8.
    pub fn not_utf8(name: &str, at: usize) -> AbiError {
        AbiError::misuse(format!("`{name}` is not UTF-8: invalid byte at offset {at}"))
    }

    /// Creates the error for a call that violates the rules of the header.
    pub fn misuse(message: String) -> AbiError {
        AbiError::new("PQ9002", c"input", message)
    }

    /// Creates the error for a file that cannot be read.
    pub fn unreadable_file(path: &str, error: &std::io::Error) -> AbiError {
        AbiError::new("PQ9003", c"input", format!("cannot read `{path}`: {error}"))
    }

    /// Creates the error for a panic.
    pub fn panic() -> AbiError {
        AbiError::new("PQ9001", c"input", "A defect in the engine; please report it".into())
    }

    /// Converts an error of the engine, with the query text if it is about one.
    pub fn from_engine(error: &pidq_core::Error, source: &str) -> AbiError {
        let stage = error.code().stage();
        AbiError(Box::new(ErrorTexts {
            code: code(error.code().as_str()),
            stage: self::stage(stage.as_str()),
            message: Text::new(error.message()),
            help: error.help().map(Text::new),
            span: error.span().map(|span| (span.start as usize, span.end as usize)),
            location: error.location().map(|location| (location.line, location.column)),
            json: Text::new(serde_json::to_string(error).unwrap_or_default()),
            // The span of an input error is in the input, which may be large and is not a query.
            rendered: Text::new(if source.is_empty() { format!("{error}\n") } else { error.render(source) }),
        }))
    }

    fn new(code: &str, stage: &'static CStr, message: String) -> AbiError {
        let json = json!({"code": code, "stage": stage.to_str().unwrap_or_default(), "message": message});
        AbiError(Box::new(ErrorTexts {
            code: self::code(code),
            stage,
            rendered: Text::new(format!("error[{code}]: {message}\n")),
            message: Text::new(message),
            help: None,
            span: None,
            location: None,
            json: Text::new(Json::to_string(&json)),
        }))
    }
}

impl From<pidq_core::Error> for AbiError {
    /// Converts an error that is not about a query text.
    fn from(error: pidq_core::Error) -> AbiError {
        AbiError::from_engine(&error, "")
    }
}

impl From<pidq_formats::Error> for AbiError {
    fn from(error: pidq_formats::Error) -> AbiError {
        let message = match error.line() {
            Some(line) => format!("{} (line {line})", error.message()),
            None => error.message().to_owned(),
        };
        AbiError::new(error.code().as_str(), c"input", message)
    }
}

/// Returns a code as a C string. Never freed, since there is a fixed number of codes.
fn code(text: &str) -> &'static CStr {
    static CODES: OnceLock<Vec<CString>> = OnceLock::new();
    let codes = CODES.get_or_init(|| {
        let engine = Code::ALL.iter().map(|code| code.as_str());
        let formats = pidq_formats::Code::ALL.iter().map(|code| code.as_str());
        engine.chain(formats).chain(ABI_CODES.iter().copied()).filter_map(|code| CString::new(code).ok()).collect()
    });
    codes.iter().find(|code| code.to_str() == Ok(text)).map_or(c"PQ9001", |code| code.as_c_str())
}

fn stage(text: &str) -> &'static CStr {
    match text {
        "parse" => c"parse",
        "compile" => c"compile",
        "eval" => c"eval",
        "limit" => c"limit",
        _ => c"input",
    }
}

/// Returns the stable code, such as "PQ1001". The string is static.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_code(error: *const ErrorHandle) -> *const c_char {
    // SAFETY: the rules of the header.
    guard_or(std::ptr::null(), || Ok(unsafe { borrow(error) }?.0.code.as_ptr()))
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

/// Returns the whole error as text for display, in several lines: the query with the span underlined, and the help. The
/// error owns it.
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
