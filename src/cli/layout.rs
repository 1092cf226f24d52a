//! JSON text to JSON text in another layout: indented or on one line, with colours. Works piece by piece.

use std::io::{self, Write};

/// How results look.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// One level of indentation; nothing puts everything on one line.
    pub indent: Option<Indent>,
    pub colours: bool,
}

/// One level of indentation.
#[derive(Clone, Copy, Debug)]
pub enum Indent {
    Tab,
    Blanks(usize),
}

impl Indent {
    fn push(self, out: &mut String) {
        match self {
            Indent::Tab => out.push('\t'),
            Indent::Blanks(width) => out.extend(std::iter::repeat_n(' ', width)),
        }
    }
}

/// The colours of jq: null, false and true, numbers, texts, brackets, keys.
const NULL: &str = "\x1b[1;30m";
const WORD: &str = "\x1b[0;39m";
const TEXT: &str = "\x1b[0;32m";
const BRACKET: &str = "\x1b[1;39m";
const KEY: &str = "\x1b[34;1m";
const RESET: &str = "\x1b[0m";

/// Lays out one JSON text that comes in pieces. Keeps a bit per open bracket, and nothing of the text.
pub struct Layout<W> {
    writer: W,
    /// What is laid out and not yet written.
    out: String,
    form: Form,
}

impl<W: Write> Layout<W> {
    pub fn new(writer: W, style: Style) -> Layout<W> {
        Layout { writer, out: String::new(), form: Form::new(style) }
    }

    /// Lays out a piece of a JSON text.
    pub fn push(&mut self, piece: &str) -> io::Result<()> {
        if self.form.is_plain() {
            return self.form.plain_piece(piece, &mut self.writer);
        }
        self.form.piece(piece, &mut self.out);
        self.write()
    }

    /// Writes a text as it is.
    pub fn raw(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(text.as_bytes())
    }

    /// Ends a JSON text and its line.
    pub fn finish(&mut self) -> io::Result<()> {
        self.form.end(&mut self.out);
        self.form = Form::new(self.form.style);
        self.write()
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }

    fn write(&mut self) -> io::Result<()> {
        self.writer.write_all(self.out.as_bytes())?;
        self.out.clear();
        Ok(())
    }
}

/// The state between two pieces.
struct Form {
    style: Style,
    /// By open bracket: whether it is an object.
    open: Vec<bool>,
    state: State,
    /// A bracket was opened and nothing has come after it.
    fresh: bool,
    /// The next text is a key.
    expects_key: bool,
}

enum State {
    Between,
    /// In a text; whether the last character was a backslash.
    Text(bool),
    /// In a number or a word.
    Word,
}

impl Form {
    fn new(style: Style) -> Form {
        Form { style, open: Vec::new(), state: State::Between, fresh: false, expects_key: false }
    }

