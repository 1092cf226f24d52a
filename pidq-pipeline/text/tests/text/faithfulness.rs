//! Faithfulness of answers on 100 questions about the plant corpus: how many wrong answers the check of claims catches,
//! and whether it flags right ones.
//!
//! The scripted answers of each question are in `answers.jsonl`: the right one, in another spelling than the passage, and
//! one each with another number, unit and tag. Where the passage has another number of the same unit, that one is used.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use pidq_text::claims::{Marker, Passage, Status, check};
use pidq_text::quotes::best_quotes;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    id: String,
    question: String,
    document: String,
    /// Content that an answer must have.
    facts: Vec<String>,
    right: String,
    other_number: String,
    other_unit: String,
    other_tag: String,
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "_id")]
    id: String,
    title: String,
    text: String,
}

fn read<T: serde::de::DeserializeOwned>(path: &str) -> Vec<T> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path);
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Distance in the corpus of the other passages of a prompt, so that they speak of other things.
const DISTANCE: usize = 37;

/// Returns the passages of a prompt: that of the question, then others.
fn prompt<'d>(documents: &'d [Document], row: &Row) -> Vec<Passage<'d>> {
    let position = documents.iter().position(|document| document.id == row.document).unwrap();
    let others = (0..4).map(|index| &documents[(position + index * DISTANCE) % documents.len()]);
    others.map(|document| Passage { text: &document.text, source: &document.title }).collect()
}

/// Returns whether the check accepts an answer that cites a passage, or none: no sentence is unsupported or uncited.
fn is_accepted(row: &Row, passages: &[Passage<'_>], answer: &str, passage: Option<usize>) -> bool {
    let text = match passage {
        Some(passage) => format!("{} [{}].", answer.trim_end_matches('.'), passage + 1),
        None => answer.to_owned(),
    };
    let length = text.chars().count();
    let marker = passage.map(|passage| Marker { span: [length - 4, length - 1], passage });
    let sentences = check(&row.question, &text, passages, marker.as_slice());
    sentences.iter().all(|sentence| sentence.status < Status::Uncited)
}

#[test]
fn wrong_answers_are_caught_and_right_ones_are_not_flagged() {
    let (rows, documents): (Vec<Row>, Vec<Document>) =
        (read("faithfulness/answers.jsonl"), read("plant_corpus/corpus.jsonl"));
    assert_eq!(rows.len(), 100);
    let mut accepted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &rows {
        let passages = prompt(&documents, row);
        for (kind, answer, passage) in [
            ("right", &row.right, Some(0)),
            ("another number", &row.other_number, Some(0)),
            ("another unit", &row.other_unit, Some(0)),
            ("another tag", &row.other_tag, Some(0)),
            ("without citation", &row.right, None),
            ("another passage cited", &row.right, Some(2)),
        ] {
            let list = accepted.entry(kind).or_default();
            if is_accepted(row, &passages, answer, passage) {
                list.push(&row.id);
            }
        }
    }
    println!("| answer | accepted | flagged |\n|---|---|---|");
    for (kind, ids) in &accepted {
        println!("| {kind} | {} | {} |", ids.len(), rows.len() - ids.len());
    }
    let flagged: Vec<&str> =
        rows.iter().map(|row| row.id.as_str()).filter(|id| !accepted["right"].contains(id)).collect();
    assert!(flagged.is_empty(), "right answers are flagged: {flagged:?}");
    accepted.remove("right");
    // The passage states these numbers of the same equipment in another sense: cool down to 190 °C, a critical speed.
    assert_eq!(accepted.remove("another number").unwrap_or_default(), ["f074", "f100"]);
    accepted.retain(|_, ids| !ids.is_empty());
    assert!(accepted.is_empty(), "wrong answers are accepted: {accepted:?}");
}

#[test]
fn quotes_of_the_extractive_answerer_are_never_flagged() {
    let (rows, documents): (Vec<Row>, Vec<Document>) =
        (read("faithfulness/answers.jsonl"), read("plant_corpus/corpus.jsonl"));
    let (mut quoted, mut answered) = (0, 0);
    for row in &rows {
        // Chunks of documents begin with their heading, which names the equipment.
        let chunks: Vec<String> =
            prompt(&documents, row).iter().map(|passage| format!("# {}\n\n{}", passage.source, passage.text)).collect();
        let texts: Vec<&str> = chunks.iter().map(String::as_str).collect();
        let passages: Vec<Passage<'_>> = texts.iter().map(|text| Passage { text, source: "" }).collect();
        let quotes = best_quotes(&row.question, &texts, 3);
        let mut all = String::new();
        for quote in &quotes {
            let text = &texts[quote.passage][quote.span.clone()];
            assert!(is_accepted(row, &passages, &format!("“{text}”"), Some(quote.passage)), "{}: {text}", row.id);
            all += text;
        }
        quoted += usize::from(!quotes.is_empty());
        answered += usize::from(row.facts.iter().all(|fact| all.contains(fact.as_str())));
    }
    println!("quotes for {quoted} of {} questions, the fact in {answered}", rows.len());
    // The words with which documents state what is asked were chosen with these questions in view.
    assert!(answered >= 95, "{answered}");
}

#[test]
fn passages_about_other_equipment_are_not_quoted() {
    let (rows, documents): (Vec<Row>, Vec<Document>) =
        (read("faithfulness/answers.jsonl"), read("plant_corpus/corpus.jsonl"));
    let mut wrong = Vec::new();
    for row in &rows {
        // The documents before and after it in the corpus have the same form, such as data sheets of vessels.
        let position = documents.iter().position(|document| document.id == row.document).unwrap();
        let near = (position.saturating_sub(3)..documents.len().min(position + 4)).filter(|near| *near != position);
        let chunk = |document: &Document| format!("# {}\n\n{}", document.title, document.text);
        let others: Vec<String> = near.map(|near| chunk(&documents[near])).collect();
        let texts: Vec<&str> = others.iter().map(String::as_str).collect();
        let quotes = best_quotes(&row.question, &texts, 3).into_iter();
        wrong.extend(quotes.map(|quote| format!("{}: {} {}", row.id, row.question, &texts[quote.passage][quote.span])));
    }
    assert!(wrong.is_empty(), "{} quotes: {wrong:#?}", wrong.len());
}
