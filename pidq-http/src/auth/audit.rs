//! What happened to accounts and tokens, as log lines of the target `pidq::audit`.
//!
//! A name that is no account's is never written: people type passwords into the wrong field.

use super::TokenFault;
use super::throttle::Network;

/// Where the lines go.
pub(crate) const TARGET: &str = "pidq::audit";

/// Somebody tried to log in.
pub(crate) fn login(outcome: &'static str, client: &str, user: Option<&str>, network: Network) {
    let user = user.unwrap_or("unknown");
    tracing::info!(target: TARGET, event = "login", outcome, client, user, network = %network);
}

/// A client used, or misused, its tokens.
pub(crate) fn tokens(event: &'static str, client: &str, family: &str) {
    tracing::info!(target: TARGET, event, client, family);
}

/// A client failed to show who it is.
pub(crate) fn client_refused(network: Network) {
    tracing::info!(target: TARGET, event = "client-refused", network = %network);
}

/// An administrator changed an account, a client or a grant.
pub(crate) fn changed(event: &'static str, whom: &str) {
    tracing::info!(target: TARGET, event, whom);
}

/// A token of a company's own provider was not accepted.
pub(crate) fn foreign_token_refused(issuer: &str, fault: TokenFault) {
    tracing::info!(target: TARGET, event = "sso-token-refused", issuer, ?fault);
}