    /// Adds the layout of a piece to `out`. Texts, numbers and words go over in one go.
    fn piece(&mut self, piece: &str, out: &mut String) {
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            let len = match self.state {
                State::Text(escaped) => self.in_text(rest, escaped, out),
                State::Word => self.in_word(rest, out),
                State::Between => {
                    self.between(first, out);
                    first.len_utf8()
                }
            };
            rest = &rest[len..];
        }
    }

    /// Everything on one line, without colours: nothing but white space is left out.
    fn is_plain(&self) -> bool {
        self.style.indent.is_none() && !self.style.colours
    }

    /// Writes a piece without the white space between its values.
    ///
    /// Hot: what a query passes through is mostly on one line already. Blocks without white space go over unread but
    /// for the number of their quotes.
    fn plain_piece(&mut self, piece: &str, writer: &mut impl Write) -> io::Result<()> {
        let (mut is_text, mut is_escaped) = match self.state {
            State::Text(is_escaped) => (true, is_escaped),
            _ => (false, false),
        };
        let mut written = 0;
        for (block, start) in piece.as_bytes().chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            if let (Some(whole), false) = (block.first_chunk(), is_escaped) {
                let found = Found::of(whole);
                if !found.is_special {
                    is_text ^= found.is_odd;
                    continue;
                }
            }
            for (byte, at) in block.iter().zip(start..) {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'"' => is_text = !is_text,
                    b'\\' => is_escaped = true,
                    b' ' | b'\n' | b'\t' | b'\r' if !is_text => {
                        writer.write_all(&piece.as_bytes()[written..at])?;
                        written = at + 1;
                    }
                    _ => {}
                }
            }
        }
        self.state = if is_text { State::Text(is_escaped) } else { State::Between };
        writer.write_all(&piece.as_bytes()[written..])
    }

    /// Ends the text.
    fn end(&mut self, out: &mut String) {
        if let State::Word = self.state {
            self.end_colour(out);
        }
        out.push('\n');
    }

    /// Adds what is left of a text, with its quote; says how many bytes that were.
    fn in_text(&mut self, rest: &str, mut escaped: bool, out: &mut String) -> usize {
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
            true => self.end_colour(out),
            false => self.state = State::Text(escaped),
        }
        len
    }

    /// Adds what is left of a number or word.
    fn in_word(&mut self, rest: &str, out: &mut String) -> usize {
        let len = rest.find(is_end).unwrap_or(rest.len());
        out.push_str(&rest[..len]);
        if len < rest.len() {
            self.end_colour(out);
        }
        len
    }

    fn end_colour(&mut self, out: &mut String) {
        self.state = State::Between;
        self.expects_key = false;
        self.colour(RESET, out);
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
        self.fresh = true;
        self.expects_key = c == '{';
    }

    fn closes(&mut self, c: char, out: &mut String) {
        self.open.pop();
        if !std::mem::take(&mut self.fresh) {
            self.new_line(out);
        }
        self.expects_key = false;
        self.bracket(c, out);
    }

    /// A text, number or word begins.
    fn starts(&mut self, c: char, out: &mut String) {
        self.first(out);
        let colour = match c {
            '"' if self.expects_key => KEY,
            '"' => TEXT,
            'n' => NULL,
            _ => WORD,
        };
        self.colour(colour, out);
        out.push(c);
        self.state = if c == '"' { State::Text(false) } else { State::Word };
    }

    /// What comes first in a bracket stands on a line of its own.
    fn first(&mut self, out: &mut String) {
        if std::mem::take(&mut self.fresh) {
            self.new_line(out);
        }
    }

    fn new_line(&self, out: &mut String) {
        if let Some(indent) = self.style.indent {
            out.push('\n');
            self.open.iter().for_each(|_| indent.push(out));
        }
    }

    fn bracket(&self, c: char, out: &mut String) {
        self.colour(BRACKET, out);
        out.push(c);
        self.colour(RESET, out);
    }

    fn colour(&self, colour: &str, out: &mut String) {
        if self.style.colours {
            out.push_str(colour);
        }
    }
}

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// What a block of JSON text has. Without branches and of one length, so that the processor looks at many bytes at once.
struct Found {
    /// White space, or a backslash.
    is_special: bool,
    /// An odd number of quotes.
    is_odd: bool,
}

impl Found {
    fn of(block: &[u8; BLOCK]) -> Found {
        let special = |byte: &u8| u8::from(*byte <= b' ') | u8::from(*byte == b'\\');
        // A sum, since compilers do not take the parities of many bytes at once.
        let quotes = block.iter().fold(0u8, |count, byte| count + u8::from(*byte == b'"'));
        Found { is_special: block.iter().fold(0, |any, byte| any | special(byte)) != 0, is_odd: quotes % 2 == 1 }
    }
}

fn is_end(c: char) -> bool {
    matches!(c, ',' | ':' | ']' | '}' | ' ' | '\n' | '\t' | '\r')
}

#[cfg(test)]
mod tests {
    use super::{Indent, Layout, Style};

    /// Lays out a text cut at every place, which must not matter.
    fn check(indent: Option<Indent>, text: &str, expected: &str) {
        let cuts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        for cut in cuts {
            let mut out = Vec::new();
            let mut layout = Layout::new(&mut out, Style { indent, colours: false });
            let pieces = [&text[..cut], &text[cut..]];
            let written = pieces.iter().try_for_each(|piece| layout.push(piece)).and_then(|()| layout.finish());
            assert!(written.is_ok());
            assert_eq!(String::from_utf8_lossy(&out), expected, "{text} cut at {cut}");
        }
    }

    #[test]
    fn values_are_indented() {
        check(
            Some(Indent::Blanks(2)),
            r#"{"a":[1,2.50],"b":{}}"#,
            "{\n  \"a\": [\n    1,\n    2.50\n  ],\n  \"b\": {}\n}\n",
        );
        check(Some(Indent::Tab), "[ [ ] ,null]", "[\n\t[],\n\tnull\n]\n");
        check(Some(Indent::Blanks(2)), "\"a\"", "\"a\"\n");
    }

    #[test]
    fn one_line_has_no_white_space_outside_of_texts() {
        check(None, "{ \"a b\" : [ 1 ,\n true ] }", "{\"a b\":[1,true]}\n");
        let long = r#"{"a b":["é\\", "\\ \" ", 1.5 ,{ } ] , "ccccccccccccccccccccccccccccccccccc" :null}"#.repeat(3);
        let short = r#"{"a b":["é\\","\\ \" ",1.5,{}],"ccccccccccccccccccccccccccccccccccc":null}"#.repeat(3);
        check(None, &long, &(short + "\n"));
        let text = "t".repeat(150);
        check(None, &format!("[\"{text}\" , \"{text} {text}\"]"), &format!("[\"{text}\",\"{text} {text}\"]\n"));
        check(None, r#"["\\", "\" ]", "é😀"]"#, "[\"\\\\\",\"\\\" ]\",\"é😀\"]\n");
    }
}
