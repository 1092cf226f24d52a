//! `/api/pipelines`: collections of documents with their configuration.

use crate::api::json_body::{reject_unknown_fields, reject_unknown_fields_at};
use std::sync::Arc;
use std::time::Duration;

use pidq_http::{Problem, Request, Response, StatusCode, codes};
use pidq_store::domain::api_key::ApiKey;
use pidq_store::domain::model::{Options, Pipeline, PipelineStatus};
use pidq_store::domain::{audit_context, classification};
use pidq_store::{ModelOutage, NewPipeline, PipelineFilter, StatusCounts, StoreError};
use pidq_text::splitter;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::api::auth::request_key;
use crate::api::classification::validate_classifications;
use crate::api::handlers::{catalog, search};
use crate::api::json_body;
use crate::api::merge_patch::{self, merge, none_if_changed};
use crate::api::operation_response::accepted;
use crate::api::pipeline_access::{find_active_pipeline, find_pipeline};
use crate::api::pipeline_access::{forbidden, require_unrestricted};
use crate::api::policies;
use crate::api::problems::{splitter_problem, store_problem, validation};
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};

/// Maximum wait for a deletion, and its poll interval.
const MAX_WAIT: Duration = Duration::from_secs(300);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Required fields of a pipeline.
#[derive(Deserialize)]
struct RequiredFields {
    name: String,
    embedding_model: String,
    text_splitter: Value,
    classifications: Vec<String>,
}

/// `POST /api/pipelines`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let body: Map<String, Value> = request.object().await?;
    let key = request_key(&request)?;
    require_unrestricted(&key)?;
    let new = new_pipeline(platform, body).await?;
    let license_limit = platform.licensing.require_license()?.pipelines;
    let limit = platform.limits.pipelines.min(license_limit.unwrap_or(u64::MAX));
    audit_context::add_detail("name", new.name.as_str());
    let pipeline = match platform.store.create_pipeline_with_limit(new, Some(limit)).await {
        Err(StoreError::LimitReached(count)) => return Err(too_many(platform, license_limit, count)),
        result => result.map_err(store_problem)?,
    };
    let body = load_pipeline_json(platform, &pipeline, &key).await?;
    Ok(Response::json(&body)?.created(format!("/api/pipelines/{}", pipeline.id)).etag(pipeline.etag()))
}

/// Returns the problem for the license limit or the configured limit.
fn too_many(platform: &Platform, license_limit: Option<u64>, count: u64) -> Problem {
    let license_problem =
        license_limit.and_then(|limit| platform.licensing.check_limit("pipelines", limit, count).err());
    license_problem.unwrap_or_else(|| {
        let detail = format!("The limit of {count} pipelines is reached.");
        Problem::new(codes::TOO_MANY_PIPELINES).detail(detail)
    })
}

async fn new_pipeline(platform: &Platform, body: Map<String, Value>) -> Result<NewPipeline, Problem> {
    reject_unknown_fields(&body, FIELDS)?;
    let (required, options) = body.into_iter().partition(|(field, _)| REQUIRED_FIELDS.contains(&field.as_str()));
    let (required, mut options): (RequiredFields, Options) =
        (json_body::from_object(required)?, json_body::from_object(options)?);
    let (text_splitter, splitter_parameters) = text_splitter(&required.text_splitter)?;
    let classifications = validate_classifications(&required.classifications, platform.limits.classifications)?;
    options.policies = classification::normalize_keys(options.policies);
    search::validate_retrieval(&options.retrieval)?;
    policies::validate(&options, &classifications)?;
    Ok(NewPipeline {
        name: name(&required.name)?,
        embedding_dimensions: catalog::dimensions(&platform.search.models, &required.embedding_model).await? as i64,
        embedding_model: required.embedding_model,
        text_splitter,
        splitter_parameters,
        classifications,
        options,
    })
}

