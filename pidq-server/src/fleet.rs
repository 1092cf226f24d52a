//! `POST /graph`: one query over many drawings, one line for each.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pidq_http::{Fingerprint, Problem, Request, Response, Sender, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::asker::Asker;
use crate::graph::readable;
use crate::problems::problem;
use crate::question::{self, Asked, failure_row, present};
use crate::rendering::{Media, Rendering};
use crate::server::Server;
use crate::store::{Error, JobId, Tenant, Version, Which};

/// The body of a fleet request.
#[derive(Deserialize)]
struct Fleet {
    query: String,
    #[serde(default, deserialize_with = "present")]
    params: Option<Box<RawValue>>,
    jobs: Map<String, Json>,
}

/// Which drawings are asked.
enum Jobs {
    Prefix(String),
    Ids(Vec<String>),
}

impl Jobs {
    /// One member, and no other.
    fn read(members: Map<String, Json>) -> Result<Jobs, Problem> {
        let is_one = members.len() == 1;
        let jobs = members.into_iter().next().filter(|_| is_one).and_then(|(name, value)| match (&*name, value) {
            ("prefix", Json::String(prefix)) => Some(Jobs::Prefix(prefix)),
            ("ids", ids) => serde_json::from_value(ids).ok().map(Jobs::Ids),
            _ => None,
        });
        let wrong = "`jobs` is an object with `prefix`, a text, or with `ids`, a list of texts.";
        jobs.ok_or_else(|| Problem::bad_request("invalid-request", wrong))
    }
}

/// Drawings that are asked at once: enough to keep the threads busy while one is read.
const AT_ONCE: usize = 4;

/// When a row that found no room is asked again.
const LATER: Duration = Duration::from_millis(100);

/// A line, when it is there. Whoever does not wait for it ends its query.
struct Pending(JoinHandle<Option<Bytes>>);

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a drawing answered.
struct Row {
    job: JobId,
    version: Option<Version>,
    /// The result, as JSON.
    answer: Result<Box<RawValue>, Json>,
}

/// `POST /graph`.
pub(crate) async fn ask(server: &Arc<Server>, mut request: Request) -> Result<Response, Problem> {
    let fleet: Fleet = question::members(&request.bytes().await?)?;
    let asked = Arc::new(Asked::new(fleet.query, fleet.params)?);
    request.head.asks(Fingerprint::of(&asked.query));
    let asker = Asker::of(server, &request)?;
    let jobs = Jobs::read(fleet.jobs)?;
    question::must_compile(server, &asker.key, asked.clone()).await?;
    let jobs = chosen(server, &asker, jobs).await?;
    let (lines, response) = Response::stream("application/x-ndjson");
    let fleet = Sent { server: server.clone(), tenant: asker.tenant.clone(), key: asker.key.clone(), asked };
    tokio::spawn(send(Arc::new(fleet), jobs, lines));
    Ok(response)
}

/// The jobs that were meant, those that nobody may see among the ids with them: their rows say so.
async fn chosen(server: &Server, asker: &Asker<'_>, jobs: Jobs) -> Result<Vec<(JobId, bool)>, Problem> {
    let reach = asker.reach().await?;
    let most = server.budget.graphs;
    match jobs {
        Jobs::Prefix(prefix) => {
            let found = readable(server, &asker.tenant, &reach, &prefix, None, most + 1).await?;
            // An answer about some of them would look like one about all.
            if found.len() > most {
                return Err(too_many(most));
            }
            Ok(found.iter().map(|meta| (meta.job.clone(), true)).collect())
        }
        Jobs::Ids(ids) if ids.len() > most => {
            Err(Problem::bad_request("invalid-request", format!("`jobs.ids` has more than {most} ids.")))
        }
        Jobs::Ids(ids) => {
            let jobs = ids.iter().map(|id| JobId::parse(id).map_err(problem));
            let jobs: Vec<JobId> = jobs.collect::<Result<_, _>>()?;
            Ok(jobs.into_iter().map(|job| (reach.may_read(&job), job)).map(|(may, job)| (job, may)).collect())
        }
    }
}

