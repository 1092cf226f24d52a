//! Accounts of a platform with authentication: users, clients, and the root client.

use pidq_http::auth::Identities;

/// Accounts of a platform with authentication.
pub struct Accounts {
    /// Users, clients and their tokens.
    pub identities: Identities,
    /// Id of the root client from the settings, which has all scopes.
    pub master: String,
}
