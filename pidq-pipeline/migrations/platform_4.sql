-- What stands between a chunk and the one before it, where they do not touch: neighbours that are cited together are cited
-- as the document has them.
alter table chunks add column gap text;

-- A partition is read document by document, in the order of their texts.
drop index chunks_of_partitions;
create index chunks_of_partitions on chunks (pipeline_id, generation, classification, document_id, number);
