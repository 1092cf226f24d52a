//! Subcommand `pidq restore`: verifies a backup, and writes it into an empty installation.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::backup::{Installation, Manifest, check, read_key, unpack};
use crate::cli::commands::serve::ServiceOptions;
use crate::cli::failure::{Failure, Result, Status};

const EXAMPLES: &str = "\
Examples:
  pidq restore --check plant-2026-11-26.tar.zst
  pidq restore --data-dir /var/lib/pidq plant-2026-11-26.tar.zst

The data directory must be empty, and databases that PIDQ_DATABASE_URL and PIDQ_STORE_URL name must have no tables.
PostgreSQL needs `pg_restore`. Start the service after the restoration, with the same PIDQ_APP_SECRET as before.";

/// Options of `pidq restore`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    service: ServiceOptions,
    /// Key of an encrypted backup
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Verify the backup without writing anything
    #[arg(long)]
    check: bool,
    /// Backup, or `-` for standard input
    #[arg(value_name = "FILE")]
    input: PathBuf,
}

/// Verifies or restores a backup.
pub fn run(options: &Options) -> Result {
    let key = options.key_file.as_deref().map(read_key).transpose()?;
    let input = open(&options.input)?;
    if options.check {
        report("complete", &check(input, key.as_ref())?);
        return Ok(Status::Done);
    }
    let installation = Installation::new(&options.service.settings()?)?;
    let dir = installation.create_restoration_dir()?;
    let manifest = unpack(input, key.as_ref(), dir.path())?;
    installation.restore(dir.path())?;
    dir.close()?;
    report("restored", &manifest);
    Ok(Status::Done)
}

fn open(path: &Path) -> Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
    Ok(Box::new(file))
}

fn report(outcome: &str, manifest: &Manifest) {
    let Manifest { version, created_at, .. } = manifest;
    eprintln!("{outcome}: {}, written by pidq {version} on {created_at}", manifest.contents());
}
