//! From settings to an app: the database, the master key, the limits.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pidq_http::auth::{Identities, IdentityError, Master, Moment};
use pidq_http::database::{Database, DatabaseError};
use pidq_http::header::HeaderName;
use pidq_http::{App, Cursors, Floor, Secret, SettingError, Settings, Work};
use tokio::sync::Semaphore;

use crate::accounts::{self, Accounts};
use crate::audit;
use crate::cache::{Cache, Redis};
use crate::egress::{BackEnd, Guard, Policy};
use crate::events::Feed;
use crate::extract::Isolation;
use crate::graphs::{GraphService, Remote};
use crate::health::Servers;
use crate::idempotency;
use crate::indexes::{Indexes, Snapshots};
use crate::license::{Trust, system_id as system_id_of};
use crate::licensing::{self, Licensing, Mode};
use crate::limits;
use crate::llm::{Client, Patience};
use crate::messages::Messages;
use crate::meters::{self, Meters};
use crate::models::{Models, Service};
use crate::near::Near;
use crate::platform::{Bell, Limits, Platform, TENANT, ready};
use crate::prompt::Marking;
use crate::rates::{self, Rates};
use crate::rerank::Reranker;
use crate::routes::ROUTES;
use crate::seal::Sealer;
use crate::settings::TABLES;
use crate::spool::Spool;
use crate::store::{Outbox, Store, StoreError};
use crate::uploads::Uploads;
use crate::vouched::Authorities;
use crate::webhooks::Caller;

