//! Citations in an answer: passage numbers and their spans, from `[1]`, `[1][2]`, `[1, 2]`, `[1-3]`, `【1】`.
//!
//! The parser is incremental. Spans are in code points, from 0, with exclusive ends.

mod marker;

pub use marker::{Marker, MarkerParser};

use crate::generation::prompt::REFUSAL;

/// Incremental parser of the citations in an answer.
#[derive(Debug)]
pub struct CitationParser {
    passages: usize,
    markers: MarkerParser,
    cited: Vec<CitedPassage>,
    invalid: Vec<u32>,
}

/// A passage cited by an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CitedPassage {
    /// Its number, from 1.
    pub marker: usize,
    /// Spans of its citations, brackets included.
    pub spans: Vec<[usize; 2]>,
}

impl CitationParser {
    /// Creates a parser for an answer whose prompt has `passages` passages.
    pub fn new(passages: usize) -> CitationParser {
        CitationParser { passages, markers: MarkerParser::default(), cited: Vec::new(), invalid: Vec::new() }
    }

    /// Parses more text and returns the passages that it cites for the first time.
    pub fn push(&mut self, text: &str) -> Vec<CitedPassage> {
        let before = self.cited.len();
        for marker in self.markers.push(text) {
            for &number in &marker.numbers {
                self.record(number, marker.span);
            }
        }
        self.cited[before..].to_vec()
    }

    fn record(&mut self, number: u32, span: [usize; 2]) {
        let marker = number as usize;
        if !(1..=self.passages).contains(&marker) {
            if !self.invalid.contains(&number) && self.invalid.len() < 100 {
                self.invalid.push(number);
            }
            return;
        }
        match self.cited.iter_mut().find(|cited| cited.marker == marker) {
            Some(cited) if cited.spans.last() != Some(&span) => cited.spans.push(span),
            Some(_) => {}
            None => self.cited.push(CitedPassage { marker, spans: vec![span] }),
        }
    }

    /// Returns the cited passages, in order of their first citation.
    pub fn cited(&self) -> &[CitedPassage] {
        &self.cited
    }

    /// Returns cited numbers that belong to no passage.
    pub fn invalid(&self) -> &[u32] {
        &self.invalid
    }
}

/// Returns `true` if an answer is the refusal sentence of the prompt. Models quote it, omit the full stop, add a marker
/// or continue after it; if the continuation cites a passage, it is an answer.
pub fn is_refusal(answer: &str, cited: &[CitedPassage]) -> bool {
    let (answer, refusal) = (normalize(answer), normalize(REFUSAL));
    answer == refusal || (cited.is_empty() && answer.starts_with(&refusal))
}

