//! What can go wrong when a format is read or written: one type, with a stable code.

use std::fmt;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Declares `Code` and its table in one place: variant, stable text, one line for the manual.
macro_rules! codes {
    ($($name:ident $text:literal $summary:literal;)*) => {
        /// What went wrong. The text of a code never changes; the words of a message may improve.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $summary] $name,)*
        }

        impl Code {
            /// Every code, in the order of the manual.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The stable text, such as `"PQ6001"`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// One line for the manual.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$name => $summary,)* }
            }
        }
    };
}

codes! {
    NotXml         "PQ6001" "The input is not well-formed XML.";
    NotProteus     "PQ6002" "The XML is not a Proteus plant model.";
    NotGraph       "PQ6003" "The input has no nodes and edges where this format keeps them.";
    NotTable       "PQ6004" "The value is no list of objects, or the text is no table.";
    BadEncoding    "PQ6005" "The bytes are not text in the encoding that they declare.";
    Entity         "PQ6006" "The XML declares or uses an entity of its own.";
    TooLarge       "PQ6007" "The input or the output is larger than allowed.";
    TooDeep        "PQ6008" "The input is nested deeper than allowed.";
    UnknownFormat  "PQ6009" "No format has this name, or it cannot do this.";
    WrongParts     "PQ6010" "The format needs another number of files.";
    NotJson        "PQ6011" "The input is not JSON.";
}

/// Why an input cannot be read, or a value cannot be written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    code: Code,
    message: String,
    line: Option<usize>,
}

impl Error {
    /// An error without a place.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), line: None }
    }

    /// Sets the line of the input, from 1, where there is none yet.
    pub fn with_line(mut self, line: usize) -> Error {
        self.line.get_or_insert(line);
        self
    }

    /// Which error it is.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What went wrong, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The line of the input, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for Error {
    /// Code, message, and the line where it is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code.as_str(), self.message)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

impl std::error::Error for Error {}
