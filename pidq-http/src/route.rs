//! One row per endpoint, and finding the row for a request.

mod manual;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use hyper::Method;
use hyper::header::ALLOW;

pub use manual::{endpoints, index};

use crate::limits::Limits;
use crate::metrics::{Figures, Metrics};
use crate::percent;
use crate::problem::Problem;
use crate::request::Request;
use crate::response::Response;

/// A boxed future: what a row of a table can hold.
pub type Fut<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What answers: state and request in, response or problem out.
pub type Handler<S> = for<'a> fn(&'a Arc<S>, Request) -> Fut<'a, Result<Response, Problem>>;

/// Who may call an endpoint. A row without a decision does not compile.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// Everybody.
    Public,
    /// OAuth clients, which name themselves in the request: the handler checks them.
    /// Errors have OAuth's form, and the answer is never compressed (BREACH).
    Client,
    /// Everybody with a good token.
    Bearer,
    /// Everybody whose token has this scope.
    Scope(&'static str),
    /// Everybody whose token has the scope `admin`.
    Admin,
}

impl Access {
    /// The scope that a token needs.
    pub fn scope(self) -> Option<&'static str> {
        match self {
            Access::Scope(scope) => Some(scope),
            Access::Admin => Some("admin"),
            Access::Public | Access::Client | Access::Bearer => None,
        }
    }

    /// Whether a token is needed at all.
    pub fn needs_token(self) -> bool {
        !matches!(self, Access::Public | Access::Client)
    }
}

/// An endpoint: everything about it, once. Matching, OpenAPI, metrics and the access log read the row.
pub struct Route<S: 'static> {
    /// The method. HEAD comes with GET, OPTIONS with everything.
    pub method: Method,
    /// The path with `{parameters}`. One that ends with `/` is found without it as well.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Its parameters in path, query and headers. Those of the path may be left out when they are plain text.
    pub parameters: &'static [Parameter],
    /// The body that it takes.
    pub body: Option<Accepts>,
    /// What it answers when all is well; problems are understood.
    pub replies: &'static [Reply],
    /// What answers.
    pub handler: Handler<S>,
}

impl<S> Route<S> {
    /// Whether `Accept` decides what is answered: there are several content types for one status.
    pub(crate) fn negotiates(&self) -> bool {
        let Some((first, rest)) = self.replies.split_first() else { return false };
        rest.iter().any(|reply| reply.status == first.status && reply.media != first.media)
    }

    /// Refuses a parameter behind the question mark that the row does not have: a mistake that would otherwise go unseen,
    /// as a filter that is misspelt and filters nothing. Rows that need no token have their own rules, as OAuth does.
    pub(crate) fn check_query(&self, request: &Request) -> Result<(), Problem> {
        if !self.access.needs_token() || request.head.uri.query().is_none_or(str::is_empty) {
            return Ok(());
        }
        let parameters = self.parameters.iter().filter(|parameter| parameter.place == Place::Query);
        let known: Vec<&str> = parameters.map(|parameter| parameter.name).collect();
        match request.query()?.pairs().find(|(name, _)| !known.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(Problem::bad_request("invalid-parameter", "There is no such parameter.")
                .with("parameter", name)
                .with("allowed", known)),
        }
    }
}

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// In the path: always required.
    Path,
    /// Behind the question mark: optional.
    Query,
    /// In a header: optional.
    Header,
    /// In a header that has to be there.
    NeededHeader,
}

/// A parameter, for the documentation. Reading it is the handler's part.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Where it stands.
    pub place: Place,
    /// Its JSON Schema, as text.
    pub schema: &'static str,
    /// What it means.
    pub summary: &'static str,
}

/// The body that an endpoint takes. `Request::json` and its like enforce it.
#[derive(Clone, Copy, Debug)]
pub struct Accepts {
    /// The content types, without parameters.
    pub media: &'static [&'static str],
    /// The most bytes, after decompression.
    pub limit: u64,
    /// Its JSON Schema, as text.
    pub schema: &'static str,
}

impl Accepts {
    /// The same, with no more JSON than a server takes.
    pub(crate) fn within(self, limits: &Limits) -> Accepts {
        let is_json = self.media.iter().all(|media| *media == "application/json" || media.ends_with("+json"));
        Accepts { limit: if is_json { self.limit.min(limits.json_body) } else { self.limit }, ..self }
    }
}

/// An answer that an endpoint gives, for the documentation.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The content type; none when there is no body.
    pub media: Option<&'static str>,
    /// The JSON Schema of the body, as text.
    pub schema: &'static str,
    /// When it comes.
    pub summary: &'static str,
}

/// All rows, ready to be searched.
pub(crate) struct Router<S: 'static> {
    paths: matchit::Router<Methods<S>>,
}

/// The rows of a path by method, and what is counted of each.
type Methods<S> = BTreeMap<&'static str, (&'static Route<S>, Arc<Figures>)>;

/// The parameters of a path: names as they stand in the row, values decoded. None for one that is not UTF-8 then: who may
/// not ask is told that before.
pub(crate) type Params = Vec<(String, Option<String>)>;

/// The row of a request, and the parameters of its path.
pub(crate) struct Found<'r, S: 'static> {
    pub route: &'static Route<S>,
    pub figures: &'r Arc<Figures>,
    pub params: Params,
}

