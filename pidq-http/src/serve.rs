//! Server: accept loop and graceful shutdown.

mod activity;
mod connection;
mod io_timeout;
mod listener;
mod own_wake;
mod proxy_protocol;
mod request_framing;
mod shutdown;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

pub use listener::Listener;
pub use shutdown::{Shutdown, Stop};

use activity::Activity;
use connection::Connection;

use crate::limits::Limits;
use crate::message::boxed_future::Fut;
use crate::message::conn_info::ListenerKind;
use crate::service::{App, Service};

/// Server phase, as connections see it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Phase {
    Serving,
    Draining,
    Stopping,
}

/// Serves an app on listeners until shutdown is requested and running requests are complete.
///
/// After the first shutdown request `/readyz` returns 503, and everything else continues for `limits.shutdown_delay`,
/// in which load balancers notice: each HTTP/1 response ends its connection, so that none is kept for later. Then no
/// connection is accepted, and open ones have `limits.shutdown_grace` to finish.
/// The delay is left out if no client has connected for a minute, and after Ctrl-C. A second shutdown request stops the
/// server immediately.
pub async fn serve<S: Send + Sync + 'static>(
    app: App<S>,
    listeners: Vec<Listener>,
    shutdown: Shutdown,
) -> io::Result<()> {
    serve_service(app.build(), listeners, shutdown).await
}

/// Serves a service that was built before.
pub async fn serve_service<S: Send + Sync + 'static>(
    service: Service<S>,
    listeners: Vec<Listener>,
    shutdown: Shutdown,
) -> io::Result<()> {
    let mut group = ServiceGroup::new(service.0.limits);
    group.add(service, listeners)?;
    group.serve(shutdown).await
}

/// Services of one process that start and stop together, each with listeners of its own.
pub struct ServiceGroup {
    /// Limits of the shutdown.
    limits: Limits,
    phase: watch::Sender<Phase>,
    activity: Activity,
    accept_tasks: JoinSet<()>,
    drain: Vec<Box<dyn Fn() + Send + Sync>>,
    flush_traces: Vec<Fut<'static, ()>>,
    done: mpsc::Sender<()>,
    all_done: mpsc::Receiver<()>,
}

impl ServiceGroup {
    /// Creates an empty group that stops within these limits.
    pub fn new(limits: Limits) -> Self {
        let (done, all_done) = mpsc::channel(1);
        ServiceGroup {
            limits,
            phase: watch::Sender::new(Phase::Serving),
            activity: Activity::default(),
            accept_tasks: JoinSet::new(),
            drain: Vec::new(),
            flush_traces: Vec::new(),
            done,
            all_done,
        }
    }

    /// Adds a service, which accepts connections from now on. Requires a tokio runtime.
    ///
    /// # Errors
    ///
    /// Fails if the runtime rejects a socket, or if another socket listens on its address.
    pub fn add<S: Send + Sync + 'static>(&mut self, service: Service<S>, listeners: Vec<Listener>) -> io::Result<()> {
        let limits = service.0.limits;
        let state = ServerState {
            service: service.clone(),
            connection_slots: Arc::new(Semaphore::new(connection_limit(limits.connection_limit))),
            handshakes: Arc::new(Semaphore::new(limits.handshake_limit.min(Semaphore::MAX_PERMITS))),
            phases: self.phase.subscribe(),
            activity: self.activity.clone(),
            done: None,
        };
        for listener in listeners {
            // The admin listener stays open to the end, and shutdown does not wait for it.
            let done = (listener.kind == ListenerKind::Public).then(|| self.done.clone());
            self.accept_tasks.spawn(Box::pin(run_listener(listener, ServerState { done, ..state.clone() })?));
        }
        self.flush_traces.push(service.flush_traces());
        self.drain.push(Box::new(move || service.drain()));
        Ok(())
    }

    /// Serves until shutdown is requested and running requests are complete, as [`serve`] does.
    pub async fn serve(self, mut shutdown: Shutdown) -> io::Result<()> {
        let ServiceGroup { limits, phase, activity, mut accept_tasks, drain, flush_traces, done, mut all_done } = self;
        drop(done);
        shutdown.requested_times(1).await;
        drain.iter().for_each(|drain| drain());
        if shutdown.is_interrupted() {
            tracing::info!("stopping when all requests are answered; press Ctrl-C again to stop at once");
        } else if activity.is_idle() {
            tracing::info!("shutdown requested");
        } else {
            tracing::info!("shutdown requested; /readyz reports 503");
            let _ = timeout(limits.shutdown_delay, shutdown.requested_times(2)).await;
        }
        let _ = phase.send(Phase::Draining);
        shutdown.refuse_connections();
        tokio::select! {
            _ = all_done.recv() => tracing::info!("stopped: all requests were answered"),
            () = sleep(limits.shutdown_grace) => tracing::warn!("stopped: some requests exceeded the shutdown grace period and were aborted"),
            () = shutdown.requested_times(2) => tracing::warn!("stopped immediately"),
        }
        let _ = phase.send(Phase::Stopping);
        accept_tasks.shutdown().await;
        let mut flushing: JoinSet<()> = flush_traces.into_iter().collect();
        tokio::select! {
            () = async { while flushing.join_next().await.is_some() {} } => {}
            () = shutdown.requested_times(2) => {}
        }
        Ok(())
    }
}

