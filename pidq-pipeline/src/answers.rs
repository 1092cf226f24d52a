//! `/api/queries`: stored answers and feedback on them.
//!
//! Callers that may query a classification may read its stored answers. An answer is deleted with any of its source
//! documents, or when one is reclassified, since it contains their text.

use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, codes};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api_keys::{self, Verb};
use crate::json_body;
use crate::pipelines::reject_unknown_fields;
use crate::platform::Platform;
use crate::problems::{stored, validation};
use crate::rag::Context;
use crate::store::{NewAnswer, StoredAnswer};

/// Maximum length of a comment in characters.
const MAX_COMMENT_LENGTH: usize = 2000;

/// Feedback on an answer.
#[derive(Deserialize)]
struct Feedback {
    rating: i64,
    comment: Option<String>,
}

/// Stores an answer if retention is enabled. A storage error does not fail the request.
pub(crate) async fn save(platform: &Platform, answer: &Value, contexts: &[Context]) {
    if platform.limits.answer_retention.is_zero() {
        return;
    }
    let text = |member: &str| answer[member].as_str().unwrap_or_default();
    let mut documents: Vec<String> = contexts.iter().filter_map(|context| context.document_id.clone()).collect();
    documents.sort_unstable();
    documents.dedup();
    let new = NewAnswer {
        id: text("id"),
        pipeline_id: text("pipeline_id"),
        classification: text("classification"),
        answer,
        documents: &documents,
    };
    if let Err(error) = platform.store.save_answer(new).await {
        tracing::error!(%error, "storing a response failed");
    }
}

/// `GET /api/queries/{query_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let stored_answer = find_answer(platform, &request).await?;
    Response::json(&answer_json(platform, stored_answer))
}

/// `POST /api/queries/{query_id}/feedback`.
pub(crate) async fn feedback(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let stored_answer = find_answer(platform, &request).await?;
    let body: Map<String, Value> = request.object().await?;
    reject_unknown_fields(&body, &["rating", "comment"])?;
    let given: Feedback = json_body::from_object(body)?;
    if ![1, -1].contains(&given.rating) {
        return Err(validation("/rating", "A rating must be 1 (good) or -1 (bad)."));
    }
    if given.comment.as_ref().is_some_and(|comment| comment.chars().count() > MAX_COMMENT_LENGTH) {
        return Err(validation("/comment", &format!("A comment must have at most {MAX_COMMENT_LENGTH} characters.")));
    }
    let id = request.path("query_id")?;
    platform.store.rate_answer(id, given.rating, given.comment.as_deref()).await.map_err(stored)?;
    Response::json(&answer_json(
        platform,
        StoredAnswer { rating: Some(given.rating), comment: given.comment, ..stored_answer },
    ))
}

/// Returns the stored answer of a request if the caller may see it.
async fn find_answer(platform: &Platform, request: &Request) -> Result<StoredAnswer, Problem> {
    let (id, key) = (request.path("query_id")?, api_keys::from_request(request)?);
    let stored_answer =
        platform.store.answer(id, (Timestamp::now() - platform.limits.answer_retention).0).await.map_err(stored)?;
    let seen = stored_answer
        .filter(|stored_answer| key.allows(&stored_answer.pipeline_id, &stored_answer.classification, Verb::Query));
    seen.ok_or_else(|| Problem::new(codes::QUERY_NOT_FOUND).detail("Query not found, or its answer is not stored."))
}

fn answer_json(platform: &Platform, stored_answer: StoredAnswer) -> Value {
    let mut shown = stored_answer.answer;
    let created = Timestamp(stored_answer.created_at);
    shown["created_at"] = created.to_rfc3339().into();
    shown["kept_until"] = (created + platform.limits.answer_retention).to_rfc3339().into();
    shown["feedback"] =
        stored_answer.rating.map_or(Value::Null, |rating| json!({"rating": rating, "comment": stored_answer.comment}));
    shown
}