fn too_many(most: usize) -> Problem {
    let detail = format!("`jobs.prefix` fits more than {most} graphs: narrow it, and ask in several requests.");
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "too-many-graphs").detail(detail).with("limit", most)
}

/// What all rows of a request share.
struct Sent {
    server: Arc<Server>,
    tenant: Tenant,
    key: Arc<str>,
    asked: Arc<Asked>,
}

/// Asks a few drawings at once and sends their rows in order, until nobody reads them any more.
async fn send(fleet: Arc<Sent>, jobs: Vec<(JobId, bool)>, mut lines: Sender) {
    let (mut next, mut at_once) = (0, AT_ONCE);
    let mut pending: VecDeque<Pending> = VecDeque::new();
    loop {
        while pending.len() < at_once
            && let Some((job, may_read)) = jobs.get(next)
        {
            pending.push_back(Pending(tokio::spawn(line(fleet.clone(), job.clone(), *may_read))));
            next += 1;
        }
        let Some(first) = pending.front_mut() else { break };
        let line = tokio::select! {
            line = &mut first.0 => line,
            () = lines.closed() => return,
        };
        match line {
            Ok(Some(line)) => {
                if lines.send(line).await.is_err() {
                    return;
                }
                pending.pop_front();
                at_once = AT_ONCE;
            }
            Ok(None) => {
                // What was asked ahead gives back the memory that the first row needs.
                next -= pending.len();
                pending.clear();
                at_once = 1;
                tokio::select! { () = sleep(LATER) => {}, () = lines.closed() => return }
            }
            // A defect: an answer that breaks off says so.
            Err(_) => return,
        }
    }
    // A reader who is gone by now misses nothing but the end.
    let _ = lines.finish().await;
}

/// The row of a drawing as it is sent. None: results that nobody has read yet leave no room for it.
async fn line(fleet: Arc<Sent>, job: JobId, may_read: bool) -> Option<Bytes> {
    let row = row(&fleet, job, may_read).await.into_json();
    let mut line = serde_json::to_vec(&row).unwrap_or_default();
    drop(row);
    line.push(b'\n');
    fleet.server.memory.keep(&fleet.key, line)
}

async fn row(fleet: &Sent, job: JobId, may_read: bool) -> Row {
    if !may_read {
        return Row { job, version: None, answer: Err(refusal(&problem(Error::GraphNotFound))) };
    }
    let (meta, graph) = match question::open(&fleet.server, &fleet.tenant, &job, &Which::Latest).await {
        Ok(found) => found,
        Err(problem) => return Row { job, version: None, answer: Err(refusal(&problem)) },
    };
    let done = question::run(&fleet.server, &fleet.key, graph, fleet.asked.clone(), Rendering::new(Media::Json)).await;
    let answer = match done {
        Ok(done) => match done.value {
            Ok(answer) => raw(answer.rendered.body),
            Err(failure) => {
                question::count(&failure, &fleet.server.meters);
                Err(failure_row(&failure))
            }
        },
        Err(problem) => Err(refusal(&problem)),
    };
    Row { job, version: Some(meta.version.clone()), answer }
}

fn raw(json: Vec<u8>) -> Result<Box<RawValue>, Json> {
    let internal = || json!({"code": "internal", "message": "the result is not JSON"});
    let text = String::from_utf8(json).map_err(|_| internal())?;
    RawValue::from_string(text).map_err(|_| internal())
}

fn refusal(problem: &Problem) -> Json {
    json!({"code": problem.code(), "message": problem.code().replace('-', " ")})
}

impl Row {
    fn into_json(self) -> RowJson {
        let (result, error) = match self.answer {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        RowJson { job_id: self.job.as_str().into(), change_version: self.version.map(|v| v.to_string()), result, error }
    }
}

/// A row on the wire.
#[derive(serde::Serialize)]
struct RowJson {
    job_id: String,
    change_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Json>,
}
