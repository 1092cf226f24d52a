//! `POST …/documents:delete`: bulk deletion with a result per document.

use std::collections::HashSet;
use std::sync::Arc;

use pidq_http::{Problem, Request, Response};
use serde_json::{Map, Value, json};

use crate::api_keys::{ApiKey, Verb};
use crate::audit;
use crate::pipelines::{self, reject_unknown_fields};
use crate::platform::{MAX_PAGE_SIZE, Platform};
use crate::problems::{stored, validation};
use crate::records::{Document, Pipeline, Status};

/// Kind of the keys in a request.
#[derive(Clone, Copy)]
enum DocumentKey {
    Id,
    ExternalId,
}

impl DocumentKey {
    /// Field of the body, and field of each result.
    fn field_names(self) -> (&'static str, &'static str) {
        match self {
            DocumentKey::Id => ("ids", "id"),
            DocumentKey::ExternalId => ("external_ids", "external_id"),
        }
    }
}

/// `POST /api/pipelines/{pipeline_id}/documents:delete`. Documents that do not exist and documents that the caller may not
/// delete have the same status.
pub(crate) async fn delete(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = pipelines::find_pipeline(platform, &request).await?;
    let body: Map<String, Value> = request.object().await?;
    let (by, names) = named(&body)?;
    let mut gone: HashSet<&str> = HashSet::new();
    let mut outcomes = Vec::with_capacity(names.len());
    for name in names {
        if !gone.contains(name) && delete_one(platform, &pipeline, &key, by, name).await? {
            gone.insert(name);
        }
        let status = if gone.contains(name) { "deleted" } else { "not_found" };
        outcomes.push(json!({by.field_names().1: name, "status": status}));
    }
    Response::json(&json!({"deleted": gone.len(), "data": outcomes}))
}

/// Deletes the documents of a key; returns false if there is none.
async fn delete_one(
    platform: &Platform,
    pipeline: &Pipeline,
    key: &ApiKey,
    by: DocumentKey,
    name: &str,
) -> Result<bool, Problem> {
    let mut is_gone = false;
    for document in find(platform, pipeline, by, name).await? {
        if key.allows(&pipeline.id, &document.classification, Verb::Write) {
            is_gone |= delete_matching(platform, &document).await?;
        }
    }
    Ok(is_gone)
}

async fn delete_matching(platform: &Platform, document: &Document) -> Result<bool, Problem> {
    let resource = format!("/api/pipelines/{}/documents/{}", document.pipeline_id, document.id);
    let deleted = audit::with_resource(resource, async {
        audit::add_detail("classification", document.classification.as_str());
        platform.store.delete_document(&document.pipeline_id, &document.id).await
    });
    deleted.await.map_err(stored)
}

/// Finds the documents of a key: by external id at most one per classification.
async fn find(platform: &Platform, pipeline: &Pipeline, by: DocumentKey, name: &str) -> Result<Vec<Document>, Problem> {
    let found = match by {
        DocumentKey::Id => platform.store.document(&pipeline.id, name).await.map(Vec::from_iter),
        DocumentKey::ExternalId => platform.store.documents_by_external_id(&pipeline.id, None, name).await,
    };
    let found = found.map_err(stored)?.into_iter();
    Ok(found.filter(|document| document.status != Status::Deleting).collect())
}

/// Parses the keys and their kind.
fn named(body: &Map<String, Value>) -> Result<(DocumentKey, Vec<&str>), Problem> {
    reject_unknown_fields(body, &["ids", "external_ids"])?;
    let (by, list) = match (body.get("ids"), body.get("external_ids")) {
        (Some(list), None) => (DocumentKey::Id, list),
        (None, Some(list)) => (DocumentKey::ExternalId, list),
        _ => return Err(validation("", "The body must have either `ids` or `external_ids`.")),
    };
    let pointer = format!("/{}", by.field_names().0);
    let names: Option<Vec<&str>> = list.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
    match names {
        Some(names) if (1..=MAX_PAGE_SIZE).contains(&names.len()) => Ok((by, names)),
        _ => Err(validation(&pointer, &format!("Expected an array of 1 to {MAX_PAGE_SIZE} strings."))),
    }
}
