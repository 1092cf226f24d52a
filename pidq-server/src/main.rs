//! The service as a program of its own: `pidq-server`, which is `pidq serve`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    pidq_http::give_memory_back();
    match pidq_http::environment() {
        Ok(environment) => pidq_server::run(std::env::args().skip(1), environment),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::from(2)
        }
    }
}
