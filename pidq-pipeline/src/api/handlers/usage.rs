//! `GET /api/usage`: usage per day, pipeline and classification.

use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, codes};
use pidq_store::domain::api_key::ApiKey;
use pidq_store::domain::license::DAY;
use pidq_store::{DailyUsage, UsageFilter};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::auth::request_key;
use crate::api::page_response::page_response;
use crate::api::problems::store_problem;
use crate::api::schema::{Date, Uuid};
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};

/// Days of the default period.
const DEFAULT_DAYS: i64 = 30;

/// `GET /api/usage`: newest day first. A key has access only to the usage of its pipelines and classifications.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (key, query) = (request_key(&request)?, request.query()?);
    let to =
        query.single("to")?.map(|text| parse_day("to", text)).transpose()?.unwrap_or_else(|| Timestamp::now().day());
    let from = query.single("from")?.map(|text| parse_day("from", text)).transpose()?.unwrap_or(to - DEFAULT_DAYS + 1);
    let filter =
        UsageFilter { from, to, pipeline: query.single("pipeline")?, classification: query.single("classification")? };
    let list = format!("usage/{filter:?}");
    let page = platform.cursors.page(&request, &list, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    let mut after = page.after;
    let (mut data, mut next_cursor) = (Vec::new(), None);
    'pages: loop {
        let rows = platform.store.daily_usage(filter, after.as_deref(), page.limit + 1).await.map_err(store_problem)?;
        let is_last = rows.len() <= page.limit;
        for row in rows {
            let is_visible = is_visible(&key, &row);
            if is_visible && data.len() == page.limit {
                next_cursor = after.map(|cursor| platform.cursors.sign(&list, &cursor));
                break 'pages;
            }
            after = Some(row.cursor());
            if is_visible {
                data.push(UsageResponse::from(row));
            }
        }
        if is_last {
            break;
        }
    }
    page_response(&request, data, next_cursor)
}

/// Returns `true` if a key may see the row. Rows without a classification are visible to unrestricted keys only.
fn is_visible(key: &ApiKey, row: &DailyUsage) -> bool {
    let classification = std::slice::from_ref(&row.classification);
    key.visible_classifications(&row.pipeline_id, classification).is_some_and(|visible| !visible.is_empty())
}

/// Usage of a day, a pipeline and a classification.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "UsageRow")]
pub(crate) struct UsageResponse {
    /// Day (UTC).
    #[schemars(with = "Date")]
    day: String,
    /// The pipeline.
    #[schemars(with = "Uuid")]
    pipeline_id: String,
    /// Classification. Null for usage that belongs to none.
    classification: Option<String>,
    /// Ingested documents.
    documents: i64,
    /// Their size, in bytes.
    bytes: i64,
    /// Their chunks.
    chunks: i64,
    /// Questions.
    questions: i64,
    /// Questions that failed.
    failed_questions: i64,
    /// Tokens of prompts.
    prompt_tokens: i64,
    /// Tokens of answers.
    completion_tokens: i64,
    /// `true` if some of the tokens are estimates.
    estimated: bool,
    /// Tokens that are estimates, because the model reported no usage.
    estimated_tokens: i64,
}

impl From<DailyUsage> for UsageResponse {
    fn from(row: DailyUsage) -> UsageResponse {
        let amount = row.amount;
        UsageResponse {
            day: format_day(row.day),
            pipeline_id: row.pipeline_id,
            classification: Some(row.classification).filter(|classification| !classification.is_empty()),
            documents: amount.documents,
            bytes: amount.bytes,
            chunks: amount.chunks,
            questions: amount.questions,
            failed_questions: amount.failed_questions,
            prompt_tokens: amount.tokens[0],
            completion_tokens: amount.tokens[1],
            estimated: amount.estimated_tokens > 0,
            estimated_tokens: amount.estimated_tokens,
        }
    }
}

/// Formats a day number since 1970 as `YYYY-MM-DD`.
fn format_day(day: i64) -> String {
    Timestamp(day * DAY * 1000).to_rfc3339().chars().take(10).collect()
}

fn parse_day(name: &'static str, text: &str) -> Result<i64, Problem> {
    let timestamp = Timestamp::from_rfc3339(&format!("{text}T00:00:00Z")).filter(|_| text.len() == 10);
    timestamp.map(Timestamp::day).ok_or_else(|| {
        Problem::new(codes::INVALID_PARAMETER)
            .detail(format!("`{name}` must be a date such as `2027-01-31`."))
            .with("parameter", name)
    })
}
