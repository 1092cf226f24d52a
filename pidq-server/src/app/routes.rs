//! Table of HTTP endpoints.

use pidq_http::auth::{AuthorizationServer, EmptyObject, ProtectedResource, TokenMetadata, TokenResponse};
use pidq_http::{Accepts, Access, Action, Binary, Method, Parameter, Reply, Route, oauth};

use crate::app::schemas::{
    FormatName, FunctionCatalog, Graph, GraphOrNodeLink, PageSize, ResultOrNodeLink, SchemaVersion, UploadFormatName,
};
use crate::app::settings::MAX_GRAPH_SIZE;
use crate::graph_selector::GraphIdText;
use crate::handlers::accounts::{AccountEntry, AccountList, AccountPatch, AccountRequest};
use crate::handlers::batch_query::{BatchRequest, BatchRowJson};
use crate::handlers::clients::{ClientEntry, ClientList, ClientPatch, ClientRequest};
use crate::handlers::graphs::{GraphPage, GraphVersions, PutResult};
use crate::handlers::own_account::{OwnAccount, PasswordRequest};
use crate::handlers::{self, accounts, batch_query, clients, functions, graphs, own_account, query};
use crate::query::request::QueryRequest;
use crate::server::Server;
use crate::upload::FILE_TYPES;

/// Maximum size of a query request body in bytes.
const QUERY_BODY: u64 = 2 << 20;

/// Maximum size in bytes of a request body about an account or a client.
const ACCOUNT_BODY: u64 = 16 << 10;

/// Maximum size of an uploaded graph in bytes. Validation applies the configured, lower limit.
const GRAPH_BODY: u64 = 1 << 30;

