//! Forms of answers: who takes none of those that a row has is told so before anything is done.

use pidq_http::{Head, Problem, Request, StatusCode};

use crate::routes;

/// Bytes that are given out as they came in, whatever they are.
const BYTES: &str = "application/octet-stream";

/// Refuses a request whose `Accept` has no form of the row's answers.
pub(crate) fn acceptable(request: &Request) -> Result<(), Problem> {
    if !request.route.starts_with("/api/") {
        return Ok(());
    }
    let replies = routes::row(request).map_or(&[][..], |row| row.replies).iter();
    let mut forms: Vec<&str> = replies.filter_map(|reply| reply.media).collect();
    forms.dedup();
    if forms.is_empty() || forms.iter().any(|form| takes(&request.head, form)) {
        return Ok(());
    }
    let problem = Problem::new(StatusCode::NOT_ACCEPTABLE, "not-acceptable");
    Err(problem.detail("The answer has no form that the request accepts.").with("allowed", forms))
}

fn takes(head: &Head, form: &str) -> bool {
    form == BYTES || head.accepts(form.split(';').next().unwrap_or(form)) > 0
}
