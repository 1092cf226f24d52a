//! Audit log of accounts and tokens, with the target `pidq::audit`.
//!
//! Unknown login names are never logged: people type passwords into the wrong field.

use std::fmt::Debug;

use super::login_throttle::ClientNetwork;

/// Log target.
pub(crate) const TARGET: &str = "pidq::audit";

/// Logs a login attempt.
pub(crate) fn login(outcome: &'static str, client: &str, user: Option<&str>, network: ClientNetwork) {
    let user = user.unwrap_or("unknown");
    tracing::info!(target: TARGET, event = "login", outcome, client, user, network = %network);
}

/// Logs the use or misuse of tokens by a client.
pub(crate) fn tokens(event: &'static str, client: &str, family: &str) {
    tracing::info!(target: TARGET, event, client, family);
}

/// Logs a failed client authentication.
pub(crate) fn client_rejected(network: ClientNetwork) {
    tracing::info!(target: TARGET, event = "client-refused", network = %network);
}

/// Logs an administrative change of an account, a client or a grant.
pub(crate) fn account_changed(event: &'static str, subject: &str) {
    tracing::info!(target: TARGET, event, subject);
}

/// Logs a rejected change of the own password.
pub(crate) fn password_change_rejected(outcome: &'static str, user: &str, network: ClientNetwork) {
    tracing::info!(target: TARGET, event = "password-change", outcome, user, network = %network);
}

/// Logs a rejected token of an identity provider.
pub(crate) fn provider_token_rejected(issuer: &str, error: impl Debug) {
    tracing::info!(target: TARGET, event = "sso-token-refused", issuer, ?error);
}
