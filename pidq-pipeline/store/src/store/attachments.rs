//! Attachments of mails: documents with the id of their mail, written when the mail is published and deleted with it.
//!
//! The id of an attachment follows from its mail and its content. However often a mail is ingested, each of its attachments is
//! one document.

use std::collections::{BTreeSet, HashSet};

use data_encoding::HEXLOWER;
use pidq_http::auth::Timestamp;
use pidq_http::database::Transaction;
use sha2::{Digest, Sha256};

use super::jobs::{self, JobKind};
use super::usage::Amount;
use super::{Content, DocumentKey, Result, Store, contents, count_limits, partitions, retry_on_deadlock};
use crate::domain::event;

/// An attachment to store.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAttachment {
    /// Name of the file.
    pub filename: String,
    /// Media type that the mail declares.
    pub content_type: String,
    /// The bytes.
    pub content: Vec<u8>,
    /// Their SHA-256 as hexadecimal digits.
    pub sha256: String,
}

impl NewAttachment {
    /// Returns the id of the document: a UUID of version 7 with the time after that of the mail, so that it is listed after it.
    pub fn id(&self, mail: &str) -> String {
        let digest = HEXLOWER.encode(&Sha256::digest(format!("attachment\n{mail}\n{}", self.sha256)));
        let digits: String = mail.chars().filter(|c| *c != '-').take(12).collect();
        let time = u64::from_str_radix(&digits, 16).unwrap_or(0) + 1;
        let (high, low) = (time >> 16, time & 0xFFFF);
        format!("{high:08x}-{low:04x}-7{}-8{}-{}", &digest[..3], &digest[3..6], &digest[6..18])
    }

    /// Returns the warning about an attachment that does not become a document.
    pub fn warning(name: &str, size: usize, reason: &str) -> String {
        format!("attachment not read: {name} ({size} bytes): {reason}")
    }
}

/// The attachments of a mail that become documents, with distinct contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewAttachments {
    /// In the order of the mail.
    pub documents: Vec<NewAttachment>,
    /// Limit on the number of documents in all pipelines.
    pub document_limit: Option<u64>,
}

/// A mail whose row the transaction has locked.
#[derive(Clone, Copy)]
pub(super) struct Mail<'a> {
    pub key: DocumentKey<'a>,
    pub classification: &'a str,
    /// Metadata as JSON, which the attachments get too.
    pub metadata: &'a str,
}

const IDS: &str = "select id from documents where pipeline_id = $1 and parent_id = $2";
/// The user may have given another attachment of the mail the same content.
const INSERT: &str =
    "insert into documents (id, pipeline_id, classification, filename, content_type, size, sha256, metadata, revision,
  status, attempts, progress, created_at, updated_at, parent_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, 1, 'queued', 0, '{}', $9, $9, $10) on conflict do nothing";
/// Locks the row without changing it, so that the classification stays until the transaction ends.
const LOCK: &str =
    "update documents set updated_at = updated_at where id = $1 and pipeline_id = $2 returning classification";
const MOVE: &str = "update documents set classification = $3,
  updated_at = case when updated_at >= $4 then updated_at + 1 else $4 end,
  indexed_at = case when indexed_at >= $4 then indexed_at + 1 else $4 end where id = $1 and pipeline_id = $2";
/// Attachments that a replica of the version before has left without their mail.
const WITHOUT_MAIL: &str = "select d.pipeline_id, d.id from documents d where d.parent_id is not null and not exists
  (select 1 from documents m where m.id = d.parent_id and m.pipeline_id = d.pipeline_id) limit 100";
/// Mails that a replica of the version before has reclassified without their attachments.
const DIVERGED: &str = "select distinct m.pipeline_id, m.id from documents d join documents m on m.id = d.parent_id
  and m.pipeline_id = d.pipeline_id where d.parent_id is not null and d.classification <> m.classification limit 100";
/// Reason why an attachment is no document, in a warning.
const NOT_LICENSED: &str = "the license allows no further documents; retry the mail when it does";

/// Returns the ids of the attachments of a mail.
pub(super) async fn ids(tx: &mut Transaction, (pipeline, mail): DocumentKey<'_>) -> Result<Vec<String>> {
    let rows = tx.rows::<(String,)>(IDS, &[pipeline.into(), mail.into()]).await?;
    Ok(rows.into_iter().map(|row| row.0).collect())
}

