//! Text normalization: compatibility forms (NFKC), case folding, one kind of hyphen, no invisible characters.

use unicode_normalization::UnicodeNormalization;

/// Returns the normalized text: NFKC, then case folding, then NFKC again, because folding may create a composition.
///
/// Hot: nearly every chunk has a header, and its parts are separated by a character beyond ASCII. No ASCII character
/// composes with the character before it, so ASCII is copied, except for the last character before a non-ASCII one.
pub fn normalize(text: &str) -> String {
    let mut normalized = String::with_capacity(text.len());
    let mut remaining = text;
    while let Some(index) = remaining.bytes().position(|byte| !byte.is_ascii()) {
        let (ascii, others) = remaining.split_at(index.saturating_sub(1));
        let end = others.bytes().skip(1).position(|byte| byte.is_ascii()).map_or(others.len(), |end| end + 1);
        push_lowercase(ascii, &mut normalized);
        normalized.extend(normalize_slow(&others[..end]));
        remaining = &others[end..];
    }
    push_lowercase(remaining, &mut normalized);
    normalized
}

fn push_lowercase(ascii: &str, normalized: &mut String) {
    let start = normalized.len();
    normalized.push_str(ascii);
    normalized[start..].make_ascii_lowercase();
}

fn normalize_slow(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !is_invisible(*c)).nfkc().flat_map(fold_case).nfkc().map(hyphen)
}

/// Folds case by upper-casing and lower-casing: ß and SS, final and inner sigma, and the long s become equal.
fn fold_case(c: char) -> impl Iterator<Item = char> {
    c.to_uppercase().flat_map(char::to_lowercase)
}

/// Returns whether a character is invisible inside a word, as in Unicode's default ignorable characters: soft hyphens,
/// zero-width spaces, direction marks, variation selectors.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Maps the hyphens and dashes that people and word processors write in tags to `-`.
pub fn hyphen(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Characters that compose with each other: ASCII, combining marks of all classes, Hangul Jamo, compatibility forms.
    fn chars() -> impl Strategy<Value = char> {
        prop_oneof![
            4 => proptest::char::range(' ', '~'),
            2 => proptest::char::range('\u{300}', '\u{36f}'),
            1 => proptest::char::range('\u{1100}', '\u{11ff}'),
            1 => proptest::char::range('\u{a0}', '\u{24f}'),
            1 => proptest::char::range('\u{fb00}', '\u{fb1f}'),
            1 => prop::sample::select(&['›', '½', 'ß', 'İ', 'Σ', '\u{345}', '\u{ff0d}', 'Å', 'ﷺ', '\u{3099}', '한'][..]),
            1 => any::<char>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn normalizing_in_parts_equals_normalizing_at_once(chars in prop::collection::vec(chars(), 0..16)) {
            let text: String = chars.into_iter().collect();
            prop_assert_eq!(normalize(&text), normalize_slow(&text).collect::<String>());
        }
    }

    #[test]
    fn normalization_of_a_character_does_not_depend_on_its_neighbors() {
        let all = ('\u{80}'..'\u{3400}').chain('\u{f900}'..='\u{ffff}').chain('\u{1d000}'..'\u{1d800}');
        for c in all {
            for text in [format!("{c}"), format!("A{c}b"), format!("{c}E\u{301}"), format!("k{c}\u{338}K")] {
                assert_eq!(normalize(&text), normalize_slow(&text).collect::<String>(), "{text:?}");
            }
        }
    }
}
