//! Construction of the service from settings: store, accounts, caches and threads.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pidq_http::auth::{
    BootstrapAccounts, CreatedCredentials, FirstPassword, Identities, IdentityError, IdentityOptions, Timestamp,
};
use pidq_http::database::{Database, DatabaseError};
use pidq_http::{App, CommonSettings, CursorSigner, LISTEN, Secret, SettingError, Settings, TLS_CERT, ThreadPool};

use crate::app::accounts_marker::AccountsMarker;
use crate::app::routes::ROUTES;
use crate::app::setting_types::AuthMode;
use crate::app::settings::{
    ADMIN_LOGIN, ADMIN_PASSWORD, AUTH, CLIENT_ID, CLIENT_SECRET, DATA_DIR, DATABASE_URL, DEFAULT_ACCESS,
    GRAPH_CACHE_SIZE, GRAPH_DIR, MAX_GRAPH_SIZE, MAX_RESULT_SIZE, QUERY_FUEL, QUERY_MEMORY, QUERY_MEMORY_TOTAL,
    QUERY_QUEUE_LIMIT, QUERY_THREADS, QUERY_TIMEOUT, REQUIRE_IF_MATCH, RESULT_CACHE_SIZE, STORE_URL, TENANT_QUOTA,
    VERSIONS_RETAINED,
};
use crate::app::sso::identity_provider;
use crate::caches::result_cache::ResultCache;
use crate::caches::{BodyCache, GraphCache, QueryCache};
use crate::memory::memory_pool::MemoryPool;
use crate::memory::upload_permits::UploadPermits;
use crate::metrics::{Metrics, sync_observer};
use crate::server::{DEFAULT_TENANT, QueryLimits, Server, authenticate, check_readiness};
use crate::store::read_only_dir::{self, ReadOnlyDir};
use crate::store::validation::ValidationRules;
use crate::store::{self, Error, Event, Store, SyncObserver, TenantQuota};

/// Maximum size of the body cache in bytes; it never exceeds the graph cache.
const BODY_CACHE_SIZE: usize = 64 << 20;
/// Capacity of the query cache: entries and bytes.
const QUERY_CACHE_LIMITS: (usize, usize) = (1000, 64 << 20);

