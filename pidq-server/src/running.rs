//! The command: settings in, a running service, exit code out.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Moment;
use pidq_http::{COMMON, Floor, Listener, Settings, Shutdown, help, serve};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::spawn_blocking;

use crate::opening::{OpenError, open};
use crate::server::Server;
use crate::settings::SETTINGS;

const EXAMPLES: &str = "\
Examples:
  pidq serve --graphs drawings --auth off     every JOB.json of a folder, for everybody on this machine
  pidq serve --data-dir /var/lib/pidq         graphs and accounts that the service keeps
  PIDQ_LISTEN=127.0.0.1:9000 pidq serve       at another address

`GET /docs` shows the calls in a browser.
";

/// Serves until it is told to stop. `--help` lists the settings.
///
/// 0 when it ended as it should, 2 when it could not start.
pub fn run(
    arguments: impl IntoIterator<Item = String>,
    environment: impl IntoIterator<Item = (String, String)>,
) -> ExitCode {
    match start(arguments.into_iter().collect(), environment) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// As [`run`], for a command that tells errors in its own way.
///
/// # Errors
/// Why it could not start.
pub fn start(arguments: Vec<String>, environment: impl IntoIterator<Item = (String, String)>) -> Result<(), OpenError> {
    if arguments.iter().any(|argument| ["--help", "-h"].contains(&argument.as_str())) {
        let settings = help("pidq serve", &[SETTINGS, COMMON]);
        let text = format!("Serves graphs and queries on them.\n\n{settings}\n{EXAMPLES}");
        // Who has read enough closes the pipe.
        drop(io::stdout().write_all(text.as_bytes()));
        return Ok(());
    }
    let settings = Settings::read(&[COMMON, SETTINGS], arguments, environment)?;
    Floor(&settings).init_log()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let shutdown = Shutdown::on_signals()?;
        // The address first: what the first start makes up is shown once, and must not be lost with a start that fails.
        let listeners = Floor(&settings).listeners()?;
        let app = open(&settings).await?;
        attend(&app.state, &settings, &listeners)?;
        for listener in &listeners {
            tracing::info!(address = %listener.address()?, "listening");
        }
        Ok(serve(app, listeners, shutdown).await?)
    })
}

/// Looks after what a running service needs beside its answers: directories that are read again, tokens that have
/// expired. Within a runtime.
///
/// # Errors
/// If it has no accounts, and listens to other machines.
pub fn attend(server: &Arc<Server>, settings: &Settings, listeners: &[Listener]) -> Result<(), OpenError> {
    if server.identities.is_none() {
        stay_on_this_machine(settings, listeners)?;
    }
    tokio::spawn(reload(server.clone(), signal(SignalKind::hangup())?));
    tokio::spawn(sweep(server.clone()));
    Ok(())
}

/// A service without accounts is for this machine, also over the sockets of a service manager.
fn stay_on_this_machine(settings: &Settings, listeners: &[Listener]) -> Result<(), OpenError> {
    match Listener::beyond_loopback(listeners)? {
        Some(address) => {
            let why = format!("`off` is for loopback, and the service listens on {address}");
            Err(settings.wrong("PIDQ_AUTH", &why).into())
        }
        None => Ok(()),
    }
}

/// How often expired tokens are thrown away.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);

/// SIGHUP: the served directory is read again. Without this the signal would end the service.
async fn reload(server: Arc<Server>, mut hangups: Signal) {
    while hangups.recv().await.is_some() {
        let store = server.store.clone();
        if let Ok(Err(error)) = spawn_blocking(move || store.reload()).await {
            tracing::error!(%error, "the graphs cannot be read again");
        }
    }
}

async fn sweep(server: Arc<Server>) {
    let Some(identities) = &server.identities else { return };
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        match identities.sweep(Moment::now()).await {
            Ok(swept) => tracing::debug!(swept, "what has expired is gone"),
            Err(error) => tracing::warn!(%error, "what has expired could not be thrown away"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_without_accounts_listens_on_loopback_alone() {
        let arguments = ["--auth", "off"].map(str::to_owned);
        let settings = Settings::read(&[COMMON, SETTINGS], arguments, []).expect("no mistake");
        let anywhere = |address: &str| Listener::insecure(address.parse().expect("an address")).expect("a free port");
        let admin = Listener::admin("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        assert!(stay_on_this_machine(&settings, &[anywhere("127.0.0.1:0"), admin]).is_ok());
        let refused = stay_on_this_machine(&settings, &[anywhere("127.0.0.1:0"), anywhere("0.0.0.0:0")]);
        assert!(refused.is_err_and(|error| error.to_string().contains("`PIDQ_AUTH`")));
    }
}
