-- LLM connections that are kept, answers that are kept, what was used of a licence, and answers to requests that may come
-- again. For SQLite and PostgreSQL alike, as before; what is sealed opens with the application secret alone.

create table llm_connections (
  id text primary key,
  name text not null unique,
  revision bigint not null,
  provider text not null,
  model text not null,
  base_url text not null,
  context_window bigint,
  header_names text not null,
  -- The key and the values of the headers. They open for this id and this address only.
  sealed text not null,
  created_at bigint not null,
  updated_at bigint not null
);

create table queries (
  id text primary key,
  pipeline_id text not null references pipelines (id) on delete cascade,
  classification text not null,
  -- How many documents it was made of: it is shown while all of them are there, under the same label.
  documents bigint not null,
  answer text not null,
  rating bigint,
  comment text,
  created_at bigint not null
);
create index queries_by_age on queries (created_at);
create index queries_of_pipelines on queries (pipeline_id);

create table query_documents (
  document_id text not null,
  query_id text not null references queries (id) on delete cascade,
  primary key (document_id, query_id)
);
create index documents_of_queries on query_documents (query_id);

-- How much was used on a day since 1970, in all replicas together.
create table usage_of_days (
  day bigint not null,
  kind text not null,
  used bigint not null,
  primary key (day, kind)
);

-- A request with an Idempotency-Key: somebody works on it until `held_until`, or it has an answer.
create table idempotency (
  caller text not null,
  -- The fingerprint of the key.
  name text not null,
  holder text not null,
  held_until bigint not null,
  answer text,
  created_at bigint not null,
  primary key (caller, name)
);
create index idempotency_by_age on idempotency (created_at);
