//! Index terms and tags of texts.

use std::collections::BTreeSet;

use pidq_pipeline::analyzer::{tags, terms};
use proptest::prelude::*;

/// Checks that a text has some terms.
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
fn spellings_of_a_tag_share_a_term() {
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
fn invisible_characters_do_not_split_words() {
    is("Über\u{ad}druck", &["überdruck"]);
    is("\u{feff}valve\u{200e}", &["valv"]);
    let found = tags("see PSV\u{ad}-2015\u{200b}A.");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].span.clone()), ("PSV-2015A", 4..18));
}

#[test]
fn a_composed_name_has_terms_for_its_parts() {
    has("20-PR-0107-A1", &["20pr0107a1", "pr0107", "20", "pr", "0107", "a1"]);
    has("unit 20-PSV-2015A", &["psv2015a", "20psv2015a"]);
}

#[test]
fn a_tag_with_alternatives_has_a_term_for_each() {
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
fn hyphenated_words_are_also_one_term() {
    has("shut-down", &["shut", "down", "shutdown"]);
    has("open/close m3/h", &["open", "close", "m3", "h"]);
}

#[test]
fn scripts_without_spaces_are_indexed_as_bigrams() {
    is("安全阀", &["全阀", "安全"]);
    is("阀", &["阀"]);
    is("вентиль", &["вентиль"]);
    is("مضخة", &["مضخة"]);
}

#[test]
fn a_combining_mark_after_a_space_is_part_of_a_term() {
    is("valve \u{64b} _\u{64b}", &["valv", "\u{64b}", "\u{64b}"]);
}

#[test]
fn stop_words_are_not_terms() {
    is("What is the set pressure of the valve?", &["pressur", "set", "valv"]);
}

#[test]
fn an_empty_text_has_no_terms() {
    is("", &[]);
    is(" -/.,\n", &[]);
}

#[test]
fn base64_data_is_not_indexed() {
    assert!(terms(&"x1".repeat(200)).is_empty());
    is(&format!("{} valve", "x".repeat(300)), &["valv"]);
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
