//! The endpoints, one row each.

use pidq_http::{Accepts, Access, Method, Parameter, Place, Reply, Route, oauth};

use crate::server::Server;
use crate::{fleet, graph, language, question, tokens};

/// The most bytes of a query request.
const QUERY_BODY: u64 = 2 << 20;

/// The most bytes of a graph. The door counts again, with the limit of the settings.
const GRAPH_BODY: u64 = 1 << 30;

/// Every endpoint of the service. Routing, access, OpenAPI, metrics and the manual read this table.
pub const ROUTES: &[Route<Server>] = &[
    Route {
        method: Method::POST,
        path: "/o/token/",
        access: Access::Client,
        summary: "Gives a token for a password, a refresh token or the client itself.",
        parameters: &[],
        body: Some(oauth::FORM),
        replies: &[reply(200, TOKEN, "The token.")],
        handler: |server, request| Box::pin(tokens::issue(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/o/revoke_token/",
        access: Access::Client,
        summary: "Takes a token back, and those that came with it.",
        parameters: &[],
        body: Some(oauth::FORM),
        replies: &[reply(200, OBJECT, "The token is worth nothing now, if it ever was.")],
        handler: |server, request| Box::pin(tokens::revoke(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/o/introspect/",
        access: Access::Client,
        summary: "Tells a client about a token of its own.",
        parameters: &[],
        body: Some(oauth::FORM),
        replies: &[reply(200, OBJECT, "What is known of the token.")],
        handler: |server, request| Box::pin(tokens::introspect(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/.well-known/oauth-authorization-server",
        access: Access::Public,
        summary: "Where tokens are given, and how (RFC 8414).",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The metadata.")],
        handler: |server, _| Box::pin(async move { tokens::issuer(server) }),
    },
    Route {
        method: Method::GET,
        path: "/.well-known/oauth-protected-resource",
        access: Access::Public,
        summary: "Who gives tokens for this service (RFC 9728).",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The metadata.")],
        handler: |server, _| Box::pin(async move { tokens::resource(server) }),
    },
    Route {
        method: Method::GET,
        path: "/functions",
        access: Access::Public,
        summary: "The functions and operators of the language, for editors.",
        parameters: &[],
        body: None,
        replies: &[reply(200, LANGUAGE, "The language.")],
        handler: |_, _| Box::pin(async { language::functions() }),
    },
    Route {
        method: Method::GET,
        path: "/graph",
        access: Access::Scope("read"),
        summary: "The graphs that there are, by job.",
        parameters: &[PREFIX, LIMIT, CURSOR],
        body: None,
        replies: &[reply(200, LIST, "A page of the list.")],
        handler: |server, request| Box::pin(graph::list(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/graph",
        access: Access::Scope("read"),
        summary: "One query over many graphs: a line for each.",
        parameters: &[],
        body: Some(Accepts { media: &["application/json"], limit: QUERY_BODY, schema: FLEET }),
        replies: &[Reply {
            status: 200,
            media: Some("application/x-ndjson"),
            schema: ROW,
            summary: "Rows in the order of the jobs.",
        }],
        handler: |server, request| Box::pin(fleet::ask(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/graph/{job_id}",
        access: Access::Scope("read"),
        summary: "The whole graph of a job, as it was put.",
        parameters: &[JOB, VERSION, OF_VERSION, SCHEMA, FORMAT],
        body: None,
        replies: GRAPHS,
        handler: |server, request| Box::pin(graph::fetch(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/graph/{job_id}",
        access: Access::Scope("read"),
        summary: "The part of the graph that a query selects.",
        parameters: &[JOB, VERSION, OF_VERSION, SCHEMA, FORMAT],
        body: Some(Accepts { media: &["application/json"], limit: QUERY_BODY, schema: QUERY }),
        replies: RESULTS,
        handler: |server, request| Box::pin(question::ask(server, request)),
    },
    Route {
        method: Method::PUT,
        path: "/graph/{job_id}",
        access: Access::Scope("write"),
        summary: "Stores a new version of the graph of a job.",
        parameters: &[JOB, STRICT],
        body: Some(Accepts { media: &["application/json"], limit: GRAPH_BODY, schema: GRAPH }),
        replies: &[reply(201, STORED, "The job is new."), reply(200, STORED, "The job has a new version, or had it.")],
        handler: |server, request| Box::pin(graph::put(server, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/graph/{job_id}",
        access: Access::Scope("write"),
        summary: "Deletes the graph of a job with all its versions.",
        parameters: &[JOB],
        body: None,
        replies: &[Reply { status: 204, media: None, schema: "{}", summary: "It is gone." }],
        handler: |server, request| Box::pin(graph::delete(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/graph/{job_id}/versions",
        access: Access::Scope("read"),
        summary: "The versions of a graph that are kept, newest first.",
        parameters: &[JOB],
        body: None,
        replies: &[reply(200, VERSIONS, "The versions.")],
        handler: |server, request| Box::pin(graph::versions(server, request)),
    },
];

const GRAPHS: &[Reply] = &[
    reply(200, GRAPH_OR_LINKS, "The graph."),
    form("application/x-ndjson"),
    form("application/graphml+xml"),
    form("text/csv"),
    form("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    form("text/vnd.graphviz"),
    form("text/vnd.mermaid"),
    form("application/x-cypher-query"),
    form("image/svg+xml"),
    reply(304, "{}", "The client has it already."),
];
const RESULTS: &[Reply] = &[
    reply(200, RESULT_OR_LINKS, "What was selected."),
    form("application/x-ndjson"),
    form("application/graphml+xml"),
    form("text/csv"),
    form("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    form("text/vnd.graphviz"),
    form("text/vnd.mermaid"),
    form("application/x-cypher-query"),
    form("image/svg+xml"),
];

/// The same answer in a form for another program.
const fn form(media: &'static str) -> Reply {
    Reply { status: 200, media: Some(media), schema: "{}", summary: "In the form that was asked for." }
}

const fn reply(status: u16, schema: &'static str, summary: &'static str) -> Reply {
    let media = if status == 304 { None } else { Some("application/json") };
    Reply { status, media, schema, summary }
}

const JOB: Parameter = Parameter {
    name: "job_id",
    place: Place::Path,
    schema: r#"{"type":"string","pattern":"^[A-Za-z0-9._:@~-]{1,128}$"}"#,
    summary: "The job.",
};
const VERSION: Parameter = Parameter {
    name: "X-Change-Version",
    place: Place::Header,
    schema: r#"{"type":"string"}"#,
    summary: "This version instead of the latest.",
};
const OF_VERSION: Parameter = Parameter {
    name: "change_version",
    place: Place::Query,
    schema: r#"{"type":"string"}"#,
    summary: "The same, for those who cannot set headers.",
};
const SCHEMA: Parameter = Parameter {
    name: "X-Schema-Version",
    place: Place::Header,
    schema: r#"{"type":"string","pattern":"^1(\\.[0-9]+)*$"}"#,
    summary: "The schema that is understood.",
};
const FORMAT: Parameter = Parameter {
    name: "format",
    place: Place::Query,
    schema: r#"{"type":"string","enum":["json","ndjson","node-link","graphml","csv","xlsx","dot","mermaid","svg"]}"#,
    summary: "The form of the answer, for those who cannot set `Accept`.",
};
const STRICT: Parameter = Parameter {
    name: "strict",
    place: Place::Query,
    schema: r#"{"type":"boolean"}"#,
    summary: "Refuses what is otherwise listed as a warning.",
};
const PREFIX: Parameter = Parameter {
    name: "prefix",
    place: Place::Query,
    schema: r#"{"type":"string"}"#,
    summary: "Only jobs that begin so.",
};
const LIMIT: Parameter = Parameter {
    name: "limit",
    place: Place::Query,
    schema: r#"{"type":"integer","minimum":1,"maximum":1000,"default":100}"#,
    summary: "The most graphs of a page.",
};
const CURSOR: Parameter = Parameter {
    name: "cursor",
    place: Place::Query,
    schema: r#"{"type":"string"}"#,
    summary: "`next` of the page before.",
};

const OBJECT: &str = r#"{"type":"object"}"#;
const TOKEN: &str = r#"{"type":"object","required":["access_token","token_type","expires_in","scope"],"properties":{"access_token":{"type":"string"},"token_type":{"const":"Bearer"},"expires_in":{"type":"integer"},"refresh_token":{"type":"string"},"scope":{"type":"string"}}}"#;
const LANGUAGE: &str = r#"{"type":"object","required":["functions","operators"],"properties":{"functions":{"type":"array","items":{"type":"object","required":["name","signature","summary","example","params"]}},"operators":{"type":"array","items":{"type":"object","required":["text","function","level"]}}}}"#;
const GRAPH: &str = r#"{"type":"object","required":["pid_graph"],"properties":{"pid_graph":{"type":"object","required":["nodes","edges"],"properties":{"nodes":{"type":"array","items":{"type":"object"}},"edges":{"type":"array","items":{"type":"object"}},"metadata":{"type":"object"}}}}}"#;
/// `?format=node-link` is JSON as well.
const GRAPH_OR_LINKS: &str = r#"{"anyOf":[{"type":"object","required":["pid_graph"],"properties":{"pid_graph":{"type":"object","required":["nodes","edges"],"properties":{"nodes":{"type":"array","items":{"type":"object"}},"edges":{"type":"array","items":{"type":"object"}},"metadata":{"type":"object"}}}}},{"type":"object","required":["directed","multigraph","graph","nodes"]}]}"#;
const QUERY: &str = r#"{"type":"object","required":["query"],"properties":{"query":{"type":"string","minLength":1,"maxLength":65536},"params":{"type":"object"},"explain":{"type":"boolean"},"dry_run":{"type":"boolean"}}}"#;
const RESULT_OR_LINKS: &str = r#"{"anyOf":[{"type":"object","required":["query","schema_version","change_version","result"],"properties":{"query":{"type":"string"},"schema_version":{"type":"string"},"change_version":{"type":"string"},"result":{"type":"array"},"explain":{"type":"object"}}},{"type":"object","required":["directed","multigraph","graph","nodes"]}]}"#;
const FLEET: &str = r#"{"type":"object","required":["query","jobs"],"properties":{"query":{"type":"string","minLength":1,"maxLength":65536},"params":{"type":"object"},"jobs":{"oneOf":[{"type":"object","required":["prefix"],"properties":{"prefix":{"type":"string"}},"additionalProperties":false},{"type":"object","required":["ids"],"properties":{"ids":{"type":"array","items":{"type":"string","pattern":"^[A-Za-z0-9._:@~-]{1,128}$"}}},"additionalProperties":false}]}}}"#;
const ROW: &str = r#"{"type":"object","required":["job_id","change_version"],"properties":{"job_id":{"type":"string"},"change_version":{"type":["string","null"]},"result":{"type":"array"},"error":{"type":"object"}}}"#;
const STORED: &str = r#"{"type":"object","required":["job_id","schema_version","change_version","nodes","edges","warnings"],"properties":{"job_id":{"type":"string"},"schema_version":{"type":"string"},"change_version":{"type":"string"},"nodes":{"type":"integer"},"edges":{"type":"integer"},"warnings":{"type":"array","items":{"type":"object"}}}}"#;
const VERSIONS: &str = r#"{"type":"object","required":["job_id","versions","latest_version"],"properties":{"job_id":{"type":"string"},"versions":{"type":"array","items":{"type":"object","required":["change_version","created_on"],"properties":{"change_version":{"type":"string"},"created_on":{"type":"string","format":"date-time"}}}},"latest_version":{"type":["string","null"]}}}"#;
const LIST: &str = r#"{"type":"object","required":["graphs","next"],"properties":{"graphs":{"type":"array","items":{"type":"object"}},"next":{"type":["string","null"]}}}"#;
