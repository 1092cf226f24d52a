//! How well a set of judged questions is answered by the search, in every mode.
//!
//! A set is a folder as BEIR has it: `corpus.jsonl`, `queries.jsonl`, and `qrels.tsv` or `qrels/test.tsv`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::embedding::Encoder;
use crate::ranking::metrics::{Judged, measure};
use crate::search::{Chunk, Document, MODES, Mode, Partition, Question, context};

/// Measures every mode on the set of a folder.
///
/// # Errors
/// If the set cannot be read, or its texts cannot be embedded.
pub fn beir(folder: &Path, encoder: &Encoder, weight: f64) -> io::Result<Report> {
    Set::read(folder)?.index(encoder, weight)?.report()
}

/// Documents, questions, and which documents answer which.
pub struct Set {
    documents: Vec<Text>,
    questions: Vec<Text>,
    /// By question. Questions that are not here have not been judged, or have no answer.
    judged: BTreeMap<String, Judged>,
}

/// A document or a question.
#[derive(Deserialize)]
struct Text {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// A set that can be searched.
pub struct Indexed<'e> {
    set: Set,
    partition: Partition,
    encoder: &'e Encoder,
    weight: f64,
}

/// So many documents are embedded at once.
const BATCH: usize = 256;
/// Rankings are as deep as the deepest measure.
const DEPTH: usize = 100;

impl Set {
    /// Reads a set.
    ///
    /// # Errors
    /// If a file is missing, or a line of it is not as it should be.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let judged = folder.join("qrels.tsv");
        let judged = if judged.exists() { judged } else { folder.join("qrels").join("test.tsv") };
        Ok(Set {
            documents: read_lines(&folder.join("corpus.jsonl"))?,
            questions: read_lines(&folder.join("queries.jsonl"))?,
            judged: read_judged(&judged)?,
        })
    }

    /// Puts the documents into a partition, each as one chunk.
    ///
    /// # Errors
    /// If they cannot be embedded.
    pub fn index(mut self, encoder: &Encoder, weight: f64) -> io::Result<Indexed<'_>> {
        let mut partition = Partition::new(encoder.dimensions());
        let mut documents: Vec<Document> = std::mem::take(&mut self.documents).into_iter().map(document).collect();
        for batch in documents.chunks_mut(BATCH) {
            let texts: Vec<String> = batch.iter().map(|document| document.chunks[0].indexed()).collect();
            for (document, vector) in batch.iter_mut().zip(encoder.embed(&texts).map_err(io::Error::other)?) {
                document.chunks[0].vector = vector;
            }
        }
        for document in documents {
            partition.put(document).map_err(io::Error::other)?;
        }
        Ok(Indexed { set: self, partition, encoder, weight })
    }
}

fn document(text: Text) -> Document {
    let headings = text.metadata.get("headings").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let context = context(&text.title, headings.iter().filter_map(Value::as_str));
    let span = Some(0..text.text.len());
    let chunk = Chunk { id: text.id.clone(), index: 0, span, context, text: text.text, vector: Vec::new() };
    Document { id: text.id, metadata: text.metadata, chunks: vec![chunk] }
}

fn read_lines<T: DeserializeOwned>(file: &Path) -> io::Result<Vec<T>> {
    let text = fs::read_to_string(file).map_err(|error| bad(file, error))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).map_err(|error| bad(file, error))).collect()
}

/// Question, document, relevance; a first line of names is passed over.
fn read_judged(file: &Path) -> io::Result<BTreeMap<String, Judged>> {
    let mut judged: BTreeMap<String, Judged> = BTreeMap::new();
    let text = fs::read_to_string(file).map_err(|error| bad(file, error))?;
    for (at, line) in text.lines().enumerate() {
        let mut fields = line.split('\t');
        let (question, document, relevance) = (fields.next(), fields.next(), fields.next());
        match (question, document, relevance.and_then(|relevance| relevance.trim().parse().ok())) {
            (Some(question), Some(document), Some(relevance)) => {
                judged.entry(question.to_owned()).or_default().insert(document.to_owned(), relevance);
            }
            _ if at == 0 || line.trim().is_empty() => {}
            _ => return Err(bad(file, format!("line {} is not three fields with a number at last", at + 1))),
        }
    }
    Ok(judged)
}

fn bad(file: &Path, error: impl fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", file.display()))
}

