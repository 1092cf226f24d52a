//! Quotes that answer a question: the sentences of passages that contain what the question names.
//!
//! A sentence is scored like a document in BM25, among all sentences of the passages, and its passage supports it: a row
//! of a table rarely repeats the name of the equipment that the data sheet is about.
//!
//! A paragraph that begins with a tag is about that equipment: `V-101 is a flash vessel. Design pressure 16 bar.`
//!
//! A question that names equipment and asks nothing particular of it, such as what the documents say about a pump, is
//! answered by the sentences about the equipment.

mod subject;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_segmentation::UnicodeSegmentation;

use self::subject::Subject;
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

/// Words of questions that ask nothing particular, such as: What do the documents say about P-101A?
const GENERAL_WORDS: &str = "about all any me us you we they them please could would
    document documents documentation file files text passage passages source sources
    say says said tell tells know known mention mentions mentioned describe describes described description
    write written contain contains information info detail details overview summary summarize summarise explain
    show give everything anything something
    was wissen wir über den dem die das alles mir bitte dokument dokumente dokumenten unterlagen sagen sagt steht stehen
    informationen erzähle beschreibe beschreiben beschreibung";

/// Returns up to `limit` sentences that answer the question, in the order of the passages; none if no passage contains
/// enough of what the question names.
pub fn best_quotes(question: &str, passages: &[&str], limit: usize) -> Vec<Quote> {
    let sentences = Sentences::new(passages);
    let query_terms = analyzer::query_terms(question);
    let asked = Asked::new(question, &query_terms);
    let ranked = match asked.is_general() {
        true => sentences.about(&asked),
        false => sentences.answering(&asked, &query_terms),
    };
    let mut seen = HashSet::new();
    let mut quotes: Vec<Quote> = ranked
        .into_iter()
        .map(|sentence| sentences.list[sentence].quote.clone())
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

/// Words of questions, and the words with which documents state what they ask for: a valve opens at its set pressure.
const ASKED_AS: &[(&str, &str)] = &[
    ("open lift", "set"),
    ("sound annunciate", "set"),
    ("deliver convey", "flow capacity"),
    ("hold large big", "volume capacity"),
    ("strong powerful", "power motor"),
    ("fast quick quickly", "time seconds stroke"),
    ("often frequently", "every interval"),
    ("öffnet anspricht", "ansprechdruck set"),
    ("fördert", "förderstrom volumenstrom"),
    ("fasst groß", "volumen inhalt"),
];

impl Asked {
    fn new(question: &str, query_terms: &[String]) -> Asked {
        let names = analyzer::query_tags(question);
        let name_terms: HashSet<String> = names.iter().flat_map(|name| analyzer::index_terms(name)).collect();
        let is_of_name = |term: &String| name_terms.contains(term) || names.iter().any(|name| is_part(term, name));
        let mut terms: HashSet<String> = query_terms.iter().filter(|term| !is_of_name(term)).cloned().collect();
        let alternatives: Vec<String> = terms.iter().flat_map(|term| alternatives(term)).collect();
        terms.extend(alternatives);
        for (quantity, units) in QUANTITIES {
            if analyzer::index_terms(quantity).iter().any(|term| terms.contains(term)) {
                terms.extend(analyzer::index_terms(units));
            }
        }
        Asked { names, terms }
    }

    /// Returns whether the question asks nothing particular of the equipment that it names.
    fn is_general(&self) -> bool {
        let general: HashSet<String> = analyzer::index_terms(GENERAL_WORDS).into_iter().collect();
        !self.names.is_empty() && self.terms.is_subset(&general)
    }

    /// Returns whether terms have a name of the equipment.
    fn is_named_by(&self, terms: &HashSet<String>) -> bool {
        self.names.iter().any(|name| terms.contains(name))
    }

    /// Returns whether a sentence speaks of the equipment. The subject of its paragraph and the headings above it name
    /// the equipment as well.
    fn is_spoken_of_by(&self, sentence: &Sentence) -> bool {
        [&sentence.terms, &sentence.subject, &sentence.headings].into_iter().any(|terms| self.is_named_by(terms))
    }

    /// Returns whether a sentence speaks of the equipment, and says what is asked.
    fn is_said_by(&self, sentence: &Sentence) -> bool {
        let speaks_of_it = self.names.is_empty() || self.is_spoken_of_by(sentence);
        speaks_of_it && (self.terms.is_empty() || self.terms.iter().any(|term| sentence.terms.contains(term)))
    }
}

/// Returns the terms that documents have for a term of a question, without itself.
fn alternatives(term: &str) -> Vec<String> {
    /// The terms of the table, analyzed once.
    static TERMS: LazyLock<Vec<[Vec<String>; 2]>> = LazyLock::new(|| {
        let analyzed = |(asked, stated): &(&str, &str)| [asked, stated].map(|words| analyzer::index_terms(words));
        ASKED_AS.iter().map(analyzed).collect()
    });
    let found = TERMS.iter().filter(|[asked, _]| asked.iter().any(|word| word == term));
    found.flat_map(|[_, stated]| stated.clone()).collect()
}

/// Returns whether a term is a part of a name, as P 101 A is written with the parts P and P 101.
fn is_part(term: &str, name: &str) -> bool {
    let may_be_part = term.chars().nth(1).is_none() || term.bytes().any(|byte| byte.is_ascii_digit());
    may_be_part && name.replace('-', "").contains(&term.replace('-', ""))
}

/// A term of a question, with what documents may have in its place.
struct QueryTerm {
    alternatives: Vec<String>,
    /// A rare term weighs more, and a name twice, as the query has it.
    weight: f64,
}

impl QueryTerm {
    fn is_in(&self, terms: &HashSet<String>) -> bool {
        self.alternatives.iter().any(|term| terms.contains(term))
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
    average_length: f64,
}

struct Sentence {
    quote: Quote,
    terms: HashSet<String>,
    /// Terms of the equipment that its paragraph is about.
    subject: HashSet<String>,
    /// Terms of the headings above it.
    headings: HashSet<String>,
    length: usize,
}

impl Sentences {
    fn new(passages: &[&str]) -> Sentences {
        let set = |text: &str| analyzer::index_terms(text).into_iter().collect();
        let mut list = Vec::new();
        for (passage, text) in passages.iter().enumerate() {
            let headings = headings(text);
            for block in blocks(text) {
                let above = headings_above(&headings, block.start).join("\n");
                let mut subject = Subject::below(&above);
                let above = set(&above);
                list.extend(sentence_spans(text, block).into_iter().map(|span| {
                    let terms = analyzer::index_terms(&text[span.clone()]);
                    let length = terms.len();
                    let subject = set(subject.of_next(&text[span.clone()]));
                    let terms = terms.into_iter().collect();
                    Sentence { length, terms, subject, headings: above.clone(), quote: Quote { passage, span } }
                }));
            }
        }
        let average_length = list.iter().map(|sentence| sentence.length as f64).sum::<f64>() / list.len().max(1) as f64;
        Sentences { list, passages: passages.iter().map(|text| set(text)).collect(), average_length }
    }

    /// Returns the sentences that answer a question, best first; none if their passage does not contain enough of it.
    fn answering(&self, asked: &Asked, query_terms: &[String]) -> Vec<usize> {
        let weights = self.term_weights(query_terms);
        let total: f64 = weights.iter().map(|term| term.weight).sum();
        let candidates = (0..self.list.len()).filter(|index| asked.is_said_by(&self.list[*index]));
        let mut scored: Vec<Score> = candidates.filter_map(|index| self.score(index, &weights)).collect();
        scored.sort_by(|a, b| b.supported.total_cmp(&a.supported).then(a.sentence.cmp(&b.sentence)));
        let Some(&best) = scored.first() else { return Vec::new() };
        if best.covered < total * COVERAGE {
            return Vec::new();
        }
        let is_as_good =
            |score: &Score| score.own >= best.own * OTHERS && score.covered >= best.covered * OTHER_PASSAGES;
        scored.into_iter().filter(is_as_good).map(|score| score.sentence).collect()
    }

    /// Returns the sentences about the equipment: the best of each passage first, then the second best of each, and so
    /// on. A sentence that names the equipment is better than one whose paragraph or heading does, and earlier ones are better.
    fn about(&self, asked: &Asked) -> Vec<usize> {
        let is_unnamed = |index: usize| !asked.is_named_by(&self.list[index].terms);
        let mut found: Vec<usize> =
            (0..self.list.len()).filter(|&index| asked.is_spoken_of_by(&self.list[index])).collect();
        found.sort_by_key(|&index| (self.list[index].quote.passage, is_unnamed(index), index));
        let mut turns = vec![0; self.passages.len()];
        let mut ranked: Vec<(usize, bool, usize)> = Vec::with_capacity(found.len());
        for index in found {
            let turn = &mut turns[self.list[index].quote.passage];
            ranked.push((*turn, is_unnamed(index), index));
            *turn += 1;
        }
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, _, index)| index).collect()
    }

    /// Returns the terms of a question with their weights.
    fn term_weights(&self, query_terms: &[String]) -> Vec<QueryTerm> {
        let count = self.list.len() as f64;
        let weighted = query_terms.iter().map(|term| {
            let mut alternatives = alternatives(term);
            alternatives.push(term.clone());
            let mut term = QueryTerm { alternatives, weight: 0.0 };
            let with = self.list.iter().filter(|sentence| term.is_in(&sentence.terms)).count() as f64;
            term.weight = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
            term
        });
        weighted.collect()
    }

    /// Returns the score of a sentence; `None` if it has no term of the question.
    fn score(&self, index: usize, weights: &[QueryTerm]) -> Option<Score> {
        let sentence = &self.list[index];
        let passage = &self.passages[sentence.quote.passage];
        let sum = |contains: &dyn Fn(&QueryTerm) -> bool| -> f64 {
            weights.iter().filter(|term| contains(term)).map(|term| term.weight).sum()
        };
        let is_own = |term: &QueryTerm| term.is_in(&sentence.terms) || term.is_in(&sentence.subject);
        let own = sum(&is_own);
        let support = sum(&|term| !is_own(term) && term.is_in(passage));
        let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * sentence.length as f64 / self.average_length;
        (own > 0.0).then_some(Score {
            sentence: index,
            own,
            covered: own + support,
            supported: own / length + SUPPORT * support,
        })
    }
}

