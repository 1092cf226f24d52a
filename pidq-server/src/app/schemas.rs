//! Types that only describe: bodies that the service reads or writes as bytes, and parameters.

#![allow(dead_code, reason = "the types describe bytes; no value of them is created")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::query::graph_params::GraphVersionRead;
use crate::response_format::format_names;
use crate::upload::upload_format_names;

/// A graph with its drawing. Other fields are stored as well.
#[derive(Deserialize, JsonSchema, Serialize)]
pub struct Graph {
    /// Nodes, edges and metadata.
    pid_graph: PidGraph,
}

/// Nodes, edges and metadata of a drawing. Other fields are stored as well.
#[derive(Deserialize, JsonSchema, Serialize)]
pub struct PidGraph {
    /// Nodes: equipment, instruments, nozzles. Each has an `id`, unique in the graph; other fields are free.
    nodes: Vec<Map<String, Value>>,
    /// Edges: each has `source` and `target`, the ids of nodes; other fields are free.
    edges: Vec<Map<String, Value>>,
    /// Data of the drawing, such as `drawing_name`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

/// Graph in the node-link form of NetworkX.
#[derive(JsonSchema, Serialize)]
pub struct NodeLinkGraph {
    /// `true` if the edges have a direction.
    directed: bool,
    /// `true` if several edges may join the same nodes.
    multigraph: bool,
    /// Data of the drawing.
    graph: Map<String, Value>,
    /// Nodes with their ids.
    nodes: Vec<Map<String, Value>>,
    /// Edges: each has `source` and `target`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edges: Vec<Map<String, Value>>,
}

/// A graph as stored, or with `format=node-link`.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum GraphOrNodeLink {
    /// As stored.
    Graph(Graph),
    /// With `format=node-link`.
    NodeLink(NodeLinkGraph),
}

/// Result of a query.
#[derive(JsonSchema, Serialize)]
pub struct QueryResult {
    /// The query.
    query: String,
    /// Schema version of the graph.
    schema_version: String,
    /// Version of the graph.
    change_version: String,
    /// Versions of the graphs that the query has read as parameters, by name, if there are any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    graph_params: BTreeMap<String, GraphVersionRead<'static>>,
    /// The result; a value that is no array is the only item. Empty if there is no result, and for a dry run.
    result: Vec<Value>,
    /// Explanation, if requested; for a dry run, only the warnings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "QueryExplanation")]
    explain: Option<QueryExplanation>,
}

/// Explanation of a query.
#[derive(JsonSchema, Serialize)]
pub struct QueryExplanation {
    /// Calls of the query in the order in which they are written; arguments follow their call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<QueryStep>,
    /// Fuel (units of work) used by the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    fuel: Option<u64>,
    /// Items of the result. Null if the result is no array.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    /// Likely mistakes in the query: `code`, `stage`, `message`, and position and help as far as known.
    warnings: Vec<Map<String, Value>>,
    /// Duration of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    milliseconds: Option<f64>,
}

/// Profile of one call of a query.
#[derive(JsonSchema, Serialize)]
pub struct QueryStep {
    /// The call as written in the query, shortened.
    text: String,
    /// Number of calls around it.
    depth: u64,
    /// Number of runs.
    runs: u64,
    /// Total number of items of its results that are arrays.
    rows: u64,
    /// Fuel used by the call itself, without its arguments.
    fuel: u64,
    /// Strategy of the call, such as `index` or `scan`; empty if there is no array.
    how: String,
}

/// Result of a query, or with `format=node-link` its nodes and edges.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub enum ResultOrNodeLink {
    /// The result.
    Result(QueryResult),
    /// With `format=node-link`.
    NodeLink(NodeLinkGraph),
}

/// Functions and operators of the query language.
#[derive(JsonSchema, Serialize)]
pub struct FunctionCatalog {
    /// Functions, by name.
    functions: Vec<FunctionDescription>,
    /// Operators, those that bind tightest first.
    operators: Vec<OperatorDescription>,
}

/// A function of the query language.
#[derive(JsonSchema, Serialize)]
pub struct FunctionDescription {
    /// Name.
    name: String,
    /// Name and parameters, as written in a query.
    signature: String,
    /// Description.
    summary: String,
    /// Example: a query and its result.
    example: String,
    /// Parameters, in order.
    params: Vec<FunctionParameter>,
}

/// A parameter of a function.
#[derive(JsonSchema, Serialize)]
pub struct FunctionParameter {
    /// Name.
    name: String,
    /// Kind of the argument, such as `query`, `path` or `constant`.
    expects: String,
    /// `true` if it may be omitted.
    optional: bool,
    /// `true` if it may be repeated.
    repeats: bool,
    /// Names of the options, for a parameter that is an object of options.
    options: Vec<String>,
}

/// An operator of the query language.
#[derive(JsonSchema, Serialize)]
pub struct OperatorDescription {
    /// Text of the operator.
    text: String,
    /// Function that it calls.
    function: String,
    /// Precedence; 0 binds tightest.
    level: u64,
}

/// Schema version: major version 1.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct SchemaVersion(#[schemars(regex(pattern = r"^1(\.[0-9]+)*$"))] String);

/// Number of rows per page.
#[derive(JsonSchema)]
#[schemars(inline, extend("default" = 100))]
pub struct PageSize(#[schemars(range(min = 1, max = 1000))] u64);

/// Name of a response format.
pub struct FormatName;

impl JsonSchema for FormatName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FormatName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": format_names().collect::<Vec<_>>() })
    }
}

/// Name of a format of uploaded drawings.
pub struct UploadFormatName;

impl JsonSchema for UploadFormatName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "UploadFormatName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": upload_format_names().collect::<Vec<_>>() })
    }
}
