-- Boxes of the words of a page of the extracted text. Without a row, nothing is known of the page: its format has no positions, or a
-- version before read it. Rows belong to a generation, as chunks do, because a reindex may read another text from the same content.
create table page_words (
  pipeline_id text not null,
  document_id text not null,
  revision bigint not null,
  generation bigint not null,
  -- From 1.
  page bigint not null,
  -- Range of the page in the extracted text, in characters.
  start_char bigint not null,
  end_char bigint not null,
  -- Fingerprint of the page's text: a version before this table may replace the text without the boxes.
  text_hash bytea not null,
  -- Size of the page and boxes, encoded.
  words bytea not null,
  primary key (document_id, revision, generation, page, pipeline_id),
  foreign key (document_id, revision) references document_contents (document_id, revision) on delete cascade
);
create index page_words_by_generation on page_words (pipeline_id, generation);
