//! Short-lived cache of query vectors and search results, per caller, classification and state of the partition.
//!
//! The cache key contains the change counter of the partition, the revision of the pipeline and the calibration of its model,
//! so entries are never stale. It also contains the caller: response times must not reveal the searches of other callers. Access is checked
//! before the cache is read.

use std::time::Duration;

use pidq_store::domain::model::Pipeline;
use pidq_text::embedding::{Calibration, from_blob, to_blob};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Passage, Relevance, SearchResult, ValidatedSearch};
use crate::api::policies::Policy;
use crate::cluster::cache::{Cache, PASSAGES, VECTORS};
use crate::generation::rag::Context;

/// Cache entry of a search. Without effect if the policy of the classification forbids storing questions.
pub(super) struct CachedSearch<'a> {
    cache: Option<&'a Cache>,
    vector_key: Vec<String>,
    passages_key: Vec<String>,
    calibration: Calibration,
}

/// Serialized form of a search result.
#[derive(Deserialize, Serialize)]
struct CachedResult {
    passages: Vec<CachedPassage>,
    /// Bits of the relevance.
    relevance: Option<u64>,
    has_documents: bool,
}

/// Serialized form of a passage. Scores are stored as bits to stay exact.
#[derive(Deserialize, Serialize)]
struct CachedPassage {
    context: Context,
    title: String,
    metadata: Map<String, Value>,
    /// Scores: combined, sparse and dense.
    scores: [u64; 3],
    rerank: Option<u64>,
}

impl CachedSearch<'_> {
    /// Creates the cache keys of a caller's search in the partition at a change count, with the calibration of the model.
    pub fn new<'a>(
        cache: &'a Cache,
        caller: &str,
        pipeline: &Pipeline,
        (change_count, calibration): (i64, Calibration),
        search: &ValidatedSearch,
    ) -> CachedSearch<'a> {
        let (generation, revision) = (pipeline.generation.to_string(), pipeline.revision.to_string());
        let vector_key = vec![
            caller.to_owned(),
            pipeline.id.clone(),
            generation,
            pipeline.embedding_model.clone(),
            search.classification.clone(),
            search.query.clone(),
        ];
        // An invalid policy is reported elsewhere.
        let retains =
            Policy::for_classification(pipeline, &search.classification).is_ok_and(|policy| policy.retains_answers());
        let min_score = search.min_score.map(f64::to_bits);
        let options = format!("{:?} {} {min_score:x?} {:?} {calibration:?}", search.mode, search.top, search.filter);
        let passages_key = vector_key.iter().cloned().chain([revision, change_count.to_string(), options]).collect();
        CachedSearch { cache: retains.then_some(cache), vector_key, passages_key, calibration }
    }

    pub async fn vector(&self) -> Option<Vec<f32>> {
        from_blob(&self.cache?.get(&VECTORS, &as_strs(&self.vector_key)).await?)
    }

    pub async fn store_vector(&self, vector: &[f32]) {
        if let Some(cache) = self.cache {
            cache.put(&VECTORS, &as_strs(&self.vector_key), to_blob(vector).into()).await;
        }
    }

    pub async fn result(&self) -> Option<SearchResult> {
        let bytes = self.cache?.get(&PASSAGES, &as_strs(&self.passages_key)).await?;
        serde_json::from_slice::<CachedResult>(&bytes).ok().map(|result| result.into_result(self.calibration))
    }

    /// Stores a result. A degraded result, one with warnings, is not stored.
    pub async fn store_result(&self, result: &SearchResult) {
        let bytes = serde_json::to_vec(&CachedResult::from_result(result));
        if let (Some(cache), Ok(bytes), true) = (self.cache, bytes, result.warnings.is_empty()) {
            cache.put(&PASSAGES, &as_strs(&self.passages_key), bytes.into()).await;
        }
    }
}

fn as_strs(strings: &[String]) -> Vec<&str> {
    strings.iter().map(String::as_str).collect()
}

impl CachedResult {
    fn from_result(result: &SearchResult) -> CachedResult {
        CachedResult {
            passages: result.passages.iter().map(CachedPassage::from_passage).collect(),
            relevance: result.relevance.map(|relevance| relevance.score.to_bits()),
            has_documents: result.has_documents,
        }
    }

    fn into_result(self, calibration: Calibration) -> SearchResult {
        let passages = self.passages.into_iter().map(CachedPassage::into_passage).collect();
        SearchResult {
            passages,
            relevance: self.relevance.map(|bits| Relevance::new(f64::from_bits(bits), calibration)),
            has_documents: self.has_documents,
            warnings: Vec::new(),
            durations: [Duration::ZERO; 2],
        }
    }
}

impl CachedPassage {
    fn from_passage(passage: &Passage) -> CachedPassage {
        let [sparse, dense] = passage.scores;
        CachedPassage {
            context: passage.context.clone(),
            title: passage.title.clone(),
            metadata: passage.metadata.clone(),
            scores: [passage.context.score, sparse, dense].map(f64::to_bits),
            rerank: passage.rerank.map(f64::to_bits),
        }
    }

    fn into_passage(self) -> Passage {
        let [score, sparse, dense] = self.scores.map(f64::from_bits);
        Passage {
            context: Context { score, ..self.context },
            title: self.title,
            metadata: self.metadata,
            scores: [sparse, dense],
            rerank: self.rerank.map(f64::from_bits),
        }
    }
}
