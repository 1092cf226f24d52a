//! Endpoint documentation as Markdown: a table, and a section per endpoint.

use std::fmt::Write;

use super::{Access, Parameter, ParameterLocation, Reply, Route};
use crate::message::request::Accepts;

/// Returns a Markdown table with a row per endpoint.
pub fn route_table<S>(routes: &[Route<S>]) -> String {
    let mut text = String::from("| endpoint | token | description |\n|---|---|---|\n");
    for route in routes {
        let _ = writeln!(text, "| `{} {}` | {} | {} |", route.method, route.path, access(route.access), route.summary);
    }
    text.trim_end().to_owned()
}

fn access(access: Access) -> String {
    match access {
        Access::Public => "none".into(),
        Access::Client => "none; client credentials".into(),
        Access::Bearer => "any".into(),
        Access::Scope(scope) => format!("`{scope}`"),
        Access::Admin => "`admin`".into(),
    }
}

/// Returns a Markdown section per endpoint. `default` returns the default value of a setting.
pub fn route_sections<S>(routes: &[Route<S>], default: impl Fn(&str) -> Option<&'static str>) -> String {
    let sections: Vec<String> = routes.iter().map(|route| route_section(route, &default)).collect();
    sections.join("\n").trim_end().to_owned()
}

fn route_section<S>(route: &Route<S>, default: impl Fn(&str) -> Option<&'static str>) -> String {
    let mut text = format!("### {} {}\n\n{}\n", route.method, route.path, route.summary);
    if !route.parameters.is_empty() {
        text.push_str("\n| parameter | in | description |\n|---|---|---|\n");
        route.parameters.iter().for_each(|parameter| text.push_str(&parameter_row(parameter)));
    }
    if let Some(body) = &route.body {
        let _ = writeln!(
            text,
            "\nRequest body: {}, at most {}.",
            body.all_media().collect::<Vec<_>>().join(", "),
            limit(body, default)
        );
    }
    text.push_str("\n| status | response |\n|---|---|\n");
    for replies in route.replies.chunk_by(|one, other| (one.status, one.summary) == (other.status, other.summary)) {
        let _ = writeln!(text, "| {} | {} |", replies[0].status, summary(replies));
    }
    text
}

/// Returns the maximum size of a body: that of its setting, if it has one.
fn limit(body: &Accepts, default: impl Fn(&str) -> Option<&'static str>) -> String {
    match body.setting {
        None => size(body.limit),
        Some(setting) => match default(setting) {
            None => format!("`{setting}`"),
            Some(value) => format!("`{setting}` (default `{value}`)"),
        },
    }
}

/// Formats a size with the largest unit that divides it: `2 MiB`.
fn size(bytes: u64) -> String {
    let units = [(30_u32, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes.trailing_zeros() >= *shift) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} bytes"),
    }
}

/// Returns the description of a response, with its content types if there are several.
fn summary(replies: &[Reply]) -> String {
    let text = replies[0].summary;
    let media: Vec<String> = replies.iter().filter_map(Reply::media).map(|media| format!("`{media}`")).collect();
    if media.len() < 2 { text.into() } else { format!("{}: {}.", text.trim_end_matches('.'), media.join(", ")) }
}

fn parameter_row(parameter: &Parameter) -> String {
    let location = match parameter.location {
        ParameterLocation::Path => "path",
        ParameterLocation::Query => "URL",
        ParameterLocation::Header => "header",
        ParameterLocation::RequiredHeader => "header, required",
    };
    format!("| `{}` | {location} | {} |\n", parameter.name, parameter.summary)
}
