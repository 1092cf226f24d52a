//! Store of graphs in PostgreSQL, shared by several replicas.
//!
//! Writers of a graph lock its row, so they are serialized across replicas; version rows are immutable. Readers take no
//! locks.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use pidq_http::database::{PostgresPool, STATEMENT_TIMEOUT, postgres_options};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, Row, SqlStr, Transaction};
use tokio::sync::Semaphore;

use super::error::{Error, Result};
use super::version_file::{CompressedVersion, content, is_intact};
use super::{
    Coding, CommitOutcome, CommitResult, GraphId, GraphMeta, Options, Precondition, Store, StoreFuture, StoreState,
    StoredGraph, Tenant, TenantQuota, Timestamp, VerifyReport, Version, VersionEntry, VersionRetention,
    VersionSelector, run_blocking,
};
use crate::store::validation::GraphDraft;

const MIGRATIONS: [(i64, &str, &str); 1] = [(1, "graphs", include_str!("../../migrations/graphs_1.sql"))];

/// Number of versions verified per query.
const VERIFY_PAGE_SIZE: i64 = 16;

/// Enables synchronous commits: an acknowledged write must be durable whatever the server's default is.
const ENABLE_SYNCHRONOUS_COMMIT: &str =
    "select set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'";

const LOCK_TENANT: &str = "select pg_advisory_xact_lock(hashtextextended($1, 0))";

const INSERT_GRAPH: &str = "insert into graph (tenant, graph_id, counter) values ($1, $2, 0) on conflict do nothing";

const LOCK_GRAPH: &str = "select counter, latest from graph where tenant = $1 and graph_id = $2 for update";

const SET_LATEST: &str = "update graph set counter = $3, latest = $3 where tenant = $1 and graph_id = $2";

const CLEAR_LATEST: &str = "update graph set latest = null where tenant = $1 and graph_id = $2";

const SELECT_META: &str = "select g.latest, v.graph_id, v.version, v.schema_version, v.drawing_name,
    v.nodes, v.edges, v.size, v.created_on, v.sha256, v.content_sha256
from graph g
left join graph_version v
    on v.tenant = g.tenant and v.graph_id = g.graph_id and v.version = coalesce($3, g.latest)
where g.tenant = $1 and g.graph_id = $2 and g.latest is not null";

const SELECT_CONTENT: &str = "select g.latest, v.graph_id, v.version, v.schema_version, v.drawing_name,
    v.nodes, v.edges, v.size, v.created_on, v.sha256, v.content_sha256,
    v.body_sha256, v.body
from graph g
left join graph_version v
    on v.tenant = g.tenant and v.graph_id = g.graph_id and v.version = coalesce($3, g.latest)
where g.tenant = $1 and g.graph_id = $2 and g.latest is not null";

const SELECT_VERSIONS: &str = "select version, created_on from graph_version where tenant = $1 and graph_id = $2
order by version desc";

const SELECT_PAGE: &str = "select v.graph_id, v.version, v.schema_version, v.drawing_name,
    v.nodes, v.edges, v.size, v.created_on, v.sha256, v.content_sha256
from graph g
join graph_version v
    on v.tenant = g.tenant and v.graph_id = g.graph_id and v.version = g.latest
where g.tenant = $1 and g.graph_id > $2 and g.graph_id >= $3 and starts_with(g.graph_id, $3)
order by g.graph_id
limit $4";

const INSERT_VERSION: &str =
    "insert into graph_version (tenant, graph_id, version, schema_version, drawing_name, nodes,
    edges, size, created_on, sha256, content_sha256, body_sha256, body)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

const DELETE_OLD_VERSIONS: &str = "delete from graph_version where tenant = $1 and graph_id = $2 and version <= (
    select version from graph_version where tenant = $1 and graph_id = $2 order by version desc offset $3 limit 1)";

const DELETE_VERSIONS: &str = "delete from graph_version where tenant = $1 and graph_id = $2";

const SELECT_USAGE: &str =
    "select coalesce(sum(octet_length(body)), 0)::bigint as bytes, count(distinct graph_id) as graphs
from graph_version where tenant = $1";

const SELECT_VERIFY_PAGE: &str =
    "select tenant, graph_id, version, schema_version, drawing_name, nodes, edges, size, created_on,
    sha256, content_sha256, body_sha256, body
from graph_version where (tenant, graph_id, version) > ($1, $2, $3)
order by tenant, graph_id, version
limit $4";

const SELECT_WRITABLE: &str = "select current_setting('transaction_read_only') = 'off' as is_writable";

