//! Accounts, clients, tokens and sign-on: the same claims on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used)]

mod database;
mod databases;