impl Store {
    /// Returns the ids of the attachments of a mail that are documents.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn attachment_ids(&self, (pipeline, mail): DocumentKey<'_>) -> Result<HashSet<String>> {
        let rows = self.database.rows::<(String,)>(IDS, &[pipeline.into(), mail.into()]).await?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }

    /// Moves the attachments of a mail, and theirs, to its classification.
    pub(super) async fn reclassify_attachments(
        &self,
        tx: &mut Transaction,
        (pipeline, mail): DocumentKey<'_>,
        classification: &str,
    ) -> Result<()> {
        let now = Timestamp::now().0;
        let mut remaining = ids(tx, (pipeline, mail)).await?;
        while let Some(id) = remaining.pop() {
            let Some((previous,)) = tx.row::<(String,)>(LOCK, &[(&id).into(), pipeline.into()]).await? else {
                continue;
            };
            if previous != classification {
                partitions::record_change(tx, pipeline, &previous).await?;
                tx.execute(MOVE, &[(&id).into(), pipeline.into(), classification.into(), now.into()]).await?;
                self.reclassify(tx, (pipeline, &id), classification, &previous).await?;
            }
            remaining.extend(ids(tx, (pipeline, &id)).await?);
        }
        Ok(())
    }

    /// Does with attachments what a replica of the version before did with their mail only: deletes or reclassifies them.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn repair_attachments(&self) -> Result<()> {
        for (pipeline, id) in self.database.rows::<(String, String)>(WITHOUT_MAIL, &[]).await? {
            self.delete_document(&pipeline, &id).await?;
        }
        for (pipeline, mail) in self.database.rows::<(String, String)>(DIVERGED, &[]).await? {
            retry_on_deadlock(|| Box::pin(self.reclassify_as_mail((&pipeline, &mail)))).await?;
        }
        Ok(())
    }

    async fn reclassify_as_mail(&self, (pipeline, mail): DocumentKey<'_>) -> Result<()> {
        let mut tx = self.database.begin().await?;
        let row = tx.row::<(String,)>(LOCK, &[mail.into(), pipeline.into()]).await?;
        let Some((classification,)) = row else { return Ok(()) };
        partitions::record_change(&mut tx, pipeline, &classification).await?;
        self.reclassify_attachments(&mut tx, (pipeline, mail), &classification).await?;
        Ok(self.outbox.commit(tx).await?)
    }

    /// Adds the attachments that are no documents yet, and deletes those that the mail no longer has. Returns what was
    /// added, and warnings about those that the license does not allow.
    pub(super) async fn replace_attachments(
        &self,
        tx: &mut Transaction,
        mail: Mail<'_>,
        new: &NewAttachments,
    ) -> Result<(Amount, Vec<String>)> {
        let (pipeline, id) = mail.key;
        let current: BTreeSet<String> = ids(tx, mail.key).await?.into_iter().collect();
        let with_ids: Vec<_> = new.documents.iter().map(|attachment| (attachment.id(id), attachment)).collect();
        let kept: HashSet<&str> = with_ids.iter().map(|(id, _)| id.as_str()).collect();
        for removed in current.iter().filter(|id| !kept.contains(id.as_str())) {
            self.delete_with_attachments(tx, (pipeline, removed)).await?;
        }
        let missing: Vec<_> = with_ids.iter().filter(|(id, _)| !current.contains(id)).collect();
        if missing.is_empty() {
            return Ok((Amount::default(), Vec::new()));
        }
        let allowed = count_limits::remaining(tx, count_limits::DOCUMENTS, new.document_limit).await?;
        let (added, left) = missing.split_at(missing.len().min(usize::try_from(allowed).unwrap_or(usize::MAX)));
        let mut amount = Amount::default();
        for (id, attachment) in added {
            if self.add_attachment(tx, mail, id, attachment).await? {
                amount.documents += 1;
                amount.bytes += attachment.content.len() as i64;
            }
        }
        let warning = |attachment: &NewAttachment| {
            NewAttachment::warning(&attachment.filename, attachment.content.len(), NOT_LICENSED)
        };
        Ok((amount, left.iter().map(|(_, attachment)| warning(attachment)).collect()))
    }

    /// Adds an attachment and its job. Returns false if the mail has a document with its content.
    async fn add_attachment(
        &self,
        tx: &mut Transaction,
        mail: Mail<'_>,
        id: &str,
        attachment: &NewAttachment,
    ) -> Result<bool> {
        let ((pipeline, mail_id), now) = (mail.key, Timestamp::now().0);
        let content = Content::Bytes(&attachment.content);
        let arguments = [
            id.into(),
            pipeline.into(),
            mail.classification.into(),
            (&attachment.filename).into(),
            (&attachment.content_type).into(),
            content.size().into(),
            (&attachment.sha256).into(),
            mail.metadata.into(),
            now.into(),
            mail_id.into(),
        ];
        if tx.execute(INSERT, &arguments).await? == 0 {
            return Ok(false);
        }
        contents::add(tx, (pipeline, id), 1, content).await?;
        jobs::add(tx, JobKind::Ingest, pipeline, Some((id, 1)), now).await?;
        self.outbox.emit_document_event(tx, event::DOCUMENT_QUEUED, (pipeline, id), None).await?;
        Ok(true)
    }
}
