//! Operations: work that takes long, that somebody asked for and can look after.

use std::sync::Arc;

use pidq_http::auth::Moment;
use pidq_http::{Problem, Request, Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::catalogue;
use crate::keys;
use crate::pipelines::{self, known_members, text_splitter};
use crate::platform::Platform;
use crate::problems::{stored, validation};
use crate::records::words;
use crate::store::Target;

words! {
    /// What is being done.
    Kind {
        /// Another index of a pipeline is made.
        Reindex = "reindex",
        /// A pipeline goes away with its documents.
        Delete = "delete",
    }
}

words! {
    /// How an operation is.
    State {
        /// It is under way.
        Running = "running",
        /// It is done.
        Succeeded = "succeeded",
        /// It was given up, and what was before is as it was.
        Failed = "failed",
        /// Somebody ended it, and what was before is as it was.
        Cancelled = "cancelled",
    }
}

/// Work that takes long.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// A UUID of version 7.
    pub id: String,
    /// What is being done.
    pub kind: Kind,
    /// With which pipeline.
    pub pipeline_id: String,
    /// How it is.
    pub state: State,
    /// How far it is.
    pub progress: Progress,
    /// Why it was given up.
    pub fault: Option<Fault>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

/// How far an operation is.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Progress {
    /// Documents that are done.
    pub done: i64,
    /// Of how many.
    pub total: Option<i64>,
    /// What was wrong the last time, if it is tried again.
    pub fault: Option<Fault>,
    /// When that is, in milliseconds since 1970.
    pub next_attempt_at: Option<i64>,
}

/// What was wrong.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Fault {
    /// What programs look at.
    pub code: String,
    /// What people read.
    pub message: String,
    /// The document that it was wrong with.
    pub document_id: Option<String>,
}

impl Operation {
    /// As the interface shows it.
    pub fn show(&self) -> Value {
        let moment = |milliseconds| Moment(milliseconds).to_rfc3339();
        json!({
            "id": self.id, "kind": self.kind.word(), "pipeline_id": self.pipeline_id, "status": self.state.word(),
            "terminal": self.state != State::Running,
            "progress": {"done": self.progress.done, "total": self.progress.total},
            "error": self.fault.as_ref().or(self.progress.fault.as_ref()),
            "next_attempt_at": self.progress.next_attempt_at.map(moment),
            "created_at": moment(self.created_at), "updated_at": moment(self.updated_at),
        })
    }

    /// 202, and where to look.
    pub(crate) fn accepted(&self) -> Result<Response, Problem> {
        let place = format!("/api/operations/{}", self.id);
        Ok(Response::json(&self.show())?.created(place).status(StatusCode::ACCEPTED))
    }
}

/// `GET /api/operations/{operation_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    Response::json(&of(platform, &request).await?.show())
}

/// `POST /api/operations/{operation_id}/cancel`: what was before stays.
pub(crate) async fn cancel(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let operation = of(platform, &request).await?;
    pipelines::must_see_all(&keys::of(&request)?)?;
    let conflict = |detail: &str| Problem::new(StatusCode::CONFLICT, "operation-not-cancellable").detail(detail);
    match (operation.kind, operation.state) {
        (Kind::Delete, State::Running) => return Err(conflict("A pipeline that goes away cannot be kept.")),
        (Kind::Reindex, State::Running) => platform.store.cancel_reindex(&operation).await.map_err(stored)?,
        _ => return Err(conflict("The operation is over.")),
    }
    Response::json(&of(platform, &request).await?.show())
}

/// The operation that a request names, if its pipeline exists, or did, for whoever asks.
async fn of(platform: &Platform, request: &Request) -> Result<Operation, Problem> {
    let (id, key) = (request.path("operation_id")?, keys::of(request)?);
    let operation = platform.store.operation(id).await.map_err(stored)?;
    let seen = operation.filter(|operation| key.labels(&operation.pipeline_id, &[]).is_some());
    seen.ok_or_else(|| Problem::not_found("operation-not-found").detail("There is no such operation."))
}

/// `POST /api/pipelines/{pipeline_id}/reindex`: another model, another splitter, or both; or the same once more.
pub(crate) async fn reindex(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = pipelines::of(platform, &request).await?;
    pipelines::must_see_all(&key)?;
    let body: Map<String, Value> = request.object().await?;
    known_members(&body, &["embedding_model", "text_splitter"])?;
    platform.licensing.admit()?;
    let embedding_model = match body.get("embedding_model") {
        None => pipeline.embedding_model.clone(),
        Some(Value::String(name)) => name.clone(),
        Some(_) => return Err(validation("/embedding_model", "This must be a text.")),
    };
    let (splitter, splitter_parameters) = match body.get("text_splitter") {
        None => (pipeline.text_splitter.clone(), pipeline.splitter_parameters.clone()),
        Some(given) => text_splitter(given)?,
    };
    let target = Target {
        embedding_dimensions: catalogue::dimensions(&platform.models, &embedding_model).await? as i64,
        embedding_model,
        text_splitter: splitter,
        splitter_parameters,
    };
    let operation = platform.store.begin_reindex(&pipeline.id, &target).await.map_err(stored)?;
    platform.bell.ring();
    operation.accepted()
}