/// Error of opening the service.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A setting is invalid.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The store cannot be opened.
    #[error("cannot open the graph store: {0}")]
    Store(#[from] Error),
    /// The accounts cannot be opened.
    #[error("cannot open the accounts: {0}")]
    Accounts(#[from] IdentityError),
    /// The database of the accounts cannot be opened.
    #[error("cannot open the accounts: {0}")]
    Database(#[from] DatabaseError),
    /// There were accounts at an earlier start.
    #[error(
        "the accounts are lost: the account database is missing or empty, but accounts were created in the data directory \
         `{0}`; check `PIDQ_DATABASE_URL`, restore the database from a backup, or create accounts with `pidq users add` and `pidq clients add`"
    )]
    AccountsLost(String),
    /// An I/O error occurred.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Opens the service described by the settings.
///
/// # Errors
/// Names the component that cannot be opened, and the reason. Messages contain no secrets.
pub async fn open(settings: &Settings) -> Result<App<Server>, OpenError> {
    let (accounts, created) = open_accounts_and_provider(settings).await?;
    let cursors = cursors(accounts.as_ref()).await?;
    let metrics = Arc::new(Metrics::default());
    let store = open_graph_store(settings, sync_observer(&metrics)).await?;
    let query_memory = settings.get(&QUERY_MEMORY_TOTAL)?;
    // Cached results and running queries share one budget; the cache gets at most half of it.
    let results = settings.get(&RESULT_CACHE_SIZE)?.min(query_memory / 2);
    let memory = Arc::new(MemoryPool::new(query_memory - results));
    let graph_cache_size = settings.get(&GRAPH_CACHE_SIZE)?;
    let validation = validation_rules(settings)?;
    let server = Server {
        public_host: CommonSettings(settings).public_host()?,
        store,
        identities: accounts,
        is_first_start: created.is_some(),
        first_credentials: Mutex::new(created),
        graph_cache: Arc::new(GraphCache::new(graph_cache_size, validation.bytes)),
        body_cache: BodyCache::new(BODY_CACHE_SIZE.min(graph_cache_size), memory.clone()),
        query_cache: Arc::new(QueryCache::new(QUERY_CACHE_LIMITS.0, QUERY_CACHE_LIMITS.1)),
        upload_permits: UploadPermits::new(validation.bytes),
        thread_pool: ThreadPool::new(threads(settings)?, settings.get(&QUERY_QUEUE_LIMIT)?),
        memory_pool: memory,
        result_cache: ResultCache::new(results),
        buffer_pool: Arc::default(),
        cursors,
        metrics,
        validation,
        query_limits: query_limits(settings)?,
        require_if_match: settings.get(&REQUIRE_IF_MATCH)?,
    };
    let mut app = App::new("pidq-server", env!("CARGO_PKG_VERSION"), server, ROUTES);
    app.authenticate = authenticate;
    app.readiness = check_readiness;
    app.state.metrics.register(&mut app.registry, app.state.thread_pool.clone());
    CommonSettings(settings).apply_to(&mut app)?;
    app.tracer = CommonSettings(settings).tracer(app.name, env!("CARGO_PKG_VERSION"))?;
    if app.state.identities.is_some() {
        app.resource_metadata = Some(format!("{}/.well-known/oauth-protected-resource", base_url(settings)?));
    }
    Ok(app)
}

/// Opens the account database, also for the administration commands.
///
/// # Errors
/// As [`open`].
pub async fn open_accounts(settings: &Settings) -> Result<Identities, OpenError> {
    let database = match settings.get(&DATABASE_URL)? {
        Some(url) => {
            let opened = Database::open_with_statement_timeout(url.expose()).await;
            opened.map_err(|error| settings.invalid(&DATABASE_URL, &error.to_string()))?
        }
        None => Database::open(&format!("sqlite:{}", data_dir(settings)?.join("pidq.db").display())).await?,
    };
    Ok(Identities::open(database, identity_options(settings)?).await?)
}

/// Opens the configured writable store.
///
/// # Errors
/// As [`open`].
pub async fn open_store(settings: &Settings) -> Result<Arc<dyn Store>, OpenError> {
    open_store_with(settings, store::Options::default().on_sync).await
}

async fn open_store_with(settings: &Settings, on_sync: SyncObserver) -> Result<Arc<dyn Store>, OpenError> {
    let (retention, tenant_quota) = (settings.get(&VERSIONS_RETAINED)?, tenant_quota(settings)?);
    let options = store::Options { retention, quota: tenant_quota, events: Arc::new(log_event), on_sync };
    match settings.get(&STORE_URL)? {
        Some(url) => {
            let opened = store::open(url.expose(), options).await;
            Ok(opened.map_err(|error| settings.invalid(&STORE_URL, &error.to_string()))?)
        }
        None => Ok(store::open(&format!("dir:{}", data_dir(settings)?.join("graphs").display()), options).await?),
    }
}

async fn open_graph_store(settings: &Settings, on_sync: SyncObserver) -> Result<Arc<dyn Store>, OpenError> {
    match settings.get(&GRAPH_DIR)? {
        Some(path) if !path.is_dir() => {
            let reason = format!("`{}` is not a directory with `GRAPH_ID.json` files", path.display());
            Err(settings.invalid(&GRAPH_DIR, &reason).into())
        }
        Some(path) => {
            let (rules, events) = (validation_rules(settings)?, Arc::new(log_event));
            let read_only_dir =
                ReadOnlyDir::open(path, read_only_dir::Options { rules, events, ..read_only_dir::Options::default() });
            Ok(Arc::new(read_only_dir.map_err(|error| settings.invalid(&GRAPH_DIR, &error.to_string()))?))
        }
        None => open_store_with(settings, on_sync).await,
    }
}

/// Opens the accounts, if any, and creates the first ones.
async fn open_accounts_and_provider(
    settings: &Settings,
) -> Result<(Option<Identities>, Option<CreatedCredentials>), OpenError> {
    let provider = identity_provider(settings)?;
    if settings.get(&AUTH)? == AuthMode::Off {
        return match provider {
            Some(_) => Err(settings
                .invalid(&AUTH, "`off` disables authentication; it cannot be combined with `PIDQ_SSO_ISSUER`")
                .into()),
            None => Ok((None, None)),
        };
    }
    let identities = open_accounts(settings).await?;
    if identities.options().password_grant {
        tracing::info!(
            "the password grant is enabled (discouraged by RFC 9700); disable it with PIDQ_PASSWORD_GRANT=off"
        );
    }
    let created = bootstrap_once(settings, &identities).await?;
    let identities = FirstAccounts::from_settings(settings)?.with_password(identities);
    let identities = match provider {
        Some(provider) => identities.with_provider(provider),
        None => identities,
    };
    Ok((Some(identities), created))
}

/// Adds the names of the relevant settings to an error about the first account or client.
fn add_setting_names(error: IdentityError) -> IdentityError {
    match error {
        IdentityError::Invalid(what) => IdentityError::Invalid(format!(
            "{what} (see `PIDQ_ADMIN_LOGIN`, `PIDQ_ADMIN_PASSWORD`, `PIDQ_CLIENT_ID`, `PIDQ_CLIENT_SECRET`)"
        )),
        other => other,
    }
}

/// Creates the cursor signer. With accounts, all replicas share its key.
async fn cursors(accounts: Option<&Identities>) -> Result<CursorSigner, IdentityError> {
    match accounts {
        Some(identities) => Ok(CursorSigner::from_key(identities.shared_key("cursors").await?.expose().as_bytes())),
        None => Ok(CursorSigner::new()),
    }
}

/// Creates the first account and client, unless there were accounts before: whoever starts a service without its account
/// database would otherwise get a service whose grants are forgotten and whose administrator is new.
async fn bootstrap_once(settings: &Settings, identities: &Identities) -> Result<Option<CreatedCredentials>, OpenError> {
    let marker = if uses_data_dir(settings)? { Some(AccountsMarker::new(&data_dir(settings)?)) } else { None };
    if let Some(marker) = &marker
        && marker.accounts_are_lost(identities).await?
    {
        return Err(OpenError::AccountsLost(settings.get(&DATA_DIR)?.display().to_string()));
    }
    let created = bootstrap(settings, identities).await?;
    marker.map_or(Ok(()), |marker| marker.write())?;
    Ok(created)
}

/// Returns true if the accounts or the graphs are in the data directory.
fn uses_data_dir(settings: &Settings) -> Result<bool, SettingError> {
    let has_graphs = settings.get(&GRAPH_DIR)?.is_none() && settings.get(&STORE_URL)?.is_none();
    Ok(settings.get(&DATABASE_URL)?.is_none() || has_graphs)
}

/// Creates the first account and client of the settings, if there are none.
async fn bootstrap(settings: &Settings, identities: &Identities) -> Result<Option<CreatedCredentials>, OpenError> {
    let first = FirstAccounts::from_settings(settings)?;
    Ok(identities.bootstrap(first.borrow(), Timestamp::now()).await.map_err(add_setting_names)?)
}

/// First account and client of the settings.
pub(crate) struct FirstAccounts {
    login: String,
    password: Option<Secret>,
    client_id: String,
    client_secret: Option<Secret>,
}

impl FirstAccounts {
    pub fn from_settings(settings: &Settings) -> Result<FirstAccounts, SettingError> {
        Ok(FirstAccounts {
            login: settings.get(&ADMIN_LOGIN)?,
            password: settings.get(&ADMIN_PASSWORD)?,
            client_id: settings.get(&CLIENT_ID)?,
            client_secret: settings.get(&CLIENT_SECRET)?,
        })
    }

    fn borrow(&self) -> BootstrapAccounts<'_> {
        BootstrapAccounts {
            tenant: DEFAULT_TENANT,
            login: &self.login,
            password: self.password.as_ref().map(Secret::expose),
            client_id: &self.client_id,
            client_secret: self.client_secret.as_ref().map(Secret::expose),
        }
    }

    /// Logs a warning if the client has another secret than the settings: only the first start reads theirs. The password
    /// is compared when a login fails.
    pub async fn warn_about_client_secret(&self, identities: &Identities) {
        let (client_id, Some(secret)) = (self.client_id.as_str(), &self.client_secret) else { return };
        match identities.has_other_secret(client_id, secret).await {
            Ok(false) => {}
            Ok(true) => tracing::warn!(
                client_id,
                "`PIDQ_CLIENT_SECRET` has no effect: the client has another secret, and only the first start reads the \
                 setting; get a new secret with `pidq clients rotate {client_id}`"
            ),
            Err(error) => tracing::debug!(%error, "the secret of the first client cannot be compared"),
        }
    }

    fn with_password(self, identities: Identities) -> Identities {
        let (login, setting) = (self.login, "PIDQ_ADMIN_PASSWORD");
        match self.password {
            Some(password) => identities.with_first_password(FirstPassword { login, password, setting }),
            None => identities,
        }
    }
}

