//! Accounts, clients, tokens and single sign-on, tested on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used)]

mod accounts;
mod bearer;
mod database;
mod databases;
mod fixture;
mod grants;
mod master;
mod metadata;
mod oidc;
mod own_password;
mod password_logins;
mod provider;
mod real_provider;
mod refresh;
mod relying_party;
mod revocation;
mod secret_leaks;
mod token;
mod token_cache;
