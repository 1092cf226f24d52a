-- Embedding models that do not answer: while one is here, what needs it waits, and its pipelines are degraded.
create table outages (
  model text primary key,
  since bigint not null,
  detail text not null
);
