//! `/api/queries`: stored answers and feedback on them.
//!
//! Callers that may query a classification may read its stored answers. An answer is deleted with any of its source
//! documents, or when one is reclassified, since it contains their text.

use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, codes};
use pidq_store::StoredAnswer;
use pidq_store::domain::api_key::Verb;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::auth::request_key;
use crate::api::handlers::search::SearchWarning;
use crate::api::json_body;
use crate::api::problems::{store_problem, validation};
use crate::api::schema::{DateTime, Uuid};
use crate::generation::rag::{CheckedSentence, Citation, Context, Reason};
use crate::llm::Usage;
use crate::platform::Platform;

/// Maximum length of a comment in characters.
const MAX_COMMENT_LENGTH: usize = 2000;

/// Answer to a question.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Answer")]
pub(crate) struct AnswerResponse<'a> {
    /// Id: `qry_` and a UUID.
    pub id: &'a str,
    /// The pipeline.
    #[schemars(with = "Uuid")]
    pub pipeline_id: &'a str,
    /// Classification of the documents.
    pub classification: &'a str,
    /// The question.
    pub query: &'a str,
    /// Text of the answer, with citations such as `[1]`.
    pub answer: String,
    /// `true` if the question is answered.
    pub answered: bool,
    /// Reason why it is not answered, or a defect of the answer.
    pub reason: Option<Reason>,
    /// Finish reason of the model.
    pub finish_reason: Option<String>,
    /// Name of the model; `extractive` for an answer that consists of quotes, if the question names no model.
    pub model: String,
    /// Cited passages, in order of their first citation.
    pub citations: Vec<Citation>,
    /// Cited numbers that belong to no passage.
    pub invalid_citations: Vec<u32>,
    /// Sentences of the answer, checked against the passages that they cite.
    pub sentences: Vec<CheckedSentence>,
    /// Passages in the prompt, the first of which is `[1]`. Only with `include_contexts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Context>")]
    pub contexts: Option<Vec<Context>>,
    /// Number of passages that did not fit into the prompt.
    pub contexts_dropped: usize,
    /// Warnings about passages with instruction-like text, and about a degraded search.
    pub warnings: Vec<SearchWarning>,
    /// Token usage. Null if no model was called.
    pub usage: Option<Usage>,
    /// Durations.
    pub timings_ms: AnswerTimings,
}

/// Durations of an answer, in milliseconds.
#[derive(JsonSchema, Serialize)]
pub(crate) struct AnswerTimings {
    /// Embedding of the question.
    pub embed: u64,
    /// Search.
    pub search: u64,
    /// Calls of the model.
    pub llm: u64,
    /// All of it.
    pub total: u64,
}

/// Feedback on an answer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedbackRequest {
    /// 1 (good) or -1 (bad).
    #[schemars(extend("enum" = [1, -1]))]
    rating: i64,
    /// Comment.
    #[schemars(length(max = MAX_COMMENT_LENGTH))]
    comment: Option<String>,
}

/// Stored answer with its feedback.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "StoredAnswer")]
pub(crate) struct StoredAnswerResponse {
    #[serde(flatten)]
    #[schemars(with = "AnswerResponse<'_>")]
    answer: Value,
    /// Time of the answer.
    created_at: DateTime,
    /// Time at which it is deleted.
    expires_at: DateTime,
    /// Feedback, if any.
    feedback: Option<Feedback>,
}

/// Feedback on an answer.
#[derive(JsonSchema, Serialize)]
struct Feedback {
    /// 1 (good) or -1 (bad).
    #[schemars(extend("enum" = [1, -1]))]
    rating: i64,
    /// Comment.
    comment: Option<String>,
}

/// A complete answer, and the ids of its source documents.
pub(crate) struct NewAnswer<'a> {
    pub id: &'a str,
    pub pipeline_id: &'a str,
    pub classification: &'a str,
    pub answer: &'a Value,
    pub documents: Vec<String>,
}

/// Stores an answer if retention is enabled. A storage error does not fail the request.
pub(crate) async fn save(platform: &Platform, new: NewAnswer<'_>) {
    if platform.limits.answer_retention.is_zero() {
        return;
    }
    let NewAnswer { id, pipeline_id, classification, answer, mut documents } = new;
    documents.sort_unstable();
    documents.dedup();
    let new = pidq_store::NewAnswer { id, pipeline_id, classification, answer, documents: &documents };
    if let Err(error) = platform.store.save_answer(new).await {
        tracing::error!(%error, "storing an answer failed; it cannot be retrieved later");
    }
}

/// `GET /api/queries/{query_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let stored_answer = find_answer(platform, &request).await?;
    Response::json(&answer_response(platform, stored_answer))
}

/// `POST /api/queries/{query_id}/feedback`.
pub(crate) async fn feedback(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let stored_answer = find_answer(platform, &request).await?;
    let feedback: FeedbackRequest = json_body::parse(&mut request).await?;
    if ![1, -1].contains(&feedback.rating) {
        return Err(validation("/rating", "A rating must be 1 (good) or -1 (bad)."));
    }
    if feedback.comment.as_ref().is_some_and(|comment| comment.chars().count() > MAX_COMMENT_LENGTH) {
        return Err(validation("/comment", &format!("A comment must have at most {MAX_COMMENT_LENGTH} characters.")));
    }
    let id = request.path("query_id")?;
    platform.store.rate_answer(id, feedback.rating, feedback.comment.as_deref()).await.map_err(store_problem)?;
    Response::json(&answer_response(
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

fn answer_response(platform: &Platform, stored_answer: StoredAnswer) -> StoredAnswerResponse {
    let expires_at = Timestamp(stored_answer.created_at) + platform.limits.answer_retention;
    StoredAnswerResponse {
        answer: stored_answer.answer,
        created_at: DateTime(stored_answer.created_at),
        expires_at: DateTime(expires_at.0),
        feedback: stored_answer.rating.map(|rating| Feedback { rating, comment: stored_answer.comment }),
    }
}