/// Store in a PostgreSQL database.
pub struct SqlStore {
    pool: PostgresPool,
    options: Options,
    /// Limits writers, which hold a connection while waiting for locks, to half of the connections.
    writers: Semaphore,
}

impl SqlStore {
    /// Connects to `postgres://…` with at most `connections` connections (at least two) and creates missing tables.
    ///
    /// # Errors
    /// `store-unavailable`.
    pub async fn open(url: &str, connections: u32, options: Options) -> Result<SqlStore> {
        let target =
            postgres_options(url).map_err(unavailable)?.application_name("pidq-server").options(STATEMENT_TIMEOUT);
        let pool = PostgresPool::open(target, connections.max(2)).await.map_err(unavailable)?;
        let mut connection = pool.connection().await.map_err(unavailable)?;
        migrations().run(&mut *connection).await.map_err(unavailable)?;
        let writers = Semaphore::new((connections as usize / 2).max(1));
        Ok(SqlStore { pool, options, writers })
    }

    /// Runs an operation. A connection failure triggers a health check, so that the next caller fails fast.
    fn with_health_check<'a, T: Send + 'a>(
        &'a self,
        operation: impl Future<Output = Result<T>> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async {
            let outcome = operation.await;
            if matches!(outcome, Err(Error::StoreUnavailable(_))) {
                self.pool.start_probe();
            }
            outcome
        })
    }

    async fn commit_draft(
        &self,
        tenant: Tenant,
        graph_id: GraphId,
        draft: GraphDraft,
        precondition: Precondition,
    ) -> Result<CommitResult> {
        let _permit = self.writers.acquire().await;
        let mut tx = self.begin().await?;
        if self.options.quota.is_limited() {
            // Taken before all other locks, to avoid deadlocks.
            sqlx::query(LOCK_TENANT).bind(tenant.as_str()).execute(&mut *tx).await.map_err(failure)?;
        }
        sqlx::query(INSERT_GRAPH)
            .bind(tenant.as_str())
            .bind(graph_id.as_str())
            .execute(&mut *tx)
            .await
            .map_err(failure)?;
        let counter = lock_graph(&mut tx, &tenant, &graph_id).await?.unwrap_or(0);
        let latest = latest_meta(&mut tx, &tenant, &graph_id).await?;
        precondition.check(latest.as_ref().map(GraphMeta::etag).as_ref())?;
        let is_new = latest.is_none();
        // An acknowledged graph must be readable: a corrupt version is written again.
        if let Some(latest) = latest.filter(|latest| latest.content_hash == draft.content_hash)
            && latest_is_intact(&mut tx, &tenant, &graph_id).await?
        {
            return Ok(CommitResult { meta: Arc::new(latest), outcome: CommitOutcome::Unchanged });
        }
        let compressed = compress(draft, counter + 1).await?;
        check_quota(&mut tx, &tenant, &self.options.quota, compressed.body.len() as u64, is_new).await?;
        let meta = self.insert_version(&mut tx, &tenant, compressed).await?;
        tx.commit().await.map_err(failure)?;
        let outcome = if is_new { CommitOutcome::Created } else { CommitOutcome::Changed };
        Ok(CommitResult { meta: Arc::new(meta), outcome })
    }

    async fn begin(&self) -> Result<Transaction<'static, Postgres>> {
        let mut tx = self.pool.begin().await.map_err(unavailable)?;
        sqlx::query(ENABLE_SYNCHRONOUS_COMMIT).execute(&mut *tx).await.map_err(failure)?;
        Ok(tx)
    }

    async fn connection(&self) -> Result<PoolConnection<Postgres>> {
        self.pool.connection().await.map_err(unavailable)
    }

    async fn insert_version(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        tenant: &Tenant,
        compressed: CompressedVersion,
    ) -> Result<GraphMeta> {
        let hash = compressed.body_hash();
        let CompressedVersion { meta, body } = compressed;
        let version = column(meta.version.as_number().unwrap_or(0));
        let (tenant, graph_id) = (tenant.as_str(), meta.graph_id.as_str());
        let insert = sqlx::query(INSERT_VERSION).bind(tenant).bind(graph_id).bind(version).bind(&meta.schema_version);
        let insert = insert.bind(meta.drawing_name.as_deref().map(str::as_bytes));
        let insert = insert.bind(column(meta.nodes)).bind(column(meta.edges)).bind(column(meta.size));
        let insert = insert.bind(meta.created_on.0).bind(&meta.sha256[..]).bind(&meta.content_hash[..]);
        insert.bind(&hash[..]).bind(body).execute(&mut **tx).await.map_err(failure)?;
        let set_latest = sqlx::query(SET_LATEST).bind(tenant).bind(graph_id).bind(version);
        set_latest.execute(&mut **tx).await.map_err(failure)?;
        if let VersionRetention::Last(limit) = self.options.retention {
            let delete_old =
                sqlx::query(DELETE_OLD_VERSIONS).bind(tenant).bind(graph_id).bind(column(limit.get() as u64));
            delete_old.execute(&mut **tx).await.map_err(failure)?;
        }
        Ok(meta)
    }

    async fn delete_graph(&self, tenant: Tenant, graph_id: GraphId, precondition: Precondition) -> Result<()> {
        let _permit = self.writers.acquire().await;
        let mut tx = self.begin().await?;
        lock_graph(&mut tx, &tenant, &graph_id).await?.ok_or(Error::GraphNotFound)?;
        let latest = latest_meta(&mut tx, &tenant, &graph_id).await?.ok_or(Error::GraphNotFound)?;
        precondition.check(Some(&latest.etag()))?;
        for statement in [CLEAR_LATEST, DELETE_VERSIONS] {
            let removed = sqlx::query(statement).bind(tenant.as_str()).bind(graph_id.as_str()).execute(&mut *tx).await;
            removed.map_err(failure)?;
        }
        tx.commit().await.map_err(failure)
    }

    /// Returns the row of a version.
    async fn row(
        &self,
        statement: &'static str,
        tenant: Tenant,
        graph_id: GraphId,
        selector: VersionSelector,
    ) -> Result<PgRow> {
        let number = match &selector {
            VersionSelector::Latest => None,
            // Version numbers start at 1.
            VersionSelector::Version(version) => Some(version.as_number().map_or(0, column)),
        };
        let query = sqlx::query(statement).bind(tenant.as_str()).bind(graph_id.as_str()).bind(number);
        let row = query.fetch_optional(&mut *self.connection().await?).await.map_err(failure)?;
        let row = row.ok_or(Error::GraphNotFound)?;
        let found: Option<i64> = row.try_get("version").map_err(failure)?;
        match (found, selector) {
            (Some(_), _) => Ok(row),
            (None, VersionSelector::Latest) => Err(Error::GraphCorrupt),
            (None, VersionSelector::Version(_)) => Err(Error::VersionNotFound),
        }
    }

    async fn read_content(
        &self,
        tenant: Tenant,
        graph_id: GraphId,
        selector: VersionSelector,
        coding: Coding,
    ) -> Result<StoredGraph> {
        let row = self.row(SELECT_CONTENT, tenant, graph_id, selector).await?;
        let read = move || {
            let meta = meta(&row)?;
            let bytes = body(&row, &meta, coding)?.ok_or(Error::GraphCorrupt)?;
            Ok(StoredGraph { meta: Arc::new(meta), bytes, coding })
        };
        run_blocking(read).await
    }

    async fn entries(&self, tenant: Tenant, graph_id: GraphId) -> Result<Vec<VersionEntry>> {
        let query = sqlx::query(SELECT_VERSIONS).bind(tenant.as_str()).bind(graph_id.as_str());
        let rows = query.fetch_all(&mut *self.connection().await?).await.map_err(failure)?;
        let entry = |row: &PgRow| {
            let version = Version::number(number(row, "version")?);
            Ok(VersionEntry { version, created_on: Timestamp(field(row, "created_on")?) })
        };
        let entries: Vec<VersionEntry> = rows.iter().map(entry).collect::<Result<_>>()?;
        if entries.is_empty() { Err(Error::GraphNotFound) } else { Ok(entries) }
    }

    async fn list_page(
        &self,
        tenant: Tenant,
        prefix: String,
        after: String,
        limit: usize,
    ) -> Result<Vec<Arc<GraphMeta>>> {
        let query = sqlx::query(SELECT_PAGE).bind(tenant.as_str()).bind(after).bind(prefix).bind(column(limit as u64));
        let rows = query.fetch_all(&mut *self.connection().await?).await.map_err(failure)?;
        rows.iter().map(|row| meta(row).map(Arc::new)).collect()
    }

    async fn verify_all(&self) -> Result<VerifyReport> {
        let mut verified = VerifyReport::default();
        let mut last = (String::new(), String::new(), 0_i64);
        loop {
            let query = sqlx::query(SELECT_VERIFY_PAGE).bind(&last.0).bind(&last.1).bind(last.2).bind(VERIFY_PAGE_SIZE);
            let rows = query.fetch_all(&mut *self.connection().await?).await.map_err(failure)?;
            let Some(row) = rows.last() else { return Ok(verified) };
            last = (field(row, "tenant")?, field(row, "graph_id")?, field(row, "version")?);
            verified.versions += rows.len() as u64;
            let corrupt = run_blocking(move || {
                rows.iter().filter_map(|row| corrupt_version(row).transpose()).collect::<Result<Vec<_>>>()
            });
            verified.corrupt.extend(corrupt.await?);
        }
    }

    async fn is_writable(&self) -> Result<bool> {
        let row = sqlx::query(SELECT_WRITABLE).fetch_one(&mut *self.connection().await?).await.map_err(failure)?;
        field(&row, "is_writable")
    }
}