/// Heading of a text.
struct Heading<'a> {
    start: usize,
    /// Number of marks: 1 for the heading of a document.
    level: usize,
    text: &'a str,
}

/// Returns the headings of a text.
fn headings(text: &str) -> Vec<Heading<'_>> {
    let mut headings = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let text = line.trim();
        let level = text.bytes().take_while(|byte| *byte == b'#').count();
        if level > 0 {
            headings.push(Heading { start, level, text });
        }
        start += line.len();
    }
    headings
}

/// Returns the headings above a place in a text: the last one, and those of the sections around it.
fn headings_above<'a>(headings: &[Heading<'a>], place: usize) -> Vec<&'a str> {
    let mut level = usize::MAX;
    let mut above = Vec::new();
    for heading in headings.iter().rev().filter(|heading| heading.start < place) {
        if heading.level < level {
            level = heading.level;
            above.push(heading.text);
        }
    }
    above
}

/// Returns the sentences of a paragraph, a row or an item.
fn sentence_spans(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    // A line break within a paragraph is a space: it ends a line, but no sentence.
    let line = text[block.clone()].replace(['\n', '\r'], " ");
    for (start, sentence) in line.split_sentence_bound_indices() {
        let start = block.start + start + (sentence.len() - sentence.trim_start().len());
        let end = start + sentence.trim().len();
        if sentence.chars().any(char::is_alphanumeric) {
            spans.push(start..end);
        }
    }
    spans
}

