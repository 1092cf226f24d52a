//! Plain characters of a text with their byte offsets: one kind of space, hyphen and digit, no invisible characters.

use std::ops::Range;

use unicode_normalization::char::decompose_compatible;

use crate::analyzer::{hyphen, is_invisible};

/// Plain characters, each with the byte offset at which it starts in the text.
pub struct Plain {
    pub chars: Vec<char>,
    /// One more entry than characters: the last is the end of the text.
    starts: Vec<usize>,
}

/// Number of characters read, for tests of the cost.
#[cfg(test)]
pub mod reads {
    use std::cell::Cell;

    thread_local!(static READS: Cell<usize> = const { Cell::new(0) });

    pub fn add(count: usize) {
        READS.with(|reads| reads.set(reads.get() + count));
    }

    pub fn take() -> usize {
        READS.with(Cell::take)
    }
}

impl Plain {
    pub fn new(text: &str) -> Plain {
        let (mut chars, mut starts) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
        for (start, c) in text.char_indices().filter(|(_, c)| !is_invisible(*c)) {
            fold(c, |c| {
                chars.push(c);
                starts.push(start);
            });
        }
        starts.push(text.len());
        Plain { chars, starts }
    }

    /// Returns the character at an index; a line break beyond the end.
    pub fn at(&self, index: usize) -> char {
        #[cfg(test)]
        reads::add(1);
        self.chars.get(index).copied().unwrap_or('\n')
    }

    /// Returns the character before an index; a line break at the start.
    pub fn before(&self, index: usize) -> char {
        index.checked_sub(1).map_or('\n', |index| self.at(index))
    }

    pub fn text(&self, range: Range<usize>) -> String {
        #[cfg(test)]
        reads::add(range.len());
        self.chars.get(range).into_iter().flatten().collect()
    }

    /// Returns the byte span of characters.
    pub fn span(&self, range: &Range<usize>) -> Range<usize> {
        self.starts[range.start]..self.starts[range.end]
    }

    /// Returns the first character that starts at or after a byte offset.
    pub fn index(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start < byte).min(self.chars.len())
    }

    /// Returns the end of the run of characters from `start` that satisfy a condition.
    pub fn run(&self, start: usize, accepts: impl Fn(char) -> bool) -> usize {
        (start..self.chars.len()).find(|&index| !accepts(self.at(index))).unwrap_or(self.chars.len())
    }

    /// Returns whether the characters at `start` are those of a pattern.
    pub fn starts_with(&self, start: usize, pattern: &str) -> bool {
        pattern.chars().enumerate().all(|(offset, c)| self.chars.get(start + offset) == Some(&c))
    }
}

/// Passes the plain form of a character on. Superscripts remain: in 10³ they are no digits of the number.
fn fold(c: char, mut push: impl FnMut(char)) {
    match c {
        '\n' | '\r' | '\t' => push(c),
        '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '⁻' => push(c),
        'µ' | 'μ' => push('µ'),
        'º' => push('°'),
        // A decomposition of several characters could contain digits: ½ and ⑴ are no numbers here.
        c if c.is_numeric() && !c.is_ascii_digit() => decompose_single(c, push),
        c if c.is_whitespace() => push(' '),
        c if c.is_ascii() => push(c),
        // Ä and é remain one character.
        c if c.is_alphabetic() && !is_compatibility(c) => push(c),
        c => decompose_compatible(hyphen(c), |part| push(hyphen(part))),
    }
}

fn decompose_single(c: char, mut push: impl FnMut(char)) {
    let (mut last, mut count) = (c, 0);
    decompose_compatible(c, |part| {
        last = part;
        count += 1;
    });
    push(if count == 1 { last } else { c });
}

/// Returns whether a letter is a form of others: full-width letters, ligatures, letterlike symbols.
fn is_compatibility(c: char) -> bool {
    matches!(c, '\u{2100}'..='\u{214f}' | '\u{3300}'..='\u{33ff}' | '\u{fb00}'..='\u{fb06}' | '\u{ff00}'..='\u{ffef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_one_form_and_their_place() {
        let check = |text: &str, expected: &str| {
            let plain = Plain::new(text);
            assert_eq!(plain.chars.iter().collect::<String>(), expected, "{text:?}");
            assert_eq!(plain.span(&(0..plain.chars.len())), 0..text.len(), "{text:?}");
        };
        check("1\u{202f}000 m³", "1 000 m³");
        check("１２ ㎥ 5 ℃", "12 m3 5 °C");
        check("10\u{2013}20 Ärger\u{2011}", "10-20 Ärger-");
        check("P\u{ad}-1\u{200b}01", "P-101");
        check("½ ①", "½ 1");
        check("", "");
    }
}
