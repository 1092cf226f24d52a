//! Signals between processes: new job, cancelled document, changed partition.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::Message;

/// A signal between the processes of a platform.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// A job is available.
    JobAvailable,
    /// A document was cancelled or deleted.
    DocumentCancelled {
        /// Its id.
        document: String,
    },
    /// A partition changed.
    PartitionChanged {
        /// The pipeline.
        pipeline: String,
        /// The classification.
        classification: String,
    },
}

impl Signal {
    /// Subject prefix of all signals.
    pub const PREFIX: &'static str = "pidq.signal.";

    /// Returns the subject. Ids and classifications are only in the payload.
    pub fn subject(&self) -> &'static str {
        match self {
            Signal::JobAvailable => "pidq.signal.job_available",
            Signal::DocumentCancelled { .. } => "pidq.signal.document_cancelled",
            Signal::PartitionChanged { .. } => "pidq.signal.partition_changed",
        }
    }

    /// Returns the JSON payload.
    pub fn to_bytes(&self) -> Bytes {
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// Parses a message; none for unknown signals of a newer version.
    pub fn from_message(message: &Message) -> Option<Signal> {
        message.subject.starts_with(Signal::PREFIX).then(|| serde_json::from_slice(&message.bytes).ok())?
    }
}
