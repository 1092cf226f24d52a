//! Table of HTTP endpoints.

use pidq_http::{Accepts, Access, Method, Parameter, ParameterLocation, Reply, Route, oauth};

use crate::handlers::{self, batch_query, functions, graphs, query};
use crate::server::Server;

/// Maximum size of a query request body in bytes.
const QUERY_BODY: u64 = 2 << 20;

/// Maximum size of an uploaded graph in bytes. Validation applies the configured, lower limit.
const GRAPH_BODY: u64 = 1 << 30;

/// Every endpoint of the service. Routing, access, OpenAPI, metrics and the manual read this table.
pub const ROUTES: &[Route<Server>] = &[
    Route {
        method: Method::POST,
        path: "/o/token/",
        access: Access::Client,
        summary: "Issues a token for a password, a refresh token or client credentials.",
        parameters: &[],
        body: Some(oauth::FORM),
        replies: &[reply(200, TOKEN, "Token.")],
        handler: |server, request| Box::pin(handlers::oauth::issue(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/o/revoke_token/",
        access: Access::Client,
        summary: "Revokes a token and its token family.",
        parameters: &[],
        body: Some(oauth::FORM),
        replies: &[reply(200, OBJECT, "The token is revoked, or did not exist.")],
        handler: |server, request| Box::pin(handlers::oauth::revoke(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/o/introspect/",
        access: Access::Client,
        summary: "Returns whether a token is active, and its metadata.",
        parameters: &[],
        body: Some(oauth::FORM),
        replies: &[reply(200, OBJECT, "Token metadata.")],
        handler: |server, request| Box::pin(handlers::oauth::introspect(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/.well-known/oauth-authorization-server",
        access: Access::Public,
        summary: "OAuth authorization server metadata (RFC 8414).",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "Metadata.")],
        handler: |server, _| Box::pin(async move { handlers::oauth::server_metadata(server) }),
    },
    Route {
        method: Method::GET,
        path: "/.well-known/oauth-protected-resource",
        access: Access::Public,
        summary: "OAuth protected resource metadata (RFC 9728).",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "Metadata.")],
        handler: |server, _| Box::pin(async move { handlers::oauth::resource_metadata(server) }),
    },
    Route {
        method: Method::GET,
        path: "/functions",
        access: Access::Public,
        summary: "Returns the functions and operators of the query language, for editors.",
        parameters: &[],
        body: None,
        replies: &[reply(200, FUNCTIONS, "Functions and operators.")],
        handler: |_, _| Box::pin(async { functions::list_functions() }),
    },
    Route {
        method: Method::GET,
        path: "/graph",
        access: Access::Scope("read"),
        summary: "Lists graphs, ordered by id.",
        parameters: &[PREFIX, LIMIT, CURSOR],
        body: None,
        replies: &[reply(200, LIST, "Page of graphs.")],
        handler: |server, request| Box::pin(graphs::list(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/graph",
        access: Access::Scope("read"),
        summary: "Runs one query on several graphs and streams one NDJSON line per graph.",
        parameters: &[],
        body: Some(Accepts { media: &["application/json"], limit: QUERY_BODY, schema: BATCH_QUERY }),
        replies: &[Reply {
            status: 200,
            media: Some("application/x-ndjson"),
            schema: ROW,
            summary: "One line per graph, sorted by id for a prefix and in the given order for a list.",
        }],
        handler: |server, request| Box::pin(batch_query::post_batch(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/graph/{job_id}",
        access: Access::Scope("read"),
        summary: "Returns a graph as it was stored.",
        parameters: &[GRAPH_ID, VERSION, VERSION_QUERY, SCHEMA, FORMAT],
        body: None,
        replies: GRAPHS,
        handler: |server, request| Box::pin(graphs::get(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/graph/{job_id}",
        access: Access::Scope("read"),
        summary: "Runs a query on a graph.",
        parameters: &[GRAPH_ID, VERSION, VERSION_QUERY, SCHEMA, FORMAT],
        body: Some(Accepts { media: &["application/json"], limit: QUERY_BODY, schema: QUERY }),
        replies: RESULTS,
        handler: |server, request| Box::pin(query::post_query(server, request)),
    },
    Route {
        method: Method::PUT,
        path: "/graph/{job_id}",
        access: Access::Scope("write"),
        summary: "Stores a new version of a graph.",
        parameters: &[GRAPH_ID, STRICT],
        body: Some(Accepts { media: &["application/json"], limit: GRAPH_BODY, schema: GRAPH }),
        replies: &[
            reply(201, STORED, "The graph was created."),
            reply(200, STORED, "A new version was stored, or the content was unchanged."),
        ],
        handler: |server, request| Box::pin(graphs::put(server, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/graph/{job_id}",
        access: Access::Scope("write"),
        summary: "Deletes a graph with all its versions.",
        parameters: &[GRAPH_ID],
        body: None,
        replies: &[Reply { status: 204, media: None, schema: "{}", summary: "The graph was deleted." }],
        handler: |server, request| Box::pin(graphs::delete(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/graph/{job_id}/versions",
        access: Access::Scope("read"),
        summary: "Lists the retained versions of a graph, newest first.",
        parameters: &[GRAPH_ID],
        body: None,
        replies: &[reply(200, VERSIONS, "Versions.")],
        handler: |server, request| Box::pin(graphs::versions(server, request)),
    },
];

const GRAPHS: &[Reply] = &[
    reply(200, GRAPH_OR_NODE_LINK, "Graph."),
    export("application/x-ndjson"),
    export("application/graphml+xml"),
    export("text/csv"),
    export("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    export("text/vnd.graphviz"),
    export("text/vnd.mermaid"),
    export("application/x-cypher-query"),
    export("image/svg+xml"),
    reply(304, "{}", "Not modified."),
];
const RESULTS: &[Reply] = &[
    reply(200, RESULT_OR_NODE_LINK, "Query result."),
    export("application/x-ndjson"),
    export("application/graphml+xml"),
    export("text/csv"),
    export("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    export("text/vnd.graphviz"),
    export("text/vnd.mermaid"),
    export("application/x-cypher-query"),
    export("image/svg+xml"),
];

/// Returns the reply row of an export format.
const fn export(media: &'static str) -> Reply {
    Reply { status: 200, media: Some(media), schema: "{}", summary: "In the requested format." }
}

const fn reply(status: u16, schema: &'static str, summary: &'static str) -> Reply {
    let media = if status == 304 { None } else { Some("application/json") };
    Reply { status, media, schema, summary }
}

const GRAPH_ID: Parameter = Parameter {
    name: "job_id",
    location: ParameterLocation::Path,
    schema: r#"{"type":"string","pattern":"^[A-Za-z0-9._:@~-]{1,128}$"}"#,
    summary: "Graph id.",
};
const VERSION: Parameter = Parameter {
    name: "X-Change-Version",
    location: ParameterLocation::Header,
    schema: r#"{"type":"string"}"#,
    summary: "Version of the graph; by default the latest.",
};
const VERSION_QUERY: Parameter = Parameter {
    name: "change_version",
    location: ParameterLocation::Query,
    schema: r#"{"type":"string"}"#,
    summary: "Same as `X-Change-Version`, for clients that cannot set headers.",
};
const SCHEMA: Parameter = Parameter {
    name: "X-Schema-Version",
    location: ParameterLocation::Header,
    schema: r#"{"type":"string","pattern":"^1(\\.[0-9]+)*$"}"#,
    summary: "Schema version that the client supports.",
};
const FORMAT: Parameter = Parameter {
    name: "format",
    location: ParameterLocation::Query,
    schema: r#"{"type":"string","enum":["json","ndjson","node-link","graphml","csv","xlsx","dot","mermaid","cypher","svg"]}"#,
    summary: "Response format, for clients that cannot set `Accept`.",
};
const STRICT: Parameter = Parameter {
    name: "strict",
    location: ParameterLocation::Query,
    schema: r#"{"type":"boolean"}"#,
    summary: "If `true`, a graph with warnings is rejected instead of stored.",
};
const PREFIX: Parameter = Parameter {
    name: "prefix",
    location: ParameterLocation::Query,
    schema: r#"{"type":"string"}"#,
    summary: "Prefix of the graph ids.",
};
const LIMIT: Parameter = Parameter {
    name: "limit",
    location: ParameterLocation::Query,
    schema: r#"{"type":"integer","minimum":1,"maximum":1000,"default":100}"#,
    summary: "Maximum number of graphs per page.",
};
const CURSOR: Parameter = Parameter {
    name: "cursor",
    location: ParameterLocation::Query,
    schema: r#"{"type":"string"}"#,
    summary: "Cursor: the value of `next` in the previous page.",
};

const OBJECT: &str = r#"{"type":"object"}"#;
const TOKEN: &str = r#"{"type":"object","required":["access_token","token_type","expires_in","scope"],"properties":{"access_token":{"type":"string"},"token_type":{"const":"Bearer"},"expires_in":{"type":"integer"},"refresh_token":{"type":"string"},"scope":{"type":"string"}}}"#;
const FUNCTIONS: &str = r#"{"type":"object","required":["functions","operators"],"properties":{"functions":{"type":"array","items":{"type":"object","required":["name","signature","summary","example","params"]}},"operators":{"type":"array","items":{"type":"object","required":["text","function","level"]}}}}"#;
const GRAPH: &str = r#"{"type":"object","required":["pid_graph"],"properties":{"pid_graph":{"type":"object","required":["nodes","edges"],"properties":{"nodes":{"type":"array","items":{"type":"object"}},"edges":{"type":"array","items":{"type":"object"}},"metadata":{"type":"object"}}}}}"#;
/// Schema of a graph reply; `?format=node-link` is JSON as well.
const GRAPH_OR_NODE_LINK: &str = r#"{"anyOf":[{"type":"object","required":["pid_graph"],"properties":{"pid_graph":{"type":"object","required":["nodes","edges"],"properties":{"nodes":{"type":"array","items":{"type":"object"}},"edges":{"type":"array","items":{"type":"object"}},"metadata":{"type":"object"}}}}},{"type":"object","required":["directed","multigraph","graph","nodes"]}]}"#;
const QUERY: &str = r#"{"type":"object","required":["query"],"properties":{"query":{"type":"string","minLength":1,"maxLength":65536},"params":{"type":"object"},"explain":{"type":"boolean"},"dry_run":{"type":"boolean"}}}"#;
const RESULT_OR_NODE_LINK: &str = r#"{"anyOf":[{"type":"object","required":["query","schema_version","change_version","result"],"properties":{"query":{"type":"string"},"schema_version":{"type":"string"},"change_version":{"type":"string"},"result":{"type":"array"},"explain":{"type":"object"}}},{"type":"object","required":["directed","multigraph","graph","nodes"]}]}"#;
const BATCH_QUERY: &str = r#"{"type":"object","required":["query","graphs"],"properties":{"query":{"type":"string","minLength":1,"maxLength":65536},"params":{"type":"object"},"graphs":{"oneOf":[{"type":"object","required":["prefix"],"properties":{"prefix":{"type":"string"}},"additionalProperties":false},{"type":"object","required":["ids"],"properties":{"ids":{"type":"array","items":{"type":"string","pattern":"^[A-Za-z0-9._:@~-]{1,128}$"}}},"additionalProperties":false}]}}}"#;
const ROW: &str = r#"{"type":"object","required":["job_id","change_version"],"properties":{"job_id":{"type":"string"},"change_version":{"type":["string","null"]},"result":{"type":"array"},"error":{"type":"object"}}}"#;
const STORED: &str = r#"{"type":"object","required":["job_id","schema_version","change_version","nodes","edges","warnings"],"properties":{"job_id":{"type":"string"},"schema_version":{"type":"string"},"change_version":{"type":"string"},"nodes":{"type":"integer"},"edges":{"type":"integer"},"warnings":{"type":"array","items":{"type":"object"}}}}"#;
const VERSIONS: &str = r#"{"type":"object","required":["job_id","versions","latest_version"],"properties":{"job_id":{"type":"string"},"versions":{"type":"array","items":{"type":"object","required":["change_version","created_on"],"properties":{"change_version":{"type":"string"},"created_on":{"type":"string","format":"date-time"}}}},"latest_version":{"type":["string","null"]}}}"#;
const LIST: &str = r#"{"type":"object","required":["graphs","next"],"properties":{"graphs":{"type":"array","items":{"type":"object"}},"next":{"type":["string","null"]}}}"#;
