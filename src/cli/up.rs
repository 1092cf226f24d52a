//! `pidq up`: graphs and documents served by one process that needs nothing else, on one address.

mod beside;
mod demo;

use std::io::{self, Write};
use std::sync::Arc;

use clap::Args;
use pidq_http::{
    COMMON, Floor, Kind, Listener, Setting, Settings, Shutdown, give_memory_back, help, serve_site, settings,
};
use pidq_pipeline::Attendance;

use super::failure::{Failure, Result, Status};
use super::service::variables;
use beside::Beside;

const PURPOSE: &str = "\
Serves graphs and documents in one process that needs nothing else: `/graph` and its tokens, and `/api` of the document
platform, on one address. `GET /docs` shows all calls in a browser.

  --demo
      Puts two drawings and some documents about them in, where there are none; the first account is `demo`.";

const EXAMPLES: &str = "\
Examples:
  pidq up --demo                          something to look at, in ./data
  pidq up --data-dir /var/lib/pidq        what is kept stays there
  pidq up --listen 127.0.0.1:9000         at another address
";

/// Where all is kept together, below the data directory.
const DATABASE: &str = "pidq.db";

/// Settings are the services' own business: they are rows of a table, not options of the command.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Options {
    /// `--demo`, and settings, as `--listen 127.0.0.1:8000`; `pidq up --help` lists them
    #[arg(value_name = "SETTING", trailing_var_arg = true, allow_hyphen_values = true)]
    settings: Vec<String>,
}

/// Serves until it is told to stop.
pub fn run(options: &Options) -> Result {
    let is = |words: &'static [&str]| options.settings.iter().any(|word| words.contains(&word.as_str()));
    if is(&["--help", "-h"]) {
        write!(io::stdout(), "{PURPOSE}\n\n{}\n{EXAMPLES}", help("pidq up", &tables()))?;
        return Ok(Status::Done);
    }
    give_memory_back();
    let arguments = options.settings.iter().filter(|word| *word != "--demo").cloned().collect();
    let settings = settings(arguments, is(&["--demo"]))?;
    Floor(&settings).init_log().map_err(told)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(told)?;
    runtime.block_on(serve_both(&settings, is(&["--demo"])))
}

/// What is otherwise here than in either.
const OWN: &[Setting] = settings![
    "PIDQ_DATABASE_URL", "config.database.url", Kind::Text, None, true, "Accounts, tokens and documents: `sqlite:FILE` or `postgres://…`; else `pidq.db` in the data directory.";
];

/// The settings of both. A later table decides where two have a row: on which address, for one.
fn tables() -> Vec<&'static [Setting]> {
    let mut tables = vec![COMMON, pidq_server::SETTINGS];
    tables.extend(pidq_pipeline::TABLES.iter().filter(|table| !std::ptr::eq(**table, COMMON)));
    tables.push(OWN);
    tables
}

/// Both keep what they have in one database, so that a token of one is good for the other.
fn settings(arguments: Vec<String>, is_demo: bool) -> Result<Settings> {
    let mut environment = variables()?;
    let mut usually = |name: &str, value: String| {
        if !environment.iter().any(|(known, _)| known == name || known.strip_suffix("_FILE") == Some(name)) {
            environment.push((name.into(), value));
        }
    };
    if is_demo {
        usually("PIDQ_ADMIN_LOGIN", "demo".into());
    }
    let folder = Settings::read(&tables(), arguments.clone(), variables()?).map_err(told)?;
    let database = std::path::Path::new(folder.text("PIDQ_DATA_DIR").map_err(told)?).join(DATABASE);
    usually("PIDQ_DATABASE_URL", format!("sqlite:{}", database.display()));
    Settings::read(&tables(), arguments, environment).map_err(told)
}

async fn serve_both(settings: &Settings, is_demo: bool) -> Result {
    let shutdown = Shutdown::on_signals().map_err(told)?;
    let listeners = Floor(settings).listeners().map_err(told)?;
    let mut graphs = pidq_server::open(settings).await.map_err(told)?;
    // The documentation and `/version` are about both.
    graphs.name = "pidq";
    let documents = pidq_pipeline::open(settings).await.map_err(told)?;
    pidq_server::attend(&graphs.state, settings, &listeners).map_err(told)?;
    let attendance = Attendance::of(&documents, settings, &listeners, &shutdown).map_err(told)?;
    let platform = documents.state.clone();
    let documents = documents.build();
    if is_demo {
        demo::fill(&graphs.state, &documents).await?;
    }
    introduce(&listeners)?;
    let site = graphs.with("/api", documents).build();
    // A service elsewhere that the settings name goes before this one.
    drop(platform.graphs.set(Arc::new(Beside(site.line()))));
    drop(platform);
    serve_site(site, listeners, shutdown).await.map_err(told)?;
    attendance.end().await;
    Ok(Status::Done)
}

fn introduce(listeners: &[Listener]) -> Result<()> {
    for listener in listeners {
        tracing::info!(address = %listener.address().map_err(told)?, "listening");
    }
    Ok(())
}

fn told(error: impl std::fmt::Display) -> Failure {
    Failure::Usage(error.to_string())
}
