//! `POST …/documents:delete`: bulk deletion with a result per document.

use std::collections::HashSet;
use std::sync::Arc;

use pidq_http::{Problem, Request, Response};
use pidq_store::domain::api_key::{ApiKey, Verb};
use pidq_store::domain::audit_context;
use pidq_store::domain::model::{Document, Pipeline, Status};

use super::bodies::{BulkDeleteRequest, BulkDeletion, DeletionOutcome, DeletionStatus};
use crate::api::json_body;
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
    /// Returns the outcome of an id.
    fn outcome(self, id: &str, status: DeletionStatus) -> DeletionOutcome<'_> {
        match self {
            IdKind::Id => DeletionOutcome { id: Some(id), external_id: None, status },
            IdKind::ExternalId => DeletionOutcome { id: None, external_id: Some(id), status },
        }
    }
}

/// `POST /api/pipelines/{pipeline_id}/documents:delete`. Documents that do not exist and documents that the caller may not
/// delete have the same status.
pub(crate) async fn bulk_delete(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = find_pipeline(platform, &request).await?;
    let (kind, ids) = parse_ids(json_body::parse(&mut request).await?)?;
    let mut deleted: HashSet<&str> = HashSet::new();
    let mut data = Vec::with_capacity(ids.len());
    for id in ids.iter().map(String::as_str) {
        if !deleted.contains(id) && delete_one(platform, &pipeline, &key, kind, id).await? {
            deleted.insert(id);
        }
        let status = if deleted.contains(id) { DeletionStatus::Deleted } else { DeletionStatus::NotFound };
        data.push(kind.outcome(id, status));
    }
    Response::json(&BulkDeletion { deleted: deleted.len(), data })
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

/// Returns the ids and their kind.
fn parse_ids(body: BulkDeleteRequest) -> Result<(IdKind, Vec<String>), Problem> {
    let (kind, pointer, ids) = match (body.ids, body.external_ids) {
        (Some(ids), None) => (IdKind::Id, "/ids", ids),
        (None, Some(ids)) => (IdKind::ExternalId, "/external_ids", ids),
        _ => return Err(validation("", "The body must have either `ids` or `external_ids`.")),
    };
    match ids.len() {
        1..=MAX_PAGE_SIZE => Ok((kind, ids)),
        _ => Err(validation(pointer, &format!("Expected an array of 1 to {MAX_PAGE_SIZE} strings."))),
    }
}
