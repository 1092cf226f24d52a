//! Keys that all replicas on one database share. They sign what one replica gives out and another gets back.

use super::secret::Secret;
use super::{Identities, IdentityError};

// Of many that come at once, the first one's stays.
const OFFER: &str = "insert into shared_keys (name, value) values ($1, $2) on conflict (name) do nothing";
const KEY: &str = "select value from shared_keys where name = $1";

impl Identities {
    /// The key of this name, which is made up when it is asked for first. It stays for as long as the database.
    pub async fn shared_key(&self, name: &str) -> Result<Secret, IdentityError> {
        let offered = Secret::random()?;
        self.database.execute(OFFER, &[name.into(), offered.expose().into()]).await?;
        let row = self.database.row::<(String,)>(KEY, &[name.into()]).await?;
        Ok(row.map_or(offered, |row| Secret::new(row.0)))
    }
}
