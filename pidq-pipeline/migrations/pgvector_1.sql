-- pgvector indexes of large partitions, for PostgreSQL only: one table per partition, so that its HNSW graph contains no
-- vectors of other partitions. Rows are deleted with their chunks.
create extension if not exists vector;

create function pidq_vectors_create(text, bigint) returns void language plpgsql as $body$
begin
  execute format('create table if not exists %I (
    chunk_id text primary key references chunks (id) on delete cascade,
    document_id text not null, number bigint not null, embedding halfvec(%s) not null)', $1, $2);
end $body$;

-- Deletes the vectors of chunks that have been reclassified.
create function pidq_vectors_delete_reclassified(text, text) returns void language plpgsql as $body$
begin
  execute format('delete from %I n using chunks c where c.id = n.chunk_id and c.classification <> $1', $1) using $2;
end $body$;

create function pidq_vectors_missing(text, text, bigint, text, text, bigint)
returns table (id text, vector bytea) language plpgsql as $body$
begin
  return query execute format('select c.id, c.vector from chunks c
    where c.pipeline_id = $1 and c.generation = $2 and c.classification = $3 and c.id > $4 and c.vector is not null
    and not exists (select 1 from %I n where n.chunk_id = c.id) order by c.id limit $5', $1) using $2, $3, $4, $5, $6;
end $body$;

create function pidq_vectors_insert(text, text) returns void language plpgsql as $body$
begin
  execute format('insert into %I select c.id, c.document_id, c.number, (x ->> 1)::halfvec
    from json_array_elements($1::json) x join chunks c on c.id = x ->> 0 on conflict (chunk_id) do nothing', $1) using $2;
end $body$;

create function pidq_vectors_create_index(text) returns void language plpgsql as $body$
begin
  execute format('create index if not exists %I on %I using hnsw (embedding halfvec_cosine_ops)
    with (m = 16, ef_construction = 200)', $1 || '_hnsw', $1);
end $body$;

create function pidq_vectors_search(text, text, bigint, bigint)
returns table (document_id text, number bigint) language plpgsql as $body$
begin
  perform set_config('hnsw.ef_search', $4::text, true), set_config('enable_seqscan', 'off', true);
  return query execute format('select n.document_id, n.number from %I n
    order by n.embedding <=> $1::halfvec limit $2', $1) using $2, $3;
end $body$;

-- Drops the tables of partitions that no longer exist or whose pipeline has another generation. The short lock timeout
-- keeps it from blocking readers and writers of chunks; a table that is locked is dropped by a later call. The names are
-- computed exactly as the platform computes them.
create function pidq_vectors_drop_obsolete() returns setof text language plpgsql as $body$
declare obsolete text;
begin
  perform set_config('lock_timeout', '200ms', true);
  for obsolete in select cast(c.relname as text) from pg_class c
    where c.relkind = 'r' and c.relnamespace = cast(current_schema() as regnamespace) and c.relname ~ '^vectors_[0-9a-f]{32}$'
    and not exists (
      select 1 from pipelines p, json_array_elements_text(cast(p.classifications as json)) classification
      where c.relname = 'vectors_' || left(encode(sha256(
        convert_to(p.id, 'UTF8') || '\x00' || convert_to(cast(p.generation as text), 'UTF8') || '\x00' || convert_to(classification, 'UTF8')
      ), 'hex'), 32))
  loop
    execute format('drop table if exists %I', obsolete);
    return next obsolete;
  end loop;
end $body$;