/// Every endpoint of the service. Routing, access, OpenAPI, metrics and the manual read this table.
pub const ROUTES: &[Route<Server>] = &[
    Route {
        method: Method::POST,
        path: "/o/token/",
        access: Access::Client,
        action: Action::None,
        summary: "Issues a token for a password, a refresh token or client credentials.",
        parameters: &[],
        body: Some(oauth::TOKEN_FORM),
        replies: &[Reply::json::<TokenResponse<'_>>(200, "Token.")],
        handler: |server, request| Box::pin(handlers::oauth::issue(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/o/revoke_token/",
        access: Access::Client,
        action: Action::None,
        summary: "Revokes a token and its token family.",
        parameters: &[],
        body: Some(oauth::KNOWN_TOKEN_FORM),
        replies: &[Reply::json::<EmptyObject>(200, "The token is revoked, or did not exist.")],
        handler: |server, request| Box::pin(handlers::oauth::revoke(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/o/introspect/",
        access: Access::Client,
        action: Action::None,
        summary: "Returns whether a token is active, and its metadata.",
        parameters: &[],
        body: Some(oauth::KNOWN_TOKEN_FORM),
        replies: &[Reply::json::<TokenMetadata<'_>>(200, "Token metadata.")],
        handler: |server, request| Box::pin(handlers::oauth::introspect(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/.well-known/oauth-authorization-server",
        access: Access::Public,
        action: Action::None,
        summary: "OAuth authorization server metadata (RFC 8414).",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<AuthorizationServer<'_>>(200, "Metadata.")],
        handler: |server, _| Box::pin(async move { handlers::oauth::server_metadata(server) }),
    },
    Route {
        method: Method::GET,
        path: "/.well-known/oauth-protected-resource",
        access: Access::Public,
        action: Action::None,
        summary: "OAuth protected resource metadata (RFC 9728).",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<ProtectedResource<'_>>(200, "Metadata.")],
        handler: |server, _| Box::pin(async move { handlers::oauth::resource_metadata(server) }),
    },
    Route {
        method: Method::GET,
        path: "/functions",
        access: Access::Public,
        action: Action::None,
        summary: "Returns the functions and operators of the query language, for editors.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<FunctionCatalog>(200, "Functions and operators.")],
        handler: |_, _| Box::pin(async { functions::list_functions() }),
    },
    Route {
        method: Method::GET,
        path: "/graph",
        access: Access::Scope("read"),
        action: Action::None,
        summary: "Lists graphs, ordered by id.",
        parameters: &[PREFIX, LIMIT, CURSOR],
        body: None,
        replies: &[Reply::json::<GraphPage<'_>>(200, "Page of graphs.")],
        handler: |server, request| Box::pin(graphs::list(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/graph",
        access: Access::Scope("read"),
        action: Action::None,
        summary: "Runs one query on several graphs and streams one NDJSON line per graph.",
        parameters: &[],
        body: Some(Accepts::json::<BatchRequest>(QUERY_BODY)),
        replies: &[Reply::of::<BatchRowJson>(
            200,
            "application/x-ndjson",
            "One line per graph, sorted by id for a prefix and in the given order for a list.",
        )],
        handler: |server, request| Box::pin(batch_query::post_batch(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/graph/{job_id}",
        access: Access::Scope("read"),
        action: Action::None,
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
        action: Action::None,
        summary: "Runs a query on a graph.",
        parameters: &[GRAPH_ID, VERSION, VERSION_QUERY, SCHEMA, FORMAT],
        body: Some(Accepts::json::<QueryRequest>(QUERY_BODY)),
        replies: RESULTS,
        handler: |server, request| Box::pin(query::post_query(server, request)),
    },
    Route {
        method: Method::PUT,
        path: "/graph/{job_id}",
        access: Access::Scope("write"),
        action: Action::None,
        summary: "Stores a new version of a graph, from JSON or a drawing in another format.",
        parameters: &[GRAPH_ID, STRICT, UPLOAD_FORMAT],
        body: Some(Accepts::json::<Graph>(GRAPH_BODY).or_files(FILE_TYPES).limited_by(MAX_GRAPH_SIZE.env())),
        replies: &[
            Reply::json::<PutResult<'_>>(201, "The graph was created."),
            Reply::json::<PutResult<'_>>(200, "A new version was stored, or the content was unchanged."),
        ],
        handler: |server, request| Box::pin(graphs::put(server, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/graph/{job_id}",
        access: Access::Scope("write"),
        action: Action::None,
        summary: "Deletes a graph with all its versions.",
        parameters: &[GRAPH_ID],
        body: None,
        replies: &[Reply::empty(204, "The graph was deleted.")],
        handler: |server, request| Box::pin(graphs::delete(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/graph/{job_id}/versions",
        access: Access::Scope("read"),
        action: Action::None,
        summary: "Lists the retained versions of a graph, newest first.",
        parameters: &[GRAPH_ID],
        body: None,
        replies: &[Reply::json::<GraphVersions<'_>>(200, "Versions.")],
        handler: |server, request| Box::pin(graphs::versions(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/account",
        access: Access::Scope("read"),
        action: Action::None,
        summary: "Returns the account of the caller.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<OwnAccount<'_>>(200, "Account.")],
        handler: |server, request| Box::pin(own_account::show(server, request)),
    },
    Route {
        method: Method::PUT,
        path: "/account/password",
        access: Access::Scope("read"),
        action: Action::None,
        summary: "Changes the password of the caller and revokes the tokens of all other logins.",
        parameters: &[],
        body: Some(Accepts::json::<PasswordRequest>(ACCOUNT_BODY)),
        replies: &[Reply::empty(204, "The password was changed.")],
        handler: |server, request| Box::pin(own_account::change_password(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/accounts",
        access: Access::Scope("read"),
        action: Action::None,
        summary: "Lists the accounts of the tenant. Requires the role `admin`, as do all endpoints of accounts and clients.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<AccountList>(200, "Accounts.")],
        handler: |server, request| Box::pin(accounts::list(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/accounts",
        access: Access::Scope("write"),
        action: Action::None,
        summary: "Creates an account.",
        parameters: &[],
        body: Some(Accepts::json::<AccountRequest>(ACCOUNT_BODY)),
        replies: &[Reply::json::<AccountEntry>(201, "The account; a generated password is shown only here.")],
        handler: |server, request| Box::pin(accounts::create(server, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/accounts/{login}",
        access: Access::Scope("write"),
        action: Action::None,
        summary: "Changes password, role, groups or state of an account.",
        parameters: &[LOGIN],
        body: Some(Accepts::json::<AccountPatch>(ACCOUNT_BODY)),
        replies: &[Reply::json::<AccountEntry>(200, "The changed account.")],
        handler: |server, request| Box::pin(accounts::update(server, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/accounts/{login}",
        access: Access::Scope("write"),
        action: Action::None,
        summary: "Deletes an account and all its tokens.",
        parameters: &[LOGIN],
        body: None,
        replies: &[Reply::empty(204, "The account was deleted.")],
        handler: |server, request| Box::pin(accounts::delete(server, request)),
    },
    Route {
        method: Method::GET,
        path: "/clients",
        access: Access::Scope("read"),
        action: Action::None,
        summary: "Lists the OAuth clients of the tenant.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<ClientList>(200, "Clients.")],
        handler: |server, request| Box::pin(clients::list(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/clients",
        access: Access::Scope("write"),
        action: Action::None,
        summary: "Creates an OAuth client for a program.",
        parameters: &[],
        body: Some(Accepts::json::<ClientRequest>(ACCOUNT_BODY)),
        replies: &[Reply::json::<ClientEntry>(201, "The client with its secret, which is shown only here.")],
        handler: |server, request| Box::pin(clients::create(server, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/clients/{client_id}",
        access: Access::Scope("write"),
        action: Action::None,
        summary: "Disables or enables an OAuth client.",
        parameters: &[CLIENT_ID],
        body: Some(Accepts::json::<ClientPatch>(ACCOUNT_BODY)),
        replies: &[Reply::json::<ClientEntry>(200, "The changed client.")],
        handler: |server, request| Box::pin(clients::update(server, request)),
    },
    Route {
        method: Method::POST,
        path: "/clients/{client_id}/rotate",
        access: Access::Scope("write"),
        action: Action::None,
        summary: "Replaces the secret of an OAuth client.",
        parameters: &[CLIENT_ID],
        body: None,
        replies: &[Reply::json::<ClientEntry>(200, "The client with its new secret, which is shown only here.")],
        handler: |server, request| Box::pin(clients::rotate(server, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/clients/{client_id}",
        access: Access::Scope("write"),
        action: Action::None,
        summary: "Deletes an OAuth client and all its tokens.",
        parameters: &[CLIENT_ID],
        body: None,
        replies: &[Reply::empty(204, "The client was deleted.")],
        handler: |server, request| Box::pin(clients::delete(server, request)),
    },
];

const GRAPHS: &[Reply] = &[
    Reply::json::<GraphOrNodeLink>(200, "Graph."),
    export("application/x-ndjson"),
    export("application/xml"),
    export("application/graphml+xml"),
    export("text/csv"),
    export("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    export("text/vnd.graphviz"),
    export("text/vnd.mermaid"),
    export("application/x-cypher-query"),
    export("text/x-sfiles"),
    export("image/svg+xml"),
    Reply::empty(304, "Not modified."),
];
const RESULTS: &[Reply] = &[
    Reply::json::<ResultOrNodeLink>(200, "Query result."),
    export("application/x-ndjson"),
    export("application/xml"),
    export("application/graphml+xml"),
    export("text/csv"),
    export("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    export("text/vnd.graphviz"),
    export("text/vnd.mermaid"),
    export("application/x-cypher-query"),
    export("text/x-sfiles"),
    export("image/svg+xml"),
];

/// Returns the reply row of an export format.
const fn export(media: &'static str) -> Reply {
    Reply::of::<Binary>(200, media, "In the requested format.")
}

const GRAPH_ID: Parameter = Parameter::path::<GraphIdText>("job_id", "Graph id.");
const LOGIN: Parameter = Parameter::path::<String>("login", "Login of the user.");
const CLIENT_ID: Parameter = Parameter::path::<String>("client_id", "Id of the client.");
const VERSION: Parameter =
    Parameter::header::<String>("X-Change-Version", "Version of the graph; by default the latest.");
const VERSION_QUERY: Parameter =
    Parameter::query::<String>("change_version", "Same as `X-Change-Version`, for clients that cannot set headers.");
const SCHEMA: Parameter =
    Parameter::header::<SchemaVersion>("X-Schema-Version", "Schema version that the client supports.");
const FORMAT: Parameter =
    Parameter::query::<FormatName>("format", "Response format, for clients that cannot set `Accept`.");
const STRICT: Parameter = Parameter::query::<bool>(
    "strict",
    "If `true`, a graph with warnings, or a drawing that is imported with changes, is rejected instead of stored.",
);
const UPLOAD_FORMAT: Parameter = Parameter::query::<UploadFormatName>(
    "format",
    "Format of the body; by default found by its content type and its content.",
);
const PREFIX: Parameter = Parameter::query::<String>("prefix", "Prefix of the graph ids.");
const LIMIT: Parameter = Parameter::query::<PageSize>("limit", "Maximum number of graphs per page.");
const CURSOR: Parameter = Parameter::query::<String>("cursor", "Cursor: the value of `next` in the previous page.");
