//! Handlers of stored graphs: get, put, delete and list. Responses contain the stored bytes.

use std::sync::Arc;

use pidq_formats::Diagnostic;
use pidq_http::{Head, Problem, Request, Response, StatusCode, codes, header};
use schemars::JsonSchema;
use serde::Serialize;

use crate::caches::BodyRequest;
use crate::caches::decompressing_body::DecompressingBody;
use crate::caller::{AccessScope, Caller};
use crate::graph_selector::{graph_id, version_selector, with_version_headers};
use crate::problems::problem;
use crate::query::task::export_graph;
use crate::response_format::ResponseFormat;
use crate::server::Server;
use crate::store::validation::{self, GraphDraft, JobIdPolicy, ValidationRules, Warning, WarningPolicy};
use crate::store::{
    Coding, CommitOutcome, CommitResult, ETag, Error, GraphId, GraphMeta, Precondition, StoredGraph, Tenant, Version,
    VersionEntry, VersionSelector,
};
use crate::upload::{ConvertedUpload, NamedFormat, Upload};

/// Page of a list of graphs.
#[derive(JsonSchema, Serialize)]
pub(crate) struct GraphPage<'a> {
    /// Graphs, ordered by id.
    graphs: Vec<GraphEntry<'a>>,
    /// Cursor of the next page. Null on the last page.
    next: Option<&'a str>,
}

/// Latest version of a graph, in a list.
#[derive(JsonSchema, Serialize)]
struct GraphEntry<'a> {
    /// Graph id.
    job_id: &'a str,
    /// Name of the drawing. Null if the graph has none.
    drawing_name: Option<&'a str>,
    /// Schema version.
    schema_version: &'a str,
    /// Latest version.
    change_version: &'a str,
    /// Number of nodes.
    nodes: u64,
    /// Number of edges.
    edges: u64,
    /// Time at which the version was stored.
    #[schemars(extend("format" = "date-time"))]
    updated_on: String,
    /// Entity tag of the version, with quotation marks.
    etag: String,
}

impl<'a> GraphEntry<'a> {
    fn new(meta: &'a GraphMeta) -> GraphEntry<'a> {
        GraphEntry {
            job_id: meta.graph_id.as_str(),
            drawing_name: meta.drawing_name.as_deref(),
            schema_version: &meta.schema_version,
            change_version: meta.version.as_str(),
            nodes: meta.nodes,
            edges: meta.edges,
            updated_on: meta.created_on.to_rfc3339(),
            etag: meta.etag().to_header(Coding::Identity),
        }
    }
}

/// Retained versions of a graph.
#[derive(JsonSchema, Serialize)]
pub(crate) struct GraphVersions<'a> {
    /// Graph id.
    job_id: &'a str,
    /// Versions, newest first.
    versions: Vec<GraphVersion<'a>>,
    /// Latest version. Null if it is corrupt: an older version is not the latest.
    latest_version: Option<&'a str>,
}

/// Version of a graph.
#[derive(JsonSchema, Serialize)]
struct GraphVersion<'a> {
    /// Version.
    change_version: &'a str,
    /// Time at which it was stored.
    #[schemars(extend("format" = "date-time"))]
    created_on: String,
}

impl<'a> GraphVersion<'a> {
    fn new(entry: &'a VersionEntry) -> GraphVersion<'a> {
        GraphVersion { change_version: entry.version.as_str(), created_on: entry.created_on.to_rfc3339() }
    }
}

/// Stored version of a graph.
#[derive(JsonSchema, Serialize)]
pub(crate) struct PutResult<'a> {
    /// Graph id.
    job_id: &'a str,
    /// Schema version.
    schema_version: &'a str,
    /// New version, or the latest one if the content is unchanged.
    change_version: &'a str,
    /// Number of nodes.
    nodes: u64,
    /// Number of edges.
    edges: u64,
    /// Warnings on the quality of the data.
    warnings: Vec<GraphWarning<'a>>,
    /// Format of the body.
    format: &'a str,
    /// Parts of a drawing in another format that were lost, changed or found invalid, at most 1,000. The graph has all of
    /// them in `metadata.diagnostics`.
    findings: Vec<ImportFinding<'a>>,
}

/// Finding about a drawing in another format.
#[derive(JsonSchema, Serialize)]
struct ImportFinding<'a> {
    /// Code of the kind of finding, such as `I005`.
    code: &'static str,
    /// `warning`: imported with changes, or contradictory in the file; `info`: left out on purpose.
    severity: &'static str,
    /// Description.
    message: &'a str,
    /// Number of occurrences.
    count: usize,
    /// Ids of the nodes and edges concerned, at most 100.
    ids: &'a [String],
}

