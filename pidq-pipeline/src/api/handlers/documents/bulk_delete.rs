//! `POST …/documents:delete`: bulk deletion with a result per document.

use std::collections::HashSet;
use std::sync::Arc;

use pidq_http::{Problem, Request, Response};
use pidq_store::domain::api_key::{ApiKey, Verb};
use pidq_store::domain::audit_context;
use pidq_store::domain::model::{Document, Pipeline, Status};
use serde_json::{Map, Value, json};

use crate::api::json_body::reject_unknown_fields;
use crate::api::pipeline_access::find_pipeline;
use crate::api::problems::{store_problem, validation};
use crate::platform::{MAX_PAGE_SIZE, Platform};

/// Kind of the ids in a request.
#[derive(Clone, Copy)]
enum IdKind {
    Id,
    ExternalId,
}

impl IdKind {
    /// Field of the body, and field of each result.
    fn field_names(self) -> (&'static str, &'static str) {
        match self {
            IdKind::Id => ("ids", "id"),
            IdKind::ExternalId => ("external_ids", "external_id"),
        }
    }
}

/// `POST /api/pipelines/{pipeline_id}/documents:delete`. Documents that do not exist and documents that the caller may not
/// delete have the same status.
pub(crate) async fn bulk_delete(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = find_pipeline(platform, &request).await?;
    let body: Map<String, Value> = request.object().await?;
    let (kind, ids) = parse_ids(&body)?;
    let mut deleted: HashSet<&str> = HashSet::new();
    let mut outcomes = Vec::with_capacity(ids.len());
    for id in ids {
        if !deleted.contains(id) && delete_one(platform, &pipeline, &key, kind, id).await? {
            deleted.insert(id);
        }
        let status = if deleted.contains(id) { "deleted" } else { "not_found" };
        outcomes.push(json!({kind.field_names().1: id, "status": status}));
    }
    Response::json(&json!({"deleted": deleted.len(), "data": outcomes}))
}

/// Deletes the documents with an id; returns false if there is none.
async fn delete_one(
    platform: &Platform,
    pipeline: &Pipeline,
    key: &ApiKey,
    kind: IdKind,
    id: &str,
) -> Result<bool, Problem> {
    let mut is_deleted = false;
    for document in find(platform, pipeline, kind, id).await? {
        if key.allows(&pipeline.id, &document.classification, Verb::Write) {
            is_deleted |= delete_with_audit(platform, &document).await?;
        }
    }
    Ok(is_deleted)
}

async fn delete_with_audit(platform: &Platform, document: &Document) -> Result<bool, Problem> {
    let resource = format!("/api/pipelines/{}/documents/{}", document.pipeline_id, document.id);
    let deletion = audit_context::with_resource(resource, async {
        audit_context::add_detail("classification", document.classification.as_str());
        platform.store.delete_document(&document.pipeline_id, &document.id).await
    });
    deletion.await.map_err(store_problem)
}

/// Finds the documents with an id: at most one per classification with an external id.
async fn find(platform: &Platform, pipeline: &Pipeline, kind: IdKind, id: &str) -> Result<Vec<Document>, Problem> {
    let found = match kind {
        IdKind::Id => platform.store.document(&pipeline.id, id).await.map(Vec::from_iter),
        IdKind::ExternalId => platform.store.documents_by_external_id(&pipeline.id, None, id).await,
    };
    let found = found.map_err(store_problem)?.into_iter();
    Ok(found.filter(|document| document.status != Status::Deleting).collect())
}

/// Parses the ids and their kind.
fn parse_ids(body: &Map<String, Value>) -> Result<(IdKind, Vec<&str>), Problem> {
    reject_unknown_fields(body, &["ids", "external_ids"])?;
    let (kind, array) = match (body.get("ids"), body.get("external_ids")) {
        (Some(array), None) => (IdKind::Id, array),
        (None, Some(array)) => (IdKind::ExternalId, array),
        _ => return Err(validation("", "The body must have either `ids` or `external_ids`.")),
    };
    let pointer = format!("/{}", kind.field_names().0);
    let ids: Option<Vec<&str>> = array.as_array().and_then(|array| array.iter().map(Value::as_str).collect());
    match ids {
        Some(ids) if (1..=MAX_PAGE_SIZE).contains(&ids.len()) => Ok((kind, ids)),
        _ => Err(validation(&pointer, &format!("Expected an array of 1 to {MAX_PAGE_SIZE} strings."))),
    }
}
