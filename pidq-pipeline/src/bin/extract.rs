//! The process that reads one document: a request on standard input, its answer on standard output.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    pidq_pipeline::extract::child_main()
}
