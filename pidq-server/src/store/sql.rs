//! Graphs as rows in PostgreSQL, for several replicas: what one has committed, all see.
//!
//! A job is a row that writers lock, so that they come one after the other wherever they run; a version is a row that
//! never changes. Readers lock nothing.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use pidq_http::database::{IMPATIENT, Server, postgres_options};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, Row, SqlStr, Transaction};
use tokio::sync::Semaphore;

use super::error::{Error, Result};
use super::file::{Packed, content, is_sound};
use super::{
    Answer, Coding, Committed, JobId, Keep, Meta, Options, Outcome, Precondition, Share, State, Store, StoredGraph,
    Tenant, Timestamp, Verified, Version, VersionEntry, Which, aside,
};
use crate::door::Draft;

const MIGRATIONS: [(i64, &str, &str); 1] = [(1, "graphs", include_str!("../../migrations/graphs/0001_graphs.sql"))];

/// Versions that are looked at together.
const PAGE: i64 = 16;

/// A database may be set to answer before it has synced. Here an answer is a promise.
const BE_DURABLE: &str =
    "select set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'";

const TAKE_TENANT: &str = "select pg_advisory_xact_lock(hashtextextended($1, 0))";

const ADD_JOB: &str = "insert into graph_job (tenant, job, counter) values ($1, $2, 0) on conflict do nothing";

const TAKE_JOB: &str = "select counter, latest from graph_job where tenant = $1 and job = $2 for update";

const SHOW_VERSION: &str = "update graph_job set counter = $3, latest = $3 where tenant = $1 and job = $2";

const HIDE_JOB: &str = "update graph_job set latest = null where tenant = $1 and job = $2";

const HEAD: &str = "select job.latest, version.job, version.version, version.schema_version, version.drawing_name,
    version.nodes, version.edges, version.size, version.created_on, version.sha256, version.content
from graph_job job
left join graph_version version
    on version.tenant = job.tenant and version.job = job.job and version.version = coalesce($3, job.latest)
where job.tenant = $1 and job.job = $2 and job.latest is not null";

const GET: &str = "select job.latest, version.job, version.version, version.schema_version, version.drawing_name,
    version.nodes, version.edges, version.size, version.created_on, version.sha256, version.content,
    version.packed_sha256, version.packed
from graph_job job
left join graph_version version
    on version.tenant = job.tenant and version.job = job.job and version.version = coalesce($3, job.latest)
where job.tenant = $1 and job.job = $2 and job.latest is not null";

const VERSIONS: &str = "select version, created_on from graph_version where tenant = $1 and job = $2
order by version desc";

const LIST: &str = "select version.job, version.version, version.schema_version, version.drawing_name,
    version.nodes, version.edges, version.size, version.created_on, version.sha256, version.content
from graph_job job
join graph_version version
    on version.tenant = job.tenant and version.job = job.job and version.version = job.latest
where job.tenant = $1 and job.job > $2 and job.job >= $3 and starts_with(job.job, $3)
order by job.job
limit $4";

const ADD_VERSION: &str = "insert into graph_version (tenant, job, version, schema_version, drawing_name, nodes,
    edges, size, created_on, sha256, content, packed_sha256, packed)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

const REMOVE_OLD: &str = "delete from graph_version where tenant = $1 and job = $2 and version <= (
    select version from graph_version where tenant = $1 and job = $2 order by version desc offset $3 limit 1)";

const REMOVE_ALL: &str = "delete from graph_version where tenant = $1 and job = $2";

const USED: &str = "select coalesce(sum(octet_length(packed)), 0)::bigint as bytes, count(distinct job) as graphs
from graph_version where tenant = $1";

const PAGE_OF_ALL: &str = "select tenant, job, version, schema_version, drawing_name, nodes, edges, size, created_on,
    sha256, content, packed_sha256, packed
from graph_version where (tenant, job, version) > ($1, $2, $3)
order by tenant, job, version
limit $4";

const TAKES_WRITES: &str = "select current_setting('transaction_read_only') = 'off' as takes_writes";

