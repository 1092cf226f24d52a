//! Streaming JSON formatter: indented or on one line, optionally colored.

use std::io::{self, Write};

use super::colors::{Part, RESET, color};

/// Formatting style.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// One level of indentation; `None` writes everything on one line.
    pub indent: Option<Indent>,
    pub colors: bool,
}

/// One level of indentation.
#[derive(Clone, Copy, Debug)]
pub enum Indent {
    Tab,
    Spaces(usize),
}

impl Indent {
    fn push(self, out: &mut String) {
        match self {
            Indent::Tab => out.push('\t'),
            Indent::Spaces(width) => out.extend(std::iter::repeat_n(' ', width)),
        }
    }
}

/// Streaming formatter of one JSON text. Keeps one bit per open bracket and none of the text.
pub struct JsonFormatter<W> {
    writer: W,
    /// Formatted text not yet written.
    out: String,
    format_state: FormatState,
}

impl<W: Write> JsonFormatter<W> {
    pub fn new(writer: W, style: Style) -> JsonFormatter<W> {
        JsonFormatter { writer, out: String::new(), format_state: FormatState::new(style) }
    }

    /// Formats a chunk of JSON text.
    pub fn push(&mut self, chunk: &str) -> io::Result<()> {
        if self.format_state.is_plain() {
            return self.format_state.compact_chunk(chunk, &mut self.writer);
        }
        self.format_state.chunk(chunk, &mut self.out);
        self.write()
    }

    /// Writes text verbatim.
    pub fn raw(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(text.as_bytes())
    }

    /// Ends a JSON text with a line break.
    pub fn finish(&mut self) -> io::Result<()> {
        self.finish_with("\n")
    }

    /// Ends a JSON text with some other text.
    pub fn finish_with(&mut self, ending: &str) -> io::Result<()> {
        self.format_state.end(ending, &mut self.out);
        self.format_state = FormatState::new(self.format_state.style);
        self.write()
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    pub fn writer(&mut self) -> &mut W {
        &mut self.writer
    }

    fn write(&mut self) -> io::Result<()> {
        self.writer.write_all(self.out.as_bytes())?;
        self.out.clear();
        Ok(())
    }
}

/// Parser state between two chunks.
struct FormatState {
    style: Style,
    /// One entry per open bracket: true for an object.
    open: Vec<bool>,
    state: State,
    /// True after an opening bracket.
    is_after_opening: bool,
    /// True if the next string is a key.
    expects_key: bool,
}

enum State {
    Between,
    /// Inside a string; true after a backslash.
    String(bool),
    /// Inside a number or literal.
    Word,
}

impl FormatState {
    fn new(style: Style) -> FormatState {
        FormatState { style, open: Vec::new(), state: State::Between, is_after_opening: false, expects_key: false }
    }

    /// Formats a chunk into `out`. Strings, numbers and literals are copied at once.
    fn chunk(&mut self, chunk: &str, out: &mut String) {
        let mut rest = chunk;
        while let Some(first) = rest.chars().next() {
            let len = match self.state {
                State::String(escaped) => self.in_string(rest, escaped, out),
                State::Word => self.in_word(rest, out),
                State::Between => {
                    self.between(first, out);
                    first.len_utf8()
                }
            };
            rest = &rest[len..];
        }
    }

    /// Returns true if the style is one line without colors, for which only white space is removed.
    fn is_plain(&self) -> bool {
        self.style.indent.is_none() && !self.style.colors
    }

