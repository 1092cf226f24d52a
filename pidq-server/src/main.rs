//! The service as a program of its own: `pidq-server`, which is `pidq serve`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    pidq_http::give_memory_back();
    pidq_server::run(std::env::args().skip(1), std::env::vars())
}