impl Store for SqlStore {
    fn commit<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        draft: GraphDraft,
        precondition: &'a Precondition,
    ) -> StoreFuture<'a, CommitResult> {
        self.with_health_check(self.commit_draft(tenant.clone(), graph_id.clone(), draft, precondition.clone()))
    }

    fn head<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        selector: &'a VersionSelector,
    ) -> StoreFuture<'a, Arc<GraphMeta>> {
        let row = self.row(SELECT_META, tenant.clone(), graph_id.clone(), selector.clone());
        self.with_health_check(async { meta(&row.await?).map(Arc::new) })
    }

    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        selector: &'a VersionSelector,
        coding: Coding,
    ) -> StoreFuture<'a, StoredGraph> {
        self.with_health_check(self.read_content(tenant.clone(), graph_id.clone(), selector.clone(), coding))
    }

    fn versions<'a>(&'a self, tenant: &'a Tenant, graph_id: &'a GraphId) -> StoreFuture<'a, Vec<VersionEntry>> {
        self.with_health_check(self.entries(tenant.clone(), graph_id.clone()))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a GraphId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<GraphMeta>>> {
        let after = after.map_or(String::new(), |graph_id| graph_id.as_str().to_owned());
        self.with_health_check(self.list_page(tenant.clone(), prefix.to_owned(), after, limit))
    }

    fn delete<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        precondition: &'a Precondition,
    ) -> StoreFuture<'a, ()> {
        self.with_health_check(self.delete_graph(tenant.clone(), graph_id.clone(), precondition.clone()))
    }

    fn verify(&self) -> StoreFuture<'_, VerifyReport> {
        self.with_health_check(self.verify_all())
    }

    fn state(&self) -> Pin<Box<dyn Future<Output = StoreState> + Send + '_>> {
        Box::pin(async {
            match self.with_health_check(self.is_writable()).await {
                Ok(true) => StoreState::Writable,
                Ok(false) => StoreState::ReadOnly("the database is read-only".into()),
                Err(error) => StoreState::Unavailable(error.to_string()),
            }
        })
    }
}

