//! `pidq graph --url`: the graphs of a service that runs somewhere, through its interface.

mod access;
mod client;
mod refusal;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use hyper::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};
use pidq_http::{Bytes, Method, percent_encode};
use serde_json::{Value as Json, json};

use super::failure::{Failure, Result, Status};
use super::store::{Condition, HEAD, Stored, job_of};
use super::table::clean;
use super::{input, service};
use access::Access;
pub use client::Client;
use client::{Answer, Call};

/// Which service, and what it is shown.
#[derive(Args)]
pub struct Remote {
    /// The service that keeps the graphs, in place of a data directory
    #[arg(long, value_name = "URL", global = true)]
    pub url: Option<String>,

    /// A file with the access token
    #[arg(long, value_name = "FILE", global = true)]
    token_file: Option<PathBuf>,

    /// Certificate authorities to believe beside the public ones, PEM
    #[arg(long, value_name = "FILE", global = true)]
    ca: Option<PathBuf>,

    /// Allow plain HTTP beyond this machine, where something else encrypts
    #[arg(long, global = true)]
    insecure_http: bool,
}

/// A query, the jobs that it is for, and how its answer is wanted.
#[derive(Args)]
pub struct Question {
    /// The query
    query: String,

    /// The jobs. One gives the rows of its result; several, a line `{"job_id", "result" or "error"}` each
    jobs: Vec<String>,

    /// Ask all jobs that begin so; '' is all that there are
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["jobs", "format", "version"])]
    prefix: Option<String>,

    /// The form of the answer for one job: json is the whole answer, csv, graphml, svg and more as for `pidq export`
    #[arg(long, default_value = "ndjson")]
    format: String,

    /// This version instead of the latest
    #[arg(long)]
    version: Option<String>,

    #[command(flatten)]
    named: super::question::Named,
}

/// The most graphs that are asked for at once.
const PAGE: usize = 1000;
/// The header that names a version.
const CHANGE_VERSION: HeaderName = HeaderName::from_static("x-change-version");

impl Remote {
    /// The service, where one is named.
    pub fn open(&self) -> Result<Option<Client>> {
        let Some(url) = &self.url else { return Ok(None) };
        let authorities = self.ca.as_deref().map(input::text).transpose()?;
        let access = Access::read(self.token_file.as_deref())?;
        Client::new(url, self.insecure_http, authorities.as_deref(), access).map(Some)
    }
}

/// Puts files in.
pub async fn import(client: &mut Client, files: &[PathBuf], job: Option<&str>, condition: &Condition) -> Result {
    for file in files {
        let body = fs::read(file).map_err(|error| Failure::unreadable(file, &error))?;
        let job = job_of(&body, file, job)?;
        put(client, file, job.as_str(), body.into(), condition).await?;
    }
    Ok(Status::Done)
}

async fn put(client: &mut Client, file: &Path, job: &str, body: Bytes, condition: &Condition) -> Result {
    let call = Call::new(Method::PUT, path(job)).body("application/json", body);
    let call = match condition {
        Condition::None => call,
        Condition::New => call.header(IF_NONE_MATCH, "*"),
        Condition::Replaces(tag) => call.header(IF_MATCH, tag),
    };
    let answer = client.ask(&call, Some(&file.display().to_string())).await?;
    let is_unchanged = answer.header("x-pidq-unchanged").is_some();
    let stored = answer.json().await?;
    let count = |name: &str| stored[name].as_u64().unwrap_or_default();
    let told = Stored {
        job: &text(&stored["job_id"]),
        version: &text(&stored["change_version"]),
        is_unchanged,
        nodes: count("nodes"),
        edges: count("edges"),
        warnings: stored["warnings"].as_array().map_or(0, Vec::len),
    };
    Ok(service::print_text(&told.line())?)
}

/// Prints a graph as it was stored.
pub async fn export(client: &mut Client, job: &str, version: Option<&str>) -> Result {
    let answer = client.ask(&of_version(Call::new(Method::GET, path(job)), version), None).await?;
    show(answer).await
}

