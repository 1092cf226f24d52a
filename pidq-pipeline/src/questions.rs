//! `/api/pipelines/{pipeline_id}/search`: what documents say about a question.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pidq_http::{Problem, Request, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answer::Context;
use crate::embedding::{self, Embedder};
use crate::indexes::{Index, Shared, Shown};
use crate::keys::Verb;
use crate::pipelines::{self, known_members, must};
use crate::platform::Platform;
use crate::problems::{stored, unprocessable, validation};
use crate::records::Pipeline;
use crate::search::{Filter, Hit, Mode, Question};

/// The longest question, in characters.
const LONGEST: usize = 8000;
/// How many hits a question gets if nobody says.
const TOP: u32 = 8;

/// What a search asks.
#[derive(Deserialize)]
pub(crate) struct Asked {
    pub query: String,
    pub classification: String,
    top_k: Option<u32>,
    mode: Option<String>,
    min_score: Option<f64>,
    filter: Option<Value>,
}

/// The members of a search; a query has them too.
pub(crate) const MEMBERS: &[&str] = &["query", "classification", "top_k", "mode", "min_score", "filter"];

/// A question that was understood.
pub(crate) struct Wanted {
    pub query: String,
    pub classification: String,
    pub mode: Mode,
    pub top: usize,
    pub min_score: f64,
    pub filter: Option<Filter>,
}

/// `POST /api/pipelines/{pipeline_id}/search`.
pub(crate) async fn search(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = pipelines::of(platform, &request).await?;
    let body: Map<String, Value> = request.object().await?;
    known_members(&body, MEMBERS)?;
    let wanted = understood(&pipeline, body)?;
    must(&key, &pipeline, &wanted.classification, Verb::Query)?;
    let (query, classification) = (wanted.query.clone(), wanted.classification.clone());
    let found = find(platform, &request.principal()?.key(), &pipeline, wanted).await?;
    let results: Vec<_> = found.passages.iter().map(Passage::show).collect();
    Response::json(&json!({
        "pipeline_id": pipeline.id, "classification": classification, "query": query, "results": results,
    }))
}

/// The members of a body as a question, with what the pipeline says where the caller does not.
pub(crate) fn understood(pipeline: &Pipeline, body: Map<String, Value>) -> Result<Wanted, Problem> {
    let asked: Asked = serde_json::from_value(Value::Object(body))
        .map_err(|error| validation("", &pidq_http::sentence(&error.to_string())))?;
    let retrieval = &pipeline.options.retrieval;
    let mode = asked.mode.as_deref().or(retrieval.mode.as_deref()).unwrap_or("hybrid");
    let top = asked.top_k.or(retrieval.top_k).unwrap_or(TOP);
    if !(1..=LONGEST).contains(&asked.query.trim().chars().count()) {
        return Err(validation("/query", &format!("A question has 1 to {LONGEST} characters.")));
    }
    if !(1..=50).contains(&top) {
        return Err(validation("/top_k", "`top_k` is from 1 to 50."));
    }
    let mode = Mode::find(mode).ok_or_else(|| {
        let modes: Vec<&str> = crate::search::MODES.iter().map(|(name, _)| *name).collect();
        unprocessable("validation", "/mode", "There is no such mode.").with("allowed", modes)
    })?;
    let filter = asked.filter.as_ref().map(Filter::parse).transpose();
    let filter =
        filter.map_err(|bad| validation(&format!("/filter{}", bad.pointer), &pidq_http::sentence(&bad.detail)))?;
    Ok(Wanted {
        query: asked.query,
        classification: asked.classification.trim().to_owned(),
        mode,
        top: top as usize,
        min_score: asked.min_score.or(retrieval.min_score).unwrap_or(0.0),
        filter,
    })
}

/// What was found for a question.
pub(crate) struct Found {
    /// The passages, best first.
    pub passages: Vec<Passage>,
    /// Whether there was anything to search in.
    pub has_documents: bool,
    /// How long the question took to become a vector, and the search to be done.
    pub took: [Duration; 2],
}