/// Required fields.
const REQUIRED_FIELDS: &[&str] = &["name", "embedding_model", "text_splitter", "classifications"];
/// All fields.
const FIELDS: &[&str] = &[
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

fn name(name: &str) -> Result<String, Problem> {
    let name = name.trim();
    match name.chars().count() {
        1..=128 => Ok(name.to_owned()),
        _ => Err(validation("/name", "A name must have 1 to 128 characters.")),
    }
}

/// Parses a splitter: a name, or an object with name and parameters. Defaults are filled in.
pub(crate) fn text_splitter(value: &Value) -> Result<(String, Map<String, Value>), Problem> {
    let (name, mut parameters) = match value {
        Value::String(name) => (name.clone(), Map::new()),
        Value::Object(object) => {
            let name = object.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            (name, object.clone())
        }
        _ => return Err(validation("/text_splitter", "A splitter must be a name or an object with a name.")),
    };
    parameters.remove("name");
    let splitter = splitter::find(&name).ok_or_else(catalog::unknown_splitter)?;
    let parameter_names: Vec<&str> = splitter.parameters.iter().map(|parameter| parameter.name).collect();
    reject_unknown_fields_at("/text_splitter", &parameters, &parameter_names)?;
    splitter.build(&parameters).map_err(|error| splitter_problem(&error))?;
    let filled =
        splitter::Parameters::parse(splitter.parameters, &parameters).map_err(|error| splitter_problem(&error))?;
    Ok((name, filled.values().clone()))
}

/// `GET /api/pipelines`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let key = request_key(&request)?;
    let page = platform.cursors.page(&request, "pipelines", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    let query = request.query()?;
    let ids = key.pipeline_ids();
    let filter = PipelineFilter { name: query.single("name")?, ids: ids.as_deref() };
    let after = page.after.as_deref().unwrap_or_default();
    let mut page_rows = platform.store.pipelines(after, filter, page.limit + 1).await.map_err(store_problem)?;
    let has_more = page_rows.len() > page.limit;
    page_rows.truncate(page.limit);
    let total = platform.store.count_matching_pipelines(filter).await.map_err(store_problem)?;
    let (Some(first), Some(last)) = (page_rows.first(), page_rows.last()) else {
        return Response::json(&json!({"data": [], "next_cursor": null, "total": total}));
    };
    let counts = platform.store.status_counts(&first.id, &last.id).await.map_err(store_problem)?;
    let outages = platform.store.outages().await.map_err(store_problem)?;
    let data: Vec<Value> = page_rows.iter().map(|pipeline| pipeline_json(pipeline, &key, &counts, &outages)).collect();
    let next = has_more.then(|| platform.cursors.sign("pipelines", &last.id));
    let response = Response::json(&json!({"data": data, "next_cursor": next, "total": total}))?;
    Ok(match next {
        Some(next) => response.next_page(&request, &next),
        None => response,
    })
}

/// `GET /api/pipelines/{pipeline_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = find_pipeline(platform, &request).await?;
    Ok(Response::json(&load_pipeline_json(platform, &pipeline, &key).await?)?.etag(pipeline.etag()))
}

/// `PATCH /api/pipelines/{pipeline_id}`: a merge patch (RFC 7396).
pub(crate) async fn change(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let patch: Map<String, Value> = request.object().await?;
    merge_patch::retry_on_conflict(|| try_change(platform, &request, &patch)).await
}

/// Applies a merge patch; none after a concurrent modification.
async fn try_change(
    platform: &Arc<Platform>,
    request: &Request,
    patch: &Map<String, Value>,
) -> Result<Option<Response>, Problem> {
    let (pipeline, key) = find_active_pipeline(platform, request).await?;
    request.head.precondition(Some(&pipeline.etag()))?;
    let changes_access = ["classifications", "policies"].iter().any(|field| patch.contains_key(*field));
    if changes_access && !key.is_unrestricted() {
        return Err(forbidden("Changing classifications or policies requires an unrestricted key."));
    }
    let changed = apply_patch(&pipeline, patch, platform.limits.classifications)?;
    for classification in
        pipeline.classifications.iter().filter(|classification| !changed.classifications.contains(classification))
    {
        if platform.store.is_classification_used(&pipeline.id, classification).await.map_err(store_problem)? {
            let detail = format!("The classification {classification:?} is in use. Reclassify its documents first.");
            return Err(Problem::new(codes::CLASSIFICATION_IN_USE).detail(detail));
        }
    }
    audit_context::add_changed_fields(patch);
    let Some(changed) = none_if_changed(platform.store.update_pipeline(&changed).await)? else { return Ok(None) };
    Ok(Some(Response::json(&load_pipeline_json(platform, &changed, &key).await?)?.etag(changed.etag())))
}

