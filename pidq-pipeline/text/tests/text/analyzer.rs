//! Index terms and tags of texts.

use std::collections::BTreeSet;

use pidq_text::analyzer::{tags, terms};
use proptest::prelude::*;

/// Checks that a text has some terms.
#[track_caller]
fn assert_contains(text: &str, expected: &[&str]) {
    let terms: BTreeSet<String> = terms(text).into_iter().collect();
    let missing: Vec<_> = expected.iter().filter(|term| !terms.contains(**term)).collect();
    assert!(missing.is_empty(), "{text:?} lacks {missing:?}: {terms:?}");
}

#[track_caller]
fn assert_terms(text: &str, expected: &[&str]) {
    let mut terms = terms(text);
    terms.sort();
    assert_eq!(terms, expected, "{text:?}");
}

#[test]
fn variants_of_a_tag_share_a_term() {
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
        assert_contains(text, &["psv-2015a", "psv2015a", "psv", "2015"]);
    }
}

#[test]
fn invisible_characters_do_not_split_words() {
    assert_terms("Über\u{ad}druck", &["überdruck"]);
    assert_terms("\u{feff}valve\u{200e}", &["valv"]);
    let found = tags("see PSV\u{ad}-2015\u{200b}A.");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].span.clone()), ("PSV-2015A", 4..18));
}

#[test]
fn a_composed_name_has_terms_for_its_parts() {
    assert_contains("20-PR-0107-A1", &["20pr0107a1", "pr0107", "20", "pr", "0107", "a1"]);
    assert_contains("unit 20-PSV-2015A", &["psv2015a", "20psv2015a"]);
}

#[test]
fn a_tag_with_alternatives_has_a_term_for_each() {
    assert_contains("P-101A/B", &["p101a", "p101b", "101a", "p"]);
}

#[test]
fn numbers_are_normalized() {
    assert_terms("38.5 barg", &["38.5", "barg"]);
    assert_terms("38,50 barg", &["38.5", "barg"]);
    assert_terms("38.5barg", &["38.5", "barg"]);
    assert_terms("1,000", &["1000"]);
    assert_terms("0107", &["0107"]);
}

#[test]
fn words_are_normalized() {
    assert_terms("Valves", &["valv"]);
    assert_terms("VALVE", &["valv"]);
    assert_terms("Straße", &["strass"]);
    assert_terms("STRASSE", &["strass"]);
    assert_terms("ﬁlter", &["filter"]);
    assert_terms("Σίσυφος", &["σίσυφοσ"]);
    assert_terms("ΣΊΣΥΦΟΣ", &["σίσυφοσ"]);
}

#[test]
fn hyphenated_words_are_also_one_term() {
    assert_contains("shut-down", &["shut", "down", "shutdown"]);
    assert_contains("open/close m3/h", &["open", "close", "m3", "h"]);
}

#[test]
fn scripts_without_spaces_are_indexed_as_bigrams() {
    assert_terms("安全阀", &["全阀", "安全"]);
    assert_terms("阀", &["阀"]);
    assert_terms("вентиль", &["вентиль"]);
    assert_terms("مضخة", &["مضخة"]);
}

#[test]
fn a_combining_mark_after_a_space_is_part_of_a_term() {
    assert_terms("valve \u{64b} _\u{64b}", &["valv", "\u{64b}", "\u{64b}"]);
}

#[test]
fn stop_words_are_not_terms() {
    assert_terms("What is the set pressure of the valve?", &["pressur", "set", "valv"]);
}

#[test]
fn an_empty_text_has_no_terms() {
    assert_terms("", &[]);
    assert_terms(" -/.,\n", &[]);
}

#[test]
fn base64_data_is_not_indexed() {
    assert!(terms(&"x1".repeat(200)).is_empty());
    assert_terms(&format!("{} valve", "x".repeat(300)), &["valv"]);
}

#[test]
fn a_long_text_takes_linear_time() {
    for part in ["A-1-", "a1", "P-101A/", "PSV 2015 ", "-", "阀", "x.", "\"-", "1,", "İ"] {
        let text = part.repeat(200_000 / part.len());
        assert!(terms(&text).len() + tags(&text).len() < 4 * text.len(), "{part}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn terms_never_contain_spaces(text in ".*") {
        prop_assert!(terms(&text).iter().all(|term| !term.is_empty() && !term.contains(' ')));
    }

    #[test]
    fn tags_are_in_text_order(text in "([A-Z]{1,3}[-_ /\"]?[0-9]{1,4}[A-Ca-c]?[ ,./-]?|é|－|.)*") {
        let mut end = 0;
        for tag in tags(&text) {
            prop_assert!(end <= tag.span.start && tag.span.start < tag.span.end);
            prop_assert!(text.get(tag.span.clone()).is_some());
            end = tag.span.end;
        }
    }

    #[test]
    fn canonical_tags_are_stable(letters in "[LPTV][B-H]{1,3}", number in "[1-9][0-9]{2,3}[A-C]?") {
        let name = format!("{letters}-{number}");
        for text in [name.clone(), format!("{letters}{number}"), format!("{letters} {number}")] {
            prop_assert_eq!(&tags(&text)[0].name, &name);
        }
    }
}