/// A passage: what an answer may cite, and what only a search shows.
pub(crate) struct Passage {
    pub context: Context,
    title: String,
    metadata: Map<String, Value>,
    scores: [f64; 2],
}

impl Passage {
    fn show(&self) -> Value {
        let mut shown = serde_json::to_value(&self.context).unwrap_or_default();
        shown["title"] = self.title.as_str().into();
        shown["metadata"] = self.metadata.clone().into();
        shown["scores"] = json!({"sparse": self.scores[0], "dense": self.scores[1]});
        shown
    }
}

/// Searches the partition of a label for somebody, on the threads for such work.
pub(crate) async fn find(
    platform: &Arc<Platform>,
    who: &str,
    pipeline: &Pipeline,
    wanted: Wanted,
) -> Result<Found, Problem> {
    let shared: Shared =
        platform.indexes.of(&platform.store, pipeline, &wanted.classification).await.map_err(stored)?;
    let model = platform.models.open(&pipeline.embedding_model).map_err(|error| unembedded(&error))?;
    let weight = embedding::find(&pipeline.embedding_model).map_or(1.0, |model| model.weight);
    let index = shared.read_owned().await;
    let search = move || search_in(&index, &*model, weight, &wanted);
    platform.work.run_for(who, || {}, search).await?.value.map_err(|error| unembedded(&error))
}

fn search_in(index: &Index, model: &dyn Embedder, weight: f64, wanted: &Wanted) -> Result<Found, embedding::Error> {
    let begun = Instant::now();
    let vector = match wanted.mode {
        Mode::Sparse => None,
        _ => model.embed(std::slice::from_ref(&wanted.query))?.pop(),
    };
    let embedded = begun.elapsed();
    let question = Question {
        text: &wanted.query,
        vector: vector.as_deref(),
        mode: wanted.mode,
        weight,
        top: wanted.top,
        min_score: wanted.min_score,
        filter: wanted.filter.as_ref(),
    };
    let passages = index.partition.search(&question).iter().map(|hit| passage(index, hit)).collect();
    let took = [embedded, begun.elapsed().saturating_sub(embedded)];
    Ok(Found { passages, has_documents: !index.partition.is_empty(), took })
}

fn passage(index: &Index, hit: &Hit<'_>) -> Passage {
    let parts: Vec<&Shown> = hit.chunks.iter().filter_map(|part| index.chunks.get(&part.id)).collect();
    let best = index.chunks.get(&hit.best.id);
    let known = index.documents.get(hit.document);
    let place = |at: Option<i64>| at.and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
    let mut tags: Vec<String> = Vec::new();
    for tag in parts.iter().flat_map(|part| &part.tags) {
        if !tags.contains(tag) {
            tags.push(tag.clone());
        }
    }
    let context = Context {
        document_id: hit.document.to_owned(),
        revision: known.and_then(|known| u64::try_from(known.revision).ok()).unwrap_or(0),
        filename: known.map(|known| known.filename.clone()).unwrap_or_default(),
        chunk_id: hit.best.id.clone(),
        page: best.and_then(|shown| shown.page).and_then(|page| u32::try_from(page).ok()),
        start: place(parts.first().and_then(|part| part.place).map(|place| place.0)),
        end: place(parts.last().and_then(|part| part.place).map(|place| place.1)),
        text: hit.text(),
        score: hit.score,
        tags,
        nodes: Vec::new(),
    };
    let title = known.map(|known| known.title.clone()).unwrap_or_default();
    Passage { context, title, metadata: hit.metadata.clone(), scores: [hit.sparse, hit.dense] }
}

fn unembedded(error: &embedding::Error) -> Problem {
    Problem::unavailable("embedding-unavailable", pidq_http::sentence(&error.to_string()), 5)
}
