//! Subcommand `pidq up`: serves graphs, documents and the dashboard in one process.

mod app_secret;
pub mod backup;
mod banner;
#[cfg(feature = "dashboard")]
mod dashboard;
mod demo;
mod local_graph_service;
pub mod migrate;
pub mod restore;

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::sync::Arc;

use clap::Args;
use pidq_http::auth::Identities;
use pidq_http::{
    COMMON, CommonSettings, Listener, Secret, ServiceGroup, SettingTable, Settings, Shutdown, configure_malloc,
    settings, settings_help,
};
use pidq_pipeline::BackgroundTasks;
use pidq_server::{ADMIN_LOGIN, DATA_DIR, Server, deliver_first_credentials};

use crate::cli::environment::environment_for;
use crate::cli::failure::{Failure, Result, Status};
use local_graph_service::LocalGraphService;

const PURPOSE: &str = "\
Serves graphs (`/graph`), tokens (`/o`) and the document platform (`/api`) in one process on one address, without other
services, and the dashboard on another address. Open `/docs` in a browser for the API documentation.

  --demo
      Adds two drawings, and documents about them, if they are missing; the login of the first account is `demo`.
  --open
      Opens the start page in a browser when the service is ready.";

const EXAMPLES: &str = "\
Examples:
  pidq up --demo --open                   demo data, stored in ./data, and the start page in a browser
  pidq up --data-dir /var/lib/pidq        data directory
  pidq up --listen 127.0.0.1:9000         another address
";

/// File name of the shared database in the data directory.
const DATABASE: &str = "pidq.db";

/// Options of `pidq up`. Settings are parsed by the services from their own tables.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Options {
    /// `--demo`, `--open`, and settings such as `--listen 127.0.0.1:8000`; see `pidq up --help`
    #[arg(value_name = "SETTING", trailing_var_arg = true, allow_hyphen_values = true)]
    settings: Vec<String>,
}

/// Runs both services until a signal arrives.
pub fn run(options: &Options) -> Result {
    let has = |names: &'static [&str]| options.settings.iter().any(|argument| names.contains(&argument.as_str()));
    if has(&["--help", "-h"]) {
        write!(io::stdout(), "{PURPOSE}\n\n{}\n{EXAMPLES}", settings_help("pidq up", &setting_tables()))?;
        return Ok(Status::Done);
    }
    configure_malloc();
    let is_flag = |argument: &&String| ["--demo", "--open"].contains(&argument.as_str());
    let arguments = options.settings.iter().filter(|argument| !is_flag(argument)).cloned().collect();
    let start = Start { is_demo: has(&["--demo"]), opens_browser: has(&["--open"]) };
    let settings = read_settings(arguments, start.is_demo)?;
    CommonSettings(&settings).init_log().map_err(Failure::usage)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::usage)?;
    let result = runtime.block_on(serve_both(&settings, start));
    // A second signal stops the process without waiting for running work.
    runtime.shutdown_background();
    result
}

/// Actions at the start, besides serving.
#[derive(Clone, Copy)]
struct Start {
    is_demo: bool,
    opens_browser: bool,
}

settings! {
    /// Settings that replace those of both services, with a meaning for both.
    SHARED_SETTINGS {
        DATABASE_URL: Option<Secret> = ("PIDQ_DATABASE_URL", "config.database.url", "Database of accounts, tokens and documents: `sqlite:FILE` or `postgres://…`; by default `pidq.db` in the data directory.");
        APP_SECRET: Option<Secret> = ("PIDQ_APP_SECRET", "secrets.appSecret", "Secret that encrypts stored secrets and sessions, and signs cursors: at least 32 characters, the same in all replicas. By default, with the database in the data directory, a generated one in its file `app-secret`.");
    }
}

/// Returns the settings tables of both services. A later table overrides rows of earlier ones.
pub(super) fn setting_tables() -> Vec<SettingTable> {
    let mut setting_tables = vec![COMMON, pidq_server::SETTINGS];
    // The first table is that of the common settings.
    setting_tables.extend(&pidq_pipeline::TABLES[1..]);
    #[cfg(feature = "dashboard")]
    setting_tables.push(pidq_dashboard::SETTINGS);
    setting_tables.push(SHARED_SETTINGS);
    setting_tables
}

/// Reads the settings. Both services share one database, so that tokens are valid for both. With the database in the data
/// directory, the application secret is there as well; one database elsewhere may have several servers.
fn read_settings(arguments: Vec<String>, is_demo: bool) -> Result<Settings> {
    let environment_of_command = environment_for(&setting_tables())?;
    let mut environment = environment_of_command.clone();
    let mut set_default = |name: &str, value: String| {
        let is_value = |known: &str| known == name || known.strip_suffix("_FILE") == Some(name);
        if !environment.iter().any(|(known, value)| is_value(known) && !value.is_empty()) {
            environment.push((name.into(), value));
        }
    };
    if is_demo {
        set_default(ADMIN_LOGIN.env(), "demo".into());
    }
    let resolved =
        Settings::read(&setting_tables(), arguments.clone(), environment_of_command).map_err(Failure::usage)?;
    if !resolved.is_set(&DATABASE_URL) {
        let data_dir = resolved.get(&DATA_DIR).map_err(Failure::usage)?;
        // Here, so that an error names this setting and not the URL that follows from it.
        // Nobody else has to read it.
        DirBuilder::new().recursive(true).mode(0o700).create(&data_dir).map_err(|error| {
            let reason = format!("cannot create the directory `{}`: {error}", data_dir.display());
            Failure::usage(resolved.invalid(&DATA_DIR, &reason))
        })?;
        set_default(DATABASE_URL.env(), format!("sqlite:{}", data_dir.join(DATABASE).display()));
        if !resolved.is_set(&APP_SECRET) {
            let secret = app_secret::read_or_create(&data_dir)?;
            set_default(APP_SECRET.env(), secret.expose().to_owned());
        }
    }
    Settings::read(&setting_tables(), arguments, environment).map_err(Failure::usage)
}

