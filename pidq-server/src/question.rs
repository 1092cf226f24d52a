//! `POST /graph/{job_id}`: a query on the graph of a job.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pidq_core::error::Code;
use pidq_core::limits::MAX_QUERY;
use pidq_core::{Cancel, Graph, Limits, Profile, Query, Scratch};
use pidq_http::header::HeaderName;
use pidq_http::{Done, Fingerprint, Problem, Request, Response, StatusCode, Work};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use crate::answering::{self, Plain};
use crate::asker::Asker;
use crate::door::json::lone_surrogate;
use crate::graph::{CHANGE_VERSION, job, which};
use crate::graphs::{self, Queries};
use crate::memory::Memory;
use crate::meters::Meters;
use crate::problems::{limit_of, problem, query_problem, told};
use crate::rendering::{Failure, Media, Rendered, Rendering};
use crate::results::ResultKey;
use crate::server::{Budget, Server};
use crate::store::{Error, JobId, Meta, Tenant, Which};

/// The body of a query request.
#[derive(Deserialize)]
pub(crate) struct Asked {
    pub query: String,
    #[serde(default, deserialize_with = "present")]
    params: Option<Box<RawValue>>,
    #[serde(default)]
    explain: bool,
    #[serde(default)]
    dry_run: bool,
}

/// A member that is there, also if it is null: that is another mistake than leaving it out.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(deserializer).map(Some)
}

/// The members of a request. What serde only skips or keeps as it is must be sound too: UTF-8, and whole characters.
pub(crate) fn members<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let members = Request::object_in(body)?;
    let malformed = |detail: &str, offset| Err(problem(Error::MalformedJson { detail: detail.into(), offset }));
    match std::str::from_utf8(body).map(lone_surrogate) {
        Ok(None) => Ok(members),
        Ok(Some(offset)) => malformed("An escape is half a character", offset),
        Err(error) => malformed("It is not UTF-8", error.valid_up_to()),
    }
}

/// A query on a graph that is ready to run, on a thread for such work.
pub(crate) struct Task {
    pub graph: Arc<Graph>,
    pub queries: Arc<Queries>,
    pub memory: Arc<Memory>,
    pub asked: Arc<Asked>,
    pub rendering: Rendering,
    pub budget: Budget,
    pub cancel: Arc<Cancel>,
}

/// What a run gave.
pub(crate) struct Answer {
    pub rendered: Rendered,
    pub fuel: u64,
    /// Warnings and costs, where they were asked for.
    explained: Option<Json>,
}

/// `POST /graph/{job_id}`.
pub(crate) async fn ask(server: &Server, mut request: Request) -> Result<Response, Problem> {
    let (job, which, media) = (job(&request)?, which(&request)?, Media::wanted(&request)?);
    let asker = Asker::of(server, &request)?;
    asker.must_read(&job).await?;
    let meta = server.store.head(&asker.tenant, &job, &which).await.map_err(problem)?;
    let body = request.bytes().await?;
    let key = media.is_json().then(|| ResultKey::new(&asker.tenant, &meta, &body));
    if let Some(ready) = key.as_ref().and_then(|key| server.results.get(key)) {
        request.head.asks(ready.headers.query);
        return Ok(ready.again());
    }
    let asked: Asked = members(&body)?;
    asked.check()?;
    let query = Fingerprint::of(&asked.query);
    request.head.asks(query);
    let graph = graphs::of_version(&server.store, &server.graphs, &asker.tenant, &meta).await.map_err(problem)?;
    if let Some(key) = key.filter(|_| !asked.explain && !asked.dry_run) {
        let plain = Plain { graph, meta, queries: server.queries.clone(), asked, query, budget: server.budget };
        return answering::answer(server, &asker, plain, &key).await;
    }
    let rendering = Rendering { media, explain: asked.explain };
    let asked = Arc::new(asked);
    // Boxed, so that those above have a small future.
    let done = Box::pin(run(server, &asker.key, graph, asked.clone(), rendering)).await?;
    let waited = done.queued.as_millis() as u64;
    let answer = done.value.map_err(|failure| refused(failure, server, media))?;
    let keep = |result| server.memory.keep(&asker.key, result).ok_or_else(no_room);
    Ok(respond(&asked, &meta, media, answer, keep)?.note("queue_ms", waited))
}

