//! Subcommand `pidq fmt`: formats queries.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::input;
use crate::cli::query_options::Profile;

const EXAMPLES: &str = "\
Examples:
  echo '.a|filter( .b==1 ) // mine' | pidq fmt
  pidq fmt --check valves.pidq
  pidq fmt --write valves.pidq";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Files with one query each; `-` or none reads standard input
    files: Vec<PathBuf>,

    /// Print nothing; list files that are not formatted and exit with 1 if there are any
    #[arg(long, conflicts_with = "write")]
    check: bool,

    /// Write the result back to the files
    #[arg(long, requires = "files")]
    write: bool,

    /// Query language
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let mut status = Status::Done;
    for path in input::files(&options.files) {
        let text = input::text(&path).map_err(|failure| explain_query(failure, &path, options))?;
        let formatted = options.profile.dialect().format(&text).map_err(|error| {
            let file = Some(&*path).filter(|path| *path != Path::new("-"));
            Failure::Query(error, text.clone()).of_query_file(file)
        })?;
        let formatted = format!("{}\n", formatted.trim_end());
        let is_changed = formatted != text;
        if options.check && is_changed {
            failure::warn(&format!("not formatted: {}\n", input::name(&path)));
            status = Status::Falsy;
        }
        if options.write && is_changed {
            write_back(&path, &formatted)?;
        }
        if !options.check && !options.write {
            io::stdout().lock().write_all(formatted.as_bytes())?;
        }
    }
    Ok(status)
}

/// Adds help if a query is given in place of a file.
fn explain_query(failure: Failure, path: &Path, options: &Options) -> Failure {
    match path.to_str() {
        Some(text) if !path.exists() && options.profile.dialect().format(text).is_ok() => Failure::Usage(format!(
            "`{text}` is a query, not a file; a query is read from standard input: `echo 'QUERY' | pidq fmt`"
        )),
        _ => failure,
    }
}

fn write_back(path: &Path, text: &str) -> Result<()> {
    if path == Path::new("-") {
        return Err(Failure::Usage("`--write` cannot write to standard input; name a file".into()));
    }
    fs::write(path, text).map_err(|error| Failure::Usage(format!("cannot write `{}`: {error}", path.display())))
}
