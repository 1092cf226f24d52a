//! `/api/pipelines`: collections of documents with their configuration.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pidq_http::{Problem, Request, Response, StatusCode, codes};
use pidq_store::domain::api_key::ApiKey;
use pidq_store::domain::model::{DocumentCounts, Options, Pipeline, PipelineStatus, Retrieval};
use pidq_store::domain::{audit_context, classification};
use pidq_store::{ModelOutage, NewPipeline, PipelineFilter, StatusCounts, StoreError};
use pidq_text::search::Mode;
use pidq_text::splitter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::api::auth::request_key;
use crate::api::classification::validate_classifications;
use crate::api::handlers::{catalog, search};
use crate::api::json_body::{self, reject_unknown_fields_at};
use crate::api::merge_patch::{self, merge, none_if_changed};
use crate::api::operation_response::accepted;
use crate::api::page_response::counted_page_response;
use crate::api::pipeline_access::require_unrestricted;
use crate::api::pipeline_access::{find_active_pipeline, find_pipeline};
use crate::api::policies::{self, Policy};
use crate::api::problems::{forbidden, splitter_problem, store_problem, validation};
use crate::api::schema::{DateTime, Page, Uuid, not_null};
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};

/// Maximum wait for a deletion, and its poll interval.
const MAX_WAIT: Duration = Duration::from_secs(300);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// New pipeline.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PipelineRequest {
    /// Name, unique among all pipelines; 1 to 128 characters without the white space around them.
    #[schemars(length(min = 1, max = 128))]
    name: String,
    /// Name of an embedding model, as listed by `GET /api/embedding-models`.
    embedding_model: String,
    /// Text splitter.
    #[schemars(with = "TextSplitterChoice")]
    text_splitter: Value,
    /// Classifications of documents and queries.
    #[schemars(with = "Classifications")]
    classifications: Vec<String>,
    /// Free text.
    description: Option<String>,
    /// Metadata of the caller; not interpreted.
    #[serde(default)]
    metadata: Map<String, Value>,
    /// Default search parameters.
    #[serde(default)]
    retrieval: RetrievalRequest,
    /// Includes title and headings in the indexed text of a chunk. Default: `true`.
    chunk_header: Option<bool>,
    /// Policies by classification.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Policy>")]
    policies: Map<String, Value>,
}

/// Merge patch (RFC 7396) of a pipeline. Null removes a value, so that the default applies.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the options are merged as JSON, and the result is deserialized")]
pub(crate) struct PipelinePatch {
    /// New name.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String", length(min = 1, max = 128))]
    name: Option<String>,
    /// Must be the current one: another one requires a reindex.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String")]
    embedding_model: Option<String>,
    /// Must be the current one: another one requires a reindex.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "TextSplitterChoice")]
    text_splitter: Option<Value>,
    /// New classifications. One that documents have cannot be removed.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "Classifications")]
    classifications: Option<Vec<String>>,
    /// Free text.
    description: Option<String>,
    /// Changes of the metadata; null removes a field.
    metadata: Option<Map<String, Value>>,
    /// Changes of the default search parameters.
    retrieval: Option<RetrievalRequest>,
    /// Includes title and headings in the indexed text of a chunk.
    chunk_header: Option<bool>,
    /// Changes of the policies by classification.
    #[schemars(with = "Option<BTreeMap<String, Option<Policy>>>")]
    policies: Option<Map<String, Value>>,
}

/// Default search parameters of a pipeline.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RetrievalRequest {
    /// Search mode. Default: `hybrid`.
    #[schemars(with = "Option<Mode>")]
    mode: Option<String>,
    /// Number of passages. Default: 8.
    #[schemars(range(min = 1, max = 50))]
    top_k: Option<u32>,
    /// Minimum score of a passage. Default: 0.
    min_score: Option<f64>,
}

