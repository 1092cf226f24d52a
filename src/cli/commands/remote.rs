//! Administration of stored graphs through a remote service (`pidq graph --url`).

mod client;
mod credentials;
pub mod health;
mod problem;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use hyper::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};
use pidq_http::{Bytes, Method, percent_encode};
use serde_json::{Value as Json, json};

use super::serve;
use crate::cli::drawing_files;
use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::graph_import::{COLUMNS, Condition, ImportResult, graph_id_of};
use crate::cli::input;
use crate::cli::query_options;
use crate::cli::table::escape_controls;
pub use client::Client;
use client::{Call, ServiceResponse};
use credentials::Credentials;

/// Options of a remote service.
#[derive(Args)]
pub struct RemoteOptions {
    /// URL of the service, instead of a data directory
    #[arg(long, value_name = "URL", global = true)]
    pub url: Option<String>,

    /// File with the access token
    #[arg(long, value_name = "FILE", global = true)]
    token_file: Option<PathBuf>,

    /// Additional CA certificates, PEM
    #[arg(long, value_name = "FILE", global = true)]
    ca: Option<PathBuf>,

    /// Allow plain HTTP to another machine, for connections that are encrypted by other means
    #[arg(long, global = true)]
    insecure_http: bool,
}

/// Query on stored graphs of a service.
#[derive(Args)]
pub struct RemoteQuery {
    /// Query
    text: String,

    /// Graph ids. For one graph, the rows of its result are printed; for several, one line `{"job_id", "result" or
    /// "error"}` per graph
    graph_ids: Vec<String>,

    /// Query all graphs whose id starts with this prefix; '' selects all graphs
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["graph_ids", "format", "version"])]
    prefix: Option<String>,

    /// Response format for one graph: json is the whole response; csv, graphml, svg and others as for `pidq export`
    #[arg(long, default_value = "ndjson")]
    format: String,

    /// Version to query [default: latest]
    #[arg(long)]
    version: Option<String>,

    #[command(flatten)]
    query_params: query_options::QueryParams,

    /// Set $NAME to a whole stored graph: GRAPH is its id, ID@VERSION a version of it, and @VERSION one of the queried
    /// graph
    #[arg(long, num_args = 2, value_names = ["NAME", "GRAPH"], conflicts_with = "prefix")]
    graph_param: Vec<String>,
}

/// Page size of listings.
const PAGE_SIZE: usize = 1000;
/// Header with the graph version.
const CHANGE_VERSION: HeaderName = HeaderName::from_static("x-change-version");

impl RemoteOptions {
    /// Creates a client if a URL was given.
    pub fn open(&self) -> Result<Option<Client>> {
        let Some(url) = &self.url else { return Ok(None) };
        let ca_certificates = self.ca.as_deref().map(input::text).transpose()?;
        let credentials = Credentials::read(self.token_file.as_deref())?;
        Client::new(url, self.insecure_http, ca_certificates.as_deref(), credentials).map(Some)
    }
}

/// Uploads files.
pub async fn import(client: &mut Client, files: &[PathBuf], graph_id: Option<&str>, condition: &Condition) -> Result {
    for file in files {
        let body = fs::read(file).map_err(|error| Failure::unreadable(file, &error))?;
        let graph_id = graph_id_of(&body, file, graph_id)?;
        put(client, file, graph_id.as_str(), body.into(), condition).await?;
    }
    Ok(Status::Done)
}

async fn put(client: &mut Client, file: &Path, graph_id: &str, body: Bytes, condition: &Condition) -> Result {
    let call = upload_call(graph_id, body);
    let call = match condition {
        Condition::None => call,
        Condition::New => call.header(IF_NONE_MATCH, "*"),
        Condition::Replaces(tag) => call.header(IF_MATCH, tag),
    };
    let response = client.send(&call, Some(&file.display().to_string())).await?;
    let is_unchanged = response.header("x-pidq-unchanged").is_some();
    let stored = response.json().await?;
    let count = |name: &str| stored[name].as_u64().unwrap_or_default();
    let result = ImportResult {
        graph_id: &text(&stored["job_id"]),
        version: &text(&stored["change_version"]),
        is_unchanged,
        nodes: count("nodes"),
        edges: count("edges"),
        warnings: stored["warnings"].as_array().map_or(0, Vec::len),
    };
    print_findings(&stored["findings"], file);
    Ok(serve::print_text(&result.line())?)
}

/// Returns the request that stores a graph. The service converts drawings that are not JSON.
fn upload_call(graph_id: &str, body: Bytes) -> Call {
    match drawing_files::drawing_format(&body) {
        None => Call::new(Method::PUT, path(graph_id)).body("application/json", body),
        Some(format) => {
            let path = format!("{}?format={}", path(graph_id), format.name);
            Call::new(Method::PUT, path).body(format.media_type, body)
        }
    }
}

/// Prints what the service found when it converted a drawing.
fn print_findings(findings: &Json, file: &Path) {
    for finding in findings.as_array().into_iter().flatten() {
        let times = finding["count"].as_u64().filter(|count| *count > 1).map(|count| format!(" ({count} times)"));
        let [severity, code, message] = ["severity", "code", "message"].map(|name| text(&finding[name]));
        let line = format!("{severity}[{code}]: {message}{}", times.unwrap_or_default());
        failure::warn(&format!("{}: {line}\n", file.display()));
    }
}

