-- Contents that are large stand in pieces, so that none is ever in memory as a whole to be stored: the content of such a
-- row of `contents` is empty. For SQLite and PostgreSQL alike.

create table content_pieces (
  document_id text not null,
  revision bigint not null,
  number bigint not null,
  piece bytea not null,
  primary key (document_id, revision, number),
  foreign key (document_id, revision) references contents (document_id, revision) on delete cascade
);
