//! Quotes that answer a question: the sentences of passages that contain what the question names.
//!
//! A sentence is scored like a document in BM25, among all sentences of the passages, and its passage supports it: a row
//! of a table rarely repeats the name of the equipment that the data sheet is about.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::analyzer;

/// Sentence of a passage.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Quote {
    /// Index of the passage.
    pub passage: usize,
    /// Span in the passage, in bytes.
    pub span: Range<usize>,
}

/// Influence of the length of a sentence: little, since short rows of tables state most values.
const LENGTH_WEIGHT: f64 = 0.3;
/// Weight of a term that only the passage of a sentence contains.
const SUPPORT: f64 = 0.4;
/// Share of the weight of a question that the passage of the best sentence must contain. Without it, the passages do not
/// answer the question.
const COVERAGE: f64 = 0.5;
/// Share of the terms of the best sentence, by weight, that another sentence needs.
const OTHERS: f64 = 0.7;

/// Share of the terms of the best passage, by weight, that the passage of another sentence needs: the value of another
/// equipment is no answer.
const OTHER_PASSAGES: f64 = 0.9;

/// Returns up to `limit` sentences that answer the question, in the order of the passages; none if no passage contains
/// enough of what the question names.
pub fn best_quotes(question: &str, passages: &[&str], limit: usize) -> Vec<Quote> {
    let sentences = Sentences::new(passages);
    let query_terms = analyzer::query_terms(question);
    let weights = sentences.term_weights(&query_terms);
    let total: f64 = weights.values().sum();
    let asked = Asked::new(question, &query_terms);
    let candidates = (0..sentences.list.len()).filter(|index| asked.is_said_by(&sentences, *index));
    let mut scored: Vec<Score> = candidates.filter_map(|index| sentences.score(index, &weights)).collect();
    scored.sort_by(|a, b| b.supported.total_cmp(&a.supported).then(a.sentence.cmp(&b.sentence)));
    let Some(&best) = scored.first() else { return Vec::new() };
    if best.covered < total * COVERAGE {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    let mut quotes: Vec<Quote> = scored
        .into_iter()
        .filter(|score| score.own >= best.own * OTHERS && score.covered >= best.covered * OTHER_PASSAGES)
        .map(|score| sentences.list[score.sentence].quote.clone())
        // The same sentence in overlapping chunks is quoted once.
        .filter(|quote| seen.insert(&passages[quote.passage][quote.span.clone()]))
        .take(limit)
        .collect();
    quotes.sort_by_key(|quote| (quote.passage, quote.span.start));
    quotes
}

/// Subject of a question: the equipment, and the terms that a sentence about it must have.
struct Asked {
    /// Names of the equipment.
    names: Vec<String>,
    /// Other terms, and the units of the quantities that they name.
    terms: HashSet<String>,
}

/// Quantities, and units in which they are stated: a set pressure of 15.2 bar is often stated without the word pressure.
const QUANTITIES: &[(&str, &str)] = &[
    ("pressure", "bar barg bara mbar psi psig psia kPa MPa Pa"),
    ("temperature", "°C °F K"),
    ("volume", "m³ m3 l"),
    ("capacity", "m³ m3 l"),
    ("flow", "m³/h m3/h kg/h t/h l/min"),
    ("power", "kW W MW hp"),
    ("speed", "rpm 1/min m/s"),
    ("level", "mm m %"),
];

impl Asked {
    fn new(question: &str, query_terms: &[String]) -> Asked {
        let tags = analyzer::tags(question);
        let names: Vec<String> = tags.iter().map(|tag| tag.name.to_lowercase()).collect();
        let name_terms: HashSet<String> = tags.iter().flat_map(|tag| analyzer::index_terms(&tag.name)).collect();
        let mut terms: HashSet<String> =
            query_terms.iter().filter(|term| !name_terms.contains(*term)).cloned().collect();
        for (quantity, units) in QUANTITIES {
            if analyzer::index_terms(quantity).iter().any(|term| terms.contains(term)) {
                terms.extend(analyzer::index_terms(units));
            }
        }
        Asked { names, terms }
    }

    /// Returns whether a sentence speaks of the equipment, and says what is asked. The heading of a passage names the
    /// equipment for all of its sentences.
    fn is_said_by(&self, sentences: &Sentences, index: usize) -> bool {
        let sentence = &sentences.list[index];
        let names_it = |terms: &HashSet<String>| self.names.iter().any(|name| terms.contains(name));
        let speaks_of_it =
            self.names.is_empty() || names_it(&sentence.terms) || names_it(&sentences.headings[sentence.quote.passage]);
        speaks_of_it && (self.terms.is_empty() || self.terms.iter().any(|term| sentence.terms.contains(term)))
    }
}

/// Score of a sentence.
#[derive(Clone, Copy)]
struct Score {
    sentence: usize,
    /// Weight of the terms in the sentence.
    own: f64,
    /// Weight of the terms in its passage.
    covered: f64,
    /// Score by the sentence, its length, and its passage.
    supported: f64,
}

/// Sentences of all passages, with their terms.
struct Sentences {
    list: Vec<Sentence>,
    /// Terms by passage.
    passages: Vec<HashSet<String>>,
    /// Terms of the headings by passage.
    headings: Vec<HashSet<String>>,
    average_length: f64,
}

struct Sentence {
    quote: Quote,
    terms: HashSet<String>,
    length: usize,
}

impl Sentences {
    fn new(passages: &[&str]) -> Sentences {
        let mut list = Vec::new();
        for (passage, text) in passages.iter().enumerate() {
            list.extend(sentence_spans(text).into_iter().map(|span| {
                let terms = analyzer::index_terms(&text[span.clone()]);
                Sentence { length: terms.len(), terms: terms.into_iter().collect(), quote: Quote { passage, span } }
            }));
        }
        let average_length = list.iter().map(|sentence| sentence.length as f64).sum::<f64>() / list.len().max(1) as f64;
        let terms = |text: &str| analyzer::index_terms(text).into_iter().collect();
        let passage_terms = passages.iter().map(|text| terms(text)).collect();
        let headings = passages.iter().map(|text| terms(&headings_of(text))).collect();
        Sentences { list, passages: passage_terms, headings, average_length }
    }

    /// Returns the weights of the terms of a question: rare terms weigh more, and names twice, as the query has them.
    fn term_weights(&self, query_terms: &[String]) -> HashMap<String, f64> {
        let count = self.list.len() as f64;
        let mut weights = HashMap::new();
        for term in query_terms {
            let with = self.list.iter().filter(|sentence| sentence.terms.contains(term)).count() as f64;
            *weights.entry(term.clone()).or_insert(0.0) += (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
        }
        weights
    }

    /// Returns the score of a sentence; `None` if it has no term of the question.
    fn score(&self, index: usize, weights: &HashMap<String, f64>) -> Option<Score> {
        let sentence = &self.list[index];
        let passage = &self.passages[sentence.quote.passage];
        // In the order of the terms: a sum of floating-point numbers depends on its order.
        let mut terms: Vec<_> = weights.iter().collect();
        terms.sort_unstable_by(|a, b| a.0.cmp(b.0));
        let sum = |contains: &dyn Fn(&String) -> bool| -> f64 {
            terms.iter().filter(|(term, _)| contains(term)).map(|(_, weight)| **weight).sum()
        };
        let own = sum(&|term| sentence.terms.contains(term));
        let support = sum(&|term| !sentence.terms.contains(term) && passage.contains(term));
        let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * sentence.length as f64 / self.average_length;
        (own > 0.0).then_some(Score {
            sentence: index,
            own,
            covered: own + support,
            supported: own / length + SUPPORT * support,
        })
    }
}

/// Returns the headings of a text, one a line.
fn headings_of(text: &str) -> String {
    text.lines().filter(|line| line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n")
}

/// Returns the sentences of a text, without headings. A row of a table and an item of a list is a sentence.
fn sentence_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for block in blocks(text) {
        // A line break within a paragraph is a space: it ends a line, but no sentence.
        let line = text[block.clone()].replace(['\n', '\r'], " ");
        for (start, sentence) in line.split_sentence_bound_indices() {
            let start = block.start + start + (sentence.len() - sentence.trim_start().len());
            let end = start + sentence.trim().len();
            if sentence.chars().any(char::is_alphanumeric) {
                spans.push(start..end);
            }
        }
    }
    spans
}

/// Returns the paragraphs, rows and items of a text, without the marks of items and tables.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut continues = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let trimmed = line.trim();
        let is_heading = trimmed.starts_with('#');
        let is_row = trimmed.starts_with('|');
        let is_item = item_mark(trimmed) > 0;
        if trimmed.is_empty() || is_heading {
            continues = false;
        } else if continues && !is_row && !is_item {
            if let Some(block) = blocks.last_mut() {
                block.end = end;
            }
        } else {
            let content = match is_row {
                true => line.trim_start_matches(['|', ' ', '\t']),
                false => &line.trim_start()[item_mark(trimmed)..],
            };
            let tail = if is_row { content.len() - content.trim_end().trim_end_matches('|').len() } else { 0 };
            blocks.push(end - content.len()..end - tail);
            continues = !is_row;
        }
        start = end;
    }
    blocks
}

