"""Tables and statements of the platform that are not bound to one pipeline, with the reasons."""

# Tables that grow with documents: all rows of a pipeline are on one node.
PARTITIONED = [
    *("documents", "document_contents", "content_blocks", "page_words", "chunks", "partitions", "answers", "answer_documents"),
    *("reindexes", "reindex_documents", "daily_usage"),
]

# Tables that every node has, or only the first: they are small, or queues that all processes read in order.
REFERENCE = {
    "installation": "a few values of the installation",
    "pipelines": "one row a pipeline; names are unique among all of them",
    "operations": "one row a reindex, read by its own id",
    "api_keys": "one row a key",
    "account_limits": "one row a limited account",
    "llm_connections": "one row a connection",
    "webhooks": "one row a webhook",
    "deliveries": "events on their way to webhooks, in the order of their positions",
    "events": "one order of all events, for a time; its positions are given by one counter",
    "counters": "counters of the installation",
    "daily_counters": "counters of the installation",
    "jobs": "a queue: a worker takes the first one that is due, of any pipeline",
    "idempotency_keys": "by caller, for a day",
    "audit_log": "one order of all actions",
    "model_outages": "one row a model",
}

# Partitioned tables whose primary key does not contain the key yet. A table that is distributed needs it there: (pipeline_id, id).
KEY_NOT_IN_PRIMARY_KEY = [
    *("documents", "document_contents", "content_blocks", "chunks", "answers", "answer_documents", "reindex_documents"),
]

# Statements that touch several partitions, as `file.CONSTANT`, and why.
EXCEPTIONS = [
    (
        ["answers.PURGE", "attachments.DIVERGED", "attachments.WITHOUT_MAIL", "count_limits.COUNT_DOCUMENTS", "partitions.SNAPSHOT_KEYS", "pipelines.COUNT_BY_STATUS"]
        + ["model_outages.LIST", "model_outages.WAKE_JOBS"],
        "of all pipelines by intent: maintenance, totals, and what waits for a model; every node does its part",
    ),
    (
        ["answers.BY_ID", "answers.RATE"],
        "the API names an answer by its id alone: `GET /api/queries/{query_id}`. Needed: an id that tells the pipeline",
    ),
    (
        ["contents.CONTENT", "contents.INLINE_CONTENT", "contents.ONE_BLOCK", "deletion.DELETE_CONTENTS", "documents.DELETE_SUPERSEDED"]
        + ["documents.EXTRACTED", "documents.PAGES", "page_words.PAGES", "publishing.DELETE_OLD_CONTENTS", "publishing.SET_EXTRACTED", "partitions.ONE_SEARCHABLE"]
        + ["partitions.SEARCHABLE", "reindexes.APPLY_TEXTS", "reindexes.SAME_TEXT", "answers.DELETE_BY_DOCUMENT"],
        "`pipeline_id` of contents and sources is new and empty in older rows. Needed: a release that fills it (platform_3), then `and "
        "pipeline_id = $n`",
    ),
    (
        ["deletion.DELETE_CHUNKS", "documents.RECLASSIFY_CHUNKS", "publishing.DELETE_CHUNKS", "partitions.CHUNK_RANGE", "partitions.CHUNKS"]
        + ["reindexes.DELETE_CHUNKS", "reindexes.SWEEP"],
        "chunks are found by document, and the index for that has no pipeline: SQLite, which has no statistics here, would read all chunks of "
        "the pipeline instead. Needed: an index (pipeline_id, document_id, generation, revision, number) instead of `chunks_by_document`",
    ),
    (
        ["deletion.DELETE_REINDEX_DOCUMENTS", "reindexes.UPSERT_DOCUMENT"],
        "the primary key is (document_id, generation). Needed: (pipeline_id, document_id, generation)",
    ),
]
