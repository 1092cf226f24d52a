//! What the service promises on the wire: each endpoint, each way to be refused, each header.
//!
//! The service is the real one, made of settings, with accounts in SQLite. Most requests are calls without a network;
//! `wire` sends some over a socket.

mod asking;
mod counting;
mod fleet;
mod kept;
mod listing;
mod logging;
mod order;
mod reading;
mod service;
mod table;
mod tenants;
mod tokens;
mod wire;
mod writing;
mod wrong;
