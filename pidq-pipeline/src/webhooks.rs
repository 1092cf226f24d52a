//! Delivery of events to webhooks: dispatcher, signed requests, and encrypted secrets.

pub mod dispatcher;

pub(crate) mod delivery;
pub(crate) mod secrets;
pub(crate) mod signing;