/// Why the platform cannot be opened, and what to do.
#[derive(Debug)]
pub enum OpenError {
    /// A setting is wrong.
    Setting(SettingError),
    /// The database cannot be opened.
    Store(StoreError),
    /// The master key cannot be kept.
    Accounts(IdentityError),
    /// The file system does not let us.
    Io(std::io::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Setting(error) => error.fmt(f),
            OpenError::Store(error) => write!(f, "the database cannot be opened: {error}"),
            OpenError::Accounts(error) => write!(f, "the master key cannot be kept: {error}"),
            OpenError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<SettingError> for OpenError {
    fn from(error: SettingError) -> OpenError {
        OpenError::Setting(error)
    }
}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> OpenError {
        OpenError::Store(error)
    }
}

impl From<DatabaseError> for OpenError {
    fn from(error: DatabaseError) -> OpenError {
        OpenError::Store(error.into())
    }
}

impl From<IdentityError> for OpenError {
    fn from(error: IdentityError) -> OpenError {
        OpenError::Accounts(error)
    }
}

impl From<std::io::Error> for OpenError {
    fn from(error: std::io::Error) -> OpenError {
        OpenError::Io(error)
    }
}

/// The version of the interface below `/api`. What breaks a client gets another path.
const VERSION: &str = "2026-11-01";

/// Documents that are looked at beforehand at once: each has a reader of its own.
const PREVIEWS: usize = 2;
/// Searches that wait for a thread.
const SEARCHES: usize = 64;

/// Below this a busy database would take jobs from workers that live.
const SHORTEST_HOLD: Duration = Duration::from_secs(1);

/// The arguments with which this program reads a document.
pub(crate) const READER: &[&str] = &["pipeline", "read-document"];

/// Opens all that the settings name.
///
/// # Errors
/// What cannot be opened, and why. Secrets are not in it.
pub async fn open(settings: &Settings) -> Result<App<Platform>, OpenError> {
    let database = database(settings).await?;
    let accounts = of_accounts(settings, &database).await?;
    let near = Near::open(&database, settings.parsed("PIDQ_HNSW_FROM")?).await;
    let store = Store::open(database).await?.with_outbox(Outbox::new(settings.on("PIDQ_EVENTS_INCLUDE_NAMES")?));
    let installation = store.installation().await?;
    let (messages, redis) = (messages(settings)?, redis(settings)?);
    let platform = Platform {
        feed: Feed::new(store.last_position().await?, settings.parsed("PIDQ_EVENT_STREAMS")?),
        keep_audit: settings.duration("PIDQ_AUDIT_KEEP")?,
        keep_events: settings.duration("PIDQ_EVENTS_KEEP")?,
        licensing: licensing(settings, &installation)?,
        rates: Rates::of(settings, redis.clone(), &installation)?,
        cache: cache(settings, redis.clone(), &installation)?,
        redis,
        meters: Meters::default(),
        name: Floor(settings).public_host()?,
        accounts,
        store,
        cursors: cursors(settings)?,
        sealer: sealer(settings)?,
        limits: limits_of(settings)?,
        uploads: uploads(settings)?,
        previews: Semaphore::new(PREVIEWS),
        streams: Arc::new(Semaphore::new(settings.parsed::<usize>("PIDQ_ANSWER_STREAMS")?.min(Semaphore::MAX_PERMITS))),
        bell: Bell::over(&messages),
        messages,
        hold: settings.duration("PIDQ_WORKER_HOLD")?.max(SHORTEST_HOLD),
        indexes: indexes(settings)?,
        llm: llm(settings)?,
        webhooks: webhooks(settings)?,
        marking: if settings.on("PIDQ_DATAMARKING")? { Marking::Words } else { Marking::Lines },
        work: Work::new(Work::usual_threads(), SEARCHES),
        near,
        graphs: graphs(settings)?,
        reranker: Reranker::of(settings, authorities(settings)?.as_deref())?,
        models: Models::new(settings.path("PIDQ_MODELS")?, Service::of(settings, authorities(settings)?.as_deref())?),
        extraction: limits::of_reader(settings)?,
        isolation: limits::timed(reader(settings)?, settings)?,
    };
    licensing::look(&platform).await?;
    service(platform, settings)
}

/// The platform as a service: its routes, and what is its own of what the floor below does for each request.
fn service(platform: Platform, settings: &Settings) -> Result<App<Platform>, OpenError> {
    let mut app = App::new("pidq-pipeline", env!("CARGO_PKG_VERSION"), platform, ROUTES);
    app.authenticate = accounts::authenticate;
    app.around = idempotency::around;
    app.refused = audit::note_refusal;
    app.figures = limits::in_schemas(&app.state.limits);
    app.ready = ready;
    app.state.cache.register(&mut app.registry);
    app.state.meters.register(&mut app.registry);
    app.registry.register_collector(Box::new(meters::Open(Arc::clone(&app.state))));
    app.registry.register_collector(Box::new(Servers(app.state.servers())));
    app.headers = vec![(HeaderName::from_static("pidq-version"), VERSION)];
    Floor(settings).furnish(&mut app)?;
    app.limits = app.state.limits.http;
    // What the floor would count in this process alone.
    app.quota = None;
    app.meter = rates::charge;
    Ok(app)
}

fn limits_of(settings: &Settings) -> Result<Limits, OpenError> {
    Ok(Limits {
        upload: settings.size("PIDQ_UPLOAD_SIZE")?,
        pipelines: settings.parsed("PIDQ_MAX_PIPELINES")?,
        labels: settings.parsed("PIDQ_MAX_CLASSIFICATIONS")?,
        question: settings.parsed("PIDQ_QUERY_CHARACTERS")?,
        metadata: usize::try_from(settings.size("PIDQ_METADATA_SIZE")?).unwrap_or(usize::MAX),
        chunks: settings.parsed("PIDQ_MAX_CHUNKS")?,
        retention: settings.duration("PIDQ_QUERIES_KEPT")?,
        answer_streams: settings.parsed("PIDQ_ANSWER_STREAMS")?,
        event_streams: settings.parsed("PIDQ_EVENT_STREAMS")?,
        http: http(settings)?,
    })
}

/// The name of the installation whose settings these are, as licences have it.
///
/// # Errors
/// As [`open`].
pub async fn system_id(
    arguments: impl IntoIterator<Item = String>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<String, OpenError> {
    let settings = Settings::read(TABLES, arguments, environment)?;
    let store = Store::open(database(&settings).await?).await?;
    Ok(system_id_of(&store.installation().await?))
}

/// The limits of the floor, with the size of a JSON body.
fn http(settings: &Settings) -> Result<pidq_http::Limits, SettingError> {
    Ok(pidq_http::Limits { json_body: settings.size("PIDQ_JSON_SIZE")?, ..Floor(settings).limits()? })
}

/// The database that the settings name.
async fn database(settings: &Settings) -> Result<Database, OpenError> {
    if let Some(url) = settings.optional("PIDQ_DATABASE_URL")? {
        return Ok(Database::open(url).await?);
    }
    let folder = settings.path("PIDQ_DATA_DIR")?.unwrap_or_else(|| PathBuf::from("data"));
    Ok(Database::open(&format!("sqlite:{}", folder.join("pipeline.db").display())).await?)
}

/// What is being sent, and where it is meanwhile.
fn uploads(settings: &Settings) -> Result<Uploads, SettingError> {
    let folder = match settings.path("PIDQ_UPLOAD_DIR")? {
        Some(folder) => folder,
        None => settings.path("PIDQ_DATA_DIR")?.unwrap_or_else(|| PathBuf::from("data")).join("uploads"),
    };
    let (memory, disk) = (settings.size("PIDQ_UPLOAD_MEMORY")?, settings.size("PIDQ_UPLOAD_DISK")?);
    Ok(Uploads::new(memory, disk, settings.size("PIDQ_UPLOAD_SIZE")?, Spool::open(folder)))
}

/// The partitions that are open, and where they are kept beside the memory.
fn indexes(settings: &Settings) -> Result<Indexes, SettingError> {
    let memory = usize::try_from(settings.size("PIDQ_INDEX_MEMORY")?).unwrap_or(usize::MAX);
    let (indexes, disk) = (Indexes::new(memory), settings.size("PIDQ_SNAPSHOT_DISK")?);
    let folder = match settings.path("PIDQ_SNAPSHOT_DIR")? {
        Some(folder) => folder,
        None => settings.path("PIDQ_DATA_DIR")?.unwrap_or_else(|| PathBuf::from("data")).join("snapshots"),
    };
    Ok(if disk > 0 { indexes.with_snapshots(Snapshots::new(folder, disk)) } else { indexes })
}

/// What processes call to each other: over NATS, where it is named.
fn messages(settings: &Settings) -> Result<Messages, SettingError> {
    let Some(url) = settings.optional("PIDQ_NATS_URL")? else { return Ok(Messages::in_process()) };
    let authorities = Authorities::of(settings)?;
    Messages::over_nats(url, authorities.as_ref().map(|those| &*those.path))
        .map_err(|bad| settings.wrong("PIDQ_NATS_URL", &bad.to_string()))
}

/// What may be lost, for all processes, where Redis is named.
fn redis(settings: &Settings) -> Result<Option<Arc<Redis>>, SettingError> {
    let Some(url) = settings.optional("PIDQ_REDIS_URL")? else { return Ok(None) };
    let authorities = Authorities::of(settings)?;
    let redis = Redis::open(url, settings.duration("PIDQ_REDIS_TIME")?, authorities.as_ref().map(|those| &*those.pem))
        .map_err(|bad| settings.wrong("PIDQ_REDIS_URL", &bad.to_string()))?;
    Ok(Some(Arc::new(redis)))
}

/// What was worked out a moment ago: for all processes, where they have a Redis and a secret together.
fn cache(settings: &Settings, redis: Option<Arc<Redis>>, installation: &str) -> Result<Cache, SettingError> {
    let bytes = usize::try_from(settings.size("PIDQ_CACHE_MEMORY")?).unwrap_or(usize::MAX);
    Ok(match (redis, settings.secret("PIDQ_APP_SECRET")?) {
        (Some(redis), Some(secret)) => Cache::over(redis, &secret, installation, bytes),
        _ => Cache::in_process(bytes),
    })
}

/// Why a platform without a master key does not start where other machines reach it.
pub(crate) fn nobody_asked(settings: &Settings, address: SocketAddr) -> SettingError {
    let why = format!("without it everybody may do everything, and the platform listens on {address}");
    settings.wrong("PIDQ_APP_MASTER_KEY", &why)
}

/// The accounts, with the master key; none on loopback, where nobody said one.
async fn of_accounts(settings: &Settings, database: &Database) -> Result<Option<Accounts>, OpenError> {
    let secret = settings.secret("PIDQ_APP_MASTER_SECRET")?;
    let Some(key) = settings.optional("PIDQ_APP_MASTER_KEY")? else {
        if secret.is_some() {
            // Whoever set it means to be asked for it.
            let why = "`PIDQ_APP_MASTER_SECRET` is set, and is the secret of nobody without it";
            return Err(settings.wrong("PIDQ_APP_MASTER_KEY", why).into());
        }
        let listens: Vec<SocketAddr> = settings.list("PIDQ_LISTEN")?;
        return match listens.iter().find(|address| !address.ip().is_loopback()) {
            Some(address) => Err(nobody_asked(settings, *address).into()),
            None => Ok(None),
        };
    };
    if is_placeholder(key) {
        return Err(settings
            .wrong("PIDQ_APP_MASTER_KEY", "it is the word of an example: make a UUID of your own")
            .into());
    }
    let Some(secret) = secret.filter(|secret| is_serious(secret.expose())) else {
        return Err(settings
            .wrong("PIDQ_APP_MASTER_SECRET", "it needs 32 characters or more that nobody guesses")
            .into());
    };
    let options = Floor(settings).identities("http://pidq-pipeline")?;
    if options.password_grant {
        tracing::info!("passwords are taken for tokens, which RFC 9700 advises against: PIDQ_PASSWORD_GRANT=off");
    }
    let identities = Identities::open(database.clone(), options).await?;
    identities.ensure_master(Master { key, secret: &secret, tenant: TENANT }, Moment::now()).await?;
    Ok(Some(Accounts { identities, master: key.to_owned() }))
}

/// Whether a secret is one, and not the word that stands in an example.
fn is_serious(secret: &str) -> bool {
    secret.len() >= 32 && !is_placeholder(secret)
}

/// Whether this is what stands in an example, to be replaced.
fn is_placeholder(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    ["changeme", "placeholder", "<", "example"].iter().any(|hint| word.contains(hint))
}

/// The client of language models, and where it may go: never to our own servers.
fn llm(settings: &Settings) -> Result<Client, OpenError> {
    let policy = Policy::of(settings, is_on_loopback(settings)?, back_ends(settings)?)?;
    Ok(Client::new(guard(settings, policy)?, Patience::default()))
}

/// What calls webhooks: never our own servers either.
fn webhooks(settings: &Settings) -> Result<Caller, OpenError> {
    let policy = Policy::of_webhooks(settings, is_on_loopback(settings)?, back_ends(settings)?)?;
    Ok(Caller {
        guard: guard(settings, policy)?,
        time: settings.duration("PIDQ_WEBHOOK_TIME")?,
        patience: settings.duration("PIDQ_WEBHOOK_PATIENCE")?,
    })
}

fn is_on_loopback(settings: &Settings) -> Result<bool, SettingError> {
    let listens: Vec<SocketAddr> = settings.list("PIDQ_LISTEN")?;
    Ok(listens.iter().all(|address| address.ip().is_loopback()))
}

fn guard(settings: &Settings, policy: Policy) -> Result<Guard, OpenError> {
    Guard::new(policy, authorities(settings)?.as_deref()).map_err(|why| settings.wrong("PIDQ_LLM_CA", &why).into())
}

/// The authorities that are trusted beside the public ones.
fn authorities(settings: &Settings) -> Result<Option<String>, OpenError> {
    Ok(settings.path("PIDQ_LLM_CA")?.map(std::fs::read_to_string).transpose()?)
}

/// The graph query service, if one is named.
fn graphs(settings: &Settings) -> Result<OnceLock<Arc<dyn GraphService>>, OpenError> {
    let graphs = OnceLock::new();
    if let Some(remote) = Remote::of(settings, authorities(settings)?.as_deref())? {
        drop(graphs.set(Arc::new(remote) as Arc<dyn GraphService>));
    }
    Ok(graphs)
}

/// The servers behind the platform.
fn back_ends(settings: &Settings) -> Result<Vec<BackEnd>, SettingError> {
    let (database, redis) = (settings.optional("PIDQ_DATABASE_URL")?, settings.optional("PIDQ_REDIS_URL")?);
    let several = settings.optional("PIDQ_NATS_URL")?.unwrap_or_default().split(',').map(str::trim);
    Ok(database.into_iter().chain(redis).chain(several).filter_map(BackEnd::of_url).collect())
}

/// The process that reads documents: this program again, unless another one is named.
fn reader(settings: &Settings) -> Result<Isolation, SettingError> {
    match settings.path("PIDQ_READER")? {
        Some(program) => Ok(Isolation::of(program, READER)),
        None => Isolation::of_this_program(READER).map_err(|failure| settings.wrong("PIDQ_READER", &failure.detail)),
    }
}

fn licensing(settings: &Settings, installation: &str) -> Result<Licensing, SettingError> {
    let keys: Vec<String> = settings.list("PIDQ_LICENSE_PUBLIC_KEYS")?;
    let trust = Trust::read(&keys).map_err(|bad| settings.wrong("PIDQ_LICENSE_PUBLIC_KEYS", &bad.to_string()))?;
    let mode = match settings.text("PIDQ_LICENSE_MODE")? {
        "off" => Mode::Off,
        "enforce" => Mode::Enforce,
        _ => Mode::Report,
    };
    let licence = settings.secret("PIDQ_APP_LICENSE")?;
    Ok(Licensing::new(mode, system_id_of(installation), trust, licence))
}

fn cursors(settings: &Settings) -> Result<Cursors, SettingError> {
    Ok(app_secret(settings)?.map_or_else(Cursors::new, |secret| Cursors::from_key(secret.expose().as_bytes())))
}

fn sealer(settings: &Settings) -> Result<Sealer, OpenError> {
    match app_secret(settings)? {
        Some(secret) => Ok(Sealer::of(&secret)),
        None => Sealer::of_this_process().ok_or_else(|| std::io::Error::other("the system has no randomness").into()),
    }
}

fn app_secret(settings: &Settings) -> Result<Option<Secret>, SettingError> {
    let secret = settings.secret("PIDQ_APP_SECRET")?;
    match secret.as_ref().is_some_and(|secret| !is_serious(secret.expose())) {
        true => Err(settings.wrong("PIDQ_APP_SECRET", "it needs 32 characters or more that nobody guesses")),
        false => Ok(secret),
    }
}