/// A store in a database.
pub struct Sql {
    server: Server,
    options: Options,
    /// Writers wait for each other holding a connection: half of them stay for readers.
    writers: Semaphore,
}

impl Sql {
    /// Connects to `postgres://…` with at most so many connections (two at least), and makes the tables that are not there.
    ///
    /// # Errors
    /// `store-unavailable`.
    pub async fn open(url: &str, connections: u32, options: Options) -> Result<Sql> {
        let target = postgres_options(url).map_err(unavailable)?.application_name("pidq-server").options(IMPATIENT);
        let server = Server::open(target, connections.max(2)).await.map_err(failure)?;
        let mut connection = server.connection().await.map_err(unavailable)?;
        migrations().run(&mut *connection).await.map_err(unavailable)?;
        let writers = Semaphore::new((connections as usize / 2).max(1));
        Ok(Sql { server, options, writers })
    }

    /// What an operation gives. One that broke off has somebody look, so that the next caller need not wait to know.
    fn watched<'a, T: Send + 'a>(&'a self, operation: impl Future<Output = Result<T>> + Send + 'a) -> Answer<'a, T> {
        Box::pin(async {
            let outcome = operation.await;
            if matches!(outcome, Err(Error::StoreUnavailable(_))) {
                self.server.look();
            }
            outcome
        })
    }

    async fn put(&self, tenant: Tenant, job: JobId, draft: Draft, precondition: Precondition) -> Result<Committed> {
        let _one_of_few = self.writers.acquire().await;
        let mut work = self.begin().await?;
        if self.options.share.is_limited() {
            // First of all locks, so that two who wait for each other cannot be.
            sqlx::query(TAKE_TENANT).bind(tenant.as_str()).execute(&mut *work).await.map_err(failure)?;
        }
        sqlx::query(ADD_JOB).bind(tenant.as_str()).bind(job.as_str()).execute(&mut *work).await.map_err(failure)?;
        let counter = take(&mut work, &tenant, &job).await?.unwrap_or(0);
        let latest = head(&mut work, &tenant, &job).await?;
        precondition.check(latest.as_ref().map(Meta::etag).as_ref())?;
        let is_new = latest.is_none();
        // Whoever is told "stored" must find it: what is damaged is written anew.
        if let Some(latest) = latest.filter(|latest| latest.content == draft.content)
            && is_kept(&mut work, &tenant, &job).await?
        {
            return Ok(Committed { meta: Arc::new(latest), outcome: Outcome::Unchanged });
        }
        let packed = pack(draft, counter + 1).await?;
        check_share(&mut work, &tenant, &self.options.share, packed.body.len() as u64, is_new).await?;
        let packed = self.add(&mut work, &tenant, packed).await?;
        work.commit().await.map_err(failure)?;
        let outcome = if is_new { Outcome::Created } else { Outcome::Changed };
        Ok(Committed { meta: Arc::new(packed), outcome })
    }

    async fn begin(&self) -> Result<Transaction<'static, Postgres>> {
        let mut work = self.server.begin().await.map_err(unavailable)?;
        sqlx::query(BE_DURABLE).execute(&mut *work).await.map_err(failure)?;
        Ok(work)
    }

    async fn connection(&self) -> Result<PoolConnection<Postgres>> {
        self.server.connection().await.map_err(unavailable)
    }

    async fn add(&self, work: &mut Transaction<'_, Postgres>, tenant: &Tenant, packed: Packed) -> Result<Meta> {
        let hash = packed.body_hash();
        let Packed { meta, body } = packed;
        let version = column(meta.version.as_number().unwrap_or(0));
        let (tenant, job) = (tenant.as_str(), meta.job.as_str());
        let add = sqlx::query(ADD_VERSION).bind(tenant).bind(job).bind(version).bind(&meta.schema_version);
        let add = add.bind(meta.drawing_name.as_deref().map(str::as_bytes));
        let add = add.bind(column(meta.nodes)).bind(column(meta.edges)).bind(column(meta.size));
        let add = add.bind(column(meta.created_on.0)).bind(&meta.sha256[..]).bind(&meta.content[..]);
        add.bind(&hash[..]).bind(body).execute(&mut **work).await.map_err(failure)?;
        let show = sqlx::query(SHOW_VERSION).bind(tenant).bind(job).bind(version);
        show.execute(&mut **work).await.map_err(failure)?;
        if let Keep::Last(most) = self.options.keep {
            let tidy = sqlx::query(REMOVE_OLD).bind(tenant).bind(job).bind(column(most.get() as u64));
            tidy.execute(&mut **work).await.map_err(failure)?;
        }
        Ok(meta)
    }

    async fn remove(&self, tenant: Tenant, job: JobId, precondition: Precondition) -> Result<()> {
        let _one_of_few = self.writers.acquire().await;
        let mut work = self.begin().await?;
        take(&mut work, &tenant, &job).await?.ok_or(Error::GraphNotFound)?;
        let latest = head(&mut work, &tenant, &job).await?.ok_or(Error::GraphNotFound)?;
        precondition.check(Some(&latest.etag()))?;
        for statement in [HIDE_JOB, REMOVE_ALL] {
            let removed = sqlx::query(statement).bind(tenant.as_str()).bind(job.as_str()).execute(&mut *work).await;
            removed.map_err(failure)?;
        }
        work.commit().await.map_err(failure)
    }

    /// The row of a version, by one of the statements that look for it.
    async fn row(&self, statement: &'static str, tenant: Tenant, job: JobId, which: Which) -> Result<PgRow> {
        let number = match &which {
            Which::Latest => None,
            // No version has the number 0.
            Which::Version(version) => Some(version.as_number().map_or(0, column)),
        };
        let query = sqlx::query(statement).bind(tenant.as_str()).bind(job.as_str()).bind(number);
        let row = query.fetch_optional(&mut *self.connection().await?).await.map_err(failure)?;
        let row = row.ok_or(Error::GraphNotFound)?;
        let found: Option<i64> = row.try_get("version").map_err(failure)?;
        match (found, which) {
            (Some(_), _) => Ok(row),
            (None, Which::Latest) => Err(Error::GraphCorrupt),
            (None, Which::Version(_)) => Err(Error::VersionNotFound),
        }
    }

    async fn content(&self, tenant: Tenant, job: JobId, which: Which, coding: Coding) -> Result<StoredGraph> {
        let row = self.row(GET, tenant, job, which).await?;
        let read = move || {
            let meta = meta(&row)?;
            let bytes = body(&row, &meta, coding)?.ok_or(Error::GraphCorrupt)?;
            Ok(StoredGraph { meta: Arc::new(meta), bytes, coding })
        };
        aside(read).await
    }

    async fn entries(&self, tenant: Tenant, job: JobId) -> Result<Vec<VersionEntry>> {
        let query = sqlx::query(VERSIONS).bind(tenant.as_str()).bind(job.as_str());
        let rows = query.fetch_all(&mut *self.connection().await?).await.map_err(failure)?;
        let entry = |row: &PgRow| {
            let version = Version::number(number(row, "version")?);
            Ok(VersionEntry { version, created_on: Timestamp(number(row, "created_on")?) })
        };
        let entries: Vec<VersionEntry> = rows.iter().map(entry).collect::<Result<_>>()?;
        if entries.is_empty() { Err(Error::GraphNotFound) } else { Ok(entries) }
    }

    async fn page(&self, tenant: Tenant, prefix: String, after: String, limit: usize) -> Result<Vec<Arc<Meta>>> {
        let query = sqlx::query(LIST).bind(tenant.as_str()).bind(after).bind(prefix).bind(column(limit as u64));
        let rows = query.fetch_all(&mut *self.connection().await?).await.map_err(failure)?;
        rows.iter().map(|row| meta(row).map(Arc::new)).collect()
    }

    async fn look_at_all(&self) -> Result<Verified> {
        let mut verified = Verified::default();
        let mut last = (String::new(), String::new(), 0_i64);
        loop {
            let query = sqlx::query(PAGE_OF_ALL).bind(&last.0).bind(&last.1).bind(last.2).bind(PAGE);
            let rows = query.fetch_all(&mut *self.connection().await?).await.map_err(failure)?;
            let Some(row) = rows.last() else { return Ok(verified) };
            last = (field(row, "tenant")?, field(row, "job")?, field(row, "version")?);
            verified.versions += rows.len() as u64;
            let corrupt =
                aside(move || rows.iter().filter_map(|row| damage(row).transpose()).collect::<Result<Vec<_>>>());
            verified.corrupt.extend(corrupt.await?);
        }
    }

    async fn takes_writes(&self) -> Result<bool> {
        let row = sqlx::query(TAKES_WRITES).fetch_one(&mut *self.connection().await?).await.map_err(failure)?;
        field(&row, "takes_writes")
    }
}

