//! Startup: builds the platform and its HTTP service from the settings.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pidq_extract::SandboxOptions;
use pidq_http::auth::{Identities, IdentityError, MasterCredentials, Provider, Timestamp};
use pidq_http::database::{Database, DatabaseError};
use pidq_http::header::HeaderName;
use pidq_http::{App, CommonSettings, CursorSigner, LISTEN, SettingError, Settings, ThreadPool};
use pidq_store::crypto::Encryptor;
use pidq_store::domain::license;
use pidq_store::spool::Spool;
use pidq_store::{Outbox, Store, StoreError};

use crate::api::audit_middleware;
use crate::api::auth;
use crate::api::handlers::limits::{
    self, CHUNK_LIMIT, CLASSIFICATION_LIMIT, JSON_SIZE, METADATA_SIZE, QUESTION_LENGTH_LIMIT, UPLOAD_SIZE,
};
use crate::api::idempotency;
use crate::api::routes::ROUTES;
use crate::app::settings::{
    ANN_THRESHOLD, ANSWER_REQUIRES, ANSWER_RETENTION, ANSWER_STREAM_LIMIT, APP_LICENSE, APP_MASTER_KEY,
    APP_MASTER_SECRET, APP_SECRET, AUDIT_RETENTION, CACHE_MEMORY, DATA_DIR, DATABASE_URL, DATAMARKING,
    EVENT_STREAM_LIMIT, EVENTS_INCLUDE_NAMES, EVENTS_RETENTION, EXTRACTOR, INDEX_MEMORY, JOB_LEASE_TTL, LICENSE_MODE,
    LICENSE_PUBLIC_KEYS, MODEL_DIR, NATS_URL, PIPELINE_LIMIT, REDIS_TIMEOUT, REDIS_URL, SNAPSHOT_DIR,
    SNAPSHOT_TOTAL_SIZE, TABLES, UPLOAD_DIR, UPLOAD_MEMORY, UPLOAD_SPOOL_SIZE, WEBHOOK_DISABLE_AFTER, WEBHOOK_TIMEOUT,
};
use crate::background::gauges::IndexCollector;
use crate::cluster::cache::{Cache, Redis};
use crate::cluster::event_feed::Feed;
use crate::cluster::health::DependencyCollector;
use crate::cluster::pubsub::PubSub;
use crate::embedding_registry::{EmbeddingService, ModelRegistry};
use crate::fair_queue::FairQueue;
use crate::generation::graph_client::{GraphService, RemoteGraphService};
use crate::generation::prompt::Spotlighting;
use crate::llm::{Client, ClientOptions};
use crate::net::egress::{Backend, Guard, LLM_CA, Listeners, Policy};
use crate::net::tls_roots::RootCertificates;
use crate::net::webhook_client::WebhookClient;
use crate::platform::account_limit_cache::AccountLimitCache;
use crate::platform::accounts::Accounts;
use crate::platform::licensing::Licensing;
use crate::platform::metrics::Metrics;
use crate::platform::programs::Programs;
use crate::platform::rate_limit::RateLimits;
use crate::platform::{
    Access, Generation, Ingestion, JobNotifier, Limits, Messaging, Platform, Retention, Search, TENANT, readiness,
};
use crate::retrieval::index_cache::{IndexCache, SnapshotFiles};
use crate::retrieval::pgvector::PgvectorIndex;
use crate::retrieval::reranker::Reranker;
use crate::shared_budget::SharedBudget;
use crate::upload_budget::UploadBudget;

