//! The graph of a job: given out, put, deleted, listed. What goes out are the stored bytes.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use pidq_http::{Head, Problem, Request, Response, StatusCode, header};
use serde_json::{Value, json};

use crate::asker::{Asker, Reach};
use crate::door::{self, Doubt, Rules, Warning};
use crate::graphs::Wanted;
use crate::graphs::unpacked::Unpacked;
use crate::problems::problem;
use crate::rendering::Media;
use crate::server::Server;
use crate::store::{
    Coding, Committed, ETag, Error, JobId, Meta, Outcome, Precondition, StoredGraph, Tenant, Version, Which,
};

/// `GET /graph/{job_id}`.
pub(crate) async fn fetch(server: &Server, request: Request) -> Result<Response, Problem> {
    let (job, which) = (job(&request)?, which(&request)?);
    let media = Media::wanted(&request)?;
    let asker = Asker::of(server, &request)?;
    asker.must_read(&job).await?;
    if !media.is_json() {
        return exported(server, &request, &asker, (&job, &which), media).await;
    }
    let meta = server.store.head(&asker.tenant, &job, &which).await.map_err(problem)?;
    let packed = packed(&request.head, meta.size);
    if request.head.knows(meta.etag().as_str()) {
        let known = described(Response::unsent("application/json", meta.size), &meta);
        return Ok(if let Some(coding) = packed { known.encoded(coding) } else { known });
    }
    let wanted = Wanted { store: &server.store, tenant: &asker.tenant, meta: &meta, who: &asker.key };
    if packed == Some("gzip") {
        let (meta, bytes) = server.copies.in_gzip(wanted).await.map_err(problem)?;
        return Ok(described(Response::ok("application/json", bytes), &meta).encoded("gzip"));
    }
    let coding = if packed == Some("zstd") { Coding::Zstd } else { Coding::Identity };
    match server.copies.of_version(wanted, coding).await {
        Err(Error::NoRoom) if coding == Coding::Identity => unpacked(server, wanted).await,
        stored => Ok(whole(stored.map_err(problem)?)),
    }
}

/// A graph in a form for other programs. Who has it already is told so before it is made.
async fn exported(
    server: &Server,
    request: &Request,
    asker: &Asker<'_>,
    (job, which): (&JobId, &Which),
    media: Media,
) -> Result<Response, Problem> {
    let meta = server.store.head(&asker.tenant, job, which).await.map_err(problem)?;
    // The whole of a drawing in lines: its items.
    let media = if let Media::Lines = media { Media::Items } else { media };
    let (tag, kind) = (media.tag(&meta), media.media_type());
    let response = if request.head.knows(&tag) {
        // Nobody knows how long it would be: about as long as the drawing.
        Response::unsent(kind, meta.size)
    } else {
        Response::ok(kind, crate::question::drawing(server, asker, &meta, media).await?)
    };
    Ok(described(response, &meta).etag(tag))
}

/// The coding that a graph is kept in for this client: zstd, as it is stored, or gzip for those who do not know that. Who
/// takes neither gets what the floor makes while it is sent.
fn packed(head: &Head, size: u64) -> Option<&'static str> {
    let packs = |coding: &str| coding == "zstd" || size >= WORTH_PACKING;
    ["zstd", "gzip"].into_iter().find(|coding| head.accepts_encoding(coding) && packs(coding))
}

fn whole(stored: StoredGraph) -> Response {
    let response = described(Response::ok("application/json", stored.bytes), &stored.meta);
    if stored.coding == Coding::Zstd { response.encoded("zstd") } else { response }
}

/// A graph in little memory: unpacked while it is sent.
async fn unpacked(server: &Server, wanted: Wanted<'_>) -> Result<Response, Problem> {
    let stored = server.copies.of_version(wanted, Coding::Zstd).await.map_err(problem)?;
    if stored.coding == Coding::Identity {
        return Ok(whole(stored));
    }
    let room = server.memory.hold_soon(wanted.who, Unpacked::ROOM).await;
    let room = room.ok_or_else(|| problem(Error::NoRoom))?;
    let body = Unpacked::new(stored.bytes, stored.meta.size, &server.buffers, room).map_err(problem)?;
    Ok(described(Response::filled("application/json", body), &stored.meta))
}

/// Bytes of a graph that is worth packing.
const WORTH_PACKING: u64 = 1024;

