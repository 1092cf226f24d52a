-- The pipeline of rows that did not name it: a step towards tables that are partitioned by pipeline. New rows have it; older ones, and
-- those of replicas that are still to be replaced, do not, so that no statement reads it before a later release has filled it.
alter table document_contents add column pipeline_id text;
alter table content_blocks add column pipeline_id text;
alter table answer_documents add column pipeline_id text;
-- Trace context (W3C) of the request that added a job.
alter table jobs add column traceparent text;
