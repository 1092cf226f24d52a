//! `/api/pipelines/{pipeline_id}/search`: what documents say about a question.

use std::sync::Arc;

use pidq_http::{Problem, Request, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::indexes::{Index, Shared};
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

const MEMBERS: &[&str] = &["query", "classification", "top_k", "mode", "min_score", "filter"];

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
    let found = find(platform, &pipeline, wanted).await?;
    Response::json(&json!({
        "pipeline_id": pipeline.id, "classification": classification, "query": query, "results": found,
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

/// What is found, best first, as the interface shows it.
pub(crate) async fn find(platform: &Arc<Platform>, pipeline: &Pipeline, wanted: Wanted) -> Result<Vec<Value>, Problem> {
    let shared: Shared =
        platform.indexes.of(&platform.store, pipeline, &wanted.classification).await.map_err(stored)?;
    let model = platform.models.open(&pipeline.embedding_model).map_err(|error| unembedded(&error))?;
    let index = shared.read_owned().await;
    let searched = tokio::task::spawn_blocking(move || {
        let vector = match wanted.mode {
            Mode::Sparse => None,
            _ => model.embed(std::slice::from_ref(&wanted.query))?.pop(),
        };
        let question = Question {
            text: &wanted.query,
            vector: vector.as_deref(),
            mode: wanted.mode,
            weight: 1.0,
            top: wanted.top,
            min_score: wanted.min_score,
            filter: wanted.filter.as_ref(),
        };
        Ok(index.partition.search(&question).iter().map(|hit| shown(&index, hit)).collect::<Vec<_>>())
    });
    let found = searched.await.map_err(|error| {
        tracing::error!(%error, "a search gave up");
        Problem::internal()
    })?;
    found.map_err(|error: crate::embedding::Error| unembedded(&error))
}

fn shown(index: &Index, hit: &Hit<'_>) -> Value {
    let chunk = |id: &str| index.chunks.get(id);
    let (first, last) = (hit.chunks.first(), hit.chunks.last());
    let start = first.and_then(|first| chunk(&first.id)).and_then(|shown| shown.place).map(|place| place.0);
    let end = last.and_then(|last| chunk(&last.id)).and_then(|shown| shown.place).map(|place| place.1);
    let mut tags: Vec<&str> = Vec::new();
    for tag in hit.chunks.iter().filter_map(|part| chunk(&part.id)).flat_map(|shown| &shown.tags) {
        if !tags.contains(&tag.as_str()) {
            tags.push(tag);
        }
    }
    json!({
        "document_id": hit.document, "title": index.title(hit.document),
        "revision": index.documents.get(hit.document).map(|known| known.revision),
        "chunk_id": hit.best.id, "page": chunk(&hit.best.id).and_then(|shown| shown.page),
        "start": start, "end": end, "text": hit.text(), "tags": tags, "metadata": hit.metadata,
        "score": hit.score, "scores": {"sparse": hit.sparse, "dense": hit.dense},
    })
}

fn unembedded(error: &crate::embedding::Error) -> Problem {
    Problem::unavailable("embedding-unavailable", pidq_http::sentence(&error.to_string()), 5)
}
