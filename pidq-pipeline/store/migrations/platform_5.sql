-- Mail of which a document is an attachment. Contents are unique only among the documents that were uploaded, because several mails may
-- have the same attachment; replicas of the version before create no others.
alter table documents add column parent_id text;
create unique index documents_by_parent on documents (pipeline_id, parent_id, sha256) where parent_id is not null;
drop index documents_by_content;
create unique index documents_by_content on documents (pipeline_id, classification, sha256)
  where status <> 'deleting' and parent_id is null;
