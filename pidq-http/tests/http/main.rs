//! A real server on 127.0.0.1, bytes in, bytes out: each test is a sentence about the service.

mod answers;
mod corpus;
mod descriptors;
mod encrypted;
mod ending;
mod framing;
mod gathered;
mod http2;
mod logs;
mod operations;
mod proxied;
mod restart;
mod server;
mod slow;
