//! Errors of text extraction.

use serde::{Deserialize, Serialize};

/// Declares the error codes: name, stable string, whether a retry may succeed, summary.
macro_rules! codes {
    ($($name:ident $text:literal $retryable:literal $summary:literal;)*) => {
        /// Code of an extraction error. The string of a code never changes.
        #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
        pub enum ErrorCode {
            $(#[doc = $summary] $name,)*
        }

        impl ErrorCode {
            /// All codes.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name,)*];

            /// Returns the stable string, such as `"corrupt-document"`.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => $text,)* }
            }

            /// Returns whether extracting the same document later may succeed.
            pub fn retryable(self) -> bool {
                match self { $(ErrorCode::$name => $retryable,)* }
            }
        }
    };
}

codes! {
    UnsupportedType "unsupported-type" false "The format of the content is not supported, or differs from the declared one.";
    EncryptedDocument "encrypted-document" false "The document is encrypted.";
    CorruptDocument "corrupt-document" false "The content is damaged or malformed.";
    EmptyText "empty-text" false "The document contains no text.";
    TooLargeText "too-large-text" false "The text, the unpacked size, or the memory or time needed exceeds a limit.";
    Internal "internal" true "The extractor failed to run.";
}

/// An extraction error: code and explanation. The explanation quotes nothing from the document except names of its parts.
#[derive(Clone, Debug, Deserialize, Eq, thiserror::Error, PartialEq, Serialize)]
#[error("{}: {detail}", code.as_str())]
pub struct ExtractError {
    /// Code of the error.
    pub code: ErrorCode,
    /// Explanation: what was found, and what is expected.
    pub detail: String,
}

impl ExtractError {
    /// Creates an error.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        ExtractError { code, detail: detail.into() }
    }

    pub(super) fn corrupt(detail: impl Into<String>) -> Self {
        ExtractError::new(ErrorCode::CorruptDocument, detail)
    }

    pub(super) fn encrypted(detail: impl Into<String>) -> Self {
        ExtractError::new(ErrorCode::EncryptedDocument, detail)
    }

    pub(super) fn too_large(detail: impl Into<String>) -> Self {
        ExtractError::new(ErrorCode::TooLargeText, detail)
    }

    pub(super) fn unsupported(detail: impl Into<String>) -> Self {
        ExtractError::new(ErrorCode::UnsupportedType, detail)
    }

    pub(super) fn internal(detail: impl Into<String>) -> Self {
        ExtractError::new(ErrorCode::Internal, detail)
    }
}
