//! Error of an ABI function: code, stage, message, help, location, and its texts.

use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use pidq_core::error::Code;
use serde_json::{Value as Json, json};

use crate::slice::Text;

mod code;

pub use code::ErrorCode;

/// Codes of the ABI itself, in addition to those of the engine and of the formats.
const ABI_CODES: &[&str] = &["PQ9002", "PQ9003"];

/// Error of an ABI function, boxed to be one word wide.
pub struct AbiError(pub Box<ErrorTexts>);

/// Texts of an error, owned by its handle.
pub struct ErrorTexts {
    pub code: &'static CStr,
    pub stage: &'static CStr,
    pub message: Text,
    pub help: Option<Text>,
    pub span: Option<(usize, usize)>,
    pub location: Option<(usize, usize)>,
    pub json: Text,
    pub rendered: Text,
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

    /// Converts an error of the engine about JSON that is an argument and not a document.
    pub fn of_argument(error: &pidq_core::Error, name: &str) -> AbiError {
        let stage = stage(error.code().stage().as_str());
        AbiError::new(error.code().as_str(), stage, format!("{name}: {}", error.message()))
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
