//! What happened: kinds of events, who may know of them, and their form on the wire (CloudEvents 1.0).
//!
//! An event is written in the transaction of the change that it tells of, so there is none without the other. It has
//! ids, labels and states, never a text. Whoever is told may be told twice, and knows that by the id.

mod feed;
mod keeper;
mod publisher;
mod stream;

use pidq_http::auth::Moment;
use serde_json::{Map, Value, json};

use crate::keys::{ApiKey, Verb};

pub use feed::Feed;
pub use keeper::keep;
pub use publisher::publish;
pub(crate) use stream::listen;

/// Who may know of an event, beside having its scope.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Audience {
    /// Whoever sees the pipeline.
    Pipeline,
    /// Whoever may do this under the label.
    Label(Verb),
    /// Whoever sees all pipelines.
    All,
}

/// A kind of event: a row of [`KINDS`].
#[derive(Debug)]
pub struct Kind {
    /// The `type` of the event.
    pub name: &'static str,
    /// The scope that somebody must have to know of it.
    pub scope: &'static str,
    /// Who else must somebody be.
    pub audience: Audience,
    /// One line for the manual.
    pub summary: &'static str,
}

macro_rules! kinds {
    ($($constant:ident = $name:literal, $scope:literal, $audience:expr, $summary:literal;)*) => {
        $(
            #[doc = $summary]
            pub const $constant: &Kind = &Kind { name: $name, scope: $scope, audience: $audience, summary: $summary };
        )*

        /// All kinds of events.
        pub const KINDS: &[&Kind] = &[$($constant),*];
    };
}

const READERS: Audience = Audience::Label(Verb::Read);
const ASKERS: Audience = Audience::Label(Verb::Query);

kinds! {
    PIPELINE_CREATED = "pipeline.created", "pipelines:read", Audience::Pipeline, "A pipeline was made.";
    PIPELINE_UPDATED = "pipeline.updated", "pipelines:read", Audience::Pipeline, "Something of a pipeline changed.";
    PIPELINE_DELETED = "pipeline.deleted", "pipelines:read", Audience::Pipeline, "A pipeline is gone, with its documents.";
    REINDEX_STARTED = "pipeline.reindex.started", "pipelines:read", Audience::Pipeline, "Another index of a pipeline is being made.";
    REINDEX_COMPLETED = "pipeline.reindex.completed", "pipelines:read", Audience::Pipeline, "The other index answers, or was given up: `status` says.";
    DOCUMENT_QUEUED = "document.queued", "documents:read", READERS, "A document waits for a worker.";
    DOCUMENT_STAGE = "document.stage", "documents:read", READERS, "A document came a stage further.";
    DOCUMENT_READY = "document.ready", "documents:read", READERS, "Queries find a document.";
    DOCUMENT_FAILED = "document.failed", "documents:read", READERS, "A document cannot be read.";
    DOCUMENT_CANCELLED = "document.cancelled", "documents:read", READERS, "Somebody ended the work on a document.";
    DOCUMENT_DELETED = "document.deleted", "documents:read", READERS, "A document is gone.";
    DOCUMENT_RECLASSIFIED = "document.reclassified", "documents:read", READERS, "A document got another label. Whoever sees one of the two sees it come or go.";
    QUERY_COMPLETED = "query.completed", "query", ASKERS, "A question was answered, or found to have no answer.";
    QUERY_FAILED = "query.failed", "query", ASKERS, "A question was not answered.";
    WEBHOOK_DISABLED = "webhook.disabled", "admin", Audience::All, "A webhook is told nothing more: `reason` says why.";
    WEBHOOK_TEST = "webhook.test", "admin", Audience::All, "Somebody tries a webhook. This goes to it alone.";
    LICENSE_CHANGED = "license.changed", "admin", Audience::All, "The licence is another one, or in another state.";
}

/// The kind of a name.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Event {
    /// A UUID of version 7. Whoever is told twice knows it by this.
    pub id: String,
    /// Its place among all events.
    pub position: i64,
    /// What happened.
    pub kind: &'static Kind,
    /// To which pipeline.
    pub pipeline_id: Option<String>,
    /// To which document.
    pub document_id: Option<String>,
    /// Under which label.
    pub classification: Option<String>,
    /// The label before, where that is another one.
    pub previous: Option<String>,
    /// What else is told.
    pub details: Map<String, Value>,
    /// Milliseconds since 1970.
    pub happened_at: i64,
}

impl Event {
    /// As somebody with a key sees it; nothing, if it is none of their business.
    pub fn seen_by(&self, key: &ApiKey, has_scope: impl Fn(&str) -> bool) -> Option<Event> {
        let may = |label: &Option<String>, verb| {
            let (pipeline, label) = (self.pipeline_id.as_deref()?, label.as_deref()?);
            Some(key.may(pipeline, label, verb))
        };
        let seen = match self.kind.audience {
            _ if !has_scope(self.kind.scope) => None,
            Audience::All => key.is_unrestricted().then(|| self.clone()),
            Audience::Pipeline => key.labels(self.pipeline_id.as_deref()?, &[]).map(|_| self.clone()),
            Audience::Label(verb) => match (may(&self.classification, verb)?, may(&self.previous, verb)) {
                (true, Some(false)) => Some(self.arrival()),
                (true, _) => Some(self.clone()),
                (false, Some(true)) => Some(self.departure()),
                (false, _) => None,
            },
        };
        seen.filter(|event| has_scope(event.kind.scope))
    }

    /// The same for somebody who does not see where the document was before: there it is, in the state that it has.
    fn arrival(&self) -> Event {
        let kind = match self.details.get("status").and_then(Value::as_str) {
            Some("ready") => DOCUMENT_READY,
            Some("failed") => DOCUMENT_FAILED,
            Some("cancelled") => DOCUMENT_CANCELLED,
            _ => DOCUMENT_QUEUED,
        };
        Event { kind, previous: None, ..self.clone() }
    }

    /// The same for somebody who does not see where it is now: it is gone.
    fn departure(&self) -> Event {
        let mut gone = Event { kind: DOCUMENT_DELETED, classification: self.previous.clone(), ..self.clone() };
        gone.previous = None;
        gone.details.insert("status".into(), "deleting".into());
        gone
    }

    /// CloudEvents 1.0 in JSON. `source` names the installation.
    pub fn to_json(&self, source: &str) -> Value {
        let mut data = Map::new();
        let ids = [
            ("pipeline_id", &self.pipeline_id),
            ("document_id", &self.document_id),
            ("classification", &self.classification),
            ("previous_classification", &self.previous),
        ];
        for (name, value) in ids {
            if let Some(value) = value {
                data.insert(name.into(), value.as_str().into());
            }
        }
        data.extend(self.details.clone());
        let mut event = json!({
            "specversion": "1.0", "id": self.id, "source": format!("urn:pidq:{source}"), "type": self.kind.name,
            "time": Moment(self.happened_at).to_rfc3339(), "datacontenttype": "application/json", "data": data,
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
