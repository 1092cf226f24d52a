//! Route table and router: one row per endpoint.

mod markdown;

use std::collections::BTreeMap;
use std::sync::Arc;

use hyper::Method;
use hyper::header::ALLOW;
use schemars::JsonSchema;

pub use markdown::{route_sections, route_table};

use crate::message::boxed_future::Fut;
use crate::message::percent;
use crate::message::request::{Accepts, Params, Request};
use crate::message::response::Response;
use crate::metrics::{Metrics, RouteMetrics};
use crate::problem::{Problem, codes};
use crate::schema::TypeSchema;

/// Request handler: computes the response, or a problem, from the state and the request.
pub type Handler<S> = for<'a> fn(&'a Arc<S>, Request) -> Fut<'a, Result<Response, Problem>>;

/// Access rule of an endpoint. It has no default, so that every route states one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// No authentication required.
    Public,
    /// OAuth clients that authenticate in the request; the handler checks them. Errors have OAuth's form, and the
    /// response is never compressed (BREACH).
    Client,
    /// Any valid token.
    Bearer,
    /// Any valid token with this scope.
    Scope(&'static str),
    /// Any valid token with the scope `admin`.
    Admin,
}

impl Access {
    /// Returns the required scope.
    pub fn scope(self) -> Option<&'static str> {
        match self {
            Access::Scope(scope) => Some(scope),
            Access::Admin => Some("admin"),
            Access::Public | Access::Client | Access::Bearer => None,
        }
    }

    /// Returns whether a token is required.
    pub fn needs_token(self) -> bool {
        !matches!(self, Access::Public | Access::Client)
    }
}

/// Action of an endpoint in the audit log of a service that has one. It has no default, so that every route states
/// whether it changes something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    /// Changes nothing, or belongs to a service without an audit log.
    None,
    /// Changes stored data. The entry with this action is written together with the change.
    Change(&'static str),
    /// Has an effect outside of the service. The entry with this action is written afterwards.
    Effect(&'static str),
}

impl Action {
    /// Returns the name of the action.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Action::None => None,
            Action::Change(name) | Action::Effect(name) => Some(name),
        }
    }
}

/// Route: one endpoint. The router, OpenAPI, the metrics and the access log use it.
pub struct Route<S: 'static> {
    /// Method. GET implies HEAD; OPTIONS is always available.
    pub method: Method,
    /// Path with `{parameters}`. A path that ends with `/` also matches without it.
    pub path: &'static str,
    /// Access rule.
    pub access: Access,
    /// Action in the audit log.
    pub action: Action,
    /// Description, in one sentence.
    pub summary: &'static str,
    /// Parameters in path, query and headers. Plain string parameters of the path may be omitted.
    pub parameters: &'static [Parameter],
    /// Request body.
    pub body: Option<Accepts>,
    /// Successful responses; problems are implied.
    pub replies: &'static [Reply],
    /// Handler function.
    pub handler: Handler<S>,
}

impl<S> Route<S> {
    /// Returns whether the response depends on `Accept`: one status has several content types.
    pub(crate) fn negotiates(&self) -> bool {
        let Some((first, rest)) = self.replies.split_first() else { return false };
        rest.iter().any(|reply| reply.status == first.status && reply.media() != first.media())
    }

    /// Rejects query parameters that the route does not declare, so that a misspelled filter is not ignored. Routes
    /// without a token have rules of their own, as OAuth does.
    pub(crate) fn check_query(&self, request: &Request) -> Result<(), Problem> {
        if !self.access.needs_token() || request.head.uri.query().is_none_or(str::is_empty) {
            return Ok(());
        }
        let parameters = self.parameters.iter().filter(|parameter| parameter.location == ParameterLocation::Query);
        let known: Vec<&str> = parameters.map(|parameter| parameter.name).collect();
        match request.query()?.pairs().find(|(name, _)| !known.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(Problem::new(codes::INVALID_PARAMETER)
                .detail("Unknown parameter; see `allowed`.")
                .with("parameter", name)
                .with("allowed", known)),
        }
    }
}

/// Location of a parameter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ParameterLocation {
    /// In the path; always required.
    Path,
    /// In the query string; optional.
    Query,
    /// In a header; optional.
    Header,
    /// In a header; required.
    RequiredHeader,
}

/// Documentation of a parameter. The handler parses the value.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Parameter name.
    pub name: &'static str,
    /// Location in the request.
    pub location: ParameterLocation,
    /// Type of the value.
    pub schema: TypeSchema,
    /// Meaning of the parameter.
    pub summary: &'static str,
}