/// The whole drawing in a form for other programs.
pub(crate) async fn drawing(
    server: &Server,
    asker: &Asker<'_>,
    meta: &Arc<Meta>,
    media: Media,
) -> Result<Bytes, Problem> {
    let graph = graphs::of_version(&server.store, &server.graphs, &asker.tenant, meta).await.map_err(problem)?;
    let asked = Arc::new(Asked::new("get()".into(), None)?);
    let done = run(server, &asker.key, graph, asked, Rendering::new(media)).await?;
    let answer = done.value.map_err(|failure| refused(failure, server, media))?;
    server.memory.keep(&asker.key, answer.rendered.body).ok_or_else(no_room)
}

/// Whether a query that many graphs are asked is one: its error is the same for all of them.
pub(crate) async fn must_compile(server: &Server, who: &str, asked: Arc<Asked>) -> Result<(), Problem> {
    let queries = server.queries.clone();
    let compiled = server.work.run_for(who, || {}, move || asked.compiled(&queries).map(|_| ())).await?;
    compiled.value.map_err(|error| refused(error.into(), server, Media::Lines))
}

/// A graph that is ready to be asked.
pub(crate) async fn open(
    server: &Server,
    tenant: &Tenant,
    job: &JobId,
    which: &Which,
) -> Result<(Arc<Meta>, Arc<Graph>), Problem> {
    graphs::open(&server.store, &server.graphs, tenant, job, which).await.map_err(problem)
}

/// Runs a query, on a thread for such work, within its time.
pub(crate) async fn run(
    server: &Server,
    who: &str,
    graph: Arc<Graph>,
    asked: Arc<Asked>,
    rendering: Rendering,
) -> Result<Done<Result<Answer, Failure>>, Problem> {
    let (queries, memory) = (server.queries.clone(), server.memory.clone());
    let (budget, cancel) = (server.budget, Arc::new(Cancel::default()));
    let task = Task { graph, queries, memory, asked, rendering, budget, cancel: cancel.clone() };
    within(&server.work, who, budget.time, cancel, move || task.perform()).await
}

/// Runs a job until its time is over or nobody waits for it.
pub(crate) async fn within<T: Send + 'static>(
    work: &Work,
    who: &str,
    time: Duration,
    cancel: Arc<Cancel>,
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<Done<T>, Problem> {
    let gone = cancel.clone();
    let mut run = std::pin::pin!(work.run_for(who, move || gone.cancel(), job));
    tokio::select! {
        done = &mut run => return done,
        () = tokio::time::sleep(time) => cancel.time_out(),
    }
    run.await
}

impl Asked {
    /// A query to run, and nothing beside.
    pub fn new(query: String, params: Option<Box<RawValue>>) -> Result<Asked, Problem> {
        let asked = Asked { query, params, explain: false, dry_run: false };
        asked.check()?;
        Ok(asked)
    }

    /// What serde does not see.
    fn check(&self) -> Result<(), Problem> {
        let wrong = |detail: &str| Err(Problem::bad_request("invalid-request", detail));
        match &self.params {
            _ if self.query.is_empty() => wrong("`query` is empty."),
            _ if self.query.len() > MAX_QUERY => Err(query_too_long()),
            Some(params) if !params.get().starts_with('{') => wrong("`params` is an object of values."),
            _ => Ok(()),
        }
    }

    /// The parameters as JSON.
    pub fn params(&self) -> &str {
        self.params.as_ref().map_or("{}", |params| params.get())
    }

    /// The query itself, from among those that were compiled. Blocks and takes a processor.
    pub fn compiled(&self, queries: &Queries) -> pidq_core::Result<Arc<Query>> {
        let (text, params) = (self.query.as_str(), self.params());
        queries.load(Profile::Pidq, text, params, || Query::with_params(text, params))
    }
}

impl Task {
    fn perform(&self) -> Result<Answer, Failure> {
        let query = self.asked.compiled(&self.queries)?;
        if self.asked.dry_run {
            return self.within_limits(|_, limits| self.check(&query, limits));
        }
        let mut answer = self.within_limits(|scratch, limits| self.run(&query, scratch, limits))?;
        if self.rendering.explain {
            answer.explained = Some(self.within_limits(|_, limits| self.explain(&query, limits))?);
        }
        Ok(answer)
    }

