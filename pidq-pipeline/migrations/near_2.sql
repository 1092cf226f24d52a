-- Tables of partitions that are gone, or have another index now, go too. Whoever reads or writes chunks just then is not
-- kept waiting: what cannot be had at once is for the next time. Names are made as the platform makes them.
create function pidq_near_tidy() returns setof text language plpgsql as $near$
declare gone text;
begin
  perform set_config('lock_timeout', '200ms', true);
  for gone in select cast(c.relname as text) from pg_class c
    where c.relkind = 'r' and c.relnamespace = cast(current_schema() as regnamespace) and c.relname ~ '^near_[0-9a-f]{32}$'
    and not exists (
      select 1 from pipelines p, json_array_elements_text(cast(p.classifications as json)) label
      where c.relname = 'near_' || left(encode(sha256(
        convert_to(p.id, 'UTF8') || '\x00' || convert_to(cast(p.generation as text), 'UTF8') || '\x00' || convert_to(label, 'UTF8')
      ), 'hex'), 32))
  loop
    execute format('drop table if exists %I', gone);
    return next gone;
  end loop;
end $near$;