/// `PUT /graph/{job_id}`.
pub(crate) async fn put(server: &Server, mut request: Request) -> Result<Response, Problem> {
    let (job, precondition) = (job(&request)?, precondition(&request.head)?);
    let doubt = if request.query()?.parsed::<bool>("strict")? == Some(true) { Doubt::Refused } else { Doubt::Listed };
    let asker = Asker::of(server, &request)?;
    let tenant = asker.tenant.clone();
    let latest = asker.must_write(&job).await?;
    if server.require_if_match && latest.is_there() && precondition == Precondition::None {
        return Err(precondition_required());
    }
    latest.check(&precondition)?;
    let body = body(&mut request, &server.rules).await?;
    let (rules, named) = (Rules { doubt, ..server.rules }, job.clone());
    let admitted = server.work.run(|| {}, move || door::admit(&named, body, &rules)).await?;
    let draft = admitted.value.map_err(problem)?;
    let warnings = draft.warnings.clone();
    if !latest.is_there() {
        asker.must_claim(&job).await?;
    }
    let committed = server.store.commit(&tenant, &job, draft, &precondition).await.map_err(problem)?;
    stored(&committed, &warnings)
}

/// The body, never more of it than a graph may be: a bomb ends when it has grown to that.
async fn body(request: &mut Request, rules: &Rules) -> Result<bytes::Bytes, Problem> {
    let limit = rules.bytes as u64;
    request.bytes_up_to(limit).await.map_err(|refused| match refused.code() {
        "payload-too-large" => problem(Error::GraphTooLarge { what: "bytes", limit }),
        _ => refused,
    })
}

