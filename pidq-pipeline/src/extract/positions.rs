//! Bytes of a text ↔ its characters (code points), for the edge where the API counts characters.

/// How far marks are apart, in bytes.
const STEP: usize = 1024;

/// The places of a text: converting takes a look-up and at most a kilobyte of counting.
pub struct CodePoints<'t> {
    text: &'t str,
    /// How many characters begin before each `STEP` bytes.
    marks: Vec<usize>,
}

impl<'t> CodePoints<'t> {
    /// Goes through a text once.
    pub fn of(text: &'t str) -> Self {
        let mut count = 0;
        let marks = text.as_bytes().chunks(STEP).map(|chunk| {
            let before = count;
            count += begun(chunk);
            before
        });
        CodePoints { text, marks: marks.collect() }
    }

    /// How many characters stand before a byte. A byte inside of a character counts as the one after it.
    pub fn before(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let mark = (byte / STEP).min(self.marks.len().saturating_sub(1));
        let known = self.marks.get(mark).copied().unwrap_or(0);
        known + begun(&self.text.as_bytes()[mark * STEP..byte])
    }

    /// The byte at which a character begins; the end of the text for those that it does not have.
    pub fn byte(&self, character: usize) -> usize {
        let mark = self.marks.partition_point(|before| *before <= character).saturating_sub(1);
        let Some(before) = self.marks.get(mark) else { return 0 };
        let starts = self.text.as_bytes().iter().enumerate().skip(mark * STEP).filter(|(_, byte)| begins(**byte));
        starts.map(|(at, _)| at).nth(character - before).unwrap_or(self.text.len())
    }
}

fn begun(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| begins(**byte)).count()
}

/// Whether a character begins with this byte.
fn begins(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_characters_are_counted_both_ways() {
        for text in ["", "a", "é", "aé€😀z", &"é€😀 plain text ".repeat(500)] {
            let places = CodePoints::of(text);
            for (character, (byte, _)) in text.char_indices().enumerate() {
                assert_eq!(places.before(byte), character);
                assert_eq!(places.byte(character), byte);
            }
            assert_eq!(places.before(text.len()), text.chars().count());
            assert_eq!(places.byte(text.chars().count()), text.len());
            assert_eq!(places.byte(usize::MAX), text.len());
        }
    }
}
