//! Shutdown requests, from signals or from the embedding program.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Receiver of shutdown requests.
#[derive(Clone)]
pub struct Shutdown(watch::Receiver<Requests>);

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
        let (sender, receiver) = watch::channel(Requests::default());
        (Stop(sender), Shutdown(receiver))
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
        if self.0.wait_for(|requests| requests.count >= times).await.is_err() {
            std::future::pending().await
        }
    }

    /// Returns whether a person has requested the shutdown at a terminal.
    pub(super) fn is_interrupted(&self) -> bool {
        self.0.borrow().interrupted
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
