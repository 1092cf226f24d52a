//! Handler of `/api/pipelines/{pipeline_id}/search`: passages of documents for a query.

mod search_cache;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pidq_http::{Problem, Request, Response, codes};
use pidq_store::domain::api_key::Verb;
use pidq_store::domain::classification;
use pidq_store::domain::model::{Pipeline, Retrieval};
use pidq_text::embedding::{self, Calibration};
use pidq_text::search::{Chunk, Filter, Hit, MIN_RELEVANCE, Mode, indexed_text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::json_body;
use crate::api::pipeline_access::{find_active_pipeline, require_access};
use crate::api::policies::Policy;
use crate::api::problems::{store_problem, unprocessable, validation};
use crate::api::schema::Uuid;
use crate::background::embedding_outage;
use crate::embedding_registry::problem_code;
use crate::generation::rag::Context;
use crate::net::egress::AllowList;
use crate::platform::Platform;
use crate::retrieval::index_cache::{ChunkInfo, PartitionIndex, SharedIndex};
use crate::retrieval::pgvector::ChunkPosition;
use crate::retrieval::reranker::{CANDIDATES, Reranker};
use search_cache::CachedSearch;

/// Candidates requested from the ANN index; no ranking uses more.
const ANN_CANDIDATES: usize = 200;
/// Default number of hits.
const DEFAULT_TOP_K: u32 = 8;

/// Search for passages.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchRequest {
    /// Question or keywords.
    #[schemars(length(min = 1, max = 8000), extend("$comment" = "PIDQ_QUESTION_LENGTH_LIMIT"))]
    pub query: String,
    /// Classification of the documents to search.
    pub classification: String,
    /// Maximum number of passages. Default: that of the pipeline, or 8.
    #[schemars(range(min = 1, max = 50))]
    pub top_k: Option<u32>,
    /// Search mode. Default: that of the pipeline, or `hybrid`.
    #[schemars(with = "Option<Mode>")]
    pub mode: Option<String>,
    /// Minimum score of a passage. Default: that of the pipeline. Without either, the relevance threshold applies instead.
    pub min_score: Option<f64>,
    /// Condition on the metadata of the documents.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub filter: Option<Value>,
}

/// Passages for a query.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "SearchResult")]
pub(crate) struct SearchResponse<'a> {
    /// The pipeline.
    #[schemars(with = "Uuid")]
    pipeline_id: &'a str,
    /// Classification of the documents.
    classification: &'a str,
    /// The query.
    query: &'a str,
    /// Passages, best first.
    contexts: Vec<SearchHit<'a>>,
    /// Relevance of the passages; none in dense mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Relevance")]
    relevance: Option<Relevance>,
    /// Warnings about a degraded search.
    warnings: &'a [SearchWarning],
    /// Durations, in milliseconds.
    timings_ms: SearchTimings,
}

/// Relevance of a search result to its query.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "SearchRelevance")]
pub(crate) struct Relevance {
    /// Relevance, from 0 to 1.
    pub score: f64,
    /// Relevance below which there are no passages, unless the search has a `min_score`.
    pub threshold: f64,
    /// Cosine of a passage that suffices as well: that of the embedding model. None if vectors do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub min_similarity: Option<f64>,
}

impl Relevance {
    /// Creates the relevance with a score, the threshold of this version and the cosine of the model.
    pub fn new(score: f64, calibration: Calibration) -> Relevance {
        Relevance { score, threshold: MIN_RELEVANCE, min_similarity: calibration.sufficient_similarity() }
    }

    fn is_sufficient(self) -> bool {
        self.score >= self.threshold
    }
}

/// Passage of a document.
#[derive(JsonSchema, Serialize)]
struct SearchHit<'a> {
    #[serde(flatten)]
    context: &'a Context,
    /// Title of the document.
    title: &'a str,
    /// Metadata of the document.
    metadata: &'a Map<String, Value>,
    /// Scores by ranking.
    scores: HitScores,
}

/// Scores of a passage.
#[derive(JsonSchema, Serialize)]
struct HitScores {
    /// By terms (BM25).
    sparse: f64,
    /// By vectors (cosine similarity).
    dense: f64,
    /// By the reranker, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    rerank: Option<f64>,
}

/// Durations of a search, in milliseconds.
#[derive(JsonSchema, Serialize)]
struct SearchTimings {
    /// Embedding of the query.
    embed: u64,
    /// Search.
    search: u64,
    /// All of it.
    total: u64,
}

