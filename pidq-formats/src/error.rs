//! Errors of reading and writing formats: one type with a stable code.

use std::fmt;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Declares `Code` and its table in one place: variant, stable text, one line for the manual.
macro_rules! codes {
    ($($name:ident $text:literal $summary:literal;)*) => {
        /// Error code. The text of a code never changes; the words of a message may improve.
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
    NotGraph       "PQ6003" "The input is not a graph in this format.";
    NotTable       "PQ6004" "The value is not an array of objects, or the text is not a table.";
    BadEncoding    "PQ6005" "The bytes are not valid in the declared encoding.";
    Entity         "PQ6006" "The XML declares or uses a custom entity.";
    TooLarge       "PQ6007" "The input or the output is larger than allowed.";
    TooDeep        "PQ6008" "The input is nested deeper than allowed.";
    UnknownFormat  "PQ6009" "Unknown format, or an operation that the format does not support.";
    WrongParts     "PQ6010" "Wrong number of files for the format.";
    NotJson        "PQ6011" "The input is not JSON.";
    NotDexpi       "PQ6012" "The XML is not a DEXPI 2.0 model of a plant or a process.";
}

/// Error of reading an input or writing a value.
#[derive(Clone, Debug, Eq, thiserror::Error, PartialEq)]
pub struct Error {
    code: Code,
    message: String,
    line: Option<usize>,
    file: usize,
}

impl Error {
    /// Creates an error without a line.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), line: None, file: 0 }
    }

    /// Sets the line of the input, from 1, if there is none yet.
    pub fn with_line(mut self, line: usize) -> Error {
        self.line.get_or_insert(line);
        self
    }

    /// Sets the position of the file that the error is about, among the files of the input.
    pub(crate) fn in_file(mut self, file: usize) -> Error {
        self.file = file;
        self
    }

    /// Returns the position of the file that the error is about, among the files of the input; 0 for a single one.
    pub fn file(&self) -> usize {
        self.file
    }

    /// Returns the code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the message, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the line of the input, from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for Error {
    /// Writes code, message, and the line if it is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code.as_str(), self.message)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}
