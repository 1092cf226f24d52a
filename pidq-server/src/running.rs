//! The command: settings in, a running service, exit code out.

use std::process::ExitCode;

use pidq_http::{COMMON, Floor, Settings, Shutdown, help, serve};

use crate::opening::{OpenError, open};
use crate::settings::SETTINGS;

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
        print!("Serves graphs and queries on them.\n\n{}", help(&[SETTINGS, COMMON]));
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
        for listener in &listeners {
            tracing::info!(address = %listener.address()?, "listening");
        }
        Ok(serve(app, listeners, shutdown).await?)
    })
}