/// Prints a stored graph.
pub async fn export(client: &mut Client, graph_id: &str, version: Option<&str>) -> Result {
    let response = client.send(&with_version(Call::new(Method::GET, path(graph_id)), version), None).await?;
    print_body(response).await
}

/// Lists the graphs.
pub async fn list(client: &mut Client, prefix: &str) -> Result {
    let mut rows = vec![COLUMNS.map(str::to_owned).to_vec()];
    let first = format!("/graph?limit={PAGE_SIZE}&prefix={}", percent_encode(prefix));
    let mut next = Some(first.clone());
    while let Some(page) = next {
        let page = client.send(&Call::new(Method::GET, page), None).await?.json().await?;
        rows.extend(page["graphs"].as_array().into_iter().flatten().map(row));
        next = page["next"].as_str().map(|cursor| format!("{first}&cursor={}", percent_encode(cursor)));
    }
    serve::print(&rows)
}

fn row(graph: &Json) -> Vec<String> {
    ["job_id", "change_version", "nodes", "edges", "updated_on", "etag", "drawing_name"]
        .map(|name| text(&graph[name]))
        .to_vec()
}

/// Deletes a graph with all its versions.
pub async fn delete(client: &mut Client, graph_id: &str) -> Result {
    client.send(&Call::new(Method::DELETE, path(graph_id)), None).await?;
    Ok(Status::Done)
}

/// Runs a query in the service.
pub async fn query(client: &mut Client, query: &RemoteQuery) -> Result {
    let params = query.query_params.params()?;
    let params: Json = serde_json::from_str(&params).map_err(|error| Failure::Usage(format!("--argjson: {error}")))?;
    let mut request = json!({"query": query.text, "params": params});
    if !query.graph_param.is_empty() {
        if query.graph_ids.len() > 1 {
            return Err(Failure::Usage("`--graph-param` needs a single queried graph".into()));
        }
        request["graph_params"] = graph_params(&query.graph_param)?;
    }
    let graphs = match (&query.prefix, &query.graph_ids[..]) {
        (None, []) => {
            return Err(Failure::Usage("no graphs given: name graph ids, or use `--prefix ''` for all".into()));
        }
        (None, [graph_id]) => return query_one(client, query, graph_id, &request).await,
        (None, graph_ids) => json!({"ids": graph_ids}),
        (Some(prefix), _) => json!({"prefix": prefix}),
    };
    request["graphs"] = graphs;
    print_rows(client.send(&post("/graph".into(), &request), None).await?).await
}

async fn query_one(client: &mut Client, query: &RemoteQuery, graph_id: &str, request: &Json) -> Result {
    let path = format!("{}?format={}", path(graph_id), percent_encode(&query.format));
    let call = with_version(post(path, request), query.version.as_deref());
    print_body(client.send(&call, None).await?).await
}

/// Returns the graphs and versions of `--graph-param` as fields of a request.
fn graph_params(options: &[String]) -> Result<Json> {
    let mut params = serde_json::Map::new();
    for pair in options.chunks_exact(2) {
        query_options::check_name(&pair[0])?;
        let (graph_id, version) = pair[1].split_once('@').map_or((&pair[1][..], None), |(id, at)| (id, Some(at)));
        let fields = [("job_id", Some(graph_id)), ("change_version", version)];
        let given = fields.into_iter().filter_map(|(name, value)| Some((name, value.filter(|text| !text.is_empty())?)));
        params.insert(pair[0].clone(), given.map(|(name, value)| (name.to_owned(), Json::from(value))).collect());
    }
    Ok(Json::Object(params))
}

fn post(path: String, body: &Json) -> Call {
    Call::new(Method::POST, path).body("application/json", body.to_string())
}

fn with_version(call: Call, version: Option<&str>) -> Call {
    match version {
        Some(version) => call.header(CHANGE_VERSION, version),
        None => call,
    }
}

fn path(graph_id: &str) -> String {
    format!("/graph/{}", percent_encode(graph_id))
}

/// Prints a response body as it arrives.
async fn print_body(mut response: ServiceResponse) -> Result {
    let mut out = io::stdout();
    while let Some(chunk) = response.chunk().await? {
        out.write_all(&chunk)?;
    }
    out.flush()?;
    Ok(Status::Done)
}

/// Prints rows as they arrive and returns their worst status.
async fn print_rows(mut response: ServiceResponse) -> Result {
    let (mut out, mut worst, mut partial) = (io::stdout(), Status::Done, Vec::new());
    while let Some(chunk) = response.chunk().await? {
        // Only new data is scanned, since a row may be long.
        let (lines, rest) = chunk.split_at(chunk.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        partial.extend_from_slice(lines);
        if !lines.is_empty() {
            worst = partial.split(|byte| *byte == b'\n').filter_map(error_row_status).fold(worst, Status::max);
            out.write_all(&partial)?;
            partial.clear();
        }
        partial.extend_from_slice(rest);
    }
    out.write_all(&partial)?;
    out.flush()?;
    Ok(worst)
}

/// Returns the exit status of an error row.
fn error_row_status(row: &[u8]) -> Option<Status> {
    #[derive(serde::Deserialize)]
    struct Row {
        error: Option<Json>,
    }
    let error = serde_json::from_slice::<Row>(row).ok()?.error?;
    Some(problem::exit_status(&error).unwrap_or(Status::Failed))
}

/// Formats a field as a cell, without control characters.
fn text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => escape_controls(text),
        other => escape_controls(&other.to_string()),
    }
}
