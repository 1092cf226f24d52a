//! Numbers in square brackets, one letter after the other.

/// Longer brackets hold no numbers of passages.
const LONGEST: usize = 64;

/// The widest range that is written out.
const WIDEST: u32 = 200;

/// Numbers in brackets, and where.
#[derive(Debug, Clone, Eq, PartialEq)]
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
        if c == '[' {
            self.open = Some((self.at - 1, String::new()));
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
