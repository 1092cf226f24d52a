//! Numbers in square brackets, one letter after the other, in any width. In code a bracket behind a word is an index.

/// Longer brackets hold no numbers of passages.
const LONGEST: usize = 64;

/// The widest range that is written out.
const WIDEST: u32 = 200;

/// Numbers in brackets, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Marker {
    /// The numbers; ranges are written out.
    pub numbers: Vec<u32>,
    /// From the opening bracket to behind the closing one, in code points.
    pub span: [usize; 2],
}

/// Finds markers in a text that comes in pieces.
#[derive(Debug, Default)]
pub struct Markers {
    at: usize,
    open: Option<(usize, String)>,
    code: Code,
}

/// Whether an answer is in code, between backticks.
#[derive(Debug, Default)]
struct Code {
    /// Backticks in a row just now, and how many began the code.
    row: usize,
    began: usize,
    /// Whether the letter before is of a word, or closes what may have an index.
    after_word: bool,
}

/// Backticks that begin code over several lines; fewer end with their line.
const FENCE: usize = 3;

impl Code {
    /// Goes past a letter. Says whether a bracket here would be an index.
    fn pass(&mut self, c: char) -> bool {
        if c == '`' {
            self.row += 1;
            self.after_word = false;
            return false;
        }
        match std::mem::take(&mut self.row) {
            0 => {}
            row if self.began == 0 => self.began = row,
            row if self.began == row => self.began = 0,
            _ => {}
        }
        if c == '\n' && self.began < FENCE {
            self.began = 0;
        }
        let is_index = self.began > 0 && self.after_word;
        self.after_word = c.is_alphanumeric() || matches!(c, '_' | ')' | ']');
        is_index
    }
}

impl Markers {
    /// Takes a piece, and gives the markers that end in it.
    pub fn push(&mut self, piece: &str) -> Vec<Marker> {
        let mut found = Vec::new();
        for c in piece.chars() {
            self.at += 1;
            found.extend(self.letter(c));
        }
        found
    }

    fn letter(&mut self, c: char) -> Option<Marker> {
        let is_index = self.code.pass(c);
        let c = narrow(c);
        if c == '[' {
            self.open = (!is_index).then(|| (self.at - 1, String::new()));
            return None;
        }
        let (start, mut text) = self.open.take()?;
        if c == ']' {
            return Some(Marker { numbers: numbers(&text)?, span: [start, self.at] });
        }
        if (c.is_ascii_digit() || is_between(c)) && text.len() < LONGEST {
            text.push(c);
            self.open = Some((start, text));
        }
        None
    }
}

/// Brackets, digits and commas as East Asian text has them are those of ASCII.
fn narrow(c: char) -> char {
    match c {
        '【' | '〔' => '[',
        '】' | '〕' => ']',
        '、' => ',',
        '\u{3000}' => ' ',
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        c => c,
    }
}

fn is_between(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | ',' | ';') || is_dash(c)
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2014}')
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split([',', ';']) {
        match part.split_once(is_dash) {
            None => numbers.push(number(part)?),
            Some((first, last)) => numbers.extend(range(number(first)?, number(last)?)?),
        }
    }
    Some(numbers)
}

/// A number too large for a number is one that no passage has.
fn number(text: &str) -> Option<u32> {
    let digits = text.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

fn range(first: u32, last: u32) -> Option<Vec<u32>> {
    match last.checked_sub(first)? {
        0..=WIDEST => Some((first..=last).collect()),
        _ => Some(vec![first, last]),
    }
}
