//! `GET /api/usage`: how much of everything there was under each classification on each day.

use std::sync::Arc;

use pidq_http::auth::Moment;
use pidq_http::{Problem, Request, Response};
use serde_json::{Value, json};

use crate::keys::{self, ApiKey};
use crate::license::DAY;
use crate::platform::{LONGEST_PAGE, PAGE, Platform};
use crate::problems::stored;
use crate::store::{Figures, Span};

/// The days that are told of if nobody says.
const DAYS: i64 = 30;

/// `GET /api/usage`: the newest day first. A key sees the figures of its pipelines and classifications alone.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (key, query) = (keys::of(&request)?, request.query()?);
    let to = query.one("to")?.map(|text| day("to", text)).transpose()?.unwrap_or_else(|| Moment::now().day());
    let from = query.one("from")?.map(|text| day("from", text)).transpose()?.unwrap_or(to - DAYS + 1);
    let wanted = Span { from, to, pipeline: query.one("pipeline")?, classification: query.one("classification")? };
    let list = format!("usage/{wanted:?}");
    let page = platform.cursors.page(&request, &list, PAGE, LONGEST_PAGE)?;
    let mut after = page.after;
    let (mut shown, mut next) = (Vec::new(), None);
    'pages: loop {
        let some = platform.store.figures(wanted, after.as_deref(), page.limit + 1).await.map_err(stored)?;
        let is_last = some.len() <= page.limit;
        for figures in some {
            if is_seen(&key, &figures) {
                if shown.len() == page.limit {
                    next = after.map(|place| platform.cursors.seal(&list, &place));
                    break 'pages;
                }
                shown.push(row(&figures));
            }
            after = Some(figures.place());
        }
        if is_last {
            break;
        }
    }
    let response = Response::json(&json!({"data": shown, "next_cursor": next}))?;
    Ok(match next {
        Some(next) => response.next_page(&request, &next),
        None => response,
    })
}

/// Whether a key reaches the classification; what was counted before these were told apart is for those who see all.
fn is_seen(key: &ApiKey, figures: &Figures) -> bool {
    let label = std::slice::from_ref(&figures.classification);
    key.labels(&figures.pipeline_id, label).is_some_and(|labels| !labels.is_empty())
}

fn row(figures: &Figures) -> Value {
    let label = Some(&figures.classification).filter(|label| !label.is_empty());
    let amount = figures.amount;
    json!({
        "day": date(figures.day), "pipeline_id": figures.pipeline_id, "classification": label,
        "documents": amount.documents, "bytes": amount.bytes, "chunks": amount.chunks,
        "queries": amount.queries, "failed_queries": amount.failed_queries,
        "prompt_tokens": amount.tokens[0], "completion_tokens": amount.tokens[1],
        "estimated": amount.estimated_tokens > 0, "estimated_tokens": amount.estimated_tokens,
    })
}

/// A day since 1970 as people write it.
fn date(day: i64) -> String {
    Moment(day * DAY * 1000).to_rfc3339().chars().take(10).collect()
}

fn day(name: &'static str, text: &str) -> Result<i64, Problem> {
    let moment = Moment::from_rfc3339(&format!("{text}T00:00:00Z")).filter(|_| text.len() == 10);
    moment.map(Moment::day).ok_or_else(|| {
        Problem::bad_request("invalid-parameter", format!("`{name}` is a day, `2027-01-31`.")).with("parameter", name)
    })
}
