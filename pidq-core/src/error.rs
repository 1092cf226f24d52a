//! Error type of the crate, with a stable code for every error.
//!
//! An error crosses five interfaces (Rust, C, Python, HTTP, terminal), and each needs the same facts: which error
//! (`Code`), what happened (`message`), where (`Span`, data path) and what to do next (`help`, `suggestions`).

use std::borrow::Cow;
use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// A result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Declares `Code` and its table in one place: variant, stable text, stage, one line for the manual.
macro_rules! codes {
    ($($name:ident $text:literal $stage:ident $summary:literal;)*) => {
        /// Stable code of an error. Codes never change; the wording of messages may improve.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $summary] $name,)*
        }

        impl Code {
            /// All codes, in the order of the manual.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// Returns the stable text, such as `"PQ1001"`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// Returns the stage in which the error occurs.
            pub fn stage(self) -> Stage {
                match self { $(Code::$name => Stage::$stage,)* }
            }

            /// Returns one line for the manual.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$name => $summary,)* }
            }
        }
    };
}

codes! {
    ValueExpected        "PQ0001" Parse   "A value was expected here.";
    PropertyExpected     "PQ0002" Parse   "A property name was expected after the dot.";
    KeyExpected          "PQ0003" Parse   "A key of an object was expected.";
    CharacterExpected    "PQ0004" Parse   "A specific character was expected.";
    TrailingText         "PQ0005" Parse   "There is text after a complete query.";
    BadString            "PQ0006" Parse   "A string has an unknown escape or a raw control character.";
    BadNumber            "PQ0007" Parse   "A number is malformed.";
    NestedTooDeep        "PQ0008" Parse   "The query is nested too deeply or has too many parts.";
    QueryTooLong         "PQ0009" Parse   "The query text is too long.";
    UnknownFunction      "PQ1001" Compile "No function has this name.";
    ObjectNotation       "PQ1002" Compile "In the JSON format, a bare object is used where a query is expected.";
    ArgumentCount        "PQ1003" Compile "A function got too few or too many arguments.";
    ArgumentKind         "PQ1004" Compile "A function got an argument of the wrong kind.";
    UnknownVariable      "PQ1005" Compile "No parameter or binding has this name.";
    StaticArgument       "PQ1006" Compile "An argument must be a constant or a parameter, not a query.";
    BadRegex             "PQ1007" Compile "A regular expression is malformed or too large.";
    BadRegexFlag         "PQ1008" Compile "A flag of a regular expression is unknown or given twice.";
    OperatorDefinition   "PQ1009" Compile "A custom operator is invalid.";
    OptionsExpected      "PQ1010" Compile "Options must be an object literal.";
    UnknownOption        "PQ1011" Compile "No option has this name.";
    BadOption            "PQ1012" Compile "An option has an invalid value.";
    MissingParameter     "PQ1013" Compile "A parameter of a prepared query has no value.";
    FeatureMissing       "PQ1014" Compile "A function belongs to a feature that the program was built without.";
    PatternSyntax        "PQ1020" Compile "A graph pattern is malformed.";
    ArrayExpected        "PQ2001" Eval    "An array was expected.";
    StringExpected       "PQ2002" Eval    "A string was expected.";
    ObjectExpected       "PQ2003" Eval    "An object was expected.";
    UnsupportedProperty  "PQ2004" Eval    "A property cannot be read from a value of this type.";
    ListExpected         "PQ2005" Eval    "The right side of `in` must be an array.";
    EntryExpected        "PQ2006" Eval    "An entry `{key, value}` was expected.";
    NumberExpected       "PQ2007" Eval    "A number was expected.";
    InvalidValue         "PQ2008" Eval    "A value has the right type, but is malformed or out of range.";
    ResultType           "PQ2009" Eval    "A result does not fit the type that the program asked for.";
    FunctionFailed       "PQ2010" Eval    "A function of the embedding program failed.";
    NotANode             "PQ3001" Eval    "The value is not a node of the graph.";
    UnknownNode          "PQ3002" Eval    "No node has this id or tag.";
    NoStart              "PQ3003" Eval    "There is no node to start from.";
    AmbiguousNode        "PQ3004" Eval    "Several nodes have this tag.";
    BadWeight            "PQ3005" Eval    "A weight must be a number of at least zero.";
    NoGraph              "PQ3006" Eval    "The document has no graph.";
    EdgeEndMissing       "PQ3007" Eval    "An edge has an end that names no node.";
    OutOfFuel            "PQ4001" Limit   "The query used more fuel than allowed.";
    TooDeep              "PQ4002" Limit   "A walk or a value went deeper than allowed.";
    OutputTooLarge       "PQ4003" Limit   "The result is larger than allowed.";
    TooManyRows          "PQ4004" Limit   "The query produces more rows or paths than allowed.";
    OutOfTime            "PQ4005" Limit   "The query took longer than allowed.";
    RegexBacktracking    "PQ4006" Limit   "A regular expression backtracked too often.";
    OutOfMemory          "PQ4007" Limit   "The query needs more memory than allowed.";
    Cancelled            "PQ4008" Limit   "The query was cancelled.";
    NotJson              "PQ5001" Input   "The input is not JSON.";
    InputTooLarge        "PQ5002" Input   "The input is larger than allowed.";
    InputTooDeep         "PQ5003" Input   "The input is nested deeper than allowed.";
    NotUtf8              "PQ5004" Input   "The input is not UTF-8, or has the escape of a lone surrogate.";
    InputUnreadable      "PQ5005" Input   "The input could not be read.";
    Panic                "PQ9001" Input   "A defect in the engine; please report it.";
}

