//! `/api/pipelines/{pipeline_id}/search`: what documents say about a question.

mod remembered;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pidq_http::{Problem, Request, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answer::Context;
use crate::bodies;
use crate::egress::AllowList;
use crate::embedding;
use crate::indexes::{Index, Shared, Shown};
use crate::keys::Verb;
use crate::labels;
use crate::near::Place;
use crate::outages;
use crate::pipelines::{self, known_members, must};
use crate::platform::Platform;
use crate::policies::Policy;
use crate::problems::{stored, unprocessable, validation};
use crate::records::{Pipeline, Retrieval};
use crate::rerank::{CANDIDATES, Reranker};
use crate::search::{Chunk, Filter, Hit, Mode, Question, indexed};
use remembered::Remembered;

/// How many chunks an index is asked for: no ranking goes deeper.
const NEAREST: usize = 200;
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
    let (pipeline, key) = pipelines::staying(platform, &request).await?;
    let body: Map<String, Value> = request.object().await?;
    known_members(&body, MEMBERS)?;
    let wanted = understood(&pipeline, body, platform.limits.question)?;
    must(&key, &pipeline, &wanted.classification, Verb::Query)?;
    let (query, classification) = (wanted.query.clone(), wanted.classification.clone());
    let found = find(platform, request.principal()?.key(), &pipeline, wanted).await?;
    let contexts: Vec<_> = found.passages.iter().map(Passage::show).collect();
    let [embed, search] = found.took.map(|time| time.as_millis() as u64);
    let response = Response::json(&json!({
        "pipeline_id": pipeline.id, "classification": classification, "query": query, "contexts": contexts,
        "warnings": found.warnings, "timings_ms": {"embed": embed, "search": search, "total": embed + search},
    }))?;
    Ok(Policy::of(&pipeline, &classification)?.unkept(response))
}

/// The members of a body as a question of so many characters at most, with what the pipeline says where the caller does
/// not.
pub(crate) fn understood(pipeline: &Pipeline, body: Map<String, Value>, longest: usize) -> Result<Wanted, Problem> {
    let asked: Asked = bodies::read(body)?;
    let retrieval = &pipeline.options.retrieval;
    let named = asked.mode.as_deref().or(retrieval.mode.as_deref()).unwrap_or("hybrid");
    if !(1..=longest).contains(&asked.query.trim().chars().count()) {
        return Err(validation("/query", &format!("A question has 1 to {longest} characters.")));
    }
    let top = top("", asked.top_k.or(retrieval.top_k).unwrap_or(TOP))?;
    let mode = mode("", named)?;
    let filter = asked.filter.as_ref().map(Filter::parse).transpose();
    let filter =
        filter.map_err(|bad| validation(&format!("/filter{}", bad.pointer), &pidq_http::sentence(&bad.detail)))?;
    Ok(Wanted {
        query: asked.query,
        classification: labels::normal(&asked.classification),
        mode,
        top,
        min_score: asked.min_score.or(retrieval.min_score).unwrap_or(0.0),
        filter,
    })
}

/// What a pipeline says of how it is searched: what no question could say is refused here.
pub(crate) fn check(retrieval: &Retrieval) -> Result<(), Problem> {
    retrieval.top_k.map(|given| top("/retrieval", given)).transpose()?;
    retrieval.mode.as_deref().map(|given| mode("/retrieval", given)).transpose()?;
    Ok(())
}

fn top(place: &str, given: u32) -> Result<usize, Problem> {
    match given {
        1..=50 => Ok(given as usize),
        _ => Err(validation(&format!("{place}/top_k"), "`top_k` is from 1 to 50.")),
    }
}

fn mode(place: &str, name: &str) -> Result<Mode, Problem> {
    Mode::find(name).ok_or_else(|| {
        let modes: Vec<&str> = crate::search::MODES.iter().map(|(name, _)| *name).collect();
        unprocessable("validation", &format!("{place}/mode"), "There is no such mode.").with("allowed", modes)
    })
}

