//! Entry point of the standalone binary `pidq-server`, equivalent to `pidq serve`.

#![forbid(unsafe_code)]

#[global_allocator]
static ALLOCATOR: pidq_http::ServiceAllocator = pidq_http::ServiceAllocator;

fn main() -> std::process::ExitCode {
    pidq_http::configure_malloc();
    match pidq_http::environment() {
        Ok(environment) => pidq_server::run(std::env::args().skip(1), environment),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::from(2)
        }
    }
}
