//! Attachments of mails: those that become documents of their own, and warnings about the others.
//!
//! An attachment has the same rules as an upload. The number is limited by mail, and for mails that are attachments themselves
//! to a tenth for each level, so that one upload adds a bounded number of documents.

use std::collections::HashMap;

use data_encoding::HEXLOWER;
use pidq_extract::{Attachment, AttachmentLimits, Options};
use pidq_store::domain::model::Document;
use pidq_store::spool::PREFIX_SIZE;
use pidq_store::{NewAttachment, NewAttachments, StoreError};
use sha2::{Digest, Sha256};

use super::error::IngestError;
use super::file_name;
use crate::platform::Platform;

/// Levels of mails in mails whose attachments become documents.
const MAX_DEPTH: u32 = 3;
/// Reason in a warning about an attachment that the user has deleted, or that a version before did not read.
const NOT_A_DOCUMENT: &str = "it is no document of its own; retry the mail to add it";

/// Returns the limits of the attachments of a document; the number depends on how many mails it is in.
pub(super) async fn limits(platform: &Platform, document: &Document) -> Result<AttachmentLimits, StoreError> {
    let limits = platform.limits.attachments;
    let (mut depth, mut parent) = (0, document.parent_id.clone());
    while let Some(id) = parent
        && depth < MAX_DEPTH
    {
        depth += 1;
        parent = platform.store.document(&document.pipeline_id, &id).await?.and_then(|mail| mail.parent_id);
    }
    let count = if depth < MAX_DEPTH { limits.count / 10_usize.pow(depth) } else { 0 };
    Ok(AttachmentLimits { count, ..limits })
}

/// Separates the attachments that become documents from those that an upload would reject, of which there are warnings.
/// Blocks: it hashes the attachments.
pub(super) fn select(attachments: Vec<Attachment>, options: &Options) -> (Vec<NewAttachment>, Vec<String>) {
    let (mut selected, mut warnings) = (Vec::new(), Vec::new());
    let mut names = HashMap::new();
    for (number, attachment) in (1..).zip(attachments) {
        let filename = filename(&attachment, number);
        let sha256 = HEXLOWER.encode(&Sha256::digest(&attachment.bytes));
        let mut refuse =
            |reason: &str| warnings.push(NewAttachment::warning(&filename, attachment.bytes.len(), reason));
        if let Some(first) = names.get(&sha256) {
            refuse(&format!("it has the content of {first}"));
        } else if let Some(media_type) = unsupported_media_type(&attachment.bytes, options) {
            refuse(&format!("the content type {media_type} is not supported"));
        } else {
            names.insert(sha256.clone(), filename.clone());
            let content_type = attachment.media_type.unwrap_or_else(|| "application/octet-stream".into());
            selected.push(NewAttachment { filename, content_type, content: attachment.bytes, sha256 });
        }
    }
    (selected, warnings)
}

/// Returns the media type of a content that an upload would reject.
fn unsupported_media_type(bytes: &[u8], options: &Options) -> Option<&'static str> {
    pidq_extract::unsupported_media_type(&bytes[..bytes.len().min(PREFIX_SIZE)], options)
}

/// Returns the file name of an attachment; one without a name gets a number.
fn filename(attachment: &Attachment, number: usize) -> String {
    let name = attachment.name.as_deref().and_then(file_name::normalize);
    name.unwrap_or_else(|| format!("attachment-{number}"))
}

/// Adds the limit of the license, which is checked when the attachments are stored.
pub(super) fn with_license(platform: &Platform, documents: Vec<NewAttachment>) -> NewAttachments {
    // Without a license, uploads are rejected.
    let document_limit = platform.licensing.require_license().map_or(Some(0), |limits| limits.documents);
    NewAttachments { documents, document_limit }
}

/// Returns warnings about the attachments of a mail that are no documents. A reindex adds none: it would bring back what a user
/// has deleted.
pub(super) async fn missing(
    platform: &Platform,
    mail: &Document,
    attachments: &[NewAttachment],
) -> Result<Vec<String>, IngestError> {
    if attachments.is_empty() {
        return Ok(Vec::new());
    }
    let present = platform.store.attachment_ids(mail.key()).await?;
    let missing = attachments.iter().filter(|attachment| !present.contains(&attachment.id(&mail.id)));
    let warning = |attachment: &NewAttachment| {
        NewAttachment::warning(&attachment.filename, attachment.content.len(), NOT_A_DOCUMENT)
    };
    Ok(missing.map(warning).collect())
}
