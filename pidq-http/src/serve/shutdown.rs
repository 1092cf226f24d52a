//! Shutdown requests, from signals or from the embedding program.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Receiver of shutdown requests. Clones belong to the same server.
#[derive(Clone)]
pub struct Shutdown {
    requests: watch::Receiver<Requests>,
    /// True once the server accepts no more connections.
    refuses_connections: watch::Sender<bool>,
}

/// Sender of shutdown requests.
#[derive(Clone)]
pub struct Stop(watch::Sender<Requests>);

/// Requests so far.
#[derive(Clone, Copy, Default)]
struct Requests {
    count: usize,
    /// One of them is a SIGINT: Ctrl-C at a terminal.
    interrupted: bool,
}

impl Shutdown {
    /// Listens for SIGTERM and SIGINT: the first signal stops gracefully, the second at once.
    pub fn on_signals() -> io::Result<Self> {
        let (stop, shutdown) = Shutdown::manual();
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    Some(()) = terminate.recv() => stop.stop(),
                    Some(()) = interrupt.recv() => stop.interrupt(),
                    else => return,
                }
            }
        });
        Ok(shutdown)
    }

    /// Creates a manual shutdown, for embedders and tests. If every `Stop` is dropped, the server runs until the
    /// process ends.
    pub fn manual() -> (Stop, Self) {
        let (sender, requests) = watch::channel(Requests::default());
        (Stop(sender), Shutdown { requests, refuses_connections: watch::Sender::new(false) })
    }

    /// Waits for the first request.
    pub async fn requested(mut self) {
        self.requested_times(1).await;
    }

    /// Waits for the second request: everything that is not done is to be left.
    pub async fn requested_at_once(mut self) {
        self.requested_times(2).await;
    }

    pub(super) async fn requested_times(&mut self, times: usize) {
        if self.requests.wait_for(|requests| requests.count >= times).await.is_err() {
            std::future::pending().await
        }
    }

    /// Returns whether a person has requested the shutdown at a terminal.
    pub(super) fn is_interrupted(&self) -> bool {
        self.requests.borrow().interrupted
    }

    /// Waits until the server accepts no more connections: after the first request, and the delay in which load balancers
    /// notice. A client whose response ends now connects to another replica.
    pub async fn connections_refused(self) {
        // The sender lives as long as `self`.
        let _ = self.refuses_connections.subscribe().wait_for(|refuses| *refuses).await;
    }

    pub(super) fn refuse_connections(&self) {
        self.refuses_connections.send_replace(true);
    }
}

impl Stop {
    /// Requests a stop. The first call stops gracefully, the second at once.
    pub fn stop(&self) {
        self.0.send_modify(|requests| requests.count += 1);
    }

    /// Requests a stop, as a person does with Ctrl-C: without the delay for load balancers.
    pub fn interrupt(&self) {
        self.0.send_modify(|requests| *requests = Requests { count: requests.count + 1, interrupted: true });
    }
}
