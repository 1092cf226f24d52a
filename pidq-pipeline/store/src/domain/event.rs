//! Event types, their audiences, and their wire format (CloudEvents 1.0).
//!
//! An event is inserted in the transaction of the change that it reports, so neither exists without the other. It
//! contains ids, classifications and states, never content. Delivery is at least once; consumers deduplicate by id.

use pidq_http::auth::Timestamp;
use serde_json::{Map, Value, json};

use crate::domain::api_key::{ApiKey, Verb};

/// Audience of an event, in addition to its scope.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Audience {
    /// Callers that see the pipeline.
    Pipeline,
    /// Callers with this verb on the classification.
    Classification(Verb),
    /// Unrestricted callers.
    All,
}

/// An event type: a row of [`KINDS`].
#[derive(Debug)]
pub struct EventKind {
    /// The `type` of the event.
    pub name: &'static str,
    /// Required scope.
    pub scope: &'static str,
    /// Audience within that scope.
    pub audience: Audience,
    /// Description for the manual, in one line.
    pub summary: &'static str,
}

macro_rules! kinds {
    ($($constant:ident = $name:literal, $scope:literal, $audience:expr, $summary:literal;)*) => {
        $(
            #[doc = $summary]
            pub const $constant: &EventKind = &EventKind { name: $name, scope: $scope, audience: $audience, summary: $summary };
        )*

        /// All event types.
        pub const KINDS: &[&EventKind] = &[$($constant),*];
    };
}

const AUDIENCE_READ: Audience = Audience::Classification(Verb::Read);
const AUDIENCE_QUERY: Audience = Audience::Classification(Verb::Query);

kinds! {
    PIPELINE_CREATED = "pipeline.created", "pipelines:read", Audience::Pipeline, "A pipeline was created.";
    PIPELINE_UPDATED = "pipeline.updated", "pipelines:read", Audience::Pipeline, "A pipeline was updated.";
    PIPELINE_DELETED = "pipeline.deleted", "pipelines:read", Audience::Pipeline, "A pipeline was deleted with its documents.";
    REINDEX_STARTED = "pipeline.reindex.started", "pipelines:read", Audience::Pipeline, "A reindex was started.";
    REINDEX_COMPLETED = "pipeline.reindex.completed", "pipelines:read", Audience::Pipeline, "A reindex ended; see `status`.";
    DOCUMENT_QUEUED = "document.queued", "documents:read", AUDIENCE_READ, "A document waits for a worker.";
    DOCUMENT_STAGE = "document.stage", "documents:read", AUDIENCE_READ, "A document entered the next ingestion stage.";
    DOCUMENT_READY = "document.ready", "documents:read", AUDIENCE_READ, "A document is searchable.";
    DOCUMENT_FAILED = "document.failed", "documents:read", AUDIENCE_READ, "The ingestion of a document failed.";
    DOCUMENT_CANCELLED = "document.cancelled", "documents:read", AUDIENCE_READ, "The ingestion of a document was cancelled.";
    DOCUMENT_DELETED = "document.deleted", "documents:read", AUDIENCE_READ, "A document was deleted.";
    DOCUMENT_RECLASSIFIED = "document.reclassified", "documents:read", AUDIENCE_READ, "A document was reclassified. A caller with access to only one of the two classifications receives `document.ready` or `document.deleted` instead.";
    QUERY_COMPLETED = "query.completed", "query", AUDIENCE_QUERY, "A question was answered, or has no answer in the documents.";
    QUERY_FAILED = "query.failed", "query", AUDIENCE_QUERY, "Answering a question failed.";
    WEBHOOK_DISABLED = "webhook.disabled", "admin", Audience::All, "A webhook was disabled; see `reason`.";
    WEBHOOK_TEST = "webhook.test", "admin", Audience::All, "Test event, sent to one webhook only.";
    LICENSE_CHANGED = "license.changed", "admin", Audience::All, "The license or its state changed.";
}

/// Finds an event type by name.
pub fn find(name: &str) -> Option<&'static EventKind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// UUID version 7, for deduplication.
    pub id: String,
    /// Position among all events.
    pub position: i64,
    /// The event type.
    pub kind: &'static EventKind,
    /// The pipeline.
    pub pipeline_id: Option<String>,
    /// The document.
    pub document_id: Option<String>,
    /// The classification.
    pub classification: Option<String>,
    /// The classification before a reclassification.
    pub previous_classification: Option<String>,
    /// Further fields.
    pub details: Map<String, Value>,
    /// Milliseconds since 1970.
    pub happened_at: i64,
}

impl Event {
    /// Returns the event as a key may see it; none if it may not see it.
    pub fn visible_to(&self, key: &ApiKey, has_scope: impl Fn(&str) -> bool) -> Option<Event> {
        let is_allowed = |classification: &Option<String>, verb| {
            let (pipeline, classification) = (self.pipeline_id.as_deref()?, classification.as_deref()?);
            Some(key.allows(pipeline, classification, verb))
        };
        let visible = match self.kind.audience {
            _ if !has_scope(self.kind.scope) => None,
            Audience::All => key.is_unrestricted().then(|| self.clone()),
            Audience::Pipeline => key.visible_classifications(self.pipeline_id.as_deref()?, &[]).map(|_| self.clone()),
            Audience::Classification(verb) => {
                match (is_allowed(&self.classification, verb)?, is_allowed(&self.previous_classification, verb)) {
                    (true, Some(false)) => Some(self.as_creation()),
                    (true, _) => Some(self.clone()),
                    (false, Some(true)) => Some(self.as_deletion()),
                    (false, _) => None,
                }
            }
        };
        visible.filter(|event| has_scope(event.kind.scope))
    }

    /// Returns a reclassification as seen without access to the old classification: the document appears in its state.
    fn as_creation(&self) -> Event {
        let kind = match self.details.get("status").and_then(Value::as_str) {
            Some("ready") => DOCUMENT_READY,
            Some("failed") => DOCUMENT_FAILED,
            Some("cancelled") => DOCUMENT_CANCELLED,
            _ => DOCUMENT_QUEUED,
        };
        Event { kind, previous_classification: None, ..self.clone() }
    }

    /// Returns a reclassification as seen without access to the new classification: the document is deleted.
    fn as_deletion(&self) -> Event {
        let mut event =
            Event { kind: DOCUMENT_DELETED, classification: self.previous_classification.clone(), ..self.clone() };
        event.previous_classification = None;
        event.details.insert("status".into(), "deleting".into());
        event
    }

    /// Returns the event as CloudEvents 1.0 in JSON. `source` names the installation.
    pub fn to_json(&self, source: &str) -> Value {
        let mut data = Map::new();
        let ids = [
            ("pipeline_id", &self.pipeline_id),
            ("document_id", &self.document_id),
            ("classification", &self.classification),
            ("previous_classification", &self.previous_classification),
        ];
        for (name, value) in ids {
            if let Some(value) = value {
                data.insert(name.into(), value.as_str().into());
            }
        }
        data.extend(self.details.clone());
        let mut event = json!({
            "specversion": "1.0", "id": self.id, "source": format!("urn:pidq:{source}"), "type": self.kind.name,
            "time": Timestamp(self.happened_at).to_rfc3339(), "datacontenttype": "application/json", "data": data,
        });
        if let Some(subject) = self.subject() {
            event["subject"] = subject.into();
        }
        event
    }

    fn subject(&self) -> Option<String> {
        let pipeline = self.pipeline_id.as_deref()?;
        Some(match &self.document_id {
            Some(document) => format!("pipelines/{pipeline}/documents/{document}"),
            None => format!("pipelines/{pipeline}"),
        })
    }
}
