//! Query request: its body, validation, and compilation.

use std::collections::BTreeMap;
use std::sync::Arc;

use pidq_core::error::Code;
use pidq_core::limits::{MAX_GRAPH_PARAMS, MAX_QUERY_SIZE};
use pidq_core::{Profile, Query};
use pidq_http::{Problem, Request, codes};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::caches::QueryCache;
use crate::graph_selector::GraphIdText;
use crate::problems::problem;
use crate::store::Error;
use crate::store::validation::json_offsets::lone_surrogate;

/// Query on a graph. Other fields are ignored.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "GraphQuery")]
pub(crate) struct QueryRequest {
    /// The query, at most 65,536 bytes.
    #[schemars(length(min = 1, max = MAX_QUERY_SIZE))]
    pub query: String,
    /// Values of the parameters of the query, by name.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schemars(with = "Map<String, Value>")]
    params: Option<Box<RawValue>>,
    /// Graphs that the query reads as parameters, by name: other graphs, or other versions of this one.
    #[serde(default)]
    #[schemars(extend("maxProperties" = MAX_GRAPH_PARAMS))]
    pub graph_params: GraphParams,
    /// Adds an explanation to the result: the profile of the run and warnings.
    #[serde(default)]
    pub explain: bool,
    /// Checks the query against the graph without running it.
    #[serde(default)]
    pub dry_run: bool,
}

/// Graph parameters of a request, by name.
pub(crate) type GraphParams = BTreeMap<String, GraphReference>;

/// Graph that a parameter of a query refers to.
// Unknown fields are rejected: with a mistyped field, the query would silently read another version.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphReference {
    /// Graph id; by default that of the queried graph.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schemars(with = "GraphIdText")]
    pub job_id: Option<String>,
    /// Version of the graph; by default the latest.
    #[serde(default, deserialize_with = "deserialize_present")]
    #[schemars(with = "String")]
    pub change_version: Option<String>,
}

/// Deserializes a field that is present, including an explicit `null`, which is a different error than a missing field.
pub(crate) fn deserialize_present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Parses a JSON request body. Also rejects invalid UTF-8 and lone surrogates in parts that serde skips or keeps as raw
/// JSON.
pub(crate) fn parse_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let fields = Request::parse_object(body)?;
    let malformed = |detail: &str, offset| Err(problem(Error::MalformedJson { detail: detail.into(), offset }));
    match std::str::from_utf8(body).map(lone_surrogate) {
        Ok(None) => Ok(fields),
        Ok(Some(offset)) => malformed("Lone surrogate escape", offset),
        Err(error) => malformed("Invalid UTF-8", error.valid_up_to()),
    }
}

impl QueryRequest {
    /// Creates a request with a query and parameters only.
    pub fn new(query: String, params: Option<Box<RawValue>>) -> Result<QueryRequest, Problem> {
        let request = QueryRequest { query, params, graph_params: GraphParams::new(), explain: false, dry_run: false };
        request.check()?;
        Ok(request)
    }

    /// Validates the constraints that serde does not check.
    pub fn check(&self) -> Result<(), Problem> {
        let invalid = |detail: &str| Err(Problem::new(codes::INVALID_REQUEST).detail(detail));
        match &self.params {
            _ if self.query.is_empty() => invalid("`query` is empty."),
            _ if self.query.len() > MAX_QUERY_SIZE => Err(query_too_long()),
            Some(params) if !params.get().starts_with('{') => invalid("`params` must be an object."),
            _ if self.graph_params.len() > MAX_GRAPH_PARAMS => Err(too_many_graph_params()),
            _ => Ok(()),
        }
    }

    /// Returns the parameters as JSON.
    pub fn params(&self) -> &str {
        self.params.as_ref().map_or("{}", |params| params.get())
    }

    /// Compiles the query, using the query cache. Blocks and is CPU-bound.
    pub fn compile(&self, queries: &QueryCache) -> pidq_core::Result<Arc<Query>> {
        let (text, params) = (self.query.as_str(), self.params());
        let graph_params: Vec<&str> = self.graph_params.keys().map(String::as_str).collect();
        let parse = || Query::with_graphs(text, params, &graph_params);
        queries.load(Profile::Pidq, text, params, &graph_params, parse)
    }
}

fn too_many_graph_params() -> Problem {
    let detail = format!("`graph_params` has more than {MAX_GRAPH_PARAMS} graphs.");
    Problem::new(codes::INVALID_REQUEST).detail(detail)
}

/// Returns the problem for an overlong query, which is reported before compilation.
fn query_too_long() -> Problem {
    Problem::new(codes::QUERY_LIMIT)
        .detail(format!("The query exceeds {MAX_QUERY_SIZE} bytes."))
        .with("pq_code", Code::QueryTooLong.as_str())
        .with("limit", "query")
        .with("value", MAX_QUERY_SIZE)
}
