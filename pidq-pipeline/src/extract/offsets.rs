//! Conversion between byte offsets and character (code point) offsets of a text, for APIs that count characters.

/// Distance between checkpoints, in bytes.
const CHECKPOINT_INTERVAL: usize = 1024;

/// Index of the character offsets of a text. A conversion takes one lookup and counts at most 1 KiB.
pub struct CodePoints<'t> {
    text: &'t str,
    /// Number of characters before each checkpoint.
    checkpoints: Vec<usize>,
}

impl<'t> CodePoints<'t> {
    /// Builds the index in one pass over the text.
    pub fn new(text: &'t str) -> Self {
        let mut count = 0;
        let checkpoints = text.as_bytes().chunks(CHECKPOINT_INTERVAL).map(|chunk| {
            let before = count;
            count += count_starts(chunk);
            before
        });
        CodePoints { text, checkpoints: checkpoints.collect() }
    }

    /// Returns the number of characters that start before a byte offset.
    pub fn before(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let checkpoint = (byte / CHECKPOINT_INTERVAL).min(self.checkpoints.len().saturating_sub(1));
        let known = self.checkpoints.get(checkpoint).copied().unwrap_or(0);
        known + count_starts(&self.text.as_bytes()[checkpoint * CHECKPOINT_INTERVAL..byte])
    }

    /// Returns the byte offset of a character, or the length of the text if there is no such character.
    pub fn byte(&self, character: usize) -> usize {
        let checkpoint = self.checkpoints.partition_point(|before| *before <= character).saturating_sub(1);
        let Some(before) = self.checkpoints.get(checkpoint) else { return 0 };
        let starts = self
            .text
            .as_bytes()
            .iter()
            .enumerate()
            .skip(checkpoint * CHECKPOINT_INTERVAL)
            .filter(|(_, byte)| is_char_start(**byte));
        starts.map(|(at, _)| at).nth(character - before).unwrap_or(self.text.len())
    }
}

fn count_starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| is_char_start(**byte)).count()
}

/// Returns whether a byte is the first of a character.
fn is_char_start(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_characters_are_counted_both_ways() {
        for text in ["", "a", "é", "aé€😀z", &"é€😀 plain text ".repeat(500)] {
            let offsets = CodePoints::new(text);
            for (character, (byte, _)) in text.char_indices().enumerate() {
                assert_eq!(offsets.before(byte), character);
                assert_eq!(offsets.byte(character), byte);
            }
            assert_eq!(offsets.before(text.len()), text.chars().count());
            assert_eq!(offsets.byte(text.chars().count()), text.len());
            assert_eq!(offsets.byte(usize::MAX), text.len());
        }
    }
}