impl Store for Sql {
    fn commit<'a>(
        &'a self,
        tenant: &'a Tenant,
        job: &'a JobId,
        draft: Draft,
        precondition: &'a Precondition,
    ) -> Answer<'a, Committed> {
        self.watched(self.put(tenant.clone(), job.clone(), draft, precondition.clone()))
    }

    fn head<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId, which: &'a Which) -> Answer<'a, Arc<Meta>> {
        let row = self.row(HEAD, tenant.clone(), job.clone(), which.clone());
        self.watched(async { meta(&row.await?).map(Arc::new) })
    }

    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        job: &'a JobId,
        which: &'a Which,
        coding: Coding,
    ) -> Answer<'a, StoredGraph> {
        self.watched(self.content(tenant.clone(), job.clone(), which.clone(), coding))
    }

    fn versions<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId) -> Answer<'a, Vec<VersionEntry>> {
        self.watched(self.entries(tenant.clone(), job.clone()))
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a JobId>,
        limit: usize,
    ) -> Answer<'a, Vec<Arc<Meta>>> {
        let after = after.map_or(String::new(), |job| job.as_str().to_owned());
        self.watched(self.page(tenant.clone(), prefix.to_owned(), after, limit))
    }

    fn delete<'a>(&'a self, tenant: &'a Tenant, job: &'a JobId, precondition: &'a Precondition) -> Answer<'a, ()> {
        self.watched(self.remove(tenant.clone(), job.clone(), precondition.clone()))
    }

    fn verify(&self) -> Answer<'_, Verified> {
        self.watched(self.look_at_all())
    }

    fn state(&self) -> Pin<Box<dyn Future<Output = State> + Send + '_>> {
        Box::pin(async {
            match self.watched(self.takes_writes()).await {
                Ok(true) => State::Writable,
                Ok(false) => State::ReadOnly("the database takes no writes".into()),
                Err(error) => State::Unavailable(error.to_string()),
            }
        })
    }
}

