//! The command: settings in, a running platform or a worker, exit code out.

use std::io::{self, Write};
use std::sync::Arc;

use pidq_http::{App, Floor, Listener, Settings, Shutdown, help, serve};
use tokio::task::JoinSet;

use crate::opening::{self, OpenError, open};
use crate::platform::Platform;
use crate::replicas;
use crate::settings::TABLES;
use crate::{events, ingest, keeping, meters, outages, webhooks};

/// What a process does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// It answers requests, and reads documents beside that.
    Server,
    /// It reads documents.
    Worker,
}

impl Part {
    fn purpose(self) -> &'static str {
        match self {
            Part::Server => "Keeps documents in pipelines, and answers questions from them.",
            Part::Worker => "Reads documents that others were sent; several workers share a database.",
        }
    }

    fn command(self) -> &'static str {
        match self {
            Part::Server => "pidq pipeline serve",
            Part::Worker => "pidq pipeline worker",
        }
    }
}

/// Runs until it is told to stop. `--help` lists the settings.
///
/// # Errors
/// Why it could not start.
pub fn start(
    part: Part,
    arguments: Vec<String>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<(), OpenError> {
    if arguments.iter().any(|argument| ["--help", "-h"].contains(&argument.as_str())) {
        let settings = help(part.command(), TABLES);
        let text = format!("{}\n\n{settings}", part.purpose());
        // Who has read enough closes the pipe.
        drop(io::stdout().write_all(text.as_bytes()));
        return Ok(());
    }
    let settings = Settings::read(TABLES, arguments, environment)?;
    Floor(&settings).init_log()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(part, &settings))
}

async fn run(part: Part, settings: &Settings) -> Result<(), OpenError> {
    let shutdown = Shutdown::on_signals()?;
    match part {
        Part::Server => {
            let listeners = Floor(settings).listeners()?;
            let app = open(settings).await?;
            let attendance = Attendance::of(&app, settings, &listeners, &shutdown)?;
            for listener in &listeners {
                tracing::info!(address = %listener.address()?, "listening");
            }
            let served = serve(app, listeners, shutdown).await;
            attendance.end().await;
            Ok(served?)
        }
        Part::Worker => {
            let app = open(settings).await?;
            // A worker apart works, whatever is said of those in the server.
            let _workers = workers(&app, settings.parsed::<usize>("PIDQ_WORKERS")?.max(1));
            tracing::info!("working");
            shutdown.told().await;
            Ok(())
        }
    }
}

/// All that a running platform does beside answering: documents are read, events told, indexes kept. It ends when this is
/// dropped.
pub struct Attendance {
    platform: Arc<Platform>,
    _tasks: JoinSet<()>,
}

impl Attendance {
    /// Begins it. Within a runtime.
    ///
    /// # Errors
    /// If a setting is wrong, or if it has no master key and listens to other machines.
    pub fn of(
        app: &App<Platform>,
        settings: &Settings,
        listeners: &[Listener],
        shutdown: &Shutdown,
    ) -> Result<Attendance, OpenError> {
        if app.state.accounts.is_none()
            && let Some(address) = Listener::beyond_loopback(listeners)?
        {
            return Err(opening::nobody_asked(settings, address).into());
        }
        let mut tasks = workers(app, settings.parsed("PIDQ_WORKERS")?);
        tasks.spawn(replicas::follow(Arc::clone(&app.state)));
        tasks.spawn(meters::watch(Arc::clone(&app.state)));
        tasks.spawn(keeping::save(Arc::clone(&app.state)));
        let (platform, told) = (Arc::clone(&app.state), shutdown.clone().told());
        tokio::spawn(async move {
            told.await;
            platform.feed.close();
        });
        Ok(Attendance { platform: Arc::clone(&app.state), _tasks: tasks })
    }

    /// Keeps what the next start would have to make again.
    pub async fn end(self) {
        self.platform.indexes.save_at_the_end(&self.platform.store).await;
    }
}

/// Workers, and whoever looks after things beside them. They end when this is dropped; what they hold is taken by others
/// when the hold is over.
fn workers(app: &App<Platform>, workers: usize) -> JoinSet<()> {
    let mut tasks: JoinSet<()> = (0..workers).map(|_| ingest::work(Arc::clone(&app.state))).collect();
    tasks.spawn(outages::watch(Arc::clone(&app.state)));
    tasks.spawn(events::keep(Arc::clone(&app.state)));
    tasks.spawn(keeping::tidy(Arc::clone(&app.state)));
    tasks.spawn(events::publish(Arc::clone(&app.state)));
    tasks.spawn(webhooks::send(Arc::clone(&app.state)));
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_platform_without_a_master_key_listens_on_loopback_alone() {
        let folder = std::env::temp_dir().join(format!("pidq-loopback-{}", std::process::id()));
        let data = folder.to_str().expect("a path").to_owned();
        let settings = Settings::read(TABLES, ["--data-dir".into(), data], []).expect("no mistake");
        let app = open(&settings).await.expect("it opens");
        let (_stop, shutdown) = Shutdown::manual();
        let attended = |address: &str| {
            let listener = Listener::insecure(address.parse().expect("an address")).expect("a free port");
            Attendance::of(&app, &settings, &[listener], &shutdown).map(drop)
        };
        assert!(attended("127.0.0.1:0").is_ok());
        let refused = attended("0.0.0.0:0");
        assert!(refused.is_err_and(|error| error.to_string().contains("PIDQ_APP_MASTER_KEY")));
        drop(std::fs::remove_dir_all(folder));
    }
}