fn identity_options(settings: &Settings) -> Result<IdentityOptions, SettingError> {
    Ok(IdentityOptions {
        default_access: settings.get(&DEFAULT_ACCESS)?,
        ..CommonSettings(settings).identity_options(&base_url(settings)?)?
    })
}

/// Returns the base URL that clients use.
fn base_url(settings: &Settings) -> Result<String, SettingError> {
    if let Some(url) = CommonSettings(settings).public_url()? {
        return Ok(url);
    }
    let scheme = if settings.is_set(&TLS_CERT) { "https" } else { "http" };
    let addresses = settings.get(&LISTEN)?;
    let address = addresses.first().map_or_else(|| "127.0.0.1:8080".into(), SocketAddr::to_string);
    Ok(format!("{scheme}://{address}"))
}

fn data_dir(settings: &Settings) -> Result<PathBuf, OpenError> {
    let path = settings.get(&DATA_DIR)?;
    let create_error =
        |error| settings.invalid(&DATA_DIR, &format!("cannot create the directory `{}`: {error}", path.display()));
    std::fs::create_dir_all(&path).map_err(create_error)?;
    Ok(path)
}

fn tenant_quota(settings: &Settings) -> Result<TenantQuota, SettingError> {
    let default = TenantQuota::default();
    Ok(TenantQuota { bytes: settings.get(&TENANT_QUOTA)?.unwrap_or(default.bytes), ..default })
}

