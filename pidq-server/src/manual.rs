//! The manual of the service: prose with tables that are made of the rows that it runs on.

use std::fmt::Write;

use pidq_http::{Access, COMMON, Parameter, Place, Route, manual as settings};

use crate::routes::ROUTES;
use crate::server::Server;
use crate::settings::SETTINGS;

const HTTP: &str = include_str!("manual/http.md");
const OPERATE: &str = include_str!("manual/operate.md");

/// `docs/http.md`: the endpoints.
pub fn http() -> String {
    HTTP.replace("{index}", &index()).replace("{endpoints}", &endpoints())
}

/// `docs/operate.md`: how the service is run.
pub fn operate() -> String {
    OPERATE.replace("{settings}", settings(&[SETTINGS]).trim_end()).replace("{common}", settings(&[COMMON]).trim_end())
}

fn index() -> String {
    let mut text = String::from("| call | token | what it does |\n|---|---|---|\n");
    for route in ROUTES {
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

fn endpoints() -> String {
    ROUTES.iter().map(endpoint).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn endpoint(route: &Route<Server>) -> String {
    let mut text = format!("### {} {}\n\n{}\n", route.method, route.path, route.summary);
    if !route.parameters.is_empty() {
        text.push_str("\n| parameter | in | what it means |\n|---|---|---|\n");
        route.parameters.iter().for_each(|parameter| text.push_str(&parameter_row(parameter)));
    }
    if let Some(body) = &route.body {
        let _ = writeln!(text, "\nTakes {}, at most {} bytes.", body.media.join(", "), body.limit);
    }
    text.push_str("\n| status | answer |\n|---|---|\n");
    for reply in route.replies {
        let _ = writeln!(text, "| {} | {} |", reply.status, reply.summary);
    }
    text
}

fn parameter_row(parameter: &Parameter) -> String {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query => "URL",
        Place::Header => "header",
    };
    format!("| `{}` | {place} | {} |\n", parameter.name, parameter.summary)
}