impl Indexed<'_> {
    /// Measures every mode on the questions that were judged.
    ///
    /// # Errors
    /// If a question cannot be embedded.
    pub fn report(&self) -> io::Result<Report> {
        let rows = MODES.iter().map(|&(name, mode)| Ok(Row { mode: name, means: self.means(mode)? }));
        let questions = self.set.questions.iter().filter(|question| self.set.judged.contains_key(&question.id)).count();
        Ok(Report { documents: self.partition.len(), questions, rows: rows.collect::<io::Result<_>>()? })
    }

    fn means(&self, mode: Mode) -> io::Result<[f64; SHOWN.len()]> {
        let mut sums = [0.0; SHOWN.len()];
        let mut count: f64 = 0.0;
        for question in &self.set.questions {
            let Some(judged) = self.set.judged.get(&question.id) else { continue };
            let found = self.ranking(&question.text, mode)?;
            let places = found.iter().zip((0..DEPTH).rev()).map(|((id, _), place)| (id.clone(), place as f64));
            let measures = measure(&places.collect::<Vec<_>>(), judged);
            for (sum, shown) in sums.iter_mut().zip(SHOWN) {
                *sum += measures.iter().find(|(name, _)| *name == shown.0).map_or(0.0, |(_, value)| *value);
            }
            count += 1.0;
        }
        Ok(sums.map(|sum| sum / count.max(1.0)))
    }

    /// The documents found for a question with their scores, best first.
    ///
    /// # Errors
    /// If the question cannot be embedded.
    pub fn ranking(&self, text: &str, mode: Mode) -> io::Result<Vec<(String, f64)>> {
        let vectors = self.encoder.embed(&[text.to_owned()]).map_err(io::Error::other)?;
        let vector = vectors.first().map(Vec::as_slice);
        let question = Question { text, vector, mode, weight: self.weight, top: DEPTH, min_score: 0.0, filter: None };
        let ranked = self.partition.rank(&question, DEPTH);
        Ok(ranked.iter().map(|ranked| (self.partition.ranked(ranked).0.to_owned(), ranked.score)).collect())
    }

    /// How often a question with an answer has a better best score than one without: 1 is always, 0.5 is chance.
    /// Every question that was not judged is taken for one without an answer.
    ///
    /// # Errors
    /// If a question cannot be embedded.
    pub fn separation(&self, mode: Mode) -> io::Result<f64> {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for question in &self.set.questions {
            let best = self.ranking(&question.text, mode)?.first().map_or(0.0, |(_, score)| *score);
            let answered = self.set.judged.contains_key(&question.id);
            if answered { with.push(best) } else { without.push(best) }
        }
        let pairs = with.iter().flat_map(|a| without.iter().map(move |b| (a, b)));
        let won: f64 = pairs
            .map(|(a, b)| {
                if a > b {
                    1.0
                } else if a == b {
                    0.5
                } else {
                    0.0
                }
            })
            .sum();
        Ok(won / (with.len() * without.len()).max(1) as f64)
    }
}

/// The measures that are shown: the name in trec_eval, and ours.
const SHOWN: [(&str, &str); 5] = [
    ("ndcg_cut_10", "nDCG@10"),
    ("recall_5", "recall@5"),
    ("recall_10", "recall@10"),
    ("recall_100", "recall@100"),
    ("recip_rank", "MRR"),
];

/// What was measured. It prints as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How many documents there are.
    pub documents: usize,
    /// How many questions were judged.
    pub questions: usize,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    mode: &'static str,
    means: [f64; SHOWN.len()],
}

impl Report {
    /// A mean by the names of the mode and the measure: `("hybrid", "nDCG@10")`.
    pub fn mean(&self, mode: &str, measure: &str) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.mode == mode)?;
        let at = SHOWN.iter().position(|(_, shown)| *shown == measure)?;
        Some(row.means[at])
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} documents, {} questions", self.documents, self.questions)?;
        write!(f, "{:8}", "mode")?;
        SHOWN.iter().try_for_each(|(_, shown)| write!(f, "  {shown:>10}"))?;
        for row in &self.rows {
            write!(f, "\n{:8}", row.mode)?;
            row.means.iter().try_for_each(|mean| write!(f, "  {mean:>10.4}"))?;
        }
        Ok(())
    }
}
