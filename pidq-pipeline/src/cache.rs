//! What may be lost, in Redis: how often somebody asked.

mod redis;

pub use redis::{BadUrl, Redis};
