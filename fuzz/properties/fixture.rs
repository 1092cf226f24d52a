//! Test fixture: in-memory accounts with a fixed clock.

use pidq_http::auth::{Identities, IdentityOptions, Timestamp};
use pidq_http::database::Database;
use tokio::runtime::{Builder, Runtime};

pub const NOW: Timestamp = Timestamp(1_700_000_000_000);

pub struct Fixture {
    pub runtime: Runtime,
    pub identities: Identities,
}

impl Fixture {
    /// Creates a fixture without accounts.
    pub fn empty() -> Fixture {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let identities = runtime.block_on(async {
            let database = Database::open("sqlite::memory:").await.expect("memory");
            let options = IdentityOptions::at("https://pidq.example");
            Identities::open(database, options).await.expect("accounts")
        });
        Fixture { runtime, identities }
    }
}