/// Returns the paragraphs, rows and items of a text, without headings, titles of columns, and the marks of items and
/// tables.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut continues = false;
    let mut start = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let end = start + line.len();
        let trimmed = line.trim();
        let is_row = trimmed.starts_with('|');
        let is_heading = trimmed.starts_with('#') || is_row && lines.peek().is_some_and(|next| is_separator(next));
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

/// Returns whether a line of a table separates the titles of the columns from the rows.
fn is_separator(line: &str) -> bool {
    line.trim().strip_prefix('|').is_some_and(|cells| cells.contains('-') && cells.chars().all(|c| "|-: ".contains(c)))
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
        let spans = blocks(SHEET).into_iter().flat_map(|block| sentence_spans(SHEET, block));
        let all: Vec<&str> = spans.map(|span| &SHEET[span]).collect();
        let expected = [
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
    fn a_question_about_nothing_particular_is_answered_by_sentences_about_the_equipment() {
        const TANK: &str = "# Tank T-7\n\nThe tank is vented. Blind the line from P-101A at N3.\n";
        const UNIT: &str = "# Unit 100\n\n## P-101A\n\nIt delivers condensate.\n\n## T-8\n\nIt stores condensate.";
        let ask = |question: &str| {
            let passages = [SHEET, MANUAL, TANK, UNIT];
            let quotes = best_quotes(question, &passages, 4).into_iter();
            quotes.map(|quote| &passages[quote.passage][quote.span]).collect::<Vec<_>>()
        };
        let expected = [
            "The pump is started with a closed discharge valve.",
            "Check the seal pot first.",
            "Blind the line from P-101A at N3.",
            "It delivers condensate.",
        ];
        for tag in ["P-101A", "p-101a", "P101A", "P 101 A", "P-101-A", "P\u{2011}101A", "P_101A"] {
            for question in [
                format!("What do the documents say about {tag}?"),
                format!("Tell me everything about {tag}."),
                format!("What information is there about {tag}?"),
                tag.to_owned(),
                format!("Was steht in den Dokumenten über {tag}?"),
            ] {
                assert_eq!(ask(&question), expected, "{question}");
            }
        }
        assert_eq!(ask("What do the documents say about V-101?")[0], "volume | 12.5 m³", "no title of a column");
        for question in [
            "What do the documents say about P-101C?",
            "What do the documents say about P-101?",
            "What do the documents say?",
            "What do the documents say about the color of P-101A?",
        ] {
            assert_eq!(ask(question), [""; 0], "{question}");
        }
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
        assert_eq!(quotes, [0..14, 15..25].map(|span| Quote { passage: 0, span }));
    }

    #[test]
    fn a_sentence_of_a_paragraph_about_the_equipment_is_quoted() {
        const LIST: &str = "Datasheet PSV-4011 Pressure safety valve\n\nPSV-4011 protects V-401. Set pressure 38.0 barg,\n\
            discharges to V-601. To be tested every 24 months.\n\nPSV-4021 protects V-402. Set pressure 105.0 barg.\n\n\
            V-401 is the suction drum. Design pressure 42 barg.";
        let quotes = |question: &str| -> Vec<&str> {
            best_quotes(question, &[LIST], 3).into_iter().map(|quote| &LIST[quote.span]).collect()
        };
        let set = "Set pressure 38.0 barg,\ndischarges to V-601.";
        assert_eq!(quotes("What is PSV-4011 set at?"), [set]);
        assert!(quotes("What is the set pressure of PSV-4011?").contains(&set));
        assert!(quotes("At what pressure does PSV-4011 open?").contains(&set));
        assert_eq!(quotes("How often is PSV-4011 tested?"), ["To be tested every 24 months."]);
        assert_eq!(quotes("What is the design pressure of V-401?"), ["Design pressure 42 barg."]);
        assert_eq!(quotes("How often is PSV-4021 tested?"), [""; 0]);
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
