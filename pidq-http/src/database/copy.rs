//! Copies of SQLite databases in use.

use std::path::Path;

use super::{Database, DatabaseError, DatabaseKind};

impl Database {
    /// Writes a consistent copy of a SQLite database, as of the last commit, to a new file, and verifies it. Other
    /// processes may write meanwhile.
    ///
    /// # Errors
    /// Returns an error for PostgreSQL, if the file exists or cannot be written, or if the database is damaged.
    pub async fn copy_sqlite(&self, target: &Path) -> Result<(), DatabaseError> {
        let path = target.to_str().ok_or_else(|| DatabaseError::Url("the path of the copy is not UTF-8".into()))?;
        if self.kind() != DatabaseKind::Sqlite {
            return Err(DatabaseError::Url("only SQLite databases can be copied into a file".into()));
        }
        self.execute("vacuum into $1", &[path.into()]).await?;
        let copy = Database::open(&format!("sqlite:{path}")).await?;
        let findings = copy.rows::<(String,)>("pragma quick_check", &[]).await;
        copy.close().await;
        match findings?.as_slice() {
            [(finding,)] if finding == "ok" => Ok(()),
            [(finding,), ..] => Err(DatabaseError::Open(format!("the database is damaged: {finding}"))),
            [] => Err(DatabaseError::Open("the copy of the database cannot be verified".into())),
        }
    }
}
