//! The settings of the platform, one row each. Those of the floor below come with them.

use pidq_http::{Kind, Setting, settings};

/// What an administrator decides about the document platform.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_LISTEN", "config.listen", Kind::List, Some("127.0.0.1:8000"), false, "Addresses to listen on.";
    "PIDQ_DATA_DIR", "config.data", Kind::Path, Some("data"), false, "Where the database is kept if no other is named.";
    "PIDQ_DATABASE_URL", "config.database.url", Kind::Text, None, true, "`postgres://…` or `sqlite:FILE`: all that survives; else `pipeline.db` in the data directory.";
    "PIDQ_REDIS_URL", "config.redis.url", Kind::Text, None, true, "`redis://…` or `rediss://…`: where processes count rates together and remember answers of searches, sealed with `PIDQ_APP_SECRET`; else each for itself.";
    "PIDQ_CACHE_MEMORY", "config.cacheMemory", Kind::Size, Some("64MiB"), false, "How much of what was found lately a process remembers; 0 remembers nothing.";
    "PIDQ_REDIS_TIME", "config.redis.time", Kind::Duration, Some("50ms"), false, "How long a request waits for Redis. One that takes longer is not asked until it answers again.";
    "PIDQ_NATS_URL", "config.nats.url", Kind::Text, None, true, "`nats://…` or `tls://…`: what wakes workers of other processes and carries events; else all is in this process.";
    "PIDQ_APP_MASTER_KEY", "secrets.masterKey", Kind::Text, None, true, "The name of the first caller, a UUID. Without it everybody may do everything, on loopback only.";
    "PIDQ_APP_MASTER_SECRET", "secrets.masterSecret", Kind::Text, None, true, "The secret of the first caller, 32 characters or more.";
    "PIDQ_APP_SECRET", "secrets.appSecret", Kind::Text, None, true, "What cursors are signed and kept secrets sealed with, 32 characters or more, the same in all replicas. Without it cursors end with the process, and no keys of models are kept.";
    "PIDQ_APP_LICENSE", "secrets.license", Kind::Text, None, true, "The licence of this installation.";
    "PIDQ_LICENSE_MODE", "config.license.mode", Kind::OneOf(&["off", "report", "enforce"]), Some("report"), false, "Whether a licence is looked at, and whether anything is refused without one.";
    "PIDQ_LICENSE_PUBLIC_KEYS", "config.license.publicKeys", Kind::List, None, false, "Keys of those who may give licences: `NAME:KEY`, as `pidq pipeline license key` prints.";
    "PIDQ_WORKERS", "config.workers", Kind::Number, Some("2"), false, "Documents that this process reads at once; 0 leaves them to workers apart.";
    "PIDQ_WORKER_HOLD", "config.workerHold", Kind::Duration, Some("30s"), false, "How long a worker holds a document without a sign of life, before another one takes it.";
    "PIDQ_READER", "config.reader", Kind::Path, None, false, "The program that reads documents in a process of its own: the `pidq` that runs, unless another is named.";
    "PIDQ_MODELS", "config.models", Kind::Path, None, false, "A folder with a folder for each embedding model.";
    "PIDQ_DATAMARKING", "config.datamarking", Kind::Switch, Some("off"), false, "Whether every word of a passage is marked for the model, so that orders in documents are harder to take for ours; costs tokens.";
    "PIDQ_HNSW_FROM", "config.hnswFrom", Kind::Number, Some("1000000"), false, "Chunks of a classification from which on vectors are searched by an index of pgvector, where PostgreSQL has that.";
    "PIDQ_EVENTS_KEEP", "config.events.keep", Kind::Duration, Some("7d"), false, "How long events are kept for listeners that come back.";
    "PIDQ_EVENTS_INCLUDE_NAMES", "config.events.includeNames", Kind::Switch, Some("off"), false, "Whether events tell the names of files.";
    "PIDQ_EVENT_STREAMS", "config.limits.eventStreams", Kind::Number, Some("256"), false, "How many may listen to events of this process at once.";
    "PIDQ_AUDIT_KEEP", "config.auditKept", Kind::Duration, Some("365d"), false, "How long is known who did what; `0s` for ever.";
    "PIDQ_WEBHOOK_TIME", "config.webhooks.time", Kind::Duration, Some("15s"), false, "How long a call of a webhook may take.";
    "PIDQ_WEBHOOK_PATIENCE", "config.webhooks.patience", Kind::Duration, Some("5d"), false, "How long a webhook may not be reached before it is switched off.";
    "PIDQ_ANSWER_STREAMS", "config.limits.answerStreams", Kind::Number, Some("256"), false, "How many answers this process may send as events at once.";
    "PIDQ_UPLOAD_SIZE", "config.limits.upload", Kind::Size, Some("100MiB"), false, "The largest document.";
    "PIDQ_UPLOAD_MEMORY", "config.limits.uploadMemory", Kind::Size, Some("512MiB"), false, "What documents that are being sent may take of memory together; beyond it the next one is told to come back.";
    "PIDQ_UPLOAD_DISK", "config.limits.uploadDisk", Kind::Size, Some("8GiB"), false, "What those of them that are larger than 256 KiB may take of the disk together until they are stored.";
    "PIDQ_UPLOAD_DIR", "config.uploads", Kind::Path, None, false, "Where they are meanwhile, in files that have no name; else `uploads` in the data directory.";
    "PIDQ_INDEX_MEMORY", "config.limits.indexMemory", Kind::Size, Some("1GiB"), false, "What the indexes that are open may take together; the one that was not asked for the longest time is closed.";
    "PIDQ_SNAPSHOT_DISK", "config.limits.snapshotDisk", Kind::Size, Some("4GiB"), false, "What this process may keep of open indexes on the disk, so that they are read and not built after a start; 0 keeps none. The files open only with keys in the database, which go with whatever is deleted.";
    "PIDQ_SNAPSHOT_DIR", "config.snapshots", Kind::Path, None, false, "Where these files are; else `snapshots` in the data directory. They may be lost at any time.";
    "PIDQ_UPLOAD_RATE", "config.limits.uploadRate", Kind::Number, Some("120"), false, "Documents that a caller may send in a minute; 0 turns it off.";
    "PIDQ_QUERY_RATE", "config.limits.queryRate", Kind::Number, Some("60"), false, "Questions that a caller may ask in a minute; 0 turns it off.";
    "PIDQ_QUERIES_KEPT", "config.queriesKept", Kind::Duration, Some("30d"), false, "How long answers are kept for `GET /api/queries/{id}`; `0s` keeps none.";
    "PIDQ_MAX_PIPELINES", "config.limits.pipelines", Kind::Number, Some("10000"), false, "How many pipelines there may be.";
];

/// All tables of settings that the platform reads, that of the floor first.
pub const TABLES: &[&[Setting]] = &[
    pidq_http::COMMON,
    SETTINGS,
    crate::limits::SETTINGS,
    crate::egress::SETTINGS,
    crate::graphs::SETTINGS,
    crate::models::SETTINGS,
    crate::rerank::SETTINGS,
    crate::vouched::SETTINGS,
];
