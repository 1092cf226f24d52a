//! Table of the platform's HTTP routes, with parameters, schemas and handlers.

use pidq_http::auth::{EmptyObject, TokenResponse};
use pidq_http::{Accepts, Access, Action, Binary, Head, Method, Parameter, Reply, Route, oauth};
use pidq_store::domain::model::Status;
use schemars::JsonSchema;

use crate::api::handlers::account_limits::{AccountLimitRequest, AccountLimitResponse};
use crate::api::handlers::answers::{AnswerResponse, FeedbackRequest, StoredAnswerResponse};
use crate::api::handlers::api_keys::{KeyRequest, KeyResponse};
use crate::api::handlers::ask::QuestionRequest;
use crate::api::handlers::audit::EntryResponse;
use crate::api::handlers::catalog::{EmbeddingModel, TextSplitter};
use crate::api::handlers::documents::{
    BulkDeleteRequest, BulkDeletion, ChunkResponse, DocumentForm, DocumentPatch, DocumentResponse, Preview,
    PreviewBody, WordsResponse,
};
use crate::api::handlers::events::ServerSentEvent;
use crate::api::handlers::license::{LicenseRequest, LicenseResponse};
use crate::api::handlers::limits::{JSON_SIZE, LimitsResponse, MAX_JSON_SIZE, UPLOAD_SIZE};
use crate::api::handlers::llm_connections::{
    ConnectionPatch, ConnectionRequest, ConnectionResponse, ConnectionTest, LanguageModel,
};
use crate::api::handlers::operations::ReindexRequest;
use crate::api::handlers::pipelines::{PipelinePatch, PipelineRequest, PipelineResponse};
use crate::api::handlers::search::{SearchRequest, SearchResponse};
use crate::api::handlers::usage::UsageResponse;
use crate::api::handlers::webhooks::{
    DeliveryResponse, DeliveryState, OverlapSeconds, WebhookPatch, WebhookRequest, WebhookResponse, WebhookTest,
};
use crate::api::handlers::{
    self, account_limits, answers, api_keys, ask, audit, catalog, documents, events, license, limits, llm_connections,
    operations, pipelines, search, usage, webhooks,
};
use crate::api::operation_response::OperationResponse;
use crate::api::schema::{Date, DateTime, ImageSize, List, Page, PageSize, Position, SortOrder, WaitSeconds};
use crate::platform::Platform;

/// Maximum size of a document form, in bytes. The handler applies the configured limit.
const MAX_FORM_SIZE: u64 = 1 << 30;

