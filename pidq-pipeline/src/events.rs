//! Delivery of events: the sequencer that orders them, and the NATS publisher.

pub mod nats_publisher;
pub mod sequencer;
