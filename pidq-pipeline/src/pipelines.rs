//! `/api/pipelines`: collections of documents with their configuration.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{Problem, Request, Response, StatusCode, pointer_step};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::audit;
use crate::bodies;
use crate::catalogue;
use crate::keys::{self, ApiKey, Verb};
use crate::labels;
use crate::patches::{self, merge, unless_changed};
use crate::platform::{LONGEST_PAGE, PAGE, Platform};
use crate::policies;
use crate::problems::{refused, stored, unprocessable, validation};
use crate::questions;
use crate::records::{Options, Pipeline, PipelineStatus};
use crate::splitter;
use crate::store::{Census, NewPipeline, Outage, Seen, StoreError};

/// How long a request waits for a pipeline to go away, and how often it looks.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What a pipeline is made of.
#[derive(Deserialize)]
struct Wanted {
    name: String,
    embedding_model: String,
    text_splitter: Value,
    classifications: Vec<String>,
}

/// `POST /api/pipelines`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let body: Map<String, Value> = request.object().await?;
    let key = keys::of(&request)?;
    must_see_all(&key)?;
    let new = new_pipeline(platform, body).await?;
    let licensed = platform.licensing.admit()?.pipelines;
    let most = platform.limits.pipelines.min(licensed.unwrap_or(u64::MAX));
    audit::detail("name", new.name.as_str());
    let pipeline = match platform.store.create_pipeline_up_to(new, Some(most)).await {
        Err(StoreError::AsManyAsMayBe(there)) => return Err(too_many(platform, licensed, there)),
        made => made.map_err(stored)?,
    };
    let shown = show(platform, &pipeline, &key).await?;
    Ok(Response::json(&shown)?.created(format!("/api/pipelines/{}", pipeline.id)).etag(pipeline.etag()))
}

/// There are as many as the licence allows, or as the administrator does.
fn too_many(platform: &Platform, licensed: Option<u64>, there: u64) -> Problem {
    let of_licence = licensed.and_then(|limit| platform.licensing.admit_more("pipelines", limit, there).err());
    of_licence.unwrap_or_else(|| {
        let detail = format!("There are {there} pipelines, and that is the most.");
        Problem::new(StatusCode::CONFLICT, "too-many-pipelines").detail(detail)
    })
}

async fn new_pipeline(platform: &Platform, body: Map<String, Value>) -> Result<NewPipeline, Problem> {
    known_members(&body, MEMBERS)?;
    let (own, options) = body.into_iter().partition(|(member, _)| OWN.contains(&member.as_str()));
    let (wanted, mut options): (Wanted, Options) = (bodies::read(own)?, bodies::read(options)?);
    let (text_splitter, splitter_parameters) = text_splitter(&wanted.text_splitter)?;
    let classifications = labels::read(&wanted.classifications, platform.limits.labels)?;
    options.policies = labels::named(options.policies);
    questions::check(&options.retrieval)?;
    policies::check(&options, &classifications)?;
    Ok(NewPipeline {
        name: name(&wanted.name)?,
        embedding_dimensions: catalogue::dimensions(&platform.models, &wanted.embedding_model).await? as i64,
        embedding_model: wanted.embedding_model,
        text_splitter,
        splitter_parameters,
        classifications,
        options,
    })
}

/// What every pipeline is made of.
const OWN: &[&str] = &["name", "embedding_model", "text_splitter", "classifications"];
/// The same with what may be said besides.
const MEMBERS: &[&str] = &[
    "name",
    "embedding_model",
    "text_splitter",
    "classifications",
    "description",
    "metadata",
    "retrieval",
    "chunk_header",
    "policies",
];

/// A member that is not known is a mistake that would otherwise go unseen.
pub(crate) fn known_members(body: &Map<String, Value>, known: &[&str]) -> Result<(), Problem> {
    known_below("", body, known)
}

/// The same for an object that stands at a place of the body (RFC 6901).
pub(crate) fn known_below(place: &str, members: &Map<String, Value>, known: &[&str]) -> Result<(), Problem> {
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => {
            let pointer = format!("{place}{}", pointer_step(name));
            let problem = unprocessable("unknown-field", &pointer, "There is no such member.");
            Err(problem.with("allowed", known.to_vec()))
        }
        None => Ok(()),
    }
}

fn name(given: &str) -> Result<String, Problem> {
    let name = given.trim();
    match name.chars().count() {
        1..=128 => Ok(name.to_owned()),
        _ => Err(validation("/name", "A name has 1 to 128 characters.")),
    }
}

/// A splitter by its name, or an object with the name and parameters; with the defaults filled in.
pub(crate) fn text_splitter(given: &Value) -> Result<(String, Map<String, Value>), Problem> {
    let (name, mut parameters) = match given {
        Value::String(name) => (name.clone(), Map::new()),
        Value::Object(members) => {
            let name = members.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            (name, members.clone())
        }
        _ => return Err(validation("/text_splitter", "A splitter is a name, or an object with a name.")),
    };
    parameters.remove("name");
    let splitter = splitter::find(&name).ok_or_else(catalogue::unknown_splitter)?;
    let known: Vec<&str> = splitter.parameters.iter().map(|parameter| parameter.name).collect();
    known_below("/text_splitter", &parameters, &known)?;
    splitter.build(&parameters).map_err(|refusal| refused(&refusal))?;
    let filled = splitter::Parameters::read(splitter.parameters, &parameters).map_err(|refusal| refused(&refusal))?;
    Ok((name, filled.values().clone()))
}

