//! Subcommand `pidq migrate`: updates the tables of graphs, accounts and documents before new processes start.

use std::io::{self, Write};

use clap::Args;
use pidq_http::{AnySetting, CommonSettings, Settings, settings_help_where};
use pidq_server::{open_accounts, open_store};

use super::{read_settings, setting_tables};
use crate::cli::commands::serve::{block_on, print_text};
use crate::cli::failure::{Failure, Result, Status};

const PURPOSE: &str = "\
Creates or updates the tables of graphs, accounts and documents, and exits. Every service does this at its start too;
run before an upgrade, this command shows failures while the old version is still serving.

All settings of `pidq up` are accepted; those below have an effect.";

const EXAMPLES: &str = "\
Examples:
  pidq migrate --data-dir /var/lib/pidq
  docker compose ... run --rm api migrate          with the settings of the service `api`
";

/// Settings that name the databases, and those of the log.
const SETTINGS_WITH_EFFECT: [&str; 7] = [
    "PIDQ_CONFIG",
    "PIDQ_LOG_LEVEL",
    "PIDQ_LOG_FORMAT",
    "PIDQ_DATA_DIR",
    "PIDQ_DATABASE_URL",
    "PIDQ_STORE_URL",
    "PIDQ_ANN_THRESHOLD",
];

/// Options of `pidq migrate`. Settings are those of `pidq up`.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Options {
    /// Settings, such as `--data-dir /var/lib/pidq`; see `pidq migrate --help`
    #[arg(value_name = "SETTING", trailing_var_arg = true, allow_hyphen_values = true)]
    settings: Vec<String>,
}

/// Runs the subcommand. It may run any number of times, also at the same time.
pub fn run(options: &Options) -> Result {
    if options.settings.iter().any(|argument| ["--help", "-h"].contains(&argument.as_str())) {
        let has_effect = |row: &dyn AnySetting| SETTINGS_WITH_EFFECT.contains(&row.env());
        let settings = settings_help_where("pidq migrate", &setting_tables(), has_effect);
        write!(io::stdout(), "{PURPOSE}\n\n{settings}\n{EXAMPLES}")?;
        return Ok(Status::Done);
    }
    let settings = read_settings(options.settings.clone(), false)?;
    CommonSettings(&settings).init_log().map_err(Failure::usage)?;
    block_on(migrate(&settings))
}

async fn migrate(settings: &Settings) -> Result {
    open_store(settings).await.map_err(Failure::usage)?;
    open_accounts(settings).await.map_err(Failure::usage)?;
    pidq_pipeline::migrate(settings).await.map_err(Failure::usage)?;
    Ok(print_text("the tables are up to date\n")?)
}
