-- What happened and who is told of it; work that takes long; who did what, and how much.

create table counters (
  name text primary key,
  value bigint not null
);
insert into counters (name, value) values ('events', 0);

-- Written in the transaction of the change that they tell of.
create table events (
  id text primary key,
  -- Given when that transaction is over, in an order that all replicas see. Until then nobody is told.
  position bigint unique,
  kind text not null,
  pipeline_id text,
  document_id text,
  classification text,
  -- The label before, where a document got another one.
  previous text,
  details text not null,
  happened_at bigint not null
);
create index events_without_place on events (happened_at, id) where position is null;
create index events_by_age on events (happened_at);

create table webhooks (
  id text primary key,
  url text not null,
  kinds text not null,
  pipelines text not null,
  -- Sealed: it opens for this id and this address only.
  secret text not null,
  status text not null,
  -- Since when nothing arrives, and what was wrong the last time.
  failing_since bigint,
  failure text,
  created_at bigint not null
);

-- What a webhook has not got yet. Whoever sends it holds it for a while.
create table deliveries (
  webhook_id text not null references webhooks (id),
  event_id text not null references events (id),
  attempts bigint not null,
  run_at bigint not null,
  holder text,
  held_until bigint,
  primary key (webhook_id, event_id)
);
create index deliveries_by_turn on deliveries (run_at);
create index deliveries_of_events on deliveries (event_id);

-- Work that somebody asked for and that takes long.
create table operations (
  id text primary key,
  kind text not null,
  pipeline_id text not null,
  status text not null,
  progress text not null,
  failure text,
  -- The generation of chunks that it makes. A number is used once, so that nothing late is ever found.
  generation bigint,
  created_at bigint not null,
  updated_at bigint not null
);
create index operations_of_pipelines on operations (pipeline_id, id);

-- What a pipeline will be when its new index is complete.
create table reindexes (
  pipeline_id text primary key references pipelines (id),
  operation_id text not null references operations (id),
  generation bigint not null,
  embedding_model text not null,
  embedding_dimensions bigint not null,
  text_splitter text not null,
  splitter_parameters text not null
);

-- Documents that are in the new index already, and what of them changes with it. A text that stays is not there.
create table shadows (
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
create index shadows_of_pipelines on shadows (pipeline_id, generation);

-- Who did what. Rows are added, and nothing else.
create table audit (
  id text primary key,
  happened_at bigint not null,
  actor text not null,
  action text not null,
  pipeline_id text,
  resource text not null,
  details text not null,
  request_id text
);

-- How much of everything a pipeline had on a day (UTC, days since 1970).
create table usage (
  pipeline_id text not null,
  day bigint not null,
  queries bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  documents bigint not null,
  bytes bigint not null,
  primary key (pipeline_id, day)
);
