//! `pidq_error_t`: what went wrong, where, and what to do next.

use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

use pidq_core::error::Code;
use serde_json::{Value as Json, json};

use crate::boundary::{quiet, quietly};
use crate::handle::{Slot, delete, handle, lend};
use crate::slice::{Slice, Text};

/// What went wrong. Delete it.
pub struct ErrorHandle(Slot<Fault>);

handle!(ErrorHandle, Fault, b"errr", "error");

/// Codes of the ABI itself, beside those of the engine and of the formats.
const OWN: &[&str] = &["PQ9002", "PQ9003"];

/// What went wrong: one word wide.
pub struct Fault(Box<Facts>);

/// The texts of an error, as they are lent.
struct Facts {
    code: &'static CStr,
    stage: &'static CStr,
    message: Text,
    help: Option<Text>,
    span: Option<(usize, usize)>,
    location: Option<(usize, usize)>,
    json: Text,
    rendered: Text,
}

impl Fault {
    /// A null pointer where there must be something.
    pub fn null(name: &str) -> Fault {
        Fault::misuse(format!("`{name}` is NULL"))
    }

    /// A handle that was deleted, or a pointer that is none.
    pub fn deleted(name: &str) -> Fault {
        Fault::misuse(format!("the {name} was deleted, or this is no {name}"))
    }

    /// A text that is not UTF-8.
    pub fn not_utf8(name: &str, at: usize) -> Fault {
        Fault::misuse(format!("`{name}` is not UTF-8 from byte {at}"))
    }

    /// A call that the rules at the top of the header forbid.
    pub fn misuse(message: String) -> Fault {
        Fault::plain("PQ9002", c"input", message)
    }

    /// A file that cannot be read.
    pub fn unreadable(path: &str, error: &std::io::Error) -> Fault {
        Fault::plain("PQ9003", c"input", format!("cannot read `{path}`: {error}"))
    }

    /// A defect in the engine.
    pub fn panic() -> Fault {
        Fault::plain("PQ9001", c"input", "A defect in the engine; please report it".into())
    }

    /// An error of the engine, about a text of a query where it is about one.
    pub fn of(error: &pidq_core::Error, source: &str) -> Fault {
        let stage = error.code().stage();
        Fault(Box::new(Facts {
            code: code(error.code().as_str()),
            stage: self::stage(stage.as_str()),
            message: Text::new(error.message()),
            help: error.help().map(Text::new),
            span: error.span().map(|span| (span.start as usize, span.end as usize)),
            location: error.location().map(|location| (location.line, location.column)),
            json: Text::new(serde_json::to_string(error).unwrap_or_default()),
            // The place of an error of the input is in the input, which may be large and none of a query.
            rendered: Text::new(if source.is_empty() { format!("{error}\n") } else { error.render(source) }),
        }))
    }

    fn plain(code: &str, stage: &'static CStr, message: String) -> Fault {
        let json = json!({"code": code, "stage": stage.to_str().unwrap_or_default(), "message": message});
        Fault(Box::new(Facts {
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

impl From<pidq_core::Error> for Fault {
    /// An error that is not about the text of a query.
    fn from(error: pidq_core::Error) -> Fault {
        Fault::of(&error, "")
    }
}

impl From<pidq_formats::Error> for Fault {
    fn from(error: pidq_formats::Error) -> Fault {
        let message = match error.line() {
            Some(line) => format!("{} (line {line})", error.message()),
            None => error.message().to_owned(),
        };
        Fault::plain(error.code().as_str(), c"input", message)
    }
}

/// A code as C reads it: never freed, because there are only so many.
fn code(text: &str) -> &'static CStr {
    static CODES: OnceLock<Vec<CString>> = OnceLock::new();
    let codes = CODES.get_or_init(|| {
        let engine = Code::ALL.iter().map(|code| code.as_str());
        let formats = pidq_formats::Code::ALL.iter().map(|code| code.as_str());
        engine.chain(formats).chain(OWN.iter().copied()).filter_map(|code| CString::new(code).ok()).collect()
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

/// The code, such as "PQ1001": the part that never changes. It is never freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_code(error: *const ErrorHandle) -> *const c_char {
    // SAFETY: the rules of the header.
    quiet(std::ptr::null(), || Ok(unsafe { lend(error) }?.0.code.as_ptr()))
}

/// When it happened: "parse", "compile", "eval", "limit" or "input". It is never freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_stage(error: *const ErrorHandle) -> *const c_char {
    // SAFETY: the rules of the header.
    quiet(std::ptr::null(), || Ok(unsafe { lend(error) }?.0.stage.as_ptr()))
}

/// What went wrong, in one line. The error lends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_message(error: *const ErrorHandle) -> Slice {
    // SAFETY: the rules of the header.
    quiet(Slice::NONE, || Ok(unsafe { lend(error) }?.0.message.slice()))
}

/// What to do next; `data` is NULL where nothing is known. The error lends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_help(error: *const ErrorHandle) -> Slice {
    // SAFETY: the rules of the header.
    quiet(Slice::NONE, || Ok(unsafe { lend(error) }?.0.help.as_ref().map_or(Slice::NONE, Text::slice)))
}

/// The bytes of the query text that it is about (of the input, for codes that begin with PQ5). False where it is about
/// no place; then nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_span(error: *const ErrorHandle, start: *mut usize, end: *mut usize) -> bool {
    // SAFETY: the rules of the header.
    quiet(false, || Ok(unsafe { write_pair(lend(error)?.0.span, start, end) }))
}

/// Line and column of the span, both from 1, the column in characters. False where they are not known.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_location(error: *const ErrorHandle, line: *mut usize, column: *mut usize) -> bool {
    // SAFETY: the rules of the header.
    quiet(false, || Ok(unsafe { write_pair(lend(error)?.0.location, line, column) }))
}

/// All of it as a JSON object: code, stage, message, span, help, suggestions, the path in the data. The error lends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_json(error: *const ErrorHandle) -> Slice {
    // SAFETY: the rules of the header.
    quiet(Slice::NONE, || Ok(unsafe { lend(error) }?.0.json.slice()))
}

/// All of it for people, in several lines: the query with carets under the place, and what to do. The error lends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_text(error: *const ErrorHandle) -> Slice {
    // SAFETY: the rules of the header.
    quiet(Slice::NONE, || Ok(unsafe { lend(error) }?.0.rendered.slice()))
}

/// Deletes an error. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pidq_error_delete(error: *mut ErrorHandle) {
    // SAFETY: the rules of the header.
    quietly(|| unsafe { delete(error) });
}

/// Writes two numbers where there are two and somebody wants them.
///
/// # Safety
/// Each place is null or can be written.
unsafe fn write_pair(pair: Option<(usize, usize)>, first: *mut usize, second: *mut usize) -> bool {
    let Some((start, end)) = pair else { return false };
    for (place, number) in [(first, start), (second, end)] {
        if !place.is_null() {
            // SAFETY: the caller promises that it can be written.
            unsafe { place.write(number) };
        }
    }
    true
}
