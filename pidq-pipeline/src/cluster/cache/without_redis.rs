//! Redis connection of a program that was built without the feature `redis`: it cannot be opened.

use std::time::Duration;

use crate::cluster::health::DependencyHealth;

/// Error of opening a connection.
#[derive(Clone, Copy, Debug, Eq, thiserror::Error, PartialEq)]
#[error("this program was built without Redis; use one built with the feature `redis`, or remove the setting")]
pub struct InvalidUrl;

/// Client of a Redis-compatible server; there is none.
pub enum Redis {}

impl Redis {
    /// Returns an error.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &str, _: Duration, _: Option<&[u8]>) -> Result<Redis, InvalidUrl> {
        Err(InvalidUrl)
    }

    /// Returns the health of the connection.
    pub fn health(&self) -> &DependencyHealth {
        match *self {}
    }

    /// Returns the value of a key.
    pub async fn get(&self, _: &str) -> Option<Option<String>> {
        match *self {}
    }

    /// Sets the value of a key.
    pub async fn set(&self, _: &str, _: &str, _: Duration) {
        match *self {}
    }

    /// Charges a request to a bucket.
    pub async fn charge(&self, _: &str, _: Duration, _: Duration) -> Option<(bool, Duration)> {
        match *self {}
    }
}
