//! The endpoints, one row each.

use pidq_http::{Accepts, Access, Method, Parameter, Place, Reply, Request, Route, oauth};

use crate::platform::Platform;
use crate::{
    ask, audit, catalogue, connections, documents, events, figures, keys, licensing, limits, operations, pipelines,
    queries, questions, tokens, webhooks,
};

/// The most bytes of a JSON body that settings may allow.
pub(crate) const JSON_BODY: u64 = 64 << 20;
/// The most bytes of a form with a document. The handler counts again, with the limit of the settings.
const FORM_BODY: u64 = 1 << 30;

/// Every endpoint of the platform. Routing, access, OpenAPI, metrics and the manual read this table.
pub const ROUTES: &[Route<Platform>] = &[
    Route {
        method: Method::POST,
        path: "/o/token/",
        access: Access::Client,
        summary: "Gives a token for the master key, for a user's password or for a refresh token.",
        parameters: &[],
        body: Some(oauth::FORM),
        replies: &[reply(200, TOKEN, "The token.")],
        handler: |platform, request| Box::pin(tokens::issue(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/o/revoke_token/",
        access: Access::Client,
        summary: "Ends a login with all its tokens, RFC 7009.",
        parameters: &[],
        body: Some(oauth::FORM),
        replies: &[reply(200, OBJECT, "Whether there was such a token or not.")],
        handler: |platform, request| Box::pin(tokens::revoke(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines",
        access: Access::Scope("pipelines:write"),
        summary: "Makes a pipeline.",
        parameters: &[],
        body: Some(json(PIPELINE_WANTED)),
        replies: &[reply(201, PIPELINE, "The pipeline.")],
        handler: |platform, request| Box::pin(pipelines::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines",
        access: Access::Scope("pipelines:read"),
        summary: "The pipelines, oldest first.",
        parameters: &[LIMIT, CURSOR, NAME],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(pipelines::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}",
        access: Access::Scope("pipelines:read"),
        summary: "A pipeline.",
        parameters: &[],
        body: None,
        replies: &[reply(200, PIPELINE, "The pipeline."), reply(304, "{}", "The caller has it already.")],
        handler: |platform, request| Box::pin(pipelines::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/pipelines/{pipeline_id}",
        access: Access::Scope("pipelines:write"),
        summary: "Changes a pipeline: a merge patch (RFC 7396).",
        parameters: &[],
        body: Some(Accepts {
            media: &["application/json", "application/merge-patch+json"],
            limit: JSON_BODY,
            schema: OBJECT,
        }),
        replies: &[reply(200, PIPELINE, "The pipeline as it is now.")],
        handler: |platform, request| Box::pin(pipelines::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/pipelines/{pipeline_id}",
        access: Access::Scope("pipelines:write"),
        summary: "Deletes a pipeline with its documents.",
        parameters: &[WAIT_FOR_IT],
        body: None,
        replies: &[
            Reply { status: 204, media: None, schema: "{}", summary: "It is gone." },
            reply(202, OPERATION, "It is going away, with its documents."),
        ],
        handler: |platform, request| Box::pin(pipelines::delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents",
        access: Access::Scope("documents:write"),
        summary: "Takes a document: the parts `file` and `classification`, and others that may be left out.",
        parameters: &[WAIT],
        body: Some(Accepts { media: &["multipart/form-data"], limit: FORM_BODY, schema: FORM }),
        replies: &[
            reply(202, DOCUMENT, "It is in line."),
            reply(201, DOCUMENT, "It was read while the caller waited."),
            reply(200, DOCUMENT, "The same bytes were there already."),
        ],
        handler: |platform, request| Box::pin(documents::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents",
        access: Access::Scope("documents:read"),
        summary: "The documents of a pipeline, oldest first unless another order is asked for.",
        parameters: &[LIMIT, CURSOR, SORT, CLASSIFICATION, STATUS, FILENAME, EXTERNAL_ID],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(documents::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}",
        access: Access::Scope("documents:read"),
        summary: "A document and where it is on its way.",
        parameters: &[],
        body: None,
        replies: &[reply(200, DOCUMENT, "The document."), reply(304, "{}", "The caller has it already.")],
        handler: |platform, request| Box::pin(documents::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}",
        access: Access::Scope("documents:write"),
        summary: "Changes classification, metadata or file name of a document: a merge patch (RFC 7396).",
        parameters: &[],
        body: Some(Accepts {
            media: &["application/json", "application/merge-patch+json"],
            limit: JSON_BODY,
            schema: OBJECT,
        }),
        replies: &[reply(200, DOCUMENT, "The document as it is now.")],
        handler: |platform, request| Box::pin(documents::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}",
        access: Access::Scope("documents:write"),
        summary: "Deletes a document, from every index and table.",
        parameters: &[],
        body: None,
        replies: &[Reply { status: 204, media: None, schema: "{}", summary: "It is gone." }],
        handler: |platform, request| Box::pin(documents::delete(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/content",
        access: Access::Scope("documents:read"),
        summary: "The bytes of a document as they came.",
        parameters: &[RANGE],
        body: None,
        replies: &[
            Reply { status: 200, media: Some("application/octet-stream"), schema: "{}", summary: "The bytes." },
            Reply { status: 206, media: Some("application/octet-stream"), schema: "{}", summary: "Some of them." },
            reply(304, "{}", "The caller has them already."),
        ],
        handler: |platform, request| Box::pin(documents::content(platform, request)),
    },
    Route {
        method: Method::PUT,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/content",
        access: Access::Scope("documents:write"),
        summary: "Gives a document another content, as its next revision; the one before answers until that is ready. Needs `If-Match`.",
        parameters: &[WAIT, NEW_FILENAME, IF_MATCH],
        body: Some(Accepts { media: &["*/*"], limit: FORM_BODY, schema: r#"{"type":"string","format":"binary"}"# }),
        replies: &[
            reply(202, DOCUMENT, "The new revision is in line."),
            reply(200, DOCUMENT, "It was read while the caller waited, or the bytes were the same."),
        ],
        handler: |platform, request| Box::pin(documents::replace(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents:delete",
        access: Access::Scope("documents:write"),
        summary: "Deletes documents by their ids, or by those of the caller; each has its outcome.",
        parameters: &[],
        body: Some(json(SEVERAL)),
        replies: &[reply(200, OBJECT, "What became of each.")],
        handler: |platform, request| Box::pin(documents::delete_several(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/preview",
        access: Access::Scope("documents:write"),
        summary: "How a file or a text would be cut, by the splitter of the pipeline or another one. Nothing is kept.",
        parameters: &[LIMIT],
        body: Some(Accepts { media: &["multipart/form-data", "application/json"], limit: FORM_BODY, schema: PREVIEW }),
        replies: &[reply(200, OBJECT, "The first chunks, and how many there would be.")],
        handler: |platform, request| Box::pin(documents::preview(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/text",
        access: Access::Scope("documents:read"),
        summary: "The text that was read of a document.",
        parameters: &[],
        body: None,
        replies: &[Reply { status: 200, media: Some("text/plain; charset=utf-8"), schema: "{}", summary: "The text." }],
        handler: |platform, request| Box::pin(documents::text(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/retry",
        access: Access::Scope("documents:write"),
        summary: "Has a document read again.",
        parameters: &[],
        body: None,
        replies: &[reply(202, DOCUMENT, "It is in line.")],
        handler: |platform, request| Box::pin(documents::retry(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/cancel",
        access: Access::Scope("documents:write"),
        summary: "Ends the work on a document.",
        parameters: &[],
        body: None,
        replies: &[reply(200, DOCUMENT, "The document as it is now.")],
        handler: |platform, request| Box::pin(documents::cancel(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/chunks",
        access: Access::Scope("documents:read"),
        summary: "The chunks of a document, in order.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(documents::chunks(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/search",
        access: Access::Scope("query"),
        summary: "The passages that say something about a question, best first.",
        parameters: &[],
        body: Some(json(SEARCH)),
        replies: &[reply(200, FOUND, "The passages.")],
        handler: |platform, request| Box::pin(questions::search(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/query",
        access: Access::Scope("query"),
        summary: "Has a model answer a question from the passages that were found, with citations; as events if wanted.",
        parameters: &[],
        body: Some(json(QUERY)),
        replies: &[
            reply(200, OBJECT, "The answer, or that there is none in the documents."),
            Reply { status: 200, media: Some("text/event-stream"), schema: EVENT, summary: "The answer as events." },
        ],
        handler: |platform, request| Box::pin(ask::ask(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/queries/{query_id}",
        access: Access::Scope("query"),
        summary: "An answer that was kept.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The answer, and what was thought of it.")],
        handler: |platform, request| Box::pin(queries::fetch(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/queries/{query_id}/feedback",
        access: Access::Scope("query"),
        summary: "Notes what somebody thinks of an answer that was kept.",
        parameters: &[],
        body: Some(json(FEEDBACK)),
        replies: &[reply(200, OBJECT, "The answer, and what was thought of it.")],
        handler: |platform, request| Box::pin(queries::feedback(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/llm-connections",
        access: Access::Admin,
        summary: "Keeps a model with its key, which nobody reads again, for queries that name it by `llm_connection`.",
        parameters: &[],
        body: Some(json(CONNECTION_WANTED)),
        replies: &[reply(201, CONNECTION, "The connection.")],
        handler: |platform, request| Box::pin(connections::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/llm-connections",
        access: Access::Admin,
        summary: "The connections, oldest first.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(connections::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/llm-connections/{connection_id}",
        access: Access::Admin,
        summary: "A connection, without its key.",
        parameters: &[],
        body: None,
        replies: &[reply(200, CONNECTION, "The connection."), reply(304, "{}", "The caller has it already.")],
        handler: |platform, request| Box::pin(connections::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/llm-connections/{connection_id}",
        access: Access::Admin,
        summary: "Changes a connection: a merge patch (RFC 7396). Another `base_url` needs the key again.",
        parameters: &[],
        body: Some(Accepts {
            media: &["application/json", "application/merge-patch+json"],
            limit: JSON_BODY,
            schema: OBJECT,
        }),
        replies: &[reply(200, CONNECTION, "The connection as it is now.")],
        handler: |platform, request| Box::pin(connections::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/llm-connections/{connection_id}",
        access: Access::Admin,
        summary: "Deletes a connection with its key.",
        parameters: &[],
        body: None,
        replies: &[Reply { status: 204, media: None, schema: "{}", summary: "It is gone." }],
        handler: |platform, request| Box::pin(connections::delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/llm-connections/{connection_id}/test",
        access: Access::Admin,
        summary: "Asks the server of a connection for its models.",
        parameters: &[],
        body: None,
        replies: &[reply(200, TESTED, "It answers.")],
        handler: |platform, request| Box::pin(connections::test(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/embedding-models",
        access: Access::Bearer,
        summary: "The embedding models, and whether the settings name what each needs.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The models.")],
        handler: |platform, _| Box::pin(async { catalogue::models(&platform.models) }),
    },
    Route {
        method: Method::GET,
        path: "/api/text-splitters",
        access: Access::Bearer,
        summary: "The text splitters that can be chosen, with their parameters.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The splitters.")],
        handler: |_, _| Box::pin(async { catalogue::splitters() }),
    },
    Route {
        method: Method::GET,
        path: "/api/limits",
        access: Access::Bearer,
        summary: "How much of everything there may be.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The limits.")],
        handler: |platform, request| Box::pin(limits::show(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/license",
        access: Access::Bearer,
        summary: "Where this installation stands, and its name for whoever gives licences.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The state.")],
        handler: |platform, request| Box::pin(async move { licensing::show(platform, &request).await }),
    },
    Route {
        method: Method::PUT,
        path: "/api/license",
        access: Access::Admin,
        summary: "Takes a licence, as the setting does; of two the newer one counts. All processes know it within a minute.",
        parameters: &[],
        body: Some(json(LICENSE)),
        replies: &[reply(200, OBJECT, "The state.")],
        handler: |platform, request| Box::pin(licensing::put(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/keys",
        access: Access::Admin,
        summary: "Makes an API key; its secret is shown once.",
        parameters: &[],
        body: Some(json(KEY_WANTED)),
        replies: &[reply(201, OBJECT, "The key.")],
        handler: |platform, request| Box::pin(keys::create(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/reindex",
        access: Access::Scope("pipelines:write"),
        summary: "Makes another index of a pipeline, with another embedding model or text splitter. The old one answers until it is complete.",
        parameters: &[],
        body: Some(json(REINDEX)),
        replies: &[reply(202, OPERATION, "It is being made.")],
        handler: |platform, request| Box::pin(operations::reindex(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/operations/{operation_id}",
        access: Access::Scope("pipelines:read"),
        summary: "Work that takes long, and how far it is.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OPERATION, "The operation.")],
        handler: |platform, request| Box::pin(operations::fetch(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/operations/{operation_id}/cancel",
        access: Access::Scope("pipelines:write"),
        summary: "Ends the making of an index. The old one answers as before.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OPERATION, "The operation.")],
        handler: |platform, request| Box::pin(operations::cancel(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/events",
        access: Access::Bearer,
        summary: "Events as they happen (server-sent events), each with its id; `Last-Event-ID` asks for those behind it.",
        parameters: &[EVENT_TYPE, OF_PIPELINE, LAST_EVENT_ID],
        body: None,
        replies: &[Reply { status: 200, media: Some("text/event-stream"), schema: EVENT, summary: "The events." }],
        handler: |platform, request| Box::pin(events::listen(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/webhooks",
        access: Access::Admin,
        summary: "Has an address told of events as they happen; the secret that they are signed with is shown once.",
        parameters: &[],
        body: Some(json(WEBHOOK_WANTED)),
        replies: &[reply(201, WEBHOOK, "The webhook, with its secret.")],
        handler: |platform, request| Box::pin(webhooks::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/webhooks",
        access: Access::Admin,
        summary: "The webhooks, oldest first.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(webhooks::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/webhooks/{webhook_id}",
        access: Access::Admin,
        summary: "A webhook, and whether it is reached.",
        parameters: &[],
        body: None,
        replies: &[reply(200, WEBHOOK, "The webhook.")],
        handler: |platform, request| Box::pin(webhooks::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/webhooks/{webhook_id}",
        access: Access::Admin,
        summary: "Changes a webhook, or switches it off and on: a merge patch (RFC 7396).",
        parameters: &[],
        body: Some(Accepts {
            media: &["application/json", "application/merge-patch+json"],
            limit: JSON_BODY,
            schema: OBJECT,
        }),
        replies: &[reply(200, WEBHOOK, "The webhook as it is now.")],
        handler: |platform, request| Box::pin(webhooks::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/webhooks/{webhook_id}",
        access: Access::Admin,
        summary: "Deletes a webhook, with what it was to be told.",
        parameters: &[],
        body: None,
        replies: &[Reply { status: 204, media: None, schema: "{}", summary: "It is gone." }],
        handler: |platform, request| Box::pin(webhooks::delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/webhooks/{webhook_id}/test",
        access: Access::Admin,
        summary: "Tells a webhook of an event that tells nothing, now and once.",
        parameters: &[],
        body: None,
        replies: &[reply(200, CALLED, "What came of it.")],
        handler: |platform, request| Box::pin(webhooks::test(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/webhooks/{webhook_id}/rotate",
        access: Access::Admin,
        summary: "Gives a webhook another secret, which is shown once; events are signed with the one before as well for a while.",
        parameters: &[OVERLAP],
        body: None,
        replies: &[reply(200, WEBHOOK, "The webhook, with its secret.")],
        handler: |platform, request| Box::pin(webhooks::rotate(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/webhooks/{webhook_id}/deliveries",
        access: Access::Admin,
        summary: "What a webhook got and is to get, newest first.",
        parameters: &[LIMIT, CURSOR, DELIVERY_STATE],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(webhooks::deliveries(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/audit",
        access: Access::Admin,
        summary: "Who did what to which resource, and what was refused, newest first.",
        parameters: &[LIMIT, CURSOR, SINCE, UNTIL, ACTOR, ACTION, IN_PIPELINE, RESULT],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(audit::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/usage",
        access: Access::Scope("pipelines:read"),
        summary: "How much of everything there was under each classification on each day (UTC), newest first.",
        parameters: &[LIMIT, CURSOR, FROM, TO, IN_PIPELINE, OF_CLASSIFICATION],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(figures::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/keys",
        access: Access::Admin,
        summary: "The API keys, without their secrets.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[reply(200, PAGE, "A page of the list.")],
        handler: |platform, request| Box::pin(keys::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/keys/{key_id}",
        access: Access::Admin,
        summary: "An API key, without its secret.",
        parameters: &[],
        body: None,
        replies: &[reply(200, OBJECT, "The key.")],
        handler: |platform, request| Box::pin(keys::fetch(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/keys/{key_id}",
        access: Access::Admin,
        summary: "Makes an API key worthless.",
        parameters: &[],
        body: None,
        replies: &[Reply { status: 204, media: None, schema: "{}", summary: "It is gone." }],
        handler: |platform, request| Box::pin(keys::delete(platform, request)),
    },
];

/// The row of a request.
pub(crate) fn row(request: &Request) -> Option<&'static Route<Platform>> {
    let method = if request.head.method == Method::HEAD { &Method::GET } else { &request.head.method };
    ROUTES.iter().find(|row| row.path == request.route && row.method == *method)
}

const fn json(schema: &'static str) -> Accepts {
    Accepts { media: &["application/json"], limit: JSON_BODY, schema }
}

const fn reply(status: u16, schema: &'static str, summary: &'static str) -> Reply {
    let media = if status == 304 { None } else { Some("application/json") };
    Reply { status, media, schema, summary }
}

const fn parameter(name: &'static str, schema: &'static str, summary: &'static str) -> Parameter {
    Parameter { name, place: Place::Query, schema, summary }
}

const TEXT: &str = r#"{"type":"string"}"#;
const LIMIT: Parameter =
    parameter("limit", r#"{"type":"integer","minimum":1,"maximum":200,"default":50}"#, "The most rows of a page.");
const CURSOR: Parameter = parameter("cursor", TEXT, "`next_cursor` of the page before.");
const WAIT_FOR_IT: Parameter =
    parameter("wait", r#"{"type":"boolean","default":false}"#, "Whether to answer when it is gone, and not before.");
const EVENT_TYPE: Parameter = parameter("type", TEXT, "Only events of these types, with commas between them.");
const OF_PIPELINE: Parameter = parameter("pipeline", TEXT, "Only events of these pipelines, with commas between them.");
const LAST_EVENT_ID: Parameter = Parameter {
    name: "Last-Event-ID",
    place: Place::Header,
    schema: TEXT,
    summary: "The id of the last event that the caller has.",
};
const NAME: Parameter = parameter("name", TEXT, "Only the pipeline of this name.");
const WAIT: Parameter = parameter(
    "wait",
    r#"{"type":"integer","minimum":0,"maximum":300,"default":0}"#,
    "Seconds to wait for the document to be read.",
);
const NEW_FILENAME: Parameter = parameter("filename", TEXT, "Another name of the file.");
const IF_MATCH: Parameter = Parameter {
    name: "If-Match",
    place: Place::NeededHeader,
    schema: TEXT,
    summary: "The ETag of the content, or of the document, as it was read; or `*`.",
};
const SORT: Parameter = parameter(
    "sort",
    r#"{"type":"string","enum":["created_at","-created_at","filename","-filename","size","-size","updated_at","-updated_at"],"default":"created_at"}"#,
    "The order; with `-`, the other way round.",
);
const RANGE: Parameter =
    Parameter { name: "Range", place: Place::Header, schema: TEXT, summary: "`bytes=FIRST-LAST`: one range of bytes." };
const CLASSIFICATION: Parameter = parameter("classification", TEXT, "Only documents of this label.");
const STATUS: Parameter = parameter(
    "status",
    r#"{"type":"string","enum":["queued","parsing","splitting","embedding","indexing","ready","failed","cancelled","deleting"]}"#,
    "Only documents of this status.",
);
const FILENAME: Parameter = parameter("filename", TEXT, "Only documents of this file name.");
const EXTERNAL_ID: Parameter = parameter("external_id", TEXT, "Only the document that the caller knows by this.");

const DATE_TIME: &str = r#"{"type":"string","format":"date-time"}"#;
const DATE: &str = r#"{"type":"string","format":"date"}"#;
const SINCE: Parameter = parameter("since", DATE_TIME, "Only what happened at this moment or later.");
const UNTIL: Parameter = parameter("until", DATE_TIME, "Only what happened before this moment.");
const ACTOR: Parameter =
    parameter("actor", TEXT, "Only what this actor did: `key:ID`, `client:ID`, `user:ID`, `system`.");
const ACTION: Parameter = parameter("action", TEXT, "Only this action: `document.delete`.");
const IN_PIPELINE: Parameter = parameter("pipeline", TEXT, "Only in this pipeline.");
const RESULT: Parameter = parameter("result", TEXT, "Only with this result: `done`, or the code of a refusal.");
const FROM: Parameter = parameter("from", DATE, "The first day; 30 days, if nobody says.");
const TO: Parameter = parameter("to", DATE, "The last day; today, if nobody says.");
const OF_CLASSIFICATION: Parameter = parameter("classification", TEXT, "Only under this classification.");
const OVERLAP: Parameter = parameter(
    "overlap",
    r#"{"type":"integer","minimum":0,"maximum":604800,"default":86400}"#,
    "Seconds in which the secret before is good beside the new one.",
);
const DELIVERY_STATE: Parameter = parameter(
    "state",
    r#"{"type":"string","enum":["waiting","delivered","failed","dropped"]}"#,
    "Only deliveries of this state.",
);

const TOKEN: &str = r#"{"type":"object","required":["access_token","token_type","expires_in","scope"],"properties":{"access_token":{"type":"string"},"token_type":{"type":"string"},"expires_in":{"type":"integer"},"refresh_token":{"type":"string"},"scope":{"type":"string"}}}"#;
const OBJECT: &str = r#"{"type":"object"}"#;
/// One of the events of a stream, as those who read it have it.
const EVENT: &str = r#"{"type":"object","required":["event","data"],"properties":{"id":{"type":"string"},"event":{"type":"string"},"data":{"type":"string"}}}"#;
const PAGE: &str = r#"{"type":"object","required":["data","next_cursor"],"properties":{"data":{"type":"array","items":{"type":"object"}},"next_cursor":{"type":["string","null"]},"total":{"type":"integer","minimum":0}}}"#;
const PIPELINE_WANTED: &str = r#"{"type":"object","required":["name","embedding_model","text_splitter","classifications"],"properties":{"name":{"type":"string","minLength":1,"maxLength":128},"embedding_model":{"type":"string"},"text_splitter":{"anyOf":[{"type":"string"},{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}]},"classifications":{"type":"array","minItems":1,"maxItems":64,"$comment":"PIDQ_MAX_CLASSIFICATIONS","uniqueItems":true,"items":{"type":"string","minLength":1,"maxLength":64}},"description":{"type":["string","null"]},"metadata":{"type":"object"},"retrieval":{"type":"object"},"chunk_header":{"type":["boolean","null"]},"policies":{"type":"object"}},"additionalProperties":false}"#;
const OPERATION: &str = r#"{"type":"object","required":["id","kind","pipeline_id","status","terminal","progress","error","created_at","updated_at"]}"#;
const REINDEX: &str = r#"{"type":"object","properties":{"embedding_model":{"type":"string"},"text_splitter":{"anyOf":[{"type":"string"},{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}]}},"additionalProperties":false}"#;
const PIPELINE: &str = r#"{"type":"object","required":["id","name","embedding_model","embedding_dimensions","text_splitter","text_splitter_params","classifications","status","document_counts","created_at","updated_at","revision"]}"#;
const FORM: &str = r#"{"type":"object","required":["file","classification"],"properties":{"file":{"type":"string","format":"binary"},"classification":{"type":"string"},"external_id":{"type":"string","minLength":1,"maxLength":256},"metadata":{"type":"string"},"filename":{"type":"string"},"sha256":{"type":"string"}},"additionalProperties":false}"#;
const DOCUMENT: &str = r#"{"type":"object","required":["id","pipeline_id","filename","content_type","size","sha256","classification","revision","status","terminal","searchable","progress","attempts","error","chunk_count","page_count","warnings","created_at","updated_at"]}"#;
const SEVERAL: &str = r#"{"type":"object","properties":{"ids":{"type":"array","minItems":1,"maxItems":200,"items":{"type":"string"}},"external_ids":{"type":"array","minItems":1,"maxItems":200,"items":{"type":"string"}}},"minProperties":1,"maxProperties":1,"additionalProperties":false}"#;
const PREVIEW: &str = r#"{"type":"object","properties":{"file":{"type":"string","format":"binary"},"text":{"type":"string"},"filename":{"type":"string"},"text_splitter":{"anyOf":[{"type":"string"},{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}]}},"additionalProperties":false}"#;
const KEY_WANTED: &str = r#"{"type":"object","required":["name","scopes"],"properties":{"name":{"type":"string","minLength":1,"maxLength":128},"scopes":{"type":"array","minItems":1,"items":{"type":"string","enum":["pipelines:read","pipelines:write","documents:read","documents:write","query","admin"]}},"pipelines":{"type":"object","additionalProperties":{"type":"object","required":["classifications","verbs"],"properties":{"classifications":{"type":"array","items":{"type":"string"}},"verbs":{"type":"array","items":{"type":"string","enum":["read","write","query"]}}},"additionalProperties":false}},"expires_at":{"type":["string","null"],"format":"date-time"}},"additionalProperties":false}"#;
const LICENSE: &str = r#"{"type":"object","required":["license"],"properties":{"license":{"type":"string"}},"additionalProperties":false}"#;
const SEARCH: &str = r#"{"type":"object","required":["query","classification"],"properties":{"query":{"type":"string","minLength":1,"maxLength":8000,"$comment":"PIDQ_QUERY_CHARACTERS"},"classification":{"type":"string"},"top_k":{"type":["integer","null"],"minimum":1,"maximum":50},"mode":{"type":["string","null"],"enum":["hybrid","dense","sparse",null]},"min_score":{"type":["number","null"]},"filter":{"type":["object","null"]}},"additionalProperties":false}"#;
const QUERY: &str = r#"{"type":"object","required":["query","classification"],"oneOf":[{"required":["llm_endpoint"]},{"required":["llm_connection"]}],"properties":{"query":{"type":"string","minLength":1,"maxLength":8000,"$comment":"PIDQ_QUERY_CHARACTERS"},"classification":{"type":"string"},"llm_endpoint":{"type":"object","required":["api_key","model","base_url"],"properties":{"api_key":{"type":"string"},"model":{"type":"string","minLength":1,"maxLength":256},"base_url":{"type":"string"},"provider":{"type":["string","null"],"enum":["openai_compatible","openai",null]}},"additionalProperties":false},"llm_connection":{"type":"string"},"top_k":{"type":["integer","null"],"minimum":1,"maximum":50},"mode":{"type":["string","null"],"enum":["hybrid","dense","sparse",null]},"min_score":{"type":["number","null"]},"filter":{"type":["object","null"]},"history":{"type":["array","null"],"maxItems":20,"items":{"type":"object","required":["role","content"],"properties":{"role":{"enum":["user","assistant"]},"content":{"type":"string"}},"additionalProperties":false}},"instructions":{"type":["string","null"],"maxLength":2000},"temperature":{"type":["number","null"],"minimum":0,"maximum":2},"max_tokens":{"type":["integer","null"],"minimum":1,"maximum":4294967295},"top_p":{"type":["number","null"],"minimum":0,"maximum":1},"seed":{"type":["integer","null"],"minimum":-9223372036854775808,"maximum":9223372036854775807},"stop":{"anyOf":[{"type":["string","null"],"minLength":1,"maxLength":256},{"type":"array","maxItems":4,"items":{"type":"string","minLength":1,"maxLength":256}}]},"stream":{"type":["boolean","null"]},"include_contexts":{"type":["boolean","null"]},"timeout_ms":{"type":["integer","null"],"minimum":1,"maximum":600000},"graph":{"type":["object","null"],"required":["job_id","query"],"properties":{"job_id":{"type":"string"},"query":{"type":"string"},"params":{"type":["object","null"]}},"additionalProperties":false}},"additionalProperties":false}"#;
const FOUND: &str = r#"{"type":"object","required":["pipeline_id","classification","query","contexts","warnings","timings_ms"],"properties":{"contexts":{"type":"array","items":{"type":"object"}}}}"#;
const FEEDBACK: &str = r#"{"type":"object","required":["rating"],"properties":{"rating":{"type":"integer","enum":[1,-1]},"comment":{"type":["string","null"],"maxLength":2000}},"additionalProperties":false}"#;
const CONNECTION_WANTED: &str = r#"{"type":"object","required":["name","api_key","model","base_url"],"properties":{"name":{"type":"string","minLength":1,"maxLength":128},"provider":{"type":["string","null"],"enum":["openai_compatible","openai",null]},"api_key":{"type":"string"},"model":{"type":"string","minLength":1,"maxLength":256},"base_url":{"type":"string"},"context_window":{"type":["integer","null"],"minimum":1024,"maximum":100000000},"extra_headers":{"type":"object","maxProperties":16,"additionalProperties":{"type":"string"}}},"additionalProperties":false}"#;
const CONNECTION: &str = r#"{"type":"object","required":["id","name","provider","model","base_url","context_window","extra_headers","created_at","updated_at","revision"],"properties":{"extra_headers":{"type":"array","items":{"type":"string"}}}}"#;
const TESTED: &str = r#"{"type":"object","required":["ok","latency_ms","models"],"properties":{"ok":{"type":"boolean"},"latency_ms":{"type":"integer"},"models":{"type":"array","items":{"type":"string"}}}}"#;
const WEBHOOK_WANTED: &str = r#"{"type":"object","required":["url"],"properties":{"url":{"type":"string"},"types":{"type":"array","items":{"type":"string"}},"pipelines":{"type":"array","maxItems":200,"items":{"type":"string"}}},"additionalProperties":false}"#;
const WEBHOOK: &str = r#"{"type":"object","required":["id","url","types","pipelines","status","failures","failing_since","error","key_id","created_at","updated_at"],"properties":{"status":{"type":"string","enum":["active","disabled"]},"secret":{"type":"string"}}}"#;
const CALLED: &str = r#"{"type":"object","required":["delivered","event_id","status","error","latency_ms"],"properties":{"delivered":{"type":"boolean"},"status":{"type":["integer","null"]},"error":{"type":["string","null"]}}}"#;
