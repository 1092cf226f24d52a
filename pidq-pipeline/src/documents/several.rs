//! `POST …/documents:delete`: many documents in one request, each with its own outcome.

use std::collections::HashSet;
use std::sync::Arc;

use pidq_http::{Problem, Request, Response};
use serde_json::{Map, Value, json};

use crate::audit;
use crate::keys::{ApiKey, Verb};
use crate::pipelines::{self, known_members};
use crate::platform::{LONGEST_PAGE, Platform};
use crate::problems::{stored, validation};
use crate::records::{Document, Pipeline, Status};

/// By what documents are named.
#[derive(Clone, Copy)]
enum By {
    Id,
    ExternalId,
}

impl By {
    /// The member of the body, and of each outcome.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            By::Id => ("ids", "id"),
            By::ExternalId => ("external_ids", "external_id"),
        }
    }
}

/// `POST /api/pipelines/{pipeline_id}/documents:delete`. What does not exist, and what is not for the caller to delete,
/// have the same outcome.
pub(crate) async fn delete(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = pipelines::of(platform, &request).await?;
    let body: Map<String, Value> = request.object().await?;
    let (by, names) = named(&body)?;
    let mut gone: HashSet<&str> = HashSet::new();
    let mut outcomes = Vec::with_capacity(names.len());
    for name in names {
        if !gone.contains(name) && delete_one(platform, &pipeline, &key, by, name).await? {
            gone.insert(name);
        }
        let status = if gone.contains(name) { "deleted" } else { "not_found" };
        outcomes.push(json!({by.words().1: name, "status": status}));
    }
    Response::json(&json!({"deleted": gone.len(), "data": outcomes}))
}

/// Whether there was such a document.
async fn delete_one(
    platform: &Platform,
    pipeline: &Pipeline,
    key: &ApiKey,
    by: By,
    name: &str,
) -> Result<bool, Problem> {
    let mut is_gone = false;
    for document in find(platform, pipeline, by, name).await? {
        if key.may(&pipeline.id, &document.classification, Verb::Write) {
            is_gone |= delete_found(platform, &document).await?;
        }
    }
    Ok(is_gone)
}

async fn delete_found(platform: &Platform, document: &Document) -> Result<bool, Problem> {
    let resource = format!("/api/pipelines/{}/documents/{}", document.pipeline_id, document.id);
    let deleted = audit::part(resource, async {
        audit::detail("classification", document.classification.as_str());
        platform.store.delete_document(&document.pipeline_id, &document.id).await
    });
    deleted.await.map_err(stored)
}

/// What is called so: by the caller's id at most one document of a classification.
async fn find(platform: &Platform, pipeline: &Pipeline, by: By, name: &str) -> Result<Vec<Document>, Problem> {
    let found = match by {
        By::Id => platform.store.document(&pipeline.id, name).await.map(Vec::from_iter),
        By::ExternalId => platform.store.called(&pipeline.id, None, name).await,
    };
    let found = found.map_err(stored)?.into_iter();
    Ok(found.filter(|document| document.status != Status::Deleting).collect())
}

/// One list of names, and what they are.
fn named(body: &Map<String, Value>) -> Result<(By, Vec<&str>), Problem> {
    known_members(body, &["ids", "external_ids"])?;
    let (by, list) = match (body.get("ids"), body.get("external_ids")) {
        (Some(list), None) => (By::Id, list),
        (None, Some(list)) => (By::ExternalId, list),
        _ => return Err(validation("", "The body has either `ids` or `external_ids`.")),
    };
    let pointer = format!("/{}", by.words().0);
    let names: Option<Vec<&str>> = list.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
    match names {
        Some(names) if (1..=LONGEST_PAGE).contains(&names.len()) => Ok((by, names)),
        _ => Err(validation(&pointer, &format!("This is a list of 1 to {LONGEST_PAGE} texts."))),
    }
}
