//! What endpoints there are, for people: a table, and a section each.

use std::fmt::Write;

use super::{Access, Parameter, Place, Reply, Route};

/// A Markdown table with a row per endpoint.
pub fn index<S>(routes: &[Route<S>]) -> String {
    let mut text = String::from("| call | token | what it does |\n|---|---|---|\n");
    for route in routes {
        let _ = writeln!(text, "| `{} {}` | {} | {} |", route.method, route.path, access(route.access), route.summary);
    }
    text.trim_end().to_owned()
}

fn access(access: Access) -> String {
    match access {
        Access::Public => "none".into(),
        Access::Client => "none; the client names itself".into(),
        Access::Bearer => "any".into(),
        Access::Scope(scope) => format!("`{scope}`"),
        Access::Admin => "`admin`".into(),
    }
}

/// A section per endpoint.
pub fn endpoints<S>(routes: &[Route<S>]) -> String {
    routes.iter().map(endpoint).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn endpoint<S>(route: &Route<S>) -> String {
    let mut text = format!("### {} {}\n\n{}\n", route.method, route.path, route.summary);
    if !route.parameters.is_empty() {
        text.push_str("\n| parameter | in | what it means |\n|---|---|---|\n");
        route.parameters.iter().for_each(|parameter| text.push_str(&parameter_row(parameter)));
    }
    if let Some(body) = &route.body {
        let _ = writeln!(text, "\nTakes {}, at most {} bytes.", body.media.join(", "), body.limit);
    }
    text.push_str("\n| status | answer |\n|---|---|\n");
    for replies in route.replies.chunk_by(|one, other| (one.status, one.summary) == (other.status, other.summary)) {
        let _ = writeln!(text, "| {} | {} |", replies[0].status, summary(replies));
    }
    text
}

/// When an answer comes, with its content types where it has several.
fn summary(replies: &[Reply]) -> String {
    let said = replies[0].summary;
    let media: Vec<String> = replies.iter().filter_map(|reply| reply.media).map(|media| format!("`{media}`")).collect();
    if media.len() < 2 { said.into() } else { format!("{}: {}.", said.trim_end_matches('.'), media.join(", ")) }
}

fn parameter_row(parameter: &Parameter) -> String {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query => "URL",
        Place::Header => "header",
        Place::NeededHeader => "header, needed",
    };
    format!("| `{}` | {place} | {} |\n", parameter.name, parameter.summary)
}
