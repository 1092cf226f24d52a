//! Role executor: runs the tasks of statements.

use std::net::IpAddr;
use std::sync::Arc;

use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use clap::Args;
use pidq_datafusion::{Functions, Settings};
use tempfile::TempDir;

use crate::size::Size;
use crate::{Result, session};

/// Options of an executor.
#[derive(Args)]
pub(crate) struct Options {
    /// Host of the scheduler
    #[arg(long, default_value = "127.0.0.1")]
    scheduler_host: String,
    /// Port of the scheduler
    #[arg(long, default_value_t = 50050)]
    scheduler_port: u16,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Port for results of tasks
    #[arg(long, default_value_t = 50051)]
    port: u16,
    /// Port for the scheduler
    #[arg(long, default_value_t = 50052)]
    grpc_port: u16,
    /// Name by which the scheduler, clients and other executors reach this process
    #[arg(long)]
    external_host: Option<String>,
    /// Tasks at a time; 0 is the number of cores
    #[arg(long, default_value_t = 0)]
    tasks: usize,
    /// Memory for sorts, joins and aggregates of all tasks; beyond it they use the disk
    #[arg(long, default_value = "1G")]
    memory: Size,
    /// Directory for results of tasks; by default a temporary one
    #[arg(long)]
    work_dir: Option<String>,
    /// Seconds between heartbeats
    #[arg(long, default_value_t = 5)]
    heartbeat: u64,
    /// Upper limit of `pidq.fuel` of all sessions
    #[arg(long, default_value_t = 2_000_000_000)]
    max_fuel: u64,
    /// Upper limit of `pidq.memory` of all sessions
    #[arg(long, default_value = "256M")]
    max_drawing_memory: Size,
    /// Upper limit of `pidq.drawing_size` and `pidq.output` of all sessions
    #[arg(long, default_value = "128M")]
    max_drawing_size: Size,
}

impl Options {
    fn ceiling(&self) -> Settings {
        Settings {
            fuel: self.max_fuel,
            memory: self.max_drawing_memory.0,
            output: self.max_drawing_size.0,
            drawing_size: self.max_drawing_size.0,
            ..Settings::default()
        }
    }
}

/// Runs an executor until SIGTERM or SIGINT. Running tasks are finished.
pub(crate) async fn run(options: Options) -> Result<()> {
    // A temporary directory is removed at the end.
    let (work_dir, _temporary) = work_dir(options.work_dir.clone())?;
    let functions = Functions::with_ceiling(options.ceiling());
    let state = session::state(session::config(), &functions)?;
    let config = ExecutorProcessConfig {
        bind_host: options.bind.to_string(),
        external_host: options.external_host.or_else(|| Some(options.bind.to_string())),
        port: options.port,
        grpc_port: options.grpc_port,
        scheduler_host: options.scheduler_host,
        scheduler_port: options.scheduler_port,
        scheduler_connect_timeout_seconds: 60,
        vcores: match options.tasks {
            0 => std::thread::available_parallelism().map_or(1, |cores| cores.get()),
            tasks => tasks,
        },
        work_dir: Some(work_dir),
        memory_pool_size: Some(options.memory.0 as u64),
        executor_heartbeat_interval_seconds: options.heartbeat,
        job_data_ttl_seconds: 3600,
        job_data_clean_up_interval_seconds: 600,
        override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&state))),
        override_config_producer: Some(Arc::new(session::config)),
        ..ExecutorProcessConfig::default()
    };
    println!("executor: {} tasks, listening on {}:{}", config.vcores, options.bind, options.port);
    Ok(start_executor_process(Arc::new(config)).await?)
}

fn work_dir(given: Option<String>) -> Result<(String, Option<TempDir>)> {
    match given {
        Some(path) => Ok((path, None)),
        None => {
            let temporary = TempDir::with_prefix("pidq-executor-")?;
            let path = temporary.path().to_str().ok_or("the path of the temporary directory is not UTF-8")?.to_owned();
            Ok((path, Some(temporary)))
        }
    }
}
