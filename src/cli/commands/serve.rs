//! Subcommand `pidq serve`, and helpers of the administration commands: settings and the async runtime.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use pidq_http::auth::Identities;
use pidq_http::{AnySetting, COMMON, Settings, configure_malloc};
use pidq_server::{DATA_DIR, SETTINGS, open_accounts};

use crate::cli::environment::environment_for;
use crate::cli::failure::{Failure, Result, Status};
use crate::cli::table;

/// Options of `pidq serve`. Settings are parsed by the service from its own table.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Serve {
    /// Settings, such as `--listen 127.0.0.1:8080`; see `pidq serve --help`
    #[arg(value_name = "SETTING", trailing_var_arg = true, allow_hyphen_values = true)]
    settings: Vec<String>,
}

/// Location of the accounts and graphs. Database URLs come from the environment, as for the service.
#[derive(Args)]
pub struct ServiceOptions {
    /// Data directory of the service; `PIDQ_DATABASE_URL` and `PIDQ_STORE_URL` apply too
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<PathBuf>,
}

/// Runs the service until it receives a signal.
pub fn serve(options: &Serve) -> Result {
    configure_malloc();
    let environment = environment_for(&[COMMON, SETTINGS])?;
    pidq_server::start(options.settings.clone(), environment).map_err(Failure::usage)?;
    Ok(Status::Done)
}

impl ServiceOptions {
    /// Returns true if a directory was given.
    pub fn has_data_dir(&self) -> bool {
        self.data_dir.is_some()
    }

    /// Fails if a read-only command names a missing data directory: an empty list would be misleading. Not needed if
    /// `database_setting` names a database.
    pub fn require_data_dir(&self, database_setting: &dyn AnySetting) -> Result<()> {
        let settings = self.settings()?;
        let dir = settings.get(&DATA_DIR).map_err(Failure::usage)?;
        if settings.is_set(database_setting) || dir.is_dir() {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "no data directory `{}`; set `--data-dir` to the data directory of the service",
            dir.display()
        )))
    }

    /// Returns the settings of the service with this data directory.
    pub fn settings(&self) -> Result<Settings> {
        let dir = self.data_dir.iter().map(|path| path.display().to_string());
        let arguments = dir.flat_map(|path| ["--data-dir".to_owned(), path]);
        Settings::read(&[COMMON, SETTINGS], arguments, environment_for(&[COMMON, SETTINGS])?).map_err(Failure::usage)
    }
}

/// Runs an operation on the accounts of a service.
pub fn with_accounts(options: &ServiceOptions, operation: impl AsyncFnOnce(&Identities) -> Result) -> Result {
    let settings = options.settings()?;
    block_on(async {
        let identities = open_accounts(&settings).await.map_err(Failure::usage)?;
        operation(&identities).await
    })
}

/// Runs a future to completion on a new runtime.
pub fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::Usage(format!("cannot start the async runtime: {error}")))?.block_on(future)
}

/// Prints rows as a table.
pub fn print(rows: &[Vec<String>]) -> Result {
    Ok(print_text(&table::text(rows))?)
}

/// Prints text.
pub fn print_text(text: &str) -> io::Result<Status> {
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Status::Done)
}
