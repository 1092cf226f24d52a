//! Check of `Accept`: rejects a request with 406 before any work if the route has no acceptable media type.

use pidq_http::{Head, Problem, Reply, Request, codes};

use crate::api::routes;

/// Media type of document downloads, which are sent regardless of `Accept`.
const OCTET_STREAM: &str = "application/octet-stream";

/// Returns 406 if `Accept` matches no media type of the route's replies.
pub(crate) fn check_accept(request: &Request) -> Result<(), Problem> {
    if !request.route.starts_with("/api/") {
        return Ok(());
    }
    let replies = routes::find_route(&request.head, request.route).map_or(&[][..], |row| row.replies).iter();
    let mut media_types: Vec<&str> = replies.filter_map(Reply::media).collect();
    media_types.dedup();
    if media_types.is_empty() || media_types.iter().any(|media_type| accepts(&request.head, media_type)) {
        return Ok(());
    }
    let problem = Problem::new(codes::NOT_ACCEPTABLE);
    Err(problem.detail("None of the available representations matches `Accept`.").with("allowed", media_types))
}

fn accepts(head: &Head, media_type: &str) -> bool {
    media_type == OCTET_STREAM || head.accepts(media_type.split(';').next().unwrap_or(media_type)) > 0
}
