//! Subcommand `pidq backup`: writes everything that an installation stores to one file, while it is running.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pidq_http::Secret;

use crate::cli::backup::{ArchiveWriter, Installation, Manifest, read_key};
use crate::cli::commands::serve::{ServiceOptions, block_on};
use crate::cli::failure::{Failure, Result, Status};

const EXAMPLES: &str = "\
Examples:
  pidq backup --data-dir /var/lib/pidq plant-2026-11-26.tar.zst
  pidq backup --data-dir /var/lib/pidq --key-file backup.key - | ssh store 'cat > plant.pidq-backup'

PIDQ_DATABASE_URL and PIDQ_STORE_URL name databases elsewhere, as for the service. PostgreSQL needs `pg_dump`.";

/// Options of `pidq backup`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    service: ServiceOptions,
    /// Encrypt the backup with the key in a file of at least 32 characters, such as that of `openssl rand -base64 32`
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// New file for the backup, or `-` for standard output
    #[arg(value_name = "FILE")]
    output: PathBuf,
}

/// Writes a backup.
pub fn run(options: &Options) -> Result {
    let installation = Installation::new(&options.service.settings()?)?;
    let key = options.key_file.as_deref().map(read_key).transpose()?;
    let manifest = if options.output == Path::new("-") {
        let temp_dir = temporary().tempdir()?;
        remove_if_interrupted(&[temp_dir.path()])?;
        write(&installation, key.as_ref(), BufWriter::new(io::stdout().lock()), temp_dir.path())?.1
    } else {
        write_file(&installation, key.as_ref(), &options.output)?
    };
    eprintln!("{} before compression", manifest.contents());
    Ok(Status::Done)
}

/// Writes a backup under a temporary name, and renames it when it is complete and on disk.
fn write_file(installation: &Installation, key: Option<&Secret>, output: &Path) -> Result<Manifest> {
    let unwritable = |error: io::Error| Failure::Usage(format!("cannot write `{}`: {error}", output.display()));
    if output.exists() {
        return Err(Failure::Usage(format!("`{}` exists; a backup replaces nothing", output.display())));
    }
    let dir = output.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = temporary().tempfile_in(dir).map_err(unwritable)?;
    let temp_dir = temporary().tempdir_in(dir).map_err(unwritable)?;
    remove_if_interrupted(&[file.path(), temp_dir.path()])?;
    let (mut file, manifest) = write(installation, key, file, temp_dir.path())?;
    file.flush().and_then(|()| file.as_file().sync_all()).map_err(unwritable)?;
    file.persist_noclobber(output).map_err(|error| unwritable(error.error))?;
    fs::File::open(dir).and_then(|dir| dir.sync_all()).map_err(unwritable)?;
    Ok(manifest)
}

/// Returns a builder of temporary files whose names say what has left them, if the process was killed.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".pidq-backup-").suffix(".tmp");
    builder
}

/// Removes temporary files if a signal ends the process.
#[cfg_attr(not(unix), expect(clippy::unnecessary_wraps, reason = "fails on Unix"))]
fn remove_if_interrupted(paths: &[&Path]) -> io::Result<()> {
    #[cfg(unix)]
    crate::cli::backup::remove_on_signals(paths)?;
    #[cfg(not(unix))]
    let _ = paths;
    Ok(())
}

fn write<W: Write>(
    installation: &Installation,
    key: Option<&Secret>,
    out: W,
    temp_dir: &Path,
) -> Result<(W, Manifest)> {
    let mut archive = ArchiveWriter::new(out, key)?;
    block_on(installation.add_to(&mut archive, temp_dir))?;
    let (mut out, manifest) = archive.finish()?;
    out.flush()?;
    Ok((out, manifest))
}