/// Returns the migrations of the graph tables, with their own migration table because other components may share the
/// database.
fn migrations() -> Migrator {
    let migration = |(version, name, text): (i64, &'static str, &'static str)| {
        Migration::new(version, Cow::Borrowed(name), MigrationType::Simple, SqlStr::from_static(text), false)
    };
    let mut migrator = Migrator::with_migrations(MIGRATIONS.map(migration).into());
    migrator.dangerous_set_table_name("graph_migration");
    migrator
}

/// Locks a graph and returns its version counter, or `None` if it never existed.
async fn lock_graph(tx: &mut Transaction<'_, Postgres>, tenant: &Tenant, graph_id: &GraphId) -> Result<Option<u64>> {
    let query = sqlx::query(LOCK_GRAPH).bind(tenant.as_str()).bind(graph_id.as_str());
    let row = query.fetch_optional(&mut **tx).await.map_err(failure)?;
    row.map(|row| number(&row, "counter")).transpose()
}

async fn latest_meta(
    tx: &mut Transaction<'_, Postgres>,
    tenant: &Tenant,
    graph_id: &GraphId,
) -> Result<Option<GraphMeta>> {
    let query = sqlx::query(SELECT_META).bind(tenant.as_str()).bind(graph_id.as_str()).bind(None::<i64>);
    let row = query.fetch_optional(&mut **tx).await.map_err(failure)?;
    row.map(|row| meta(&row)).transpose()
}

