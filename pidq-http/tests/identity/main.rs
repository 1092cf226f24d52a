//! Accounts, clients, tokens and sign-on: the same claims on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used)]

mod accounts;
mod bearer;
mod canaries;
mod database;
mod databases;
mod grants;
mod logins;
mod master;
mod metadata;
mod oidc;
mod provider;
mod real_provider;
mod recent;
mod refresh;
mod revocation;
mod token;
mod world;
