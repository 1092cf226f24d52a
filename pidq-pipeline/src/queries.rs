//! `/api/queries`: answers that are kept for a while, and what their readers thought of them.
//!
//! Whoever may ask under a label may read what was asked under it. An answer is gone with any of the documents that the
//! model was shown for it, or with the label of one, since its text is theirs.

use std::sync::Arc;

use pidq_http::auth::Moment;
use pidq_http::{Problem, Request, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answer::Context;
use crate::bodies;
use crate::keys::{self, Verb};
use crate::pipelines::known_members;
use crate::platform::Platform;
use crate::problems::{stored, validation};
use crate::store::{KeptQuery, NewQuery};

/// The longest comment, in characters.
const COMMENT: usize = 2000;

/// What somebody thought of an answer.
#[derive(Deserialize)]
struct Feedback {
    rating: i64,
    comment: Option<String>,
}

/// Keeps an answer, if answers are kept. One that cannot be kept is an answer all the same.
pub(crate) async fn keep(platform: &Platform, answer: &Value, contexts: &[Context]) {
    if platform.limits.retention.is_zero() {
        return;
    }
    let text = |member: &str| answer[member].as_str().unwrap_or_default();
    let mut documents: Vec<String> = contexts.iter().filter_map(|context| context.document_id.clone()).collect();
    documents.sort_unstable();
    documents.dedup();
    let new = NewQuery {
        id: text("id"),
        pipeline_id: text("pipeline_id"),
        classification: text("classification"),
        answer,
        documents: &documents,
    };
    if let Err(error) = platform.store.keep_query(new).await {
        tracing::error!(%error, "an answer could not be kept");
    }
}

/// `GET /api/queries/{query_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let kept = of(platform, &request).await?;
    Response::json(&shown(platform, kept))
}

/// `POST /api/queries/{query_id}/feedback`.
pub(crate) async fn feedback(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let kept = of(platform, &request).await?;
    let body: Map<String, Value> = request.object().await?;
    known_members(&body, &["rating", "comment"])?;
    let given: Feedback = bodies::read(body)?;
    if ![1, -1].contains(&given.rating) {
        return Err(validation("/rating", "A rating is 1 for a good answer, -1 for a bad one."));
    }
    if given.comment.as_ref().is_some_and(|comment| comment.chars().count() > COMMENT) {
        return Err(validation("/comment", &format!("A comment has at most {COMMENT} characters.")));
    }
    let id = request.path("query_id")?;
    platform.store.rate_query(id, given.rating, given.comment.as_deref()).await.map_err(stored)?;
    Response::json(&shown(platform, KeptQuery { rating: Some(given.rating), comment: given.comment, ..kept }))
}

/// The answer that a request names, if it is kept and whoever asks may see it.
async fn of(platform: &Platform, request: &Request) -> Result<KeptQuery, Problem> {
    let (id, key) = (request.path("query_id")?, keys::of(request)?);
    let kept = platform.store.query(id, (Moment::now() - platform.limits.retention).0).await.map_err(stored)?;
    let seen = kept.filter(|kept| key.may(&kept.pipeline_id, &kept.classification, Verb::Query));
    seen.ok_or_else(|| Problem::not_found("query-not-found").detail("There is no such query, or it is not kept."))
}

fn shown(platform: &Platform, kept: KeptQuery) -> Value {
    let mut shown = kept.answer;
    let created = Moment(kept.created_at);
    shown["created_at"] = created.to_rfc3339().into();
    shown["kept_until"] = (created + platform.limits.retention).to_rfc3339().into();
    shown["feedback"] = kept.rating.map_or(Value::Null, |rating| json!({"rating": rating, "comment": kept.comment}));
    shown
}