/// `GET /api/pipelines`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let key = keys::of(&request)?;
    let page = platform.cursors.page(&request, "pipelines", PAGE, LONGEST_PAGE)?;
    let query = request.query()?;
    let within = key.pipeline_ids();
    let seen = Seen { name: query.one("name")?, within: within.as_deref() };
    let after = page.after.as_deref().unwrap_or_default();
    let mut some = platform.store.pipelines(after, seen, page.limit + 1).await.map_err(stored)?;
    let has_more = some.len() > page.limit;
    some.truncate(page.limit);
    let total = platform.store.total_pipelines(seen).await.map_err(stored)?;
    let (Some(first), Some(last)) = (some.first(), some.last()) else {
        return Response::json(&json!({"data": [], "next_cursor": null, "total": total}));
    };
    let census = platform.store.counts_between(&first.id, &last.id).await.map_err(stored)?;
    let outages = platform.store.outages().await.map_err(stored)?;
    let shown: Vec<Value> = some.iter().map(|pipeline| shown(pipeline, &key, &census, &outages)).collect();
    let next = has_more.then(|| platform.cursors.seal("pipelines", &last.id));
    let response = Response::json(&json!({"data": shown, "next_cursor": next, "total": total}))?;
    Ok(match next {
        Some(next) => response.next_page(&request, &next),
        None => response,
    })
}

/// `GET /api/pipelines/{pipeline_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = of(platform, &request).await?;
    Ok(Response::json(&show(platform, &pipeline, &key).await?)?.etag(pipeline.etag()))
}

/// `PATCH /api/pipelines/{pipeline_id}`: a merge patch (RFC 7396).
pub(crate) async fn change(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let patch: Map<String, Value> = request.object().await?;
    patches::put(|| try_change(platform, &request, &patch)).await
}

/// Patches a pipeline; nothing, if somebody else changed it since it was read.
async fn try_change(
    platform: &Arc<Platform>,
    request: &Request,
    patch: &Map<String, Value>,
) -> Result<Option<Response>, Problem> {
    let (pipeline, key) = staying(platform, request).await?;
    request.head.precondition(Some(&pipeline.etag()))?;
    let of_labels = ["classifications", "policies"].iter().any(|member| patch.contains_key(*member));
    if of_labels && !key.is_unrestricted() {
        return Err(forbidden(
            "This key reaches some classifications only, and changes neither them nor their policies.",
        ));
    }
    let changed = patched(&pipeline, patch, platform.limits.labels)?;
    for label in pipeline.classifications.iter().filter(|label| !changed.classifications.contains(label)) {
        if platform.store.is_label_used(&pipeline.id, label).await.map_err(stored)? {
            let detail = format!("Documents have the classification {label:?}. Give them another one first.");
            return Err(Problem::new(StatusCode::CONFLICT, "classification-in-use").detail(detail));
        }
    }
    audit::changed(patch);
    let Some(changed) = unless_changed(platform.store.update_pipeline(&changed).await)? else { return Ok(None) };
    Ok(Some(Response::json(&show(platform, &changed, &key).await?)?.etag(changed.etag())))
}

/// A pipeline with a merge patch, and so many labels at most.
fn patched(pipeline: &Pipeline, patch: &Map<String, Value>, most: usize) -> Result<Pipeline, Problem> {
    known_members(patch, MEMBERS)?;
    needs_no_other_index(pipeline, patch)?;
    let patched = Pipeline {
        name: match patch.get("name") {
            Some(given) => name(&bodies::part::<String>("/name", given.clone())?)?,
            None => pipeline.name.clone(),
        },
        classifications: match patch.get("classifications") {
            Some(given) => labels::read(&bodies::part::<Vec<String>>("/classifications", given.clone())?, most)?,
            None => pipeline.classifications.clone(),
        },
        options: patched_options(&pipeline.options, patch)?,
        ..pipeline.clone()
    };
    questions::check(&patched.options.retrieval)?;
    policies::check(&patched.options, &patched.classifications)?;
    Ok(patched)
}

/// What a pipeline is indexed by changes by a new index alone; to say it once more changes nothing.
fn needs_no_other_index(pipeline: &Pipeline, patch: &Map<String, Value>) -> Result<(), Problem> {
    let reindex = |member: &str| {
        let detail = format!("Another {member} needs another index: ask for it by `POST …/reindex`.");
        Err(Problem::new(StatusCode::CONFLICT, "reindex-required").detail(detail))
    };
    if let Some(given) = patch.get("embedding_model")
        && bodies::part::<String>("/embedding_model", given.clone())? != pipeline.embedding_model
    {
        return reindex("embedding_model");
    }
    let Some(given) = patch.get("text_splitter") else { return Ok(()) };
    let (name, parameters) = text_splitter(given)?;
    let is_same = name == pipeline.text_splitter && (given.is_string() || parameters == pipeline.splitter_parameters);
    if is_same { Ok(()) } else { reindex("text_splitter") }
}

