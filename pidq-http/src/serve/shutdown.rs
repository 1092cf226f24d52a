//! Shutdown requests, from signals or from the embedding program.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Receiver of shutdown requests.
#[derive(Clone)]
pub struct Shutdown(watch::Receiver<usize>);

/// Sender of shutdown requests.
#[derive(Clone)]
pub struct Stop(watch::Sender<usize>);

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
                    Some(()) = interrupt.recv() => stop.stop(),
                    else => return,
                }
            }
        });
        Ok(shutdown)
    }

    /// Creates a manual shutdown, for embedders and tests. If every `Stop` is dropped, the server runs until the
    /// process ends.
    pub fn manual() -> (Stop, Self) {
        let (sender, receiver) = watch::channel(0);
        (Stop(sender), Shutdown(receiver))
    }

    /// Waits for the first request.
    pub async fn requested(mut self) {
        self.requested_times(1).await;
    }

    pub(super) async fn requested_times(&mut self, times: usize) {
        if self.0.wait_for(|signals| *signals >= times).await.is_err() {
            std::future::pending().await
        }
    }
}

impl Stop {
    /// Requests a stop. The first call stops gracefully, the second at once.
    pub fn stop(&self) {
        self.0.send_modify(|signals| *signals += 1);
    }
}
