//! Authentication and authorization: accounts, clients, tokens, grants and single sign-on.
//!
//! Functions take and return plain data, independent of connections, routes and header types.
//!
//! ```
//! use pidq_http::auth::{
//!     BootstrapAccounts, Identities, IdentityOptions, Timestamp, OAuthRequest, Right, token_endpoint,
//! };
//! use pidq_http::database::Database;
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let database = Database::open("sqlite::memory:").await?;
//! let identities = Identities::open(database, IdentityOptions::at("https://pidq.example")).await?;
//! let secret = "0123456789abcdef0123456789abcdef";
//! let first = BootstrapAccounts {
//!     tenant: "acme",
//!     login: "ann@example.com",
//!     password: Some("blue valve"),
//!     client_id: "desk",
//!     client_secret: Some(secret),
//! };
//! identities.bootstrap(first, Timestamp::now()).await?;
//!
//! let form = format!(
//!     "grant_type=password&username=ann@example.com&password=blue+valve&client_id=desk&client_secret={secret}"
//! );
//! let request = OAuthRequest {
//!     content_type: Some("application/x-www-form-urlencoded"),
//!     authorization: &[],
//!     query: None,
//!     body: form.as_bytes(),
//!     address: "192.0.2.1".parse()?,
//!     now: Timestamp::now(),
//! };
//! let reply = token_endpoint(&identities, request).await;
//! assert_eq!(reply.status, 200);
//!
//! let tokens: serde_json::Value = serde_json::from_slice(&reply.body)?;
//! let header = format!("Bearer {}", tokens["access_token"].as_str().ok_or("no token")?);
//! let caller = identities.authenticate(&[&header], Timestamp::now()).await?;
//! caller.require("read")?;
//! assert!(identities.is_allowed(&caller, "unit-7", Right::Read).await?);
//! # Ok(()) }
//! ```

mod accounts;
mod audit;
mod bearer;
mod bootstrap;
mod caller;
mod clients;
mod endpoint;
mod graph_grants;
mod login_throttle;
mod master_credentials;
mod oidc;
mod own_password;
mod password;
mod readable_graphs;
mod secret;
mod shared_keys;
mod timestamp;
mod token_cache;
mod tokens;

use std::sync::Arc;
use std::time::Duration;

use crate::database::{Database, DatabaseError, Migration};
use crate::problem::{Problem, codes};
use login_throttle::Throttle;
use password::PasswordHasher;
use token_cache::TokenCache;

pub use accounts::{Account, NewUser, ROLES, Role, UserChanges};
pub use bearer::AuthError;
pub use bootstrap::{BootstrapAccounts, CreatedCredentials, FirstPassword};
pub use caller::{Caller, Subject};
pub(crate) use clients::GRANT_TYPES;
pub use clients::{Client, GrantType, NewClient, SCOPES};
pub use endpoint::{
    ActiveToken, AuthorizationServer, EmptyObject, MAX_BODY_SIZE, OAuthReply, OAuthRequest, ProtectedResource,
    TokenMetadata, TokenResponse, authorization_server_metadata, introspection_endpoint, protected_resource_metadata,
    revocation_endpoint, token_endpoint,
};
pub use graph_grants::{DefaultAccess, Grant, Right, Rights};
pub use login_throttle::{ClientNetwork, ThrottleLimits};
pub use master_credentials::MasterCredentials;
pub use oidc::{
    Algorithm, AuthorizationReply, ClaimMap, LoginError, LoginSecrets, Provider, ProviderLogin, ProviderSettings,
    RelyingParty, RelyingPartySettings, TenantSource, TokenError, TokenProfile, TokenReply,
};
pub use own_password::{PasswordChange, PasswordChangeError};
pub use password::{HashCost, check_password};
pub use secret::Secret;
pub use timestamp::Timestamp;

const MIGRATIONS: &[Migration] = &[Migration { version: 1, sql: include_str!("../migrations/identity_1.sql") }];

/// Options of accounts and tokens.
#[derive(Clone, Debug)]
pub struct IdentityOptions {
    /// URL of the service without a trailing slash; the issuer of its tokens.
    pub base_url: String,
    /// Enables the password grant. RFC 9700 discourages it; the service's specification requires it.
    pub password_grant: bool,
    /// Lifetime of an access token.
    pub access_token_ttl: Duration,
    /// Lifetime of an unused refresh token.
    pub refresh_token_idle_ttl: Duration,
    /// Maximum lifetime of a login, including refreshes.
    pub login_ttl: Duration,
    /// Time in which a refresh may be repeated if its response was lost. Zero disables it.
    pub refresh_grace: Duration,
    /// Rights of a tenant's members to its graphs without a grant.
    pub default_access: DefaultAccess,
    /// Time that a verified token is cached. Revocations by another process take effect after that, those by this
    /// process at once. Zero verifies every request in the database.
    pub token_cache_ttl: Duration,
    /// Cost of a password hash.
    pub hash_cost: HashCost,
    /// Limits on password attempts.
    pub throttle: ThrottleLimits,
}