async fn serve_both(settings: &Settings, start: Start) -> Result {
    let shutdown = Shutdown::on_signals().map_err(Failure::usage)?;
    let listeners = CommonSettings(settings).listeners().map_err(Failure::usage)?;
    #[cfg(feature = "dashboard")]
    let dashboard = dashboard::prepare(settings)?;
    #[cfg(feature = "dashboard")]
    let dashboard_url = dashboard.as_ref().map(|dashboard| dashboard.url.clone());
    #[cfg(not(feature = "dashboard"))]
    let dashboard_url: Option<String> = None;
    let mut graphs = pidq_server::open(settings).await.map_err(Failure::usage)?;
    // The documentation and `/version` describe both services.
    graphs.name = "pidq";
    let provider = pidq_server::identity_provider(settings).map_err(Failure::usage)?;
    let host_accounts = host_accounts(settings, &graphs.state).await?;
    let documents = pidq_pipeline::open_with_accounts(settings, provider, host_accounts);
    let documents = documents.await.map_err(Failure::usage)?;
    pidq_server::start_background_tasks(&graphs.state, settings, &listeners).map_err(Failure::usage)?;
    let background_tasks =
        BackgroundTasks::spawn(&documents, settings, &listeners, &shutdown).map_err(Failure::usage)?;
    let platform = documents.state.clone();
    let documents = documents.build();
    if start.is_demo {
        demo::add_missing(&graphs.state, &documents).await?;
    }
    listeners.iter().try_for_each(Listener::listen).map_err(Failure::usage)?;
    #[cfg(feature = "dashboard")]
    dashboard
        .iter()
        .flat_map(|dashboard| &dashboard.listeners)
        .try_for_each(Listener::listen)
        .map_err(Failure::usage)?;
    announce(&graphs.state, settings, &listeners, dashboard_url.as_deref())?;
    if let Some(url) = &dashboard_url {
        graphs.start_page.clone_from(url);
    }
    #[cfg(feature = "dashboard")]
    let server = graphs.state.clone();
    let limits = graphs.limits;
    let service = graphs.mount("/api", documents).build();
    // An explicitly configured remote graph service takes precedence.
    drop(platform.generation.graph_service.set(Arc::new(LocalGraphService(service.downgrade()))));
    drop(platform);
    let url = dashboard_url.map_or_else(|| banner::url(settings, &listeners), Ok)?;
    let mut services = ServiceGroup::new(limits);
    #[cfg(feature = "dashboard")]
    if let Some(dashboard) = dashboard {
        let app = dashboard::open(settings, dashboard.assets, &server, service.clone()).await?;
        services.add(app.build(), dashboard.listeners).map_err(Failure::usage)?;
    }
    services.add(service, listeners).map_err(Failure::usage)?;
    if start.opens_browser
        && let Err(error) = open::that_detached(&url)
    {
        tracing::warn!(%error, url, "the browser cannot be opened");
    }
    services.serve(shutdown.clone()).await.map_err(Failure::usage)?;
    tokio::select! {
        () = background_tasks.shut_down() => {}
        () = shutdown.requested_at_once() => {}
    }
    Ok(Status::Done)
}

/// Returns the accounts for the document platform, which has none of its own without a master key.
async fn host_accounts(settings: &Settings, graphs: &Server) -> Result<Option<Identities>> {
    if graphs.identities.is_none() {
        return Ok(None);
    }
    let identities = pidq_server::open_accounts(settings).await.map_err(Failure::usage)?;
    Ok(Some(match pidq_server::identity_provider(settings).map_err(Failure::usage)? {
        Some(provider) => identities.with_provider(provider),
        None => identities,
    }))
}

/// Says what runs where: as a banner for a person, or else as log lines.
fn announce(server: &Server, settings: &Settings, listeners: &[Listener], dashboard: Option<&str>) -> Result<()> {
    if CommonSettings(settings).logs_text().map_err(Failure::usage)? {
        eprint!("{}", banner::text(server, settings, listeners, dashboard)?);
        return Ok(());
    }
    deliver_first_credentials(server, settings).map_err(Failure::usage)?;
    if let Some(url) = dashboard {
        tracing::info!(url, "dashboard");
    }
    log_addresses(listeners)
}

fn log_addresses(listeners: &[Listener]) -> Result<()> {
    for listener in listeners {
        tracing::info!(address = %listener.address().map_err(Failure::usage)?, "listening");
    }
    Ok(())
}
