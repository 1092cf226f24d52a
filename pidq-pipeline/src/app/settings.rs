//! Table of the platform's settings, one row each, and the list of all settings tables that the platform reads.

use std::path::PathBuf;
use std::time::Duration;

use pidq_http::{ADMIN_LISTEN, DataDir, LISTEN, MemorySize, Secret, SettingTable, Size, settings};

use super::setting_types::{LicenseKeys, MasterKey, StrongSecret};
use crate::generation::rag::RequiredSupport;
use crate::platform::licensing::Mode;

settings! {
    /// Settings of the document platform.
    pub SETTINGS {
        pub(crate) DATA_DIR: DataDir = ("PIDQ_DATA_DIR", "config.dataDir", "Data directory: the SQLite database, spooled uploads and index snapshots.") or "data";
        pub(crate) DATABASE_URL: Option<Secret> = ("PIDQ_DATABASE_URL", "config.database.url", "Database for all persistent data: `postgres://…` or `sqlite:FILE`. Default: `pipeline.db` in the data directory.");
        pub(crate) REDIS_URL: Option<Secret> = ("PIDQ_REDIS_URL", "config.redis.url", "Redis for rate limits and search caches shared by all replicas: `redis://…` or `rediss://…`. Cached values are encrypted with `PIDQ_APP_SECRET`. Without Redis, each process has its own limits and caches.");
        pub(crate) CACHE_MEMORY: MemorySize = ("PIDQ_CACHE_MEMORY", "config.cacheMemory", "Memory of the in-process search cache; 0 turns it off.") or "64MiB";
        pub(crate) REDIS_TIMEOUT: Duration = ("PIDQ_REDIS_TIMEOUT", "config.redis.timeout", "Timeout of a Redis call. After a timeout, Redis is bypassed until it responds again.") or "50ms";
        pub(crate) NATS_URL: Option<Secret> = ("PIDQ_NATS_URL", "config.nats.url", "NATS for waking workers of other processes and for publishing events: `nats://…` or `tls://…`. Without it, messages stay within this process.");
        pub(crate) APP_MASTER_KEY: Option<MasterKey> = ("PIDQ_APP_MASTER_KEY", "secrets.masterKey", "Id of the root client, a UUID. Without it, requests need no authentication and the server listens on loopback only.");
        pub(crate) APP_MASTER_SECRET: Option<StrongSecret> = ("PIDQ_APP_MASTER_SECRET", "secrets.masterSecret", "Secret of the root client, at least 32 characters.");
        pub(crate) APP_SECRET: Option<StrongSecret> = ("PIDQ_APP_SECRET", "secrets.appSecret", "Secret that signs cursors and encrypts stored secrets: at least 32 characters, the same in all replicas. Without it, cursors are valid until the process exits and LLM keys cannot be stored.");
        pub(crate) APP_LICENSE: Option<Secret> = ("PIDQ_APP_LICENSE", "secrets.license", "License of this installation.");
        pub(crate) LICENSE_MODE: Mode = ("PIDQ_LICENSE_MODE", "config.license.mode", "License check: `off` skips it, `report` only reports its result, `enforce` rejects requests without a valid license.") or "report";
        pub(crate) LICENSE_PUBLIC_KEYS: LicenseKeys = ("PIDQ_LICENSE_PUBLIC_KEYS", "config.license.publicKeys", "Public keys of trusted license issuers: `NAME:KEY`, as printed by `pidq pipeline license key`.");
        pub(crate) WORKERS: usize = ("PIDQ_WORKERS", "config.workers", "Number of documents that this process ingests concurrently; 0 leaves all jobs to separate workers.") or "2";
        pub(crate) JOB_LEASE_TTL: Duration = ("PIDQ_JOB_LEASE_TTL", "config.jobLeaseTtl", "Duration of a job lease. If a worker does not renew the lease of a job in time, another worker takes the job over.") or "30s";
        pub(crate) EXTRACTOR: Option<PathBuf> = ("PIDQ_EXTRACTOR", "config.extractor", "Program that extracts documents in a child process. Default: `pidq-extract` next to the running program if it is of the same build, else the running program.");
        pub(crate) MODEL_DIR: Option<PathBuf> = ("PIDQ_MODEL_DIR", "config.modelDir", "Directory of the embedding models, one subdirectory each.");
        pub(crate) DATAMARKING: bool = ("PIDQ_DATAMARKING", "config.datamarking", "Marks every word of a passage in prompts (datamarking), which mitigates prompt injection by documents; costs tokens.") or "off";
        pub(crate) ANN_THRESHOLD: usize = ("PIDQ_ANN_THRESHOLD", "config.annThreshold", "Number of chunks of a classification from which dense search uses a pgvector index (ANN), if PostgreSQL has the extension; below it, search is exact.") or "1000000";
        pub(crate) EVENTS_RETENTION: Duration = ("PIDQ_EVENTS_RETENTION", "config.events.retention", "Retention of events, for clients that reconnect.") or "7d";
        pub(crate) EVENTS_INCLUDE_NAMES: bool = ("PIDQ_EVENTS_INCLUDE_NAMES", "config.events.includeNames", "Includes file names in events.") or "off";
        pub(crate) EVENT_STREAM_LIMIT: usize = ("PIDQ_EVENT_STREAM_LIMIT", "config.limits.eventStreams", "Maximum number of open event streams in this process.") or "256";
        pub(crate) AUDIT_RETENTION: Duration = ("PIDQ_AUDIT_RETENTION", "config.auditRetention", "Retention of audit entries; `0s` keeps them forever.") or "365d";
        pub(crate) WEBHOOK_TIMEOUT: Duration = ("PIDQ_WEBHOOK_TIMEOUT", "config.webhooks.timeout", "Timeout of a webhook call.") or "15s";
        pub(crate) WEBHOOK_DISABLE_AFTER: Duration = ("PIDQ_WEBHOOK_DISABLE_AFTER", "config.webhooks.disableAfter", "Time of continuous failure after which a webhook is disabled.") or "5d";
        pub(crate) ANSWER_STREAM_LIMIT: usize = ("PIDQ_ANSWER_STREAM_LIMIT", "config.limits.answerStreams", "Maximum number of answers that this process streams at the same time.") or "256";
        pub(crate) UPLOAD_MEMORY: Size = ("PIDQ_UPLOAD_MEMORY", "config.limits.uploadMemory", "Memory for all uploads in progress; beyond it, further uploads are rejected with 503.") or "512MiB";
        pub(crate) UPLOAD_SPOOL_SIZE: Size = ("PIDQ_UPLOAD_SPOOL_SIZE", "config.limits.uploadSpoolSize", "Disk space for all spooled uploads (those larger than 256 KiB) until they are stored.") or "8GiB";
        pub(crate) UPLOAD_DIR: Option<PathBuf> = ("PIDQ_UPLOAD_DIR", "config.uploadDir", "Directory for spooled uploads (unlinked temporary files). Default: `uploads` in the data directory.");
        pub(crate) INDEX_MEMORY: MemorySize = ("PIDQ_INDEX_MEMORY", "config.limits.indexMemory", "Memory for all open indexes; the least recently used one is closed first.") or "1GiB";
        pub(crate) SNAPSHOT_TOTAL_SIZE: Size = ("PIDQ_SNAPSHOT_TOTAL_SIZE", "config.limits.snapshotTotalSize", "Disk space for index snapshots, which are loaded at startup instead of rebuilding the indexes; 0 turns them off. Snapshots are encrypted with keys in the database, which are deleted together with their data.") or "4GiB";
        pub(crate) SNAPSHOT_DIR: Option<PathBuf> = ("PIDQ_SNAPSHOT_DIR", "config.snapshotDir", "Directory for index snapshots. Default: `snapshots` in the data directory. The files may be deleted at any time.");
        pub(crate) ANSWER_RETENTION: Duration = ("PIDQ_ANSWER_RETENTION", "config.answerRetention", "Retention of answers for `GET /api/queries/{id}`; `0s` stores none.") or "30d";
        pub(crate) ANSWER_REQUIRES: RequiredSupport = ("PIDQ_ANSWER_REQUIRES", "config.answerRequires", "What an answer of a model must have to count as answered: `supported` (the cited passages contain the values, tags and names of every sentence), `cited` (of at least one sentence with a citation) or `nothing`. Otherwise, `answered` is false and `reason` says why.") or "cited";
        pub(crate) PIPELINE_LIMIT: u64 = ("PIDQ_PIPELINE_LIMIT", "config.limits.pipelines", "Maximum number of pipelines.") or "10000";
    }
}

/// The address, with the default of the platform.
const LISTEN_TABLE: SettingTable = &[&LISTEN.with_default("127.0.0.1:8000")];

/// Settings of a worker, after [`TABLES`]: it has no health endpoints by default, so that several workers may run on one
/// machine.
pub const WORKER_TABLES: &[SettingTable] = &[&[&ADMIN_LISTEN.with_default("")]];

/// All tables of settings that the platform reads; the common settings come first.
pub const TABLES: &[SettingTable] = &[
    pidq_http::COMMON,
    LISTEN_TABLE,
    SETTINGS,
    crate::platform::rate_limit::SETTINGS,
    crate::platform::programs::SETTINGS,
    crate::api::handlers::limits::SETTINGS,
    crate::net::egress::SETTINGS,
    crate::generation::graph_client::SETTINGS,
    crate::embedding_registry::SETTINGS,
    crate::retrieval::reranker::SETTINGS,
    crate::net::tls_roots::SETTINGS,
];
