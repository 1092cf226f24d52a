//! What the parts of the platform call to each other: within a process, and over NATS to all others.
//!
//! Messages are bells. Whatever they tell stands in the database, and whoever hears nothing looks there: nothing is lost
//! when they are. Everything that is published reaches the subscribers in this process; with NATS also those elsewhere.

mod nats;
mod signal;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::health::Health;

pub use nats::{BadUrl, Undelivered};
pub use signal::Signal;

/// Messages that wait for a subscriber. Whoever is slower than that hears that there were more.
const WAITING: usize = 1024;

/// Where messages go and come from. Clones share it.
#[derive(Clone)]
pub struct Messages {
    here: broadcast::Sender<Heard>,
    elsewhere: Option<Arc<nats::Nats>>,
}

/// A message: what it is about, and what it says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// Words with dots between them. No names of files, and no labels: servers keep subjects in their logs.
    pub subject: String,
    /// What it says.
    pub bytes: Bytes,
}

/// What a subscriber hears.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Heard {
    /// A message.
    Message(Message),
    /// There may have been messages that were not heard: look in the database.
    Missed,
}

/// The messages whose subjects begin alike.
pub struct Subscription {
    prefix: String,
    heard: broadcast::Receiver<Heard>,
}

impl Messages {
    /// Messages within this process.
    pub fn in_process() -> Messages {
        Messages { here: broadcast::channel(WAITING).0, elsewhere: None }
    }

    /// Messages to all processes at a NATS server, or at several with commas between their URLs. One that cannot be
    /// reached is tried again until it can.
    /// Over TLS, the authorities of a file (PEM) vouch for it, or those of the system.
    ///
    /// # Errors
    /// If the URL is none.
    pub fn over_nats(urls: &str, authorities: Option<&Path>) -> Result<Messages, BadUrl> {
        let here = broadcast::channel(WAITING).0;
        let elsewhere = Some(Arc::new(nats::Nats::open(urls, authorities, here.clone())?));
        Ok(Messages { here, elsewhere })
    }

    /// Tells everybody who is there. Never waits, and never fails: it is a bell.
    pub fn publish(&self, subject: &str, bytes: impl Into<Bytes>) {
        let message = Message { subject: subject.to_owned(), bytes: bytes.into() };
        if let Some(nats) = &self.elsewhere {
            nats.publish(message.clone());
        }
        // An error says that nobody listens.
        let _ = self.here.send(Heard::Message(message));
    }

    /// Tells everybody a signal.
    pub fn signal(&self, signal: &Signal) {
        self.publish(signal.subject(), signal.bytes());
    }

    /// Tells everybody, and waits until the message is where it has to go: for events, which are repeated from the
    /// outbox until then. With JetStream the server keeps it and takes an id once; without NATS this process is all.
    ///
    /// # Errors
    /// If the server does not answer.
    pub async fn deliver(&self, subject: &str, id: &str, bytes: impl Into<Bytes>) -> Result<(), Undelivered> {
        let message = Message { subject: subject.to_owned(), bytes: bytes.into() };
        if let Some(nats) = &self.elsewhere {
            nats.deliver(message.clone(), id).await?;
        }
        let _ = self.here.send(Heard::Message(message));
        Ok(())
    }

    /// The messages from now on whose subjects begin with these words.
    pub fn subscribe(&self, prefix: &str) -> Subscription {
        Subscription { prefix: prefix.to_owned(), heard: self.here.subscribe() }
    }

    /// The server behind it, if there is one.
    pub fn health(&self) -> Option<&Health> {
        self.elsewhere.as_ref().map(|nats| nats.health())
    }
}

impl Subscription {
    /// The next one. None: there will be no more.
    pub async fn next(&mut self) -> Option<Heard> {
        loop {
            match self.heard.recv().await {
                Ok(Heard::Message(message)) if !message.subject.starts_with(&self.prefix) => {}
                Ok(heard) => return Some(heard),
                Err(RecvError::Lagged(_)) => return Some(Heard::Missed),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.health() {
            Some(health) => write!(f, "Messages({health:?})"),
            None => f.write_str("Messages(in process)"),
        }
    }
}
