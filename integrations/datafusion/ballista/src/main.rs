//! A Ballista cluster with the query functions of pidq: scheduler, executor and client in one program.
//!
//! Ballista loads no plugins, so all three processes have to be built with the functions.

mod client;
mod executor;
mod pack;
mod scheduler;
mod session;
mod size;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// Result of a command: its error is printed for users.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Query the P&IDs of a company with SQL, on one machine or on a cluster of Apache DataFusion Ballista
#[derive(Parser)]
#[command(name = "pidq-ballista", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the scheduler, which plans statements and gives tasks to executors
    Scheduler(scheduler::Options),
    /// Run an executor, which runs tasks
    Executor(executor::Options),
    /// Run SQL on a cluster, or in this process
    Client(client::SqlOptions),
    /// Follow the flow from an item across all drawings
    Trace(client::TraceOptions),
    /// Write a directory of drawings as Parquet files
    Pack(pack::Options),
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let default_filter = || EnvFilter::new("warn,pidq_ballista=info");
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| default_filter());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let result = match cli.command {
        Command::Scheduler(options) => scheduler::run(options).await,
        Command::Executor(options) => executor::run(options).await,
        Command::Client(options) => client::sql(options).await,
        Command::Trace(options) => client::trace(options).await,
        Command::Pack(options) => pack::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // As with `| head`.
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
