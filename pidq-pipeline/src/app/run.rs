//! Commands `pidq pipeline serve` and `pidq pipeline worker`: read the settings and run until a signal arrives.

use std::io::{self, Write};
use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{App, CommonSettings, LISTEN, Listener, SettingTable, Settings, Shutdown, serve, settings_help_where};
use tokio::task::JoinSet;

use crate::app::settings::{TABLES, WORKER_TABLES, WORKERS};
use crate::app::startup::{self, OpenError, open};
use crate::background::{embedding_outage, gauges};
use crate::background::{maintenance, partition_refresh};
use crate::events::{nats_publisher, sequencer};
use crate::ingest::worker;
use crate::platform::Platform;
use crate::webhooks::dispatcher;

/// Role of a process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProcessRole {
    /// Serves HTTP requests and ingests documents.
    Server,
    /// Only ingests documents.
    Worker,
}

impl ProcessRole {
    fn summary(self) -> &'static str {
        match self {
            ProcessRole::Server => {
                "Serves the document platform: stores documents in pipelines and answers questions about them."
            }
            ProcessRole::Worker => "Ingests documents from the job queue; several workers may share a database.",
        }
    }

    /// Returns the tables of the settings that the process reads.
    fn tables(self) -> Vec<SettingTable> {
        match self {
            ProcessRole::Server => TABLES.to_vec(),
            ProcessRole::Worker => [TABLES, WORKER_TABLES].concat(),
        }
    }

    /// Returns whether the process uses a setting. The file of settings may be the same for all processes, so that a worker
    /// accepts the addresses of the API there.
    fn uses(self, env: &str) -> bool {
        self == ProcessRole::Server || env != LISTEN.env()
    }

    fn command(self) -> &'static str {
        match self {
            ProcessRole::Server => "pidq pipeline serve",
            ProcessRole::Worker => "pidq pipeline worker",
        }
    }
}

/// Runs until a shutdown signal. `--help` lists the settings.
///
/// # Errors
/// If the platform cannot start or the server fails.
pub fn start(
    role: ProcessRole,
    arguments: Vec<String>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<(), OpenError> {
    if arguments.iter().any(|argument| ["--help", "-h"].contains(&argument.as_str())) {
        let settings = settings_help_where(role.command(), &role.tables(), |row| role.uses(row.env()));
        let text = format!("{}\n\n{settings}", role.summary());
        // A closed pipe is no error: the reader has enough.
        drop(io::stdout().write_all(text.as_bytes()));
        return Ok(());
    }
    let settings = Settings::read(&role.tables(), arguments, environment)?;
    if settings.is_set_by_flag(&LISTEN) && !role.uses(LISTEN.env()) {
        let reason = "a worker serves no API; `--admin-listen` sets the address of its metrics and health endpoints";
        return Err(settings.invalid(&LISTEN, reason).into());
    }
    CommonSettings(&settings).init_log()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(role, &settings))
}

async fn run(role: ProcessRole, settings: &Settings) -> Result<(), OpenError> {
    let shutdown = Shutdown::on_signals()?;
    match role {
        ProcessRole::Server => {
            let listeners = CommonSettings(settings).listeners()?;
            let app = open(settings).await?;
            let background_tasks = BackgroundTasks::spawn(&app, settings, &listeners, &shutdown)?;
            if let Some(accounts) = &app.state.access.accounts {
                accounts.identities.spawn_prefetch_of_provider_keys(Timestamp::now());
            }
            for listener in &listeners {
                listener.listen()?;
                tracing::info!(address = %listener.address()?, "listening");
            }
            let result = serve(app, listeners, shutdown).await;
            background_tasks.shut_down().await;
            Ok(result?)
        }
        ProcessRole::Worker => {
            startup::warn_about_new_database(settings)?;
            let app = open(settings).await?;
            // A separate worker runs at least one job, even where `PIDQ_WORKERS=0` turns off those of the server.
            let _workers = spawn_workers(&app, settings.get(&WORKERS)?.max(1));
            tracing::info!("worker started");
            match CommonSettings(settings).admin_listener()? {
                Some(listener) => Ok(serve(app, vec![listener], shutdown).await?),
                None => {
                    shutdown.requested().await;
                    app.state.tracer.shut_down().await;
                    Ok(())
                }
            }
        }
    }
}

