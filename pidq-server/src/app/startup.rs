//! Construction of the service from settings: store, accounts, caches and threads.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::{
    Algorithm, BootstrapAccounts, ClaimMap, CreatedCredentials, DefaultAccess, Identities, IdentityError,
    IdentityOptions, Provider, ProviderSettings, TenantSource, Timestamp, TokenProfile,
};
use pidq_http::database::{Database, DatabaseError};
use pidq_http::{App, CommonSettings, CursorSigner, SettingError, Settings, ThreadPool, client_tls};

use crate::app::routes::ROUTES;
use crate::caches::result_cache::ResultCache;
use crate::caches::{BodyCache, GraphCache, QueryCache};
use crate::memory::memory_pool::MemoryPool;
use crate::metrics::{Metrics, sync_observer};
use crate::server::{DEFAULT_TENANT, QueryLimits, Server, authenticate, check_readiness};
use crate::store::read_only_dir::{self, ReadOnlyDir};
use crate::store::validation::ValidationRules;
use crate::store::{self, Error, Event, Store, SyncObserver, Tenant, TenantQuota};

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
    /// An I/O error occurred.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Opens the service described by the settings.
///
/// # Errors
/// Names the component that cannot be opened, and the reason. Messages contain no secrets.
pub async fn open(settings: &Settings) -> Result<App<Server>, OpenError> {
    let accounts = open_accounts_and_provider(settings).await?;
    let cursors = cursors(accounts.as_ref()).await?;
    let metrics = Arc::new(Metrics::default());
    let store = open_graph_store(settings, sync_observer(&metrics)).await?;
    let query_memory = bytes(settings.size("PIDQ_QUERY_MEMORY_TOTAL")?);
    // Cached results and running queries share one budget; the cache gets at most half of it.
    let results = bytes(settings.size("PIDQ_RESULT_CACHE_SIZE")?).min(query_memory / 2);
    let memory = Arc::new(MemoryPool::new(query_memory - results));
    let graph_cache_size = bytes(settings.size("PIDQ_GRAPH_CACHE_SIZE")?);
    let server = Server {
        public_host: CommonSettings(settings).public_host()?,
        store,
        identities: accounts,
        graph_cache: Arc::new(GraphCache::new(graph_cache_size)),
        body_cache: BodyCache::new(BODY_CACHE_SIZE.min(graph_cache_size), memory.clone()),
        query_cache: Arc::new(QueryCache::new(QUERY_CACHE_LIMITS.0, QUERY_CACHE_LIMITS.1)),
        thread_pool: ThreadPool::new(threads(settings)?, settings.parsed("PIDQ_QUERY_QUEUE_LIMIT")?),
        memory_pool: memory,
        result_cache: ResultCache::new(results),
        buffer_pool: Arc::default(),
        cursors,
        metrics,
        validation: validation_rules(settings)?,
        query_limits: query_limits(settings)?,
        require_if_match: settings.switch("PIDQ_REQUIRE_IF_MATCH")?,
    };
    let mut app = App::new("pidq-server", env!("CARGO_PKG_VERSION"), server, ROUTES);
    app.authenticate = authenticate;
    app.readiness = check_readiness;
    app.state.metrics.register(&mut app.registry, app.state.thread_pool.clone());
    CommonSettings(settings).apply_to(&mut app)?;
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
    let database = match settings.optional("PIDQ_DATABASE_URL")? {
        Some(url) => {
            let opened = Database::open_with_statement_timeout(url).await;
            opened.map_err(|error| settings.invalid("PIDQ_DATABASE_URL", &error.to_string()))?
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
    let (retention, tenant_quota) = (settings.parsed("PIDQ_VERSIONS_RETAINED")?, tenant_quota(settings)?);
    let options = store::Options { retention, quota: tenant_quota, events: Arc::new(log_event), on_sync };
    match settings.optional("PIDQ_STORE_URL")? {
        Some(url) => {
            let opened = store::open(url, options).await;
            Ok(opened.map_err(|error| settings.invalid("PIDQ_STORE_URL", &error.to_string()))?)
        }
        None => Ok(store::open(&format!("dir:{}", data_dir(settings)?.join("graphs").display()), options).await?),
    }
}

async fn open_graph_store(settings: &Settings, on_sync: SyncObserver) -> Result<Arc<dyn Store>, OpenError> {
    match settings.path("PIDQ_GRAPH_DIR")? {
        Some(path) if !path.is_dir() => {
            let reason = format!("`{}` is not a directory with `GRAPH_ID.json` files", path.display());
            Err(settings.invalid("PIDQ_GRAPH_DIR", &reason).into())
        }
        Some(path) => {
            let (rules, events) = (validation_rules(settings)?, Arc::new(log_event));
            let read_only_dir =
                ReadOnlyDir::open(path, read_only_dir::Options { rules, events, ..read_only_dir::Options::default() });
            Ok(Arc::new(read_only_dir.map_err(|error| settings.invalid("PIDQ_GRAPH_DIR", &error.to_string()))?))
        }
        None => open_store_with(settings, on_sync).await,
    }
}

async fn open_accounts_and_provider(settings: &Settings) -> Result<Option<Identities>, OpenError> {
    let provider = provider(settings)?;
    if settings.required("PIDQ_AUTH")? == "off" {
        return match provider {
            Some(_) => Err(settings
                .invalid("PIDQ_AUTH", "`off` disables authentication; it cannot be combined with `PIDQ_SSO_ISSUER`")
                .into()),
            None => Ok(None),
        };
    }
    let identities = open_accounts(settings).await?;
    if identities.options().password_grant {
        tracing::info!(
            "the password grant is enabled (discouraged by RFC 9700); disable it with PIDQ_PASSWORD_GRANT=off"
        );
    }
    let accounts = bootstrap_accounts(settings)?;
    if let Some(created) = identities.bootstrap(accounts, Timestamp::now()).await.map_err(add_setting_names)? {
        print_credentials(&created);
    }
    Ok(Some(match provider {
        Some(provider) => identities.with_provider(provider),
        None => identities,
    }))
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

fn bootstrap_accounts(settings: &Settings) -> Result<BootstrapAccounts<'_>, SettingError> {
    Ok(BootstrapAccounts {
        tenant: DEFAULT_TENANT,
        login: settings.required("PIDQ_ADMIN_LOGIN")?,
        password: settings.optional("PIDQ_ADMIN_PASSWORD")?,
        client_id: settings.required("PIDQ_CLIENT_ID")?,
        client_secret: settings.optional("PIDQ_CLIENT_SECRET")?,
    })
}

/// Prints the generated credentials once to standard error; they are not stored in plain text.
fn print_credentials(created: &CreatedCredentials) {
    eprintln!("First start: created an account and a client:");
    let rows = [
        ("username", Some(created.login.as_str())),
        ("password", created.password.as_ref().map(|secret| secret.expose())),
        ("client_id", Some(created.client_id.as_str())),
        ("client_secret", created.client_secret.as_ref().map(|secret| secret.expose())),
    ];
    for (name, value) in rows {
        eprintln!("  {name:<14} {}", value.unwrap_or("(from the settings)"));
    }
    eprintln!("Generated secrets are not shown again.");
}

fn identity_options(settings: &Settings) -> Result<IdentityOptions, SettingError> {
    Ok(IdentityOptions {
        default_access: match settings.required("PIDQ_DEFAULT_ACCESS")? {
            "none" => DefaultAccess::None,
            _ => DefaultAccess::TenantReads,
        },
        ..CommonSettings(settings).identity_options(&base_url(settings)?)?
    })
}

/// Returns the base URL that clients use.
fn base_url(settings: &Settings) -> Result<String, SettingError> {
    if let Some(url) = CommonSettings(settings).public_url()? {
        return Ok(url.to_owned());
    }
    let scheme = if settings.path("PIDQ_TLS_CERT")?.is_some() { "https" } else { "http" };
    let addresses: Vec<SocketAddr> = settings.list("PIDQ_LISTEN")?;
    let address = addresses.first().map_or_else(|| "127.0.0.1:8080".into(), SocketAddr::to_string);
    Ok(format!("{scheme}://{address}"))
}

/// Settings without a default that require `PIDQ_SSO_ISSUER`.
const SSO_SETTINGS: [&str; 7] = [
    "PIDQ_SSO_AUDIENCE",
    "PIDQ_SSO_JWKS_URI",
    "PIDQ_SSO_TYPES",
    "PIDQ_SSO_DIRECTORIES",
    "PIDQ_SSO_CA",
    "PIDQ_SSO_SCOPE_CLAIM",
    "PIDQ_SSO_ADMIN_ROLES",
];

fn provider(settings: &Settings) -> Result<Option<Provider>, SettingError> {
    let Some(provider_settings) = provider_settings(settings)? else {
        let unused = SSO_SETTINGS.iter().find(|name| settings.optional(name).is_ok_and(|value| value.is_some()));
        return match unused {
            Some(name) => Err(settings.invalid(name, "requires `PIDQ_SSO_ISSUER`")),
            None => Ok(None),
        };
    };
    let invalid = |error: IdentityError| settings.invalid("PIDQ_SSO_ISSUER", &error.to_string());
    Provider::new(provider_settings).map(Some).map_err(invalid)
}

fn provider_settings(settings: &Settings) -> Result<Option<ProviderSettings>, SettingError> {
    let Some(issuer) = settings.optional("PIDQ_SSO_ISSUER")? else { return Ok(None) };
    let profile = match settings.required("PIDQ_SSO_PROFILE")? {
        "entra" => {
            TokenProfile::Entra { directories: required_list(settings, "PIDQ_SSO_DIRECTORIES", "with `entra`")? }
        }
        "custom" => TokenProfile::Custom { types: settings.list("PIDQ_SSO_TYPES")? },
        _ => TokenProfile::Rfc9068,
    };
    Ok(Some(ProviderSettings {
        issuer: issuer.to_owned(),
        audiences: required_list(settings, "PIDQ_SSO_AUDIENCE", "with `PIDQ_SSO_ISSUER`")?,
        jwks_uri: settings.optional("PIDQ_SSO_JWKS_URI")?.map(str::to_owned),
        algorithms: algorithms(settings)?,
        claims: claims(settings, &profile)?,
        profile,
        clock_skew: clock_skew(settings)?,
        root_certificates: ca_certificates(settings)?,
    }))
}

/// Parses a list that must not be empty.
fn required_list(settings: &Settings, name: &str, when: &str) -> Result<Vec<String>, SettingError> {
    let values: Vec<String> = settings.list(name)?;
    if values.is_empty() { Err(settings.invalid(name, &format!("required {when}"))) } else { Ok(values) }
}

fn clock_skew(settings: &Settings) -> Result<Duration, SettingError> {
    match settings.duration("PIDQ_SSO_CLOCK_SKEW")? {
        skew if skew > Duration::from_secs(60) => Err(settings.invalid("PIDQ_SSO_CLOCK_SKEW", "must be at most 60s")),
        skew => Ok(skew),
    }
}

/// Reads and validates the additional CA certificates.
fn ca_certificates(settings: &Settings) -> Result<Option<String>, SettingError> {
    let Some(path) = settings.path("PIDQ_SSO_CA")? else { return Ok(None) };
    let wrong = |what: &dyn fmt::Display| settings.invalid("PIDQ_SSO_CA", &format!("`{}`: {what}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(&error))?;
    client_tls(Some(&text)).map_err(|what| wrong(&what))?;
    Ok(Some(text))
}

fn algorithms(settings: &Settings) -> Result<Vec<Algorithm>, SettingError> {
    let names = required_list(settings, "PIDQ_SSO_ALGORITHMS", "with `PIDQ_SSO_ISSUER`")?;
    let known = |name: &String| {
        Algorithm::from_name(name)
            .ok_or_else(|| settings.invalid("PIDQ_SSO_ALGORITHMS", &format!("`{name}` is not supported")))
    };
    names.iter().map(known).collect()
}

fn claims(settings: &Settings, profile: &TokenProfile) -> Result<ClaimMap, SettingError> {
    let default_claim = if let TokenProfile::Entra { .. } = profile { "scp" } else { "scope" };
    let pairs: Vec<String> = settings.list("PIDQ_SSO_SCOPES")?;
    // A provider scope may be a URL that contains `=`.
    let pair = |pair: &String| match pair.rsplit_once('=') {
        Some((provider_scope, scope @ ("read" | "write"))) => Ok((provider_scope.trim().to_owned(), scope.to_owned())),
        _ => Err(settings.invalid(
            "PIDQ_SSO_SCOPES",
            &format!("expected `PROVIDER_SCOPE=read` or `PROVIDER_SCOPE=write`, found `{pair}`"),
        )),
    };
    let tenant = settings.required("PIDQ_SSO_TENANT")?;
    Ok(ClaimMap {
        scope: settings.optional("PIDQ_SSO_SCOPE_CLAIM")?.unwrap_or(default_claim).to_owned(),
        scopes: pairs.iter().map(pair).collect::<Result<_, _>>()?,
        roles: settings.required("PIDQ_SSO_ROLES_CLAIM")?.to_owned(),
        admin_roles: settings.list("PIDQ_SSO_ADMIN_ROLES")?,
        groups: settings.required("PIDQ_SSO_GROUPS_CLAIM")?.to_owned(),
        tenant: match (tenant.strip_prefix("claim:"), Tenant::parse(tenant)) {
            (Some(claim), _) if !claim.is_empty() => TenantSource::Claim(claim.to_owned()),
            (None, Ok(_)) => TenantSource::Fixed(tenant.to_owned()),
            _ => return Err(settings.invalid("PIDQ_SSO_TENANT", "expected a tenant or `claim:NAME`")),
        },
    })
}

fn data_dir(settings: &Settings) -> Result<PathBuf, OpenError> {
    let path = settings.path("PIDQ_DATA_DIR")?.unwrap_or_else(|| PathBuf::from("data"));
    let create_error = |error| {
        settings.invalid("PIDQ_DATA_DIR", &format!("cannot create the directory `{}`: {error}", path.display()))
    };
    std::fs::create_dir_all(&path).map_err(create_error)?;
    Ok(path)
}

fn tenant_quota(settings: &Settings) -> Result<TenantQuota, SettingError> {
    match settings.optional("PIDQ_TENANT_QUOTA")? {
        Some(_) => Ok(TenantQuota { bytes: settings.size("PIDQ_TENANT_QUOTA")?, ..TenantQuota::default() }),
        None => Ok(TenantQuota::default()),
    }
}

fn validation_rules(settings: &Settings) -> Result<ValidationRules, SettingError> {
    Ok(ValidationRules { bytes: bytes(settings.size("PIDQ_MAX_GRAPH_SIZE")?), ..ValidationRules::default() })
}

fn query_limits(settings: &Settings) -> Result<QueryLimits, SettingError> {
    let output = bytes(settings.size("PIDQ_MAX_RESULT_SIZE")?);
    Ok(QueryLimits {
        fuel: settings.parsed("PIDQ_QUERY_FUEL")?,
        memory: bytes(settings.size("PIDQ_QUERY_MEMORY")?),
        output,
        ndjson_output: output.saturating_mul(4),
        timeout: settings.duration("PIDQ_QUERY_TIMEOUT")?,
        ..QueryLimits::default()
    })
}

fn threads(settings: &Settings) -> Result<usize, SettingError> {
    let configured: usize = settings.parsed("PIDQ_QUERY_THREADS")?;
    Ok(if configured == 0 { ThreadPool::default_threads() } else { configured })
}

fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
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
