//! Role scheduler: plans statements, and gives their tasks to executors.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use ballista_scheduler::scheduler_server::SchedulerServer;
use clap::Args;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use pidq_datafusion::Functions;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::{Result, session};

/// Options of the scheduler.
#[derive(Args)]
pub(crate) struct Options {
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1:50050")]
    bind: SocketAddr,
    /// Name by which executors reach this process
    #[arg(long, default_value = "127.0.0.1")]
    external_host: String,
    /// Number of executors from which on `/readyz` reports that the cluster is ready
    #[arg(long, default_value_t = 1)]
    min_executors: usize,
    /// Seconds without a heartbeat after which an executor is lost, and its tasks run elsewhere
    #[arg(long, default_value_t = 30)]
    executor_timeout: u64,
    /// Seconds that running statements have to finish after SIGTERM
    #[arg(long, default_value_t = 30)]
    grace: u64,
}

/// Runs the scheduler until SIGTERM or SIGINT.
pub(crate) async fn run(options: Options) -> Result<()> {
    let functions = Functions::default();
    let build =
        move |config: SessionConfig| -> datafusion::error::Result<SessionState> { session::state(config, &functions) };
    let config = SchedulerConfig {
        external_host: options.external_host,
        bind_host: options.bind.ip().to_string(),
        bind_port: options.bind.port(),
        min_ready_executors: options.min_executors,
        executor_timeout_seconds: options.executor_timeout,
        expire_dead_executor_interval_seconds: (options.executor_timeout / 3).max(1),
        no_executors_grace_period_seconds: options.executor_timeout.max(1) * 2,
        override_session_builder: Some(Arc::new(build)),
        override_config_producer: Some(Arc::new(session::config)),
        ..SchedulerConfig::default()
    };
    config.validate()?;
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config)).await?;
    let listener = TcpListener::bind(options.bind).await?;
    println!("scheduler: listening on {}", listener.local_addr()?);
    let service = start_grpc_service_with_listener(listener, scheduler.clone());
    let end = async {
        end_signal().await?;
        finish_jobs(&scheduler, Duration::from_secs(options.grace)).await;
        Ok(())
    };
    tokio::select! {
        result = service => Ok(result?),
        result = end => result,
    }
}

/// Waits for SIGTERM or SIGINT.
async fn end_signal() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        result = tokio::signal::ctrl_c() => Ok(result?),
    }
}

/// Waits until no statement is running, at most for the given time.
async fn finish_jobs(scheduler: &SchedulerServer<LogicalPlanNode, PhysicalPlanNode>, grace: Duration) {
    const INTERVAL: Duration = Duration::from_millis(100);
    let count = || scheduler.running_job_number() + scheduler.pending_job_number();
    tracing::info!(jobs = count(), "ending; running statements may finish");
    let finished = async {
        while count() > 0 {
            tokio::time::sleep(INTERVAL).await;
        }
    };
    if tokio::time::timeout(grace, finished).await.is_err() {
        tracing::warn!(jobs = count(), "ended with running statements");
    }
}
