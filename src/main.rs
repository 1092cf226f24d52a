//! Entry point of the `pidq` command.

#![forbid(unsafe_code)]

mod cli;

#[cfg(feature = "server")]
#[global_allocator]
static ALLOCATOR: pidq_http::ServiceAllocator = pidq_http::ServiceAllocator;

fn main() -> std::process::ExitCode {
    cli::main()
}
