-- Vectors of large partitions with an index of pgvector, for PostgreSQL alone: a table a partition, so that nothing of
-- another is in its graph. Rows go with the chunks that they are of.
create extension if not exists vector;

create function pidq_near_open(text, bigint) returns void language plpgsql as $near$
begin
  execute format('create table if not exists %I (
    chunk_id text primary key references chunks (id) on delete cascade,
    document_id text not null, number bigint not null, embedding halfvec(%s) not null)', $1, $2);
end $near$;

-- What is under another label now goes.
create function pidq_near_leave(text, text) returns void language plpgsql as $near$
begin
  execute format('delete from %I n using chunks c where c.id = n.chunk_id and c.classification <> $1', $1) using $2;
end $near$;

create function pidq_near_missing(text, text, bigint, text, text, bigint)
returns table (id text, vector bytea) language plpgsql as $near$
begin
  return query execute format('select c.id, c.vector from chunks c
    where c.pipeline_id = $1 and c.generation = $2 and c.classification = $3 and c.id > $4 and c.vector is not null
    and not exists (select 1 from %I n where n.chunk_id = c.id) order by c.id limit $5', $1) using $2, $3, $4, $5, $6;
end $near$;

create function pidq_near_put(text, text) returns void language plpgsql as $near$
begin
  execute format('insert into %I select c.id, c.document_id, c.number, (x ->> 1)::halfvec
    from json_array_elements($1::json) x join chunks c on c.id = x ->> 0 on conflict (chunk_id) do nothing', $1) using $2;
end $near$;

create function pidq_near_index(text) returns void language plpgsql as $near$
begin
  execute format('create index if not exists %I on %I using hnsw (embedding halfvec_cosine_ops)
    with (m = 16, ef_construction = 200)', $1 || '_hnsw', $1);
end $near$;

create function pidq_near_search(text, text, bigint, bigint)
returns table (document_id text, number bigint) language plpgsql as $near$
begin
  perform set_config('hnsw.ef_search', $4::text, true), set_config('enable_seqscan', 'off', true);
  return query execute format('select n.document_id, n.number from %I n
    order by n.embedding <=> $1::halfvec limit $2', $1) using $2, $3;
end $near$;
