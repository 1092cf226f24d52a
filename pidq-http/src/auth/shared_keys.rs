//! Keys shared by all replicas on one database, for signatures that another replica verifies.

use super::secret::Secret;
use super::{Identities, IdentityError};

// Of concurrent inserts, the first one is kept.
pub(super) const INSERT_IF_ABSENT: &str =
    "insert into shared_keys (name, value) values ($1, $2) on conflict (name) do nothing";
const SELECT: &str = "select value from shared_keys where name = $1";

impl Identities {
    /// Returns the key of this name, generated on first use. It stays for the lifetime of the database.
    pub async fn shared_key(&self, name: &str) -> Result<Secret, IdentityError> {
        let generated = Secret::random()?;
        self.database.execute(INSERT_IF_ABSENT, &[name.into(), generated.expose().into()]).await?;
        let row = self.database.row::<(String,)>(SELECT, &[name.into()]).await?;
        Ok(row.map_or(generated, |row| Secret::new(row.0)))
    }
}
