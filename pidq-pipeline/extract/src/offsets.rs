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

    /// Returns the character offset of a byte: the number of characters that start before it.
    pub fn char_offset(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let checkpoint = (byte / CHECKPOINT_INTERVAL).min(self.checkpoints.len().saturating_sub(1));
        let count = self.checkpoints.get(checkpoint).copied().unwrap_or(0);
        count + count_starts(&self.text.as_bytes()[checkpoint * CHECKPOINT_INTERVAL..byte])
    }

    /// Returns the byte offset of a character, or the length of the text if there is no such character.
    pub fn byte_offset(&self, character: usize) -> usize {
        let checkpoint = self.checkpoints.partition_point(|before| *before <= character).saturating_sub(1);
        let Some(before) = self.checkpoints.get(checkpoint) else { return 0 };
        let starts = self
            .text
            .as_bytes()
            .iter()
            .enumerate()
            .skip(checkpoint * CHECKPOINT_INTERVAL)
            .filter(|(_, byte)| is_char_start(**byte));
        starts.map(|(index, _)| index).nth(character - before).unwrap_or(self.text.len())
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
    fn converts_offsets_in_both_directions() {
        for text in ["", "a", "é", "aé€😀z", &"é€😀 plain text ".repeat(500)] {
            let offsets = CodePoints::new(text);
            for (character, (byte, _)) in text.char_indices().enumerate() {
                assert_eq!(offsets.char_offset(byte), character);
                assert_eq!(offsets.byte_offset(character), byte);
            }
            assert_eq!(offsets.char_offset(text.len()), text.chars().count());
            assert_eq!(offsets.byte_offset(text.chars().count()), text.len());
            assert_eq!(offsets.byte_offset(usize::MAX), text.len());
        }
    }
}
