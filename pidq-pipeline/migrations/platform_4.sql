-- A partition is read document by document, in the order of their texts.
drop index chunks_of_partitions;
create index chunks_of_partitions on chunks (pipeline_id, generation, classification, document_id, number);
