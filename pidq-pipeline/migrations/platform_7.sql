-- What webhooks got and are to get, where an act came from and what came of it, and figures of each classification.

-- The key that made it, if that does not reach everything: it is told what that key may know, as long as there is one.
alter table webhooks add column owner text;
alter table webhooks add column revision bigint not null default 1;
alter table webhooks add column updated_at bigint not null default 0;
-- How often in a row it was not reached, and until when it is left in peace.
alter table webhooks add column failures bigint not null default 0;
alter table webhooks add column rests_until bigint not null default 0;
-- Whoever sends to it holds it for a while, so that events go out one after the other.
alter table webhooks add column holder text;
alter table webhooks add column held_until bigint not null default 0;

drop index deliveries_by_turn;
alter table deliveries drop column holder;
alter table deliveries drop column held_until;
-- The place of its event among all.
alter table deliveries add column position bigint not null default 0;
alter table deliveries add column state text not null default 'waiting';
alter table deliveries add column tried_at bigint;
alter table deliveries add column last_status bigint;
alter table deliveries add column failure text;
create index deliveries_by_turn on deliveries (webhook_id, state, position);

alter table audit add column source text;
alter table audit add column result text not null default 'done';
create index audit_by_age on audit (happened_at);

-- How much of everything there was under a classification on a day (UTC, days since 1970). Without a name: what was
-- counted before classifications were told apart.
create table figures (
  day bigint not null,
  pipeline_id text not null,
  classification text not null,
  documents bigint not null,
  bytes bigint not null,
  chunks bigint not null,
  queries bigint not null,
  failed_queries bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  -- How many of these tokens were not counted by the model, but estimated.
  estimated_tokens bigint not null,
  primary key (day, pipeline_id, classification)
);
insert into figures
  select day, pipeline_id, '', documents, bytes, 0, queries, 0, prompt_tokens, completion_tokens, 0 from usage;
drop table usage;
