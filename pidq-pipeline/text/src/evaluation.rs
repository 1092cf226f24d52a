//! Evaluation of the search on a judged dataset, in every mode.
//!
//! A dataset is a directory in the BEIR format: `corpus.jsonl`, `queries.jsonl`, and `qrels.tsv` or `qrels/test.tsv`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::embedding::CachingEmbedder;
use crate::ranking::metrics::{Judgments, measure};
use crate::search::{Chunk, Document, MODES, Mode, Partition, SearchQuery, chunk_header};

/// Evaluates every mode on the dataset in a directory.
///
/// # Errors
/// Fails if the dataset cannot be read, or its texts cannot be embedded.
pub fn evaluate_beir(dir: &Path, embedder: &CachingEmbedder, weight: f64) -> io::Result<Report> {
    Dataset::read(dir)?.index(embedder, weight)?.report()
}

/// Documents, queries and relevance judgments.
pub struct Dataset {
    documents: Vec<Record>,
    queries: Vec<Record>,
    /// Judgments by query. Queries without an entry are not judged or have no answer.
    judgments: BTreeMap<String, Judgments>,
}

/// A document or a query.
#[derive(Deserialize)]
struct Record {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// An indexed dataset.
pub struct IndexedDataset<'e> {
    dataset: Dataset,
    partition: Partition,
    embedder: &'e CachingEmbedder,
    weight: f64,
}

/// Number of documents embedded at once.
const BATCH_SIZE: usize = 256;
/// Depth of the rankings: that of the deepest metric.
const DEPTH: usize = 100;

impl Dataset {
    /// Reads a dataset.
    ///
    /// # Errors
    /// Fails if a file is missing or a line is invalid.
    pub fn read(dir: &Path) -> io::Result<Self> {
        let qrels = dir.join("qrels.tsv");
        let qrels = if qrels.exists() { qrels } else { dir.join("qrels").join("test.tsv") };
        Ok(Dataset {
            documents: read_lines(&dir.join("corpus.jsonl"))?,
            queries: read_lines(&dir.join("queries.jsonl"))?,
            judgments: read_judgments(&qrels)?,
        })
    }

    /// Indexes the documents in a partition, each as one chunk.
    ///
    /// # Errors
    /// Fails if the documents cannot be embedded.
    pub fn index(mut self, embedder: &CachingEmbedder, weight: f64) -> io::Result<IndexedDataset<'_>> {
        let mut partition = Partition::new(embedder.dimensions());
        let mut documents: Vec<Document> = std::mem::take(&mut self.documents).into_iter().map(document).collect();
        for batch in documents.chunks_mut(BATCH_SIZE) {
            let texts: Vec<String> = batch.iter().map(|document| document.chunks[0].indexed_text()).collect();
            for (document, vector) in batch.iter_mut().zip(embedder.embed(&texts).map_err(io::Error::other)?) {
                document.chunks[0].vector = vector;
            }
        }
        for document in documents {
            partition.put(document).map_err(io::Error::other)?;
        }
        Ok(IndexedDataset { dataset: self, partition, embedder, weight })
    }
}

fn document(text: Record) -> Document {
    let headings = text.metadata.get("headings").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let header = chunk_header(&text.title, headings.iter().filter_map(Value::as_str));
    let span = Some(0..text.text.len());
    let chunk = Chunk { id: text.id.clone(), index: 0, span, header, text: text.text, vector: Vec::new() };
    Document { id: text.id, metadata: text.metadata, chunks: vec![chunk] }
}

fn read_lines<T: DeserializeOwned>(file: &Path) -> io::Result<Vec<T>> {
    let text = fs::read_to_string(file).map_err(|error| read_error(file, error))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).map_err(|error| read_error(file, error))).collect()
}

/// Reads lines of query, document and relevance; a header line is skipped.
fn read_judgments(file: &Path) -> io::Result<BTreeMap<String, Judgments>> {
    let mut judgments: BTreeMap<String, Judgments> = BTreeMap::new();
    let text = fs::read_to_string(file).map_err(|error| read_error(file, error))?;
    for (index, line) in text.lines().enumerate() {
        let mut fields = line.split('\t');
        let (query, document, relevance) = (fields.next(), fields.next(), fields.next());
        match (query, document, relevance.and_then(|relevance| relevance.trim().parse().ok())) {
            (Some(query), Some(document), Some(relevance)) => {
                judgments.entry(query.to_owned()).or_default().insert(document.to_owned(), relevance);
            }
            _ if index == 0 || line.trim().is_empty() => {}
            _ => {
                return Err(read_error(
                    file,
                    format!("line {} must have three fields, the last one a number", index + 1),
                ));
            }
        }
    }
    Ok(judgments)
}

