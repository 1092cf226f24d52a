//! RTF reader: control words, groups, and characters in the code page of their font.

use std::collections::HashMap;

use encoding_rs::Encoding;

use super::code_pages;
use crate::sniff::Confidence;
use crate::text_sink::TextSink;
use crate::{ExtractError, Format, Source};

/// The `rtf` format.
pub const RTF: Format = Format {
    name: "rtf",
    media_types: &["application/rtf", "text/rtf"],
    extensions: &["rtf"],
    summary: "RTF: text, then notes, comments, headers and footers; deleted and hidden text is omitted",
    sniff: |content| Confidence::certain_if(content.starts_with(b"{\\rtf")),
    read,
};

/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 256;
/// Maximum number of fonts that are kept.
const MAX_FONTS: usize = 4096;

/// Destinations whose content is not part of the text. Groups that start with `\*` are hidden too, unless listed below.
const HIDDEN_DESTINATIONS: &[&str] = &[
    "colortbl",
    "stylesheet",
    "pict",
    "objclass",
    "objname",
    "objdata",
    "themedata",
    "colorschememapping",
    "datastore",
    "latentstyles",
    "listtable",
    "listoverridetable",
    "rsidtbl",
    "generator",
    "fldinst",
    "xmlnstbl",
    "filetbl",
    "revtbl",
    "private",
    "bkmkstart",
    "bkmkend",
];

/// Destinations that are appended after the text.
const NOTE_DESTINATIONS: &[&str] =
    &["footnote", "annotation", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"];

/// Control words that stand for text.
const CONTROL_TEXT: &[(&str, &str)] = &[
    ("line", "\n"),
    ("par", "\n"),
    ("page", "\n"),
    ("column", "\n"),
    ("sect", "\n"),
    ("row", "\n"),
    ("nestrow", "\n"),
    ("tab", "\t"),
    ("cell", "\t"),
    ("nestcell", "\t"),
    ("emdash", "—"),
    ("endash", "–"),
    ("emspace", "\u{2003}"),
    ("enspace", "\u{2002}"),
    ("qmspace", "\u{2005}"),
    ("zwj", "\u{200D}"),
    ("zwnj", "\u{200C}"),
    ("bullet", "•"),
    ("lquote", "‘"),
    ("rquote", "’"),
    ("ldblquote", "“"),
    ("rdblquote", "”"),
];

/// Character set numbers of the font table, and their code pages by the names of the Encoding Standard.
const CHARSETS: &[(i32, &str)] = &[
    (0, "windows-1252"),
    (77, "macintosh"),
    (128, "shift_jis"),
    (129, "euc-kr"),
    (134, "gbk"),
    (136, "big5"),
    (161, "windows-1253"),
    (162, "windows-1254"),
    (163, "windows-1258"),
    (177, "windows-1255"),
    (178, "windows-1256"),
    (186, "windows-1257"),
    (204, "windows-1251"),
    (222, "windows-874"),
    (238, "windows-1250"),
];

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    text(source.content.bytes, sink)
}

/// Writes the text of an RTF document.
pub fn text(rtf: &[u8], sink: &mut TextSink) -> Result<(), ExtractError> {
    let mut reader = Reader::new(sink);
    let mut remaining = rtf;
    while let Some((token, after)) = token(remaining) {
        reader.handle(token)?;
        remaining = after;
        if let Token::Word(b"bin", Some(count)) = token {
            // Raw bytes, which may look like control words.
            remaining = &remaining[remaining.len().min(count.max(0) as usize)..];
        }
        if reader.groups.is_empty() {
            break;
        }
    }
    reader.finish()
}

#[derive(Clone, Copy)]
enum Token<'b> {
    Open,
    Close,
    Word(&'b [u8], Option<i32>),
    Symbol(u8),
    Hex(u8),
    Byte(u8),
}

/// Returns the next token and the rest.
fn token(bytes: &[u8]) -> Option<(Token<'_>, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    Some(match first {
        b'{' => (Token::Open, rest),
        b'}' => (Token::Close, rest),
        b'\\' => control(rest)?,
        byte => (Token::Byte(*byte), rest),
    })
}