/// What else a search may end with.
pub(crate) enum Missed {
    /// No row has that path.
    Path,
    /// Rows have the path, for other methods: the value of `Allow`.
    Method(String),
    /// OPTIONS: the value of `Allow`.
    Options(String),
}

impl<S> Router<S> {
    /// Panics when two rows are in each other's way: a table like that is wrong, whatever is asked.
    pub fn new(rows: impl IntoIterator<Item = &'static Route<S>>, metrics: &Metrics) -> Self {
        let mut table: BTreeMap<&'static str, Methods<S>> = BTreeMap::new();
        for row in rows {
            let method = known_method(&row.method);
            let figures = Arc::new(metrics.figures(method, row.path));
            let before = table.entry(row.path).or_default().insert(method, (row, figures));
            assert!(before.is_none(), "two rows for {method} {}", row.path);
        }
        let mut paths = matchit::Router::new();
        for (path, methods) in table {
            for spelling in spellings(path) {
                let inserted = paths.insert(spelling, methods.clone());
                assert!(inserted.is_ok(), "the path {path} is in the way of another row");
            }
        }
        Router { paths }
    }

    pub fn find(&self, method: &Method, path: &str) -> Result<Found<'_, S>, Missed> {
        let at = self.paths.at(path).map_err(|_| Missed::Path)?;
        let wanted = if method == Method::HEAD { "GET" } else { method.as_str() };
        if method == Method::OPTIONS && !at.value.contains_key("OPTIONS") {
            return Err(Missed::Options(allow(at.value)));
        }
        let Some((route, figures)) = at.value.get(wanted) else { return Err(Missed::Method(allow(at.value))) };
        let params = at.params.iter().map(|(name, raw)| (name.to_owned(), percent::decode(raw)));
        Ok(Found { route, figures, params: params.collect() })
    }
}

impl Missed {
    pub fn into_problem(self) -> Problem {
        match self {
            Missed::Path => {
                Problem::not_found("not-found").detail("There is nothing at this path; `/docs` shows what there is.")
            }
            Missed::Method(allow) | Missed::Options(allow) => {
                Problem::new(hyper::StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed")
                    .detail(format!("This path takes {allow}."))
                    .header(ALLOW, allow)
            }
        }
    }
}

/// A path that ends with a slash is found without it as well.
fn spellings(path: &'static str) -> impl Iterator<Item = &'static str> {
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

fn known_method(method: &Method) -> &'static str {
    const KNOWN: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    KNOWN.into_iter().find(|&name| name == method.as_str()).unwrap_or_else(|| panic!("no row may be for {method}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(method: Method, path: &'static str) -> &'static Route<()> {
        let handler: Handler<()> = |_, _| Box::pin(async { Ok(Response::empty(hyper::StatusCode::NO_CONTENT)) });
        let (access, summary) = (Access::Public, "");
        Box::leak(Box::new(Route { method, path, access, summary, parameters: &[], body: None, replies: &[], handler }))
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
            Ok(Found { route, params, .. }) => {
                let params: Vec<_> =
                    params.iter().map(|(name, value)| (name, value.as_deref().unwrap_or("?"))).collect();
                format!("{} {params:?}", route.path)
            }
            Err(Missed::Path) => "404".into(),
            Err(Missed::Method(allow)) => format!("405 {allow}"),
            Err(Missed::Options(allow)) => format!("204 {allow}"),
        }
    }

    #[test]
    fn parameters_are_decoded_after_the_path_was_cut() {
        assert_eq!(find("GET", "/graph/V%2F1"), r#"/graph/{job_id} [("job_id", "V/1")]"#);
        assert_eq!(find("GET", "/graph/..%2f"), r#"/graph/{job_id} [("job_id", "../")]"#);
        assert_eq!(find("GET", "/graph/%252e"), r#"/graph/{job_id} [("job_id", "%2e")]"#);
        assert_eq!(find("GET", "/graph/%ff"), r#"/graph/{job_id} [("job_id", "?")]"#);
        assert_eq!(find("GET", "/graph/%f"), r#"/graph/{job_id} [("job_id", "?")]"#);
    }

    #[test]
    fn a_slash_at_the_end_counts_unless_the_row_has_it() {
        assert_eq!(find("POST", "/o/token"), "/o/token/ []");
        assert_eq!(find("POST", "/o/token/"), "/o/token/ []");
        assert_eq!(find("GET", "/graph/7/"), "404");
        assert_eq!(find("GET", "/graph/"), "404");
    }

    #[test]
    fn other_methods_are_told_what_is_allowed() {
        assert_eq!(find("PUT", "/graph/7"), "405 GET, HEAD, OPTIONS, POST");
        assert_eq!(find("OPTIONS", "/o/token/"), "204 OPTIONS, POST");
        assert_eq!(find("HEAD", "/graph"), "/graph []");
        assert_eq!(find("BREW", "/nowhere"), "404");
    }

    #[test]
    #[should_panic(expected = "two rows for GET /graph")]
    fn a_table_with_a_row_twice_is_refused() {
        Router::new([row(Method::GET, "/graph"), row(Method::GET, "/graph")], &metrics());
    }
}
