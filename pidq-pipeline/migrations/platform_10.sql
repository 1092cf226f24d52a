-- The key of the files in which replicas keep an open partition. It goes with whatever no query may find any more: what
-- was written before then opens nowhere.
alter table partitions add column snapshot_key bytea;
