//! Table of problem codes: one row per code, shared by all services.
//!
//! The documentation, the `enum` of the OpenAPI document and the pages below `/problems` are generated from it.

use std::fmt::{self, Write};

/// Problem code with its statuses, title and remedy.
#[derive(Eq, PartialEq)]
pub struct ProblemCode {
    /// Stable kebab-case name; the `code` of a problem.
    pub name: &'static str,
    /// Statuses that a problem of this code can have; the first is the default.
    pub statuses: &'static [u16],
    /// Short summary; the `title` of a problem.
    pub title: &'static str,
    /// Remedy: what the client or the operator can do.
    pub remedy: &'static str,
}

impl ProblemCode {
    /// Finds a row by its name.
    pub fn find(name: &str) -> Option<&'static ProblemCode> {
        ALL.iter().find(|code| code.name == name).copied()
    }

    /// Returns the statuses as text, separated by commas.
    pub(crate) fn status_list(&self) -> String {
        self.statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
    }

    /// Path of the page about this code, which is the `type` of its problems.
    pub fn path(&self) -> String {
        format!("/problems/{}", self.name)
    }
}

impl fmt::Debug for ProblemCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Declares one constant per row, and the list of all rows.
macro_rules! problem_codes {
    ($($constant:ident $name:literal [$($status:literal)+] $title:literal $remedy:literal;)*) => {
        $(
            #[doc = $title]
            pub const $constant: &ProblemCode =
                &ProblemCode { name: $name, statuses: &[$($status),+], title: $title, remedy: $remedy };
        )*

        /// Every row, in the order of the table.
        pub const ALL: &[&ProblemCode] = &[$($constant),*];
    };
}