/// Warning about a degraded search or answer.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "Warning")]
pub(crate) struct SearchWarning {
    /// Code: stable, for programs.
    pub code: &'static str,
    /// Number of the passage that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    pub marker: Option<usize>,
    /// Explanation, for people.
    pub detail: Cow<'static, str>,
}

impl SearchWarning {
    pub fn new(code: &'static str, detail: impl Into<Cow<'static, str>>) -> SearchWarning {
        SearchWarning { code, marker: None, detail: detail.into() }
    }
}

/// A validated search, with the defaults of the pipeline.
pub(crate) struct ValidatedSearch {
    pub query: String,
    pub classification: String,
    pub mode: Mode,
    pub top: usize,
    /// Minimum score of a passage; none for the relevance threshold.
    pub min_score: Option<f64>,
    pub filter: Option<Filter>,
}

/// `POST /api/pipelines/{pipeline_id}/search`.
pub(crate) async fn search(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = find_active_pipeline(platform, &request).await?;
    let body = json_body::parse(&mut request).await?;
    let search_query = parse_query(&pipeline, body, platform.limits.question_length)?;
    require_access(&key, &pipeline, &search_query.classification, Verb::Query)?;
    let (query, classification) = (search_query.query.clone(), search_query.classification.clone());
    let result = run_search(platform, request.principal()?.key(), &pipeline, search_query).await?;
    let [embed, search] = result.durations.map(|time| time.as_millis() as u64);
    let response = Response::json(&SearchResponse {
        pipeline_id: &pipeline.id,
        classification: &classification,
        query: &query,
        contexts: result.passages.iter().map(Passage::hit).collect(),
        relevance: result.relevance,
        warnings: &result.warnings,
        timings_ms: SearchTimings { embed, search, total: embed + search },
    })?;
    Ok(Policy::for_classification(&pipeline, &classification)?.add_no_store(response))
}

/// Parses a search of at most `max_length` characters; missing fields get the defaults of the pipeline.
pub(crate) fn parse_query(
    pipeline: &Pipeline,
    request: SearchRequest,
    max_length: usize,
) -> Result<ValidatedSearch, Problem> {
    let retrieval = &pipeline.options.retrieval;
    let mode_name = request.mode.as_deref().or(retrieval.mode.as_deref()).unwrap_or("hybrid");
    if !(1..=max_length).contains(&request.query.trim().chars().count()) {
        return Err(validation("/query", &format!("A question must have 1 to {max_length} characters.")));
    }
    let top = parse_top_k("", request.top_k.or(retrieval.top_k).unwrap_or(DEFAULT_TOP_K))?;
    let mode = parse_mode("", mode_name)?;
    let filter = request.filter.as_ref().map(Filter::parse).transpose();
    let filter = filter
        .map_err(|error| validation(&format!("/filter{}", error.pointer), &pidq_http::sentence(&error.detail)))?;
    Ok(ValidatedSearch {
        query: request.query,
        classification: classification::normalize(&request.classification),
        mode,
        top,
        min_score: request.min_score.or(retrieval.min_score),
        filter,
    })
}

/// Validates the retrieval defaults of a pipeline by the same rules as a search.
pub(crate) fn validate_retrieval(retrieval: &Retrieval) -> Result<(), Problem> {
    retrieval.top_k.map(|top_k| parse_top_k("/retrieval", top_k)).transpose()?;
    retrieval.mode.as_deref().map(|mode| parse_mode("/retrieval", mode)).transpose()?;
    Ok(())
}

fn parse_top_k(base: &str, top_k: u32) -> Result<usize, Problem> {
    match top_k {
        1..=50 => Ok(top_k as usize),
        _ => Err(validation(&format!("{base}/top_k"), "`top_k` must be from 1 to 50.")),
    }
}

fn parse_mode(base: &str, name: &str) -> Result<Mode, Problem> {
    Mode::find(name).ok_or_else(|| {
        let modes: Vec<&str> = pidq_text::search::MODES.iter().map(|(name, _)| *name).collect();
        unprocessable(codes::VALIDATION, &format!("{base}/mode"), "Unknown mode.").with("allowed", modes)
    })
}

/// Result of a search.
pub(crate) struct SearchResult {
    /// The passages, best first.
    pub passages: Vec<Passage>,
    /// Relevance of the passages, before the threshold; none in dense mode.
    pub relevance: Option<Relevance>,
    /// Warnings about a degraded search.
    pub warnings: Vec<SearchWarning>,
    /// `true` if the partition has documents.
    pub has_documents: bool,
    /// Durations of the query embedding and of the search.
    pub durations: [Duration; 2],
}

