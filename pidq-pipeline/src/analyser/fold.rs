//! One spelling of many: compatibility forms, upper and lower case, the kinds of hyphens.

use unicode_normalization::UnicodeNormalization;

/// A text in its plainest spelling: NFKC, then case folding, then NFKC again, since folding may open a composition.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(fold_case).nfkc().map(hyphen).collect()
}

/// Up and down again: ß and SS, final and inner sigma, the long s are each one letter.
fn fold_case(c: char) -> impl Iterator<Item = char> {
    c.to_uppercase().flat_map(char::to_lowercase)
}

/// The hyphens and dashes that people and word processors put into tags, as one; soft hyphens stay.
pub fn hyphen(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        _ => c,
    }
}
