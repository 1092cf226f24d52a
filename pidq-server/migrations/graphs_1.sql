-- Stored graphs and their versions. Rows of graph_version are immutable.

create table graph (
    tenant text collate "C" not null,
    graph_id text collate "C" not null,
    -- Highest version number ever assigned, including removed versions.
    counter bigint not null,
    -- Current version; null if the graph is deleted.
    latest bigint,
    primary key (tenant, graph_id)
);

create table graph_version (
    tenant text collate "C" not null,
    graph_id text collate "C" not null,
    version bigint not null,
    schema_version text not null,
    -- UTF-8 bytes: names may contain U+0000, which type text cannot store.
    drawing_name bytea,
    nodes bigint not null,
    edges bigint not null,
    size bigint not null,
    created_on bigint not null,
    -- SHA-256 of the JSON.
    sha256 bytea not null,
    -- Hash of the content, independent of formatting.
    content_sha256 bytea not null,
    body_sha256 bytea not null,
    -- One zstd frame.
    body bytea not null,
    primary key (tenant, graph_id, version),
    foreign key (tenant, graph_id) references graph (tenant, graph_id)
);

-- The body is already compressed.
alter table graph_version alter column body set storage external;