/// What was found for a question.
pub(crate) struct Found {
    /// The passages, best first.
    pub passages: Vec<Passage>,
    /// What was done otherwise than was asked: objects with `code` and `detail`.
    pub warnings: Vec<Value>,
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
    /// What a reranker says of it.
    rerank: Option<f64>,
}

impl Passage {
    fn show(&self) -> Value {
        let mut shown = serde_json::to_value(&self.context).unwrap_or_default();
        shown["title"] = self.title.as_str().into();
        shown["metadata"] = self.metadata.clone().into();
        shown["scores"] = json!({"sparse": self.scores[0], "dense": self.scores[1]});
        if let Some(relevance) = self.rerank {
            shown["scores"]["rerank"] = relevance.into();
        }
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
    let begun = Instant::now();
    let changes = shared.read().await.changes();
    let asked = Remembered::of(&platform.cache, who, pipeline, changes, &wanted);
    if let Some(found) = asked.found().await {
        let took = [Duration::ZERO, begun.elapsed()];
        platform.meters.searched(took);
        return Ok(Found { took, ..found });
    }
    // The partition is held only while it is searched: a service may take its time.
    let (vector, warnings) = vector(platform, pipeline, &wanted, &asked).await?;
    let embedded = begun.elapsed();
    let weight = embedding::find(&pipeline.embedding_model).map_or(1.0, |model| model.weight);
    let near = near(platform, pipeline, &wanted, &shared, vector.as_deref()).await;
    let index = shared.read_owned().await;
    let is_as_asked = index.changes() == changes;
    let (query, label, top) = (wanted.query.clone(), wanted.classification.clone(), wanted.top);
    let depth = if platform.reranker.is_some() { top.max(CANDIDATES) } else { top };
    let search = move || search_in(&index, vector, near, weight, depth, &wanted);
    let mut found = platform.work.run_for(who, || {}, search).await?.value;
    found.warnings = warnings;
    if let Some(reranker) = &platform.reranker {
        arrange(reranker, &query, Policy::of(pipeline, &label)?.allowed(pipeline)?, &mut found).await;
    }
    found.passages.truncate(top);
    found.took = [embedded, begun.elapsed().saturating_sub(embedded)];
    platform.meters.searched(found.took);
    if is_as_asked {
        asked.keep(&found).await;
    }
    Ok(found)
}

/// The chunks that an index of the database names as near, where the partition is so large that it has one.
async fn near(
    platform: &Platform,
    pipeline: &Pipeline,
    wanted: &Wanted,
    shared: &Shared,
    vector: Option<&[f32]>,
) -> Option<Vec<Place>> {
    let (near, vector) = (platform.near.as_ref()?, vector?);
    if wanted.filter.is_some() {
        // Of what a filter leaves, none may be among the nearest of all.
        return None;
    }
    let index = shared.read().await;
    let as_of = (index.partition.len(), index.changes());
    drop(index);
    near.nearest(pipeline, &wanted.classification, as_of, vector, NEAREST).await
}

/// Puts passages into the order of a service. Without it they stay as they were found, and the answer says so.
async fn arrange(reranker: &Reranker, query: &str, allow: Option<AllowList>, found: &mut Found) {
    if found.passages.len() < 2 {
        return;
    }
    let texts: Vec<String> = found.passages.iter().map(|found| indexed(&found.title, &found.context.text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match reranker.order(query, &texts, allow).await {
        Ok(order) => {
            let mut rest: Vec<Option<Passage>> = std::mem::take(&mut found.passages).into_iter().map(Some).collect();
            for (number, relevance) in order {
                found
                    .passages
                    .extend(rest[number].take().map(|passage| Passage { rerank: Some(relevance), ..passage }));
            }
            found.passages.extend(rest.into_iter().flatten());
        }
        Err(error) => {
            tracing::warn!(%error, "what was found was not put into a better order");
            let detail = "The reranker did not answer: this is the order of the search.";
            found.warnings.push(json!({"code": "rerank-unavailable", "detail": detail}));
        }
    }
}

/// The vector of a question, if its mode wants one. Where words are asked as well, they answer alone while the model
/// does not: less is found than could be, and the answer says so.
async fn vector(
    platform: &Arc<Platform>,
    pipeline: &Pipeline,
    wanted: &Wanted,
    asked: &Remembered<'_>,
) -> Result<(Option<Vec<f32>>, Vec<Value>), Problem> {
    if wanted.mode == Mode::Sparse {
        return Ok((None, Vec::new()));
    }
    if let Some(vector) = asked.vector().await {
        return Ok((Some(vector), Vec::new()));
    }
    match platform.models.question(pipeline, &wanted.classification, &wanted.query).await {
        Ok(vector) => {
            asked.keep_vector(&vector).await;
            Ok((Some(vector), Vec::new()))
        }
        Err(error) => {
            outages::suspect(platform, pipeline);
            if wanted.mode == Mode::Dense || error.code() != embedding::UNAVAILABLE {
                return Err(unembedded(&error));
            }
            let detail = "The embedding model does not answer: this was searched by words alone.";
            Ok((None, vec![json!({"code": embedding::UNAVAILABLE, "detail": detail})]))
        }
    }
}

fn search_in(
    index: &Index,
    vector: Option<Vec<f32>>,
    near: Option<Vec<Place>>,
    weight: f64,
    top: usize,
    wanted: &Wanted,
) -> Found {
    let question = Question {
        text: &wanted.query,
        vector: vector.as_deref(),
        mode: wanted.mode,
        weight,
        top,
        min_score: wanted.min_score,
        filter: wanted.filter.as_ref(),
    };
    let passages =
        index.partition.search_among(&question, near.as_deref()).iter().map(|hit| passage(index, hit)).collect();
    Found { passages, warnings: Vec::new(), has_documents: !index.partition.is_empty(), took: [Duration::ZERO; 2] }
}

fn passage(index: &Index, hit: &Hit<'_>) -> Passage {
    let parts: Vec<&Shown> = hit.chunks.iter().filter_map(|part| index.chunks.get(&part.id)).collect();
    let best = index.chunks.get(&hit.best.id);
    let known = index.documents.get(hit.document);
    let place = |at: Option<i64>| at.and_then(|at| usize::try_from(at).ok());
    let places = || parts.iter().filter_map(|part| part.place);
    let gap = |chunk: &Chunk| index.chunks.get(&chunk.id)?.gap.as_deref();
    let mut tags: Vec<String> = Vec::new();
    for tag in parts.iter().flat_map(|part| &part.tags) {
        if !tags.contains(tag) {
            tags.push(tag.clone());
        }
    }
    let context = Context {
        document_id: Some(hit.document.to_owned()),
        revision: known.and_then(|known| u64::try_from(known.revision).ok()).unwrap_or(0),
        filename: known.map(|known| known.filename.clone()).unwrap_or_default(),
        chunk_id: Some(hit.best.id.clone()),
        page: best.and_then(|shown| shown.page).and_then(|page| u32::try_from(page).ok()),
        start: place(places().map(|place| place.0).min()),
        end: place(places().map(|place| place.1).max()),
        text: hit.text_with(gap),
        score: hit.score,
        tags,
        nodes: Vec::new(),
        graph: None,
    };
    let title = known.map(|known| known.title.clone()).unwrap_or_default();
    Passage { context, title, metadata: hit.metadata.clone(), scores: [hit.sparse, hit.dense], rerank: None }
}

fn unembedded(error: &embedding::Error) -> Problem {
    Problem::unavailable(error.code(), pidq_http::sentence(&error.to_string()), 5)
}
