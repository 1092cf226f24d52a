//! Splits a stream into its JSON texts: one after another, one per line, or after record separators (RFC 7464).

use std::io::{self, Read};

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;
/// Largest text; a longer one is passed on unfinished, since the engine does not accept it.
const MAX_TEXT: usize = u32::MAX as usize + 1;
/// UTF-8 byte order mark, which is ignored at the start of a stream.
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// Byte before each text of a JSON text sequence (RFC 7464), white space here.
const RECORD_SEPARATOR: u8 = 0x1E;

/// JSON text and its place in the stream. The text may be malformed.
#[derive(Debug, Eq, PartialEq)]
pub struct JsonText {
    pub bytes: Vec<u8>,
    pub start: Position,
}

/// Line and column in a stream, from 1; the column in characters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Position {
    pub const START: Position = Position { line: 1, column: 1 };

    /// Returns the position after some bytes.
    fn after(self, bytes: &[u8]) -> Position {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let rest = bytes.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        // Continuation bytes of UTF-8 do not begin a character.
        let characters = rest.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        let column = if lines == 0 { self.column + characters } else { 1 + characters };
        Position { line: self.line + lines, column }
    }

    /// Returns a position in a text that starts here, as a position in the stream.
    pub fn offset(self, line: usize, column: usize) -> Position {
        let column = if line == 1 { self.column + column - 1 } else { column };
        Position { line: self.line + line - 1, column }
    }
}

/// Iterator of the texts of a stream. Holds one text, and what was read after it.
pub struct JsonTexts<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Start of the bytes that were not returned yet.
    start: usize,
    position: Position,
    scanner: Scanner,
    /// Length of the next text, if its end was found.
    text_len: Option<usize>,
    is_at_end: bool,
}

impl<R: Read> JsonTexts<R> {
    pub fn new(reader: R) -> JsonTexts<R> {
        JsonTexts {
            reader,
            buffer: Vec::new(),
            start: 0,
            position: Position::START,
            scanner: Scanner::default(),
            text_len: None,
            is_at_end: false,
        }
    }

    /// Returns true if the next text must be read first, which may wait for its writer.
    pub fn must_read(&mut self) -> bool {
        self.scan();
        self.text_len.is_none() && !self.is_at_end
    }

    fn next_text(&mut self) -> io::Result<Option<JsonText>> {
        while self.must_read() && self.buffer.len() - self.start < MAX_TEXT {
            self.read()?;
        }
        // The last text may be unfinished.
        let len = self.text_len.unwrap_or(self.buffer.len() - self.start);
        Ok((len > 0).then(|| self.take(len)))
    }

    /// Looks for the end of the next text in the buffer.
    fn scan(&mut self) {
        if self.text_len.is_none() {
            self.skip_white_space();
            self.text_len = self.scanner.text_len(&self.buffer[self.start..]);
        }
    }

    /// Skips white space before a text.
    fn skip_white_space(&mut self) {
        if self.scanner.at > 0 {
            return;
        }
        let rest = &self.buffer[self.start..];
        let len = rest.iter().position(|byte| !is_white_space(*byte)).unwrap_or(rest.len());
        self.position = self.position.after(&rest[..len]);
        self.start += len;
    }

    fn take(&mut self, len: usize) -> JsonText {
        let bytes = self.buffer[self.start..self.start + len].to_vec();
        let start = self.position;
        self.position = self.position.after(&bytes);
        self.start += len;
        (self.scanner, self.text_len) = (Scanner::default(), None);
        JsonText { bytes, start }
    }

    fn read(&mut self) -> io::Result<()> {
        let is_first = self.position == Position::START && self.start == 0 && self.buffer.len() < BYTE_ORDER_MARK.len();
        self.buffer.drain(..self.start);
        self.start = 0;
        let old = self.buffer.len();
        self.buffer.resize(old + CHUNK.max(old), 0);
        let read = read_some(&mut self.reader, &mut self.buffer[old..]);
        self.buffer.truncate(old + *read.as_ref().unwrap_or(&0));
        self.is_at_end = read? == 0;
        if is_first && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
            self.scanner = Scanner::default();
        }
        Ok(())
    }
}

impl<R: Read> Iterator for JsonTexts<R> {
    type Item = io::Result<JsonText>;

    fn next(&mut self) -> Option<io::Result<JsonText>> {
        self.next_text().transpose()
    }
}

/// Reads what is there; waits for at least one byte.
fn read_some(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | RECORD_SEPARATOR)
}

