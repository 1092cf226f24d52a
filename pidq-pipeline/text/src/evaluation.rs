//! Evaluation of the search on a judged dataset, in every mode.
//!
//! A dataset is a directory in the BEIR format: `corpus.jsonl`, `queries.jsonl`, and `qrels.tsv` or `qrels/*.tsv`.

mod bootstrap;
mod calibration;
mod report;
mod unrelated;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::embedding::{CachingEmbedder, Calibration};
use crate::ranking::metrics::{Judgments, measure};
use crate::search::{Chunk, Document, MIN_RELEVANCE, MODES, Mode, Partition, SearchQuery, chunk_header};
pub use calibration::{Measurement, measure_calibration};
pub use report::{Gate, Report};
use report::{REPORTED, Row};
use unrelated::UNRELATED_QUESTIONS;

/// Evaluates every mode on the dataset in a directory.
///
/// # Errors
/// Fails if the dataset cannot be read, or its texts cannot be embedded.
pub fn evaluate_beir(dir: &Path, embedder: &CachingEmbedder, calibration: Calibration) -> io::Result<Report> {
    Dataset::read(dir)?.index(embedder, calibration)?.report()
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
    calibration: Calibration,
}

/// Number of documents embedded at once.
const BATCH_SIZE: usize = 256;
/// Depth of the rankings: that of the deepest metric.
const DEPTH: usize = 100;
/// Number of hits of a search whose relevance is computed: the default of the platform.
const HITS: usize = 8;

impl Dataset {
    /// Reads a dataset.
    ///
    /// # Errors
    /// Fails if a file is missing or a line is invalid.
    pub fn read(dir: &Path) -> io::Result<Self> {
        let qrels = judgments_file(dir)?;
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
    pub fn index(mut self, embedder: &CachingEmbedder, calibration: Calibration) -> io::Result<IndexedDataset<'_>> {
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
        Ok(IndexedDataset { dataset: self, partition, embedder, calibration })
    }
}

/// Returns the file with the judgments: `qrels.tsv`, else `qrels/test.tsv`, else the first file in `qrels` by name.
fn judgments_file(dir: &Path) -> io::Result<PathBuf> {
    let folder = dir.join("qrels");
    let usual = [dir.join("qrels.tsv"), folder.join("test.tsv")];
    if let Some(file) = usual.into_iter().find(|file| file.exists()) {
        return Ok(file);
    }
    let entries = fs::read_dir(&folder).map_err(|error| read_error(&folder, error))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "tsv"));
    files.sort_unstable();
    files.into_iter().next().ok_or_else(|| read_error(&folder, "no file *.tsv"))
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
        let rows = MODES.iter().map(|&(name, mode)| Ok(Row::new(name, &self.values(mode)?)));
        let rows = rows.collect::<io::Result<Vec<Row>>>()?;
        Ok(Report::new(self.partition.len(), self.judged_queries().count(), rows, self.gate()?))
    }

    fn judged_queries(&self) -> impl Iterator<Item = (&Record, &Judgments)> {
        let queries = self.dataset.queries.iter();
        queries.filter_map(|query| Some((query, self.dataset.judgments.get(&query.id)?)))
    }

    /// Returns the metrics of every judged query.
    fn values(&self, mode: Mode) -> io::Result<Vec<[f64; REPORTED.len()]>> {
        let values = self.judged_queries().map(|(query, judgments)| -> io::Result<_> {
            let ranking = self.ranking(&query.text, mode)?;
            // Scores that keep the order of the ranking.
            let run = ranking.iter().zip((0..DEPTH).rev()).map(|((id, _), score)| (id.clone(), score as f64));
            let measures = measure(&run.collect::<Vec<_>>(), judgments);
            let value = |name| measures.iter().find(|(found, _)| *found == name).map_or(0.0, |(_, value)| *value);
            Ok(REPORTED.map(|(name, _)| value(name)))
        });
        values.collect()
    }

    /// Returns the decisions of the relevance gate in hybrid mode.
    fn gate(&self) -> io::Result<Gate> {
        let refused = |texts: &[&str]| -> io::Result<f64> {
            let relevances = texts.iter().map(|text| self.relevance(text)).collect::<io::Result<Vec<f64>>>()?;
            let refused = relevances.iter().filter(|relevance| **relevance < MIN_RELEVANCE).count();
            Ok(refused as f64 / texts.len().max(1) as f64)
        };
        let judged: Vec<&str> = self.judged_queries().map(|(query, _)| query.text.as_str()).collect();
        let (false_refusals, refusals) = (refused(&judged)?, refused(UNRELATED_QUESTIONS)?);
        let min_similarity = self.calibration.sufficient_similarity();
        Ok(Gate { threshold: MIN_RELEVANCE, min_similarity, false_refusals, false_accepts: 1.0 - refusals })
    }

    fn relevance(&self, text: &str) -> io::Result<f64> {
        let vector = self.vector(text)?;
        let query = SearchQuery { top: HITS, ..self.query(text, &vector, Mode::Hybrid) };
        Ok(self.partition.relevance(&query, &self.partition.search(&query)))
    }

    /// Returns the highest cosine of a passage and an unrelated question.
    fn unrelated_similarity(&self) -> io::Result<f64> {
        let mut highest = 0.0_f64;
        for text in UNRELATED_QUESTIONS {
            let vector = self.vector(text)?;
            let hits = self.partition.rank(&self.query(text, &vector, Mode::Dense), 1);
            highest = hits.first().map_or(highest, |hit| highest.max(hit.dense));
        }
        Ok(highest)
    }

    fn vector(&self, text: &str) -> io::Result<Vec<f32>> {
        let vectors = self.embedder.embed(&[text.to_owned()]).map_err(io::Error::other)?;
        Ok(vectors.into_iter().next().unwrap_or_default())
    }

    fn query<'q>(&self, text: &'q str, vector: &'q [f32], mode: Mode) -> SearchQuery<'q> {
        let calibration = self.calibration;
        SearchQuery { text, vector: Some(vector), mode, calibration, top: DEPTH, min_score: 0.0, filter: None }
    }

    /// Returns the documents found for a query with their scores, best first.
    ///
    /// # Errors
    /// Fails if the query cannot be embedded.
    pub fn ranking(&self, text: &str, mode: Mode) -> io::Result<Vec<(String, f64)>> {
        let vector = self.vector(text)?;
        let ranked = self.partition.rank(&self.query(text, &vector, mode), DEPTH);
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