problem_codes! {
    // The request itself.
    INVALID_REQUEST "invalid-request" [400] "Invalid request"
        "Correct the request as described in `detail`; `/docs` lists the fields of every endpoint.";
    INVALID_PARAMETER "invalid-parameter" [400] "Invalid parameter"
        "Correct the URL parameter named in `parameter`; `allowed`, if present, lists the accepted names or values.";
    INVALID_PATH "invalid-path" [400] "Invalid path"
        "Percent-encode the path as UTF-8.";
    INVALID_CURSOR "invalid-cursor" [400] "Invalid cursor"
        "Restart the list without `cursor`.";
    INVALID_IDEMPOTENCY_KEY "invalid-idempotency-key" [400] "Invalid idempotency key"
        "Send an `Idempotency-Key` of 1 to 255 visible ASCII characters.";
    MALFORMED_BODY "malformed-body" [400] "Malformed body"
        "Send the complete body with valid HTTP framing.";
    MALFORMED_JSON "malformed-json" [400] "Malformed JSON"
        "Send well-formed JSON in UTF-8; `detail` or `position` gives the location of the error.";
    MALFORMED_FORM "malformed-form" [400] "Malformed form"
        "Send `application/x-www-form-urlencoded` in UTF-8.";
    MALFORMED_MULTIPART "malformed-multipart" [400] "Malformed multipart body"
        "Send `multipart/form-data` as defined in RFC 7578.";
    MALFORMED_COMPRESSION "malformed-compression" [400] "Malformed compression"
        "Compress the body with the encoding named in `Content-Encoding`.";
    NOT_FOUND "not-found" [404] "Not found"
        "Check the path; `/docs` lists the endpoints.";
    METHOD_NOT_ALLOWED "method-not-allowed" [405] "Method not allowed"
        "Use one of the methods in the `Allow` header.";
    NOT_ACCEPTABLE "not-acceptable" [406] "Not acceptable"
        "Request one of the media types in `allowed`.";
    REQUEST_TIMEOUT "request-timeout" [408] "Request timeout"
        "Send the body faster, or send a smaller one.";
    PRECONDITION_FAILED "precondition-failed" [412] "Precondition failed"
        "Read the resource again and repeat the change with its current `ETag`.";
    PAYLOAD_TOO_LARGE "payload-too-large" [413] "Payload too large"
        "Send at most `limit` bytes.";
    COMPRESSION_RATIO "compression-ratio" [413] "Compression ratio too high"
        "Send the body uncompressed or with a lower compression ratio.";
    URI_TOO_LONG "uri-too-long" [414] "URI too long"
        "Shorten the URL, or send the query in the body of a POST request.";
    UNSUPPORTED_MEDIA_TYPE "unsupported-media-type" [415] "Unsupported media type"
        "Send one of the media types in `allowed`.";
    UNSUPPORTED_CONTENT_ENCODING "unsupported-content-encoding" [415] "Unsupported content encoding"
        "Send the body uncompressed or in one of the encodings in `Accept-Encoding`.";
    RANGE_NOT_SATISFIABLE "range-not-satisfiable" [416] "Range not satisfiable"
        "Request a range within the length in `Content-Range`.";
    PRECONDITION_REQUIRED "precondition-required" [428] "Precondition required"
        "Repeat the request with `If-Match`, or with `If-None-Match: *` to create the resource.";
    VALIDATION "validation" [422] "Validation failed"
        "Correct the fields that `errors` points to.";
    UNKNOWN_FIELD "unknown-field" [422] "Unknown field"
        "Remove or correct the field that `errors` points to; `allowed` lists the known fields.";
    MISSING_PART "missing-part" [422] "Missing part"
        "Add the part of the form that `errors` points to.";
    IDEMPOTENCY_CONFLICT "idempotency-conflict" [409] "Idempotency conflict"
        "Wait for the first request with this key, then repeat the request.";
    IDEMPOTENCY_KEY_REUSE "idempotency-key-reuse" [422] "Idempotency key reused"
        "Use a new `Idempotency-Key` for a different request.";

    // Authentication, authorization and licensing.
    UNAUTHENTICATED "unauthenticated" [401] "Unauthenticated"
        "Send a valid access token in the `Authorization` header.";
    INVALID_TOKEN "invalid-token" [401] "Invalid token"
        "Request a new access token.";
    TOKEN_EXPIRED "token-expired" [401] "Token expired"
        "Request a new access token.";
    INSUFFICIENT_SCOPE "insufficient-scope" [403] "Insufficient scope"
        "Use a token with the scope in the `WWW-Authenticate` header.";
    FORBIDDEN "forbidden" [403] "Forbidden"
        "Use credentials with the permission named in `detail`.";
    CLASSIFICATION_FORBIDDEN "classification-forbidden" [403] "Classification forbidden"
        "Use credentials that include the classification.";
    ACCOUNTS_DISABLED "accounts-disabled" [404] "Accounts disabled"
        "Send requests without a token: this service was started without accounts.";
    ACCOUNT_NOT_FOUND "account-not-found" [404] "Account not found"
        "Use a login of `GET /accounts`.";
    OWN_ACCOUNT "own-account" [409] "Own account"
        "Ask another administrator, or use the command `pidq users` on the server.";
    WRONG_PASSWORD "wrong-password" [403] "Wrong password"
        "Send the current password of the account; after a change by an administrator, that is the new one.";
    NO_PASSWORD "no-password" [409] "Account without a password"
        "Change the password at the identity provider that the account signs in with.";
    CLIENT_NOT_FOUND "client-not-found" [404] "Client not found"
        "Use an id of `GET /clients`.";
    INVALID_CREDENTIALS "invalid-credentials" [401] "Invalid credentials"
        "Check the login and the password.";
    CROSS_SITE_REQUEST "cross-site-request" [403] "Cross-site request"
        "Send the request from a page of the dashboard itself.";
    LICENSE_REQUIRED "license-required" [402] "License required"
        "Obtain a license for the system `system_id`, then set PIDQ_APP_LICENSE or upload the license.";
    LICENSE_LIMIT "license-limit" [402] "License limit reached"
        "Delete what is no longer needed, or obtain a license with a higher limit.";
    LICENSE_OLDER "license-older" [409] "License older than the current one"
        "Upload the most recently issued license.";
    LICENSE_EXPIRED "license-expired" [422] "License expired"
        "Obtain a new license for the system `system_id`.";
    LICENSE_WRONG_SYSTEM "license-wrong-system" [422] "License for another system"
        "Obtain a license for the system `system_id`.";
    LICENSE_INVALID "license-invalid" [422] "License invalid"
        "Upload the license text unchanged; check that its issuer is trusted.";

    // Load and the state of the service.
    RATE_LIMITED "rate-limited" [429] "Rate limited"
        "Wait the number of seconds in `Retry-After`, then repeat the request.";
    TOO_MANY_CONCURRENT_REQUESTS "too-many-concurrent-requests" [429] "Too many concurrent requests"
        "Wait until an earlier request has ended.";
    TOO_MANY_STREAMS "too-many-streams" [503] "Too many streams"
        "Close an open stream, or wait the number of seconds in `Retry-After`.";
    TOO_MANY_UPLOADS "too-many-uploads" [503] "Too many uploads"
        "Wait the number of seconds in `Retry-After`, and upload fewer documents at a time.";
    OVERLOADED "overloaded" [503] "Overloaded"
        "Wait the number of seconds in `Retry-After`, then repeat the request.";
    API_UNAVAILABLE "api-unavailable" [502] "API unavailable"
        "Try again; if it fails again, ask the operator: the dashboard cannot reach the API, and its log has the cause.";
    UNAVAILABLE "unavailable" [503] "Unavailable"
        "Wait the number of seconds in `Retry-After`, then repeat the request; the log has the cause under `request_id`.";
    INSUFFICIENT_STORAGE "insufficient-storage" [507] "Insufficient storage"
        "Delete what is no longer needed, or ask the operator to free disk space or raise the quota.";
    INTERNAL "internal" [500] "Internal error"
        "Report the `request_id` to the operator, who can find the cause in the log.";

    // Stored graphs.
    INVALID_JOB_ID "invalid-job-id" [400] "Invalid job ID"
        "Use 1 to 128 of the characters `A-Z a-z 0-9 . _ : @ ~ -`.";
    INVALID_TENANT "invalid-tenant" [400] "Invalid tenant"
        "Use 1 to 128 of the characters `A-Z a-z 0-9 . _ : @ ~ -`.";
    GRAPH_NOT_FOUND "graph-not-found" [404 422] "Graph not found"
        "Check the id of the graph and the tenant of the token.";
    GRAPH_VERSION_NOT_FOUND "graph-version-not-found" [404] "Graph version not found"
        "Request a version that is still retained.";
    JOB_ID_MISMATCH "job-id-mismatch" [409] "Job ID mismatch"
        "Use the same graph id in `metadata.job_id` and in the path.";
    GRAPH_TOO_LARGE "graph-too-large" [413] "Graph too large"
        "Reduce the quantity named in `what` to at most `limit`, or ask the operator to raise the limit.";
    INVALID_GRAPH "invalid-graph" [422] "Invalid graph"
        "Correct the values that `errors` points to.";
    UNREADABLE_DRAWING "unreadable-drawing" [422] "Drawing not readable"
        "Correct the file as described in `detail`, at `line` if present, or send it with the content type of its format.";
    UNSUPPORTED_SCHEMA_VERSION "unsupported-schema-version" [422 406] "Unsupported schema version"
        "Use a schema version listed in `allowed`.";
    READ_ONLY "read-only" [503] "Read-only"
        "Wait until the store accepts writes again; the log has the cause.";
    GRAPH_CORRUPT "graph-corrupt" [503] "Graph corrupt"
        "Store the graph again, or ask the operator to restore it from a backup.";
    TOO_MANY_GRAPHS "too-many-graphs" [422] "Too many graphs"
        "Use a longer prefix, or send several requests.";
    GRAPH_SERVICE_NOT_CONFIGURED "graph-service-not-configured" [422] "Graph service not configured"
        "Send the request without `graph`, or ask the operator to set PIDQ_GRAPH_URL.";
    GRAPH_ACCESS_DENIED "graph-access-denied" [403] "Graph access denied"
        "Use a token that is also valid for the graph service.";
    GRAPH_UNAVAILABLE "graph-unavailable" [503] "Graph service unavailable"
        "Wait the number of seconds in `Retry-After`, then repeat the request.";
    GRAPH_QUERY_FAILED "graph-query-failed" [422] "Graph query failed"
        "Correct the query in the field `/graph/query` as described in `detail`.";

    // Queries.
    QUERY_SYNTAX "query-syntax" [400] "Query syntax error"
        "Correct the query at `position`; see `help` and `suggestions`.";
    INVALID_PARAMS "invalid-params" [400] "Invalid query parameters"
        "Correct the values in `params`.";
    QUERY_INVALID "query-invalid" [422] "Invalid query"
        "Correct the query at `position`; see `help` and `suggestions`.";
    UNKNOWN_FUNCTION "unknown-function" [422] "Unknown function"
        "Use a function that exists; `suggestions` lists similar names, and `/functions` lists all functions.";
    QUERY_EVALUATION "query-evaluation" [422] "Query evaluation error"
        "Correct the query at `position` so that it fits the data of this graph.";
    QUERY_LIMIT "query-limit" [422] "Query limit exceeded"
        "Narrow the query so that it stays within `limit`.";
    REGEX_UNSUPPORTED "regex-unsupported" [422] "Unsupported regular expression"
        "Correct the pattern or its flags.";
    RESULT_NOT_EXPORTABLE "result-not-exportable" [422] "Result not exportable"
        "Request JSON, or return a result that the format can represent.";
    QUERY_TIMEOUT "query-timeout" [503] "Query timeout"
        "Narrow the query, or try again when the service is less busy.";
    QUERY_CANCELLED "query-cancelled" [503] "Query cancelled"
        "Send the query again; the service was shutting down.";

    // Pipelines and documents.
    PIPELINE_NOT_FOUND "pipeline-not-found" [404] "Pipeline not found"
        "Check the id of the pipeline.";
    NAME_TAKEN "name-taken" [409] "Name taken"
        "Choose another name.";
    TOO_MANY_PIPELINES "too-many-pipelines" [409] "Too many pipelines"
        "Delete a pipeline first.";
    PIPELINE_BUSY "pipeline-busy" [409] "Pipeline busy"
        "Wait until the running operation of the pipeline has ended.";
    REINDEX_REQUIRED "reindex-required" [409] "Reindex required"
        "Repeat the change with `reindex=true`.";
    CLASSIFICATION_IN_USE "classification-in-use" [409] "Classification in use"
        "Delete or reclassify its documents first.";
    UNKNOWN_CLASSIFICATION "unknown-classification" [422] "Unknown classification"
        "Use a classification of the pipeline; `allowed` lists them.";
    UNKNOWN_EMBEDDING_MODEL "unknown-embedding-model" [422] "Unknown embedding model"
        "Use an embedding model listed in `allowed`.";
    UNKNOWN_TEXT_SPLITTER "unknown-text-splitter" [422] "Unknown text splitter"
        "Use a text splitter listed in `allowed`.";
    LIMIT_REACHED "limit-reached" [409] "Limit reached"
        "Delete what is no longer needed, or ask the operator to raise the limit.";
    DOCUMENT_NOT_FOUND "document-not-found" [404] "Document not found"
        "Check the id of the document and the classifications of the credentials.";
    DOCUMENT_BUSY "document-busy" [409] "Document busy"
        "Wait until the document is `ready` or `failed`.";
    EXTERNAL_ID_TAKEN "external-id-taken" [409] "External ID taken"
        "Replace the content of the existing document, or use another external id.";
    DUPLICATE_CONTENT "duplicate-content" [409] "Duplicate content"
        "Use the existing document: the classification already has one with the same content.";
    PAGE_NOT_FOUND "page-not-found" [404] "Page not found"
        "Check the number of the page and the revision against those of the document.";
    PAGE_NOT_RENDERED "page-not-rendered" [422] "Page not rendered"
        "Download the document, and open it with another program.";
    NO_PAGE_IMAGES "no-page-images" [422] "No images of pages"
        "Use the text or the content of the document: only pages of PDFs have images.";
    RENDERER_NOT_CONFIGURED "renderer-not-configured" [422] "Page renderer not configured"
        "Ask the operator to set PIDQ_PDFTOPPM, the path of the program that renders pages.";
    ENCRYPTED_DOCUMENT "encrypted-document" [422] "Encrypted document"
        "Remove the password and upload the document again.";
    CORRUPT_DOCUMENT "corrupt-document" [422] "Corrupt document"
        "Repair the file or export it again.";
    EMPTY_TEXT "empty-text" [422] "Document without text"
        "Ask the operator to turn on text recognition (OCR) and retry, or upload the document with a text layer.";
    TOO_LARGE_TEXT "too-large-text" [422] "Document text too large"
        "Split the document into smaller ones.";
    TOO_MANY_CHUNKS "too-many-chunks" [422] "Too many chunks"
        "Use a splitter with less overlap or larger chunks, or split the document.";
    EMBEDDING_UNAVAILABLE "embedding-unavailable" [503 422] "Embedding model unavailable"
        "Wait the number of seconds in `Retry-After`, or ask the operator to check the embedding model.";
    EMBEDDING_DIMENSION_MISMATCH "embedding-dimension-mismatch" [503] "Embedding dimension mismatch"
        "Reindex the pipeline: the embedding model now returns vectors of a different length.";
    OPERATION_NOT_FOUND "operation-not-found" [404] "Operation not found"
        "Check the id of the operation.";
    OPERATION_NOT_CANCELLABLE "operation-not-cancellable" [409] "Operation not cancellable"
        "Wait until the operation has ended.";
    KEY_NOT_FOUND "key-not-found" [404] "API key not found"
        "Check the id of the API key.";

    // Answers by a language model.
    QUERY_NOT_FOUND "query-not-found" [404] "Answer not found"
        "Check the id of the answer; answers are deleted when their retention period ends.";
    APP_SECRET_MISSING "app-secret-missing" [409] "App secret missing"
        "Ask the operator to set PIDQ_APP_SECRET, which encrypts stored secrets.";
    LLM_CONNECTION_NOT_FOUND "llm-connection-not-found" [404 422] "LLM connection not found"
        "Check the name of the LLM connection.";
    LLM_CONNECTION_UNDECRYPTABLE "llm-connection-undecryptable" [409] "LLM connection not decryptable"
        "Save the connection again with its API key: PIDQ_APP_SECRET has changed.";
    LLM_ENDPOINT_FORBIDDEN "llm-endpoint-forbidden" [403] "LLM endpoint forbidden"
        "Use an address that the egress policy allows.";
    LLM_UNREACHABLE "llm-unreachable" [502] "LLM unreachable"
        "Check `base_url`, and that the model server is running.";
    LLM_TIMEOUT "llm-timeout" [504] "LLM timeout"
        "Try again, raise `timeout_ms`, or use a faster model.";
    LLM_AUTH_FAILED "llm-auth-failed" [502] "LLM authentication failed"
        "Check `api_key` and its permission to use this model.";
    LLM_MODEL_NOT_FOUND "llm-model-not-found" [422] "LLM model not found"
        "Check `model`: the server lists its models under `/models`.";
    LLM_CONTEXT_EXCEEDED "llm-context-exceeded" [422] "LLM context exceeded"
        "Use a smaller `top_k`, or a model with a larger context.";
    LLM_REJECTED_REQUEST "llm-rejected-request" [502] "LLM rejected the request"
        "Check that the model accepts the given `temperature`, `max_tokens`, `top_p`, `seed` and `stop`.";
    LLM_RATE_LIMITED "llm-rate-limited" [503] "LLM rate limited"
        "Wait the number of seconds in `Retry-After`, then repeat the request.";
    LLM_BAD_RESPONSE "llm-bad-response" [502] "Bad LLM response"
        "Try again; if it fails again, check that `base_url` is complete, including `/v1`.";
    LLM_TRUNCATED "llm-truncated" [502] "LLM answer broke off"
        "Try again; `partial_answer` is what arrived before the connection broke off, and is incomplete.";

    // Webhooks.
    WEBHOOK_NOT_FOUND "webhook-not-found" [404] "Webhook not found"
        "Check the id of the webhook.";
    TOO_MANY_WEBHOOKS "too-many-webhooks" [409] "Too many webhooks"
        "Delete a webhook first.";
    WEBHOOK_URL_FORBIDDEN "webhook-url-forbidden" [403] "Webhook URL forbidden"
        "Use an address that the egress policy allows.";
    WEBHOOK_UNDECRYPTABLE "webhook-undecryptable" [409] "Webhook secret not decryptable"
        "Rotate the secret of the webhook: PIDQ_APP_SECRET has changed.";
}

/// Returns all codes as a Markdown table: code, status, title and remedy.
pub fn problem_table() -> String {
    let mut text = String::from("| code | status | title | what to do |\n|---|---|---|---|\n");
    for code in ALL {
        let _ = writeln!(text, "| `{}` | {} | {} | {} |", code.name, code.status_list(), code.title, code.remedy);
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::ALL;

    #[test]
    fn every_code_is_kebab_case_and_unique() {
        let mut names = HashSet::new();
        for code in ALL {
            assert!(code.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{code:?}");
            assert!(names.insert(code.name), "{code:?} is there twice");
        }
    }

    #[test]
    fn every_row_has_an_error_status_a_title_and_a_remedy() {
        for code in ALL {
            assert!(!code.statuses.is_empty() && code.statuses.iter().all(|s| (400..600).contains(s)), "{code:?}");
            assert!(!code.title.ends_with('.') && code.title.starts_with(char::is_uppercase), "{code:?}");
            assert!(code.remedy.ends_with('.') && code.remedy.starts_with(char::is_uppercase), "{code:?}");
        }
    }
}
