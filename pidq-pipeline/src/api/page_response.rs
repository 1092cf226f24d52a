//! Page of a list, with the cursor of the next page.

use pidq_http::{Problem, Request, Response};
use serde::Serialize;

use crate::api::schema::Page;

/// Returns the rows of a page with `next_cursor`, and a `Link` header if there is a next page.
pub(crate) fn page_response<T: Serialize>(
    request: &Request,
    data: Vec<T>,
    next_cursor: Option<String>,
) -> Result<Response, Problem> {
    counted_page_response(request, Page { data, next_cursor, total: None })
}

/// Returns a page that may have the total number of rows.
pub(crate) fn counted_page_response<T: Serialize>(request: &Request, page: Page<T>) -> Result<Response, Problem> {
    let response = Response::json(&page)?;
    Ok(match &page.next_cursor {
        Some(next) => response.next_page(request, next),
        None => response,
    })
}