/// Stage in which an error occurs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// Parsing the text or JSON format of a query.
    Parse,
    /// Checking names, arguments and constants.
    Compile,
    /// Running the query.
    Eval,
    /// Exceeding a limit of the run.
    Limit,
    /// Loading the document.
    Input,
}

impl Stage {
    /// Returns the word used in the JSON form of an error.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Parse => "parse",
            Stage::Compile => "compile",
            Stage::Eval => "eval",
            Stage::Limit => "limit",
            Stage::Input => "input",
        }
    }
}

/// A range of bytes: of the query text, or of the input for `PQ5xxx`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the range from `start` to before `end`. Offsets above 4 GiB saturate.
    pub fn new(start: usize, end: usize) -> Span {
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { start: narrow(start), end: narrow(end.max(start)) }
    }

    /// Returns the range from the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }

    /// Returns the range, cut to the length of `text`.
    pub fn range(self, text: &str) -> std::ops::Range<usize> {
        let end = (self.end as usize).min(text.len());
        (self.start as usize).min(end)..end
    }
}

/// A replacement that corrects the query.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// The replacement.
    pub text: String,
    /// The replaced bytes.
    pub span: Option<Span>,
}

/// Start of a span, for people (`line`, `column`: from 1, in characters) and for UTF-16 programs (`pos16`: from 0).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Location {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The offset in UTF-16 code units, from 0.
    pub pos16: usize,
}