/// Background tasks of a server: ingestion, events, webhooks, maintenance. Dropping it aborts them.
pub struct BackgroundTasks {
    platform: Arc<Platform>,
    _tasks: JoinSet<()>,
}

impl BackgroundTasks {
    /// Spawns the tasks. Requires a tokio runtime.
    ///
    /// # Errors
    /// If a setting is invalid, or if there is no master key and other machines can reach a listener.
    pub fn spawn(
        app: &App<Platform>,
        settings: &Settings,
        listeners: &[Listener],
        shutdown: &Shutdown,
    ) -> Result<BackgroundTasks, OpenError> {
        if app.state.access.accounts.is_none()
            && let Some(address) = Listener::first_non_loopback(listeners)?
        {
            return Err(startup::missing_master_key(settings, address).into());
        }
        let addresses: Vec<_> = listeners.iter().map(Listener::address).collect::<io::Result<_>>()?;
        app.state.listeners.add(addresses);
        let mut tasks = spawn_workers(app, settings.get(&WORKERS)?);
        tasks.spawn(partition_refresh::run(Arc::clone(&app.state)));
        tasks.spawn(gauges::count_jobs_periodically(Arc::clone(&app.state)));
        tasks.spawn(maintenance::save_snapshots(Arc::clone(&app.state)));
        let (platform, connections_refused) = (Arc::clone(&app.state), shutdown.clone().connections_refused());
        tokio::spawn(async move {
            // Not before: clients resume their streams at once, and would come back here.
            connections_refused.await;
            platform.messaging.feed.close();
        });
        Ok(BackgroundTasks { platform: Arc::clone(&app.state), _tasks: tasks })
    }

    /// Writes the index snapshots, so that the next start does not rebuild the indexes.
    pub async fn shut_down(self) {
        self.platform.search.indexes.save_on_shutdown(&self.platform.store).await;
    }
}

/// Spawns workers and maintenance tasks. Dropping the set aborts them; other workers take over their jobs when the
/// leases expire.
fn spawn_workers(app: &App<Platform>, workers: usize) -> JoinSet<()> {
    let mut tasks: JoinSet<()> = (0..workers).map(|_| worker::run_worker(Arc::clone(&app.state))).collect();
    tasks.spawn(embedding_outage::watch(Arc::clone(&app.state)));
    tasks.spawn(sequencer::run_sequencer(Arc::clone(&app.state)));
    tasks.spawn(maintenance::run_purge(Arc::clone(&app.state)));
    tasks.spawn(nats_publisher::publish(Arc::clone(&app.state)));
    tasks.spawn(dispatcher::dispatch(Arc::clone(&app.state)));
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_platform_without_a_master_key_is_not_behind_a_proxy() {
        let folder = std::env::temp_dir().join(format!("pidq-proxy-{}", std::process::id()));
        let data = folder.to_str().expect("a path").to_owned();
        for (flag, value) in [("--public-url", "https://pidq.example"), ("--trusted-proxies", "127.0.0.1")] {
            let given = ["--data-dir".into(), data.clone(), flag.into(), value.into()];
            let settings = Settings::read(TABLES, given, []).expect("no mistake");
            let error = open(&settings).await.map(drop).expect_err(flag).to_string();
            assert!(error.contains("`PIDQ_APP_MASTER_KEY`: required"), "{error}");
        }
        drop(std::fs::remove_dir_all(folder));
    }

    #[tokio::test]
    async fn a_platform_without_a_master_key_listens_on_loopback_only() {
        let folder = std::env::temp_dir().join(format!("pidq-loopback-{}", std::process::id()));
        let data = folder.to_str().expect("a path").to_owned();
        let settings = Settings::read(TABLES, ["--data-dir".into(), data], []).expect("no mistake");
        let app = open(&settings).await.expect("it opens");
        let (_stop, shutdown) = Shutdown::manual();
        let spawn = |address: &str| {
            let listener = Listener::insecure(address.parse().expect("an address")).expect("a free port");
            BackgroundTasks::spawn(&app, &settings, &[listener], &shutdown).map(drop)
        };
        assert!(spawn("127.0.0.1:0").is_ok());
        let rejected = spawn("0.0.0.0:0");
        assert!(rejected.is_err_and(|error| error.to_string().contains("PIDQ_APP_MASTER_KEY")));
        drop(std::fs::remove_dir_all(folder));
    }
}
