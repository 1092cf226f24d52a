//! Webhook: its target, its filters, and the recipient that its events are visible to.

use pidq_http::auth::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::api_key::ApiKey;
use crate::domain::event::Event;

/// Reason for disabling a webhook whose owner key was deleted or has expired.
pub const ORPHANED: &str = "the API key that created it was deleted or has expired";

/// State of a webhook.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WebhookState {
    /// Events are delivered.
    Active,
    /// Disabled by a caller, or after failing for too long.
    Disabled,
}

impl WebhookState {
    /// All states.
    pub const ALL: [WebhookState; 2] = [WebhookState::Active, WebhookState::Disabled];

    /// Returns the name in the database and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            WebhookState::Active => "active",
            WebhookState::Disabled => "disabled",
        }
    }

    /// Parses a name.
    pub fn parse(name: &str) -> Option<WebhookState> {
        WebhookState::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// A webhook.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// A UUID of version 7.
    pub id: String,
    /// Target URL.
    pub url: String,
    /// Event types; empty means all.
    pub event_types: Vec<String>,
    /// Pipelines; empty means all.
    pub pipelines: Vec<String>,
    /// Encrypted signing keys.
    pub encrypted_secret: String,
    /// State.
    pub state: WebhookState,
    /// Id of the owner key; none if it belongs to the installation.
    pub owner: Option<String>,
    /// Revision, from 1.
    pub revision: i64,
    /// Consecutive failures.
    pub failures: i64,
    /// Time of the first consecutive failure.
    pub failing_since: Option<i64>,
    /// Last error, or the reason for disabling it.
    pub last_error: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

impl Webhook {
    /// Returns true if the event matches the filters.
    pub fn matches(&self, event: &Event) -> bool {
        let matches_pipeline = || event.pipeline_id.as_ref().is_some_and(|id| self.pipelines.contains(id));
        (self.event_types.is_empty() || self.event_types.iter().any(|name| name == event.kind.name))
            && (self.pipelines.is_empty() || matches_pipeline())
    }
}

/// Recipient of a webhook: filters events by its access scope.
pub struct Recipient {
    key: ApiKey,
}

impl Recipient {
    /// Creates the recipient of a webhook. None if its key was deleted or has expired.
    pub fn new(webhook: &Webhook, owner: Option<ApiKey>, now: Timestamp) -> Option<Recipient> {
        let key = match webhook.owner {
            None => ApiKey::root(),
            Some(_) => owner.filter(|key| key.expires_at.is_none_or(|expires_at| expires_at > now.0))?,
        };
        Some(Recipient { key })
    }

    /// Returns the event as the recipient may see it; none if it may not see it.
    pub fn visible(&self, event: &Event) -> Option<Event> {
        event.visible_to(&self.key, |scope| self.key.scopes.iter().any(|granted| granted == scope))
    }
}
