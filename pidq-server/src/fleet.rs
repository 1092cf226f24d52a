//! `POST /graph`: one query over many drawings, one line for each.

use std::collections::VecDeque;
use std::sync::Arc;

use pidq_http::{Lines, Problem, Request, Response};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use tokio::task::JoinHandle;

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

/// Most drawings of one request.
const MOST: usize = 100_000;
/// Drawings that are asked at once: enough to keep the threads busy while one is read.
const AT_ONCE: usize = 4;

/// A row, when it is there.
type Pending = JoinHandle<Row>;

/// What a drawing answered.
struct Row {
    job: JobId,
    version: Option<Version>,
    /// The result, as JSON.
    answer: Result<Box<RawValue>, Json>,
}

/// `POST /graph`.
pub(crate) async fn ask(server: &Arc<Server>, mut request: Request) -> Result<Response, Problem> {
    let fleet: Fleet = request.object().await?;
    let asked = Arc::new(Asked::new(fleet.query, fleet.params)?);
    let asker = Asker::of(server, &request)?;
    let jobs = chosen(server, &asker, Jobs::read(fleet.jobs)?).await?;
    let (lines, response) = Response::ndjson();
    let fleet = Sent { server: server.clone(), tenant: asker.tenant.clone(), key: asker.key.clone(), asked };
    tokio::spawn(send(Arc::new(fleet), jobs, lines));
    Ok(response)
}

/// The jobs that were meant, those that nobody may see among the ids with them: their rows say so.
async fn chosen(server: &Server, asker: &Asker<'_>, jobs: Jobs) -> Result<Vec<(JobId, bool)>, Problem> {
    let reach = asker.reach().await?;
    match jobs {
        Jobs::Prefix(prefix) => {
            let found = readable(server, &asker.tenant, &reach, &prefix, None, MOST).await?;
            Ok(found.iter().map(|meta| (meta.job.clone(), true)).collect())
        }
        Jobs::Ids(ids) if ids.len() > MOST => {
            Err(Problem::bad_request("invalid-request", format!("`jobs.ids` has more than {MOST} ids.")))
        }
        Jobs::Ids(ids) => {
            let jobs = ids.iter().map(|id| JobId::parse(id).map_err(problem));
            let jobs: Vec<JobId> = jobs.collect::<Result<_, _>>()?;
            Ok(jobs.into_iter().map(|job| (reach.may_read(&job), job)).map(|(may, job)| (job, may)).collect())
        }
    }
}

/// What all rows of a request share.
struct Sent {
    server: Arc<Server>,
    tenant: Tenant,
    key: Arc<str>,
    asked: Arc<Asked>,
}

/// Asks a few drawings at once and sends their rows in order, until nobody reads them any more.
async fn send(fleet: Arc<Sent>, jobs: Vec<(JobId, bool)>, mut lines: Lines) {
    let mut jobs = jobs.into_iter();
    let mut pending: VecDeque<Pending> = VecDeque::new();
    loop {
        while pending.len() < AT_ONCE
            && let Some((job, may_read)) = jobs.next()
        {
            pending.push_back(tokio::spawn(row(fleet.clone(), job, may_read)));
        }
        let Some(next) = pending.front_mut() else { break };
        let is_read = tokio::select! {
            row = next => match row {
                Ok(row) => lines.send(&row.into_json()).await.is_ok(),
                Err(_) => break,
            },
            () = lines.closed() => false,
        };
        if !is_read {
            // Dropping their handles would let them run on.
            pending.iter().for_each(JoinHandle::abort);
            return;
        }
        pending.pop_front();
    }
    // A reader who is gone by now misses nothing but the end.
    let _ = lines.finish().await;
}

async fn row(fleet: Arc<Sent>, job: JobId, may_read: bool) -> Row {
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
            Err(failure) => Err(failure_row(&failure)),
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