/// Returns true if a number, literal or malformed word ends before `byte`.
fn ends_word(byte: u8) -> bool {
    is_white_space(byte) || matches!(byte, b'"' | b'[' | b'{')
}

/// State of the search for the end of a text. Malformed texts end somewhere, too.
#[derive(Default)]
struct Scanner {
    /// Number of bytes that were scanned.
    at: usize,
    depth: usize,
    state: State,
}

#[derive(Clone, Copy, Default, Eq, PartialEq)]
enum State {
    #[default]
    Between,
    String,
    /// After a backslash in a string.
    Escape,
    /// In a number or literal outside of all brackets.
    Word,
}

impl Scanner {
    /// Returns the length of the text at the start of `bytes` if it ends there. Continues where the last call ended.
    fn text_len(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(byte) = bytes.get(self.at).copied() {
            if self.state == State::Word && ends_word(byte) {
                return Some(self.at);
            }
            self.at += 1;
            if self.step(byte) {
                return Some(self.at);
            }
        }
        None
    }

    /// Takes a byte. Returns true if the text ends with it.
    fn step(&mut self, byte: u8) -> bool {
        match (self.state, byte) {
            (State::Escape, _) => self.state = State::String,
            (State::String, b'\\') => self.state = State::Escape,
            (State::String, b'"') => {
                self.state = State::Between;
                return self.depth == 0;
            }
            (State::String, _) => {}
            (_, b'"') => self.state = State::String,
            (_, b'[' | b'{') => self.depth += 1,
            (_, b']' | b'}') => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ if self.depth == 0 => self.state = State::Word,
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that returns one byte at a time.
    struct Trickle<'b>(&'b [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.len().min(1);
            buffer[..read].copy_from_slice(&self.0[..read]);
            self.0 = &self.0[read..];
            Ok(read)
        }
    }

    fn texts(stream: &str) -> Vec<String> {
        let of = |reader: &mut dyn Read| -> Vec<JsonText> {
            JsonTexts::new(reader).map(|text| text.expect("it reads")).collect()
        };
        let all = of(&mut stream.as_bytes());
        assert_eq!(all, of(&mut Trickle(stream.as_bytes())), "{stream}");
        all.into_iter().map(|text| String::from_utf8(text.bytes).expect("UTF-8")).collect()
    }

    #[test]
    fn a_stream_is_split_after_each_text() {
        let cases: [(&str, &[&str]); 12] = [
            ("", &[]),
            (" \n", &[]),
            ("1 2\n3", &["1", "2", "3"]),
            ("{\"a\":1}\n{\"a\":2}\n", &["{\"a\":1}", "{\"a\":2}"]),
            ("[1][2]{}", &["[1]", "[2]", "{}"]),
            ("\"a\"\"b\"true[1]", &["\"a\"", "\"b\"", "true", "[1]"]),
            (r#""\"" "\\" "]" {"}":["\"]"]}"#, &[r#""\"""#, r#""\\""#, "\"]\"", r#"{"}":["\"]"]}"#]),
            ("\u{1E}1\n\u{1E}[\n2]\n", &["1", "[\n2]"]),
            ("[1, [2", &["[1, [2"]),
            ("] 1", &["]", "1"]),
            ("1,2 3", &["1,2", "3"]),
            ("\"é\" \"日本\"", &["\"é\"", "\"日本\""]),
        ];
        for (stream, expected) in cases {
            assert_eq!(texts(stream), expected, "{stream}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_ignored_at_the_start_only() {
        assert_eq!(texts("\u{FEFF}[1]"), ["[1]"]);
        assert_eq!(texts("\u{FEFF}"), [""; 0]);
        assert_eq!(texts("1 \u{FEFF}2"), ["1", "\u{FEFF}2"]);
    }

    #[test]
    fn texts_know_their_place() {
        let starts: Vec<(usize, usize)> = JsonTexts::new("1 \"é\" 2\n\n  [\n3] 4".as_bytes())
            .map(|text| text.map(|text| (text.start.line, text.start.column)).expect("it reads"))
            .collect();
        assert_eq!(starts, [(1, 1), (1, 3), (1, 7), (3, 3), (4, 4)]);
        let second = Position { line: 3, column: 3 };
        assert_eq!(
            [second.offset(1, 2), second.offset(2, 2)],
            [Position { line: 3, column: 4 }, Position { line: 4, column: 2 }]
        );
    }
}
