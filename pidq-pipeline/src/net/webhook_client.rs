//! Client settings of webhook calls: egress policy and timeouts.

use std::time::Duration;

use crate::net::egress::Guard;

/// HTTP client of webhooks.
pub struct WebhookClient {
    /// Egress policy.
    pub guard: Guard,
    /// Timeout of a call.
    pub timeout: Duration,
    /// Duration of failures after which a webhook is disabled.
    pub disable_after: Duration,
}