/// Classifications of a pipeline.
#[derive(JsonSchema)]
#[schemars(inline, extend("uniqueItems" = true, "$comment" = "PIDQ_CLASSIFICATION_LIMIT"))]
#[allow(dead_code, reason = "only describes the field")]
struct Classifications(#[schemars(length(min = 1, max = 64), inner(length(min = 1, max = 64)))] Vec<String>);

/// Text splitter: its name, or an object with the name and parameters, as listed by `GET /api/text-splitters`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only describes the field")]
pub(crate) enum TextSplitterChoice {
    /// Name; all parameters have their defaults.
    Name(String),
    /// Name and parameters.
    Object {
        /// Name.
        name: String,
        /// Parameters.
        #[serde(flatten)]
        parameters: Map<String, Value>,
    },
}

/// Pipeline: a collection of documents with its configuration, as visible to the caller.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Pipeline")]
pub(crate) struct PipelineResponse<'a> {
    /// Id.
    #[schemars(with = "Uuid")]
    id: &'a str,
    /// Name, unique among all pipelines.
    name: &'a str,
    /// Name of the embedding model.
    embedding_model: &'a str,
    /// Dimensions of a vector.
    embedding_dimensions: i64,
    /// Name of the text splitter.
    text_splitter: &'a str,
    /// Parameters of the text splitter, including defaults.
    text_splitter_params: &'a Map<String, Value>,
    /// Classifications that the caller may see.
    classifications: &'a [String],
    /// Free text.
    description: Option<&'a str>,
    /// Metadata of the caller.
    metadata: &'a Map<String, Value>,
    /// Default search parameters.
    retrieval: &'a Retrieval,
    /// `true` if title and headings are part of the indexed text of a chunk.
    chunk_header: bool,
    /// Policies of the classifications that the caller may see.
    #[schemars(with = "BTreeMap<String, Policy>")]
    policies: Map<String, Value>,
    /// Status.
    status: VisibleStatus,
    /// Numbers of the documents that the caller may see.
    document_counts: DocumentCountsResponse,
    /// Creation.
    created_at: DateTime,
    /// Last change.
    updated_at: DateTime,
    /// Revision, from 1.
    revision: i64,
}

/// Status of a pipeline, with outages.
#[derive(Clone, Copy, JsonSchema, Serialize)]
#[serde(untagged)]
enum VisibleStatus {
    Stored(PipelineStatus),
    Degraded(Degraded),
}

/// The embedding model does not respond.
#[derive(Clone, Copy, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Degraded {
    Degraded,
}

/// Numbers of documents by status.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "DocumentCounts")]
struct DocumentCountsResponse {
    /// All documents.
    total: i64,
    /// Ready documents.
    ready: i64,
    /// Documents that are being processed.
    processing: i64,
    /// Failed or cancelled documents.
    failed: i64,
}

/// `POST /api/pipelines`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let body: Map<String, Value> = request.object().await?;
    let key = request_key(&request)?;
    require_unrestricted(&key)?;
    let new = new_pipeline(platform, json_body::from_object(body)?).await?;
    let license_limit = platform.licensing.require_license()?.pipelines;
    let limit = platform.limits.pipelines.min(license_limit.unwrap_or(u64::MAX));
    audit_context::add_detail("name", new.name.as_str());
    let pipeline = match platform.store.create_pipeline_with_limit(new, Some(limit)).await {
        Err(StoreError::LimitReached(count)) => return Err(too_many(platform, license_limit, count)),
        result => result.map_err(store_problem)?,
    };
    let response = pipeline_response(platform, &pipeline, &key).await?;
    Ok(response.created(format!("/api/pipelines/{}", pipeline.id)))
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

async fn new_pipeline(platform: &Platform, body: PipelineRequest) -> Result<NewPipeline, Problem> {
    let (text_splitter, splitter_parameters) = text_splitter(&body.text_splitter)?;
    let classifications = validate_classifications(&body.classifications, platform.limits.classifications)?;
    let RetrievalRequest { mode, top_k, min_score } = body.retrieval;
    let options = Options {
        description: body.description,
        metadata: body.metadata,
        retrieval: Retrieval { mode, top_k, min_score },
        chunk_header: body.chunk_header,
        policies: classification::normalize_keys(body.policies),
    };
    search::validate_retrieval(&options.retrieval)?;
    policies::validate(&options, &classifications)?;
    Ok(NewPipeline {
        name: name(&body.name)?,
        embedding_dimensions: catalog::dimensions(&platform.search.models, &body.embedding_model).await? as i64,
        embedding_model: body.embedding_model,
        text_splitter,
        splitter_parameters,
        classifications,
        options,
    })
}

/// Fields of a patch that are not part of the options.
const REQUIRED_FIELDS: &[&str] = &["name", "embedding_model", "text_splitter", "classifications"];

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
        let page = Page::<PipelineResponse<'_>> { data: Vec::new(), next_cursor: None, total: Some(total) };
        return counted_page_response(&request, page);
    };
    let counts = platform.store.status_counts(&first.id, &last.id).await.map_err(store_problem)?;
    let outages = platform.store.outages().await.map_err(store_problem)?;
    let visible: Vec<_> =
        page_rows.iter().map(|pipeline| VisiblePipeline::new(pipeline, &key, &counts, &outages)).collect();
    let data = visible.iter().map(PipelineResponse::from).collect();
    let next_cursor = has_more.then(|| platform.cursors.sign("pipelines", &last.id));
    counted_page_response(&request, Page { data, next_cursor, total: Some(total) })
}

