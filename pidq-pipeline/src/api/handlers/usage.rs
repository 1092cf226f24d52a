//! `GET /api/usage`: usage per day, pipeline and classification.

use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, codes};
use pidq_store::domain::api_key::ApiKey;
use pidq_store::domain::license::DAY;
use pidq_store::{DailyUsage, UsageFilter};
use serde_json::{Value, json};

use crate::api::auth::request_key;
use crate::api::page_response::page_response;
use crate::api::problems::store_problem;
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
            if is_visible(&key, &row) {
                if data.len() == page.limit {
                    next_cursor = after.map(|cursor| platform.cursors.sign(&list, &cursor));
                    break 'pages;
                }
                data.push(to_json(&row));
            }
            after = Some(row.cursor());
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

fn to_json(row: &DailyUsage) -> Value {
    let classification = Some(&row.classification).filter(|classification| !classification.is_empty());
    let amount = row.amount;
    json!({
        "day": format_day(row.day), "pipeline_id": row.pipeline_id, "classification": classification,
        "documents": amount.documents, "bytes": amount.bytes, "chunks": amount.chunks,
        "questions": amount.questions, "failed_questions": amount.failed_questions,
        "prompt_tokens": amount.tokens[0], "completion_tokens": amount.tokens[1],
        "estimated": amount.estimated_tokens > 0, "estimated_tokens": amount.estimated_tokens,
    })
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
