//! Copies of SQLite databases while a service writes to them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use pidq_http::database::Database;

use crate::cli::failure::{Failure, Result};

/// First bytes of every SQLite database, see <https://www.sqlite.org/fileformat.html>.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Returns whether a file is a SQLite database.
pub fn is_database(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC)
}

/// Writes a consistent copy of a database, as of the last commit, to a new file. Writers are not blocked.
pub async fn copy(source: &Path, target: &Path) -> Result<()> {
    let failed = |error| Failure::Usage(format!("cannot copy the database `{}`: {error}", source.display()));
    let database = Database::open(&format!("sqlite:{}", source.display())).await.map_err(Failure::usage)?;
    let copied = database.copy_sqlite(target).await.map_err(failed);
    database.close().await;
    copied
}