/// Merges a patch into a pipeline, with at most `limit` classifications.
fn apply_patch(pipeline: &Pipeline, patch: &Map<String, Value>, limit: usize) -> Result<Pipeline, Problem> {
    reject_unknown_fields(patch, FIELDS)?;
    reject_index_changes(pipeline, patch)?;
    let patched = Pipeline {
        name: match patch.get("name") {
            Some(value) => name(&json_body::from_value::<String>("/name", value.clone())?)?,
            None => pipeline.name.clone(),
        },
        classifications: match patch.get("classifications") {
            Some(value) => validate_classifications(
                &json_body::from_value::<Vec<String>>("/classifications", value.clone())?,
                limit,
            )?,
            None => pipeline.classifications.clone(),
        },
        options: patch_options(&pipeline.options, patch)?,
        ..pipeline.clone()
    };
    search::validate_retrieval(&patched.options.retrieval)?;
    policies::validate(&patched.options, &patched.classifications)?;
    Ok(patched)
}

/// Rejects changes that require a reindex; repeating the current values is allowed.
fn reject_index_changes(pipeline: &Pipeline, patch: &Map<String, Value>) -> Result<(), Problem> {
    let reindex = |field: &str| {
        let detail = format!("Changing `{field}` requires a reindex: use `POST …/reindex`.");
        Err(Problem::new(codes::REINDEX_REQUIRED).detail(detail))
    };
    if let Some(value) = patch.get("embedding_model")
        && json_body::from_value::<String>("/embedding_model", value.clone())? != pipeline.embedding_model
    {
        return reindex("embedding_model");
    }
    let Some(value) = patch.get("text_splitter") else { return Ok(()) };
    let (name, parameters) = text_splitter(value)?;
    let is_same = name == pipeline.text_splitter && (value.is_string() || parameters == pipeline.splitter_parameters);
    if is_same { Ok(()) } else { reindex("text_splitter") }
}

fn patch_options(options: &Options, patch: &Map<String, Value>) -> Result<Options, Problem> {
    let mut merged = serde_json::to_value(options).map_err(|_| Problem::internal())?;
    let mut patch: Map<String, Value> = patch.clone();
    patch.retain(|field, _| !REQUIRED_FIELDS.contains(&field.as_str()));
    if let Some(Value::Object(policies)) = patch.get_mut("policies") {
        *policies = classification::normalize_keys(std::mem::take(policies));
    }
    merge(&mut merged, &Value::Object(patch));
    json_body::from_value("", merged)
}

/// `DELETE /api/pipelines/{pipeline_id}`.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = find_pipeline(platform, &request).await?;
    require_unrestricted(&key)?;
    request.head.precondition(Some(&pipeline.etag()))?;
    let waits = request.query()?.parsed::<bool>("wait")?.unwrap_or(false);
    let operation = platform.store.begin_deletion(&pipeline.id).await.map_err(store_problem)?;
    platform.search.indexes.evict_pipeline(&pipeline.id);
    platform.messaging.job_notifier.notify_all();
    let end = Instant::now() + if waits { MAX_WAIT } else { Duration::ZERO };
    loop {
        if platform.store.delete_pipeline(&pipeline.id).await.map_err(store_problem)? {
            return Ok(Response::empty(StatusCode::NO_CONTENT));
        }
        if Instant::now() >= end {
            return accepted(&operation);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn load_pipeline_json(platform: &Platform, pipeline: &Pipeline, key: &ApiKey) -> Result<Value, Problem> {
    let counts = platform.store.status_counts(&pipeline.id, &pipeline.id).await.map_err(store_problem)?;
    let outages = platform.store.outages().await.map_err(store_problem)?;
    Ok(pipeline_json(pipeline, key, &counts, &outages))
}

/// Returns a pipeline as visible to a key, with its classifications only.
fn pipeline_json(pipeline: &Pipeline, key: &ApiKey, counts: &StatusCounts, outages: &[ModelOutage]) -> Value {
    let classifications = key.visible_classifications(&pipeline.id, &pipeline.classifications).unwrap_or_default();
    let mut body = pipeline.to_json(&classifications, &counts.counts_for(&pipeline.id, &classifications));
    let is_out = |outage: &ModelOutage| outage.model == pipeline.embedding_model;
    if pipeline.status == PipelineStatus::Active && outages.iter().any(is_out) {
        body["status"] = "degraded".into();
    }
    body
}