fn control(bytes: &[u8]) -> Option<(Token<'_>, &[u8])> {
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).take(32).count();
    if letters > 0 {
        return Some(word(bytes, letters));
    }
    let (symbol, rest) = bytes.split_first()?;
    let digits = rest.get(..2).and_then(|digits| str::from_utf8(digits).ok());
    match (symbol, digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
        (b'\'', Some(byte)) => Some((Token::Hex(byte), &rest[2..])),
        (symbol, _) => Some((Token::Symbol(*symbol), rest)),
    }
}

fn word(bytes: &[u8], letters: usize) -> (Token<'_>, &[u8]) {
    let (name, rest) = bytes.split_at(letters);
    let sign = usize::from(rest.first() == Some(&b'-'));
    let digits = rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).take(10).count();
    let number = str::from_utf8(&rest[..sign + digits]).ok().and_then(|digits| digits.parse().ok());
    let rest = if digits > 0 { &rest[sign + digits..] } else { rest };
    // One space after a control word belongs to it.
    (Token::Word(name, number), rest.strip_prefix(b" ").unwrap_or(rest))
}

/// Group state, inherited by nested groups.
#[derive(Clone)]
struct Group {
    hidden: bool,
    /// Number of fallback characters after `\u` to skip.
    skip: usize,
    encoding: &'static Encoding,
    destination: Destination,
    /// Destination outside a `\upr` group, which has the text in two forms.
    outer: Destination,
    /// `true` if the paragraphs are in a table, whose rows are one line each.
    table: bool,
    deleted: bool,
    /// `true` if the text is formatted as hidden.
    vanished: bool,
}

/// Destination of a group's text.
#[derive(Clone, Copy, PartialEq)]
enum Destination {
    Text,
    /// Appended after the text.
    Notes,
    Fonts,
    Title,
    /// Discarded, because another group has the same text.
    Discarded,
}

struct Reader<'g> {
    sink: &'g mut TextSink,
    groups: Vec<Group>,
    fonts: HashMap<i32, &'static Encoding>,
    font: i32,
    default: &'static Encoding,
    /// Default font of the text.
    default_font: i32,
    /// Pending bytes, all in one encoding.
    bytes: Vec<u8>,
    /// Pending high surrogate.
    high_surrogate: Option<u16>,
    to_skip: usize,
    /// `true` if the group starts with `\*`.
    starred: bool,
    /// `true` if a paragraph ended inside a cell: a space follows if the cell has more text.
    pending_space: bool,
    title: String,
    notes: String,
}

impl<'g> Reader<'g> {
    fn new(sink: &'g mut TextSink) -> Self {
        Reader {
            sink,
            groups: Vec::new(),
            fonts: HashMap::new(),
            font: 0,
            default: encoding_rs::WINDOWS_1252,
            default_font: 0,
            bytes: Vec::new(),
            high_surrogate: None,
            to_skip: 0,
            starred: false,
            pending_space: false,
            title: String::new(),
            notes: String::new(),
        }
    }

    fn handle(&mut self, token: Token<'_>) -> Result<(), ExtractError> {
        match token {
            Token::Open => self.open()?,
            Token::Close => {
                self.flush()?;
                self.close();
            }
            Token::Word(name, number) => self.word(&String::from_utf8_lossy(name), number)?,
            Token::Symbol(symbol) => self.symbol(symbol)?,
            Token::Hex(byte) => self.byte(byte),
            Token::Byte(b'\r' | b'\n' | 0) => {}
            Token::Byte(byte) => self.byte(byte),
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), ExtractError> {
        self.flush()?;
        if self.groups.len() == MAX_DEPTH {
            return Err(ExtractError::corrupt(format!("groups are nested deeper than {MAX_DEPTH} levels")));
        }
        let (destination, outer) = (Destination::Text, Destination::Text);
        let first = Group {
            hidden: false,
            skip: 1,
            encoding: self.default,
            destination,
            outer,
            table: false,
            deleted: false,
            vanished: false,
        };
        self.groups.push(self.groups.last().cloned().unwrap_or(first));
        self.to_skip = 0;
        self.starred = false;
        Ok(())
    }

    /// Ends a group. After the font table the encoding of text without a font is known.
    fn close(&mut self) {
        let ended = self.groups.pop().map(|group| group.destination);
        if ended == Some(Destination::Fonts)
            && self.groups.last().is_some_and(|group| group.destination != Destination::Fonts)
        {
            let encoding = self.default_encoding();
            self.groups.iter_mut().for_each(|group| group.encoding = encoding);
        }
    }

    fn default_encoding(&self) -> &'static Encoding {
        self.fonts.get(&self.default_font).copied().unwrap_or(self.default)
    }

