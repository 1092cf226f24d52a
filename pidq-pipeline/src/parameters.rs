//! Parameters behind the question mark: what a row does not have is a mistake that would otherwise go unseen, as a filter
//! that is misspelt and filters nothing.

use pidq_http::{Form, Place, Problem, Request};

use crate::routes;

/// Refuses a parameter that the row of a request does not have.
pub(crate) fn known(request: &Request) -> Result<(), Problem> {
    let head = &request.head;
    // The endpoints of OAuth take none at all, and say so in their own words.
    if head.uri.query().is_none_or(str::is_empty) || !request.route.starts_with("/api/") {
        return Ok(());
    }
    let parameters = routes::row(request).map_or(&[][..], |row| row.parameters).iter();
    let known: Vec<&str> =
        parameters.filter(|parameter| parameter.place == Place::Query).map(|parameter| parameter.name).collect();
    among(&request.query()?, &known)
}

fn among(form: &Form, known: &[&str]) -> Result<(), Problem> {
    match form.pairs().find(|(name, _)| !known.contains(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Problem::bad_request("invalid-parameter", "There is no such parameter.")
            .with("parameter", name)
            .with("allowed", known.to_vec())),
    }
}
