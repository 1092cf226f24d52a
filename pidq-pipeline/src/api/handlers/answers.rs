//! `/api/queries`: stored answers and feedback on them.
//!
//! Callers that may query a classification may read its stored answers. An answer is deleted with any of its source
//! documents, or when one is reclassified, since it contains their text.

use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, codes};
use pidq_store::domain::api_key::Verb;
use pidq_store::{NewAnswer, StoredAnswer};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::auth::request_key;
use crate::api::json_body;
use crate::api::json_body::reject_unknown_fields;
use crate::api::problems::{store_problem, validation};
use crate::generation::rag::Context;
use crate::platform::Platform;

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
    let text = |field: &str| answer[field].as_str().unwrap_or_default();
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
        tracing::error!(%error, "storing an answer failed; it cannot be retrieved later");
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
    let feedback: Feedback = json_body::from_object(body)?;
    if ![1, -1].contains(&feedback.rating) {
        return Err(validation("/rating", "A rating must be 1 (good) or -1 (bad)."));
    }
    if feedback.comment.as_ref().is_some_and(|comment| comment.chars().count() > MAX_COMMENT_LENGTH) {
        return Err(validation("/comment", &format!("A comment must have at most {MAX_COMMENT_LENGTH} characters.")));
    }
    let id = request.path("query_id")?;
    platform.store.rate_answer(id, feedback.rating, feedback.comment.as_deref()).await.map_err(store_problem)?;
    Response::json(&answer_json(
        platform,
        StoredAnswer { rating: Some(feedback.rating), comment: feedback.comment, ..stored_answer },
    ))
}

/// Returns the stored answer of a request if the caller may see it.
async fn find_answer(platform: &Platform, request: &Request) -> Result<StoredAnswer, Problem> {
    let (id, key) = (request.path("query_id")?, request_key(request)?);
    let stored_answer = platform
        .store
        .answer(id, (Timestamp::now() - platform.limits.answer_retention).0)
        .await
        .map_err(store_problem)?;
    let visible = stored_answer.filter(|answer| key.allows(&answer.pipeline_id, &answer.classification, Verb::Query));
    visible.ok_or_else(|| {
        Problem::new(codes::QUERY_NOT_FOUND).detail("Answer not found: its id is unknown or it is no longer stored.")
    })
}

fn answer_json(platform: &Platform, stored_answer: StoredAnswer) -> Value {
    let mut body = stored_answer.answer;
    let created = Timestamp(stored_answer.created_at);
    body["created_at"] = created.to_rfc3339().into();
    body["expires_at"] = (created + platform.limits.answer_retention).to_rfc3339().into();
    body["feedback"] =
        stored_answer.rating.map_or(Value::Null, |rating| json!({"rating": rating, "comment": stored_answer.comment}));
    body
}