    fn word(&mut self, name: &str, number: Option<i32>) -> Result<(), ExtractError> {
        let starred = std::mem::take(&mut self.starred);
        if name != "u" {
            self.flush()?;
        }
        let value = number.unwrap_or(0);
        match name {
            "u" => return self.unicode(value),
            "uc" => self.group(|group| group.skip = value.clamp(0, 16) as usize),
            "ansicpg" => self.code_page(value),
            "pc" => self.code_page(437),
            "pca" => self.code_page(850),
            "deff" => self.default_font = value,
            "mac" => self.set_default(encoding_rs::MACINTOSH),
            "f" => self.font(value),
            "fcharset" => self.charset(value),
            "plain" => self.plain(),
            "fonttbl" => self.group(|group| group.destination = Destination::Fonts),
            "title" => self.group(|group| group.destination = Destination::Title),
            "info" => self.group(|group| group.hidden = true),
            "nonshppict" => {}
            "shptxt" | "dptxbxtext" => self.text_box()?,
            // The fallback for readers without text boxes.
            "shprslt" => self.group(|group| group.destination = Destination::Discarded),
            "upr" => self.group(|group| (group.outer, group.destination) = (group.destination, Destination::Discarded)),
            "ud" => self.group(|group| (group.hidden, group.destination) = (false, group.outer)),
            "deleted" => self.group(|group| group.deleted = number != Some(0)),
            "v" => self.group(|group| group.vanished = number != Some(0)),
            "pard" => self.group(|group| group.table = false),
            "intbl" => self.group(|group| group.table = true),
            "par" | "line" if self.groups.last().is_some_and(|group| group.table) => self.pending_space = true,
            "cell" | "nestcell" | "row" | "nestrow" => self.end_cell(name)?,
            _ if NOTE_DESTINATIONS.contains(&name) => self.begin_note(),
            _ if starred || HIDDEN_DESTINATIONS.contains(&name) => self.group(|group| group.hidden = true),
            _ => {
                if let Some((_, text)) = CONTROL_TEXT.iter().find(|(word, _)| *word == name) {
                    self.write(text)?;
                }
            }
        }
        Ok(())
    }

    /// Starts a text box on a new line; the group that describes it is hidden.
    fn text_box(&mut self) -> Result<(), ExtractError> {
        self.group(|group| group.hidden = false);
        self.write("\n")
    }

    fn end_cell(&mut self, name: &str) -> Result<(), ExtractError> {
        self.pending_space = false;
        if name.ends_with("row") {
            self.group(|group| group.table = false);
            return self.write("\n");
        }
        self.write("\t")
    }

    fn begin_note(&mut self) {
        self.group(|group| {
            let is_visible = matches!(group.destination, Destination::Text | Destination::Notes);
            (group.hidden, group.destination) =
                (false, if is_visible { Destination::Notes } else { group.destination });
        });
        if !self.notes.is_empty() && !self.notes.ends_with('\n') {
            self.notes.push('\n');
        }
    }

    fn symbol(&mut self, symbol: u8) -> Result<(), ExtractError> {
        match symbol {
            b'*' => {
                self.starred = true;
                Ok(())
            }
            b'{' | b'}' | b'\\' => {
                self.byte(symbol);
                Ok(())
            }
            b'~' => self.text("\u{A0}"),
            b'_' => self.text("\u{2011}"),
            b'\r' | b'\n' => self.text("\n"),
            _ => Ok(()),
        }
    }

    fn text(&mut self, text: &str) -> Result<(), ExtractError> {
        self.flush()?;
        self.write(text)
    }