/// Verifies the hashes of the latest version.
async fn latest_is_intact(tx: &mut Transaction<'_, Postgres>, tenant: &Tenant, graph_id: &GraphId) -> Result<bool> {
    let query = sqlx::query(SELECT_CONTENT).bind(tenant.as_str()).bind(graph_id.as_str()).bind(None::<i64>);
    let row = query.fetch_one(&mut **tx).await.map_err(failure)?;
    run_blocking(move || is_row_intact(&row, &meta(&row)?)).await
}

async fn check_quota(
    tx: &mut Transaction<'_, Postgres>,
    tenant: &Tenant,
    quota: &TenantQuota,
    bytes: u64,
    is_new: bool,
) -> Result<()> {
    if !quota.is_limited() {
        return Ok(());
    }
    let used = sqlx::query(SELECT_USAGE).bind(tenant.as_str()).fetch_one(&mut **tx).await.map_err(failure)?;
    if number(&used, "bytes")?.saturating_add(bytes) > quota.bytes {
        return Err(Error::InsufficientStorage(format!("the tenant quota of {} bytes is exceeded", quota.bytes)));
    }
    if is_new && number(&used, "graphs")? >= quota.graphs {
        return Err(Error::InsufficientStorage(format!("the tenant quota of {} graphs is exceeded", quota.graphs)));
    }
    Ok(())
}

async fn compress(draft: GraphDraft, number: u64) -> Result<CompressedVersion> {
    run_blocking(move || CompressedVersion::new(&draft, Version::number(number))).await
}

fn meta(row: &PgRow) -> Result<GraphMeta> {
    let drawing_name: Option<Vec<u8>> = field(row, "drawing_name")?;
    Ok(GraphMeta {
        graph_id: GraphId::parse(&field::<String>(row, "graph_id")?).map_err(|_| Error::GraphCorrupt)?,
        version: Version::number(number(row, "version")?),
        schema_version: field(row, "schema_version")?,
        drawing_name: drawing_name.map(|name| String::from_utf8_lossy(&name).into_owned()),
        nodes: number(row, "nodes")?,
        edges: number(row, "edges")?,
        size: number(row, "size")?,
        sha256: hash(row, "sha256")?,
        content_hash: hash(row, "content_sha256")?,
        created_on: Timestamp(field(row, "created_on")?),
    })
}

/// Returns the content of a row in the given coding, or `None` if its hash does not match.
fn body(row: &PgRow, meta: &GraphMeta, coding: Coding) -> Result<Option<Bytes>> {
    let body: Vec<u8> = field(row, "body")?;
    Ok(content(meta, &hash(row, "body_sha256")?, body.into(), coding))
}

/// Returns the identity of a version if it is corrupt.
fn corrupt_version(row: &PgRow) -> Result<Option<(Tenant, GraphId, Version)>> {
    let meta = meta(row)?;
    if is_row_intact(row, &meta)? {
        return Ok(None);
    }
    Ok(Some((Tenant::parse(&field::<String>(row, "tenant")?)?, meta.graph_id, meta.version)))
}

/// Verifies the hashes of a row.
fn is_row_intact(row: &PgRow, meta: &GraphMeta) -> Result<bool> {
    Ok(is_intact(meta, body(row, meta, Coding::Identity)?))
}

fn field<'r, T: sqlx::Decode<'r, Postgres> + sqlx::Type<Postgres>>(row: &'r PgRow, name: &str) -> Result<T> {
    row.try_get(name).map_err(failure)
}

fn number(row: &PgRow, name: &str) -> Result<u64> {
    u64::try_from(field::<i64>(row, name)?).map_err(|_| Error::GraphCorrupt)
}

fn hash(row: &PgRow, name: &str) -> Result<[u8; 32]> {
    field::<Vec<u8>>(row, name)?.try_into().map_err(|_| Error::GraphCorrupt)
}

/// Converts a number to a column value. Actual numbers stay far below the limit.
fn column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unavailable(error: impl std::fmt::Display) -> Error {
    Error::StoreUnavailable(error.to_string())
}

/// Converts a database error: `disk_full`, `read_only_sql_transaction`; errors without a code are connection failures.
fn failure(error: sqlx::Error) -> Error {
    let reason = format!("database error: {error}");
    match error.as_database_error().and_then(|error| error.code()).as_deref() {
        Some("53100") => Error::InsufficientStorage(reason),
        Some("25006") => Error::ReadOnly(reason),
        Some(code) if code.starts_with("57") || code.starts_with("53") || code.starts_with("08") => {
            Error::StoreUnavailable(reason)
        }
        Some(_) => Error::StorageFailure(reason),
        None => Error::StoreUnavailable(reason),
    }
}
