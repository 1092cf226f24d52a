//! Who is calling, and what they may do: accounts, clients, tokens, grants and sign-on.
//!
//! Plain data in, plain data out: nothing in here knows a connection, a route or a header type.
//!
//! ```
//! use pidq_http::auth::{
//!     FirstStart, Identities, IdentityOptions, Moment, OAuthRequest, Right, token_endpoint,
//! };
//! use pidq_http::database::Database;
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let database = Database::open("sqlite::memory:").await?;
//! let identities = Identities::open(database, IdentityOptions::at("https://pidq.example")).await?;
//! let secret = "0123456789abcdef0123456789abcdef";
//! let first = FirstStart {
//!     tenant: "acme",
//!     login: "ann@example.com",
//!     password: Some("blue valve"),
//!     client_id: "desk",
//!     client_secret: Some(secret),
//! };
//! identities.first_start(first, Moment::now()).await?;
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
//!     now: Moment::now(),
//! };
//! let reply = token_endpoint(&identities, request).await;
//! assert_eq!(reply.status, 200);
//!
//! let tokens: serde_json::Value = serde_json::from_slice(&reply.body)?;
//! let header = format!("Bearer {}", tokens["access_token"].as_str().ok_or("no token")?);
//! let caller = identities.authenticate(&[&header], Moment::now()).await?;
//! caller.require("read")?;
//! assert!(identities.may(&caller, "unit-7", Right::Read).await?);
//! # Ok(()) }
//! ```

mod accounts;
mod audit;
mod bearer;
mod caller;
mod clients;
mod endpoint;
mod grants;
mod master;
mod moment;
mod oidc;
mod password;
mod recent;
mod secret;
mod sessions;
mod setup;
mod shared;
mod throttle;

use std::fmt;
use std::time::Duration;

use crate::database::{Database, DatabaseError, Migration};
use password::Passwords;
use recent::Recent;
use throttle::Throttle;

pub use accounts::{Account, NewUser, ROLES, Role};
pub use bearer::AuthError;
pub use caller::{Caller, Subject};
pub use clients::{Client, GrantType, NewClient, SCOPES};
pub use endpoint::{
    LARGEST_BODY, OAuthReply, OAuthRequest, authorization_server_metadata, introspection_endpoint,
    protected_resource_metadata, revocation_endpoint, token_endpoint,
};
pub use grants::{DefaultAccess, Grant, Right, Rights};
pub use master::Master;
pub use moment::Moment;
pub use oidc::{Algorithm, ClaimMap, Profile, Provider, ProviderSettings, TenantFrom, TokenFault};
pub use password::{HashCost, check_password};
pub use secret::Secret;
pub use setup::{FirstStart, Made};
pub use throttle::{Network, ThrottleLimits};

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("../migrations/identity_1.sql") },
    Migration { version: 2, sql: include_str!("../migrations/identity_2.sql") },
];

/// What an administrator decides about accounts and tokens.
#[derive(Clone, Debug)]
pub struct IdentityOptions {
    /// The address of the service without a slash at its end. It is the issuer of its tokens.
    pub base_url: String,
    /// Whether the password grant is offered at all. RFC 9700 advises against it; the service's contract asks for it.
    pub password_grant: bool,
    /// How long an access token lives.
    pub access_life: Duration,
    /// How long a refresh token lives that nobody uses.
    pub refresh_idle: Duration,
    /// How long a login lives, however often it is refreshed.
    pub login_life: Duration,
    /// How long a refresh may be repeated because its answer was lost. Zero turns that off.
    pub refresh_grace: Duration,
    /// What those of a tenant may do to its jobs without a grant.
    pub default_access: DefaultAccess,
    /// How long a token that was found good is believed without asking the database again: what another process takes
    /// back counts after that at the latest, what this one takes back at once. Zero asks for every request.
    pub token_cache: Duration,
    /// How much work a password is.
    pub hash_cost: HashCost,
    /// How often passwords may be tried.
    pub throttle: ThrottleLimits,
}

impl IdentityOptions {
    /// The defaults, for a service at this address.
    pub fn at(base_url: &str) -> IdentityOptions {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        IdentityOptions {
            base_url: base_url.trim_end_matches('/').to_owned(),
            password_grant: true,
            access_life: Duration::from_secs(3600),
            refresh_idle: 14 * DAY,
            login_life: 30 * DAY,
            refresh_grace: Duration::from_secs(10),
            default_access: DefaultAccess::TenantReads,
            token_cache: Duration::from_secs(1),
            hash_cost: HashCost::default(),
            throttle: ThrottleLimits::default(),
        }
    }
}

/// All that is known of users, clients, their tokens and their rights.
pub struct Identities {
    database: Database,
    options: IdentityOptions,
    passwords: Passwords,
    throttle: Throttle,
    recent: Recent,
    providers: Vec<Provider>,
}

impl Identities {
    /// Makes the tables where they are missing.
    pub async fn open(database: Database, options: IdentityOptions) -> Result<Identities, IdentityError> {
        database.migrate("identity", MIGRATIONS).await?;
        let passwords = Passwords::new(options.hash_cost)?;
        let throttle = Throttle::new(options.throttle);
        let recent = Recent::new(options.token_cache);
        Ok(Identities { database, options, passwords, throttle, recent, providers: Vec::new() })
    }

    /// Also accepts the tokens of a company's own provider.
    pub fn with_provider(mut self, provider: Provider) -> Identities {
        self.providers.push(provider);
        self
    }

    /// The issuers of those providers.
    pub fn issuers(&self) -> Vec<&str> {
        self.providers.iter().map(Provider::issuer).collect()
    }

    /// What was decided about accounts and tokens.
    pub fn options(&self) -> &IdentityOptions {
        &self.options
    }

    /// Whether somebody could log in now: a token has to be written down.
    pub async fn takes_writes(&self) -> Result<bool, IdentityError> {
        Ok(self.database.takes_writes().await?)
    }

    /// How many passwords were hashed since the start.
    pub fn hash_runs(&self) -> u64 {
        self.passwords.runs()
    }
}

/// What can go wrong with accounts. Never shows a secret.
#[derive(Debug)]
pub enum IdentityError {
    /// The database does not answer or does not agree.
    Database(DatabaseError),
    /// Too many passwords wait to be hashed.
    Busy,
    /// The system gives no random bytes.
    NoRandomness,
    /// The keys of a company's own provider cannot be had.
    NoKeys,
    /// A value is not accepted, and why.
    Refused(String),
    /// Somebody of that name exists.
    Exists(String),
    /// Nobody of that name exists.
    Unknown(String),
}

impl From<DatabaseError> for IdentityError {
    fn from(error: DatabaseError) -> IdentityError {
        IdentityError::Database(error)
    }
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdentityError::Database(error) => error.fmt(f),
            IdentityError::Busy => f.write_str("too many passwords are being checked: try again"),
            IdentityError::NoRandomness => f.write_str("the system gives no random bytes"),
            IdentityError::NoKeys => f.write_str("the keys of the provider cannot be had"),
            IdentityError::Refused(what) => f.write_str(what),
            IdentityError::Exists(name) => write!(f, "`{name}` exists already"),
            IdentityError::Unknown(name) => write!(f, "`{name}` is not known"),
        }
    }
}

impl std::error::Error for IdentityError {}