/// Those of the graphs, with a table of their own: other rooms may keep theirs in the same database.
fn migrations() -> Migrator {
    let migration = |(version, name, text): (i64, &'static str, &'static str)| {
        Migration::new(version, Cow::Borrowed(name), MigrationType::Simple, SqlStr::from_static(text), false)
    };
    let mut migrator = Migrator::with_migrations(MIGRATIONS.map(migration).into());
    migrator.dangerous_set_table_name("graph_migration");
    migrator
}

/// Locks a job, and gives how far it has counted. `None` when it never had a graph.
async fn take(work: &mut Transaction<'_, Postgres>, tenant: &Tenant, job: &JobId) -> Result<Option<u64>> {
    let query = sqlx::query(TAKE_JOB).bind(tenant.as_str()).bind(job.as_str());
    let row = query.fetch_optional(&mut **work).await.map_err(failure)?;
    row.map(|row| number(&row, "counter")).transpose()
}

async fn head(work: &mut Transaction<'_, Postgres>, tenant: &Tenant, job: &JobId) -> Result<Option<Meta>> {
    let query = sqlx::query(HEAD).bind(tenant.as_str()).bind(job.as_str()).bind(None::<i64>);
    let row = query.fetch_optional(&mut **work).await.map_err(failure)?;
    row.map(|row| meta(&row)).transpose()
}

