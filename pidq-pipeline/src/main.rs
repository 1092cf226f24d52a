//! Program `pidq-pipeline`: the same as `pidq pipeline serve`; `pidq-pipeline worker` is `pidq pipeline worker`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use pidq_pipeline::ProcessRole;
use pidq_pipeline::start;

#[global_allocator]
static ALLOCATOR: pidq_http::ServiceAllocator = pidq_http::ServiceAllocator;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    // Workers run this program again to extract a document.
    if arguments == ["pipeline", "read-document"] {
        return pidq_extract::sandbox_main();
    }
    let role = if arguments.first().is_some_and(|first| first == "worker") {
        ProcessRole::Worker
    } else {
        ProcessRole::Server
    };
    arguments.drain(..usize::from(role == ProcessRole::Worker));
    pidq_http::configure_malloc();
    let environment = pidq_http::environment().map_err(|error| error.to_string());
    match environment.and_then(|variables| start(role, arguments, variables).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