/// `GET /api/pipelines/{pipeline_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = find_pipeline(platform, &request).await?;
    pipeline_response(platform, &pipeline, &key).await
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
    pipeline_response(platform, &changed, &key).await.map(Some)
}

/// Merges a patch into a pipeline, with at most `limit` classifications.
fn apply_patch(pipeline: &Pipeline, fields: &Map<String, Value>, limit: usize) -> Result<Pipeline, Problem> {
    let patch: PipelinePatch = json_body::from_object(fields.clone())?;
    reject_index_changes(pipeline, &patch)?;
    let patched = Pipeline {
        name: patch.name.as_deref().map(name).transpose()?.unwrap_or_else(|| pipeline.name.clone()),
        classifications: match &patch.classifications {
            Some(classifications) => validate_classifications(classifications, limit)?,
            None => pipeline.classifications.clone(),
        },
        options: patch_options(&pipeline.options, fields)?,
        ..pipeline.clone()
    };
    search::validate_retrieval(&patched.options.retrieval)?;
    policies::validate(&patched.options, &patched.classifications)?;
    Ok(patched)
}

/// Rejects changes that require a reindex; repeating the current values is allowed.
fn reject_index_changes(pipeline: &Pipeline, patch: &PipelinePatch) -> Result<(), Problem> {
    let reindex = |field: &str| {
        let detail = format!("Changing `{field}` requires a reindex: use `POST …/reindex`.");
        Err(Problem::new(codes::REINDEX_REQUIRED).detail(detail))
    };
    if patch.embedding_model.as_ref().is_some_and(|model| *model != pipeline.embedding_model) {
        return reindex("embedding_model");
    }
    let Some(value) = &patch.text_splitter else { return Ok(()) };
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

async fn pipeline_response(platform: &Platform, pipeline: &Pipeline, key: &ApiKey) -> Result<Response, Problem> {
    let counts = platform.store.status_counts(&pipeline.id, &pipeline.id).await.map_err(store_problem)?;
    let outages = platform.store.outages().await.map_err(store_problem)?;
    let visible = VisiblePipeline::new(pipeline, key, &counts, &outages);
    Ok(Response::json(&PipelineResponse::from(&visible))?.etag(pipeline.etag()))
}

/// A pipeline with what a key may see of it.
struct VisiblePipeline<'a> {
    pipeline: &'a Pipeline,
    classifications: Vec<String>,
    counts: DocumentCounts,
    status: VisibleStatus,
}

impl<'a> VisiblePipeline<'a> {
    fn new(
        pipeline: &'a Pipeline,
        key: &ApiKey,
        counts: &StatusCounts,
        outages: &[ModelOutage],
    ) -> VisiblePipeline<'a> {
        let classifications = key.visible_classifications(&pipeline.id, &pipeline.classifications).unwrap_or_default();
        let counts = counts.counts_for(&pipeline.id, &classifications);
        let is_out = outages.iter().any(|outage| outage.model == pipeline.embedding_model);
        let status = match pipeline.status {
            PipelineStatus::Active if is_out => VisibleStatus::Degraded(Degraded::Degraded),
            status => VisibleStatus::Stored(status),
        };
        VisiblePipeline { pipeline, classifications, counts, status }
    }
}

impl<'a> From<&'a VisiblePipeline<'_>> for PipelineResponse<'a> {
    fn from(visible: &'a VisiblePipeline<'_>) -> PipelineResponse<'a> {
        let VisiblePipeline { pipeline, classifications, counts, status } = visible;
        let options = &pipeline.options;
        let policies = options.policies.iter().filter(|(name, _)| classifications.contains(name));
        let processing = counts.total - counts.ready - counts.failed;
        PipelineResponse {
            id: &pipeline.id,
            name: &pipeline.name,
            embedding_model: &pipeline.embedding_model,
            embedding_dimensions: pipeline.embedding_dimensions,
            text_splitter: &pipeline.text_splitter,
            text_splitter_params: &pipeline.splitter_parameters,
            classifications,
            description: options.description.as_deref(),
            metadata: &options.metadata,
            retrieval: &options.retrieval,
            chunk_header: pipeline.has_chunk_header(),
            policies: policies.map(|(name, policy)| (name.clone(), policy.clone())).collect(),
            status: *status,
            document_counts: DocumentCountsResponse {
                total: counts.total,
                ready: counts.ready,
                processing,
                failed: counts.failed,
            },
            created_at: DateTime(pipeline.created_at),
            updated_at: DateTime(pipeline.updated_at),
            revision: pipeline.revision,
        }
    }
}
