answers INSERT insert into answers (id, pipeline_id, classification, document_count, answer, created_at) values ($1, $2, $3, $4, $5, $6)
answers INSERT_DOCUMENT insert into answer_documents (document_id, answer_id, pipeline_id) values ($1, $2, $3)
answers BY_ID select a.pipeline_id, a.classification, a.answer, a.rating, a.comment, a.created_at from answers a where a.id = $1 and a.created_at > $2 and a.document_count = (select count(*) from answer_documents source join documents d on d.id = source.document_id where source.answer_id = a.id and d.classification = a.classification and d.status <> 'deleting')
answers RATE update answers set rating = $2, comment = $3 where id = $1
answers DELETE_BY_DOCUMENT delete from answers where id in (select answer_id from answer_documents where document_id = $1)
answers PURGE delete from answers where created_at <= $1
api_keys INSERT insert into api_keys (id, name, fingerprint, scopes, pipelines, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
api_keys BY_ID select id, name, fingerprint, scopes, pipelines, created_at, expires_at from api_keys where id = $1
api_keys LIST select id, name, fingerprint, scopes, pipelines, created_at, expires_at from api_keys where id > $1 order by id limit $2
api_keys OWNERS_OF_ACTIVE_WEBHOOKS select id, name, fingerprint, scopes, pipelines, created_at, expires_at from api_keys where id in (select owner from webhooks where status = 'active')
api_keys DELETE delete from api_keys where id = $1
audit INSERT insert into audit_log (id, happened_at, actor, action, pipeline_id, resource, details, request_id, source, result) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
audit LIST select id, happened_at, actor, action, pipeline_id, resource, details, request_id, source, result from audit_log where (cast($1 as bigint) is null or (happened_at, id) < (cast($1 as bigint), $2)) and (cast($3 as bigint) is null or happened_at >= $3) and (cast($4 as bigint) is null or happened_at < $4) and (cast($5 as text) is null or actor = $5) and (cast($6 as text) is null or action = $6) and (cast($7 as text) is null or pipeline_id = $7) and (cast($8 as text) is null or result = $8) order by happened_at desc, id desc limit $9
audit PURGE delete from audit_log where happened_at < $1
chunks - insert into chunks (pipeline_id, generation, classification, document_id, revision, id, number, start_char, end_char, start_byte, end_byte, page, headings, content, tags, vector, gap) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
contents INSERT insert into document_contents (document_id, revision, content, pipeline_id) values ($1, $2, $3, $4)
contents INSERT_BLOCK insert into content_blocks (document_id, revision, number, block, pipeline_id) values ($1, $2, $3, $4, $5)
contents CONTENT select c.content, b.block from document_contents c left join content_blocks b on b.document_id = c.document_id and b.revision = c.revision where c.document_id = $1 and c.revision = $2 order by b.number
contents INLINE_CONTENT select content from document_contents where document_id = $1 and revision = $2
contents ONE_BLOCK select block from content_blocks where document_id = $1 and revision = $2 and number = $3
count_limits LOCK_COUNTER insert into daily_counters (day, kind, used) values (0, $1, 0) on conflict (day, kind) do update set used = 0
daily_quota INCREMENT insert into daily_counters (day, kind, used) values ($1, $2, 1) on conflict (day, kind) do update set used = daily_counters.used + 1 where daily_counters.used < $3
daily_quota DECREMENT update daily_counters set used = used - 1 where day = $1 and kind = $2 and used > 0
daily_quota CURRENT select used from daily_counters where day = $1 and kind = $2
documents COUNT select classification, count(*) from documents where pipeline_id = $1 and status <> 'deleting' and (cast($2 as text) is null or classification = $2) and (cast($3 as text) is null or status = $3) and (cast($4 as text) is null or filename = $4) and (cast($5 as text) is null or external_id = $5) group by classification
documents - select id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, status, searchable_revision, attempts, progress, created_at, updated_at from documents where pipeline_id = $1 and id > $2 and status <> 'deleting' and (cast($3 as text) is null or classification = $3) and (cast($4 as text) is null or status = $4) and (cast($5 as text) is null or filename = $5) and (cast($6 as text) is null or external_id = $6) order by id limit $7
documents - select id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, status, searchable_revision, attempts, progress, created_at, updated_at from documents where pipeline_id = $1 and id < $2 and status <> 'deleting' and (cast($3 as text) is null or classification = $3) and (cast($4 as text) is null or status = $4) and (cast($5 as text) is null or filename = $5) and (cast($6 as text) is null or external_id = $6) order by id desc limit $7
documents - select id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, status, searchable_revision, attempts, progress, created_at, updated_at from documents where pipeline_id = $1 and (cast($8 as text) is null or (filename, id) > ($8, $2)) and status <> 'deleting' and (cast($3 as text) is null or classification = $3) and (cast($4 as text) is null or status = $4) and (cast($5 as text) is null or filename = $5) and (cast($6 as text) is null or external_id = $6) order by filename, id limit $7
documents - select id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, status, searchable_revision, attempts, progress, created_at, updated_at from documents where pipeline_id = $1 and (cast($8 as text) is null or (filename, id) < ($8, $2)) and status <> 'deleting' and (cast($3 as text) is null or classification = $3) and (cast($4 as text) is null or status = $4) and (cast($5 as text) is null or filename = $5) and (cast($6 as text) is null or external_id = $6) order by filename desc, id desc limit $7
documents - select id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, status, searchable_revision, attempts, progress, created_at, updated_at from documents where pipeline_id = $1 and (cast($8 as bigint) is null or (size, id) > (cast($8 as bigint), $2)) and status <> 'deleting' and (cast($3 as text) is null or classification = $3) and (cast($4 as text) is null or status = $4) and (cast($5 as text) is null or filename = $5) and (cast($6 as text) is null or external_id = $6) order by size, id limit $7
documents - select id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, status, searchable_revision, attempts, progress, created_at, updated_at from documents where pipeline_id = $1 and (cast($8 as bigint) is null or (size, id) < (cast($8 as bigint), $2)) and status <> 'deleting' and (cast($3 as text) is null or classification = $3) and (cast($4 as text) is null or status = $4) and (cast($5 as text) is null or filename = $5) and (cast($6 as text) is null or external_id = $6) order by size desc, id desc limit $7
documents - select id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, status, searchable_revision, attempts, progress, created_at, updated_at from documents where pipeline_id = $1 and (cast($8 as bigint) is null or (updated_at, id) > (cast($8 as bigint), $2)) and status <> 'deleting' and (cast($3 as text) is null or classification = $3) and (cast($4 as text) is null or status = $4) and (cast($5 as text) is null or filename = $5) and (cast($6 as text) is null or external_id = $6) order by updated_at, id limit $7
documents - select id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, status, searchable_revision, attempts, progress, created_at, updated_at from documents where pipeline_id = $1 and (cast($8 as bigint) is null or (updated_at, id) < (cast($8 as bigint), $2)) and status <> 'deleting' and (cast($3 as text) is null or classification = $3) and (cast($4 as text) is null or status = $4) and (cast($5 as text) is null or filename = $5) and (cast($6 as text) is null or external_id = $6) order by updated_at desc, id desc limit $7
documents INSERT insert into documents (id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, status, attempts, progress, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, 'queued', 0, '{}', $10, $10)
documents BY_ID select id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, status, searchable_revision, attempts, progress, created_at, updated_at from documents where id = $1 and pipeline_id = $2
documents FIND_DUPLICATE select id from documents where pipeline_id = $1 and classification = $2 and sha256 = $3 and status <> 'deleting'
documents EXTRACTED select extracted, pages from document_contents where document_id = $1 and revision = $2
documents UPDATE update documents set classification = coalesce($4, classification), filename = coalesce($5, filename), metadata = coalesce($6, metadata), updated_at = $3, indexed_at = case when indexed_at >= $3 then indexed_at + 1 else $3 end where id = $1 and pipeline_id = $7 and updated_at = $2 and status <> 'deleting'
documents RECLASSIFY_CHUNKS update chunks set classification = $2 where document_id = $1
documents QUEUE update documents set status = 'queued', attempts = 0, progress = '{}', updated_at = $2 where id = $1 and pipeline_id = $3 and status in ('ready', 'failed', 'cancelled')
documents REPLACE update documents set revision = revision + 1, filename = $3, content_type = $4, size = $5, sha256 = $6, status = 'queued', attempts = 0, progress = '{}', updated_at = case when updated_at >= $7 then updated_at + 1 else $7 end where id = $1 and pipeline_id = $8 and revision = $2 and status in ('ready', 'failed', 'cancelled')
documents DELETE_SUPERSEDED delete from document_contents where document_id = $1 and revision < $2 and revision <> (select coalesce(searchable_revision, 0) from documents where id = $1 and pipeline_id = $3)
documents CANCEL update documents set status = case when searchable_revision = revision then 'ready' else 'cancelled' end, updated_at = $2 where id = $1 and pipeline_id = $3 and status in ('queued', 'parsing', 'splitting', 'embedding', 'indexing')
documents PAGES select pages from document_contents where document_id = $1 and revision = $2
documents CHUNKS select count(*) from chunks where document_id = $1 and revision = $2 and pipeline_id = $3 and generation = (select generation from pipelines where id = $3)
documents PROGRESS update documents set progress = $2 where id = $1 and pipeline_id = $3
documents IDS_BY_PIPELINE select id from documents where pipeline_id = $1 limit $2
documents MARK_DELETING update documents set status = 'deleting', searchable_revision = null, updated_at = $3 where id = $1 and pipeline_id = $2 and status <> 'deleting'
documents DELETE_CHUNKS delete from chunks where document_id = $1
documents DELETE_CONTENTS delete from document_contents where document_id = $1
documents DELETE_REINDEX_DOCUMENTS delete from reindex_documents where document_id = $1
documents DELETE_JOBS delete from jobs where document_id = $1
documents DELETE delete from documents where id = $1 and pipeline_id = $2
idempotency CLAIM insert into idempotency_keys (caller, fingerprint, lease_owner, lease_until, created_at) values ($1, $2, $3, $4, $5) on conflict (caller, fingerprint) do update set lease_owner = $3, lease_until = $4, response = null, created_at = $5 where idempotency_keys.created_at <= $6 or (idempotency_keys.response is null and idempotency_keys.lease_until <= $5)
idempotency RESPONSE select response from idempotency_keys where caller = $1 and fingerprint = $2
idempotency RENEW update idempotency_keys set lease_until = $4 where caller = $1 and fingerprint = $2 and lease_owner = $3 and response is null
idempotency SAVE update idempotency_keys set response = $4 where caller = $1 and fingerprint = $2 and lease_owner = $3 and response is null
idempotency RELEASE delete from idempotency_keys where caller = $1 and fingerprint = $2 and lease_owner = $3 and response is null
idempotency PURGE delete from idempotency_keys where created_at <= $1 and lease_until <= $2
jobs INSERT insert into jobs (id, kind, pipeline_id, document_id, revision, attempts, run_at, created_at, traceparent) values ($1, $2, $3, $4, $5, 0, $6, $6, $7) on conflict (document_id, kind) do update set revision = excluded.revision, attempts = 0, run_at = excluded.run_at, lease_owner = null, lease_until = null, traceparent = excluded.traceparent
jobs DUE select cast(1 as bigint) from jobs where run_at <= $1 and (lease_until is null or lease_until < $1) limit 1
jobs LEASE_SQLITE update jobs set lease_owner = $1, lease_until = $2, attempts = attempts + 1 where id = (select id from jobs where run_at <= $3 and (lease_until is null or lease_until < $3) order by run_at, id limit 1) returning id, kind, pipeline_id, document_id, revision, attempts, traceparent
jobs LEASE_POSTGRES update jobs set lease_owner = $1, lease_until = $2, attempts = attempts + 1 where id = (select id from jobs where run_at <= $3 and (lease_until is null or lease_until < $3) order by run_at, id limit 1 for update skip locked) returning id, kind, pipeline_id, document_id, revision, attempts, traceparent
jobs RENEW update jobs set lease_until = $3 where id = $1 and lease_owner = $2 and lease_until >= $4
jobs DELETE delete from jobs where id = $1 and lease_owner = $2
jobs DELAY update jobs set lease_owner = null, lease_until = null, run_at = $3 where id = $1 and lease_owner = $2
jobs POSTPONE update jobs set lease_owner = null, lease_until = null, run_at = $3, attempts = attempts - 1 where id = $1 and lease_owner = $2
jobs OLDEST_DUE select min(run_at) from jobs where run_at <= $1 and (lease_until is null or lease_until < $1)
jobs COUNT select kind, count(*) from jobs group by kind
jobs YIELD update jobs set lease_owner = null, lease_until = null, run_at = $3, attempts = 0 where id = $1 and lease_owner = $2
jobs LOCK_LEASE update jobs set lease_owner = $2 where id = $1 and lease_owner = $2 and lease_until >= $3
jobs SET_PROGRESS update documents set status = $2, attempts = $3, progress = $4, updated_at = $5 where id = $1 and pipeline_id = $6 and status not in ('deleting', 'cancelled')
jobs DELETE_CHUNKS delete from chunks where document_id = $1 and generation = $2
jobs DELETE_OLD_CONTENTS delete from document_contents where document_id = $1 and revision < $2
jobs SET_EXTRACTED update document_contents set extracted = $3, pages = $4, title = $5 where document_id = $1 and revision = $2
jobs SET_READY update documents set status = 'ready', searchable_revision = $2, progress = $3, content_type = $4, indexed_at = case when indexed_at >= $5 then indexed_at + 1 else $5 end, updated_at = $5, attempts = $6 where id = $1 and pipeline_id = $7 and status not in ('deleting', 'cancelled') returning classification
jobs GENERATION select generation from pipelines where id = $1
jobs SHARE_GENERATION select generation from pipelines where id = $1 for share
licenses SELECT_LICENSE select value from installation where name = 'license'
licenses UPSERT_LICENSE insert into installation (name, value) values ('license', $1) on conflict (name) do update set value = excluded.value
licenses CLOCK select value from installation where name = 'clock'
licenses INSERT_CLOCK insert into installation (name, value) values ('clock', $1) on conflict (name) do nothing
licenses ADVANCE_CLOCK update installation set value = $1 where name = 'clock' and cast(value as bigint) < cast($1 as bigint)
llm_connections INSERT insert into llm_connections (id, name, revision, provider, model, base_url, context_window, header_names, encrypted_secrets, created_at, updated_at) values ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $9)
llm_connections BY_ID select id, name, revision, provider, model, base_url, context_window, header_names, encrypted_secrets, created_at, updated_at from llm_connections where id = $1
llm_connections LIST select id, name, revision, provider, model, base_url, context_window, header_names, encrypted_secrets, created_at, updated_at from llm_connections where id > $1 order by id limit $2
llm_connections UPDATE update llm_connections set name = $3, provider = $4, model = $5, base_url = $6, context_window = $7, header_names = $8, encrypted_secrets = $9, revision = revision + 1, updated_at = $10 where id = $1 and revision = $2
llm_connections DELETE delete from llm_connections where id = $1
model_outages UPSERT insert into model_outages (model, since, detail) values ($1, $2, $3) on conflict (model) do update set detail = excluded.detail
model_outages LIST select o.model, min(m.embedding_dimensions) from model_outages o left join ( select embedding_model, embedding_dimensions from pipelines union all select embedding_model, embedding_dimensions from reindexes ) m on m.embedding_model = o.model group by o.model order by o.model
model_outages DELETE delete from model_outages where model = $1
model_outages WAKE_JOBS update jobs set run_at = $2 where run_at > $2 and lease_until is null and pipeline_id in (select id from pipelines where embedding_model = $1 union all select pipeline_id from reindexes where embedding_model = $1)
operations INSERT insert into operations (id, kind, pipeline_id, status, progress, generation, created_at, updated_at) values ($1, $2, $3, 'running', '{}', $4, $5, $5)
operations BY_ID select id, kind, pipeline_id, status, progress, failure, created_at, updated_at from operations where id = $1
operations RUNNING select id, kind, pipeline_id, status, progress, failure, created_at, updated_at from operations where pipeline_id = $1 and kind = $2 and status = 'running'
operations PROGRESS update operations set progress = $2, updated_at = $3 where id = $1 and status = 'running'
operations END update operations set status = $3, failure = $4, updated_at = $5 where pipeline_id = $1 and kind = $2 and status = 'running'
outbox INSERT insert into events (id, event_type, pipeline_id, document_id, classification, previous_classification, details, happened_at) values ($1, $2, $3, $4, $5, $6, $7, $8)
outbox INSERT_FIVE insert into events (id, event_type, pipeline_id, document_id, classification, previous_classification, details, happened_at) values ($1, $2, $3, $4, $5, $6, $7, $8), ($9, $10, $11, $12, $13, $14, $15, $16), ($17, $18, $19, $20, $21, $22, $23, $24), ($25, $26, $27, $28, $29, $30, $31, $32), ($33, $34, $35, $36, $37, $38, $39, $40)
outbox DOCUMENT select classification, revision, status, filename from documents where id = $1 and pipeline_id = $2
outbox UNSEQUENCED select id from events where position is null limit 1
outbox LOCK_COUNTER update counters set value = value where name = 'events'
outbox ASSIGN_POSITIONS update events set position = numbered.number from ( select id as numbered_id, (select value from counters where name = 'events') + row_number() over (order by happened_at, id) as number from events where position is null order by happened_at, id limit $1 ) as numbered where events.id = numbered.numbered_id
outbox ADVANCE_COUNTER update counters set value = value + $1 where name = 'events'
outbox LAST_POSITION select value from counters where name = 'events'
outbox AFTER select id, position, event_type, pipeline_id, document_id, classification, previous_classification, details, happened_at from events where position > $1 order by position limit $2
outbox BY_ID select id, coalesce(position, 0), event_type, pipeline_id, document_id, classification, previous_classification, details, happened_at from events where id = $1
outbox POSITION select coalesce(position, 0) from events where id = $1
outbox PURGE delete from events where id in ( select id from events where happened_at < $1 and position is not null and not exists (select 1 from deliveries where event_id = events.id) order by happened_at limit $2)
outbox INIT_PUBLISHING insert into counters (name, value) values ('published_position', 0), ('publisher_lease_until', 0) on conflict (name) do nothing
outbox LEASE_PUBLISHING update counters set value = $3 where name = 'publisher_lease_until' and (value = $1 or value < $2)
outbox PUBLISHED_POSITION select value from counters where name = 'published_position'
outbox SET_PUBLISHED_POSITION update counters set value = $1 where name = 'published_position' and value < $1
outbox INSERT_LICENSE_STATE insert into installation (name, value) values ('license_state', $1) on conflict (name) do nothing
outbox UPDATE_LICENSE_STATE update installation set value = $1 where name = 'license_state' and value <> $1
partitions CHANGE_COUNT select change_count from partitions where pipeline_id = $1 and classification = $2
partitions RECORD_CHANGE insert into partitions (pipeline_id, classification, change_count) values ($1, $2, 1) on conflict (pipeline_id, classification) do update set change_count = partitions.change_count + 1, snapshot_key = null
partitions RECORD_ADDITION insert into partitions (pipeline_id, classification, change_count) values ($1, $2, 1) on conflict (pipeline_id, classification) do update set change_count = partitions.change_count + 1
partitions SNAPSHOT_KEY select snapshot_key from partitions where pipeline_id = $1 and classification = $2 and snapshot_key is not null
partitions ASSIGN_SNAPSHOT_KEY update partitions set snapshot_key = coalesce(snapshot_key, $4) where pipeline_id = $1 and classification = $2 and change_count = $3 returning snapshot_key
partitions SNAPSHOT_KEYS select p.id, p.generation, s.classification, s.snapshot_key from partitions s join pipelines p on p.id = s.pipeline_id where s.snapshot_key is not null
partitions CLASSIFICATION_OF_DOCUMENT select classification from documents where id = $1 and pipeline_id = $2
partitions INDEXED_REVISIONS select id, searchable_revision, coalesce(indexed_at, 0) from documents where pipeline_id = $1 and classification = $2 and searchable_revision is not null
partitions SEARCHABLE select d.id, d.searchable_revision, coalesce(d.indexed_at, 0), d.metadata, coalesce(c.title, d.filename), d.filename from documents d join document_contents c on c.document_id = d.id and c.revision = d.searchable_revision where d.pipeline_id = $1 and d.classification = $2 and d.searchable_revision is not null
partitions ONE_SEARCHABLE select d.id, d.searchable_revision, coalesce(d.indexed_at, 0), d.metadata, coalesce(c.title, d.filename), d.filename from documents d join document_contents c on c.document_id = d.id and c.revision = d.searchable_revision where d.pipeline_id = $1 and d.classification = $2 and d.searchable_revision is not null and d.id = $3
partitions CHUNKS select id, number, start_char, end_char, start_byte, end_byte, page, headings, content, tags, vector, gap, document_id, revision from chunks where document_id = $1 and revision = $2 and generation = $3 order by number
partitions CHUNK_RANGE select id, number, start_char, end_char, start_byte, end_byte, page, headings, content, tags, vector, gap, document_id, revision from chunks where document_id = $1 and revision = $2 and generation = $3 and number > $4 and number <= $5 order by number
partitions PARTITION_CHUNKS select id, number, start_char, end_char, start_byte, end_byte, page, headings, content, tags, vector, gap, document_id, revision from chunks where pipeline_id = $1 and generation = $2 and classification = $3 order by document_id, number
pipelines INSERT insert into pipelines (id, name, revision, embedding_model, embedding_dimensions, text_splitter, splitter_parameters, classifications, options, status, generation, created_at, updated_at) values ($1, $2, 1, $3, $4, $5, $6, $7, $8, 'active', 1, $9, $9)
pipelines BY_ID select id, name, revision, embedding_model, embedding_dimensions, text_splitter, splitter_parameters, classifications, options, status, generation, created_at, updated_at from pipelines where id = $1
pipelines LIST select id, name, revision, embedding_model, embedding_dimensions, text_splitter, splitter_parameters, classifications, options, status, generation, created_at, updated_at from pipelines where id > $1 and (cast($2 as text) is null or name = $2) and (cast($3 as text) is null or $3 like '%' || id || '%') order by id limit $4
pipelines COUNT_MATCHING select count(*) from pipelines where (cast($1 as text) is null or name = $1) and (cast($2 as text) is null or $2 like '%' || id || '%')
pipelines UPDATE update pipelines set name = $3, classifications = $4, options = $5, revision = revision + 1, updated_at = $6 where id = $1 and revision = $2
pipelines SET_STATUS update pipelines set status = $2, updated_at = $3 where id = $1 and status <> $2
pipelines COUNT_BY_STATUS select pipeline_id, classification, status, count(*) from documents where pipeline_id >= $1 and pipeline_id <= $2 and status <> 'deleting' group by pipeline_id, classification, status
pipelines DELETE_JOBS delete from jobs where pipeline_id = $1
pipelines COUNT_PIPELINES select count(*) from pipelines
pipelines COUNT_DOCUMENTS select count(*) from documents where status <> 'deleting'
pipelines DELETE delete from pipelines where id = $1
pipelines COUNT_PIPELINE_DOCUMENTS select count(*) from documents where pipeline_id = $1
reindexes BEGIN update pipelines set status = 'reindexing', updated_at = $2 where id = $1 and status = 'active'
reindexes END update pipelines set status = 'active', updated_at = $2 where id = $1 and status = 'reindexing'
reindexes LOCK_PIPELINE update pipelines set status = status where id = $1
reindexes NEXT_GENERATION select coalesce(max(used.generation), 0) + 1 from ( select generation from pipelines where id = $1 union all select generation from operations where pipeline_id = $1 and generation is not null) as used
reindexes INSERT insert into reindexes (pipeline_id, operation_id, generation, embedding_model, embedding_dimensions, text_splitter, splitter_parameters) values ($1, $2, $3, $4, $5, $6, $7)
reindexes BY_PIPELINE select operation_id, generation, embedding_model, embedding_dimensions, text_splitter, splitter_parameters from reindexes where pipeline_id = $1
reindexes GENERATION select generation from reindexes where pipeline_id = $1
reindexes DELETE delete from reindexes where pipeline_id = $1
reindexes DELETE_JOBS delete from jobs where pipeline_id = $1 and kind = 'reindex'
reindexes MISSING select d.id, d.searchable_revision from documents d where d.pipeline_id = $1 and d.searchable_revision is not null and not exists (select 1 from reindex_documents s where s.document_id = d.id and s.pipeline_id = $1 and s.generation = $2 and s.revision = d.searchable_revision) order by d.id limit $3
reindexes COUNT_MISSING select count(*) from documents d where d.pipeline_id = $1 and d.searchable_revision is not null and not exists (select 1 from reindex_documents s where s.document_id = d.id and s.pipeline_id = $1 and s.generation = $2 and s.revision = d.searchable_revision)
reindexes COUNT_SEARCHABLE select count(*) from documents where pipeline_id = $1 and searchable_revision is not null
reindexes SQLITE select searchable_revision, classification from documents where id = $1 and pipeline_id = $2
reindexes POSTGRES select searchable_revision, classification from documents where id = $1 and pipeline_id = $2 for no key update
reindexes SQLITE select generation from pipelines where id = $1 and status = 'reindexing'
reindexes POSTGRES select generation from pipelines where id = $1 and status = 'reindexing' for no key update
reindexes SAME_TEXT select 1 from document_contents where document_id = $1 and revision = $2 and extracted = $3 and pages = $4 and coalesce(title, '') = coalesce($5, '')
reindexes DELETE_CHUNKS delete from chunks where document_id = $1 and generation = $2
reindexes UPSERT_DOCUMENT insert into reindex_documents (document_id, pipeline_id, generation, revision, content_type, extracted, pages, title, progress) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (document_id, generation) do update set revision = excluded.revision, content_type = excluded.content_type, extracted = excluded.extracted, pages = excluded.pages, title = excluded.title, progress = excluded.progress
reindexes APPLY_TEXTS update document_contents set extracted = s.extracted, pages = s.pages, title = s.title from reindex_documents s where s.pipeline_id = $1 and s.generation = $2 and s.extracted is not null and document_contents.document_id = s.document_id and document_contents.revision = s.revision
reindexes APPLY_STATES update documents set progress = s.progress, content_type = s.content_type, updated_at = case when updated_at >= $3 then updated_at + 1 else $3 end from reindex_documents s where s.pipeline_id = $1 and s.generation = $2 and documents.id = s.document_id and documents.pipeline_id = $1 and documents.status = 'ready' and documents.searchable_revision = s.revision
reindexes ACTIVATE_GENERATION update pipelines set generation = $2, embedding_model = $3, embedding_dimensions = $4, text_splitter = $5, splitter_parameters = $6, status = 'active', revision = revision + 1, updated_at = $7 where id = $1
reindexes DELETE_DOCUMENTS delete from reindex_documents where pipeline_id = $1 and generation = $2
reindexes SWEEP delete from chunks where id in (select id from chunks where pipeline_id = $1 and generation = $2 limit $3)
usage UPSERT insert into daily_usage (day, pipeline_id, classification, documents, bytes, chunks, questions, failed_questions, prompt_tokens, completion_tokens, estimated_tokens) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (day, pipeline_id, classification) do update set documents = daily_usage.documents + excluded.documents, bytes = daily_usage.bytes + excluded.bytes, chunks = daily_usage.chunks + excluded.chunks, questions = daily_usage.questions + excluded.questions, failed_questions = daily_usage.failed_questions + excluded.failed_questions, prompt_tokens = daily_usage.prompt_tokens + excluded.prompt_tokens, completion_tokens = daily_usage.completion_tokens + excluded.completion_tokens, estimated_tokens = daily_usage.estimated_tokens + excluded.estimated_tokens
usage LIST select day, pipeline_id, classification, documents, bytes, chunks, questions, failed_questions, prompt_tokens, completion_tokens, estimated_tokens from daily_usage where day >= $1 and day <= $2 and (cast($3 as text) is null or pipeline_id = $3) and (cast($4 as text) is null or classification = $4) and (cast($5 as bigint) is null or (day, pipeline_id, classification) < (cast($5 as bigint), $6, $7)) order by day desc, pipeline_id desc, classification desc limit $8
webhooks INSERT insert into webhooks (id, url, event_types, pipelines, encrypted_secret, status, owner, created_at, updated_at) select $1, $2, $3, $4, $5, 'active', cast($6 as text), cast($7 as bigint), cast($7 as bigint) where (select count(*) from webhooks) < $8
webhooks BY_ID select id, url, event_types, pipelines, encrypted_secret, status, owner, revision, failures, failing_since, failure, created_at, updated_at from webhooks where id = $1
webhooks ACTIVE select id, url, event_types, pipelines, encrypted_secret, status, owner, revision, failures, failing_since, failure, created_at, updated_at from webhooks where status = 'active' order by id
webhooks LIST select id, url, event_types, pipelines, encrypted_secret, status, owner, revision, failures, failing_since, failure, created_at, updated_at from webhooks where id > $1 and (cast($2 as text) is null or owner = $2) order by id limit $3
webhooks UPDATE update webhooks set url = $3, event_types = $4, pipelines = $5, encrypted_secret = $6, status = $7, failures = case when status = $7 then failures else 0 end, paused_until = case when status = $7 then paused_until else 0 end, failing_since = case when status = $7 then failing_since else null end, failure = case when status = $7 then failure else null end, revision = revision + 1, updated_at = $8 where id = $1 and revision = $2
webhooks LOCK update webhooks set lease_owner = null where id = $1
webhooks DELETE_DELIVERIES delete from deliveries where webhook_id = $1
webhooks DELETE delete from webhooks where id = $1
webhooks DROP_DELIVERIES update deliveries set state = 'dropped' where webhook_id = $1 and state = 'waiting'
webhooks DELIVER_SQLITE insert into deliveries (webhook_id, event_id, attempts, run_at, position) select value ->> 0, value ->> 1, 0, $2, cast(value ->> 2 as bigint) from json_each($1) where true on conflict (webhook_id, event_id) do nothing
webhooks DELIVER_POSTGRES insert into deliveries (webhook_id, event_id, attempts, run_at, position) select value ->> 0, value ->> 1, 0, $2, cast(value ->> 2 as bigint) from json_array_elements(cast($1 as json)) as rows (value) where true on conflict (webhook_id, event_id) do nothing
webhooks DUE select id from webhooks where status = 'active' and lease_until < $1 and paused_until <= $1 and exists (select 1 from deliveries where webhook_id = webhooks.id and state = 'waiting' and run_at <= $1) order by lease_until limit 1
webhooks LEASE update webhooks set lease_owner = $2, lease_until = $3 where id = $1 and status = 'active' and lease_until < $4
webhooks RENEW update webhooks set lease_until = $3 where id = $1 and lease_owner = $2 and status = 'active'
webhooks RELEASE update webhooks set lease_owner = null, lease_until = $3 where id = $1 and lease_owner = $2
webhooks NEXT select d.event_id, e.event_type, d.position, d.state, d.attempts, d.run_at, d.attempted_at, d.last_status, d.failure from deliveries d join events e on e.id = d.event_id where d.webhook_id = $1 and d.state = 'waiting' and d.run_at <= $2 order by d.position limit 1
webhooks DELIVERIES select d.event_id, e.event_type, d.position, d.state, d.attempts, d.run_at, d.attempted_at, d.last_status, d.failure from deliveries d join events e on e.id = d.event_id where d.webhook_id = $1 and d.position < $2 and (cast($3 as text) is null or d.state = $3) order by d.position desc limit $4
webhooks RECORD_SUCCESS update webhooks set failures = 0, paused_until = 0, failing_since = null, failure = null where id = $1 and lease_owner = $2
webhooks RECORD_FAILURE update webhooks set failures = failures + 1, failing_since = coalesce(failing_since, $3), failure = $4, paused_until = $5 where id = $1 and lease_owner = $2
webhooks DISABLE update webhooks set status = 'disabled', failures = failures + 1, failing_since = coalesce(failing_since, $3), failure = $4, updated_at = $3 where id = $1 and lease_owner = $2
webhooks DISABLE_ORPHAN update webhooks set status = 'disabled', failure = $2, updated_at = $3 where id = $1
webhooks CHECK_LEASE update webhooks set lease_until = lease_until where id = $1 and lease_owner = $2
webhooks UPDATE_DELIVERY update deliveries set state = $3, attempts = attempts + 1, attempted_at = $4, last_status = cast($5 as bigint), failure = cast($6 as text), run_at = coalesce(cast($7 as bigint), run_at) where webhook_id = $1 and event_id = $2 and state = 'waiting'
webhooks RETRY_NOW update deliveries set run_at = $2 where webhook_id = $1 and state = 'waiting' and run_at > $2
webhooks DELETE_DELIVERY delete from deliveries where webhook_id = $1 and event_id = $2
webhooks PURGE_DELIVERIES delete from deliveries where state <> 'waiting' and event_id in (select id from events where happened_at < $1 and position is not null)
store SELECT_INSTALLATION select value from installation where name = 'id'
store INSERT_INSTALLATION insert into installation (name, value) values ('id', $1) on conflict (name) do nothing
