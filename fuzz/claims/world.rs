//! Accounts in memory, for what strangers send to them. Time stands still.

use pidq_http::auth::{Identities, IdentityOptions, Moment};
use pidq_http::database::Database;
use tokio::runtime::{Builder, Runtime};

pub const NOW: Moment = Moment(1_700_000_000_000);

pub struct World {
    pub runtime: Runtime,
    pub identities: Identities,
}

impl World {
    /// Accounts that nobody has.
    pub fn empty() -> World {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let identities = runtime.block_on(async {
            let database = Database::open("sqlite::memory:").await.expect("memory");
            let options = IdentityOptions::at("https://pidq.example");
            Identities::open(database, options).await.expect("accounts")
        });
        World { runtime, identities }
    }
}