impl Location {
    /// Returns the location of a byte of `text`.
    pub fn new(text: &str, byte: usize) -> Location {
        let before = &text[..floor_char_boundary(text, byte)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Location {
            line: 1 + before.bytes().filter(|b| *b == b'\n').count(),
            column: 1 + before[line_start..].chars().count(),
            pos16: before.encode_utf16().count(),
        }
    }
}

/// Returns the largest character boundary that is at most `byte`.
pub(crate) fn floor_char_boundary(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// An error: one word wide, always with a code.
///
/// ```
/// let error = pidq_core::Query::parse(".nodes | fliter(.a)").unwrap_err();
/// assert_eq!(error.code().as_str(), "PQ1001");
/// assert_eq!(error.help(), Some("did you mean `filter`?"));
/// ```
#[derive(Clone, thiserror::Error)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    code: Code,
    message: String,
    label: Option<String>,
    expected: Option<String>,
    help: Option<String>,
    suggestions: Vec<Suggestion>,
    span: Option<Span>,
    location: Option<Location>,
    pointer: Option<String>,
    data_path: Option<String>,
    trace: Vec<Span>,
    /// Pointers of the steps of the trace, if the query came in JSON format.
    trace_pointers: Vec<String>,
    spent_most: Option<String>,
    limit: Option<(&'static str, u64)>,
}

impl Error {
    /// Creates an error without a position. The `with_` functions add position and help.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            code,
            message: message.into(),
            label: None,
            expected: None,
            help: None,
            suggestions: Vec::new(),
            span: None,
            location: None,
            pointer: None,
            data_path: None,
            trace: Vec::new(),
            trace_pointers: Vec::new(),
            spent_most: None,
            limit: None,
        }))
    }

    /// Returns the code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the message, one line. It begins with the reference implementation's text if that has one.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the help: a suggestion for the next step.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Returns a few words to display under the span.
    pub fn label(&self) -> Option<&str> {
        self.0.label.as_deref()
    }

    /// Returns the syntax that the parser expected: `a value`, or a character such as `` `)` ``. Not in the JSON form,
    /// whose label contains it.
    pub fn expected(&self) -> Option<&str> {
        self.0.expected.as_deref()
    }

    /// Returns replacements, best first, at most three.
    pub fn suggestions(&self) -> &[Suggestion] {
        &self.0.suggestions
    }

    /// Returns the byte range in the query text (in the input for `PQ5xxx`).
    pub fn span(&self) -> Option<Span> {
        self.0.span
    }

    /// Returns the start of the span for people and for UTF-16 programs.
    pub fn location(&self) -> Option<Location> {
        self.0.location
    }

    /// Returns the JSON Pointer (RFC 6901) into a query that came in JSON format.
    pub fn pointer(&self) -> Option<&str> {
        self.0.pointer.as_deref()
    }

    /// Returns the path of the value of the document that the query failed on, such as `.pid_graph.nodes[17].tags`. For
    /// `PQ2009` it is the path in the result.
    pub fn data_path(&self) -> Option<&str> {
        self.0.data_path.as_deref()
    }

    /// Returns the steps around the failing one, outermost first.
    pub fn trace(&self) -> &[Span] {
        &self.0.trace
    }

    /// Returns the same steps as JSON Pointers, for a query that came in JSON format.
    pub fn trace_pointers(&self) -> &[String] {
        &self.0.trace_pointers
    }

    /// Returns the function that used most of an exceeded limit.
    pub fn spent_most(&self) -> Option<&str> {
        self.0.spent_most.as_deref()
    }

    /// Returns the name (`depth`, `nodes`, `steps`, `memory`, `result`, `rows`, `backtracks`) and the value of an
    /// exceeded limit.
    pub fn limit(&self) -> Option<(&'static str, u64)> {
        self.0.limit
    }

    /// Sets the span if there is none yet: the innermost failing step determines it.
    pub fn with_span(mut self, span: Span) -> Error {
        self.0.span.get_or_insert(span);
        self
    }

    /// Sets the label under the span.
    pub fn with_label(mut self, label: impl Into<String>) -> Error {
        self.0.label = Some(label.into());
        self
    }

    /// Sets the syntax that the parser expected.
    pub(crate) fn with_expected(mut self, expected: Option<String>) -> Error {
        self.0.expected = expected;
        self
    }

    /// Sets the help.
    pub fn with_help(mut self, help: impl Into<String>) -> Error {
        self.0.help = Some(help.into());
        self
    }

    /// Sets the replacements, and the help if there is none: "did you mean …?".
    pub fn with_suggestions(mut self, texts: Vec<String>) -> Error {
        if self.0.help.is_none() && !texts.is_empty() {
            self.0.help = Some(did_you_mean(&texts));
        }
        let span = self.0.span;
        self.0.suggestions = texts.into_iter().map(|text| Suggestion { text, span }).collect();
        self
    }

    /// As [`Error::with_suggestions`], with a span other than that of the error.
    pub(crate) fn with_replacements(mut self, texts: Vec<String>, span: Option<Span>) -> Error {
        self = self.with_suggestions(texts);
        for suggestion in &mut self.0.suggestions {
            suggestion.span = span.or(suggestion.span);
        }
        self
    }

    /// Sets the JSON Pointer into a query that came in JSON format.
    pub fn with_pointer(mut self, pointer: impl Into<String>) -> Error {
        self.0.pointer.get_or_insert_with(|| pointer.into());
        self
    }

    /// Sets the path into the data if there is none yet.
    pub fn with_data_path(mut self, path: impl Into<String>) -> Error {
        self.0.data_path.get_or_insert_with(|| path.into());
        self
    }

    /// Adds a step before the path of the value that does not fit a type: `[3]`, `.tag`.
    pub(crate) fn within(mut self, step: &str) -> Error {
        self.0.data_path.get_or_insert_default().insert_str(0, step);
        self
    }

    /// Sets the function that used most of a limit.
    pub fn with_spent_most(mut self, function: impl Into<String>) -> Error {
        self.0.spent_most.get_or_insert_with(|| function.into());
        self
    }

    /// Sets the name and the value of the exceeded limit.
    pub fn with_limit(mut self, name: &'static str, value: u64) -> Error {
        self.0.limit = Some((name, value));
        self
    }

    /// Adds the span of a step around the failing one. Called from the innermost step outward.
    pub(crate) fn push_trace(mut self, span: Span) -> Error {
        self.0.trace.insert(0, span);
        self
    }

    /// Computes line and column of the span in its source text.
    pub fn locate(mut self, text: &str) -> Error {
        if let (None, Some(span)) = (self.0.location, self.0.span) {
            self.0.location = Some(Location::new(text, span.start as usize));
        }
        self
    }

    /// Computes the JSON Pointers of the span and of the trace.
    pub(crate) fn with_pointers(mut self, pointer: impl Fn(Span) -> String) -> Error {
        if let (None, Some(span)) = (&self.0.pointer, self.0.span) {
            self.0.pointer = Some(pointer(span));
        }
        self.0.trace_pointers = self.0.trace.iter().map(|span| pointer(*span)).collect();
        self
    }

    /// Renders the error for people: first line, the line of the query with carets under the span, data path, help.
    ///
    /// Without colors; [`Error::render_with`] takes styles.
    pub fn render(&self, source: &str) -> String {
        self.render_with(source, &Styles::PLAIN)
    }

    /// As [`Error::render`], with the given styles around each part, such as ANSI colors.
    pub fn render_with(&self, source: &str, styles: &Styles) -> String {
        let (code, message) = (self.0.code.as_str(), one_line(&self.0.message));
        let mut text = format!("{}error[{code}]{}: {message}\n", styles.error, styles.reset);
        if let Some(span) = self.0.span {
            render_source(&mut text, source, span, self.0.label.as_deref(), styles);
        }
        let inner = &*self.0;
        let parts = [
            ("pointer", &inner.pointer),
            ("at", &inner.data_path),
            ("most fuel", &inner.spent_most),
            ("help", &inner.help),
        ];
        for (name, part) in parts {
            // The pointer to the whole query is an empty string.
            if let Some(part) = part.as_deref().filter(|part| !part.is_empty()) {
                text.push_str(&format!("  {}= {name}:{} {}\n", styles.help, styles.reset, one_line(part)));
            }
        }
        text
    }
}