impl Parameter {
    /// Returns a parameter of the path.
    pub const fn path<T: JsonSchema>(name: &'static str, summary: &'static str) -> Parameter {
        Parameter { name, location: ParameterLocation::Path, schema: TypeSchema::of::<T>(), summary }
    }

    /// Returns an optional parameter of the query string.
    pub const fn query<T: JsonSchema>(name: &'static str, summary: &'static str) -> Parameter {
        Parameter { name, location: ParameterLocation::Query, schema: TypeSchema::of::<T>(), summary }
    }

    /// Returns an optional header.
    pub const fn header<T: JsonSchema>(name: &'static str, summary: &'static str) -> Parameter {
        Parameter { name, location: ParameterLocation::Header, schema: TypeSchema::of::<T>(), summary }
    }

    /// Returns a required header.
    pub const fn required_header<T: JsonSchema>(name: &'static str, summary: &'static str) -> Parameter {
        Parameter { name, location: ParameterLocation::RequiredHeader, schema: TypeSchema::of::<T>(), summary }
    }
}

/// Documentation of a response.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Content type and type of the body; `None` if there is no body.
    pub body: Option<(&'static str, TypeSchema)>,
    /// Condition for this response.
    pub summary: &'static str,
}

impl Reply {
    /// Returns a JSON response of a type.
    pub const fn json<T: JsonSchema>(status: u16, summary: &'static str) -> Reply {
        Reply::of::<T>(status, "application/json", summary)
    }

    /// Returns a response of a type with another content type.
    pub const fn of<T: JsonSchema>(status: u16, media: &'static str, summary: &'static str) -> Reply {
        Reply { status, body: Some((media, TypeSchema::of::<T>())), summary }
    }

    /// Returns a response without a body.
    pub const fn empty(status: u16, summary: &'static str) -> Reply {
        Reply { status, body: None, summary }
    }

    /// Returns the content type.
    pub fn media(&self) -> Option<&'static str> {
        self.body.map(|(media, _)| media)
    }
}

/// Routes indexed for lookup.
pub(crate) struct Router<S: 'static> {
    paths: matchit::Router<Methods<S>>,
}

/// Routes of a path by method, each with its metrics.
type Methods<S> = BTreeMap<&'static str, (&'static Route<S>, Arc<RouteMetrics>)>;

/// Route of a request, with the path parameters.
pub(crate) struct RouteMatch<'r, S: 'static> {
    pub route: &'static Route<S>,
    pub metrics: &'r Arc<RouteMetrics>,
    pub params: Params,
}

/// Reason for not finding a route.
pub(crate) enum RouteError {
    /// No route has the path.
    Path,
    /// The path exists for other methods: the value of `Allow`.
    Method(String),
    /// OPTIONS request: the value of `Allow`.
    Options(String),
}

impl<S> Router<S> {
    /// Builds the router. Panics if two routes conflict.
    pub fn new(rows: impl IntoIterator<Item = &'static Route<S>>, metrics: &Metrics) -> Self {
        let mut table: BTreeMap<&'static str, Methods<S>> = BTreeMap::new();
        for row in rows {
            let method = method_name(&row.method);
            let route_metrics = Arc::new(metrics.route(method, row.path));
            let previous = table.entry(row.path).or_default().insert(method, (row, route_metrics));
            assert!(previous.is_none(), "duplicate route {method} {}", row.path);
        }
        let mut paths = matchit::Router::new();
        for (path, methods) in table {
            for variant in path_variants(path) {
                let inserted = paths.insert(variant, methods.clone());
                assert!(inserted.is_ok(), "the path {path} conflicts with another route");
            }
        }
        Router { paths }
    }

    pub fn find(&self, method: &Method, path: &str) -> Result<RouteMatch<'_, S>, RouteError> {
        let at = self.paths.at(path).map_err(|_| RouteError::Path)?;
        let name = if method == Method::HEAD { "GET" } else { method.as_str() };
        if method == Method::OPTIONS && !at.value.contains_key("OPTIONS") {
            return Err(RouteError::Options(allow(at.value)));
        }
        let Some((route, metrics)) = at.value.get(name) else { return Err(RouteError::Method(allow(at.value))) };
        let params = at.params.iter().map(|(name, raw)| (name.to_owned(), percent::decode(raw)));
        Ok(RouteMatch { route, metrics, params: params.collect() })
    }
}

