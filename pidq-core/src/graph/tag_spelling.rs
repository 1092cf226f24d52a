//! Spellings of tags: `PV 4712.02`, `PV-4712.02` and `PV4712.02` are one tag.

/// Longest tag in bytes that is compared with other spellings.
const MAX_LENGTH: usize = 256;

/// Returns whether two tags differ only in blanks and hyphens. Between two letters or two digits, there must be one in
/// both: `P-10-1` is not `P-101`.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    a.len().max(b.len()) <= MAX_LENGTH
        && characters(a).next().is_some()
        && characters(a).eq(characters(b))
        && breaks(a) == breaks(b)
}

/// Returns a tag in the spelling that all tags share which differ only in case, blanks and hyphens.
pub(crate) fn normalized(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let (mut before, mut is_separated) = (None, false);
    for c in text.chars() {
        if is_separator(c) {
            is_separated = true;
            continue;
        }
        if is_separated && before.is_some_and(|before: char| before.is_numeric() && c.is_numeric()) {
            found.push('-');
        }
        found.extend(c.to_uppercase());
        (before, is_separated) = (Some(c), false);
    }
    found
}

/// Returns the characters other than separators.
fn characters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !is_separator(*c))
}

/// Returns the positions of separators between two letters or two digits, counted in other characters.
fn breaks(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut before, mut is_separated, mut count) = (None, false, 0);
    for c in text.chars() {
        if is_separator(c) {
            is_separated = true;
            continue;
        }
        if is_separated && before.is_some_and(|before| is_same_kind(before, c)) {
            found.push(count);
        }
        (before, is_separated, count) = (Some(c), false, count + 1);
    }
    found
}

fn is_same_kind(a: char, b: char) -> bool {
    let is_digit = |c: char| c.is_numeric() || c == '.';
    is_digit(a) == is_digit(b)
}

/// Hyphens exist in several code points.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '_' | '\u{2010}'..='\u{2013}' | '\u{2212}')
}

#[cfg(test)]
mod tests {
    use super::{is_same, normalized};

    #[test]
    fn tags_may_differ_in_blanks_and_hyphens_between_letters_and_digits() {
        for other in ["PV4712.02", "PV-4712.02", "PV_4712.02", " PV\u{2011}4712.02 ", "PV\r4712.02"] {
            assert!(is_same("PV 4712.02", other), "{other}");
        }
        assert!(is_same("20-FIC-101A", "20FIC101-A"));
        assert!(is_same("P-10-1", "P10 1"));
    }

    #[test]
    fn normalized_tags_keep_separators_between_digits_only() {
        assert_eq!(normalized("100-PL-1 a1a"), "100PL1A1A");
        assert_eq!(normalized(" 1 - 11 "), "1-11");
        assert_ne!(normalized("1-11"), normalized("11-1"));
        assert_eq!(normalized("-"), "");
    }

    #[test]
    fn other_tags_differ() {
        for (a, b) in [
            ("P-10-1", "P-101"),
            ("P-1", "P-11"),
            ("PV 4712.02", "PV 471202"),
            ("HS-A", "HSA"),
            ("p-1", "P-1"),
            ("", "-"),
        ] {
            assert!(!is_same(a, b), "{a} and {b}");
        }
        let long = "P".repeat(300);
        assert!(!is_same(&long, &long));
    }
}