/// State shared by all connections of a server.
struct ServerState<S: 'static> {
    service: Service<S>,
    connection_slots: Arc<Semaphore>,
    handshakes: Arc<Semaphore>,
    phases: watch::Receiver<Phase>,
    activity: Activity,
    /// Dropped when the connections that shutdown waits for are closed.
    done: Option<mpsc::Sender<()>>,
}

/// Returns the connection limit, bounded by the file descriptor limit minus a reserve for files and databases.
fn connection_limit(configured: usize) -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    const RESERVED_DESCRIPTORS: u64 = 96;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum {
        limit.current = limit.maximum;
        // Without permission to raise it, the current limit applies.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let available = descriptors.saturating_sub(RESERVED_DESCRIPTORS).max(descriptors / 2).max(1);
    configured.clamp(1, usize::try_from(available).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS))
}

fn run_listener<S: Send + Sync + 'static>(
    listener: Listener,
    state: ServerState<S>,
) -> io::Result<impl Future<Output = ()> + Send + 'static> {
    listener.listen()?;
    let Listener { socket, tls, kind } = listener;
    let socket = TcpListener::from_std(socket.into())?;
    Ok(async move {
        let _reloads = tls.clone().map(|tls| tls.spawn_reload_task(state.service.0.info.clone()));
        let mut phases = state.phases.clone();
        let serving = accept_until_shutdown(&socket, &state, &tls, kind);
        tokio::select! {
            () = serving => {}
            _ = phases.wait_for(|phase| *phase != Phase::Serving && kind == ListenerKind::Public) => {}
        }
        accept_backlog(socket, &state, &tls, kind);
    })
}

async fn accept_until_shutdown<S: Send + Sync + 'static>(
    socket: &TcpListener,
    state: &ServerState<S>,
    tls: &Option<crate::tls::Tls>,
    kind: ListenerKind,
) {
    loop {
        // Without a free slot, connections wait in the kernel's backlog, which uses no memory of this process.
        let Ok(slot) = state.connection_slots.clone().acquire_owned().await else { return };
        match socket.accept().await {
            Ok((stream, _)) => spawn_connection(stream, slot, state, tls, kind),
            Err(error) if is_peer_error(&error) => {}
            Err(error) => {
                // Most likely out of file descriptors. Retry after a pause.
                tracing::error!(%error, "accepting a connection failed; retrying in 1 s");
                state.service.0.info.metrics.connection_failed("accept");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Accepts the connections that are already in the backlog, and closes the listener.
///
/// Accepts each directly: the runtime learns of connections later than the kernel has them, and does not hand out any
/// number of them at once. Those that remained in the backlog would be reset.
fn accept_backlog<S: Send + Sync + 'static>(
    socket: TcpListener,
    state: &ServerState<S>,
    tls: &Option<crate::tls::Tls>,
    kind: ListenerKind,
) {
    let Ok(socket) = socket.into_std() else { return };
    while let Ok(slot) = state.connection_slots.clone().try_acquire_owned() {
        match socket.accept() {
            Ok((stream, _)) => {
                let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
                if let Ok(stream) = stream {
                    spawn_connection(stream, slot, state, tls, kind);
                }
            }
            Err(error) if is_peer_error(&error) => {}
            Err(_) => return,
        }
    }
}

fn is_peer_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn spawn_connection<S: Send + Sync + 'static>(
    stream: TcpStream,
    slot: OwnedSemaphorePermit,
    state: &ServerState<S>,
    tls: &Option<crate::tls::Tls>,
    kind: ListenerKind,
) {
    let connection = Connection {
        service: state.service.clone(),
        handshakes: state.handshakes.clone(),
        phases: state.phases.clone(),
        tls: tls.clone(),
        kind,
    };
    let done = state.done.clone();
    let open = state.activity.connection();
    tokio::spawn(async move {
        connection.run(stream).await;
        drop((slot, done, open));
    });
}

impl<S> Clone for ServerState<S> {
    fn clone(&self) -> Self {
        ServerState {
            service: self.service.clone(),
            connection_slots: self.connection_slots.clone(),
            handshakes: self.handshakes.clone(),
            phases: self.phases.clone(),
            activity: self.activity.clone(),
            done: self.done.clone(),
        }
    }
}
