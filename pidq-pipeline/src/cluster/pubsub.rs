//! Publish/subscribe within a process and, over NATS, between processes.
//!
//! Messages are only notifications. Everything they announce is in the database, which subscribers poll as well, so that
//! a lost message loses no data. A message reaches the subscribers in this process and, with NATS, in other processes.

#[cfg_attr(not(feature = "nats"), path = "pubsub/without_nats.rs")]
mod nats;
mod signal;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::cluster::health::DependencyHealth;

pub use nats::{InvalidUrl, PublishError};
pub use signal::Signal;

/// Maximum number of messages queued for a subscriber. A slower subscriber receives [`Received::Missed`].
const QUEUE_SIZE: usize = 1024;

/// Message bus. Clones share it.
#[derive(Clone)]
pub struct PubSub {
    local: broadcast::Sender<Received>,
    nats: Option<Arc<nats::Nats>>,
}

/// A message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// Dot-separated subject, without file names and classifications: servers log subjects.
    pub subject: String,
    /// Payload.
    pub bytes: Bytes,
}

/// Item that a subscriber receives.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Received {
    /// A message.
    Message(Message),
    /// Messages may have been lost: query the database.
    Missed,
}

/// Subscription to a subject prefix.
pub struct Subscription {
    prefix: String,
    receiver: broadcast::Receiver<Received>,
}

impl PubSub {
    /// Creates a bus within this process.
    pub fn in_process() -> PubSub {
        PubSub { local: broadcast::channel(QUEUE_SIZE).0, nats: None }
    }

    /// Creates a bus to all processes on a NATS server, or on several with comma-separated URLs. Failed connections are
    /// retried indefinitely. TLS uses the root certificates of a PEM file, or those of the system.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub fn over_nats(urls: &str, root_certificates: Option<&Path>) -> Result<PubSub, InvalidUrl> {
        let local = broadcast::channel(QUEUE_SIZE).0;
        let nats = Some(Arc::new(nats::Nats::open(urls, root_certificates, local.clone())?));
        Ok(PubSub { local, nats })
    }

    /// Publishes a message without waiting; failures are ignored.
    pub fn publish(&self, subject: &str, bytes: impl Into<Bytes>) {
        let message = Message { subject: subject.to_owned(), bytes: bytes.into() };
        if let Some(nats) = &self.nats {
            nats.publish(message.clone());
        }
        // An error means that there are no subscribers.
        let _ = self.local.send(Received::Message(message));
    }

    /// Publishes a signal.
    pub fn signal(&self, signal: &Signal) {
        self.publish(signal.subject(), signal.to_bytes());
    }

    /// Publishes a message and waits for the confirmation: for events, which are retried from the
    /// outbox until then. JetStream stores it and deduplicates by id; without NATS it stays in this process.
    ///
    /// # Errors
    /// If the server does not respond.
    pub async fn publish_confirmed(
        &self,
        subject: &str,
        id: &str,
        bytes: impl Into<Bytes>,
    ) -> Result<(), PublishError> {
        let message = Message { subject: subject.to_owned(), bytes: bytes.into() };
        if let Some(nats) = &self.nats {
            nats.publish_confirmed(message.clone(), id).await?;
        }
        let _ = self.local.send(Received::Message(message));
        Ok(())
    }

    /// Subscribes to new messages by subject prefix.
    pub fn subscribe(&self, prefix: &str) -> Subscription {
        Subscription { prefix: prefix.to_owned(), receiver: self.local.subscribe() }
    }

    /// Returns the health of the NATS connection; none without NATS.
    pub fn health(&self) -> Option<&DependencyHealth> {
        self.nats.as_ref().map(|nats| nats.health())
    }
}

impl Subscription {
    /// Returns the next item; none after the bus closed.
    pub async fn next(&mut self) -> Option<Received> {
        loop {
            match self.receiver.recv().await {
                Ok(Received::Message(message)) if !message.subject.starts_with(&self.prefix) => {}
                Ok(received) => return Some(received),
                Err(RecvError::Lagged(_)) => return Some(Received::Missed),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl fmt::Debug for PubSub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.health() {
            Some(health) => write!(f, "PubSub({health:?})"),
            None => f.write_str("PubSub(in process)"),
        }
    }
}
