//! Error of ingesting a document.

use pidq_store::StoreError;
use pidq_store::domain::model::Status;

/// Error of ingesting a document.
pub(super) enum IngestError {
    /// The document was deleted or cancelled, or the lease was lost.
    Cancelled,
    /// The store failed.
    Store(StoreError),
    /// The embedding model is down.
    ModelDown { stage: Status, message: String },
    /// The document cannot be ingested.
    Failed { stage: Status, code: &'static str, message: String, retryable: bool },
}

impl From<StoreError> for IngestError {
    fn from(error: StoreError) -> IngestError {
        IngestError::Store(error)
    }
}