fn validation_rules(settings: &Settings) -> Result<ValidationRules, SettingError> {
    Ok(ValidationRules { bytes: settings.get(&MAX_GRAPH_SIZE)?, ..ValidationRules::default() })
}

fn query_limits(settings: &Settings) -> Result<QueryLimits, SettingError> {
    let output = settings.get(&MAX_RESULT_SIZE)?;
    Ok(QueryLimits {
        fuel: settings.get(&QUERY_FUEL)?,
        memory: settings.get(&QUERY_MEMORY)?,
        output,
        ndjson_output: output.saturating_mul(4),
        timeout: settings.get(&QUERY_TIMEOUT)?,
        ..QueryLimits::default()
    })
}

fn threads(settings: &Settings) -> Result<usize, SettingError> {
    let configured = settings.get(&QUERY_THREADS)?;
    Ok(if configured == 0 { ThreadPool::default_threads() } else { configured })
}

/// Logs a store event.
fn log_event(event: &Event) {
    match event {
        Event::Reloaded { graphs, changed } => tracing::info!(graphs, changed, "served directory reloaded"),
        Event::InvalidFile { file, reason, keeps_previous } => {
            tracing::warn!(file, reason, keeps_previous, "a served file is invalid and was not loaded")
        }
        Event::Quarantined { tenant, graph_id, version } => {
            tracing::error!(tenant = tenant.as_str(), graph_id = graph_id.as_str(), %version, "a stored graph is corrupt and was quarantined");
        }
        Event::ReadOnly(reason) => tracing::error!(reason, "the store is read-only; writes are rejected"),
        Event::Writable => tracing::info!("the store accepts writes again"),
    }
}