impl RouteError {
    pub fn into_problem(self) -> Problem {
        match self {
            RouteError::Path => {
                Problem::new(codes::NOT_FOUND).detail("No endpoint has this path; `/docs` lists the endpoints.")
            }
            RouteError::Method(allow) | RouteError::Options(allow) => Problem::new(codes::METHOD_NOT_ALLOWED)
                .detail(format!("This path allows only {allow}."))
                .header(ALLOW, allow),
        }
    }
}

/// Returns the path, and the path without its trailing slash.
fn path_variants(path: &'static str) -> impl Iterator<Item = &'static str> {
    let shorter = path.strip_suffix('/').filter(|p| !p.is_empty());
    [Some(path), shorter].into_iter().flatten()
}

fn allow<T>(methods: &BTreeMap<&'static str, T>) -> String {
    let mut names: Vec<&str> = methods.keys().copied().chain(["OPTIONS"]).collect();
    if methods.contains_key("GET") {
        names.push("HEAD");
    }
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

fn method_name(method: &Method) -> &'static str {
    const KNOWN: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN
        .into_iter()
        .find(|&name| name == method.as_str())
        .unwrap_or_else(|| panic!("routes cannot have the method {method}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(method: Method, path: &'static str) -> &'static Route<()> {
        let handler: Handler<()> = |_, _| Box::pin(async { Ok(Response::empty(hyper::StatusCode::NO_CONTENT)) });
        let (access, action, summary) = (Access::Public, Action::None, "");
        Box::leak(Box::new(Route {
            method,
            path,
            access,
            action,
            summary,
            parameters: &[],
            body: None,
            replies: &[],
            handler,
        }))
    }

    fn metrics() -> Metrics {
        Metrics::new(prometheus_client::registry::Registry::default())
    }

    fn find(method: &str, path: &str) -> String {
        let rows = [
            row(Method::GET, "/graph/{job_id}"),
            row(Method::POST, "/graph/{job_id}"),
            row(Method::POST, "/o/token/"),
            row(Method::GET, "/graph"),
        ];
        let router = Router::new(rows, &metrics());
        match router.find(&Method::from_bytes(method.as_bytes()).expect("a method"), path) {
            Ok(RouteMatch { route, params, .. }) => {
                let params: Vec<_> =
                    params.iter().map(|(name, value)| (name, value.as_deref().unwrap_or("?"))).collect();
                format!("{} {params:?}", route.path)
            }
            Err(RouteError::Path) => "404".into(),
            Err(RouteError::Method(allow)) => format!("405 {allow}"),
            Err(RouteError::Options(allow)) => format!("204 {allow}"),
        }
    }

    #[test]
    fn parameters_are_decoded_after_the_path_is_split() {
        assert_eq!(find("GET", "/graph/V%2F1"), r#"/graph/{job_id} [("job_id", "V/1")]"#);
        assert_eq!(find("GET", "/graph/..%2f"), r#"/graph/{job_id} [("job_id", "../")]"#);
        assert_eq!(find("GET", "/graph/%252e"), r#"/graph/{job_id} [("job_id", "%2e")]"#);
        assert_eq!(find("GET", "/graph/%ff"), r#"/graph/{job_id} [("job_id", "?")]"#);
        assert_eq!(find("GET", "/graph/%f"), r#"/graph/{job_id} [("job_id", "?")]"#);
    }

    #[test]
    fn a_trailing_slash_matters_unless_the_route_has_it() {
        assert_eq!(find("POST", "/o/token"), "/o/token/ []");
        assert_eq!(find("POST", "/o/token/"), "/o/token/ []");
        assert_eq!(find("GET", "/graph/7/"), "404");
        assert_eq!(find("GET", "/graph/"), "404");
    }

    #[test]
    fn other_methods_get_the_allowed_ones() {
        assert_eq!(find("PUT", "/graph/7"), "405 GET, HEAD, OPTIONS, POST");
        assert_eq!(find("OPTIONS", "/o/token/"), "204 OPTIONS, POST");
        assert_eq!(find("HEAD", "/graph"), "/graph []");
        assert_eq!(find("BREW", "/nowhere"), "404");
    }

    #[test]
    #[should_panic(expected = "duplicate route GET /graph")]
    fn duplicate_routes_are_rejected() {
        Router::new([row(Method::GET, "/graph"), row(Method::GET, "/graph")], &metrics());
    }
}
