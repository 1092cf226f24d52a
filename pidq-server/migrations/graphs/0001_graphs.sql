-- Graphs of jobs. A version is a row that never changes.

create table graph_job (
    tenant text collate "C" not null,
    job text collate "C" not null,
    -- The highest number that was ever given, also by versions that are gone.
    counter bigint not null,
    -- The version that is shown; null when the graph is deleted.
    latest bigint,
    primary key (tenant, job)
);

create table graph_version (
    tenant text collate "C" not null,
    job text collate "C" not null,
    version bigint not null,
    schema_version text not null,
    -- UTF-8. Names may hold the character 0, which a text cannot.
    drawing_name bytea,
    nodes bigint not null,
    edges bigint not null,
    size bigint not null,
    created_on bigint not null,
    sha256 bytea not null,
    content bytea not null,
    packed_sha256 bytea not null,
    -- One frame of zstd.
    packed bytea not null,
    primary key (tenant, job, version),
    foreign key (tenant, job) references graph_job (tenant, job)
);

-- Packed once is enough.
alter table graph_version alter column packed set storage external;