    /// Writes a chunk without the white space between its values.
    ///
    /// Hot: copied input is mostly on one line already. Blocks without white space are copied after counting their
    /// quotes.
    fn compact_chunk(&mut self, chunk: &str, writer: &mut impl Write) -> io::Result<()> {
        let (mut is_string, mut is_escaped) = match self.state {
            State::String(is_escaped) => (true, is_escaped),
            _ => (false, false),
        };
        let mut written = 0;
        for (block, start) in chunk.as_bytes().chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            if let (Some(whole), false) = (block.first_chunk(), is_escaped) {
                let scan = BlockScan::of(whole);
                if !scan.is_special {
                    is_string ^= scan.is_odd;
                    continue;
                }
            }
            for (byte, at) in block.iter().zip(start..) {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'"' => is_string = !is_string,
                    b'\\' => is_escaped = true,
                    b' ' | b'\n' | b'\t' | b'\r' if !is_string => {
                        writer.write_all(&chunk.as_bytes()[written..at])?;
                        written = at + 1;
                    }
                    _ => {}
                }
            }
        }
        self.state = if is_string { State::String(is_escaped) } else { State::Between };
        writer.write_all(&chunk.as_bytes()[written..])
    }

    /// Ends the text.
    fn end(&mut self, ending: &str, out: &mut String) {
        if let State::Word = self.state {
            self.end_color(out);
        }
        out.push_str(ending);
    }

    /// Copies the rest of a string including its quote. Returns the number of bytes.
    fn in_string(&mut self, rest: &str, mut escaped: bool, out: &mut String) -> usize {
        let mut at = 0;
        let bytes = rest.as_bytes();
        while at < bytes.len() && (escaped || bytes[at] != b'"') {
            escaped = !escaped && bytes[at] == b'\\';
            at += 1;
        }
        let ends = at < bytes.len();
        let len = at + usize::from(ends);
        out.push_str(&rest[..len]);
        match ends {
            true => self.end_color(out),
            false => self.state = State::String(escaped),
        }
        len
    }

    /// Copies the rest of a number or literal. Returns the number of bytes.
    fn in_word(&mut self, rest: &str, out: &mut String) -> usize {
        let len = rest.find(is_end).unwrap_or(rest.len());
        out.push_str(&rest[..len]);
        if len < rest.len() {
            self.end_color(out);
        }
        len
    }

    fn end_color(&mut self, out: &mut String) {
        self.state = State::Between;
        self.expects_key = false;
        self.reset_color(out);
    }

    fn between(&mut self, c: char, out: &mut String) {
        match c {
            ' ' | '\n' | '\t' | '\r' => {}
            '{' | '[' => self.opens(c, out),
            '}' | ']' => self.closes(c, out),
            ',' => {
                self.bracket(c, out);
                self.new_line(out);
                self.expects_key = self.open.last() == Some(&true);
            }
            ':' => {
                self.bracket(c, out);
                if self.style.indent.is_some() {
                    out.push(' ');
                }
            }
            _ => self.starts(c, out),
        }
    }

    fn opens(&mut self, c: char, out: &mut String) {
        self.first(out);
        self.bracket(c, out);
        self.open.push(c == '{');
        self.is_after_opening = true;
        self.expects_key = c == '{';
    }

    fn closes(&mut self, c: char, out: &mut String) {
        self.open.pop();
        if !std::mem::take(&mut self.is_after_opening) {
            self.new_line(out);
        }
        self.expects_key = false;
        self.bracket(c, out);
    }

    /// Starts a string, number or literal.
    fn starts(&mut self, c: char, out: &mut String) {
        self.first(out);
        let part = match c {
            '"' if self.expects_key => Part::Key,
            '"' => Part::String,
            'n' => Part::Null,
            'f' => Part::False,
            't' => Part::True,
            _ => Part::Number,
        };
        self.color(part, out);
        out.push(c);
        self.state = if c == '"' { State::String(false) } else { State::Word };
    }

    /// Starts a new line for the first item after a bracket.
    fn first(&mut self, out: &mut String) {
        if std::mem::take(&mut self.is_after_opening) {
            self.new_line(out);
        }
    }

    fn new_line(&self, out: &mut String) {
        if let Some(indent) = self.style.indent {
            out.push('\n');
            self.open.iter().for_each(|_| indent.push(out));
        }
    }

    /// Writes a bracket, comma or colon.
    fn bracket(&self, c: char, out: &mut String) {
        let part = match c {
            '{' | '}' => Part::Object,
            ',' | ':' if self.open.last() == Some(&true) => Part::Object,
            _ => Part::Array,
        };
        self.color(part, out);
        out.push(c);
        self.reset_color(out);
    }

    fn color(&self, part: Part, out: &mut String) {
        if self.style.colors {
            out.push_str(color(part));
        }
    }

    fn reset_color(&self, out: &mut String) {
        if self.style.colors {
            out.push_str(RESET);
        }
    }
}

/// Number of bytes scanned together.
const BLOCK: usize = 64;

/// Result of scanning a block of JSON text. Branch-free with a fixed length, so that it is vectorized.
struct BlockScan {
    /// Contains white space or a backslash.
    is_special: bool,
    /// Contains an odd number of quotes.
    is_odd: bool,
}

impl BlockScan {
    fn of(block: &[u8; BLOCK]) -> BlockScan {
        let special = |byte: &u8| u8::from(*byte <= b' ') | u8::from(*byte == b'\\');
        // A sum, because compilers do not vectorize parities.
        let quotes = block.iter().fold(0u8, |count, byte| count + u8::from(*byte == b'"'));
        BlockScan { is_special: block.iter().fold(0, |any, byte| any | special(byte)) != 0, is_odd: quotes % 2 == 1 }
    }
}

fn is_end(c: char) -> bool {
    matches!(c, ',' | ':' | ']' | '}' | ' ' | '\n' | '\t' | '\r')
}

#[cfg(test)]
mod tests {
    use super::{Indent, JsonFormatter, Style};

    /// Formats a text split at every offset, which must not change the result.
    fn check(indent: Option<Indent>, text: &str, expected: &str) {
        let cuts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        for cut in cuts {
            let mut out = Vec::new();
            let mut formatter = JsonFormatter::new(&mut out, Style { indent, colors: false });
            let chunks = [&text[..cut], &text[cut..]];
            let written = chunks.iter().try_for_each(|chunk| formatter.push(chunk)).and_then(|()| formatter.finish());
            assert!(written.is_ok());
            assert_eq!(String::from_utf8_lossy(&out), expected, "{text} cut at {cut}");
        }
    }

    #[test]
    fn values_are_indented() {
        check(
            Some(Indent::Spaces(2)),
            r#"{"a":[1,2.50],"b":{}}"#,
            "{\n  \"a\": [\n    1,\n    2.50\n  ],\n  \"b\": {}\n}\n",
        );
        check(Some(Indent::Tab), "[ [ ] ,null]", "[\n\t[],\n\tnull\n]\n");
        check(Some(Indent::Spaces(2)), "\"a\"", "\"a\"\n");
    }

    #[test]
    fn one_line_has_no_white_space_outside_strings() {
        check(None, "{ \"a b\" : [ 1 ,\n true ] }", "{\"a b\":[1,true]}\n");
        let long = r#"{"a b":["é\\", "\\ \" ", 1.5 ,{ } ] , "ccccccccccccccccccccccccccccccccccc" :null}"#.repeat(3);
        let short = r#"{"a b":["é\\","\\ \" ",1.5,{}],"ccccccccccccccccccccccccccccccccccc":null}"#.repeat(3);
        check(None, &long, &(short + "\n"));
        let text = "t".repeat(150);
        check(None, &format!("[\"{text}\" , \"{text} {text}\"]"), &format!("[\"{text}\",\"{text} {text}\"]\n"));
        check(None, r#"["\\", "\" ]", "é😀"]"#, "[\"\\\\\",\"\\\" ]\",\"é😀\"]\n");
    }
}