impl<'a> ImportFinding<'a> {
    fn new(diagnostic: &'a Diagnostic) -> ImportFinding<'a> {
        let Diagnostic { finding, message, ids, count } = diagnostic;
        let (code, severity) = (finding.code(), finding.severity().as_str());
        ImportFinding { code, severity, message, count: *count, ids: &ids[..ids.len().min(MAX_FINDING_IDS)] }
    }
}

/// Warning on the quality of the data of a graph.
#[derive(JsonSchema, Serialize)]
struct GraphWarning<'a> {
    /// Code of the rule, such as `G020`; `duplicate-key` for keys.
    code: &'static str,
    /// Number of occurrences.
    count: u64,
    /// Description of the first occurrence.
    detail: &'a str,
    /// JSON pointer (RFC 6901) to the first occurrence.
    pointer: &'a str,
}

impl<'a> GraphWarning<'a> {
    fn new(Warning { code, count, detail, pointer }: &'a Warning) -> GraphWarning<'a> {
        GraphWarning { code, count: *count, detail, pointer }
    }
}

/// Handles `GET /graph/{job_id}`.
pub(crate) async fn get(server: &Server, request: Request) -> Result<Response, Problem> {
    let (graph_id, version_selector) = (graph_id(&request)?, version_selector(&request)?);
    let format = ResponseFormat::from_request(&request)?;
    let caller = Caller::from_request(server, &request)?;
    caller.require_read(&graph_id).await?;
    if !format.is_json() {
        return export_response(server, &request, &caller, (&graph_id, &version_selector), format).await;
    }
    let meta = server.store.head(&caller.tenant, &graph_id, &version_selector).await.map_err(problem)?;
    let stored_encoding = stored_encoding(&request.head, meta.size);
    if request.head.has_cached(meta.etag().as_str()) {
        let known = with_version_headers(Response::not_modified("application/json", meta.size), &meta);
        return Ok(if let Some(coding) = stored_encoding { known.encoded(coding) } else { known });
    }
    let body_request =
        BodyRequest { store: &server.store, tenant: &caller.tenant, meta: &meta, owner: &caller.fairness_key };
    if stored_encoding == Some("gzip") {
        let (meta, bytes) = server.body_cache.gzip(body_request).await.map_err(problem)?;
        return Ok(with_version_headers(Response::ok("application/json", bytes), &meta).encoded("gzip"));
    }
    let coding = if stored_encoding == Some("zstd") { Coding::Zstd } else { Coding::Identity };
    match server.body_cache.load(body_request, coding).await {
        Err(Error::Overloaded) if coding == Coding::Identity => decompressing_response(server, body_request).await,
        stored => Ok(stored_response(stored.map_err(problem)?)),
    }
}

/// Exports a graph in a non-JSON format. A matching `If-None-Match` is checked before the export.
async fn export_response(
    server: &Server,
    request: &Request,
    caller: &Caller<'_>,
    (graph_id, version_selector): (&GraphId, &VersionSelector),
    format: ResponseFormat,
) -> Result<Response, Problem> {
    let meta = server.store.head(&caller.tenant, graph_id, version_selector).await.map_err(problem)?;
    // As NDJSON, a whole graph is the sequence of its items.
    let format = if let ResponseFormat::Lines = format { ResponseFormat::Items } else { format };
    let (tag, kind) = (format.etag(&meta), format.media_type());
    let response = if request.head.has_cached(&tag) {
        // The export size is unknown; the size of the graph is an estimate.
        Response::not_modified(kind, meta.size)
    } else {
        Response::ok(kind, export_graph(server, caller, &meta, format).await?)
    };
    Ok(with_version_headers(response, &meta).etag(tag))
}

/// Returns the content coding of a shared, stored body that the client accepts: zstd as stored, else gzip. For other
/// clients the response is compressed, if at all, while it is sent.
fn stored_encoding(head: &Head, size: u64) -> Option<&'static str> {
    let is_available = |coding: &str| coding == "zstd" || size >= MIN_COMPRESSED_SIZE;
    ["zstd", "gzip"].into_iter().find(|coding| head.accepts_encoding(coding) && is_available(coding))
}

fn stored_response(stored: StoredGraph) -> Response {
    let response = with_version_headers(Response::ok("application/json", stored.bytes), &stored.meta);
    if stored.coding == Coding::Zstd { response.encoded("zstd") } else { response }
}

