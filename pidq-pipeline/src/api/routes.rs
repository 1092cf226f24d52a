//! Table of the platform's HTTP routes, with parameters, schemas and handlers.

use pidq_http::{Accepts, Access, Method, Parameter, ParameterLocation, Reply, Request, Route, oauth};

use crate::api::handlers::limits::MAX_JSON_SIZE;
use crate::api::handlers::{
    self, answers, api_keys, ask, audit, catalog, documents, events, license, limits, llm_connections, operations,
    pipelines, search, usage, webhooks,
};
use crate::platform::Platform;

/// Maximum size of a document form, in bytes. The handler applies the configured limit.
const MAX_FORM_SIZE: u64 = 1 << 30;

/// Every route of the platform. Routing, access control, OpenAPI, metrics and the documentation use this table.
pub const ROUTES: &[Route<Platform>] = &[
    Route {
        method: Method::POST,
        path: "/o/token/",
        access: Access::Client,
        summary: "Issues a token for the master key, a user's password or a refresh token.",
        parameters: &[],
        body: Some(oauth::FORM),
        replies: &[reply(200, TOKEN, "The token.")],
        handler: |platform, request| Box::pin(handlers::oauth::issue(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/o/revoke_token/",
        access: Access::Client,
        summary: "Revokes a token and all tokens of its login (RFC 7009).",
        parameters: &[],
        body: Some(oauth::FORM),
        replies: &[reply(200, OBJECT, "The token is revoked, or did not exist.")],
        handler: |platform, request| Box::pin(handlers::oauth::revoke(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines",
        access: Access::Scope("pipelines:write"),
        summary: "Creates a pipeline.",
        parameters: &[],
        body: Some(json(PIPELINE_REQUEST)),
        replies: &[reply(201, PIPELINE, "The pipeline.")],
        handler: |platform, request| Box::pin(pipelines::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines",
        access: Access::Scope("pipelines:read"),
        summary: "Lists the pipelines, oldest first.",
        parameters: &[LIMIT, CURSOR, NAME],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(pipelines::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}",
        access: Access::Scope("pipelines:read"),
        summary: "Returns a pipeline.",
        parameters: &[],
        body: None,
        replies: &[reply(200, PIPELINE, "The pipeline."), reply(304, "{}", "Not modified.")],
        handler: |platform, request| Box::pin(pipelines::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/pipelines/{pipeline_id}",
        access: Access::Scope("pipelines:write"),
        summary: "Changes a pipeline (merge patch, RFC 7396).",
        parameters: &[],
        body: Some(Accepts {
            media: &["application/json", "application/merge-patch+json"],
            limit: MAX_JSON_SIZE,
            schema: OBJECT,
        }),
        replies: &[reply(200, PIPELINE, "The updated pipeline.")],
        handler: |platform, request| Box::pin(pipelines::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/pipelines/{pipeline_id}",
        access: Access::Scope("pipelines:write"),
        summary: "Deletes a pipeline with its documents.",
        parameters: &[WAIT_FOR_DELETION],
        body: None,
        replies: &[
            Reply { status: 204, media: None, schema: "{}", summary: "Deleted." },
            reply(202, OPERATION, "The pipeline and its documents are being deleted."),
        ],
        handler: |platform, request| Box::pin(pipelines::delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents",
        access: Access::Scope("documents:write"),
        summary: "Uploads a document: the parts `file` and `classification`, and optional ones.",
        parameters: &[WAIT],
        body: Some(Accepts { media: &["multipart/form-data"], limit: MAX_FORM_SIZE, schema: DOCUMENT_FORM }),
        replies: &[
            reply(202, DOCUMENT, "The document is queued."),
            reply(201, DOCUMENT, "The document was ingested within the waiting time."),
            reply(200, DOCUMENT, "A document with the same content exists."),
        ],
        handler: |platform, request| Box::pin(documents::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents",
        access: Access::Scope("documents:read"),
        summary: "Lists the documents of a pipeline, by default oldest first.",
        parameters: &[LIMIT, CURSOR, SORT, CLASSIFICATION, STATUS, FILENAME, EXTERNAL_ID],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(documents::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}",
        access: Access::Scope("documents:read"),
        summary: "Returns a document with its processing status.",
        parameters: &[],
        body: None,
        replies: &[reply(200, DOCUMENT, "The document."), reply(304, "{}", "Not modified.")],
        handler: |platform, request| Box::pin(documents::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}",
        access: Access::Scope("documents:write"),
        summary: "Changes classification, metadata or file name of a document (merge patch, RFC 7396).",
        parameters: &[],
        body: Some(Accepts {
            media: &["application/json", "application/merge-patch+json"],
            limit: MAX_JSON_SIZE,
            schema: OBJECT,
        }),
        replies: &[reply(200, DOCUMENT, "The updated document.")],
        handler: |platform, request| Box::pin(documents::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}",
        access: Access::Scope("documents:write"),
        summary: "Deletes a document with all its indexed data.",
        parameters: &[],
        body: None,
        replies: &[Reply { status: 204, media: None, schema: "{}", summary: "Deleted." }],
        handler: |platform, request| Box::pin(documents::delete(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/content",
        access: Access::Scope("documents:read"),
        summary: "Downloads the original file of a document.",
        parameters: &[RANGE],
        body: None,
        replies: &[
            Reply { status: 200, media: Some("application/octet-stream"), schema: "{}", summary: "The bytes." },
            Reply {
                status: 206,
                media: Some("application/octet-stream"),
                schema: "{}",
                summary: "The requested range of bytes.",
            },
            reply(304, "{}", "Not modified."),
        ],
        handler: |platform, request| Box::pin(documents::content(platform, request)),
    },
    Route {
        method: Method::PUT,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/content",
        access: Access::Scope("documents:write"),
        summary: "Replaces the content of a document with a new revision; the previous one stays searchable until the new one is ready. Requires `If-Match`.",
        parameters: &[WAIT, NEW_FILENAME, IF_MATCH],
        body: Some(Accepts { media: &["*/*"], limit: MAX_FORM_SIZE, schema: r#"{"type":"string","format":"binary"}"# }),
        replies: &[
            reply(202, DOCUMENT, "The new revision is queued."),
            reply(200, DOCUMENT, "The new revision was ingested within the waiting time, or the content is unchanged."),
        ],
        handler: |platform, request| Box::pin(documents::replace(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents:delete",
        access: Access::Scope("documents:write"),
        summary: "Deletes documents by ids or external ids and reports the outcome of each.",
        parameters: &[],
        body: Some(json(BULK_DELETE)),
        replies: &[reply(200, OBJECT, "The outcome of each deletion.")],
        handler: |platform, request| Box::pin(documents::bulk_delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/preview",
        access: Access::Scope("documents:write"),
        summary: "Shows how a file or text would be split, with the splitter of the pipeline or another one. Nothing is stored.",
        parameters: &[LIMIT],
        body: Some(Accepts {
            media: &["multipart/form-data", "application/json"],
            limit: MAX_FORM_SIZE,
            schema: PREVIEW,
        }),
        replies: &[reply(200, OBJECT, "The first chunks and their total number.")],
        handler: |platform, request| Box::pin(documents::preview(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/text",
        access: Access::Scope("documents:read"),
        summary: "Returns the extracted text of a document.",
        parameters: &[],
        body: None,
        replies: &[Reply { status: 200, media: Some("text/plain; charset=utf-8"), schema: "{}", summary: "The text." }],
        handler: |platform, request| Box::pin(documents::text(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/retry",
        access: Access::Scope("documents:write"),
        summary: "Ingests a document again.",
        parameters: &[],
        body: None,
        replies: &[reply(202, DOCUMENT, "The document is queued.")],
        handler: |platform, request| Box::pin(documents::retry(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/cancel",
        access: Access::Scope("documents:write"),
        summary: "Cancels the ingestion of a document.",
        parameters: &[],
        body: None,
        replies: &[reply(200, DOCUMENT, "The updated document.")],
        handler: |platform, request| Box::pin(documents::cancel(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/chunks",
        access: Access::Scope("documents:read"),
        summary: "Lists the chunks of a document, in order.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(documents::chunks(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/search",
        access: Access::Scope("query"),
        summary: "Searches for passages, best first.",
        parameters: &[],
        body: Some(json(SEARCH)),
        replies: &[reply(200, SEARCH_RESULT, "The passages.")],
        handler: |platform, request| Box::pin(search::search(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/query",
        access: Access::Scope("query"),
        summary: "Answers a question from the retrieved passages with an LLM, with citations; optionally streamed.",
        parameters: &[],
        body: Some(json(QUERY)),
        replies: &[
            reply(200, OBJECT, "The answer, or the reason why there is none."),
            Reply { status: 200, media: Some("text/event-stream"), schema: EVENT, summary: "The streamed answer." },
        ],
        handler: |platform, request| Box::pin(ask::ask(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/queries/{query_id}",
        access: Access::Scope("query"),
        summary: "Returns a stored answer.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The answer and its feedback.")],
        handler: |platform, request| Box::pin(answers::fetch(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/queries/{query_id}/feedback",
        access: Access::Scope("query"),
        summary: "Stores feedback on a stored answer.",
        parameters: &[],
        body: Some(json(FEEDBACK)),
        replies: &[reply(200, OBJECT, "The answer and its feedback.")],
        handler: |platform, request| Box::pin(answers::feedback(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/llm-connections",
        access: Access::Admin,
        summary: "Stores an LLM with its API key, for questions that name it by `llm_connection`. The key cannot be read back.",
        parameters: &[],
        body: Some(json(CONNECTION_REQUEST)),
        replies: &[reply(201, CONNECTION, "The connection.")],
        handler: |platform, request| Box::pin(llm_connections::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/llm-connections",
        access: Access::Admin,
        summary: "Lists the LLM connections, oldest first.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(llm_connections::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/llm-connections/{connection_id}",
        access: Access::Admin,
        summary: "Returns an LLM connection without its key.",
        parameters: &[],
        body: None,
        replies: &[reply(200, CONNECTION, "The connection."), reply(304, "{}", "Not modified.")],
        handler: |platform, request| Box::pin(llm_connections::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/llm-connections/{connection_id}",
        access: Access::Admin,
        summary: "Changes an LLM connection (merge patch, RFC 7396). A new `base_url` requires the key again.",
        parameters: &[],
        body: Some(Accepts {
            media: &["application/json", "application/merge-patch+json"],
            limit: MAX_JSON_SIZE,
            schema: OBJECT,
        }),
        replies: &[reply(200, CONNECTION, "The updated connection.")],
        handler: |platform, request| Box::pin(llm_connections::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/llm-connections/{connection_id}",
        access: Access::Admin,
        summary: "Deletes an LLM connection with its key.",
        parameters: &[],
        body: None,
        replies: &[Reply { status: 204, media: None, schema: "{}", summary: "Deleted." }],
        handler: |platform, request| Box::pin(llm_connections::delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/llm-connections/{connection_id}/test",
        access: Access::Admin,
        summary: "Tests an LLM connection by listing the models of its server.",
        parameters: &[],
        body: None,
        replies: &[reply(200, CONNECTION_TEST, "The server responds.")],
        handler: |platform, request| Box::pin(llm_connections::test(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/embedding-models",
        access: Access::Bearer,
        summary: "Lists the embedding models and whether each is configured.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The models.")],
        handler: |platform, _| Box::pin(async { catalog::models(&platform.search.models) }),
    },
    Route {
        method: Method::GET,
        path: "/api/text-splitters",
        access: Access::Bearer,
        summary: "Lists the text splitters with their parameters.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The splitters.")],
        handler: |_, _| Box::pin(async { catalog::splitters() }),
    },
    Route {
        method: Method::GET,
        path: "/api/limits",
        access: Access::Bearer,
        summary: "Returns the limits of the platform and the current usage.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The limits.")],
        handler: |platform, request| Box::pin(limits::show(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/license",
        access: Access::Bearer,
        summary: "Returns the license state and the system id for the license issuer.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The state.")],
        handler: |platform, request| Box::pin(async move { license::show(platform, &request).await }),
    },
    Route {
        method: Method::PUT,
        path: "/api/license",
        access: Access::Admin,
        summary: "Installs a license. If the settings also contain a license, the one issued later applies. All processes apply it within a minute.",
        parameters: &[],
        body: Some(json(LICENSE)),
        replies: &[reply(200, OBJECT, "The state.")],
        handler: |platform, request| Box::pin(license::update(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/keys",
        access: Access::Admin,
        summary: "Creates an API key; its secret is returned only here.",
        parameters: &[],
        body: Some(json(KEY_REQUEST)),
        replies: &[reply(201, OBJECT, "The key.")],
        handler: |platform, request| Box::pin(api_keys::create(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/reindex",
        access: Access::Scope("pipelines:write"),
        summary: "Reindexes a pipeline with another embedding model or text splitter. The old index is used until the new one is complete.",
        parameters: &[],
        body: Some(json(REINDEX)),
        replies: &[reply(202, OPERATION, "The operation is running.")],
        handler: |platform, request| Box::pin(operations::reindex(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/operations/{operation_id}",
        access: Access::Scope("pipelines:read"),
        summary: "Returns a long-running operation with its progress.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OPERATION, "The operation.")],
        handler: |platform, request| Box::pin(operations::fetch(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/operations/{operation_id}/cancel",
        access: Access::Scope("pipelines:write"),
        summary: "Cancels a reindex. The old index stays in use.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OPERATION, "The operation.")],
        handler: |platform, request| Box::pin(operations::cancel(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/events",
        access: Access::Bearer,
        summary: "Streams events as server-sent events; `Last-Event-ID` resumes after the given event.",
        parameters: &[EVENT_TYPE, EVENT_PIPELINE, LAST_EVENT_ID],
        body: None,
        replies: &[Reply { status: 200, media: Some("text/event-stream"), schema: EVENT, summary: "The events." }],
        handler: |platform, request| Box::pin(events::stream_events(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/webhooks",
        access: Access::Admin,
        summary: "Creates a webhook; its signing secret is returned only here.",
        parameters: &[],
        body: Some(json(WEBHOOK_REQUEST)),
        replies: &[reply(201, WEBHOOK, "The webhook, with its secret.")],
        handler: |platform, request| Box::pin(webhooks::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/webhooks",
        access: Access::Admin,
        summary: "Lists the webhooks, oldest first.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(webhooks::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/webhooks/{webhook_id}",
        access: Access::Admin,
        summary: "Returns a webhook with its delivery status.",
        parameters: &[],
        body: None,
        replies: &[reply(200, WEBHOOK, "The webhook.")],
        handler: |platform, request| Box::pin(webhooks::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/webhooks/{webhook_id}",
        access: Access::Admin,
        summary: "Changes, disables or enables a webhook (merge patch, RFC 7396).",
        parameters: &[],
        body: Some(Accepts {
            media: &["application/json", "application/merge-patch+json"],
            limit: MAX_JSON_SIZE,
            schema: OBJECT,
        }),
        replies: &[reply(200, WEBHOOK, "The updated webhook.")],
        handler: |platform, request| Box::pin(webhooks::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/webhooks/{webhook_id}",
        access: Access::Admin,
        summary: "Deletes a webhook with its waiting deliveries.",
        parameters: &[],
        body: None,
        replies: &[Reply { status: 204, media: None, schema: "{}", summary: "Deleted." }],
        handler: |platform, request| Box::pin(webhooks::delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/webhooks/{webhook_id}/test",
        access: Access::Admin,
        summary: "Sends a test event to a webhook, once and without retries.",
        parameters: &[],
        body: None,
        replies: &[reply(200, WEBHOOK_TEST, "The result of the call.")],
        handler: |platform, request| Box::pin(webhooks::test(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/webhooks/{webhook_id}/rotate",
        access: Access::Admin,
        summary: "Rotates the signing secret of a webhook; the new one is returned only here. During the overlap, deliveries are signed with both.",
        parameters: &[OVERLAP],
        body: None,
        replies: &[reply(200, WEBHOOK, "The webhook, with its secret.")],
        handler: |platform, request| Box::pin(webhooks::rotate(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/webhooks/{webhook_id}/deliveries",
        access: Access::Admin,
        summary: "Lists the deliveries of a webhook, newest first.",
        parameters: &[LIMIT, CURSOR, DELIVERY_STATE],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(webhooks::deliveries(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/audit",
        access: Access::Admin,
        summary: "Lists the audit entries, newest first: actions and rejected requests.",
        parameters: &[LIMIT, CURSOR, SINCE, UNTIL, ACTOR, ACTION, IN_PIPELINE, RESULT],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(audit::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/usage",
        access: Access::Scope("pipelines:read"),
        summary: "Lists the usage per day (UTC), pipeline and classification, newest first.",
        parameters: &[LIMIT, CURSOR, FROM, TO, IN_PIPELINE, USAGE_CLASSIFICATION],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(usage::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/keys",
        access: Access::Admin,
        summary: "Lists the API keys without their secrets.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(api_keys::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/keys/{key_id}",
        access: Access::Admin,
        summary: "Returns an API key without its secret.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The key.")],
        handler: |platform, request| Box::pin(api_keys::fetch(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/keys/{key_id}",
        access: Access::Admin,
        summary: "Revokes an API key.",
        parameters: &[],
        body: None,
        replies: &[Reply { status: 204, media: None, schema: "{}", summary: "Deleted." }],
        handler: |platform, request| Box::pin(api_keys::delete(platform, request)),
    },
];

/// Returns the route of a request.
pub(crate) fn find_route(request: &Request) -> Option<&'static Route<Platform>> {
    let method = if request.head.method == Method::HEAD { &Method::GET } else { &request.head.method };
    ROUTES.iter().find(|route| route.path == request.route && route.method == *method)
}

const fn json(schema: &'static str) -> Accepts {
    Accepts { media: &["application/json"], limit: MAX_JSON_SIZE, schema }
}

const fn reply(status: u16, schema: &'static str, summary: &'static str) -> Reply {
    let media = if status == 304 { None } else { Some("application/json") };
    Reply { status, media, schema, summary }
}

const fn parameter(name: &'static str, schema: &'static str, summary: &'static str) -> Parameter {
    Parameter { name, location: ParameterLocation::Query, schema, summary }
}

const STRING: &str = r#"{"type":"string"}"#;
const LIMIT: Parameter = parameter(
    "limit",
    r#"{"type":"integer","minimum":1,"maximum":200,"default":50}"#,
    "Maximum number of rows per page.",
);
const CURSOR: Parameter = parameter("cursor", STRING, "`next_cursor` of the previous page.");
const WAIT_FOR_DELETION: Parameter =
    parameter("wait", r#"{"type":"boolean","default":false}"#, "Waits until the deletion is complete.");
const EVENT_TYPE: Parameter = parameter("type", STRING, "Only events of these types, comma-separated.");
const EVENT_PIPELINE: Parameter = parameter("pipeline", STRING, "Only events of these pipelines, comma-separated.");
const LAST_EVENT_ID: Parameter = Parameter {
    name: "Last-Event-ID",
    location: ParameterLocation::Header,
    schema: STRING,
    summary: "Id of the last received event.",
};
const NAME: Parameter = parameter("name", STRING, "Only the pipeline with this name.");
const WAIT: Parameter = parameter(
    "wait",
    r#"{"type":"integer","minimum":0,"maximum":300,"default":0}"#,
    "Seconds to wait for the ingestion of the document.",
);
const NEW_FILENAME: Parameter = parameter("filename", STRING, "New file name.");
const IF_MATCH: Parameter = Parameter {
    name: "If-Match",
    location: ParameterLocation::RequiredHeader,
    schema: STRING,
    summary: "ETag of the current content or document, or `*`.",
};
const SORT: Parameter = parameter(
    "sort",
    r#"{"type":"string","enum":["created_at","-created_at","filename","-filename","size","-size","updated_at","-updated_at"],"default":"created_at"}"#,
    "Sort order; `-` sorts descending.",
);
const RANGE: Parameter = Parameter {
    name: "Range",
    location: ParameterLocation::Header,
    schema: STRING,
    summary: "One range of bytes: `bytes=FIRST-LAST`.",
};
const CLASSIFICATION: Parameter = parameter("classification", STRING, "Only documents with this classification.");
const STATUS: Parameter = parameter(
    "status",
    r#"{"type":"string","enum":["queued","parsing","splitting","embedding","indexing","ready","failed","cancelled","deleting"]}"#,
    "Only documents with this status.",
);
const FILENAME: Parameter = parameter("filename", STRING, "Only documents with this file name.");
const EXTERNAL_ID: Parameter = parameter("external_id", STRING, "Only the document with this external id.");

const DATE_TIME: &str = r#"{"type":"string","format":"date-time"}"#;
const DATE: &str = r#"{"type":"string","format":"date"}"#;
const SINCE: Parameter = parameter("since", DATE_TIME, "Only entries at or after this time.");
const UNTIL: Parameter = parameter("until", DATE_TIME, "Only entries before this time.");
const ACTOR: Parameter =
    parameter("actor", STRING, "Only entries of this actor: `key:ID`, `client:ID`, `user:ID`, `system`.");
const ACTION: Parameter = parameter("action", STRING, "Only entries with this action, such as `document.delete`.");
const IN_PIPELINE: Parameter = parameter("pipeline", STRING, "Only entries of this pipeline.");
const RESULT: Parameter = parameter("result", STRING, "Only entries with this result: `done`, or a problem code.");
const FROM: Parameter = parameter("from", DATE, "First day. Default: 29 days before the last day.");
const TO: Parameter = parameter("to", DATE, "Last day. Default: today.");
const USAGE_CLASSIFICATION: Parameter = parameter("classification", STRING, "Only entries of this classification.");
const OVERLAP: Parameter = parameter(
    "overlap",
    r#"{"type":"integer","minimum":0,"maximum":604800,"default":86400}"#,
    "Seconds for which the previous secret stays valid.",
);
const DELIVERY_STATE: Parameter = parameter(
    "state",
    r#"{"type":"string","enum":["waiting","delivered","failed","dropped"]}"#,
    "Only deliveries in this state.",
);

const TOKEN: &str = r#"{"type":"object","required":["access_token","token_type","expires_in","scope"],"properties":{"access_token":{"type":"string"},"token_type":{"type":"string"},"expires_in":{"type":"integer"},"refresh_token":{"type":"string"},"scope":{"type":"string"}}}"#;
const OBJECT: &str = r#"{"type":"object"}"#;
/// Schema of a parsed server-sent event.
const EVENT: &str = r#"{"type":"object","required":["event","data"],"properties":{"id":{"type":"string"},"event":{"type":"string"},"data":{"type":"string"}}}"#;
const PAGE: &str = r#"{"type":"object","required":["data","next_cursor"],"properties":{"data":{"type":"array","items":{"type":"object"}},"next_cursor":{"type":["string","null"]},"total":{"type":"integer","minimum":0}}}"#;
const PIPELINE_REQUEST: &str = r#"{"type":"object","required":["name","embedding_model","text_splitter","classifications"],"properties":{"name":{"type":"string","minLength":1,"maxLength":128},"embedding_model":{"type":"string"},"text_splitter":{"anyOf":[{"type":"string"},{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}]},"classifications":{"type":"array","minItems":1,"maxItems":64,"$comment":"PIDQ_CLASSIFICATION_LIMIT","uniqueItems":true,"items":{"type":"string","minLength":1,"maxLength":64}},"description":{"type":["string","null"]},"metadata":{"type":"object"},"retrieval":{"type":"object"},"chunk_header":{"type":["boolean","null"]},"policies":{"type":"object"}},"additionalProperties":false}"#;
const OPERATION: &str = r#"{"type":"object","required":["id","kind","pipeline_id","status","terminal","progress","error","created_at","updated_at"]}"#;
const REINDEX: &str = r#"{"type":"object","properties":{"embedding_model":{"type":"string"},"text_splitter":{"anyOf":[{"type":"string"},{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}]}},"additionalProperties":false}"#;
const PIPELINE: &str = r#"{"type":"object","required":["id","name","embedding_model","embedding_dimensions","text_splitter","text_splitter_params","classifications","status","document_counts","created_at","updated_at","revision"]}"#;
const DOCUMENT_FORM: &str = r#"{"type":"object","required":["file","classification"],"properties":{"file":{"type":"string","format":"binary"},"classification":{"type":"string"},"external_id":{"type":"string","minLength":1,"maxLength":256},"metadata":{"type":"string"},"filename":{"type":"string"},"sha256":{"type":"string"}},"additionalProperties":false}"#;
const DOCUMENT: &str = r#"{"type":"object","required":["id","pipeline_id","filename","content_type","size","sha256","classification","revision","status","terminal","searchable","progress","attempts","error","chunk_count","page_count","warnings","created_at","updated_at"]}"#;
const BULK_DELETE: &str = r#"{"type":"object","properties":{"ids":{"type":"array","minItems":1,"maxItems":200,"items":{"type":"string"}},"external_ids":{"type":"array","minItems":1,"maxItems":200,"items":{"type":"string"}}},"minProperties":1,"maxProperties":1,"additionalProperties":false}"#;
const PREVIEW: &str = r#"{"type":"object","properties":{"file":{"type":"string","format":"binary"},"text":{"type":"string"},"filename":{"type":"string"},"text_splitter":{"anyOf":[{"type":"string"},{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}]}},"additionalProperties":false}"#;
const KEY_REQUEST: &str = r#"{"type":"object","required":["name","scopes"],"properties":{"name":{"type":"string","minLength":1,"maxLength":128},"scopes":{"type":"array","minItems":1,"items":{"type":"string","enum":["pipelines:read","pipelines:write","documents:read","documents:write","query","admin"]}},"pipelines":{"type":"object","additionalProperties":{"type":"object","required":["classifications","verbs"],"properties":{"classifications":{"type":"array","items":{"type":"string"}},"verbs":{"type":"array","items":{"type":"string","enum":["read","write","query"]}}},"additionalProperties":false}},"expires_at":{"type":["string","null"],"format":"date-time"}},"additionalProperties":false}"#;
const LICENSE: &str = r#"{"type":"object","required":["license"],"properties":{"license":{"type":"string"}},"additionalProperties":false}"#;
const SEARCH: &str = r#"{"type":"object","required":["query","classification"],"properties":{"query":{"type":"string","minLength":1,"maxLength":8000,"$comment":"PIDQ_QUESTION_LENGTH_LIMIT"},"classification":{"type":"string"},"top_k":{"type":["integer","null"],"minimum":1,"maximum":50},"mode":{"type":["string","null"],"enum":["hybrid","dense","sparse",null]},"min_score":{"type":["number","null"]},"filter":{"type":["object","null"]}},"additionalProperties":false}"#;
const QUERY: &str = r#"{"type":"object","required":["query","classification"],"oneOf":[{"required":["llm_endpoint"]},{"required":["llm_connection"]}],"properties":{"query":{"type":"string","minLength":1,"maxLength":8000,"$comment":"PIDQ_QUESTION_LENGTH_LIMIT"},"classification":{"type":"string"},"llm_endpoint":{"type":"object","required":["api_key","model","base_url"],"properties":{"api_key":{"type":"string"},"model":{"type":"string","minLength":1,"maxLength":256},"base_url":{"type":"string"},"provider":{"type":["string","null"],"enum":["openai_compatible","openai",null]}},"additionalProperties":false},"llm_connection":{"type":"string"},"top_k":{"type":["integer","null"],"minimum":1,"maximum":50},"mode":{"type":["string","null"],"enum":["hybrid","dense","sparse",null]},"min_score":{"type":["number","null"]},"filter":{"type":["object","null"]},"history":{"type":["array","null"],"maxItems":20,"items":{"type":"object","required":["role","content"],"properties":{"role":{"enum":["user","assistant"]},"content":{"type":"string"}},"additionalProperties":false}},"instructions":{"type":["string","null"],"maxLength":2000},"temperature":{"type":["number","null"],"minimum":0,"maximum":2},"max_tokens":{"type":["integer","null"],"minimum":1,"maximum":4294967295},"top_p":{"type":["number","null"],"minimum":0,"maximum":1},"seed":{"type":["integer","null"],"minimum":-9223372036854775808,"maximum":9223372036854775807},"stop":{"anyOf":[{"type":["string","null"],"minLength":1,"maxLength":256},{"type":"array","maxItems":4,"items":{"type":"string","minLength":1,"maxLength":256}}]},"stream":{"type":["boolean","null"]},"include_contexts":{"type":["boolean","null"]},"timeout_ms":{"type":["integer","null"],"minimum":1,"maximum":600000},"graph":{"type":["object","null"],"required":["job_id","query"],"properties":{"job_id":{"type":"string"},"query":{"type":"string"},"params":{"type":["object","null"]}},"additionalProperties":false}},"additionalProperties":false}"#;
const SEARCH_RESULT: &str = r#"{"type":"object","required":["pipeline_id","classification","query","contexts","warnings","timings_ms"],"properties":{"contexts":{"type":"array","items":{"type":"object"}}}}"#;
const FEEDBACK: &str = r#"{"type":"object","required":["rating"],"properties":{"rating":{"type":"integer","enum":[1,-1]},"comment":{"type":["string","null"],"maxLength":2000}},"additionalProperties":false}"#;
const CONNECTION_REQUEST: &str = r#"{"type":"object","required":["name","api_key","model","base_url"],"properties":{"name":{"type":"string","minLength":1,"maxLength":128},"provider":{"type":["string","null"],"enum":["openai_compatible","openai",null]},"api_key":{"type":"string"},"model":{"type":"string","minLength":1,"maxLength":256},"base_url":{"type":"string"},"context_window":{"type":["integer","null"],"minimum":1024,"maximum":100000000},"extra_headers":{"type":"object","maxProperties":16,"additionalProperties":{"type":"string"}}},"additionalProperties":false}"#;
const CONNECTION: &str = r#"{"type":"object","required":["id","name","provider","model","base_url","context_window","extra_headers","created_at","updated_at","revision"],"properties":{"extra_headers":{"type":"array","items":{"type":"string"}}}}"#;
const CONNECTION_TEST: &str = r#"{"type":"object","required":["ok","latency_ms","models"],"properties":{"ok":{"type":"boolean"},"latency_ms":{"type":"integer"},"models":{"type":"array","items":{"type":"string"}}}}"#;
const WEBHOOK_REQUEST: &str = r#"{"type":"object","required":["url"],"properties":{"url":{"type":"string"},"types":{"type":"array","items":{"type":"string"}},"pipelines":{"type":"array","maxItems":200,"items":{"type":"string"}}},"additionalProperties":false}"#;
const WEBHOOK: &str = r#"{"type":"object","required":["id","url","types","pipelines","status","failures","failing_since","error","key_id","created_at","updated_at"],"properties":{"status":{"type":"string","enum":["active","disabled"]},"secret":{"type":"string"}}}"#;
const WEBHOOK_TEST: &str = r#"{"type":"object","required":["delivered","event_id","status","error","latency_ms"],"properties":{"delivered":{"type":"boolean"},"status":{"type":["integer","null"]},"error":{"type":["string","null"]}}}"#;
