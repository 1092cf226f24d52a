//! RTF → its text: control words, groups, and characters in the code page of their font.

use std::collections::HashMap;

use encoding_rs::Encoding;

use super::gather::Gather;
use super::look::Fit;
use super::{Failure, Format, Source};

/// The row.
pub const RTF: Format = Format {
    name: "rtf",
    media_types: &["application/rtf", "text/rtf"],
    extensions: &["rtf"],
    summary: "RTF: its text, then notes, comments, headers and footers; what was deleted is not read",
    sniff: |look| Fit::certain(look.begins(b"{\\rtf")),
    read,
};

/// Groups in groups.
const MAX_DEPTH: usize = 256;
/// Fonts that are remembered.
const MAX_FONTS: usize = 4096;

/// Groups whose content is no text of the document. One that begins with `\*` is none either, unless it is listed below.
const HIDDEN: &[&str] = &[
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

/// Groups that stand beside the text, and are added after it.
const BESIDE: &[&str] =
    &["footnote", "annotation", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"];

/// What words say as text.
const SIGNS: &[(&str, &str)] = &[
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

/// Numbers of character sets in a table of fonts, and their code pages as the Encoding Standard calls them.
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

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let mut reader = Reader::new(gather);
    let mut rest = source.look.bytes;
    while let Some((token, after)) = token(rest) {
        reader.take(token)?;
        rest = after;
        if let Token::Word(b"bin", Some(count)) = token {
            // Bytes as they are, which may look like anything.
            rest = &rest[rest.len().min(count.max(0) as usize)..];
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

/// The next token and what is after it.
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
    // One blank after a word belongs to it.
    (Token::Word(name, number), rest.strip_prefix(b" ").unwrap_or(rest))
}

/// What a group inherits from the one around it.
#[derive(Clone)]
struct Group {
    hidden: bool,
    /// How many characters after `\u` are for readers that do not know it.
    skip: usize,
    encoding: &'static Encoding,
    place: Place,
    /// Where the group is around one that says the same in two ways.
    outer: Place,
    /// Whether its paragraphs are in a table, whose cells are a line each.
    table: bool,
    deleted: bool,
}

/// Where a group is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Text,
    /// What is added after the text.
    Beside,
    Fonts,
    Title,
    /// What is said elsewhere too.
    Nowhere,
}

struct Reader<'g> {
    gather: &'g mut Gather,
    groups: Vec<Group>,
    fonts: HashMap<i32, &'static Encoding>,
    font: i32,
    default: &'static Encoding,
    /// The font of text that names none.
    default_font: i32,
    /// Bytes of characters that are not complete yet, all in one encoding.
    bytes: Vec<u8>,
    /// Half of a character beyond the first plane.
    half: Option<u16>,
    to_skip: usize,
    /// Whether the group began with `\*`.
    starred: bool,
    /// Whether a paragraph ended in a cell: a blank, if more comes in the cell.
    gap: bool,
    title: String,
    beside: String,
}

impl<'g> Reader<'g> {
    fn new(gather: &'g mut Gather) -> Self {
        Reader {
            gather,
            groups: Vec::new(),
            fonts: HashMap::new(),
            font: 0,
            default: encoding_rs::WINDOWS_1252,
            default_font: 0,
            bytes: Vec::new(),
            half: None,
            to_skip: 0,
            starred: false,
            gap: false,
            title: String::new(),
            beside: String::new(),
        }
    }

    fn take(&mut self, token: Token<'_>) -> Result<(), Failure> {
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

    fn open(&mut self) -> Result<(), Failure> {
        self.flush()?;
        if self.groups.len() == MAX_DEPTH {
            return Err(Failure::corrupt(format!("groups are nested deeper than {MAX_DEPTH} levels")));
        }
        let (place, outer) = (Place::Text, Place::Text);
        let first =
            Group { hidden: false, skip: 1, encoding: self.default, place, outer, table: false, deleted: false };
        self.groups.push(self.groups.last().cloned().unwrap_or(first));
        self.to_skip = 0;
        self.starred = false;
        Ok(())
    }

    /// Ends a group. Behind the table of fonts it is known in which encoding text without a font is.
    fn close(&mut self) {
        let ended = self.groups.pop().map(|group| group.place);
        if ended == Some(Place::Fonts) && self.groups.last().is_some_and(|group| group.place != Place::Fonts) {
            let encoding = self.without_font();
            self.groups.iter_mut().for_each(|group| group.encoding = encoding);
        }
    }

    fn without_font(&self) -> &'static Encoding {
        self.fonts.get(&self.default_font).copied().unwrap_or(self.default)
    }

    fn word(&mut self, name: &str, number: Option<i32>) -> Result<(), Failure> {
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
            "mac" => self.default(encoding_rs::MACINTOSH),
            "f" => self.font(value),
            "fcharset" => self.charset(value),
            "plain" => self.plain(),
            "fonttbl" => self.group(|group| group.place = Place::Fonts),
            "title" => self.group(|group| group.place = Place::Title),
            "info" => self.group(|group| group.hidden = true),
            "nonshppict" => {}
            "shptxt" | "dptxbxtext" => self.text_box()?,
            // What readers show that know no boxes of text.
            "shprslt" => self.group(|group| group.place = Place::Nowhere),
            "upr" => self.group(|group| (group.outer, group.place) = (group.place, Place::Nowhere)),
            "ud" => self.group(|group| (group.hidden, group.place) = (false, group.outer)),
            "deleted" => self.group(|group| group.deleted = number != Some(0)),
            "pard" => self.group(|group| group.table = false),
            "intbl" => self.group(|group| group.table = true),
            "par" | "line" if self.groups.last().is_some_and(|group| group.table) => self.gap = true,
            "cell" | "nestcell" | "row" | "nestrow" => self.end_cell(name)?,
            _ if BESIDE.contains(&name) => self.begin_beside(),
            _ if starred || HIDDEN.contains(&name) => self.group(|group| group.hidden = true),
            _ => {
                if let Some((_, sign)) = SIGNS.iter().find(|(word, _)| *word == name) {
                    self.put(sign)?;
                }
            }
        }
        Ok(())
    }

    /// A box of text begins a line, wherever in one it hangs; the group that describes it is hidden.
    fn text_box(&mut self) -> Result<(), Failure> {
        self.group(|group| group.hidden = false);
        self.put("\n")
    }

    fn end_cell(&mut self, name: &str) -> Result<(), Failure> {
        self.gap = false;
        if name.ends_with("row") {
            self.group(|group| group.table = false);
            return self.put("\n");
        }
        self.put("\t")
    }

    fn begin_beside(&mut self) {
        self.group(|group| {
            let is_shown = matches!(group.place, Place::Text | Place::Beside);
            (group.hidden, group.place) = (false, if is_shown { Place::Beside } else { group.place });
        });
        if !self.beside.is_empty() && !self.beside.ends_with('\n') {
            self.beside.push('\n');
        }
    }

    fn symbol(&mut self, symbol: u8) -> Result<(), Failure> {
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

    fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.flush()?;
        self.put(text)
    }

    fn group(&mut self, change: impl FnOnce(&mut Group)) {
        if let Some(group) = self.groups.last_mut() {
            change(group);
        }
    }

    fn code_page(&mut self, number: i32) {
        let name = match number {
            932 => "shift_jis".to_owned(),
            936 => "gbk".to_owned(),
            949 => "euc-kr".to_owned(),
            950 => "big5".to_owned(),
            10000 => "macintosh".to_owned(),
            65001 => "utf-8".to_owned(),
            number => format!("windows-{number}"),
        };
        match Encoding::for_label(name.as_bytes()) {
            Some(encoding) => self.default(encoding),
            None if number == 0 => {}
            None => self.gather.warn(format!("code page {number} is not known: some letters may be others")),
        }
    }

    fn default(&mut self, encoding: &'static Encoding) {
        self.default = encoding;
        self.group(|group| group.encoding = encoding);
    }

    /// A font in its table, or in the text.
    fn font(&mut self, number: i32) {
        self.font = number;
        let encoding = self.fonts.get(&number).copied().unwrap_or(self.default);
        self.group(|group| group.encoding = encoding);
    }

    fn charset(&mut self, number: i32) {
        let name = CHARSETS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
        let encoding = name.and_then(|name| Encoding::for_label(name.as_bytes()));
        if let (Some(encoding), true) = (encoding, self.fonts.len() < MAX_FONTS) {
            // The set of most fonts is that of the document, whatever they say: 0 stands for it.
            let encoding = if number == 0 { self.default } else { encoding };
            self.fonts.insert(self.font, encoding);
        }
    }

    fn plain(&mut self) {
        let encoding = self.without_font();
        self.group(|group| (group.encoding, group.deleted) = (encoding, false));
    }

    /// A character by its number, which is one of UTF-16 and negative from 32,768 on.
    fn unicode(&mut self, number: i32) -> Result<(), Failure> {
        self.flush_bytes()?;
        let unit = number as u16;
        let units: Vec<u16> = self.half.take().into_iter().chain([unit]).collect();
        if matches!(units.as_slice(), [0xD800..=0xDBFF]) {
            self.half = Some(unit);
        } else {
            self.put(&String::from_utf16_lossy(&units))?;
        }
        self.to_skip = self.groups.last().map_or(1, |group| group.skip);
        Ok(())
    }

    fn byte(&mut self, byte: u8) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
        } else if self.groups.last().is_some_and(|group| !group.hidden || group.place == Place::Title) {
            self.bytes.push(byte);
        }
    }

    /// Ends what was collected in one encoding.
    fn flush(&mut self) -> Result<(), Failure> {
        self.to_skip = 0;
        if self.half.take().is_some() {
            self.put("\u{FFFD}")?;
        }
        self.flush_bytes()
    }

    fn flush_bytes(&mut self) -> Result<(), Failure> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.bytes);
        let encoding = self.groups.last().map_or(self.default, |group| group.encoding);
        self.put(&encoding.decode_without_bom_handling(&bytes).0)
    }

    fn put(&mut self, text: &str) -> Result<(), Failure> {
        match self.groups.last() {
            Some(Group { place: Place::Title, .. }) => self.title.push_str(text),
            Some(Group { hidden: true, .. } | Group { deleted: true, .. }) => {}
            Some(Group { place: Place::Text, .. }) => self.put_text(text)?,
            Some(Group { place: Place::Beside, .. }) => self.beside.push_str(text),
            _ => {}
        }
        Ok(())
    }

    fn put_text(&mut self, text: &str) -> Result<(), Failure> {
        if std::mem::take(&mut self.gap) && !self.gather.page_text().ends_with(['\t', '\n', ' ']) {
            self.gather.push(" ")?;
        }
        self.gather.push(text)
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        if !self.groups.is_empty() {
            return Err(Failure::corrupt("the file ends inside of a group"));
        }
        if !self.beside.trim().is_empty() {
            self.gather.paragraph()?;
            self.gather.push(&std::mem::take(&mut self.beside))?;
        }
        let title = std::mem::take(&mut self.title);
        self.gather.title(&title);
        Ok(())
    }
}
