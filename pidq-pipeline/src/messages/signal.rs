//! What processes tell each other beside events: there is work, end that work, something changed.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::Message;

/// A signal between the processes of a platform.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// There is a job.
    Work,
    /// Nobody wants a document to be read any more.
    Stop {
        /// Its id.
        document: String,
    },
    /// What queries find under a label is different now.
    Partition {
        /// The pipeline.
        pipeline: String,
        /// The label.
        classification: String,
    },
}

impl Signal {
    /// What the subjects of all signals begin with.
    pub const PREFIX: &'static str = "pidq.signal.";

    /// Where it goes. Labels and ids stand in the message only.
    pub fn subject(&self) -> &'static str {
        match self {
            Signal::Work => "pidq.signal.work",
            Signal::Stop { .. } => "pidq.signal.stop",
            Signal::Partition { .. } => "pidq.signal.partition",
        }
    }

    /// What it says, as JSON.
    pub fn bytes(&self) -> Bytes {
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// The signal of a message. Those of a newer pidq are none.
    pub fn of(message: &Message) -> Option<Signal> {
        message.subject.starts_with(Signal::PREFIX).then(|| serde_json::from_slice(&message.bytes).ok())?
    }
}