impl IdentityOptions {
    /// Creates the default options for a service at this URL.
    pub fn at(base_url: &str) -> IdentityOptions {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        IdentityOptions {
            base_url: base_url.trim_end_matches('/').to_owned(),
            password_grant: true,
            access_token_ttl: Duration::from_secs(3600),
            refresh_token_idle_ttl: 14 * DAY,
            login_ttl: 30 * DAY,
            refresh_grace: Duration::from_secs(10),
            default_access: DefaultAccess::TenantReads,
            token_cache_ttl: Duration::from_secs(1),
            hash_cost: HashCost::default(),
            throttle: ThrottleLimits::default(),
        }
    }
}

/// Users, clients, tokens and rights.
pub struct Identities {
    database: Database,
    options: IdentityOptions,
    passwords: PasswordHasher,
    throttle: Throttle,
    token_cache: TokenCache,
    providers: Vec<Arc<Provider>>,
    first_password: Option<FirstPassword>,
}

impl Identities {
    /// Opens the store and migrates its tables.
    pub async fn open(database: Database, options: IdentityOptions) -> Result<Identities, IdentityError> {
        database.migrate("identity", MIGRATIONS).await?;
        let passwords = PasswordHasher::new(options.hash_cost)?;
        let throttle = Throttle::new(options.throttle);
        let token_cache = TokenCache::new(options.token_cache_ttl);
        Ok(Identities {
            database,
            options,
            passwords,
            throttle,
            token_cache,
            providers: Vec::new(),
            first_password: None,
        })
    }

    /// Also accepts the tokens of an identity provider.
    pub fn with_provider(mut self, provider: Provider) -> Identities {
        self.providers.push(Arc::new(provider));
        self
    }

    /// Also logs a warning if a login is rejected and used the password of the settings, which only the first start reads.
    pub fn with_first_password(mut self, password: FirstPassword) -> Identities {
        self.first_password = Some(password);
        self
    }

    /// Returns the issuers of the identity providers.
    pub fn issuers(&self) -> Vec<&str> {
        self.providers.iter().map(|provider| provider.issuer()).collect()
    }

    /// Spawns tasks that fetch the keys of the identity providers, and log why if that fails: the setting may be wrong.
    /// Requires a tokio runtime.
    pub fn spawn_prefetch_of_provider_keys(&self, now: Timestamp) {
        for provider in &self.providers {
            let provider = Arc::clone(provider);
            tokio::spawn(async move { provider.prefetch_keys(now).await });
        }
    }

    /// Returns the options.
    pub fn options(&self) -> &IdentityOptions {
        &self.options
    }

    /// Returns whether the database accepts writes, which a login requires.
    pub async fn is_writable(&self) -> Result<bool, IdentityError> {
        Ok(self.database.is_writable().await?)
    }

    /// Returns the number of password hashes since the start.
    pub fn hash_count(&self) -> u64 {
        self.passwords.hash_count()
    }
}

/// `Retry-After` in seconds while the disk is full.
pub(crate) const FULL_RETRY_AFTER: u64 = 5;

impl IdentityError {
    /// Returns true if the disk of the account database is full.
    pub fn is_storage_full(&self) -> bool {
        matches!(self, IdentityError::Database(error) if error.is_full())
    }

    /// Returns the problem for an account operation that failed, and logs the cause: 507 if the disk is full, else 503
    /// with this detail.
    pub fn to_problem(&self, detail: &'static str) -> Problem {
        if self.is_storage_full() {
            tracing::error!(error = %self, "an account operation failed because the disk is full; responding with 507");
            let full = "The disk of the account database is full. Nothing was stored.";
            return Problem::new(codes::INSUFFICIENT_STORAGE).detail(full).retry_after(FULL_RETRY_AFTER);
        }
        tracing::error!(error = %self, "an account operation failed; responding with 503");
        Problem::new(codes::UNAVAILABLE).detail(detail).retry_after(1)
    }
}

/// Error of an account operation. Never contains a secret.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The database does not respond or a statement failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// Too many password hashes are queued.
    #[error("too many password checks are in progress: try again")]
    Busy,
    /// The system's random number generator failed.
    #[error("the system's random number generator failed")]
    NoRandomness,
    /// The keys of the identity provider are unavailable.
    #[error("the keys of the identity provider are unavailable")]
    KeysUnavailable,
    /// A value is invalid, with the reason.
    #[error("{0}")]
    Invalid(String),
    /// The name already exists.
    #[error("`{0}` already exists")]
    Exists(String),
    /// The name does not exist.
    #[error("`{0}` does not exist")]
    Unknown(String),
}