/// Returns the length of the mark of a list item, such as `- ` or `12. `; 0 without one.
fn item_mark(line: &str) -> usize {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marks: &[&str] = if digits > 0 { &[". ", ") "] } else { &["- ", "* ", "+ ", "• "] };
    let mark = marks.iter().find(|mark| line[digits..].starts_with(**mark));
    mark.map_or(0, |mark| digits + mark.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHEET: &str = "# Flash vessel V-101: data sheet\n\n| item | value |\n|---|---|\n| volume | 12.5 m³ |\n\
        | design pressure | 16 bar |\n\nPSV-1106 is sized for fire. It is tested every two years; the\nrecord is kept.\n";
    const MANUAL: &str = "# Pump P-101A\n\nThe pump is started with a closed discharge valve.\n- Check the seal pot first.\n\
        2. Open the suction valve HV-1.\n\nThe design pressure of the casing is 40 bar.";

    fn quotes(question: &str) -> Vec<&'static str> {
        let passages = [SHEET, MANUAL];
        best_quotes(question, &passages, 3).into_iter().map(|quote| &passages[quote.passage][quote.span]).collect()
    }

    #[test]
    fn sentences_rows_and_items_are_quoted_as_they_are() {
        let all: Vec<&str> = sentence_spans(SHEET).into_iter().map(|span| &SHEET[span]).collect();
        let expected = [
            "item | value",
            "volume | 12.5 m³",
            "design pressure | 16 bar",
            "PSV-1106 is sized for fire.",
            "It is tested every two years; the\nrecord is kept.",
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn the_passage_of_the_equipment_is_preferred() {
        assert_eq!(quotes("What is the design pressure of V-101?")[0], "design pressure | 16 bar");
        assert_eq!(quotes("design pressure of pump P-101A"), ["The design pressure of the casing is 40 bar."]);
        assert!(quotes("What is first when P-101A is started?").contains(&"Check the seal pot first."));
        assert_eq!(quotes("What is the color of V-101?"), [""; 0]);
        assert_eq!(
            best_quotes(
                "design pressure of V-101",
                &["P-1 feeds V-101. Its casing has a design pressure of 25 bar."],
                3
            ),
            []
        );
        let relief = ["# V-101\n\nPSV-1106 is set at 15.2 bar. The design pressure is 16 bar."];
        let quote = &best_quotes("At what pressure does PSV-1106 open?", &relief, 3)[0];
        assert_eq!(&relief[0][quote.span.clone()], "PSV-1106 is set at 15.2 bar.");
    }

    #[test]
    fn what_no_passage_contains_is_not_answered() {
        for question in ["Who won the football match?", "", "?", "the", "color of the xylophone"] {
            assert_eq!(quotes(question), [""; 0], "{question}");
        }
        assert!(best_quotes("pump", &[], 3).is_empty());
        assert!(best_quotes("pump", &["", "\n\n", "# pump"], 3).is_empty());
    }

    #[test]
    fn a_sentence_in_two_chunks_is_quoted_once() {
        let passages = ["P-1 is a pump. It is red.", "P-1 is a pump."];
        let quotes = best_quotes("What is P-1?", &passages, 3);
        assert_eq!(quotes, [Quote { passage: 0, span: 0..14 }]);
    }

    proptest! {
        #[test]
        fn quotes_are_in_the_passages(question in ".{0,40}", passages in prop::collection::vec("(\\PC|\n|[|#*.-]| ){0,80}", 0..4)) {
            let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
            for quote in best_quotes(&question, &passages, 3) {
                prop_assert!(passages[quote.passage].get(quote.span).is_some_and(|text| !text.trim().is_empty()));
            }
        }
    }
}
