//! Listeners, and a graceful end: accept, hand over to connections, stop without breaking an answer off.

mod connection;
mod framing;
mod guard;
mod listener;
mod proxied;
mod shutdown;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

pub(crate) use framing::Framing;
pub use listener::Listener;
pub use shutdown::{Shutdown, Stop};

use crate::site::{App, Door, Site};
use connection::Connection;

/// What connections are told: go on, finish, or end now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Phase {
    Serving,
    Finishing,
    Ending,
}

/// Serves an app on listeners until it is told to stop, and then until running requests are answered.
///
/// The first word to stop turns `/readyz` to 503 while everything else goes on for `limits.drain_wait`; then no
/// connection is accepted, and those that are open have `limits.drain_time` to finish. The second word ends it.
pub async fn serve<S: Send + Sync + 'static>(
    app: App<S>,
    listeners: Vec<Listener>,
    shutdown: Shutdown,
) -> io::Result<()> {
    serve_site(app.build(), listeners, shutdown).await
}

/// The same for an app that was made ready before.
pub async fn serve_site<S: Send + Sync + 'static>(
    site: Site<S>,
    listeners: Vec<Listener>,
    mut shutdown: Shutdown,
) -> io::Result<()> {
    let limits = site.0.limits;
    let (phase, phases) = watch::channel(Phase::Serving);
    let (alive, mut all_gone) = mpsc::channel::<()>(1);
    let floor = Floor {
        site: site.clone(),
        places: Arc::new(Semaphore::new(places(limits.connections))),
        handshakes: Arc::new(Semaphore::new(limits.handshakes.min(Semaphore::MAX_PERMITS))),
        phases,
        alive: None,
    };
    let mut doors = JoinSet::new();
    for listener in listeners {
        // The administrator's door is open to the end, and no reason to wait for it.
        let alive = (listener.door == Door::Public).then(|| alive.clone());
        doors.spawn(Box::pin(accept_all(listener, Floor { alive, ..floor.clone() })?));
    }
    drop((floor, alive));
    shutdown.asked(1).await;
    tracing::info!("stopping: not ready from now on");
    site.drain();
    let _ = timeout(limits.drain_wait, shutdown.asked(2)).await;
    let _ = phase.send(Phase::Finishing);
    tokio::select! {
        _ = all_gone.recv() => tracing::info!("stopped: all requests are answered"),
        () = sleep(limits.drain_time) => tracing::warn!("stopped: requests took too long and were broken off"),
        () = shutdown.asked(2) => tracing::warn!("stopped at once"),
    }
    let _ = phase.send(Phase::Ending);
    doors.shutdown().await;
    Ok(())
}

/// What all connections of a server share.
struct Floor<S: 'static> {
    site: Site<S>,
    places: Arc<Semaphore>,
    handshakes: Arc<Semaphore>,
    phases: watch::Receiver<Phase>,
    /// Held while somebody is to be waited for at the end.
    alive: Option<mpsc::Sender<()>>,
}

/// As many connections as the descriptors allow, with some left for files and databases.
fn places(wanted: usize) -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    const OTHER: u64 = 96;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum {
        limit.current = limit.maximum;
        // Whoever may not raise it lives with what there is.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let room = files.saturating_sub(OTHER).max(files / 2).max(1);
    wanted.clamp(1, usize::try_from(room).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS))
}

fn accept_all<S: Send + Sync + 'static>(
    listener: Listener,
    floor: Floor<S>,
) -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let Listener { socket, tls, door } = listener;
    let socket = TcpListener::from_std(socket)?;
    Ok(async move {
        let _reloads = tls.clone().map(|tls| tls.watch(floor.site.0.facts.clone()));
        let mut phases = floor.phases.clone();
        let serving = accept_while_serving(&socket, &floor, &tls, door);
        tokio::select! {
            () = serving => {}
            _ = phases.wait_for(|phase| *phase != Phase::Serving && door == Door::Public) => {}
        }
        accept_backlog(&socket, &floor, &tls, door).await;
    })
}

async fn accept_while_serving<S: Send + Sync + 'static>(
    socket: &TcpListener,
    floor: &Floor<S>,
    tls: &Option<crate::tls::Tls>,
    door: Door,
) {
    loop {
        // Whoever finds no place waits in the backlog of the kernel, where waiting costs us nothing.
        let Ok(place) = floor.places.clone().acquire_owned().await else { return };
        match socket.accept().await {
            Ok((stream, _)) => open(stream, place, floor, tls, door),
            Err(error) if is_the_peers_fault(&error) => {}
            Err(error) => {
                // Out of descriptors, most likely. Spinning would make it worse, and giving up for ever worse still.
                tracing::error!(%error, "cannot accept connections");
                floor.site.0.facts.metrics.broke("accept");
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Clients whose connection the kernel took already are not turned away.
async fn accept_backlog<S: Send + Sync + 'static>(
    socket: &TcpListener,
    floor: &Floor<S>,
    tls: &Option<crate::tls::Tls>,
    door: Door,
) {
    while let Ok(place) = floor.places.clone().try_acquire_owned()
        && let Ok(Ok((stream, _))) = timeout(Duration::ZERO, socket.accept()).await
    {
        open(stream, place, floor, tls, door);
    }
}

fn is_the_peers_fault(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn open<S: Send + Sync + 'static>(
    stream: TcpStream,
    place: OwnedSemaphorePermit,
    floor: &Floor<S>,
    tls: &Option<crate::tls::Tls>,
    door: Door,
) {
    let connection = Connection {
        site: floor.site.clone(),
        handshakes: floor.handshakes.clone(),
        phases: floor.phases.clone(),
        tls: tls.clone(),
        door,
    };
    let alive = floor.alive.clone();
    tokio::spawn(async move {
        connection.run(stream).await;
        drop((place, alive));
    });
}

impl<S> Clone for Floor<S> {
    fn clone(&self) -> Self {
        Floor {
            site: self.site.clone(),
            places: self.places.clone(),
            handshakes: self.handshakes.clone(),
            phases: self.phases.clone(),
            alive: self.alive.clone(),
        }
    }
}
