//! Cooperation of processes: shared cache, messages, health of dependencies, and the feed of new events.

pub mod cache;
pub mod health;
pub mod pubsub;

pub(crate) mod event_feed;