/// Style sequences around the parts of a rendered error: ANSI sequences, or empty.
#[derive(Clone, Copy, Debug)]
pub struct Styles {
    /// Before `error[..]`.
    pub error: &'static str,
    /// Before the carets.
    pub caret: &'static str,
    /// Before `= help:` and similar lines.
    pub help: &'static str,
    /// After each of them.
    pub reset: &'static str,
}

impl Styles {
    /// No styles.
    pub const PLAIN: Styles = Styles { error: "", caret: "", help: "", reset: "" };
    /// Red, bold red and cyan, for a terminal.
    pub const ANSI: Styles = Styles { error: "\x1b[1;31m", caret: "\x1b[1;31m", help: "\x1b[36m", reset: "\x1b[0m" };
}

/// Maximum length of a source line that is shown; longer lines are cut around the span.
const MAX_SHOWN_LEN: usize = 100;

/// Adds the source line of `span`, with its number if there are several lines, and the carets below it.
fn render_source(text: &mut String, source: &str, span: Span, label: Option<&str>, styles: &Styles) {
    let start = floor_char_boundary(source, span.start as usize);
    let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = source[start..].find('\n').map_or(source.len(), |at| start + at);
    // Windows lines end with two characters.
    let line_end = start + source[start..line_end].trim_end_matches('\r').len();
    let end = floor_char_boundary(source, span.end as usize).clamp(start, line_end);
    let (before, marked, after) = (&source[line_start..start], &source[start..end], &source[end..line_end]);
    let skipped = before.chars().count().saturating_sub(MAX_SHOWN_LEN / 2);
    let before: String = before.chars().skip(skipped).map(printable).collect();
    let marked: String = marked.chars().take(MAX_SHOWN_LEN).map(printable).collect();
    let after: String = after.chars().take(MAX_SHOWN_LEN / 2).map(printable).collect();
    let ellipsis = if skipped > 0 { "…" } else { "" };
    let indent = " ".repeat(width(ellipsis) + width(&before));
    let carets = "^".repeat(width(&marked).max(1));
    // The number of the line, if there are several.
    let line = source[..start].matches('\n').count() + 1;
    let number = if source.trim_end().contains('\n') { format!("{line} ") } else { "  ".into() };
    let gutter = " ".repeat(number.len());
    text.push_str(&format!("{number}| {ellipsis}{before}{marked}{after}\n"));
    text.push_str(&format!("{gutter}| {indent}{}{carets}{}", styles.caret, styles.reset));
    text.push_str(&label.map_or(String::from("\n"), |label| format!(" {}{label}{}\n", styles.caret, styles.reset)));
}

