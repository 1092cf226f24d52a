//! Subcommand `pidq migrate`: updates the tables of graphs, accounts and documents before new processes start.

use std::io::{self, Write};

use clap::Args;
use pidq_http::{CommonSettings, Settings, settings_help};
use pidq_server::{open_accounts, open_store};

use super::{read_settings, setting_tables};
use crate::cli::commands::serve::{block_on, print_text};
use crate::cli::failure::{Failure, Result, Status};

const PURPOSE: &str = "\
Creates or updates the tables of graphs, accounts and documents, and exits. Every service does this at its start too;
run before an upgrade, this command shows failures while the old version is still serving.";

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
        write!(io::stdout(), "{PURPOSE}\n\n{}", settings_help("pidq migrate", &setting_tables()))?;
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
