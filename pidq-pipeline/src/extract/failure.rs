//! Why a document has no text.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares the codes in one place: name, stable text, whether another attempt may help, one line.
macro_rules! codes {
    ($($name:ident $text:literal $retryable:literal $summary:literal;)*) => {
        /// Why a document has no text. The text of a code never changes.
        #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
        pub enum Code {
            $(#[doc = $summary] $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The stable text, such as `"corrupt-document"`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// Whether the same document may be read at another time.
            pub fn retryable(self) -> bool {
                match self { $(Code::$name => $retryable,)* }
            }
        }
    };
}

codes! {
    UnsupportedType "unsupported-type" false "The content is of no format that is read, or not of the one that it claims.";
    EncryptedDocument "encrypted-document" false "A password is needed.";
    CorruptDocument "corrupt-document" false "The content is broken, or made to look like something that it is not.";
    EmptyText "empty-text" false "There is no text in it.";
    TooLargeText "too-large-text" false "The text, or what must be unpacked, computed or waited for, is more than the limits.";
    Internal "internal" true "The reader could not be run.";
}

/// A document that could not be read: which reason, and what to do about it. The words quote nothing of the document but
/// names of its parts.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Failure {
    /// Which reason.
    pub code: Code,
    /// What was found, and what would be right.
    pub detail: String,
}

impl Failure {
    /// A reason in words.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Failure { code, detail: detail.into() }
    }

    pub(super) fn corrupt(detail: impl Into<String>) -> Self {
        Failure::new(Code::CorruptDocument, detail)
    }

    pub(super) fn encrypted(detail: impl Into<String>) -> Self {
        Failure::new(Code::EncryptedDocument, detail)
    }

    pub(super) fn large(detail: impl Into<String>) -> Self {
        Failure::new(Code::TooLargeText, detail)
    }

    pub(super) fn unsupported(detail: impl Into<String>) -> Self {
        Failure::new(Code::UnsupportedType, detail)
    }

    pub(super) fn internal(detail: impl Into<String>) -> Self {
        Failure::new(Code::Internal, detail)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.detail)
    }
}

impl std::error::Error for Failure {}
