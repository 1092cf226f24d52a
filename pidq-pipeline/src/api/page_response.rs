//! Page of a list, with the cursor of the next page.

use pidq_http::{Problem, Request, Response};
use serde_json::{Value, json};

/// Returns the rows of a page with `next_cursor`, and a `Link` header if there is a next page.
pub(crate) fn page_response(request: &Request, data: Vec<Value>, next: Option<String>) -> Result<Response, Problem> {
    let response = Response::json(&json!({"data": data, "next_cursor": next}))?;
    Ok(match next {
        Some(next) => response.next_page(request, &next),
        None => response,
    })
}