fn read_error(file: &Path, error: impl fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {error}", file.display()))
}

impl IndexedDataset<'_> {
    /// Evaluates every mode on the judged queries.
    ///
    /// # Errors
    /// Fails if a query cannot be embedded.
    pub fn report(&self) -> io::Result<Report> {
        let rows = MODES.iter().map(|&(name, mode)| Ok(Row { mode: name, means: self.means(mode)? }));
        let queries =
            self.dataset.queries.iter().filter(|query| self.dataset.judgments.contains_key(&query.id)).count();
        Ok(Report { documents: self.partition.len(), queries, rows: rows.collect::<io::Result<_>>()? })
    }

    fn means(&self, mode: Mode) -> io::Result<[f64; REPORTED.len()]> {
        let mut sums = [0.0; REPORTED.len()];
        let mut count: f64 = 0.0;
        for query in &self.dataset.queries {
            let Some(judgments) = self.dataset.judgments.get(&query.id) else { continue };
            let ranking = self.ranking(&query.text, mode)?;
            // Scores that keep the order of the ranking.
            let run = ranking.iter().zip((0..DEPTH).rev()).map(|((id, _), score)| (id.clone(), score as f64));
            let measures = measure(&run.collect::<Vec<_>>(), judgments);
            for (sum, reported) in sums.iter_mut().zip(REPORTED) {
                *sum += measures.iter().find(|(name, _)| *name == reported.0).map_or(0.0, |(_, value)| *value);
            }
            count += 1.0;
        }
        Ok(sums.map(|sum| sum / count.max(1.0)))
    }

    /// Returns the documents found for a query with their scores, best first.
    ///
    /// # Errors
    /// Fails if the query cannot be embedded.
    pub fn ranking(&self, text: &str, mode: Mode) -> io::Result<Vec<(String, f64)>> {
        let vectors = self.embedder.embed(&[text.to_owned()]).map_err(io::Error::other)?;
        let vector = vectors.first().map(Vec::as_slice);
        let query = SearchQuery { text, vector, mode, weight: self.weight, top: DEPTH, min_score: 0.0, filter: None };
        let ranked = self.partition.rank(&query, DEPTH);
        Ok(ranked.iter().map(|ranked| (self.partition.chunk_position(ranked).0.to_owned(), ranked.score)).collect())
    }

    /// Returns the probability that a query with an answer has a higher best score than one without: 1 is perfect, 0.5 is
    /// chance. Queries without judgments count as having no answer.
    ///
    /// # Errors
    /// Fails if a query cannot be embedded.
    pub fn separation(&self, mode: Mode) -> io::Result<f64> {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for query in &self.dataset.queries {
            let best = self.ranking(&query.text, mode)?.first().map_or(0.0, |(_, score)| *score);
            let has_answer = self.dataset.judgments.contains_key(&query.id);
            if has_answer { with.push(best) } else { without.push(best) }
        }
        let pairs = with.iter().flat_map(|a| without.iter().map(move |b| (a, b)));
        let wins: f64 = pairs
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
        Ok(wins / (with.len() * without.len()).max(1) as f64)
    }
}

/// Metrics of the report: the name in trec_eval, and the displayed name.
const REPORTED: [(&str, &str); 5] = [
    ("ndcg_cut_10", "nDCG@10"),
    ("recall_5", "recall@5"),
    ("recall_10", "recall@10"),
    ("recall_100", "recall@100"),
    ("recip_rank", "MRR"),
];

/// Result of an evaluation, displayed as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Number of documents.
    pub documents: usize,
    /// Number of judged queries.
    pub queries: usize,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    mode: &'static str,
    means: [f64; REPORTED.len()],
}

impl Report {
    /// Returns a mean by the names of the mode and the metric, such as `("hybrid", "nDCG@10")`.
    pub fn mean(&self, mode: &str, measure: &str) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.mode == mode)?;
        let index = REPORTED.iter().position(|(_, name)| *name == measure)?;
        Some(row.means[index])
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} documents, {} queries", self.documents, self.queries)?;
        write!(f, "{:8}", "mode")?;
        REPORTED.iter().try_for_each(|(_, name)| write!(f, "  {name:>10}"))?;
        for row in &self.rows {
            write!(f, "\n{:8}", row.mode)?;
            row.means.iter().try_for_each(|mean| write!(f, "  {mean:>10.4}"))?;
        }
        Ok(())
    }
}