/// Whether the latest version is what was stored.
async fn is_kept(work: &mut Transaction<'_, Postgres>, tenant: &Tenant, job: &JobId) -> Result<bool> {
    let query = sqlx::query(GET).bind(tenant.as_str()).bind(job.as_str()).bind(None::<i64>);
    let row = query.fetch_one(&mut **work).await.map_err(failure)?;
    aside(move || is_whole(&row, &meta(&row)?)).await
}

async fn check_share(
    work: &mut Transaction<'_, Postgres>,
    tenant: &Tenant,
    share: &Share,
    bytes: u64,
    is_new: bool,
) -> Result<()> {
    if !share.is_limited() {
        return Ok(());
    }
    let used = sqlx::query(USED).bind(tenant.as_str()).fetch_one(&mut **work).await.map_err(failure)?;
    if number(&used, "bytes")?.saturating_add(bytes) > share.bytes {
        return Err(Error::InsufficientStorage(format!("the tenant may store {} bytes", share.bytes)));
    }
    if is_new && number(&used, "graphs")? >= share.graphs {
        return Err(Error::InsufficientStorage(format!("the tenant may store {} graphs", share.graphs)));
    }
    Ok(())
}

async fn pack(draft: Draft, number: u64) -> Result<Packed> {
    aside(move || Packed::new(&draft, Version::number(number))).await
}

fn meta(row: &PgRow) -> Result<Meta> {
    let drawing_name: Option<Vec<u8>> = field(row, "drawing_name")?;
    Ok(Meta {
        job: JobId::parse(&field::<String>(row, "job")?).map_err(|_| Error::GraphCorrupt)?,
        version: Version::number(number(row, "version")?),
        schema_version: field(row, "schema_version")?,
        drawing_name: drawing_name.map(|name| String::from_utf8_lossy(&name).into_owned()),
        nodes: number(row, "nodes")?,
        edges: number(row, "edges")?,
        size: number(row, "size")?,
        sha256: hash(row, "sha256")?,
        content: hash(row, "content")?,
        created_on: Timestamp(number(row, "created_on")?),
    })
}

/// The content of a row in a coding, if it is what was stored.
fn body(row: &PgRow, meta: &Meta, coding: Coding) -> Result<Option<Bytes>> {
    let packed: Vec<u8> = field(row, "packed")?;
    Ok(content(meta, &hash(row, "packed_sha256")?, packed.into(), coding))
}

/// The name of a version, if it is damaged.
fn damage(row: &PgRow) -> Result<Option<(Tenant, JobId, Version)>> {
    let meta = meta(row)?;
    if is_whole(row, &meta)? {
        return Ok(None);
    }
    Ok(Some((Tenant::parse(&field::<String>(row, "tenant")?)?, meta.job, meta.version)))
}

/// Whether a row is what was stored.
fn is_whole(row: &PgRow, meta: &Meta) -> Result<bool> {
    Ok(is_sound(meta, body(row, meta, Coding::Identity)?))
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

/// A number as the database has it. None of ours comes near the limit.
fn column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unavailable(error: impl std::fmt::Display) -> Error {
    Error::StoreUnavailable(error.to_string())
}

/// `disk_full`, `read_only_sql_transaction`; what has no code did not reach the database.
fn failure(error: sqlx::Error) -> Error {
    let why = format!("the database: {error}");
    match error.as_database_error().and_then(|error| error.code()).as_deref() {
        Some("53100") => Error::InsufficientStorage(why),
        Some("25006") => Error::ReadOnly(why),
        Some(code) if code.starts_with("57") || code.starts_with("53") || code.starts_with("08") => {
            Error::StoreUnavailable(why)
        }
        Some(_) => Error::StorageFailure(why),
        None => Error::StoreUnavailable(why),
    }
}
