//! NATS connection of a program that was built without the feature `nats`: it cannot be opened.

use std::path::Path;

use tokio::sync::broadcast;

use super::{Message, Received};
use crate::cluster::health::DependencyHealth;

/// Error of opening a connection.
#[derive(Clone, Copy, Debug, Eq, thiserror::Error, PartialEq)]
#[error("this program was built without NATS; use one built with the feature `nats`, or remove the setting")]
pub struct InvalidUrl;

/// A message was not confirmed by NATS.
#[derive(Clone, Copy, Debug, Eq, thiserror::Error, PartialEq)]
#[error("NATS did not confirm the message")]
pub struct PublishError;

/// Connection to NATS; there is none.
pub(super) enum Nats {}

impl Nats {
    pub fn open(_: &str, _: Option<&Path>, _: broadcast::Sender<Received>) -> Result<Nats, InvalidUrl> {
        Err(InvalidUrl)
    }

    pub fn health(&self) -> &DependencyHealth {
        match *self {}
    }

    pub fn publish(&self, _: Message) {
        match *self {}
    }

    pub async fn publish_confirmed(&self, _: Message, _: &str) -> Result<(), PublishError> {
        match *self {}
    }
}
