//! The platform as a program of its own: `pidq-pipeline`, which is `pidq pipeline serve`, and `pidq-pipeline worker`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use pidq_pipeline::{Part, extract, start};

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    // The platform starts its own program to read a document.
    if arguments == ["pipeline", "read-document"] {
        return extract::child_main();
    }
    let part = if arguments.first().is_some_and(|word| word == "worker") { Part::Worker } else { Part::Server };
    arguments.drain(..usize::from(part == Part::Worker));
    pidq_http::give_memory_back();
    let environment = pidq_http::environment().map_err(|error| error.to_string());
    match environment.and_then(|given| start(part, arguments, given).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
