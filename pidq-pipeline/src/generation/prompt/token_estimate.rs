//! Estimate of the number of tokens of a text, without the tokenizer of the model.

/// Estimates the tokens of a text: a third of the characters or 1.4 per word, whichever is more.
pub fn estimate_tokens(text: &str) -> usize {
    let characters = text.chars().count().div_ceil(3);
    let words = (text.split_whitespace().count() * 7).div_ceil(5);
    characters.max(words)
}

/// Truncates a text to at most `limit` tokens, at a word boundary if possible.
pub(super) fn truncate(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(text.char_indices().nth(limit * 3).map_or(text.len(), |(index, _)| index));
    while estimate_tokens(&text[..end]) > limit {
        end = text.floor_char_boundary(end * 9 / 10);
    }
    let prefix = &text[..end];
    match prefix.rfind(char::is_whitespace) {
        Some(space) if end < text.len() && space > end / 2 => prefix[..space].trim_end(),
        _ => prefix,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_estimated_by_characters_or_by_words() {
        for (text, expected) in [("", 0), ("a", 2), ("abcdef", 2), ("abcdefghi", 3), ("a b c d e", 7), ("压力", 2)] {
            assert_eq!(estimate_tokens(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_truncated_text_ends_with_a_word() {
        assert_eq!(truncate("one two three four", 4), "one two");
        assert_eq!(truncate("one two", 100), "one two");
        assert_eq!(truncate(&"x".repeat(100), 4), "x".repeat(12));
        assert_eq!(truncate("€uro €uro", 0), "");
    }
}
