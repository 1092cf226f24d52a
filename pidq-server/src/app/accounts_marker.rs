//! File of the data directory that tells a first start from the loss of the account database.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pidq_http::auth::{Identities, IdentityError};

/// Name of the file.
const FILE: &str = "accounts-created";
/// Content, for administrators who find the file.
const CONTENT: &str =
    "This installation has accounts. While this file exists, `pidq serve` does not start without them.\n";

/// File that exists once there are accounts.
pub(crate) struct AccountsMarker {
    path: PathBuf,
}

impl AccountsMarker {
    /// Creates the marker of a data directory.
    pub fn new(data_dir: &Path) -> Self {
        AccountsMarker { path: data_dir.join(FILE) }
    }

    /// Returns true if there were accounts at an earlier start and there are none now.
    ///
    /// # Errors
    /// Those of the account database.
    pub async fn accounts_are_lost(&self, identities: &Identities) -> Result<bool, IdentityError> {
        Ok(self.path.exists() && !identities.has_accounts().await?)
    }

    /// Writes the file, if it does not exist.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self) -> io::Result<()> {
        if self.path.exists() { Ok(()) } else { fs::write(&self.path, CONTENT) }
    }
}