fn normalize(text: &str) -> String {
    let letters: String = text.chars().filter(|c| c.is_alphabetic() || c.is_whitespace()).collect();
    letters.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns `true` if an answer is long enough to need a citation.
pub fn needs_citation(answer: &str) -> bool {
    answer.split_whitespace().count() > 3
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Asserts the cited passages with their spans and the invalid numbers, for three passages.
    fn check(answer: &str, expected: &[(usize, &[[usize; 2]])], invalid: &[u32]) {
        let mut parser = CitationParser::new(3);
        parser.push(answer);
        let found: Vec<_> = parser.cited().iter().map(|cited| (cited.marker, cited.spans.as_slice())).collect();
        assert_eq!(found, expected, "{answer:?}");
        assert_eq!(parser.invalid(), invalid, "{answer:?}");
    }

    #[test]
    fn markers_are_read_in_all_their_forms() {
        check("PSV-2015A is set at 38.5 barg [1].", &[(1, &[[30, 33]])], &[]);
        check("a [1][2] b", &[(1, &[[2, 5]]), (2, &[[5, 8]])], &[]);
        check("a [1, 2] b", &[(1, &[[2, 8]]), (2, &[[2, 8]])], &[]);
        check("[1;3]", &[(1, &[[0, 5]]), (3, &[[0, 5]])], &[]);
        check("[1-3]", &[(1, &[[0, 5]]), (2, &[[0, 5]]), (3, &[[0, 5]])], &[]);
        check("[1–2, 3]", &[(1, &[[0, 8]]), (2, &[[0, 8]]), (3, &[[0, 8]])], &[]);
        check("[ 2 ]", &[(2, &[[0, 5]])], &[]);
        check("x [2] y [1] z [2]", &[(2, &[[2, 5], [14, 17]]), (1, &[[8, 11]])], &[]);
        check("[[1]]", &[(1, &[[1, 4]])], &[]);
        check("[1, 1]", &[(1, &[[0, 6]])], &[]);
    }

    #[test]
    fn a_marker_has_a_maximum_length() {
        let marker = |length: usize| format!("[1{}]", " ".repeat(length - 1));
        check(&marker(64), &[(1, &[[0, 66]])], &[]);
        check(&marker(65), &[], &[]);
        check("[1\n]", &[], &[]);
    }

    #[test]
    fn the_list_of_invalid_numbers_is_limited() {
        check("[4-150]", &[], &(4..104).collect::<Vec<_>>());
    }

    #[test]
    fn an_answer_of_more_than_three_words_needs_a_citation() {
        assert!(!needs_citation("It is closed."));
        assert!(needs_citation("It is closed now."));
    }

    #[test]
    fn markers_are_read_in_any_width() {
        check("压力【1】。", &[(1, &[[2, 5]])], &[]);
        check("［１，２］", &[(1, &[[0, 5]]), (2, &[[0, 5]])], &[]);
        check("〔1、3〕[2】", &[(1, &[[0, 5]]), (3, &[[0, 5]]), (2, &[[5, 8]])], &[]);
        check("【1－3】", &[(1, &[[0, 5]]), (2, &[[0, 5]]), (3, &[[0, 5]])], &[]);
    }

    #[test]
    fn an_index_in_code_is_no_marker() {
        check("`a[1]` is set [2]", &[(2, &[[14, 17]])], &[]);
        check("```\nx[1] = y(2)[3]\n```\n[2]", &[(2, &[[23, 26]])], &[]);
        check("``a`b[1]`` [1]", &[(1, &[[11, 14]])], &[]);
        check("set to `38.5` barg[1]", &[(1, &[[18, 21]])], &[]);
        check("```\nThe valve is open [1].\n```", &[(1, &[[22, 25]])], &[]);
        check("a ` alone, barg[1]\nbarg[2]", &[(2, &[[23, 26]])], &[]);
        check("a[1]", &[(1, &[[1, 4]])], &[]);
        check("`x`[1]", &[(1, &[[3, 6]])], &[]);
    }

    #[test]
    fn spans_are_code_points() {
        check("Überdruck 38,5 € 👩‍🔧 [1].", &[(1, &[[21, 24]])], &[]);
        check("压力 [1]", &[(1, &[[3, 6]])], &[]);
    }

    #[test]
    fn numbers_out_of_range_are_reported_separately() {
        check("[0] [4] [1]", &[(1, &[[8, 11]])], &[0, 4]);
        check("[2-4]", &[(2, &[[0, 5]]), (3, &[[0, 5]])], &[4]);
        check("[99999999999999]", &[], &[u32::MAX]);
        check("[1-4000000000]", &[(1, &[[0, 14]])], &[4_000_000_000]);
        check("[4] [4]", &[], &[4]);
    }

    #[test]
    fn other_brackets_are_text() {
        for text in ["[]", "[a]", "[1a]", "[1.5]", "[,]", "[1,]", "[-1]", "[3-1]", "[1", "1]", "[1\n2]", "(1)", "[1 2]"]
        {
            check(text, &[], &[]);
        }
        check("[a [1]", &[(1, &[[3, 6]])], &[]);
    }

    #[test]
    fn the_refusal_is_recognized_in_its_variants() {
        let check = |answer: &str, expected: bool| {
            let mut parser = CitationParser::new(3);
            parser.push(answer);
            assert_eq!(is_refusal(answer, parser.cited()), expected, "{answer:?}");
        };
        check(REFUSAL, true);
        check("the documents do not answer this question", true);
        check("\"The documents do not answer this question.\"\n", true);
        check("The documents do not answer this question. [1]", true);
        check("The documents do not answer this question. They speak of pumps.", true);
        check("The documents do not answer this question, but P-101 is a pump [1].", false);
        check("P-101 stops. The documents do not answer this question.", false);
        check("", false);
    }

    proptest! {
        #[test]
        fn split_positions_do_not_affect_the_result(answer in "[\\[\\]0-9,; a€–`\n】-]{0,60}", split in 0usize..60) {
            let split = answer.floor_char_boundary(split.min(answer.len()));
            let (mut whole, mut parts) = (CitationParser::new(3), CitationParser::new(3));
            whole.push(&answer);
            parts.push(&answer[..split]);
            parts.push(&answer[split..]);
            prop_assert_eq!(whole.cited(), parts.cited());
            prop_assert_eq!(whole.invalid(), parts.invalid());
        }

        #[test]
        fn a_span_includes_its_brackets(answer in "[\\[\\]0-9,; a€–-]{0,60}") {
            let mut parser = CitationParser::new(5);
            parser.push(&answer);
            let letters: Vec<char> = answer.chars().collect();
            for [start, end] in parser.cited().iter().flat_map(|cited| &cited.spans) {
                prop_assert_eq!((letters[*start], letters[*end - 1]), ('[', ']'));
            }
        }
    }
}
