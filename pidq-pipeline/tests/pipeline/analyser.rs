//! What a text is found by.

use std::collections::BTreeSet;

use pidq_pipeline::analyser::{tags, terms};
use proptest::prelude::*;

/// Checks that a text has these terms, among others.
#[track_caller]
fn has(text: &str, expected: &[&str]) {
    let terms: BTreeSet<String> = terms(text).into_iter().collect();
    let missing: Vec<_> = expected.iter().filter(|term| !terms.contains(**term)).collect();
    assert!(missing.is_empty(), "{text:?} misses {missing:?}: {terms:?}");
}

#[track_caller]
fn is(text: &str, expected: &[&str]) {
    let mut terms = terms(text);
    terms.sort();
    assert_eq!(terms, expected, "{text:?}");
}

#[test]
fn spellings_of_a_tag_find_each_other() {
    for text in [
        "PSV-2015A",
        "PSV2015A",
        "PSV 2015 A",
        "PSV 2015A",
        "psv-2015-a",
        "PSV_2015A",
        "PSV\u{2011}2015A",
        "ＰＳＶ-2015Ａ",
        "PSV-\u{200b}2015A",
        "PSV\u{ad}-2015\u{2060}A",
    ] {
        has(text, &["psv-2015a", "psv2015a", "psv", "2015"]);
    }
}

#[test]
fn what_is_not_seen_divides_no_word() {
    is("Über\u{ad}druck", &["überdruck"]);
    is("\u{feff}valve\u{200e}", &["valv"]);
    let found = tags("see PSV\u{ad}-2015\u{200b}A.");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].span.clone()), ("PSV-2015A", 4..18));
}

#[test]
fn a_longer_name_is_found_by_its_parts() {
    has("20-PR-0107-A1", &["20pr0107a1", "pr0107", "20", "pr", "0107", "a1"]);
    has("unit 20-PSV-2015A", &["psv2015a", "20psv2015a"]);
}

#[test]
fn twins_are_found_each() {
    has("P-101A/B", &["p101a", "p101b", "101a", "p"]);
}

#[test]
fn numbers_have_one_spelling() {
    is("38.5 barg", &["38.5", "barg"]);
    is("38,50 barg", &["38.5", "barg"]);
    is("38.5barg", &["38.5", "barg"]);
    is("1,000", &["1000"]);
    is("0107", &["0107"]);
}

#[test]
fn words_have_one_spelling() {
    is("Valves", &["valv"]);
    is("VALVE", &["valv"]);
    is("Straße", &["strass"]);
    is("STRASSE", &["strass"]);
    is("ﬁlter", &["filter"]);
    is("Σίσυφος", &["σίσυφοσ"]);
    is("ΣΊΣΥΦΟΣ", &["σίσυφοσ"]);
}

#[test]
fn words_that_a_hyphen_joins_are_also_one() {
    has("shut-down", &["shut", "down", "shutdown"]);
    has("open/close m3/h", &["open", "close", "m3", "h"]);
}

#[test]
fn scripts_without_blanks_are_found_by_two_characters() {
    is("安全阀", &["全阀", "安全"]);
    is("阀", &["阀"]);
    is("вентиль", &["вентиль"]);
    is("مضخة", &["مضخة"]);
}

#[test]
fn a_mark_behind_a_blank_is_no_blank() {
    is("valve \u{64b} _\u{64b}", &["valv", "\u{64b}", "\u{64b}"]);
}

#[test]
fn words_that_say_nothing_are_no_terms() {
    is("What is the set pressure of the valve?", &["pressur", "set", "valv"]);
}

#[test]
fn nothing_has_no_terms() {
    is("", &[]);
    is(" -/.,\n", &[]);
}

#[test]
fn data_in_letters_is_no_word() {
    assert!(terms(&"x1".repeat(200)).is_empty());
    is(&format!("{} valve", "x".repeat(300)), &["valv"]);
}

#[test]
fn a_long_text_takes_no_longer_than_its_length() {
    for part in ["A-1-", "a1", "P-101A/", "PSV 2015 ", "-", "阀", "x.", "\"-", "1,", "İ"] {
        let text = part.repeat(200_000 / part.len());
        assert!(terms(&text).len() + tags(&text).len() < 4 * text.len(), "{part}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_terms_without_blanks(text in ".*") {
        prop_assert!(terms(&text).iter().all(|term| !term.is_empty() && !term.contains(' ')));
    }

    #[test]
    fn tags_stand_in_the_text_in_order(text in "([A-Z]{1,3}[-_ /\"]?[0-9]{1,4}[A-Ca-c]?[ ,./-]?|é|－|.)*") {
        let mut end = 0;
        for tag in tags(&text) {
            prop_assert!(end <= tag.span.start && tag.span.start < tag.span.end);
            prop_assert!(text.get(tag.span.clone()).is_some());
            end = tag.span.end;
        }
    }

    #[test]
    fn a_tag_is_its_own_spelling(letters in "[LPTV][B-H]{1,3}", number in "[1-9][0-9]{2,3}[A-C]?") {
        let name = format!("{letters}-{number}");
        for text in [name.clone(), format!("{letters}{number}"), format!("{letters} {number}")] {
            prop_assert_eq!(&tags(&text)[0].name, &name);
        }
    }
}