/// `DELETE /graph/{job_id}`.
pub(crate) async fn delete(server: &Server, request: Request) -> Result<Response, Problem> {
    let (job, precondition) = (job(&request)?, precondition(&request.head)?);
    let asker = Asker::of(server, &request)?;
    if !asker.must_write(&job).await?.is_there() {
        return Err(problem(Error::GraphNotFound));
    }
    server.store.delete(&asker.tenant, &job, &precondition).await.map_err(problem)?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

/// `GET /graph/{job_id}/versions`.
pub(crate) async fn versions(server: &Server, request: Request) -> Result<Response, Problem> {
    let job = job(&request)?;
    let asker = Asker::of(server, &request)?;
    asker.must_read(&job).await?;
    let versions = server.store.versions(&asker.tenant, &job).await.map_err(problem)?;
    let rows: Vec<Value> = versions
        .iter()
        .map(|entry| json!({"change_version": entry.version.as_str(), "created_on": entry.created_on.to_rfc3339()}))
        .collect();
    let latest = latest(server, &asker.tenant, &job).await?;
    let latest = latest.as_ref().map(Version::as_str);
    Response::json(&json!({"job_id": job.as_str(), "versions": rows, "latest_version": latest}))
}

/// The latest version. None where it is damaged: one before it is not the latest.
async fn latest(server: &Server, tenant: &Tenant, job: &JobId) -> Result<Option<Version>, Problem> {
    match server.store.head(tenant, job, &Which::Latest).await {
        Ok(meta) => Ok(Some(meta.version.clone())),
        Err(Error::GraphCorrupt) => Ok(None),
        Err(error) => Err(problem(error)),
    }
}

/// `GET /graph`.
pub(crate) async fn list(server: &Server, request: Request) -> Result<Response, Problem> {
    let prefix = request.query()?.one("prefix")?.unwrap_or_default().to_owned();
    let asker = Asker::of(server, &request)?;
    let name = format!("graphs {} {prefix}", asker.tenant.as_str());
    let page = server.cursors.page(&request, &name, 100, 1000)?;
    let after = page.after.as_deref().and_then(|after| JobId::parse(after).ok());
    let mut found = readable(server, &asker.tenant, &asker.reach().await?, &prefix, after, page.limit + 1).await?;
    let has_more = found.len() > page.limit;
    found.truncate(page.limit);
    let next = found.last().filter(|_| has_more).map(|meta| server.cursors.seal(&name, meta.job.as_str()));
    let graphs: Vec<Value> = found.iter().map(|meta| row(meta)).collect();
    let response = Response::json(&json!({"graphs": graphs, "next": next}))?;
    Ok(if let Some(next) = next { response.next_page(&request, &next) } else { response })
}

/// The first so many jobs after one that may be read.
pub(crate) async fn readable(
    server: &Server,
    tenant: &Tenant,
    reach: &Reach,
    prefix: &str,
    mut after: Option<JobId>,
    limit: usize,
) -> Result<Vec<Arc<Meta>>, Problem> {
    let mut found = Vec::new();
    while found.len() < limit {
        let rows = server.store.list(tenant, prefix, after.as_ref(), limit).await.map_err(problem)?;
        let is_last = rows.len() < limit;
        after = rows.last().map(|meta| meta.job.clone());
        found.extend(rows.into_iter().filter(|meta| reach.may_read(&meta.job)));
        if is_last {
            break;
        }
    }
    found.truncate(limit);
    Ok(found)
}

/// The job of the path.
pub(crate) fn job(request: &Request) -> Result<JobId, Problem> {
    // What cannot be decoded is no id, as what has other letters is none.
    JobId::parse(request.path("job_id").unwrap_or_default()).map_err(problem)
}

/// The version that is asked for. A schema that is not ours is not acceptable.
pub(crate) fn which(request: &Request) -> Result<Which, Problem> {
    let schema = request.head.header(SCHEMA_VERSION).unwrap_or(SCHEMA);
    // A reader takes what has the same first number.
    if schema.trim().split('.').next() != Some(SCHEMA) {
        let detail = "There is no such schema version here.";
        let problem = Problem::new(StatusCode::NOT_ACCEPTABLE, "unsupported-schema-version").detail(detail);
        return Err(problem.with("allowed", json!([SCHEMA])));
    }
    let form = request.query()?;
    match (request.head.header(CHANGE_VERSION).map(str::trim), form.one("change_version")?) {
        (Some(header), Some(parameter)) if header != parameter => Err(two_versions()),
        (None, None) => Ok(Which::Latest),
        (Some(version), _) | (None, Some(version)) => Ok(Which::Version(Version::named(version))),
    }
}

fn two_versions() -> Problem {
    let detail = "`X-Change-Version` and `change_version` ask for two versions.";
    Problem::bad_request("invalid-parameter", detail).with("parameter", "change_version")
}

/// The headers that tell of a version.
pub(crate) fn described(response: Response, meta: &Meta) -> Response {
    let changed = UNIX_EPOCH + Duration::from_millis(meta.created_on.0);
    response
        .etag(meta.etag().as_str())
        .header(header::LAST_MODIFIED, httpdate::fmt_http_date(changed))
        .header(header::ACCEPT_RANGES, "none")
        .header(CHANGE_VERSION, meta.version.as_str())
}

/// The first number of the schema versions that there are.
const SCHEMA: &str = "1";

const SCHEMA_VERSION: header::HeaderName = header::HeaderName::from_static("x-schema-version");

/// The version that an answer is about.
pub(crate) const CHANGE_VERSION: header::HeaderName = header::HeaderName::from_static("x-change-version");

/// `If-Match` and `If-None-Match`, as a write understands them.
fn precondition(head: &Head) -> Result<Precondition, Problem> {
    let (wanted, unwanted) = (head.list(header::IF_MATCH), head.list(header::IF_NONE_MATCH));
    match (wanted.as_deref().map(str::trim), unwanted.as_deref().map(str::trim)) {
        (None, None) => Ok(Precondition::None),
        (Some("*"), None) => Ok(Precondition::Exists),
        (None, Some("*")) => Ok(Precondition::Absent),
        // Weak tags never match here, and what is no tag is one that no version has.
        (Some(tags), None) => Ok(Precondition::Is(tags.split(',').filter_map(ETag::parse).collect())),
        _ => Err(Problem::bad_request("invalid-request", "Send `If-Match`, or `If-None-Match: *`, and not both.")),
    }
}

fn precondition_required() -> Problem {
    Problem::new(StatusCode::PRECONDITION_REQUIRED, "precondition-required")
        .detail("Say which version this replaces: send its ETag in `If-Match`.")
}

fn stored(committed: &Committed, warnings: &[Warning]) -> Result<Response, Problem> {
    let meta = &committed.meta;
    let warnings: Vec<Value> = warnings
        .iter()
        .map(|w| json!({"code": w.code, "count": w.count, "detail": w.detail, "pointer": w.pointer}))
        .collect();
    let response = Response::json(&json!({
        "job_id": meta.job.as_str(),
        "schema_version": meta.schema_version,
        "change_version": meta.version.as_str(),
        "nodes": meta.nodes,
        "edges": meta.edges,
        "warnings": warnings,
    }))?;
    let response = response.etag(meta.etag().as_str());
    Ok(match committed.outcome {
        Outcome::Created => response.created(format!("/graph/{}", pidq_http::percent_encode(meta.job.as_str()))),
        Outcome::Changed => response,
        Outcome::Unchanged => response.header(header::HeaderName::from_static("x-pidq-unchanged"), "true"),
    })
}

fn row(meta: &Meta) -> Value {
    json!({
        "job_id": meta.job.as_str(),
        "drawing_name": meta.drawing_name,
        "schema_version": meta.schema_version,
        "change_version": meta.version.as_str(),
        "nodes": meta.nodes,
        "edges": meta.edges,
        "updated_on": meta.created_on.to_rfc3339(),
        "etag": meta.etag().to_header(Coding::Identity),
    })
}
