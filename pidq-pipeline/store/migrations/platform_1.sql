-- Schema of the document platform, for SQLite and PostgreSQL alike: times are milliseconds since 1970, flags are 0 and 1,
-- structured values are JSON text. Secrets are stored as fingerprints or as ciphertext only.

-- Values that exist once per installation: its id, its license, the latest clock reading.
create table installation (
  name text primary key,
  value text not null
);

create table pipelines (
  id text primary key,
  name text not null unique,
  revision bigint not null,
  embedding_model text not null,
  embedding_dimensions bigint not null,
  text_splitter text not null,
  splitter_parameters text not null,
  classifications text not null,
  options text not null,
  status text not null,
  -- Each chunk carries the generation of the index that it belongs to; searches read the active generation.
  generation bigint not null,
  created_at bigint not null,
  updated_at bigint not null
);

create table documents (
  id text primary key,
  pipeline_id text not null references pipelines (id),
  classification text not null,
  external_id text,
  filename text not null,
  content_type text not null,
  size bigint not null,
  sha256 text not null,
  metadata text not null,
  revision bigint not null,
  status text not null,
  -- The revision that searches find; null until the first one is ready.
  searchable_revision bigint,
  -- Changes whenever the indexed state of the document does.
  indexed_at bigint,
  attempts bigint not null,
  -- Progress, warnings and failure of the last ingestion.
  progress text not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index documents_by_pipeline on documents (pipeline_id, id);
-- Content and external ids are unique per classification only: a duplicate in another classification is not revealed.
create unique index documents_by_content on documents (pipeline_id, classification, sha256) where status <> 'deleting';
create unique index documents_by_external_id on documents (pipeline_id, classification, external_id)
  where status <> 'deleting';

create table document_contents (
  document_id text not null references documents (id),
  revision bigint not null,
  -- Empty if the content is stored in blocks.
  content bytea not null,
  extracted text,
  pages text,
  title text,
  primary key (document_id, revision)
);

-- Large contents, in blocks of a fixed size, so that storing one does not need all of it in memory.
create table content_blocks (
  document_id text not null,
  revision bigint not null,
  number bigint not null,
  block bytea not null,
  primary key (document_id, revision, number),
  foreign key (document_id, revision) references document_contents (document_id, revision) on delete cascade
);

create table chunks (
  id text primary key,
  pipeline_id text not null,
  generation bigint not null,
  classification text not null,
  document_id text not null references documents (id),
  revision bigint not null,
  number bigint not null,
  -- Range in the extracted text, in characters and in bytes; null for a chunk that the splitter composed.
  start_char bigint,
  end_char bigint,
  start_byte bigint,
  end_byte bigint,
  page bigint,
  headings text not null,
  content text not null,
  tags text not null,
  vector bytea,
  -- Text between the previous chunk and this one where they do not touch: adjacent chunks are cited verbatim.
  gap text
);
-- A partition is loaded document by document, in text order.
create index chunks_by_partition on chunks (pipeline_id, generation, classification, document_id, number);
create index chunks_by_document on chunks (document_id, revision, generation, number);

-- The searchable documents of a classification. The change count lets every replica detect changes.
create table partitions (
  pipeline_id text not null,
  classification text not null,
  change_count bigint not null,
  -- Key of the snapshot files. It is deleted when searchable content is removed, which makes older snapshots undecryptable.
  snapshot_key bytea,
  primary key (pipeline_id, classification)
);

-- Job queue. A row exists until the job is done; a worker holds a lease while it runs the job.
create table jobs (
  id text primary key,
  kind text not null,
  pipeline_id text not null,
  document_id text,
  revision bigint,
  attempts bigint not null,
  run_at bigint not null,
  lease_owner text,
  lease_until bigint,
  created_at bigint not null
);
create index jobs_by_run_at on jobs (run_at);
create unique index jobs_by_document on jobs (document_id, kind);

create table api_keys (
  id text primary key,
  name text not null,
  fingerprint text not null,
  scopes text not null,
  pipelines text not null,
  created_at bigint not null,
  expires_at bigint
);

create table llm_connections (
  id text primary key,
  name text not null unique,
  revision bigint not null,
  provider text not null,
  model text not null,
  base_url text not null,
  context_window bigint,
  header_names text not null,
  -- API key and header values, encrypted for this id and this address.
  encrypted_secrets text not null,
  created_at bigint not null,
  updated_at bigint not null
);

create table answers (
  id text primary key,
  pipeline_id text not null references pipelines (id) on delete cascade,
  classification text not null,
  -- Number of source documents. The answer is served only while all of them exist under the same classification.
  document_count bigint not null,
  answer text not null,
  rating bigint,
  comment text,
  created_at bigint not null
);
create index answers_by_age on answers (created_at);
create index answers_by_pipeline on answers (pipeline_id);

create table answer_documents (
  document_id text not null,
  answer_id text not null references answers (id) on delete cascade,
  primary key (document_id, answer_id)
);
create index answer_documents_by_answer on answer_documents (answer_id);

-- Counters per day since 1970, shared by all replicas; day 0 holds the locks of count limits.
create table daily_counters (
  day bigint not null,
  kind text not null,
  used bigint not null,
  primary key (day, kind)
);

-- Requests with an Idempotency-Key: in progress until `lease_until`, or with a response.
create table idempotency_keys (
  caller text not null,
  fingerprint text not null,
  lease_owner text not null,
  lease_until bigint not null,
  response text,
  created_at bigint not null,
  primary key (caller, fingerprint)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table counters (
  name text primary key,
  value bigint not null
);
insert into counters (name, value) values ('events', 0);

-- Transactional outbox: an event is inserted in the transaction of the change that it reports.
create table events (
  id text primary key,
  -- Assigned after that transaction has committed, in an order that all replicas share; null until then.
  position bigint unique,
  event_type text not null,
  pipeline_id text,
  document_id text,
  classification text,
  -- The classification before a reclassification.
  previous_classification text,
  details text not null,
  happened_at bigint not null
);
create index events_without_position on events (happened_at, id) where position is null;
create index events_by_age on events (happened_at);

create table webhooks (
  id text primary key,
  url text not null,
  event_types text not null,
  pipelines text not null,
  -- Signing keys, encrypted for this id and this address.
  encrypted_secret text not null,
  status text not null,
  -- The API key that created it, if that key is restricted; its access scope limits the events that are delivered.
  owner text,
  revision bigint not null default 1,
  -- Consecutive failures, the time of the first, the last error, and the end of the pause after it.
  failures bigint not null default 0,
  failing_since bigint,
  failure text,
  paused_until bigint not null default 0,
  -- One dispatcher holds the lease, so that events are delivered in order.
  lease_owner text,
  lease_until bigint not null default 0,
  created_at bigint not null,
  updated_at bigint not null
);

create table deliveries (
  webhook_id text not null references webhooks (id),
  event_id text not null references events (id),
  -- Position of the event.
  position bigint not null,
  state text not null default 'waiting',
  attempts bigint not null,
  run_at bigint not null,
  attempted_at bigint,
  last_status bigint,
  failure text,
  primary key (webhook_id, event_id)
);
create index deliveries_by_position on deliveries (webhook_id, state, position);
create index deliveries_by_event on deliveries (event_id);

-- Long-running operations that a caller requested.
create table operations (
  id text primary key,
  kind text not null,
  pipeline_id text not null,
  status text not null,
  progress text not null,
  failure text,
  -- The generation of chunks that it builds. A generation number is never reused.
  generation bigint,
  created_at bigint not null,
  updated_at bigint not null
);
create index operations_by_pipeline on operations (pipeline_id, id);

-- Target configuration of a pipeline whose new index is being built.
create table reindexes (
  pipeline_id text primary key references pipelines (id),
  operation_id text not null references operations (id),
  generation bigint not null,
  embedding_model text not null,
  embedding_dimensions bigint not null,
  text_splitter text not null,
  splitter_parameters text not null
);

-- Documents of the new index, and the values that replace theirs at the swap. Unchanged text is null.
create table reindex_documents (
  document_id text not null references documents (id),
  pipeline_id text not null,
  generation bigint not null,
  revision bigint not null,
  content_type text not null,
  extracted text,
  pages text,
  title text,
  progress text not null,
  primary key (document_id, generation)
);
create index reindex_documents_by_pipeline on reindex_documents (pipeline_id, generation);

-- Audit log: append-only until retention ends.
create table audit_log (
  id text primary key,
  happened_at bigint not null,
  actor text not null,
  action text not null,
  pipeline_id text,
  resource text not null,
  details text not null,
  request_id text,
  source text,
  result text not null
);
create index audit_log_by_age on audit_log (happened_at);

-- Usage per day (UTC, days since 1970), pipeline and classification.
create table daily_usage (
  day bigint not null,
  pipeline_id text not null,
  classification text not null,
  documents bigint not null,
  bytes bigint not null,
  chunks bigint not null,
  questions bigint not null,
  failed_questions bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  -- Tokens that were estimated because the model did not report them.
  estimated_tokens bigint not null,
  primary key (day, pipeline_id, classification)
);

-- Embedding models that are unavailable: jobs that need one wait, and its pipelines are degraded.
create table model_outages (
  model text primary key,
  since bigint not null,
  detail text not null
);