/// Streams a graph with little memory, decompressing it while it is sent.
async fn decompressing_response(server: &Server, body_request: BodyRequest<'_>) -> Result<Response, Problem> {
    let stored = server.body_cache.load(body_request, Coding::Zstd).await.map_err(problem)?;
    if stored.coding == Coding::Identity {
        return Ok(stored_response(stored));
    }
    let reservation = server.memory_pool.reserve_within_timeout(body_request.owner, DecompressingBody::MEMORY).await;
    let reservation = reservation.ok_or_else(|| problem(Error::Overloaded))?;
    let body =
        DecompressingBody::new(stored.bytes, stored.meta.size, &server.buffer_pool, reservation).map_err(problem)?;
    Ok(with_version_headers(Response::from_producer("application/json", body), &stored.meta))
}

/// Minimum size in bytes of a graph that is sent compressed.
const MIN_COMPRESSED_SIZE: u64 = 1024;

/// Maximum number of findings about an import in a response.
const MAX_FINDINGS: usize = 1_000;
/// Maximum number of ids in a finding of a response.
const MAX_FINDING_IDS: usize = 100;

/// Handles `PUT /graph/{job_id}`.
pub(crate) async fn put(server: &Server, mut request: Request) -> Result<Response, Problem> {
    let (graph_id, precondition) = (graph_id(&request)?, precondition(&request.head)?);
    let named_format = NamedFormat::from_request(&request)?;
    let warning_policy = if request.query()?.parsed::<bool>("strict")? == Some(true) {
        WarningPolicy::Reject
    } else {
        WarningPolicy::Allow
    };
    let caller = Caller::from_request(server, &request)?;
    let tenant = caller.tenant.clone();
    let latest = caller.require_write(&graph_id).await?;
    if server.require_if_match && latest.exists() && precondition == Precondition::None {
        return Err(precondition_required());
    }
    latest.check(&precondition)?;
    let upload = Upload::read(&mut request, named_format, server.validation.bytes as u64).await?;
    let (rules, expected_id) = (ValidationRules { warnings: warning_policy, ..server.validation }, graph_id.clone());
    let permit = match upload.graph_size() {
        Some(size) => server.upload_permits.graphs.acquire(size).await,
        None => server.upload_permits.acquire_import().await,
    };
    let convert = move || {
        let _permit = permit;
        draft_of_upload(&expected_id, upload, rules)
    };
    let converted = server.thread_pool.run(|| {}, convert).await?;
    let (draft, report) = converted.value?;
    if !latest.exists() {
        caller.require_claim(&graph_id).await?;
    }
    let committed = server.store.commit(&tenant, &graph_id, draft, &precondition).await.map_err(problem)?;
    put_response(&committed, &report)
}

/// Report on a stored graph: its format, and the findings and warnings of the upload.
struct UploadReport {
    format: &'static str,
    findings: Vec<Diagnostic>,
    warnings: Vec<Warning>,
}

/// Converts an upload to the JSON of a graph and validates it. CPU-bound.
fn draft_of_upload(
    graph_id: &GraphId,
    upload: Upload,
    rules: ValidationRules,
) -> Result<(GraphDraft, UploadReport), Problem> {
    let is_graph = upload.graph_size().is_some();
    let converted = upload.into_graph_json(rules.bytes)?;
    if rules.warnings == WarningPolicy::Reject {
        converted.check_strict().map_err(problem)?;
    }
    let job_id = if is_graph { rules.job_id } else { JobIdPolicy::Replace };
    let ConvertedUpload { json, format, findings } = converted;
    let draft = validation::validate(graph_id, json, &ValidationRules { job_id, ..rules }).map_err(problem)?;
    let warnings = draft.warnings.clone();
    Ok((draft, UploadReport { format, findings, warnings }))
}

