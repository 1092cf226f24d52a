//! Table of the platform's settings, one row each, and the list of all settings tables that the platform reads.

use pidq_http::{Setting, ValueKind, settings};

/// Settings of the document platform.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_LISTEN", "config.listen", ValueKind::List, Some("127.0.0.1:8000"), false, "Addresses to listen on.";
    "PIDQ_DATA_DIR", "config.dataDir", ValueKind::Path, Some("data"), false, "Data directory: the SQLite database, spooled uploads and index snapshots.";
    "PIDQ_DATABASE_URL", "config.database.url", ValueKind::Text, None, true, "Database for all persistent data: `postgres://…` or `sqlite:FILE`. Default: `pipeline.db` in the data directory.";
    "PIDQ_REDIS_URL", "config.redis.url", ValueKind::Text, None, true, "Redis for rate limits and search caches shared by all replicas: `redis://…` or `rediss://…`. Cached values are encrypted with `PIDQ_APP_SECRET`. Without Redis, each process has its own limits and caches.";
    "PIDQ_CACHE_MEMORY", "config.cacheMemory", ValueKind::Size, Some("64MiB"), false, "Memory of the in-process search cache; 0 turns it off.";
    "PIDQ_REDIS_TIMEOUT", "config.redis.timeout", ValueKind::Duration, Some("50ms"), false, "Timeout of a Redis call. After a timeout, Redis is bypassed until it responds again.";
    "PIDQ_NATS_URL", "config.nats.url", ValueKind::Text, None, true, "NATS for waking workers of other processes and for publishing events: `nats://…` or `tls://…`. Without it, messages stay within this process.";
    "PIDQ_APP_MASTER_KEY", "secrets.masterKey", ValueKind::Text, None, true, "Id of the root client, a UUID. Without it, requests need no authentication and the server listens on loopback only.";
    "PIDQ_APP_MASTER_SECRET", "secrets.masterSecret", ValueKind::Text, None, true, "Secret of the root client, at least 32 characters.";
    "PIDQ_APP_SECRET", "secrets.appSecret", ValueKind::Text, None, true, "Secret that signs cursors and encrypts stored secrets: at least 32 characters, the same in all replicas. Without it, cursors are valid until the process exits and LLM keys cannot be stored.";
    "PIDQ_APP_LICENSE", "secrets.license", ValueKind::Text, None, true, "License of this installation.";
    "PIDQ_LICENSE_MODE", "config.license.mode", ValueKind::OneOf(&["off", "report", "enforce"]), Some("report"), false, "License check: `off` skips it, `report` only reports its result, `enforce` rejects requests without a valid license.";
    "PIDQ_LICENSE_PUBLIC_KEYS", "config.license.publicKeys", ValueKind::List, None, false, "Public keys of trusted license issuers: `NAME:KEY`, as printed by `pidq pipeline license key`.";
    "PIDQ_WORKERS", "config.workers", ValueKind::Number, Some("2"), false, "Number of documents that this process ingests concurrently; 0 leaves all jobs to separate workers.";
    "PIDQ_JOB_LEASE_TTL", "config.jobLeaseTtl", ValueKind::Duration, Some("30s"), false, "Duration of a job lease. If a worker does not renew the lease of a job in time, another worker takes the job over.";
    "PIDQ_EXTRACTOR", "config.extractor", ValueKind::Path, None, false, "Program that extracts documents in a child process. Default: the running `pidq`.";
    "PIDQ_MODEL_DIR", "config.modelDir", ValueKind::Path, None, false, "Directory of the embedding models, one subdirectory each.";
    "PIDQ_DATAMARKING", "config.datamarking", ValueKind::Switch, Some("off"), false, "Marks every word of a passage in prompts (datamarking), which mitigates prompt injection by documents; costs tokens.";
    "PIDQ_ANN_THRESHOLD", "config.annThreshold", ValueKind::Number, Some("1000000"), false, "Number of chunks of a classification from which dense search uses a pgvector index (ANN), if PostgreSQL has the extension; below it, search is exact.";
    "PIDQ_EVENTS_RETENTION", "config.events.retention", ValueKind::Duration, Some("7d"), false, "Retention of events, for clients that reconnect.";
    "PIDQ_EVENTS_INCLUDE_NAMES", "config.events.includeNames", ValueKind::Switch, Some("off"), false, "Includes file names in events.";
    "PIDQ_EVENT_STREAM_LIMIT", "config.limits.eventStreams", ValueKind::Number, Some("256"), false, "Maximum number of open event streams in this process.";
    "PIDQ_AUDIT_RETENTION", "config.auditRetention", ValueKind::Duration, Some("365d"), false, "Retention of audit entries; `0s` keeps them forever.";
    "PIDQ_WEBHOOK_TIMEOUT", "config.webhooks.timeout", ValueKind::Duration, Some("15s"), false, "Timeout of a webhook call.";
    "PIDQ_WEBHOOK_DISABLE_AFTER", "config.webhooks.disableAfter", ValueKind::Duration, Some("5d"), false, "Time of continuous failure after which a webhook is disabled.";
    "PIDQ_ANSWER_STREAM_LIMIT", "config.limits.answerStreams", ValueKind::Number, Some("256"), false, "Maximum number of answers that this process streams at the same time.";
    "PIDQ_UPLOAD_SIZE", "config.limits.uploadSize", ValueKind::Size, Some("100MiB"), false, "Maximum size of a document.";
    "PIDQ_UPLOAD_MEMORY", "config.limits.uploadMemory", ValueKind::Size, Some("512MiB"), false, "Memory for all uploads in progress; beyond it, further uploads are rejected with 503.";
    "PIDQ_UPLOAD_SPOOL_SIZE", "config.limits.uploadSpoolSize", ValueKind::Size, Some("8GiB"), false, "Disk space for all spooled uploads (those larger than 256 KiB) until they are stored.";
    "PIDQ_UPLOAD_DIR", "config.uploadDir", ValueKind::Path, None, false, "Directory for spooled uploads (unlinked temporary files). Default: `uploads` in the data directory.";
    "PIDQ_INDEX_MEMORY", "config.limits.indexMemory", ValueKind::Size, Some("1GiB"), false, "Memory for all open indexes; the least recently used one is closed first.";
    "PIDQ_SNAPSHOT_TOTAL_SIZE", "config.limits.snapshotTotalSize", ValueKind::Size, Some("4GiB"), false, "Disk space for index snapshots, which are loaded at startup instead of rebuilding the indexes; 0 turns them off. Snapshots are encrypted with keys in the database, which are deleted together with their data.";
    "PIDQ_SNAPSHOT_DIR", "config.snapshotDir", ValueKind::Path, None, false, "Directory for index snapshots. Default: `snapshots` in the data directory. The files may be deleted at any time.";
    "PIDQ_UPLOAD_RATE_LIMIT", "config.limits.uploadRate", ValueKind::Number, Some("120"), false, "Rate limit: uploads per minute and caller; 0 turns it off.";
    "PIDQ_ASK_RATE_LIMIT", "config.limits.askRate", ValueKind::Number, Some("60"), false, "Rate limit: searches and questions per minute and caller; 0 turns it off.";
    "PIDQ_ANSWER_RETENTION", "config.answerRetention", ValueKind::Duration, Some("30d"), false, "Retention of answers for `GET /api/queries/{id}`; `0s` stores none.";
    "PIDQ_PIPELINE_LIMIT", "config.limits.pipelines", ValueKind::Number, Some("10000"), false, "Maximum number of pipelines.";
];

/// All tables of settings that the platform reads; the common settings come first.
pub const TABLES: &[&[Setting]] = &[
    pidq_http::COMMON,
    SETTINGS,
    crate::api::handlers::limits::SETTINGS,
    crate::net::egress::SETTINGS,
    crate::generation::graph_client::SETTINGS,
    crate::embedding_registry::SETTINGS,
    crate::retrieval::reranker::SETTINGS,
    crate::net::tls_roots::SETTINGS,
];
