//! Command-line entry point: parses settings, starts the service, and returns the exit code.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_http::{COMMON, CommonSettings, Listener, Settings, Shutdown, serve, settings_help};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::spawn_blocking;

use crate::app::first_credentials;
use crate::app::settings::{AUTH, SETTINGS};
use crate::app::startup::{FirstAccounts, OpenError, open};
use crate::server::Server;

const EXAMPLES: &str = "\
Examples:
  pidq serve --graph-dir drawings --auth off    every GRAPH_ID.json in a directory, local access only
  pidq serve --data-dir /var/lib/pidq           graphs and accounts stored by the service
  PIDQ_LISTEN=127.0.0.1:9000 pidq serve         another address

Open `/docs` in a browser for the API documentation.
";

/// Runs the service until it receives a signal. `--help` lists the settings.
///
/// Returns 0 after a clean shutdown and 2 if the service cannot start.
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

/// Runs the service like [`run`], returning the error instead of printing it.
///
/// # Errors
/// The reason why the service cannot start.
pub fn start(arguments: Vec<String>, environment: impl IntoIterator<Item = (String, String)>) -> Result<(), OpenError> {
    if arguments.iter().any(|argument| ["--help", "-h"].contains(&argument.as_str())) {
        let settings = settings_help("pidq serve", &[SETTINGS, COMMON]);
        let text = format!("Serves graphs and queries over HTTP.\n\n{settings}\n{EXAMPLES}");
        // A closed pipe is not an error.
        drop(io::stdout().write_all(text.as_bytes()));
        return Ok(());
    }
    let settings = Settings::read(&[COMMON, SETTINGS], arguments, environment)?;
    CommonSettings(&settings).init_log()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let shutdown = Shutdown::on_signals()?;
        // Bind and listen first: the generated credentials are shown once and must not be lost when the start fails.
        let listeners = CommonSettings(&settings).listeners()?;
        let app = open(&settings).await?;
        listeners.iter().try_for_each(Listener::listen)?;
        first_credentials::deliver(&app.state, &settings)?;
        start_background_tasks(&app.state, &settings, &listeners)?;
        for listener in &listeners {
            tracing::info!(address = %listener.address()?, "listening");
        }
        Ok(serve(app, listeners, shutdown).await?)
    });
    // A second signal stops the service without waiting for running queries.
    runtime.shutdown_background();
    result
}

/// Starts the background tasks of a running service: reload on SIGHUP, removal of expired tokens, the first
/// fetch of the identity provider's keys, and the comparison of
/// the client secret in the settings with the stored one. Must be called within a runtime.
///
/// # Errors
/// The service has no accounts and listens beyond loopback.
pub fn start_background_tasks(
    server: &Arc<Server>,
    settings: &Settings,
    listeners: &[Listener],
) -> Result<(), OpenError> {
    if server.identities.is_none() {
        require_loopback(settings, listeners)?;
    }
    tokio::spawn(reload_on_hangup(server.clone(), signal(SignalKind::hangup())?));
    tokio::spawn(purge_expired_tokens(server.clone()));
    if let Some(identities) = &server.identities {
        identities.spawn_prefetch_of_provider_keys(Timestamp::now());
    }
    if !server.is_first_start {
        tokio::spawn(compare_client_secret(server.clone(), FirstAccounts::from_settings(settings)?));
    }
    Ok(())
}

/// Rejects listeners beyond loopback, including inherited sockets, and a proxy in front of the service, if it has no
/// accounts.
fn require_loopback(settings: &Settings, listeners: &[Listener]) -> Result<(), OpenError> {
    if let Some(address) = Listener::first_non_loopback(listeners)? {
        let reason = format!("`off` requires loopback, but the service listens on {address}");
        return Err(settings.invalid(&AUTH, &reason).into());
    }
    match CommonSettings(settings).reason_of_remote_clients()? {
        Some(reason) => {
            let reason = format!("`off` is for clients on this machine, but {reason}: a proxy would let in all others");
            Err(settings.invalid(&AUTH, &reason).into())
        }
        None => Ok(()),
    }
}

/// Interval between removals of expired tokens.
const PURGE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Reloads a served directory on SIGHUP. Without a handler, the signal would terminate the process.
async fn reload_on_hangup(server: Arc<Server>, mut hangup_signals: Signal) {
    while hangup_signals.recv().await.is_some() {
        let store = server.store.clone();
        if let Ok(Err(error)) = spawn_blocking(move || store.reload()).await {
            tracing::error!(%error, "reloading the graphs failed; the served graphs are unchanged");
        }
    }
}

async fn compare_client_secret(server: Arc<Server>, first: FirstAccounts) {
    if let Some(identities) = &server.identities {
        first.warn_about_client_secret(identities).await;
    }
}

async fn purge_expired_tokens(server: Arc<Server>) {
    let Some(identities) = &server.identities else { return };
    loop {
        tokio::time::sleep(PURGE_INTERVAL).await;
        match identities.purge_expired(Timestamp::now()).await {
            Ok(purged) => tracing::debug!(purged, "expired tokens removed"),
            Err(error) => tracing::warn!(%error, "removing expired tokens failed; retrying in 1 h"),
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
        assert!(require_loopback(&settings, &[anywhere("127.0.0.1:0"), admin]).is_ok());
        let result = require_loopback(&settings, &[anywhere("127.0.0.1:0"), anywhere("0.0.0.0:0")]);
        assert!(result.is_err_and(|error| error.to_string().contains("`PIDQ_AUTH`")));
    }

    #[test]
    fn a_service_without_accounts_is_not_behind_a_proxy() {
        for (flag, value) in [("--trusted-proxies", "127.0.0.1"), ("--public-url", "https://pidq.example")] {
            let arguments = ["--auth", "off", flag, value].map(str::to_owned);
            let settings = Settings::read(&[COMMON, SETTINGS], arguments, []).expect("no mistake");
            let error = require_loopback(&settings, &[]).expect_err(flag).to_string();
            assert!(error.contains("`PIDQ_AUTH`") && error.contains("a proxy"), "{error}");
        }
    }
}