fn patched_options(options: &Options, patch: &Map<String, Value>) -> Result<Options, Problem> {
    let mut merged = serde_json::to_value(options).map_err(|_| Problem::internal())?;
    let mut patch: Map<String, Value> = patch.clone();
    patch.retain(|member, _| !OWN.contains(&member.as_str()));
    if let Some(Value::Object(policies)) = patch.get_mut("policies") {
        *policies = labels::named(std::mem::take(policies));
    }
    merge(&mut merged, &Value::Object(patch));
    bodies::part("", merged)
}

/// Adds the members of an object to another.
pub(crate) fn join(target: &mut Value, more: Value) {
    if let (Value::Object(target), Value::Object(more)) = (target, more) {
        target.extend(more);
    }
}

/// `DELETE /api/pipelines/{pipeline_id}`.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = of(platform, &request).await?;
    must_see_all(&key)?;
    request.head.precondition(Some(&pipeline.etag()))?;
    let waits = request.query()?.parsed::<bool>("wait")?.unwrap_or(false);
    let operation = platform.store.begin_deletion(&pipeline.id).await.map_err(stored)?;
    platform.indexes.forget(&pipeline.id);
    platform.bell.ring();
    let end = Instant::now() + if waits { LONGEST_WAIT } else { Duration::ZERO };
    loop {
        if platform.store.delete_pipeline(&pipeline.id).await.map_err(stored)? {
            return Ok(Response::empty(StatusCode::NO_CONTENT));
        }
        if Instant::now() >= end {
            return operation.accepted();
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// 403 for keys that reach some pipelines or labels only.
pub(crate) fn must_see_all(key: &ApiKey) -> Result<(), Problem> {
    if key.is_unrestricted() {
        Ok(())
    } else {
        Err(forbidden("This key reaches some pipelines only, and this needs all."))
    }
}

/// The pipeline that a request names, if it exists for whoever asks.
pub(crate) async fn of(platform: &Platform, request: &Request) -> Result<(Pipeline, ApiKey), Problem> {
    let (id, key) = (request.path("pipeline_id")?, keys::of(request)?);
    let pipeline = platform.store.pipeline(id).await.map_err(stored)?;
    match pipeline.filter(|pipeline| key.labels(&pipeline.id, &[]).is_some()) {
        Some(pipeline) => Ok((pipeline, key)),
        None => Err(Problem::not_found("pipeline-not-found").detail("There is no such pipeline.")),
    }
}

/// The same for what lasts, or asks: a pipeline that goes away takes nothing more, and answers nothing.
pub(crate) async fn staying(platform: &Platform, request: &Request) -> Result<(Pipeline, ApiKey), Problem> {
    let (pipeline, key) = of(platform, request).await?;
    must_stay(&pipeline)?;
    Ok((pipeline, key))
}

/// 409 for a pipeline that goes away.
pub(crate) fn must_stay(pipeline: &Pipeline) -> Result<(), Problem> {
    if pipeline.status == PipelineStatus::Deleting {
        let detail = "The pipeline goes away, with its documents.";
        return Err(Problem::new(StatusCode::CONFLICT, "pipeline-busy").detail(detail));
    }
    Ok(())
}

/// 403 unless a key may do something with a label, whether the label exists or not; 422 for somebody who sees all.
pub(crate) fn must(key: &ApiKey, pipeline: &Pipeline, label: &str, verb: Verb) -> Result<(), Problem> {
    if !key.may(&pipeline.id, label, verb) {
        let problem = Problem::new(StatusCode::FORBIDDEN, "classification-forbidden");
        return Err(problem.detail("This key does not reach that classification."));
    }
    if pipeline.classifications.iter().any(|known| known == label) {
        return Ok(());
    }
    let problem =
        unprocessable("unknown-classification", "/classification", "The pipeline has no such classification.");
    Err(problem.with("allowed", key.labels(&pipeline.id, &pipeline.classifications).unwrap_or_default()))
}

async fn show(platform: &Platform, pipeline: &Pipeline, key: &ApiKey) -> Result<Value, Problem> {
    let census = platform.store.counts_between(&pipeline.id, &pipeline.id).await.map_err(stored)?;
    let outages = platform.store.outages().await.map_err(stored)?;
    Ok(shown(pipeline, key, &census, &outages))
}

/// A pipeline as a key sees it: with its own labels, and nothing of others.
fn shown(pipeline: &Pipeline, key: &ApiKey, census: &Census, outages: &[Outage]) -> Value {
    let labels = key.labels(&pipeline.id, &pipeline.classifications).unwrap_or_default();
    let mut shown = pipeline.show(&labels, &census.of(&pipeline.id, &labels));
    let is_out = |outage: &Outage| outage.model == pipeline.embedding_model;
    if pipeline.status == PipelineStatus::Active && outages.iter().any(is_out) {
        shown["status"] = "degraded".into();
    }
    shown
}

fn forbidden(detail: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "forbidden").detail(detail)
}
