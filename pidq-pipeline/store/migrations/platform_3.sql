-- Trace context (W3C) of the request that added a job.
alter table jobs add column traceparent text;
