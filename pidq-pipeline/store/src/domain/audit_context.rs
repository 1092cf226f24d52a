//! Audit context of a request: the entry that the store inserts in the transaction of the change.
//!
//! The context is task-local, so that functions of the store need no extra argument. Workers act on behalf of requests and
//! write no entries.

use std::sync::{Arc, Mutex, PoisonError};

use pidq_http::{Head, Principal};
use serde_json::{Map, Value};

/// Result of a successful action.
const DONE: &str = "done";

/// An entry of the audit log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditEntry {
    /// A UUID of version 7.
    pub id: String,
    /// Milliseconds since 1970.
    pub happened_at: i64,
    /// Actor: `key:ID`, `client:ID`, `user:ID`, `anyone`, or `system`.
    pub actor: String,
    /// Action, for example `document.delete`.
    pub action: String,
    /// The pipeline.
    pub pipeline_id: Option<String>,
    /// Path of the resource, with ids only.
    pub resource: String,
    /// Further fields, without document content and secrets.
    pub details: Map<String, Value>,
    /// Request id, as in the log.
    pub request_id: Option<String>,
    /// Client address.
    pub source: Option<String>,
    /// `done`, or the problem code.
    pub result: String,
}

impl AuditEntry {
    /// Creates the entry of a request.
    pub fn for_request(action: &str, head: &Head, principal: &Principal) -> AuditEntry {
        AuditEntry {
            actor: principal.id.clone(),
            action: action.to_owned(),
            pipeline_id: pipeline_id_in_path(head.uri.path()),
            resource: head.uri.path().to_owned(),
            request_id: Some(head.id.to_string()),
            source: Some(head.client.to_string()),
            result: DONE.to_owned(),
            ..AuditEntry::default()
        }
    }

    /// Creates an entry of the system itself.
    pub fn by_system(action: &str, resource: String, details: Map<String, Value>) -> AuditEntry {
        let (actor, action) = ("system".to_owned(), action.to_owned());
        AuditEntry { actor, action, resource, details, result: DONE.to_owned(), ..AuditEntry::default() }
    }

    /// Returns the cursor.
    pub fn cursor(&self) -> String {
        format!("{} {}", self.happened_at, self.id)
    }
}

/// Returns the pipeline id of a path.
fn pipeline_id_in_path(path: &str) -> Option<String> {
    let id = path.strip_prefix("/api/pipelines/")?.split('/').next()?;
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id.then(|| id.to_owned())
}

/// Audit context of a request: the entry, the path, and a flag for a written entry.
struct AuditContext {
    entry: AuditEntry,
    path: String,
    written: bool,
}

impl AuditContext {
    fn new(entry: AuditEntry) -> Arc<Mutex<AuditContext>> {
        Arc::new(Mutex::new(AuditContext { path: entry.resource.clone(), entry, written: false }))
    }
}

tokio::task_local! {
    static AUDIT_CONTEXT: Arc<Mutex<AuditContext>>;
}

fn with_context<T>(f: impl FnOnce(&mut AuditContext) -> T) -> Option<T> {
    AUDIT_CONTEXT.try_with(|context| f(&mut context.lock().unwrap_or_else(PoisonError::into_inner))).ok()
}

/// Returns the entry to write with the next commit; none if it is written or there is no context.
pub fn pending_entry() -> Option<AuditEntry> {
    with_context(|context| (!context.written).then(|| context.entry.clone())).flatten()
}

/// Marks the entry as committed.
pub fn mark_written() {
    with_context(|context| context.written = true);
}

/// Sets the resource to the created id.
pub fn set_resource(id: &str) {
    with_context(|context| {
        context.entry.resource = format!("{}/{id}", context.path.trim_end_matches('/'));
        context.entry.pipeline_id = pipeline_id_in_path(&context.entry.resource);
    });
}

/// Adds a detail.
pub fn add_detail(name: &str, value: impl Into<Value>) {
    with_context(|context| context.entry.details.insert(name.to_owned(), value.into()));
}

/// Adds the names of changed fields, without values, which may be secret.
pub fn add_changed_fields(patch: &Map<String, Value>) {
    add_detail("changed", patch.keys().cloned().collect::<Vec<_>>());
}

/// Runs work as a separate entry for another resource.
pub async fn with_resource<T>(resource: String, work: impl Future<Output = T>) -> T {
    match with_context(|context| AuditEntry { resource, ..context.entry.clone() }) {
        Some(entry) => AUDIT_CONTEXT.scope(AuditContext::new(entry), work).await,
        None => work.await,
    }
}

/// Runs work with an audit context.
pub async fn with_entry<T>(entry: AuditEntry, work: impl Future<Output = T>) -> T {
    AUDIT_CONTEXT.scope(AuditContext::new(entry), work).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipeline_id_is_taken_from_the_path() {
        let id = "0199aaaa-0000-7000-8000-000000000001";
        assert_eq!(pipeline_id_in_path(&format!("/api/pipelines/{id}/documents")).as_deref(), Some(id));
        assert_eq!(pipeline_id_in_path("/api/pipelines/whatever"), None);
        assert_eq!(pipeline_id_in_path("/api/pipelines"), None);
    }
}