/// Handles `DELETE /graph/{job_id}`.
pub(crate) async fn delete(server: &Server, request: Request) -> Result<Response, Problem> {
    let (graph_id, precondition) = (graph_id(&request)?, precondition(&request.head)?);
    let caller = Caller::from_request(server, &request)?;
    if !caller.require_write(&graph_id).await?.exists() {
        return Err(problem(Error::GraphNotFound));
    }
    server.store.delete(&caller.tenant, &graph_id, &precondition).await.map_err(problem)?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

/// Handles `GET /graph/{job_id}/versions`.
pub(crate) async fn versions(server: &Server, request: Request) -> Result<Response, Problem> {
    let graph_id = graph_id(&request)?;
    let caller = Caller::from_request(server, &request)?;
    caller.require_read(&graph_id).await?;
    let versions = server.store.versions(&caller.tenant, &graph_id).await.map_err(problem)?;
    let latest = latest_version(server, &caller.tenant, &graph_id).await?;
    Response::json(&GraphVersions {
        job_id: graph_id.as_str(),
        versions: versions.iter().map(GraphVersion::new).collect(),
        latest_version: latest.as_ref().map(Version::as_str),
    })
}

/// Returns the latest version, or `None` if it is corrupt: an older version is not the latest.
async fn latest_version(server: &Server, tenant: &Tenant, graph_id: &GraphId) -> Result<Option<Version>, Problem> {
    match server.store.head(tenant, graph_id, &VersionSelector::Latest).await {
        Ok(meta) => Ok(Some(meta.version.clone())),
        Err(Error::GraphCorrupt) => Ok(None),
        Err(error) => Err(problem(error)),
    }
}

/// Handles `GET /graph`.
pub(crate) async fn list(server: &Server, request: Request) -> Result<Response, Problem> {
    let prefix = request.query()?.single("prefix")?.unwrap_or_default().to_owned();
    let caller = Caller::from_request(server, &request)?;
    let name = format!("graphs {} {prefix}", caller.tenant.as_str());
    let page = server.cursors.page(&request, &name, 100, 1000)?;
    let after = page.after.as_deref().and_then(|after| GraphId::parse(after).ok());
    let mut found =
        list_readable(server, &caller.tenant, &caller.access_scope().await?, &prefix, after, page.limit + 1).await?;
    let has_more = found.len() > page.limit;
    found.truncate(page.limit);
    let next = found.last().filter(|_| has_more).map(|meta| server.cursors.sign(&name, meta.graph_id.as_str()));
    let graphs = found.iter().map(|meta| GraphEntry::new(meta)).collect();
    let response = Response::json(&GraphPage { graphs, next: next.as_deref() })?;
    Ok(if let Some(next) = next { response.next_page(&request, &next) } else { response })
}

/// Returns up to `limit` readable graphs after `after`.
pub(crate) async fn list_readable(
    server: &Server,
    tenant: &Tenant,
    access: &AccessScope,
    prefix: &str,
    mut after: Option<GraphId>,
    limit: usize,
) -> Result<Vec<Arc<GraphMeta>>, Problem> {
    let mut found = Vec::new();
    while found.len() < limit {
        let rows = server.store.list(tenant, prefix, after.as_ref(), limit).await.map_err(problem)?;
        let is_last = rows.len() < limit;
        after = rows.last().map(|meta| meta.graph_id.clone());
        found.extend(rows.into_iter().filter(|meta| access.may_read(&meta.graph_id)));
        if is_last {
            break;
        }
    }
    found.truncate(limit);
    Ok(found)
}

/// Parses `If-Match` and `If-None-Match` of a write.
fn precondition(head: &Head) -> Result<Precondition, Problem> {
    let (if_match, if_none_match) = (head.list(header::IF_MATCH), head.list(header::IF_NONE_MATCH));
    match (if_match.as_deref().map(str::trim), if_none_match.as_deref().map(str::trim)) {
        (None, None) => Ok(Precondition::None),
        (Some("*"), None) => Ok(Precondition::Exists),
        (None, Some("*")) => Ok(Precondition::Absent),
        // Weak and malformed tags never match.
        (Some(tags), None) => Ok(Precondition::Is(tags.split(',').filter_map(ETag::parse).collect())),
        _ => Err(Problem::new(codes::INVALID_REQUEST).detail("Send either `If-Match` or `If-None-Match: *`.")),
    }
}

fn precondition_required() -> Problem {
    Problem::new(codes::PRECONDITION_REQUIRED)
        .detail("This write requires `If-Match` with the ETag of the version it replaces.")
}

fn put_response(committed: &CommitResult, report: &UploadReport) -> Result<Response, Problem> {
    let meta = &committed.meta;
    let response = Response::json(&PutResult {
        job_id: meta.graph_id.as_str(),
        schema_version: &meta.schema_version,
        change_version: meta.version.as_str(),
        nodes: meta.nodes,
        edges: meta.edges,
        warnings: report.warnings.iter().map(GraphWarning::new).collect(),
        format: report.format,
        findings: report.findings.iter().take(MAX_FINDINGS).map(ImportFinding::new).collect(),
    })?;
    let response = response.etag(meta.etag().as_str());
    Ok(match committed.outcome {
        CommitOutcome::Created => {
            response.created(format!("/graph/{}", pidq_http::percent_encode(meta.graph_id.as_str())))
        }
        CommitOutcome::Changed => response,
        CommitOutcome::Unchanged => response.header(header::HeaderName::from_static("x-pidq-unchanged"), "true"),
    })
}
