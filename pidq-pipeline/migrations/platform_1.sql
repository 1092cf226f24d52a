-- Pipelines, documents and the work on them. For SQLite and PostgreSQL alike: times are milliseconds since 1970, flags
-- are 0 and 1, structures are JSON as text, and of secrets there are fingerprints or ciphers only.

-- What is one in an installation: its identity, and the newest licence.
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
  -- Chunks carry the generation that made them; a query reads the active one.
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
  -- The revision that queries find, none until the first one is ready; and what counts when it changes.
  searchable_revision bigint,
  indexed_at bigint,
  attempts bigint not null,
  -- What whoever works on it says: how far it is, what was odd, why it failed.
  progress text not null,
  created_at bigint not null,
  updated_at bigint not null
);
create index documents_of_pipelines on documents (pipeline_id, id);
-- The same bytes are kept once in a classification, and never tell that they are in another.
create unique index documents_by_content on documents (pipeline_id, classification, sha256) where status <> 'deleting';
create unique index documents_by_external_id on documents (pipeline_id, external_id) where status <> 'deleting';

create table contents (
  document_id text not null references documents (id),
  revision bigint not null,
  content bytea not null,
  extracted text,
  pages text,
  title text,
  primary key (document_id, revision)
);

create table chunks (
  id text primary key,
  pipeline_id text not null,
  generation bigint not null,
  classification text not null,
  document_id text not null references documents (id),
  revision bigint not null,
  number bigint not null,
  -- Where it stands in the text: in characters for callers, in bytes for us. A chunk that is made stands nowhere.
  starts bigint,
  ends bigint,
  first_byte bigint,
  last_byte bigint,
  page bigint,
  headings text not null,
  content text not null,
  tags text not null,
  vector bytea
);
create index chunks_of_partitions on chunks (pipeline_id, generation, classification, id);
create index chunks_of_documents on chunks (document_id, revision, generation, number);

-- Counts changes of what queries find under a label, so that every replica sees them.
create table partitions (
  pipeline_id text not null,
  classification text not null,
  changes bigint not null,
  primary key (pipeline_id, classification)
);

-- Work that is to be done: a row lives until it is. Whoever works on it holds it for a while.
create table jobs (
  id text primary key,
  kind text not null,
  pipeline_id text not null,
  document_id text,
  revision bigint,
  attempts bigint not null,
  run_at bigint not null,
  holder text,
  held_until bigint,
  created_at bigint not null
);
create index jobs_by_turn on jobs (run_at);
create unique index jobs_of_documents on jobs (document_id, kind);

create table api_keys (
  id text primary key,
  name text not null,
  fingerprint text not null,
  scopes text not null,
  pipelines text not null,
  created_at bigint not null,
  expires_at bigint
);
