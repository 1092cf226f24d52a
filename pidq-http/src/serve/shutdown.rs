//! How a server is told to stop: by signals, or by whoever started it.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// A word to stop that may come, once or twice.
#[derive(Clone)]
pub struct Shutdown(watch::Receiver<usize>);

/// Tells a server to stop.
#[derive(Clone)]
pub struct Stop(watch::Sender<usize>);

impl Shutdown {
    /// SIGTERM and SIGINT: the first stops gracefully, the second at once.
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

    /// By hand: for embedders and tests. When every `Stop` is gone, nobody can stop it any more.
    pub fn manual() -> (Stop, Self) {
        let (sender, receiver) = watch::channel(0);
        (Stop(sender), Shutdown(receiver))
    }

    /// Waits for the first word: for what runs beside a server, or without one.
    pub async fn told(mut self) {
        self.asked(1).await;
    }

    pub(super) async fn asked(&mut self, times: usize) {
        if self.0.wait_for(|asked| *asked >= times).await.is_err() {
            std::future::pending().await
        }
    }
}

impl Stop {
    /// The first call stops gracefully, the second at once.
    pub fn stop(&self) {
        self.0.send_modify(|asked| *asked += 1);
    }
}