/// Returns a message without the line breaks of a quoted part of a query.
fn one_line(message: &str) -> Cow<'_, str> {
    match message.contains(['\n', '\r']) {
        true => message
            .split(['\n', '\r'])
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
            .into(),
        false => message.into(),
    }
}

/// Replaces control characters, which could move the cursor of a terminal, with a space or a replacement character.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Returns the width of a text in terminal columns: wide East Asian characters and emoji take two.
fn width(text: &str) -> usize {
    let wide = |c: char| matches!(c as u32, 0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD);
    text.chars().map(|c| 1 + usize::from(wide(c))).sum()
}

/// Formats `did you mean `a`, `b`?`.
fn did_you_mean(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    format!("did you mean {}?", quoted.join(", "))
}

/// A likely mistake that does not change the result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Warning {
    /// The stable code: `PQW01` unknown field, `PQW02` comparison that is never true, `PQW03` argument ignored, `PQW04`
    /// query inside `get`, `PQW05` aggregate or arithmetic of values that are no numbers, `PQW06` filter that keeps all or
    /// nothing, or constant condition, `PQW07` field of an array or a number, `PQW08` direction assumed, `PQW09` list
    /// truncated, `PQW10` duplicate keys in the input, `PQW11` argument missing, `PQW12` value in a comment, `PQW13` key
    /// that is the same for all, `PQW14` piped value not read, `PQW15` parameter not read, `PQW16` side of equipment not
    /// stated, `PQW17` direction that `sort` does not know, `PQW18` count that is no whole number, `PQW19` item or pipe
    /// passed that may not be there, `PQW20` step of `reduce` or `scan` that is constant, `PQW21` arithmetic with arrays or
    /// objects, `PQW22` size of an object or a number, `PQW23` property picked twice, `PQW24` null searched as a text,
    /// `PQW25` path after white space, `PQW26` integer beyond 2^53 that is not exact, `PQW27` number that a function does
    /// not take as written, `PQW28` pattern of another language. Of a drawing, the codes of `validate`, such as `G020`.
    pub code: &'static str,
    /// The message, one line.
    pub message: String,
    /// The byte range in the query text.
    pub span: Option<Span>,
    /// The JSON Pointer (RFC 6901) into a query that came in JSON format.
    pub pointer: Option<String>,
    /// The next step.
    pub help: Option<String>,
}