/// A passage: the context that an answer may cite, and details shown only by a search.
pub(crate) struct Passage {
    pub context: Context,
    title: String,
    metadata: Map<String, Value>,
    scores: [f64; 2],
    /// Relevance given by the reranker.
    rerank: Option<f64>,
}

impl Passage {
    fn hit(&self) -> SearchHit<'_> {
        let [sparse, dense] = self.scores;
        let scores = HitScores { sparse, dense, rerank: self.rerank };
        SearchHit { context: &self.context, title: &self.title, metadata: &self.metadata, scores }
    }
}

/// Searches the partition of a classification on the thread pool.
pub(crate) async fn run_search(
    platform: &Arc<Platform>,
    caller: &str,
    pipeline: &Pipeline,
    search_query: ValidatedSearch,
) -> Result<SearchResult, Problem> {
    let shared: SharedIndex = platform
        .search
        .indexes
        .get(&platform.store, pipeline, &search_query.classification)
        .await
        .map_err(store_problem)?;
    let started = Instant::now();
    let change_count = shared.read().await.change_count();
    let calibration = platform.search.models.calibration(&pipeline.embedding_model).await;
    let cached =
        CachedSearch::new(&platform.search.cache, caller, pipeline, (change_count, calibration), &search_query);
    if let Some(result) = cached.result().await {
        let durations = [Duration::ZERO, started.elapsed()];
        platform.metrics.record_search(durations);
        return Ok(SearchResult { durations, ..result });
    }
    // The partition is locked only during the search: an embedding service may be slow.
    let (vector, warnings) = query_vector(platform, pipeline, &search_query, &cached).await?;
    let embedded = started.elapsed();
    let candidates = ann_candidates(platform, pipeline, &search_query, &shared, vector.as_deref()).await;
    let index = shared.read_owned().await;
    let is_unchanged = index.change_count() == change_count;
    let (query, classification, top) =
        (search_query.query.clone(), search_query.classification.clone(), search_query.top);
    let depth = if platform.search.reranker.is_some() { top.max(CANDIDATES) } else { top };
    let search = move || search_partition(&index, vector, candidates, calibration, depth, &search_query);
    let mut result = platform.search.search_threads.run_for(caller, || {}, search).await?.value;
    result.warnings = warnings;
    if let Some(reranker) = &platform.search.reranker {
        rerank(
            reranker,
            &query,
            Policy::for_classification(pipeline, &classification)?.llm_allow_list(pipeline)?,
            &mut result,
        )
        .await;
    }
    result.passages.truncate(top);
    result.durations = [embedded, started.elapsed().saturating_sub(embedded)];
    platform.metrics.record_search(result.durations);
    if is_unchanged {
        cached.store_result(&result).await;
    }
    Ok(result)
}

/// Returns the nearest chunks by the ANN index of the database, if the partition is large enough to have one.
async fn ann_candidates(
    platform: &Platform,
    pipeline: &Pipeline,
    search_query: &ValidatedSearch,
    shared: &SharedIndex,
    vector: Option<&[f32]>,
) -> Option<Vec<ChunkPosition>> {
    let (pgvector, vector) = (platform.search.pgvector.as_ref()?, vector?);
    if search_query.filter.is_some() {
        // The nearest chunks overall may contain none that pass the filter.
        return None;
    }
    let index = shared.read().await;
    let as_of = (index.partition.len(), index.change_count());
    drop(index);
    pgvector.nearest(pipeline, &search_query.classification, as_of, vector, ANN_CANDIDATES).await
}