/// Error of opening the platform; its message contains the remedy.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A setting is wrong.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The database cannot be opened.
    #[error("the database cannot be opened: {0}")]
    Store(#[from] StoreError),
    /// The master key cannot be stored.
    #[error("the master key cannot be stored: {0}")]
    Accounts(#[from] IdentityError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl From<DatabaseError> for OpenError {
    fn from(error: DatabaseError) -> OpenError {
        OpenError::Store(error.into())
    }
}

/// Name of the service in `/version` and in traces.
const SERVICE_NAME: &str = "pidq-pipeline";

/// Version of the HTTP API below `/api`. Breaking changes get a new path.
const API_VERSION: &str = "2026-11-01";

/// Concurrent previews: each runs an extractor process of its own.
const PREVIEW_LIMIT: usize = 2;
/// Concurrently rendered pages: each in a process of its own.
const PAGE_IMAGE_LIMIT: usize = 2;
/// Searches that may wait for a thread.
const SEARCH_QUEUE_LIMIT: usize = 64;

/// Shortest job lease. With a shorter one, a slow database would let leases of running workers expire.
const MIN_JOB_LEASE: Duration = Duration::from_secs(1);

/// Arguments that make this program extract a document.
pub(crate) const EXTRACTOR_ARGUMENTS: &[&str] = &["pipeline", "read-document"];

/// Opens the platform: the database, caches, clients and models that the settings name.
///
/// # Errors
/// If a setting is invalid or a resource cannot be opened. The message contains no secrets.
pub async fn open(settings: &Settings) -> Result<App<Platform>, OpenError> {
    open_with_accounts(settings, None, None).await
}

/// Opens the platform, which also accepts the access tokens of an identity provider if it has accounts. Without a master
/// key, it accepts all requests, and the accounts of the process around it tell whose token a request has.
///
/// # Errors
/// As [`open`].
pub async fn open_with_accounts(
    settings: &Settings,
    provider: Option<Provider>,
    host_accounts: Option<Identities>,
) -> Result<App<Platform>, OpenError> {
    let database = database(settings).await?;
    let accounts = open_accounts(settings, &database, provider).await?;
    let pgvector = PgvectorIndex::open(&database, settings.get(&ANN_THRESHOLD)?).await;
    let store = Store::open(database).await?.with_outbox(Outbox::new(settings.get(&EVENTS_INCLUDE_NAMES)?));
    let installation = store.installation_id().await?;
    let (pubsub, redis) = (pubsub(settings)?, redis(settings)?);
    let listeners = Listeners::default();
    let platform = Platform {
        licensing: licensing(settings, &installation)?,
        metrics: Metrics::default(),
        tracer: CommonSettings(settings).tracer(SERVICE_NAME, env!("CARGO_PKG_VERSION"))?,
        cursors: cursors(settings)?,
        encryptor: encryptor(settings)?,
        limits: platform_limits(settings)?,
        webhooks: webhooks(settings, &listeners)?,
        access: Access {
            public_host: CommonSettings(settings).public_host()?,
            accounts,
            host_accounts,
            account_limits: AccountLimitCache::default(),
            rate_limits: RateLimits::from_settings(settings, redis.clone(), &installation)?,
        },
        ingestion: ingestion(settings)?,
        search: search(settings, pgvector, redis.clone(), &installation)?,
        generation: generation(settings, &listeners)?,
        listeners,
        retention: Retention { audit: settings.get(&AUDIT_RETENTION)?, events: settings.get(&EVENTS_RETENTION)? },
        messaging: Messaging {
            redis,
            job_notifier: JobNotifier::new(&pubsub),
            pubsub,
            feed: Feed::new(store.last_position().await?, settings.get(&EVENT_STREAM_LIMIT)?),
        },
        store,
    };
    platform.licensing.refresh(&platform.store).await?;
    build_service(platform, settings)
}

fn ingestion(settings: &Settings) -> Result<Ingestion, OpenError> {
    let programs = Programs::from_settings(settings)?;
    let limits = limits::extraction_limits(settings)?;
    let scratch_dir = programs.converter.as_ref().map(|_| std::env::temp_dir());
    Ok(Ingestion {
        uploads: uploads(settings)?,
        previews: FairQueue::new(PREVIEW_LIMIT),
        page_images: FairQueue::new(PAGE_IMAGE_LIMIT),
        job_lease: settings.get(&JOB_LEASE_TTL)?.max(MIN_JOB_LEASE),
        extraction_limits: programs.apply_to(limits),
        programs,
        extractor: SandboxOptions { scratch_dir, ..limits::with_timeout(extractor(settings)?, settings)? },
        readers: Arc::default(),
    })
}

fn search(
    settings: &Settings,
    pgvector: Option<Arc<PgvectorIndex>>,
    redis: Option<Arc<Redis>>,
    installation: &str,
) -> Result<Search, OpenError> {
    let root_certificates = llm_ca(settings)?;
    Ok(Search {
        models: ModelRegistry::new(
            settings.get(&MODEL_DIR)?,
            EmbeddingService::from_settings(settings, root_certificates.as_deref())?,
        ),
        indexes: indexes(settings)?,
        pgvector,
        search_threads: ThreadPool::new(ThreadPool::default_threads(), SEARCH_QUEUE_LIMIT),
        reranker: Reranker::from_settings(settings, root_certificates.as_deref())?,
        cache: cache(settings, redis, installation)?,
    })
}

fn generation(settings: &Settings, listeners: &Listeners) -> Result<Generation, OpenError> {
    let answer_streams = settings.get(&ANSWER_STREAM_LIMIT)?;
    let marks_data = settings.get(&DATAMARKING)?;
    Ok(Generation {
        llm: llm(settings, listeners)?,
        required_support: settings.get(&ANSWER_REQUIRES)?,
        spotlighting: if marks_data { Spotlighting::Datamarking } else { Spotlighting::Delimiting },
        graph_service: graph_service(settings)?,
        answer_streams: SharedBudget::new(answer_streams as u64),
    })
}

/// Builds the HTTP service: the platform's routes and request hooks.
fn build_service(platform: Platform, settings: &Settings) -> Result<App<Platform>, OpenError> {
    let mut app = App::new(SERVICE_NAME, env!("CARGO_PKG_VERSION"), platform, ROUTES);
    app.authenticate = auth::authenticate;
    app.middleware = idempotency::middleware;
    app.on_forbidden = audit_middleware::record_rejection;
    app.schema_limits = limits::schema_limits(&app.state.limits);
    app.readiness = readiness;
    app.components = app.state.ingestion.programs.components().collect();
    app.state.search.cache.register(&mut app.registry);
    app.state.metrics.register(&mut app.registry);
    app.registry.register_collector(Box::new(IndexCollector(Arc::clone(&app.state))));
    app.registry.register_collector(Box::new(DependencyCollector(app.state.dependencies())));
    app.headers = vec![(HeaderName::from_static("pidq-version"), API_VERSION)];
    app.tracer = app.state.tracer.clone();
    CommonSettings(settings).apply_to(&mut app)?;
    app.limits = app.state.limits.http;
    // Replaces the HTTP server's own limiter, which counts in this process only.
    app.rate_limit = None;
    app.rate_limit_hook =
        |platform, method, path, caller| Box::pin(platform.access.rate_limits.charge(method, path, caller));
    Ok(app)
}

fn platform_limits(settings: &Settings) -> Result<Limits, OpenError> {
    Ok(Limits {
        upload_size: settings.get(&UPLOAD_SIZE)?,
        pipelines: settings.get(&PIPELINE_LIMIT)?,
        classifications: settings.get(&CLASSIFICATION_LIMIT)?,
        question_length: settings.get(&QUESTION_LENGTH_LIMIT)?,
        metadata_size: settings.get(&METADATA_SIZE)?,
        chunks_per_document: settings.get(&CHUNK_LIMIT)?,
        attachments: limits::attachment_limits(settings)?,
        answer_retention: settings.get(&ANSWER_RETENTION)?,
        answer_streams: settings.get(&ANSWER_STREAM_LIMIT)?,
        event_streams: settings.get(&EVENT_STREAM_LIMIT)?,
        http: http_limits(settings)?,
    })
}

/// Returns the system id of the installation, to which licenses are bound.
///
/// # Errors
/// As [`open`].
pub async fn system_id(
    arguments: impl IntoIterator<Item = String>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<String, OpenError> {
    let settings = Settings::read(TABLES, arguments, environment)?;
    let store = Store::open(database(&settings).await?).await?;
    Ok(license::system_id(&store.installation_id().await?))
}

/// Creates or updates the tables of the platform, without starting anything.
///
/// # Errors
/// If the database cannot be opened, or a newer version has already changed it.
pub async fn migrate(settings: &Settings) -> Result<(), OpenError> {
    let database = database(settings).await?;
    PgvectorIndex::open(&database, settings.get(&ANN_THRESHOLD)?).await;
    Store::open(database).await?;
    Ok(())
}

/// Returns the limits of the HTTP server, with the platform's maximum size of a JSON body.
fn http_limits(settings: &Settings) -> Result<pidq_http::Limits, SettingError> {
    Ok(pidq_http::Limits { json_body_size: settings.get(&JSON_SIZE)?, ..CommonSettings(settings).limits()? })
}

/// Opens the configured database.
async fn database(settings: &Settings) -> Result<Database, OpenError> {
    if let Some(url) = settings.get(&DATABASE_URL)? {
        let opened = Database::open(url.expose()).await;
        return Ok(opened.map_err(|error| settings.invalid(&DATABASE_URL, &error.to_string()))?);
    }
    Ok(Database::open(&format!("sqlite:{}", default_database(settings)?.display())).await?)
}

/// Returns the file of the database if the settings name none.
fn default_database(settings: &Settings) -> Result<PathBuf, SettingError> {
    Ok(settings.get(&DATA_DIR)?.join("pipeline.db"))
}

/// Warns of a worker whose database no service has: it would wait for documents forever.
pub(crate) fn warn_about_new_database(settings: &Settings) -> Result<(), SettingError> {
    let file = default_database(settings)?;
    if !settings.is_set(&DATABASE_URL) && !file.exists() {
        tracing::warn!(
            file = %file.display(),
            "`PIDQ_DATABASE_URL` is not set, and no service has its documents in the data directory: the worker will have \
             nothing to do; set the variable to the database of the service"
        );
    }
    Ok(())
}

/// Opens the upload budget and the spool directory.
fn uploads(settings: &Settings) -> Result<UploadBudget, SettingError> {
    let folder = match settings.get(&UPLOAD_DIR)? {
        Some(folder) => folder,
        None => settings.get(&DATA_DIR)?.join("uploads"),
    };
    let (memory, disk) = (settings.get(&UPLOAD_MEMORY)?, settings.get(&UPLOAD_SPOOL_SIZE)?);
    Ok(UploadBudget::new(memory, disk, settings.get(&UPLOAD_SIZE)?, Spool::open(folder)))
}

/// Opens the index cache and its snapshot directory.
fn indexes(settings: &Settings) -> Result<IndexCache, SettingError> {
    let memory = settings.get(&INDEX_MEMORY)?;
    let (indexes, disk) = (IndexCache::new(memory), settings.get(&SNAPSHOT_TOTAL_SIZE)?);
    let folder = match settings.get(&SNAPSHOT_DIR)? {
        Some(folder) => folder,
        None => settings.get(&DATA_DIR)?.join("snapshots"),
    };
    Ok(if disk > 0 { indexes.with_snapshots(SnapshotFiles::new(folder, disk)) } else { indexes })
}

/// Opens the messaging between processes, over NATS if configured.
fn pubsub(settings: &Settings) -> Result<PubSub, SettingError> {
    let Some(url) = settings.get(&NATS_URL)? else { return Ok(PubSub::in_process()) };
    let roots = RootCertificates::from_settings(settings)?;
    PubSub::over_nats(url.expose(), roots.as_ref().map(|roots| &*roots.path))
        .map_err(|error| settings.invalid(&NATS_URL, &error.to_string()))
}

/// Opens Redis, if configured.
fn redis(settings: &Settings) -> Result<Option<Arc<Redis>>, SettingError> {
    let Some(url) = settings.get(&REDIS_URL)? else { return Ok(None) };
    let roots = RootCertificates::from_settings(settings)?;
    let redis = Redis::open(url.expose(), settings.get(&REDIS_TIMEOUT)?, roots.as_ref().map(|roots| &*roots.pem))
        .map_err(|error| settings.invalid(&REDIS_URL, &error.to_string()))?;
    Ok(Some(Arc::new(redis)))
}

/// Opens the search cache: shared by all processes if Redis and the app secret are configured.
fn cache(settings: &Settings, redis: Option<Arc<Redis>>, installation: &str) -> Result<Cache, SettingError> {
    let bytes = settings.get(&CACHE_MEMORY)?;
    Ok(match (redis, settings.get(&APP_SECRET)?) {
        (Some(redis), Some(secret)) => Cache::with_redis(redis, &secret, installation, bytes),
        _ => Cache::in_process(bytes),
    })
}

/// Error for a platform without a master key that other machines could reach.
pub(crate) fn missing_master_key(settings: &Settings, address: SocketAddr) -> SettingError {
    let reason =
        format!("required, because the server listens on {address} and would accept requests without authentication");
    settings.invalid(&APP_MASTER_KEY, &reason)
}

/// Opens the accounts with the master key; `None` on loopback without a master key.
async fn open_accounts(
    settings: &Settings,
    database: &Database,
    provider: Option<Provider>,
) -> Result<Option<Accounts>, OpenError> {
    let Some(key) = settings.get(&APP_MASTER_KEY)? else {
        if settings.is_set(&APP_MASTER_SECRET) {
            // A secret without an id is a mistake: the administrator expects authentication.
            let reason = "required, because `PIDQ_APP_MASTER_SECRET` is set and has no effect without it";
            return Err(settings.invalid(&APP_MASTER_KEY, reason).into());
        }
        let listen_addresses = settings.get(&LISTEN)?;
        if let Some(address) = listen_addresses.iter().find(|address| !address.ip().is_loopback()) {
            return Err(missing_master_key(settings, *address).into());
        }
        return match CommonSettings(settings).reason_of_remote_clients()? {
            Some(reason) => {
                let reason = format!("required, because {reason}: others would be accepted without authentication");
                Err(settings.invalid(&APP_MASTER_KEY, &reason).into())
            }
            None => Ok(None),
        };
    };
    let (key, secret) = (key.expose(), settings.required(&APP_MASTER_SECRET)?);
    let options = CommonSettings(settings).identity_options("http://pidq-pipeline")?;
    let identities = Identities::open(database.clone(), options).await?;
    identities.ensure_master(MasterCredentials { key, secret: &secret, tenant: TENANT }, Timestamp::now()).await?;
    let identities = match provider {
        Some(provider) => identities.with_provider(provider),
        None => identities,
    };
    Ok(Some(Accounts { identities, master: key.to_owned() }))
}

/// Opens the client of language models. It never connects to the platform's own backends and listeners.
fn llm(settings: &Settings, listeners: &Listeners) -> Result<Client, OpenError> {
    let policy = Policy::for_llm(settings, is_on_loopback(settings)?, backends(settings)?)?;
    let guard = egress_guard(settings, policy)?.with_listeners(listeners.clone());
    Ok(Client::new(guard, ClientOptions::default()))
}

/// Opens the client of webhooks. It never connects to the platform's own backends and listeners either.
fn webhooks(settings: &Settings, listeners: &Listeners) -> Result<WebhookClient, OpenError> {
    let policy = Policy::for_webhooks(settings, is_on_loopback(settings)?, backends(settings)?)?;
    Ok(WebhookClient {
        guard: egress_guard(settings, policy)?.with_listeners(listeners.clone()),
        timeout: settings.get(&WEBHOOK_TIMEOUT)?,
        disable_after: settings.get(&WEBHOOK_DISABLE_AFTER)?,
    })
}

fn is_on_loopback(settings: &Settings) -> Result<bool, SettingError> {
    let listen_addresses = settings.get(&LISTEN)?;
    Ok(listen_addresses.iter().all(|address| address.ip().is_loopback()))
}

fn egress_guard(settings: &Settings, policy: Policy) -> Result<Guard, OpenError> {
    Guard::new(policy, llm_ca(settings)?.as_deref()).map_err(|reason| settings.invalid(&LLM_CA, &reason).into())
}

/// Reads the CA certificates that are trusted in addition to the public ones.
fn llm_ca(settings: &Settings) -> Result<Option<String>, OpenError> {
    Ok(settings.get(&LLM_CA)?.map(std::fs::read_to_string).transpose()?)
}

/// Opens the client of the graph query service, if configured.
fn graph_service(settings: &Settings) -> Result<OnceLock<Arc<dyn GraphService>>, OpenError> {
    let service = OnceLock::new();
    if let Some(remote) = RemoteGraphService::from_settings(settings, llm_ca(settings)?.as_deref())? {
        drop(service.set(Arc::new(remote) as Arc<dyn GraphService>));
    }
    Ok(service)
}

/// Returns the addresses of the platform's own backends: database, Redis and NATS, and its public address.
fn backends(settings: &Settings) -> Result<Vec<Backend>, SettingError> {
    let mut backends = Vec::new();
    for row in [&DATABASE_URL, &REDIS_URL, &NATS_URL] {
        // NATS may have several URLs.
        let urls = settings.get(row)?;
        backends
            .extend(urls.iter().flat_map(|urls| urls.expose().split(',')).map(str::trim).filter_map(Backend::from_url));
    }
    let public_url = CommonSettings(settings).public_url()?;
    backends.extend(public_url.as_deref().and_then(Backend::from_url));
    Ok(backends)
}

/// Returns the extractor: the configured program, else `pidq-extract` next to this one, else this one.
fn extractor(settings: &Settings) -> Result<SandboxOptions, SettingError> {
    match settings.get(&EXTRACTOR)? {
        Some(program) => Ok(SandboxOptions::new(program, EXTRACTOR_ARGUMENTS)),
        None => {
            SandboxOptions::installed(EXTRACTOR_ARGUMENTS).map_err(|error| settings.invalid(&EXTRACTOR, &error.detail))
        }
    }
}

fn licensing(settings: &Settings, installation: &str) -> Result<Licensing, SettingError> {
    let (mode, trusted_keys) = (settings.get(&LICENSE_MODE)?, settings.get(&LICENSE_PUBLIC_KEYS)?);
    let license = settings.get(&APP_LICENSE)?;
    Ok(Licensing::new(mode, license::system_id(installation), trusted_keys, license))
}

fn cursors(settings: &Settings) -> Result<CursorSigner, SettingError> {
    Ok(settings
        .get(&APP_SECRET)?
        .map_or_else(CursorSigner::new, |secret| CursorSigner::from_key(secret.expose().as_bytes())))
}

fn encryptor(settings: &Settings) -> Result<Encryptor, OpenError> {
    match settings.get(&APP_SECRET)? {
        Some(secret) => Ok(Encryptor::from_secret(&secret)),
        None => Encryptor::ephemeral()
            .ok_or_else(|| std::io::Error::other("the system's random number generator failed").into()),
    }
}
