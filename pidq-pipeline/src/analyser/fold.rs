//! One spelling of many: compatibility forms, upper and lower case, the kinds of hyphens, nothing that is not seen.

use unicode_normalization::UnicodeNormalization;

/// A text in its plainest spelling: NFKC, then case folding, then NFKC again, since folding may open a composition.
///
/// Hot: nearly every chunk stands below a title, and between title and headings stands a letter beyond ASCII. No ASCII
/// letter is composed with what stands before it, so that what is ASCII is copied, but for the last letter before others.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii()) {
        let (plain, others) = rest.split_at(at.saturating_sub(1));
        let end = others.bytes().skip(1).position(|byte| byte.is_ascii()).map_or(others.len(), |end| end + 1);
        copy(plain, &mut folded);
        folded.extend(whole(&others[..end]));
        rest = &others[end..];
    }
    copy(rest, &mut folded);
    folded
}

fn copy(ascii: &str, folded: &mut String) {
    let from = folded.len();
    folded.push_str(ascii);
    folded[from..].make_ascii_lowercase();
}

fn whole(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !is_unseen(*c)).nfkc().flat_map(fold_case).nfkc().map(hyphen)
}

/// Up and down again: ß and SS, final and inner sigma, the long s are each one letter.
fn fold_case(c: char) -> impl Iterator<Item = char> {
    c.to_uppercase().flat_map(char::to_lowercase)
}

/// What stands in a word and is not seen, as Unicode's folding leaves it out: soft hyphens, places where a line may break,
/// directions of writing, marks of variants.
pub fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// The hyphens and dashes that people and word processors put into tags, as one.
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

    /// What meets what in a composition: ASCII, marks of all classes, Hangul by its parts, forms that fall apart.
    fn letters() -> impl Strategy<Value = char> {
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
        fn in_parts_it_is_as_in_one(letters in prop::collection::vec(letters(), 0..16)) {
            let text: String = letters.into_iter().collect();
            prop_assert_eq!(fold(&text), whole(&text).collect::<String>());
        }
    }

    #[test]
    fn each_letter_is_the_same_between_others() {
        let all = ('\u{80}'..'\u{3400}').chain('\u{f900}'..='\u{ffff}').chain('\u{1d000}'..'\u{1d800}');
        for c in all {
            for text in [format!("{c}"), format!("A{c}b"), format!("{c}E\u{301}"), format!("k{c}\u{338}K")] {
                assert_eq!(fold(&text), whole(&text).collect::<String>(), "{text:?}");
            }
        }
    }
}
