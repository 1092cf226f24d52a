//! A real server on 127.0.0.1, bytes in, bytes out: each test is a sentence about the service.

mod answers;
mod ending;
mod framing;
mod server;
mod slow;