/// Reorders passages with the reranker. If it fails, the order stays and the response has a warning.
async fn rerank(reranker: &Reranker, query: &str, allow: Option<AllowList>, result: &mut SearchResult) {
    if result.passages.len() < 2 {
        return;
    }
    let texts: Vec<String> =
        result.passages.iter().map(|passage| indexed_text(&passage.title, &passage.context.text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match reranker.order(query, &texts, allow).await {
        Ok(order) => {
            let mut remaining: Vec<Option<Passage>> =
                std::mem::take(&mut result.passages).into_iter().map(Some).collect();
            for (index, relevance) in order {
                result
                    .passages
                    .extend(remaining[index].take().map(|passage| Passage { rerank: Some(relevance), ..passage }));
            }
            result.passages.extend(remaining.into_iter().flatten());
        }
        Err(error) => {
            tracing::warn!(%error, "reranking failed; results keep the order of the search");
            let detail = "The reranker did not respond; results are in the order of the search.";
            result.warnings.push(SearchWarning::new("rerank-unavailable", detail));
        }
    }
}

/// Returns the query vector, if the mode needs one. In hybrid mode, a model that is unavailable or no longer the one of the
/// pipeline degrades the search to sparse retrieval, with a warning.
async fn query_vector(
    platform: &Arc<Platform>,
    pipeline: &Pipeline,
    search_query: &ValidatedSearch,
    cached: &CachedSearch<'_>,
) -> Result<(Option<Vec<f32>>, Vec<SearchWarning>), Problem> {
    if search_query.mode == Mode::Sparse {
        return Ok((None, Vec::new()));
    }
    if let Some(vector) = cached.vector().await {
        return Ok((Some(vector), Vec::new()));
    }
    match platform.search.models.embed_query(pipeline, &search_query.classification, &search_query.query).await {
        Ok(vector) => {
            cached.store_vector(&vector).await;
            Ok((Some(vector), Vec::new()))
        }
        Err(error) => {
            embedding_outage::check_in_background(platform, pipeline);
            if search_query.mode == Mode::Dense {
                return Err(embedding_problem(&error));
            }
            let detail = match error {
                embedding::Error::Unavailable { .. } => {
                    "The embedding model does not respond; only sparse retrieval was used."
                }
                embedding::Error::Dimensions { .. } => {
                    "The embedding model returns vectors of another length than those of the pipeline; only sparse retrieval \
                     was used. Restore the model, or reindex the pipeline."
                }
            };
            Ok((None, vec![SearchWarning::new(problem_code(&error).name, detail)]))
        }
    }
}

fn search_partition(
    index: &PartitionIndex,
    vector: Option<Vec<f32>>,
    candidates: Option<Vec<ChunkPosition>>,
    calibration: Calibration,
    top: usize,
    search_query: &ValidatedSearch,
) -> SearchResult {
    let query = pidq_text::search::SearchQuery {
        text: &search_query.query,
        vector: vector.as_deref(),
        mode: search_query.mode,
        calibration,
        top,
        min_score: search_query.min_score.unwrap_or(0.0),
        filter: search_query.filter.as_ref(),
    };
    let hits = index.partition.search_candidates(&query, candidates.as_deref());
    let relevance =
        (query.mode != Mode::Dense).then(|| Relevance::new(index.partition.relevance(&query, &hits), calibration));
    let is_refused = search_query.min_score.is_none() && relevance.is_some_and(|relevance| !relevance.is_sufficient());
    let passages = if is_refused { Vec::new() } else { hits.iter().map(|hit| passage(index, hit)).collect() };
    SearchResult {
        passages,
        relevance,
        warnings: Vec::new(),
        has_documents: !index.partition.is_empty(),
        durations: [Duration::ZERO; 2],
    }
}

fn passage(index: &PartitionIndex, hit: &Hit<'_>) -> Passage {
    let parts: Vec<&ChunkInfo> = hit.chunks.iter().filter_map(|part| index.chunks.get(&part.id)).collect();
    let best = index.chunks.get(&hit.best.id);
    let document = index.documents.get(hit.document);
    let to_usize = |offset: Option<i64>| offset.and_then(|offset| usize::try_from(offset).ok());
    let char_ranges = || parts.iter().filter_map(|part| part.char_range);
    let gap = |chunk: &Chunk| index.chunks.get(&chunk.id)?.gap.as_deref();
    let mut tags: Vec<String> = Vec::new();
    for tag in parts.iter().flat_map(|part| &part.tags) {
        if !tags.contains(tag) {
            tags.push(tag.clone());
        }
    }
    let context = Context {
        document_id: Some(hit.document.to_owned()),
        revision: document.and_then(|document| u64::try_from(document.revision).ok()).unwrap_or(0),
        filename: document.map(|document| document.filename.clone()).unwrap_or_default(),
        chunk_id: Some(hit.best.id.clone()),
        page: best.and_then(|chunk| chunk.page).and_then(|page| u32::try_from(page).ok()),
        start: to_usize(char_ranges().map(|range| range.0).min()),
        end: to_usize(char_ranges().map(|range| range.1).max()),
        text: hit.text_with(gap),
        score: hit.score,
        tags,
        nodes: Vec::new(),
        graph: None,
    };
    let title = document.map(|document| document.title.clone()).unwrap_or_default();
    Passage { context, title, metadata: hit.metadata.clone(), scores: [hit.sparse, hit.dense], rerank: None }
}

fn embedding_problem(error: &embedding::Error) -> Problem {
    Problem::new(problem_code(error)).detail(pidq_http::sentence(&error.to_string())).retry_after(5)
}
