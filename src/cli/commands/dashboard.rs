//! Subcommand `pidq dashboard`: serves the dashboard for an API elsewhere.

use std::io::{self, Write};

use clap::Args;
use pidq_dashboard::{REMOTE_SETTINGS, SETTINGS};
use pidq_http::{
    COMMON, CommonSettings, LISTEN, SettingTable, Settings, Shutdown, configure_malloc, serve, settings_help_where,
};

use crate::cli::environment::environment_for;
use crate::cli::failure::{Failure, Result, Status};

const EXAMPLES: &str = "\
Examples:
  pidq dashboard --api-url http://127.0.0.1:8000     an API on this machine, which may run without accounts
  pidq dashboard --dashboard-listen 127.0.0.1:3001   another address of the dashboard
  PIDQ_CLIENT_ID=desk PIDQ_CLIENT_SECRET_FILE=/run/secrets/client pidq dashboard --api-url https://api.plant.example

The client needs the grants `password` and `refresh_token`:
  pidq clients add desk --grant password --grant refresh_token --scope read --scope write
";

const TABLES: &[SettingTable] = &[COMMON, SETTINGS, REMOTE_SETTINGS];

/// Options of `pidq dashboard`. Settings are parsed from the tables of the dashboard.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Options {
    /// Settings, such as `--api-url http://127.0.0.1:8000`; see `pidq dashboard --help`
    #[arg(value_name = "SETTING", trailing_var_arg = true, allow_hyphen_values = true)]
    settings: Vec<String>,
}

/// Returns the help of the settings, without the address of the API.
fn help_of_settings() -> String {
    settings_help_where("pidq dashboard", TABLES, |row| row.env() != LISTEN.env())
}

/// Runs the dashboard until a signal arrives.
pub fn run(options: &Options) -> Result {
    if options.settings.iter().any(|argument| ["--help", "-h"].contains(&argument.as_str())) {
        let purpose = "Serves the web dashboard for an API elsewhere.";
        write!(io::stdout(), "{purpose}\n\n{}\n{EXAMPLES}", help_of_settings())?;
        return Ok(Status::Done);
    }
    configure_malloc();
    let settings =
        Settings::read(TABLES, options.settings.clone(), environment_for(TABLES)?).map_err(Failure::usage)?;
    // `PIDQ_LISTEN` is the address of the API, which may be in the same file of settings.
    if settings.is_set_by_flag(&LISTEN) {
        return Err(Failure::Usage(
            "`--listen` is for the API: `--dashboard-listen` sets the addresses of the dashboard".into(),
        ));
    }
    CommonSettings(&settings).init_log().map_err(Failure::usage)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::usage)?;
    let result = runtime.block_on(serve_dashboard(&settings));
    runtime.shutdown_background();
    result
}

async fn serve_dashboard(settings: &Settings) -> Result {
    let shutdown = Shutdown::on_signals().map_err(Failure::usage)?;
    let app = pidq_dashboard::open_remote(settings).map_err(Failure::usage)?;
    let mut listeners = pidq_dashboard::listeners(settings).map_err(Failure::usage)?;
    listeners.extend(CommonSettings(settings).admin_listener().map_err(Failure::usage)?);
    for listener in &listeners {
        listener.listen().map_err(Failure::usage)?;
        tracing::info!(address = %listener.address().map_err(Failure::usage)?, "listening");
    }
    serve(app, listeners, shutdown).await.map_err(Failure::usage)?;
    Ok(Status::Done)
}