/// Lists the graphs.
pub async fn list(client: &mut Client, prefix: &str) -> Result {
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    let first = format!("/graph?limit={PAGE}&prefix={}", percent_encode(prefix));
    let mut next = Some(first.clone());
    while let Some(page) = next {
        let page = client.ask(&Call::new(Method::GET, page), None).await?.json().await?;
        rows.extend(page["graphs"].as_array().into_iter().flatten().map(row));
        next = page["next"].as_str().map(|cursor| format!("{first}&cursor={}", percent_encode(cursor)));
    }
    service::print(&rows)
}

fn row(graph: &Json) -> Vec<String> {
    ["job_id", "change_version", "nodes", "edges", "updated_on", "etag", "drawing_name"]
        .map(|name| text(&graph[name]))
        .to_vec()
}

/// Deletes a graph with all its versions.
pub async fn delete(client: &mut Client, job: &str) -> Result {
    client.ask(&Call::new(Method::DELETE, path(job)), None).await?;
    Ok(Status::Done)
}

/// Asks the service.
pub async fn query(client: &mut Client, question: &Question) -> Result {
    let params = question.named.params()?;
    let params: Json = serde_json::from_str(&params).map_err(|error| Failure::Usage(format!("--argjson: {error}")))?;
    let mut asked = json!({"query": question.query, "params": params});
    let jobs = match (&question.prefix, &question.jobs[..]) {
        (None, []) => return Err(Failure::Usage("which jobs? Name them, or say `--prefix ''` for all".into())),
        (None, [job]) => return one(client, question, job, &asked).await,
        (None, jobs) => json!({"ids": jobs}),
        (Some(prefix), _) => json!({"prefix": prefix}),
    };
    asked["jobs"] = jobs;
    rows(client.ask(&post("/graph".into(), &asked), None).await?).await
}

async fn one(client: &mut Client, question: &Question, job: &str, asked: &Json) -> Result {
    let path = format!("{}?format={}", path(job), percent_encode(&question.format));
    let call = of_version(post(path, asked), question.version.as_deref());
    show(client.ask(&call, None).await?).await
}

fn post(path: String, body: &Json) -> Call {
    Call::new(Method::POST, path).body("application/json", body.to_string())
}

fn of_version(call: Call, version: Option<&str>) -> Call {
    match version {
        Some(version) => call.header(CHANGE_VERSION, version),
        None => call,
    }
}

fn path(job: &str) -> String {
    format!("/graph/{}", percent_encode(job))
}

/// Prints an answer as it comes.
async fn show(mut answer: Answer) -> Result {
    let mut out = io::stdout();
    while let Some(piece) = answer.piece().await? {
        out.write_all(&piece)?;
    }
    out.flush()?;
    Ok(Status::Done)
}

/// Prints rows as they come, and ends with the status of the worst.
async fn rows(mut answer: Answer) -> Result {
    let (mut out, mut worst, mut begun) = (io::stdout(), Status::Done, Vec::new());
    while let Some(piece) = answer.piece().await? {
        // Only what is new is looked through: a row may be long.
        let (lines, rest) = piece.split_at(piece.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        begun.extend_from_slice(lines);
        if !lines.is_empty() {
            worst = begun.split(|byte| *byte == b'\n').filter_map(failed).fold(worst, Status::max);
            out.write_all(&begun)?;
            begun.clear();
        }
        begun.extend_from_slice(rest);
    }
    out.write_all(&begun)?;
    out.flush()?;
    Ok(worst)
}

/// The status of a row that is an error.
fn failed(row: &[u8]) -> Option<Status> {
    #[derive(serde::Deserialize)]
    struct Row {
        error: Option<Json>,
    }
    let error = serde_json::from_slice::<Row>(row).ok()?.error?;
    Some(refusal::exit(&error).unwrap_or(Status::Failed))
}

/// A member as a cell: nothing of a service moves the cursor of a terminal.
fn text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => clean(text),
        other => clean(&other.to_string()),
    }
}