impl Warning {
    /// Creates a warning without a position. The `with_` functions add position and help.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Warning {
        Warning { code, message: message.into(), span: None, pointer: None, help: None }
    }

    pub(crate) fn with_span(self, span: Span) -> Warning {
        Warning { span: Some(span), ..self }
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Warning {
        Warning { help: Some(help.into()), ..self }
    }

    /// Computes the JSON Pointer of the span.
    pub(crate) fn with_pointer(self, pointer: impl Fn(Span) -> String) -> Warning {
        Warning { pointer: self.span.map(pointer), ..self }
    }

    /// Renders the warning as text in several lines, as [`Error::render`].
    pub fn render(&self, source: &str) -> String {
        self.render_with(source, &Styles::PLAIN)
    }

    /// Renders the warning for people, as [`Error::render_with`].
    pub fn render_with(&self, source: &str, styles: &Styles) -> String {
        let mut text = format!("{}warning[{}]{}: {}\n", styles.help, self.code, styles.reset, self.message);
        if let Some(span) = self.span {
            render_source(&mut text, source, span, None, styles);
        }
        if let Some(help) = &self.help {
            text.push_str(&format!("  {}= help:{} {help}\n", styles.help, styles.reset));
        }
        text
    }

    /// Returns true if the message names a field.
    pub(crate) fn names_field(&self, field: &str) -> bool {
        self.message.ends_with(&format!("`{field}`"))
    }
}

impl fmt::Display for Warning {
    /// Writes one line, for logs: code, message, help.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl fmt::Display for Error {
    /// Writes one line, for logs: code, message, help.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code.as_str(), one_line(&self.0.message))?;
        if let Some(path) = &self.0.data_path {
            write!(f, " at {path}")?;
        }
        self.0.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Error {
    /// Serializes the form shared by all interfaces: `code`, `stage`, `message`, then position and help as far as
    /// known.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let inner = &*self.0;
        let mut out = serializer.serialize_struct("Error", 12)?;
        out.serialize_field("code", inner.code.as_str())?;
        out.serialize_field("stage", inner.code.stage().as_str())?;
        out.serialize_field("message", &inner.message)?;
        if let Some(span) = inner.span {
            out.serialize_field("span", &SpanJson(span, inner.location))?;
        }
        if let Some(location) = inner.location {
            out.serialize_field("pos16", &location.pos16)?;
        }
        let texts = [
            ("label", &inner.label),
            ("help", &inner.help),
            ("pointer", &inner.pointer),
            ("dataPath", &inner.data_path),
            ("spentMost", &inner.spent_most),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                out.serialize_field(name, text)?;
            }
        }
        if !inner.suggestions.is_empty() {
            out.serialize_field("suggestions", &inner.suggestions)?;
        }
        if !inner.trace.is_empty() {
            let pointers = inner.trace_pointers.iter().map(Some).chain(std::iter::repeat(None));
            let steps = inner.trace.iter().zip(pointers);
            let stack: Vec<StepJson> = steps.map(|(span, pointer)| StepJson { span: *span, pointer }).collect();
            out.serialize_field("stack", &stack)?;
        }
        out.end()
    }
}

impl Serialize for Warning {
    /// Serializes as an error: `code`, `stage`, `message`, then position and help as far as known.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Warning", 6)?;
        out.serialize_field("code", self.code)?;
        out.serialize_field("stage", "warning")?;
        out.serialize_field("message", &self.message)?;
        if let Some(span) = self.span {
            out.serialize_field("span", &SpanJson(span, None))?;
        }
        for (name, text) in [("pointer", &self.pointer), ("help", &self.help)] {
            if let Some(text) = text {
                out.serialize_field(name, text)?;
            }
        }
        out.end()
    }
}

/// `{start, end}` in bytes, with `line` and `column` if known.
struct SpanJson(Span, Option<Location>);

impl Serialize for SpanJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Span", 4)?;
        out.serialize_field("start", &self.0.start)?;
        out.serialize_field("end", &self.0.end)?;
        if let Some(location) = self.1 {
            out.serialize_field("line", &location.line)?;
            out.serialize_field("column", &location.column)?;
        }
        out.end()
    }
}

/// `{start, end}` in bytes, with the `pointer` of a step in JSON format.
struct StepJson<'e> {
    span: Span,
    pointer: Option<&'e String>,
}

impl Serialize for StepJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Step", 3)?;
        out.serialize_field("start", &self.span.start)?;
        out.serialize_field("end", &self.span.end)?;
        if let Some(pointer) = self.pointer {
            out.serialize_field("pointer", pointer)?;
        }
        out.end()
    }
}

impl Serialize for Suggestion {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Suggestion", 2)?;
        out.serialize_field("text", &self.text)?;
        out.serialize_field("span", &self.span.map(|span| SpanJson(span, None)))?;
        out.end()
    }
}
