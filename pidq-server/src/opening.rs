//! From settings to an app: the store, the accounts, the threads.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::{
    Algorithm, ClaimMap, DefaultAccess, FirstStart, Identities, IdentityError, IdentityOptions, Made, Moment, Profile,
    Provider, ProviderSettings, TenantFrom,
};
use pidq_http::database::{Database, DatabaseError};
use pidq_http::{App, Cursors, Floor, SettingError, Settings, Work, client_tls};

use crate::door::Rules;
use crate::graphs::{Copies, Graphs, Queries};
use crate::memory::Memory;
use crate::meters::{Meters, sync_clock};
use crate::results::Results;
use crate::routes::ROUTES;
use crate::served::{self, Served};
use crate::server::{Budget, OPEN_TENANT, Server, authenticate, ready};
use crate::store::{self, Clock, Error, Event, Share, Store, Tenant};

/// Bytes of graphs that are kept as they are sent, at most as many as of graphs that were read.
const COPIES: usize = 64 << 20;
/// Queries that are kept compiled, and the memory for them.
const QUERIES: (usize, usize) = (1000, 64 << 20);
/// Why a service cannot be opened, and what to do.
#[derive(Debug)]
pub enum OpenError {
    /// A setting is wrong.
    Setting(SettingError),
    /// The store cannot be opened.
    Store(Error),
    /// The accounts cannot be opened.
    Accounts(IdentityError),
    /// The database of the accounts cannot be opened.
    Database(DatabaseError),
    /// The file system does not let us.
    Io(std::io::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Setting(error) => error.fmt(f),
            OpenError::Store(error) => write!(f, "the graphs cannot be opened: {error}"),
            OpenError::Accounts(error) => write!(f, "the accounts cannot be opened: {error}"),
            OpenError::Database(error) => write!(f, "the accounts cannot be opened: {error}"),
            OpenError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

macro_rules! from {
    ($($error:ty => $variant:ident),*) => {
        $(impl From<$error> for OpenError {
            fn from(error: $error) -> OpenError {
                OpenError::$variant(error)
            }
        })*
    };
}

from!(SettingError => Setting, Error => Store, IdentityError => Accounts, DatabaseError => Database, std::io::Error => Io);

/// Opens all that the settings name.
///
/// # Errors
/// What cannot be opened, and why. Secrets are not in it.
pub async fn open(settings: &Settings) -> Result<App<Server>, OpenError> {
    let accounts = accounts(settings).await?;
    let cursors = cursors(accounts.as_ref()).await?;
    let meters = Arc::new(Meters::default());
    let store = graphs(settings, sync_clock(&meters)).await?;
    let pool = bytes(settings.size("PIDQ_QUERY_POOL")?);
    // Answers that are kept and queries that run share what there is; at most half of it is for answers.
    let results = bytes(settings.size("PIDQ_RESULT_CACHE")?).min(pool / 2);
    let memory = Arc::new(Memory::new(pool - results));
    let graphs_read = bytes(settings.size("PIDQ_GRAPH_CACHE")?);
    let server = Server {
        name: Floor(settings).public_host()?,
        store,
        identities: accounts,
        graphs: Arc::new(Graphs::new(graphs_read)),
        copies: Copies::new(COPIES.min(graphs_read), memory.clone()),
        queries: Arc::new(Queries::new(QUERIES.0, QUERIES.1)),
        work: Work::new(threads(settings)?, settings.parsed("PIDQ_QUERY_QUEUE")?),
        memory,
        results: Results::new(results),
        buffers: Arc::default(),
        cursors,
        meters,
        rules: rules(settings)?,
        budget: budget(settings)?,
        require_if_match: settings.on("PIDQ_REQUIRE_IF_MATCH")?,
    };
    let mut app = App::new("pidq-server", env!("CARGO_PKG_VERSION"), server, ROUTES);
    app.authenticate = authenticate;
    app.ready = ready;
    app.state.meters.register(&mut app.registry, app.state.work.clone());
    Floor(settings).furnish(&mut app)?;
    if app.state.identities.is_some() {
        app.resource_metadata = Some(format!("{}/.well-known/oauth-protected-resource", base_url(settings)?));
    }
    Ok(app)
}

/// The database of the accounts, also for the commands that look after them.
///
/// # Errors
/// As [`open`].
pub async fn open_accounts(settings: &Settings) -> Result<Identities, OpenError> {
    let database = match settings.optional("PIDQ_DATABASE_URL")? {
        Some(url) => {
            let opened = Database::open_impatient(url).await;
            opened.map_err(|error| settings.wrong("PIDQ_DATABASE_URL", &error.to_string()))?
        }
        None => Database::open(&format!("sqlite:{}", data_dir(settings)?.join("pidq.db").display())).await?,
    };
    Ok(Identities::open(database, identity_options(settings)?).await?)
}

/// The store that the settings name, if it takes writes.
///
/// # Errors
/// As [`open`].
pub async fn open_store(settings: &Settings) -> Result<Arc<dyn Store>, OpenError> {
    store_with(settings, store::Options::default().clock).await
}

async fn store_with(settings: &Settings, clock: Clock) -> Result<Arc<dyn Store>, OpenError> {
    let (keep, share) = (settings.parsed("PIDQ_STORE_KEEP")?, share(settings)?);
    let options = store::Options { keep, share, events: Arc::new(tell), clock };
    match settings.optional("PIDQ_STORE_URL")? {
        Some(url) => {
            let opened = store::open(url, options).await;
            Ok(opened.map_err(|error| settings.wrong("PIDQ_STORE_URL", &error.to_string()))?)
        }
        None => Ok(store::open(&format!("dir:{}", data_dir(settings)?.join("graphs").display()), options).await?),
    }
}

async fn graphs(settings: &Settings, clock: Clock) -> Result<Arc<dyn Store>, OpenError> {
    match settings.path("PIDQ_GRAPHS")? {
        Some(path) if !path.is_dir() => {
            let why = format!("`{}` is no folder: graphs are files `JOB.json` in one", path.display());
            Err(settings.wrong("PIDQ_GRAPHS", &why).into())
        }
        Some(path) => {
            let (rules, events) = (rules(settings)?, Arc::new(tell));
            let served = Served::open(path, served::Options { rules, events, ..served::Options::default() });
            Ok(Arc::new(served.map_err(|error| settings.wrong("PIDQ_GRAPHS", &error.to_string()))?))
        }
        None => store_with(settings, clock).await,
    }
}

async fn accounts(settings: &Settings) -> Result<Option<Identities>, OpenError> {
    let provider = provider(settings)?;
    if settings.text("PIDQ_AUTH")? == "off" {
        return match provider {
            Some(_) => {
                Err(settings.wrong("PIDQ_AUTH", "`off` lets everybody in, whatever `PIDQ_SSO_ISSUER` says").into())
            }
            None => Ok(None),
        };
    }
    let identities = open_accounts(settings).await?;
    if identities.options().password_grant {
        tracing::info!("passwords are taken for tokens, which RFC 9700 advises against: PIDQ_PASSWORD_GRANT=off");
    }
    let first = first_start(settings)?;
    if let Some(made) = identities.first_start(first, Moment::now()).await.map_err(first_refused)? {
        introduce(&made);
    }
    Ok(Some(match provider {
        Some(provider) => identities.with_provider(provider),
        None => identities,
    }))
}

/// What the first account and the first client are refused for is said by settings.
fn first_refused(error: IdentityError) -> IdentityError {
    match error {
        IdentityError::Refused(what) => IdentityError::Refused(format!(
            "{what} (see `PIDQ_ADMIN_LOGIN`, `PIDQ_ADMIN_PASSWORD`, `PIDQ_CLIENT_ID`, `PIDQ_CLIENT_SECRET`)"
        )),
        other => other,
    }
}

/// Places in lists that every replica understands.
async fn cursors(accounts: Option<&Identities>) -> Result<Cursors, IdentityError> {
    match accounts {
        Some(identities) => Ok(Cursors::from_key(identities.shared_key("cursors").await?.expose().as_bytes())),
        None => Ok(Cursors::new()),
    }
}

fn first_start(settings: &Settings) -> Result<FirstStart<'_>, SettingError> {
    Ok(FirstStart {
        tenant: OPEN_TENANT,
        login: settings.text("PIDQ_ADMIN_LOGIN")?,
        password: settings.optional("PIDQ_ADMIN_PASSWORD")?,
        client_id: settings.text("PIDQ_CLIENT_ID")?,
        client_secret: settings.optional("PIDQ_CLIENT_SECRET")?,
    })
}

/// Shows what was made up, once, on the standard error: it stands nowhere else.
fn introduce(made: &Made) {
    eprintln!("This is the first start. There is an account now, and a client:");
    let rows = [
        ("username", Some(made.login.as_str())),
        ("password", made.password.as_ref().map(|secret| secret.expose())),
        ("client_id", Some(made.client_id.as_str())),
        ("client_secret", made.client_secret.as_ref().map(|secret| secret.expose())),
    ];
    for (name, value) in rows {
        eprintln!("  {name:<14} {}", value.unwrap_or("(as in the settings)"));
    }
    eprintln!("What was made up is not shown again.");
}

fn identity_options(settings: &Settings) -> Result<IdentityOptions, SettingError> {
    Ok(IdentityOptions {
        default_access: match settings.text("PIDQ_DEFAULT_ACCESS")? {
            "none" => DefaultAccess::Nothing,
            _ => DefaultAccess::TenantReads,
        },
        ..Floor(settings).identities(&base_url(settings)?)?
    })
}

/// The address that clients see.
fn base_url(settings: &Settings) -> Result<String, SettingError> {
    if let Some(url) = Floor(settings).public_url()? {
        return Ok(url.to_owned());
    }
    let scheme = if settings.path("PIDQ_TLS_CERT")?.is_some() { "https" } else { "http" };
    let listens: Vec<SocketAddr> = settings.list("PIDQ_LISTEN")?;
    let address = listens.first().map_or_else(|| "127.0.0.1:8080".into(), SocketAddr::to_string);
    Ok(format!("{scheme}://{address}"))
}

/// What only means something to a provider, and has no default.
const OF_A_PROVIDER: [&str; 7] = [
    "PIDQ_SSO_AUDIENCE",
    "PIDQ_SSO_JWKS_URI",
    "PIDQ_SSO_TYPES",
    "PIDQ_SSO_DIRECTORIES",
    "PIDQ_SSO_CA",
    "PIDQ_SSO_SCOPE_CLAIM",
    "PIDQ_SSO_ADMIN_ROLES",
];

fn provider(settings: &Settings) -> Result<Option<Provider>, SettingError> {
    let Some(described) = provider_settings(settings)? else {
        let lost = OF_A_PROVIDER.iter().find(|name| settings.optional(name).is_ok_and(|value| value.is_some()));
        return match lost {
            Some(name) => Err(settings.wrong(name, "it means nothing without `PIDQ_SSO_ISSUER`")),
            None => Ok(None),
        };
    };
    let refused = |error: IdentityError| settings.wrong("PIDQ_SSO_ISSUER", &error.to_string());
    Provider::new(described).map(Some).map_err(refused)
}

fn provider_settings(settings: &Settings) -> Result<Option<ProviderSettings>, SettingError> {
    let Some(issuer) = settings.optional("PIDQ_SSO_ISSUER")? else { return Ok(None) };
    let profile = match settings.text("PIDQ_SSO_PROFILE")? {
        "entra" => Profile::Entra { directories: some(settings, "PIDQ_SSO_DIRECTORIES", "with `entra`")? },
        "custom" => Profile::Custom { types: settings.list("PIDQ_SSO_TYPES")? },
        _ => Profile::Rfc9068,
    };
    Ok(Some(ProviderSettings {
        issuer: issuer.to_owned(),
        audiences: some(settings, "PIDQ_SSO_AUDIENCE", "with `PIDQ_SSO_ISSUER`")?,
        jwks_uri: settings.optional("PIDQ_SSO_JWKS_URI")?.map(str::to_owned),
        algorithms: algorithms(settings)?,
        claims: claims(settings, &profile)?,
        profile,
        clock_skew: clock_skew(settings)?,
        authorities: authorities(settings)?,
    }))
}

/// A list that is not empty.
fn some(settings: &Settings, name: &str, when: &str) -> Result<Vec<String>, SettingError> {
    let values: Vec<String> = settings.list(name)?;
    if values.is_empty() { Err(settings.wrong(name, &format!("it is needed {when}"))) } else { Ok(values) }
}

fn clock_skew(settings: &Settings) -> Result<Duration, SettingError> {
    match settings.duration("PIDQ_SSO_SKEW")? {
        skew if skew > Duration::from_secs(60) => Err(settings.wrong("PIDQ_SSO_SKEW", "a minute at most")),
        skew => Ok(skew),
    }
}

/// Certificates that are there and can be read.
fn authorities(settings: &Settings) -> Result<Option<String>, SettingError> {
    let Some(path) = settings.path("PIDQ_SSO_CA")? else { return Ok(None) };
    let wrong = |what: &dyn fmt::Display| settings.wrong("PIDQ_SSO_CA", &format!("`{}`: {what}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(&error))?;
    client_tls(Some(&text)).map_err(|what| wrong(&what))?;
    Ok(Some(text))
}

fn algorithms(settings: &Settings) -> Result<Vec<Algorithm>, SettingError> {
    let names = some(settings, "PIDQ_SSO_ALGORITHMS", "with `PIDQ_SSO_ISSUER`")?;
    let known = |name: &String| {
        Algorithm::named(name).ok_or_else(|| settings.wrong("PIDQ_SSO_ALGORITHMS", &format!("`{name}` is not offered")))
    };
    names.iter().map(known).collect()
}

fn claims(settings: &Settings, profile: &Profile) -> Result<ClaimMap, SettingError> {
    let usual = if let Profile::Entra { .. } = profile { "scp" } else { "scope" };
    let pairs: Vec<String> = settings.list("PIDQ_SSO_SCOPES")?;
    // Theirs may be a URL with a `=` in it.
    let pair = |pair: &String| match pair.rsplit_once('=') {
        Some((theirs, ours @ ("read" | "write"))) => Ok((theirs.trim().to_owned(), ours.to_owned())),
        _ => Err(settings.wrong("PIDQ_SSO_SCOPES", &format!("`{pair}` is not `THEIRS=read` or `THEIRS=write`"))),
    };
    let tenant = settings.text("PIDQ_SSO_TENANT")?;
    Ok(ClaimMap {
        scope: settings.optional("PIDQ_SSO_SCOPE_CLAIM")?.unwrap_or(usual).to_owned(),
        scopes: pairs.iter().map(pair).collect::<Result<_, _>>()?,
        roles: settings.text("PIDQ_SSO_ROLES_CLAIM")?.to_owned(),
        admin_roles: settings.list("PIDQ_SSO_ADMIN_ROLES")?,
        groups: settings.text("PIDQ_SSO_GROUPS_CLAIM")?.to_owned(),
        tenant: match (tenant.strip_prefix("claim:"), Tenant::parse(tenant)) {
            (Some(claim), _) if !claim.is_empty() => TenantFrom::Claim(claim.to_owned()),
            (None, Ok(_)) => TenantFrom::Fixed(tenant.to_owned()),
            _ => return Err(settings.wrong("PIDQ_SSO_TENANT", "a tenant is needed, or `claim:NAME`")),
        },
    })
}

fn data_dir(settings: &Settings) -> Result<PathBuf, OpenError> {
    let path = settings.path("PIDQ_DATA_DIR")?.unwrap_or_else(|| PathBuf::from("data"));
    let cannot =
        |error| settings.wrong("PIDQ_DATA_DIR", &format!("cannot make the folder `{}`: {error}", path.display()));
    std::fs::create_dir_all(&path).map_err(cannot)?;
    Ok(path)
}

fn share(settings: &Settings) -> Result<Share, SettingError> {
    match settings.optional("PIDQ_STORE_SHARE")? {
        Some(_) => Ok(Share { bytes: settings.size("PIDQ_STORE_SHARE")?, ..Share::default() }),
        None => Ok(Share::default()),
    }
}

fn rules(settings: &Settings) -> Result<Rules, SettingError> {
    Ok(Rules { bytes: bytes(settings.size("PIDQ_GRAPH_SIZE")?), ..Rules::default() })
}

fn budget(settings: &Settings) -> Result<Budget, SettingError> {
    let output = bytes(settings.size("PIDQ_QUERY_RESULT")?);
    Ok(Budget {
        fuel: settings.parsed("PIDQ_QUERY_FUEL")?,
        memory: bytes(settings.size("PIDQ_QUERY_MEMORY")?),
        output,
        lines: output.saturating_mul(4),
        time: settings.duration("PIDQ_QUERY_TIME")?,
        ..Budget::default()
    })
}

fn threads(settings: &Settings) -> Result<usize, SettingError> {
    let wanted: usize = settings.parsed("PIDQ_QUERY_THREADS")?;
    Ok(if wanted == 0 { Work::usual_threads() } else { wanted })
}

fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// What happened to the store, for the log.
fn tell(event: &Event) {
    match event {
        Event::Reloaded { graphs, changed } => tracing::info!(graphs, changed, "the served directory was read"),
        Event::Broken { file, why, kept } => tracing::warn!(file, why, kept, "a served file cannot be used"),
        Event::Quarantined { tenant, job, version } => {
            tracing::error!(tenant = tenant.as_str(), job = job.as_str(), %version, "a stored graph is damaged");
        }
        Event::ReadOnly(why) => tracing::error!(why, "the store takes no writes any more"),
        Event::Writable => tracing::info!("the store takes writes again"),
    }
}
