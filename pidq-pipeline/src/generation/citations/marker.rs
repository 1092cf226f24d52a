//! Incremental parser of citation markers: numbers in square brackets, of any width. In code, a bracket after a word is
//! an index, not a marker.

/// Maximum length of the text in brackets.
const MAX_MARKER_LENGTH: usize = 64;

/// Maximum size of a range that is expanded.
const MAX_RANGE: u32 = 200;

/// Numbers in brackets and their span.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Marker {
    /// The numbers, with ranges expanded.
    pub numbers: Vec<u32>,
    /// Span including the brackets, in code points.
    pub span: [usize; 2],
}

/// Incremental parser of markers.
#[derive(Debug, Default)]
pub struct MarkerParser {
    /// Number of characters parsed.
    position: usize,
    open: Option<(usize, String)>,
    code: CodeState,
}

/// Tracks code between backticks.
#[derive(Debug, Default)]
struct CodeState {
    /// Length of the current run of backticks, and of the run that opened the code; 0 outside code.
    backticks: usize,
    fence: usize,
    /// `true` after a character that an index may follow: of a word, or a closing bracket.
    after_word: bool,
}

/// Backticks of a multi-line code fence; code with fewer ends with its line.
const FENCE: usize = 3;

impl CodeState {
    /// Processes a character. Returns `true` if a bracket here would be an index.
    fn advance(&mut self, c: char) -> bool {
        if c == '`' {
            self.backticks += 1;
            self.after_word = false;
            return false;
        }
        match std::mem::take(&mut self.backticks) {
            0 => {}
            run if self.fence == 0 => self.fence = run,
            run if self.fence == run => self.fence = 0,
            _ => {}
        }
        if c == '\n' && self.fence < FENCE {
            self.fence = 0;
        }
        let is_index = self.fence > 0 && self.after_word;
        self.after_word = c.is_alphanumeric() || matches!(c, '_' | ')' | ']');
        is_index
    }
}

impl MarkerParser {
    /// Parses more text and returns the markers that end in it.
    pub fn push(&mut self, text: &str) -> Vec<Marker> {
        let mut markers = Vec::new();
        for c in text.chars() {
            self.position += 1;
            markers.extend(self.push_char(c));
        }
        markers
    }

    fn push_char(&mut self, c: char) -> Option<Marker> {
        let is_index = self.code.advance(c);
        let c = to_ascii(c);
        if c == '[' {
            self.open = (!is_index).then(|| (self.position - 1, String::new()));
            return None;
        }
        let (start, mut text) = self.open.take()?;
        if c == ']' {
            return Some(Marker { numbers: parse_numbers(&text)?, span: [start, self.position] });
        }
        if (c.is_ascii_digit() || is_separator(c)) && text.len() < MAX_MARKER_LENGTH {
            text.push(c);
            self.open = Some((start, text));
        }
        None
    }
}

/// Converts full-width and CJK brackets, digits and commas to ASCII.
fn to_ascii(c: char) -> char {
    match c {
        '【' | '〔' => '[',
        '】' | '〕' => ']',
        '、' => ',',
        '\u{3000}' => ' ',
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        c => c,
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | ',' | ';') || is_dash(c)
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2014}')
}

fn parse_numbers(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split([',', ';']) {
        match part.split_once(is_dash) {
            None => numbers.push(parse_number(part)?),
            Some((first, last)) => numbers.extend(expand_range(parse_number(first)?, parse_number(last)?)?),
        }
    }
    Some(numbers)
}

/// Parses a number; one too large for `u32` becomes `u32::MAX`, which no passage has.
fn parse_number(text: &str) -> Option<u32> {
    let digits = text.trim();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

fn expand_range(first: u32, last: u32) -> Option<Vec<u32>> {
    match last.checked_sub(first)? {
        0..=MAX_RANGE => Some((first..=last).collect()),
        _ => Some(vec![first, last]),
    }
}
