-- An id of the caller's names one document of a classification, and never tells that it is in another.
drop index documents_by_external_id;
create unique index documents_by_external_id on documents (pipeline_id, classification, external_id)
  where status <> 'deleting';