    fn within_limits<T>(&self, mut run: impl FnMut(&Scratch, Limits<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let output = self.budget.output_in(self.rendering.media);
        self.memory.run(self.budget.memory, &self.cancel, |scratch, memory| {
            run(scratch, Budget { memory, ..self.budget }.limits(output, &self.cancel))
        })
    }

    fn run(&self, query: &Query, scratch: &Scratch, limits: Limits<'_>) -> Result<Answer, Failure> {
        let outcome = query.run(&self.graph, scratch, limits)?;
        let rendered = self.rendering.media.write(&outcome, limits.output)?;
        Ok(Answer { rendered, fuel: outcome.fuel, explained: None })
    }

    fn explain(&self, query: &Query, limits: Limits<'_>) -> Result<Json, Failure> {
        let start = Instant::now();
        let explanation = query.explain(&self.graph, limits)?;
        let microseconds = start.elapsed().as_micros();
        let mut explained = json!(explanation);
        explained["milliseconds"] = json!(microseconds as f64 / 1000.0);
        Ok(explained)
    }

    /// `dry_run`: the query is compiled and looked at together with the graph.
    fn check(&self, query: &Query, limits: Limits<'_>) -> Result<Answer, Failure> {
        let mut warnings = query.check()?;
        warnings.extend(query.check_against(&self.graph, limits));
        let rendered = Rendered { body: b"[]".to_vec(), kind: "none" };
        Ok(Answer { rendered, fuel: 0, explained: Some(json!({"warnings": warnings})) })
    }
}

/// Before it is compiled, and also where there is no graph to ask.
fn query_too_long() -> Problem {
    Problem::unprocessable("query-limit", format!("A query has at most {MAX_QUERY} bytes."))
        .with("pq_code", Code::QueryTooLong.as_str())
        .with("limit", "query")
        .with("value", MAX_QUERY)
}

/// Why there is no answer.
pub(crate) fn refused(failure: Failure, server: &Server, media: Media) -> Problem {
    count(&failure, &server.meters);
    match failure {
        Failure::Query(error) => query_problem(&error, server.budget, server.budget.output_in(media)),
        Failure::File(error) => {
            Problem::unprocessable("result-not-exportable", error.to_string()).with("pq_code", error.code().as_str())
        }
    }
}

/// Counts a query that a limit has ended.
pub(crate) fn count(failure: &Failure, meters: &Meters) {
    if let Failure::Query(error) = failure
        && let Some(limit) = limit_of(error)
    {
        meters.ended(limit);
    }
}

/// A failure as a member of a row.
pub(crate) fn failure_row(failure: &Failure) -> Json {
    match failure {
        Failure::Query(error) => {
            let mut row = json!({"code": error.code().as_str(), "message": error.message()});
            told(error).into_iter().for_each(|(name, value)| row[name] = value);
            row
        }
        Failure::File(error) => json!({"code": error.code().as_str(), "message": error.to_string()}),
    }
}

fn respond(
    asked: &Asked,
    meta: &Meta,
    media: Media,
    answer: Answer,
    keep: impl FnOnce(Vec<u8>) -> Result<Bytes, Problem>,
) -> Result<Response, Problem> {
    let Answer { rendered, fuel, explained } = answer;
    // What a dry run tells has one form.
    let media = if asked.dry_run { Media::Json } else { media };
    let body = match media {
        Media::Json => envelope(asked, meta, &rendered.body, explained.as_ref()),
        _ => rendered.body,
    };
    let bytes = body.len() as u64;
    Ok(Response::new(StatusCode::OK, media.media_type(), keep(body)?)
        .header(RESULT_KIND, rendered.kind)
        .header(FUEL_USED, fuel.to_string())
        .header(CHANGE_VERSION, meta.version.as_str())
        .note("fuel", fuel)
        .note("bytes", bytes))
}

/// Results that are not read yet leave no room for this one.
pub(crate) fn no_room() -> Problem {
    Problem::unavailable("overloaded", "Too many results wait to be read. Read those, and try again.", 1)
}

pub(crate) const RESULT_KIND: HeaderName = HeaderName::from_static("x-result-kind");
pub(crate) const FUEL_USED: HeaderName = HeaderName::from_static("x-fuel-used");

/// The four members of the contract, in its order.
fn envelope(asked: &Asked, meta: &Meta, result: &[u8], explained: Option<&Json>) -> Vec<u8> {
    let [query, schema, version] = [&asked.query, &meta.schema_version, meta.version.as_str()].map(|text| json!(text));
    let head = format!(r#"{{"query":{query},"schema_version":{schema},"change_version":{version},"result":"#);
    let tail = explained.map_or_else(|| "}".into(), |explained| format!(r#","explain":{explained}}}"#));
    [head.as_bytes(), result, tail.as_bytes()].concat()
}
