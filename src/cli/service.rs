//! `pidq serve`, and what the commands about accounts and stored graphs share: settings, and a runtime.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use pidq_http::auth::Identities;
use pidq_http::{COMMON, SettingError, Settings, environment, give_memory_back};
use pidq_server::{OpenError, SETTINGS, open_accounts};

use super::failure::{Failure, Result, Status};
use super::table;

/// Settings are the service's own business: they are rows of a table, not options of the command.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Serve {
    /// Settings, as `--listen 127.0.0.1:8080`; `pidq serve --help` lists them
    #[arg(value_name = "SETTING", trailing_var_arg = true, allow_hyphen_values = true)]
    settings: Vec<String>,
}

/// Which accounts and graphs a command is about. The databases come from the environment, as for the service.
#[derive(Args)]
pub struct Place {
    /// The data directory of the service; `PIDQ_DATABASE_URL` and `PIDQ_STORE_URL` hold for it too
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<PathBuf>,
}

/// Serves until it is told to stop.
pub fn serve(options: &Serve) -> Result {
    give_memory_back();
    pidq_server::start(options.settings.clone(), variables()?).map_err(refused)?;
    Ok(Status::Done)
}

impl Place {
    /// Whether a directory was named.
    pub fn is_named(&self) -> bool {
        self.data_dir.is_some()
    }

    /// Refuses a folder that is not there, for who only looks: an empty list of what nobody keeps would be no answer.
    /// What another setting keeps in a database is not in the folder.
    pub fn is_there(&self, elsewhere: &str) -> Result<()> {
        let settings = self.settings()?;
        let wrong = |error: SettingError| refused(error.into());
        let folder = PathBuf::from(settings.text("PIDQ_DATA_DIR").map_err(wrong)?);
        match settings.optional(elsewhere).map_err(wrong)? {
            None if !folder.is_dir() => Err(Failure::Usage(format!(
                "there is no data directory `{}`: `--data-dir` names that of the service",
                folder.display()
            ))),
            _ => Ok(()),
        }
    }

    /// The settings of the service that has its data there.
    pub fn settings(&self) -> Result<Settings> {
        let folder = self.data_dir.iter().map(|path| path.display().to_string());
        let arguments = folder.flat_map(|path| ["--data-dir".to_owned(), path]);
        Settings::read(&[COMMON, SETTINGS], arguments, variables()?).map_err(|error| refused(error.into()))
    }
}

/// The settings in the environment.
pub fn variables() -> Result<Vec<(String, String)>> {
    environment().map_err(|error| Failure::Usage(error.to_string()))
}

/// Does something with the accounts of a service.
pub fn with_accounts(place: &Place, act: impl AsyncFnOnce(&Identities) -> Result) -> Result {
    let settings = place.settings()?;
    wait(async {
        let identities = open_accounts(&settings).await.map_err(refused)?;
        act(&identities).await
    })
}

/// Does something that waits for databases and disks.
pub fn wait<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::Usage(format!("cannot start: {error}")))?.block_on(work)
}

/// Why a service or its data cannot be opened.
pub fn refused(error: OpenError) -> Failure {
    Failure::Usage(error.to_string())
}

/// Prints rows in columns.
pub fn print(rows: &[Vec<String>]) -> Result {
    Ok(print_text(&table::text(rows))?)
}

/// Prints a text.
pub fn print_text(text: &str) -> io::Result<Status> {
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Status::Done)
}