/// Every route of the platform. Routing, access control, OpenAPI, metrics and the documentation use this table.
pub const ROUTES: &[Route<Platform>] = &[
    Route {
        method: Method::POST,
        path: "/o/token/",
        access: Access::Client,
        action: Action::None,
        summary: "Issues a token for the master key, a user's password or a refresh token.",
        parameters: &[],
        body: Some(oauth::TOKEN_FORM),
        replies: &[Reply::json::<TokenResponse<'_>>(200, "The token.")],
        handler: |platform, request| Box::pin(handlers::oauth::issue(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/o/revoke_token/",
        access: Access::Client,
        action: Action::None,
        summary: "Revokes a token and all tokens of its login (RFC 7009).",
        parameters: &[],
        body: Some(oauth::KNOWN_TOKEN_FORM),
        replies: &[Reply::json::<EmptyObject>(200, "The token is revoked, or did not exist.")],
        handler: |platform, request| Box::pin(handlers::oauth::revoke(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines",
        access: Access::Scope("pipelines:write"),
        action: Action::Change("pipeline.create"),
        summary: "Creates a pipeline.",
        parameters: &[],
        body: Some(json::<PipelineRequest>()),
        replies: &[Reply::json::<PipelineResponse<'_>>(201, "The pipeline.")],
        handler: |platform, request| Box::pin(pipelines::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines",
        access: Access::Scope("pipelines:read"),
        action: Action::None,
        summary: "Lists the pipelines, oldest first.",
        parameters: &[LIMIT, CURSOR, NAME],
        body: None,
        replies: &[Reply::json::<Page<PipelineResponse<'_>>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(pipelines::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}",
        access: Access::Scope("pipelines:read"),
        action: Action::None,
        summary: "Returns a pipeline.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<PipelineResponse<'_>>(200, "The pipeline."), Reply::empty(304, "Not modified.")],
        handler: |platform, request| Box::pin(pipelines::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/pipelines/{pipeline_id}",
        access: Access::Scope("pipelines:write"),
        action: Action::Change("pipeline.update"),
        summary: "Changes a pipeline (merge patch, RFC 7396).",
        parameters: &[],
        body: Some(merge_patch::<PipelinePatch>()),
        replies: &[Reply::json::<PipelineResponse<'_>>(200, "The updated pipeline.")],
        handler: |platform, request| Box::pin(pipelines::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/pipelines/{pipeline_id}",
        access: Access::Scope("pipelines:write"),
        action: Action::Change("pipeline.delete"),
        summary: "Deletes a pipeline with its documents.",
        parameters: &[WAIT_FOR_DELETION],
        body: None,
        replies: &[
            Reply::empty(204, "Deleted."),
            Reply::json::<OperationResponse<'_>>(202, "The pipeline and its documents are being deleted."),
        ],
        handler: |platform, request| Box::pin(pipelines::delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents",
        access: Access::Scope("documents:write"),
        action: Action::Change("document.create"),
        summary: "Uploads a document: the parts `file` and `classification`, and optional ones.",
        parameters: &[WAIT],
        body: Some(upload::<DocumentForm>(&["multipart/form-data"])),
        replies: &[
            Reply::json::<DocumentResponse<'_>>(202, "The document is queued."),
            Reply::json::<DocumentResponse<'_>>(201, "The document was ingested within the waiting time."),
            Reply::json::<DocumentResponse<'_>>(200, "A document with the same content exists."),
        ],
        handler: |platform, request| Box::pin(documents::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents",
        access: Access::Scope("documents:read"),
        action: Action::None,
        summary: "Lists the documents of a pipeline, by default oldest first.",
        parameters: &[LIMIT, CURSOR, SORT, CLASSIFICATION, STATUS, FILENAME, FILENAME_WORDS, EXTERNAL_ID, PARENT_ID],
        body: None,
        replies: &[Reply::json::<Page<DocumentResponse<'_>>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(documents::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}",
        access: Access::Scope("documents:read"),
        action: Action::None,
        summary: "Returns a document with its processing status.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<DocumentResponse<'_>>(200, "The document."), Reply::empty(304, "Not modified.")],
        handler: |platform, request| Box::pin(documents::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}",
        access: Access::Scope("documents:write"),
        action: Action::Change("document.update"),
        summary: "Changes classification, metadata or file name of a document (merge patch, RFC 7396).",
        parameters: &[],
        body: Some(merge_patch::<DocumentPatch>()),
        replies: &[Reply::json::<DocumentResponse<'_>>(200, "The updated document.")],
        handler: |platform, request| Box::pin(documents::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}",
        access: Access::Scope("documents:write"),
        action: Action::Change("document.delete"),
        summary: "Deletes a document with all its indexed data.",
        parameters: &[],
        body: None,
        replies: &[Reply::empty(204, "Deleted.")],
        handler: |platform, request| Box::pin(documents::delete(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/content",
        access: Access::Scope("documents:read"),
        action: Action::None,
        summary: "Downloads the original file of a document.",
        parameters: &[RANGE],
        body: None,
        replies: &[
            Reply::of::<Binary>(200, "application/octet-stream", "The bytes."),
            Reply::of::<Binary>(206, "application/octet-stream", "The requested range of bytes."),
            Reply::empty(304, "Not modified."),
        ],
        handler: |platform, request| Box::pin(documents::content(platform, request)),
    },
    Route {
        method: Method::PUT,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/content",
        access: Access::Scope("documents:write"),
        action: Action::Change("document.replace"),
        summary: "Replaces the content of a document with a new revision; the previous one stays searchable until the new one is ready. Requires `If-Match`.",
        parameters: &[WAIT, NEW_FILENAME, IF_MATCH],
        body: Some(upload::<Binary>(&["*/*"])),
        replies: &[
            Reply::json::<DocumentResponse<'_>>(202, "The new revision is queued."),
            Reply::json::<DocumentResponse<'_>>(
                200,
                "The new revision was ingested within the waiting time, or the content is unchanged.",
            ),
        ],
        handler: |platform, request| Box::pin(documents::replace(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents:delete",
        access: Access::Scope("documents:write"),
        action: Action::Change("document.delete"),
        summary: "Deletes documents by ids or external ids and reports the outcome of each.",
        parameters: &[],
        body: Some(json::<BulkDeleteRequest>()),
        replies: &[Reply::json::<BulkDeletion<'_>>(200, "The outcome of each deletion.")],
        handler: |platform, request| Box::pin(documents::bulk_delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/preview",
        access: Access::Scope("documents:write"),
        action: Action::None,
        summary: "Shows how a file or text would be split, with the splitter of the pipeline or another one. Nothing is stored.",
        parameters: &[LIMIT],
        body: Some(upload::<PreviewBody>(&["multipart/form-data", "application/json"])),
        replies: &[Reply::json::<Preview<'_>>(200, "The first chunks and their total number.")],
        handler: |platform, request| Box::pin(documents::preview_in_pipeline(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/preview",
        access: Access::Scope("pipelines:write"),
        action: Action::None,
        summary: "Shows how a file or text would be split, before a pipeline is created. Nothing is stored.",
        parameters: &[LIMIT],
        body: Some(upload::<PreviewBody>(&["multipart/form-data", "application/json"])),
        replies: &[Reply::json::<Preview<'_>>(200, "The first chunks and their total number.")],
        handler: |platform, request| Box::pin(documents::preview_without_pipeline(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/text",
        access: Access::Scope("documents:read"),
        action: Action::None,
        summary: "Returns the extracted text of a document.",
        parameters: &[],
        body: None,
        replies: &[Reply::of::<String>(200, "text/plain; charset=utf-8", "The text.")],
        handler: |platform, request| Box::pin(documents::text(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/words",
        access: Access::Scope("documents:read"),
        action: Action::None,
        summary: "Lists the pages of a document, with the words on them and their boxes.",
        parameters: &[WORDS_PAGE, WORDS_START, WORDS_END, LIMIT, CURSOR],
        body: None,
        replies: &[Reply::json::<WordsResponse>(200, "The words, or why there are none.")],
        handler: |platform, request| Box::pin(documents::words(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/pages/{page}/image",
        access: Access::Scope("documents:read"),
        action: Action::None,
        summary: "Returns the image of a page of a PDF.",
        parameters: &[PAGE_NUMBER, IMAGE_SIZE, IMAGE_REVISION],
        body: None,
        replies: &[Reply::of::<Binary>(200, "image/png", "The image."), Reply::empty(304, "Not modified.")],
        handler: |platform, request| Box::pin(documents::page_image(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/retry",
        access: Access::Scope("documents:write"),
        action: Action::Change("document.retry"),
        summary: "Ingests a document again.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<DocumentResponse<'_>>(202, "The document is queued.")],
        handler: |platform, request| Box::pin(documents::retry(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/cancel",
        access: Access::Scope("documents:write"),
        action: Action::Change("document.cancel"),
        summary: "Cancels the ingestion of a document.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<DocumentResponse<'_>>(200, "The updated document.")],
        handler: |platform, request| Box::pin(documents::cancel(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/pipelines/{pipeline_id}/documents/{document_id}/chunks",
        access: Access::Scope("documents:read"),
        action: Action::None,
        summary: "Lists the chunks of a document, in order.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[Reply::json::<Page<ChunkResponse<'_>>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(documents::chunks(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/search",
        access: Access::Scope("query"),
        action: Action::None,
        summary: "Searches for passages, best first.",
        parameters: &[],
        body: Some(json::<SearchRequest>()),
        replies: &[Reply::json::<SearchResponse<'_>>(200, "The passages.")],
        handler: |platform, request| Box::pin(search::search(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/query",
        access: Access::Scope("query"),
        action: Action::None,
        summary: "Answers a question from the retrieved passages with an LLM, with citations; optionally streamed.",
        parameters: &[],
        body: Some(json::<QuestionRequest>()),
        replies: &[
            Reply::json::<AnswerResponse<'_>>(200, "The answer, or the reason why there is none."),
            Reply::of::<ServerSentEvent>(200, "text/event-stream", "The streamed answer."),
        ],
        handler: |platform, request| Box::pin(ask::ask(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/queries/{query_id}",
        access: Access::Scope("query"),
        action: Action::None,
        summary: "Returns a stored answer.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<StoredAnswerResponse>(200, "The answer and its feedback.")],
        handler: |platform, request| Box::pin(answers::fetch(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/queries/{query_id}/feedback",
        access: Access::Scope("query"),
        action: Action::Change("query.feedback"),
        summary: "Stores feedback on a stored answer.",
        parameters: &[],
        body: Some(json::<FeedbackRequest>()),
        replies: &[Reply::json::<StoredAnswerResponse>(200, "The answer and its feedback.")],
        handler: |platform, request| Box::pin(answers::feedback(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/llm-connections",
        access: Access::Admin,
        action: Action::Change("llm-connection.create"),
        summary: "Stores an LLM with its API key, for questions that name it by `llm_connection`. The key cannot be read back.",
        parameters: &[],
        body: Some(json::<ConnectionRequest>()),
        replies: &[Reply::json::<ConnectionResponse<'_>>(201, "The connection.")],
        handler: |platform, request| Box::pin(llm_connections::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/llm-connections",
        access: Access::Admin,
        action: Action::None,
        summary: "Lists the LLM connections, oldest first.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[Reply::json::<Page<ConnectionResponse<'_>>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(llm_connections::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/llm-connections/{connection_id}",
        access: Access::Admin,
        action: Action::None,
        summary: "Returns an LLM connection without its key.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<ConnectionResponse<'_>>(200, "The connection."), Reply::empty(304, "Not modified.")],
        handler: |platform, request| Box::pin(llm_connections::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/llm-connections/{connection_id}",
        access: Access::Admin,
        action: Action::Change("llm-connection.update"),
        summary: "Changes an LLM connection (merge patch, RFC 7396). A new `base_url` requires the key again.",
        parameters: &[],
        body: Some(merge_patch::<ConnectionPatch>()),
        replies: &[Reply::json::<ConnectionResponse<'_>>(200, "The updated connection.")],
        handler: |platform, request| Box::pin(llm_connections::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/llm-connections/{connection_id}",
        access: Access::Admin,
        action: Action::Change("llm-connection.delete"),
        summary: "Deletes an LLM connection with its key.",
        parameters: &[],
        body: None,
        replies: &[Reply::empty(204, "Deleted.")],
        handler: |platform, request| Box::pin(llm_connections::delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/llm-connections/{connection_id}/test",
        access: Access::Admin,
        action: Action::Effect("llm-connection.test"),
        summary: "Tests an LLM connection by listing the models of its server.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<ConnectionTest>(200, "The server responds.")],
        handler: |platform, request| Box::pin(llm_connections::test(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/language-models",
        access: Access::Scope("query"),
        action: Action::None,
        summary: "Lists the LLM connections that questions can name by `llm_connection`, oldest first.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[Reply::json::<Page<LanguageModel<'_>>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(llm_connections::list_models(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/embedding-models",
        access: Access::Bearer,
        action: Action::None,
        summary: "Lists the embedding models and whether each is configured.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<List<EmbeddingModel>>(200, "The models.")],
        handler: |platform, _| Box::pin(async { catalog::models(&platform.search.models) }),
    },
    Route {
        method: Method::GET,
        path: "/api/text-splitters",
        access: Access::Bearer,
        action: Action::None,
        summary: "Lists the text splitters with their parameters.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<List<TextSplitter>>(200, "The splitters.")],
        handler: |_, _| Box::pin(async { catalog::splitters() }),
    },
    Route {
        method: Method::GET,
        path: "/api/limits",
        access: Access::Bearer,
        action: Action::None,
        summary: "Returns the limits of the platform and the current usage.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<LimitsResponse>(200, "The limits.")],
        handler: |platform, request| Box::pin(limits::show(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/license",
        access: Access::Bearer,
        action: Action::None,
        summary: "Returns the license state and the system id for the license issuer.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<LicenseResponse<'_>>(200, "The state.")],
        handler: |platform, request| Box::pin(async move { license::show(platform, &request).await }),
    },
    Route {
        method: Method::PUT,
        path: "/api/license",
        access: Access::Admin,
        action: Action::Change("license.update"),
        summary: "Installs a license. If the settings also contain a license, the one issued later applies. All processes apply it within a minute.",
        parameters: &[],
        body: Some(json::<LicenseRequest>()),
        replies: &[Reply::json::<LicenseResponse<'_>>(200, "The state.")],
        handler: |platform, request| Box::pin(license::update(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/keys",
        access: Access::Admin,
        action: Action::Change("key.create"),
        summary: "Creates an API key; its secret is returned only here.",
        parameters: &[],
        body: Some(json::<KeyRequest>()),
        replies: &[Reply::json::<KeyResponse<'_>>(201, "The key.")],
        handler: |platform, request| Box::pin(api_keys::create(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/pipelines/{pipeline_id}/reindex",
        access: Access::Scope("pipelines:write"),
        action: Action::Change("pipeline.reindex"),
        summary: "Reindexes a pipeline with another embedding model or text splitter. The old index is used until the new one is complete.",
        parameters: &[],
        body: Some(json::<ReindexRequest>()),
        replies: &[Reply::json::<OperationResponse<'_>>(202, "The operation is running.")],
        handler: |platform, request| Box::pin(operations::reindex(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/operations/{operation_id}",
        access: Access::Scope("pipelines:read"),
        action: Action::None,
        summary: "Returns a long-running operation with its progress.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<OperationResponse<'_>>(200, "The operation.")],
        handler: |platform, request| Box::pin(operations::fetch(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/operations/{operation_id}/cancel",
        access: Access::Scope("pipelines:write"),
        action: Action::Change("operation.cancel"),
        summary: "Cancels a reindex. The old index stays in use.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<OperationResponse<'_>>(200, "The operation.")],
        handler: |platform, request| Box::pin(operations::cancel(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/events",
        access: Access::Bearer,
        action: Action::None,
        summary: "Streams events as server-sent events; `Last-Event-ID` resumes after the given event.",
        parameters: &[EVENT_TYPE, EVENT_PIPELINE, LAST_EVENT_ID],
        body: None,
        replies: &[Reply::of::<ServerSentEvent>(200, "text/event-stream", "The events.")],
        handler: |platform, request| Box::pin(events::stream_events(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/webhooks",
        access: Access::Admin,
        action: Action::Change("webhook.create"),
        summary: "Creates a webhook; its signing secret is returned only here.",
        parameters: &[],
        body: Some(json::<WebhookRequest>()),
        replies: &[Reply::json::<WebhookResponse<'_>>(201, "The webhook, with its secret.")],
        handler: |platform, request| Box::pin(webhooks::create(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/webhooks",
        access: Access::Admin,
        action: Action::None,
        summary: "Lists the webhooks, oldest first.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[Reply::json::<Page<WebhookResponse<'_>>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(webhooks::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/webhooks/{webhook_id}",
        access: Access::Admin,
        action: Action::None,
        summary: "Returns a webhook with its delivery status.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<WebhookResponse<'_>>(200, "The webhook.")],
        handler: |platform, request| Box::pin(webhooks::fetch(platform, request)),
    },
    Route {
        method: Method::PATCH,
        path: "/api/webhooks/{webhook_id}",
        access: Access::Admin,
        action: Action::Change("webhook.update"),
        summary: "Changes, disables or enables a webhook (merge patch, RFC 7396).",
        parameters: &[],
        body: Some(merge_patch::<WebhookPatch>()),
        replies: &[Reply::json::<WebhookResponse<'_>>(200, "The updated webhook.")],
        handler: |platform, request| Box::pin(webhooks::change(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/webhooks/{webhook_id}",
        access: Access::Admin,
        action: Action::Change("webhook.delete"),
        summary: "Deletes a webhook with its waiting deliveries.",
        parameters: &[],
        body: None,
        replies: &[Reply::empty(204, "Deleted.")],
        handler: |platform, request| Box::pin(webhooks::delete(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/webhooks/{webhook_id}/test",
        access: Access::Admin,
        action: Action::Effect("webhook.test"),
        summary: "Sends a test event to a webhook, once and without retries.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<WebhookTest>(200, "The result of the call.")],
        handler: |platform, request| Box::pin(webhooks::test(platform, request)),
    },
    Route {
        method: Method::POST,
        path: "/api/webhooks/{webhook_id}/rotate",
        access: Access::Admin,
        action: Action::Change("webhook.rotate"),
        summary: "Rotates the signing secret of a webhook; the new one is returned only here. During the overlap, deliveries are signed with both.",
        parameters: &[OVERLAP],
        body: None,
        replies: &[Reply::json::<WebhookResponse<'_>>(200, "The webhook, with its secret.")],
        handler: |platform, request| Box::pin(webhooks::rotate(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/webhooks/{webhook_id}/deliveries",
        access: Access::Admin,
        action: Action::None,
        summary: "Lists the deliveries of a webhook, newest first.",
        parameters: &[LIMIT, CURSOR, DELIVERY_STATE],
        body: None,
        replies: &[Reply::json::<Page<DeliveryResponse<'_>>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(webhooks::deliveries(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/audit",
        access: Access::Admin,
        action: Action::None,
        summary: "Lists the audit entries, newest first: actions and rejected requests.",
        parameters: &[LIMIT, CURSOR, SINCE, UNTIL, ACTOR, ACTION, IN_PIPELINE, RESULT],
        body: None,
        replies: &[Reply::json::<Page<EntryResponse<'_>>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(audit::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/usage",
        access: Access::Scope("pipelines:read"),
        action: Action::None,
        summary: "Lists the usage per day (UTC), pipeline and classification, newest first.",
        parameters: &[LIMIT, CURSOR, FROM, TO, IN_PIPELINE, USAGE_CLASSIFICATION],
        body: None,
        replies: &[Reply::json::<Page<UsageResponse>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(usage::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/keys",
        access: Access::Admin,
        action: Action::None,
        summary: "Lists the API keys without their secrets.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[Reply::json::<Page<KeyResponse<'_>>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(api_keys::list(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/keys/{key_id}",
        access: Access::Admin,
        action: Action::None,
        summary: "Returns an API key without its secret.",
        parameters: &[],
        body: None,
        replies: &[Reply::json::<KeyResponse<'_>>(200, "The key.")],
        handler: |platform, request| Box::pin(api_keys::fetch(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/keys/{key_id}",
        access: Access::Admin,
        action: Action::Change("key.delete"),
        summary: "Revokes an API key.",
        parameters: &[],
        body: None,
        replies: &[Reply::empty(204, "Deleted.")],
        handler: |platform, request| Box::pin(api_keys::delete(platform, request)),
    },
    Route {
        method: Method::GET,
        path: "/api/account-limits",
        access: Access::Admin,
        action: Action::None,
        summary: "Lists the accounts that are limited to pipelines, classifications and permissions.",
        parameters: &[LIMIT, CURSOR],
        body: None,
        replies: &[Reply::json::<Page<AccountLimitResponse<'_>>>(200, "A page of the list.")],
        handler: |platform, request| Box::pin(account_limits::list(platform, request)),
    },
    Route {
        method: Method::PUT,
        path: "/api/account-limits/{account}",
        access: Access::Admin,
        action: Action::Change("account-limit.set"),
        summary: "Limits an account to pipelines, classifications and permissions; it applies to its next request.",
        parameters: &[],
        body: Some(json::<AccountLimitRequest>()),
        replies: &[Reply::json::<AccountLimitResponse<'_>>(200, "The limit.")],
        handler: |platform, request| Box::pin(account_limits::set(platform, request)),
    },
    Route {
        method: Method::DELETE,
        path: "/api/account-limits/{account}",
        access: Access::Admin,
        action: Action::Change("account-limit.delete"),
        summary: "Removes the limit of an account.",
        parameters: &[],
        body: None,
        replies: &[Reply::empty(204, "The account has no limit.")],
        handler: |platform, request| Box::pin(account_limits::delete(platform, request)),
    },
];

/// Returns the route of a request by its head and the path of its route.
pub(crate) fn find_route(head: &Head, path: &str) -> Option<&'static Route<Platform>> {
    let method = if head.method == Method::HEAD { &Method::GET } else { &head.method };
    ROUTES.iter().find(|route| route.path == path && route.method == *method)
}

const fn json<T: JsonSchema>() -> Accepts {
    Accepts::json::<T>(MAX_JSON_SIZE).limited_by(JSON_SIZE.env())
}

const fn merge_patch<T: JsonSchema>() -> Accepts {
    Accepts::merge_patch::<T>(MAX_JSON_SIZE).limited_by(JSON_SIZE.env())
}

const fn upload<T: JsonSchema>(media: &'static [&'static str]) -> Accepts {
    Accepts::of::<T>(media, MAX_FORM_SIZE).limited_by(UPLOAD_SIZE.env())
}

const LIMIT: Parameter = Parameter::query::<PageSize>("limit", "Maximum number of rows per page.");
const CURSOR: Parameter = Parameter::query::<String>("cursor", "`next_cursor` of the previous page.");
const WAIT_FOR_DELETION: Parameter =
    Parameter::query::<bool>("wait", "Waits until the deletion is complete. Default: `false`.");
const EVENT_TYPE: Parameter = Parameter::query::<String>("type", "Only events of these types, comma-separated.");
const EVENT_PIPELINE: Parameter =
    Parameter::query::<String>("pipeline", "Only events of these pipelines, comma-separated.");
const LAST_EVENT_ID: Parameter = Parameter::header::<String>("Last-Event-ID", "Id of the last received event.");
const NAME: Parameter = Parameter::query::<String>("name", "Only the pipeline with this name.");
const WAIT: Parameter = Parameter::query::<WaitSeconds>("wait", "Seconds to wait for the ingestion of the document.");
const NEW_FILENAME: Parameter = Parameter::query::<String>("filename", "New file name.");
const IF_MATCH: Parameter =
    Parameter::required_header::<String>("If-Match", "ETag of the current content or document, or `*`.");
const WORDS_PAGE: Parameter = Parameter::query::<Position>("page", "Only this page, from 1.");
const WORDS_START: Parameter = Parameter::query::<Position>(
    "start",
    "Only words that end after this code point of the text, such as the `start` of a citation.",
);
const WORDS_END: Parameter =
    Parameter::query::<Position>("end", "Only words that start before this code point of the text.");
const PAGE_NUMBER: Parameter = Parameter::path::<Position>("page", "Page, from 1.");
const IMAGE_SIZE: Parameter = Parameter::query::<ImageSize>("size", "Longer side of the image in pixels.");
const IMAGE_REVISION: Parameter = Parameter::query::<Position>(
    "revision",
    "Revision to which the page must belong, such as the `revision` of a citation.",
);
const SORT: Parameter = Parameter::query::<SortOrder>("sort", "Sort order; `-` sorts descending.");
const RANGE: Parameter = Parameter::header::<String>("Range", "One range of bytes: `bytes=FIRST-LAST`.");
const CLASSIFICATION: Parameter =
    Parameter::query::<String>("classification", "Only documents with this classification.");
const STATUS: Parameter = Parameter::query::<Status>("status", "Only documents with this status.");
const FILENAME: Parameter = Parameter::query::<String>("filename", "Only documents with this file name.");
const FILENAME_WORDS: Parameter = Parameter::query::<String>(
    "q",
    "Only documents whose file name contains all these words, in any order and any case of A–Z. At most 8 words.",
);
const EXTERNAL_ID: Parameter = Parameter::query::<String>("external_id", "Only the document with this external id.");
const PARENT_ID: Parameter = Parameter::query::<String>("parent_id", "Only attachments of this mail.");
const SINCE: Parameter = Parameter::query::<DateTime>("since", "Only entries at or after this time.");
const UNTIL: Parameter = Parameter::query::<DateTime>("until", "Only entries before this time.");
const ACTOR: Parameter =
    Parameter::query::<String>("actor", "Only entries of this actor: `key:ID`, `client:ID`, `user:ID`, `system`.");
const ACTION: Parameter =
    Parameter::query::<String>("action", "Only entries with this action, such as `document.delete`.");
const IN_PIPELINE: Parameter = Parameter::query::<String>("pipeline", "Only entries of this pipeline.");
const RESULT: Parameter =
    Parameter::query::<String>("result", "Only entries with this result: `done`, or a problem code.");
const FROM: Parameter = Parameter::query::<Date>("from", "First day. Default: 29 days before the last day.");
const TO: Parameter = Parameter::query::<Date>("to", "Last day. Default: today.");
const USAGE_CLASSIFICATION: Parameter =
    Parameter::query::<String>("classification", "Only entries of this classification.");
const OVERLAP: Parameter =
    Parameter::query::<OverlapSeconds>("overlap", "Seconds for which the previous secret stays valid.");
const DELIVERY_STATE: Parameter = Parameter::query::<DeliveryState>("state", "Only deliveries in this state.");