    fn group(&mut self, change: impl FnOnce(&mut Group)) {
        if let Some(group) = self.groups.last_mut() {
            change(group);
        }
    }

    fn code_page(&mut self, number: i32) {
        match code_pages::encoding(number) {
            Some(encoding) => self.set_default(encoding),
            None if number == 0 => {}
            None => self.sink.warn(format!("code page {number} is not supported; some characters may be wrong")),
        }
    }

    fn set_default(&mut self, encoding: &'static Encoding) {
        self.default = encoding;
        self.group(|group| group.encoding = encoding);
    }

    /// Selects a font, in the font table or in the text.
    fn font(&mut self, number: i32) {
        self.font = number;
        let encoding = self.fonts.get(&number).copied().unwrap_or(self.default);
        self.group(|group| group.encoding = encoding);
    }

    fn charset(&mut self, number: i32) {
        let name = CHARSETS.iter().find(|(charset, _)| *charset == number).map(|(_, name)| *name);
        let encoding = name.and_then(|name| Encoding::for_label(name.as_bytes()));
        if let (Some(encoding), true) = (encoding, self.fonts.len() < MAX_FONTS) {
            // Character set 0 means the default of the document.
            let encoding = if number == 0 { self.default } else { encoding };
            self.fonts.insert(self.font, encoding);
        }
    }

    fn plain(&mut self) {
        let encoding = self.default_encoding();
        self.group(|group| (group.encoding, group.deleted, group.vanished) = (encoding, false, false));
    }

    /// Adds a UTF-16 code unit, which is negative from 32,768 on.
    fn unicode(&mut self, number: i32) -> Result<(), ExtractError> {
        self.flush_bytes()?;
        let unit = number as u16;
        let units: Vec<u16> = self.high_surrogate.take().into_iter().chain([unit]).collect();
        if matches!(units.as_slice(), [0xD800..=0xDBFF]) {
            self.high_surrogate = Some(unit);
        } else {
            self.write(&String::from_utf16_lossy(&units))?;
        }
        self.to_skip = self.groups.last().map_or(1, |group| group.skip);
        Ok(())
    }

    fn byte(&mut self, byte: u8) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
        } else if self.groups.last().is_some_and(|group| !group.hidden || group.destination == Destination::Title) {
            self.bytes.push(byte);
        }
    }

    /// Writes the pending bytes and resets the skip count.
    fn flush(&mut self) -> Result<(), ExtractError> {
        self.to_skip = 0;
        if self.high_surrogate.take().is_some() {
            self.write("\u{FFFD}")?;
        }
        self.flush_bytes()
    }

    fn flush_bytes(&mut self) -> Result<(), ExtractError> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.bytes);
        let encoding = self.groups.last().map_or(self.default, |group| group.encoding);
        self.write(&encoding.decode_without_bom_handling(&bytes).0)
    }

    fn write(&mut self, text: &str) -> Result<(), ExtractError> {
        match self.groups.last() {
            Some(Group { destination: Destination::Title, .. }) => self.title.push_str(text),
            Some(Group { hidden: true, .. } | Group { deleted: true, .. }) => {}
            Some(Group { vanished: true, .. }) => self.sink.omit(text),
            Some(Group { destination: Destination::Text, .. }) => self.write_text(text)?,
            Some(Group { destination: Destination::Notes, .. }) => self.notes.push_str(text),
            _ => {}
        }
        Ok(())
    }

    fn write_text(&mut self, text: &str) -> Result<(), ExtractError> {
        if std::mem::take(&mut self.pending_space) && !self.sink.page_text().ends_with(['\t', '\n', ' ']) {
            self.sink.push(" ")?;
        }
        self.sink.push(text)
    }

    fn finish(mut self) -> Result<(), ExtractError> {
        self.flush()?;
        if !self.groups.is_empty() {
            return Err(ExtractError::corrupt("the file ends inside a group"));
        }
        if !self.notes.trim().is_empty() {
            self.sink.end_paragraph()?;
            self.sink.push(&std::mem::take(&mut self.notes))?;
        }
        let title = std::mem::take(&mut self.title);
        self.sink.set_title(&title);
        Ok(())
    }
}
