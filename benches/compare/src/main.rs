//! Benchmark of pidq against its peers and against hand-written baselines.
//!
//! ```text
//! pidq-compare [--sizes 1k,10k,100k] [--rounds N] [--quick] [--only load,warm,walks,compile,functions,cold]
//! ```
//!
//! All values are CPU times; contestants take turns in each round, and a contestant counts only if its result equals
//! pidq's. Prints Markdown. `setup.sh` fetches the peers; missing ones are skipped.

mod baseline;
mod cold;
mod digest;
mod goals;
mod measure;
mod memory;
mod options;
mod pidq;
mod processes;
mod queries;
mod reader;
mod report;
mod result;
mod rust_peers;
#[path = "../../synthetic_plant.rs"]
mod synthetic_plant;
mod table;
mod walks;
mod warm;

use std::error::Error;
use std::process::ExitCode;

use crate::options::{Group, Options};
use crate::report::Report;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

#[global_allocator]
static ALLOCATOR: memory::CountingAllocator = memory::CountingAllocator;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pidq-compare: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    match arguments.first().map(String::as_str) {
        Some("spawn") => processes::spawn_and_report(&arguments[1..]),
        Some("lazy") => cold::lazy(&arguments[1..]),
        _ => compare(&Options::parse(arguments)?),
    }
}

fn compare(options: &Options) -> Result<()> {
    let mut report = Report::default();
    for &size in &options.sizes {
        eprintln!("{} nodes", table::short(size));
        let drawing = queries::Drawing::new(size)?;
        if options.has(Group::Load) {
            report.add(warm::load(&drawing, options)?);
        }
        if options.has(Group::Warm) {
            report.add(warm::tasks(&drawing, options)?);
        }
        if options.has(Group::Walks) {
            report.add(walks::walks(&drawing, options)?);
        }
        if options.has(Group::Functions) && size <= 10_000 {
            report.add(warm::functions(&drawing, options)?);
        }
        if options.has(Group::Cold) {
            report.add(cold::tools(&drawing, options)?);
        }
    }
    if options.has(Group::Compile) {
        report.add(warm::compile(options)?);
    }
    print!("{report}");
    Ok(())
}
