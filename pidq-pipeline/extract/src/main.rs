//! Program `pidq-extract`: extracts one document, given on standard input, for the document platform.
//!
//! It links only the readers of document formats. The services run it for each document; where it is not installed next
//! to them, they run themselves in the same mode.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use pidq_extract::{BUILD_ID, sandbox_main};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        // As the program of the setting `PIDQ_EXTRACTOR`, it gets the arguments of the whole program.
        None | Some("pipeline") => sandbox_main(),
        Some("--build-id") => {
            println!("{BUILD_ID}");
            ExitCode::SUCCESS
        }
        Some(_) => {
            eprintln!(
                "usage: pidq-extract [--build-id]\nIt is run by the document platform, see `pidq pipeline serve --help`."
            );
            ExitCode::from(2)
        }
    }
}
