//! Words of letters and digits, such as `psv2015a`: their hyphenated form and their parts.

use super::quantities;

/// Returns whether a word contains both letters and digits.
pub fn is_mixed(word: &str) -> bool {
    word.chars().any(char::is_alphabetic) && word.bytes().any(|b| b.is_ascii_digit())
}

/// Adds the terms of a word of letters and digits: the word, its hyphenated form, and its parts.
pub fn mixed_terms(word: &str, terms: &mut Vec<String>) {
    let hyphenated = hyphenated(word);
    let number = hyphenated.rsplit('-').next().unwrap_or(word);
    let digits = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let parts = hyphenated.split('-').filter(|part| part.len() > 1 && *part != word);
    terms.extend(parts.map(str::to_owned));
    if digits != number && digits != word && !digits.is_empty() {
        terms.push(quantities::normalize_number(digits));
    }
    if hyphenated != word {
        terms.push(hyphenated);
    }
    terms.push(word.to_owned());
}

/// Returns the hyphenated form of an identifier, with a hyphen between letters and digits except before a single final
/// letter: `psv2015a` becomes `psv-2015a`.
pub fn hyphenated(joined: &str) -> String {
    let chars: Vec<char> = joined.chars().collect();
    let mut out = String::with_capacity(joined.len() + 2);
    for (index, &c) in chars.iter().enumerate() {
        let previous = index.checked_sub(1).map(|previous| chars[previous]);
        let to_digits = previous.is_some_and(char::is_alphabetic) && c.is_ascii_digit();
        let to_letters = previous.is_some_and(|b| b.is_ascii_digit()) && c.is_alphabetic() && index + 1 < chars.len();
        if to_digits || to_letters {
            out.push('-');
        }
        out.push(c);
    }
    out
}
