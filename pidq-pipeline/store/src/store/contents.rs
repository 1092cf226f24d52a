//! Document contents: inline in their row while they are small, otherwise in separate blocks, so that storing one never
//! needs all of it in memory.

use std::borrow::Cow;
use std::io;

use pidq_http::database::Transaction;
use tokio::sync::mpsc::Sender;

use super::{DocumentKey, Result, Store, StoreError};
use crate::spool::SpooledUpload;

/// Content of a document to store.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// All bytes, in memory.
    Bytes(&'a [u8]),
    /// A spooled upload, which may be in a file.
    SpooledUpload(&'a SpooledUpload),
}

impl<'a> From<&'a [u8]> for Content<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Content::Bytes(bytes)
    }
}

impl<'a> From<&'a SpooledUpload> for Content<'a> {
    fn from(upload: &'a SpooledUpload) -> Self {
        Content::SpooledUpload(upload)
    }
}

impl<'a> Content<'a> {
    /// Returns the size in bytes.
    pub fn size(self) -> i64 {
        let size = match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::SpooledUpload(upload) => upload.size(),
        };
        i64::try_from(size).unwrap_or(i64::MAX)
    }

    /// Returns the bytes if they are stored in the row of the document.
    fn inline(self) -> Option<&'a [u8]> {
        match self {
            Content::Bytes(bytes) => Some(bytes).filter(|bytes| bytes.len() <= BLOCK_SIZE),
            Content::SpooledUpload(upload) => upload.in_memory(),
        }
    }

    async fn block(self, number: u64) -> Result<Cow<'a, [u8]>> {
        let start = number * BLOCK_SIZE as u64;
        match self {
            Content::Bytes(bytes) => {
                let rest = bytes.get(start as usize..).unwrap_or_default();
                Ok(Cow::Borrowed(&rest[..rest.len().min(BLOCK_SIZE)]))
            }
            Content::SpooledUpload(upload) => {
                let block = upload.read_block(start, BLOCK_SIZE).await;
                Ok(Cow::Owned(block.map_err(StoreError::UploadUnreadable)?))
            }
        }
    }
}

/// Size of a block in bytes.
const BLOCK_SIZE: usize = 256 << 10;

const INSERT: &str =
    "insert into document_contents (document_id, revision, content, pipeline_id) values ($1, $2, $3, $4)";
const INSERT_BLOCK: &str =
    "insert into content_blocks (document_id, revision, number, block, pipeline_id) values ($1, $2, $3, $4, $5)";
/// A single statement, so that all blocks come from one snapshot.
const CONTENT: &str = "select c.content, b.block from document_contents c
  left join content_blocks b on b.document_id = c.document_id and b.revision = c.revision
  where c.document_id = $1 and c.revision = $2 order by b.number";

const INLINE_CONTENT: &str = "select content from document_contents where document_id = $1 and revision = $2";
const ONE_BLOCK: &str = "select block from content_blocks where document_id = $1 and revision = $2 and number = $3";

/// Inserts the content of a revision.
pub(super) async fn add(
    tx: &mut Transaction,
    (pipeline, document): DocumentKey<'_>,
    revision: i64,
    content: Content<'_>,
) -> Result<()> {
    let inline = content.inline();
    let arguments = [document.into(), revision.into(), inline.unwrap_or_default().into(), pipeline.into()];
    tx.execute(INSERT, &arguments).await?;
    if inline.is_some() {
        return Ok(());
    }
    for number in 0..(content.size() as u64).div_ceil(BLOCK_SIZE as u64) {
        let block = content.block(number).await?;
        let number = number as i64;
        let arguments = [document.into(), revision.into(), number.into(), block.as_ref().into(), pipeline.into()];
        tx.execute(INSERT_BLOCK, &arguments).await?;
    }
    Ok(())
}

impl Store {
    /// Returns the inline content of a revision; empty if it is stored in blocks or has no bytes.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn inline_content(&self, id: &str, revision: i64) -> Result<Option<Vec<u8>>> {
        Ok(self.database.row::<(Vec<u8>,)>(INLINE_CONTENT, &[id.into(), revision.into()]).await?.map(|row| row.0))
    }

    /// Returns the block that contains a byte offset, and the offset within the block.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn content_block(&self, id: &str, revision: i64, byte: u64) -> Result<Option<(Vec<u8>, usize)>> {
        let (number, offset) = ((byte / BLOCK_SIZE as u64) as i64, (byte % BLOCK_SIZE as u64) as usize);
        let row = self.database.row::<(Vec<u8>,)>(ONE_BLOCK, &[id.into(), revision.into(), number.into()]).await?;
        Ok(row.map(|row| (row.0, offset)))
    }

    /// Sends the content of a revision block by block, from one snapshot, until the receiver closes. Returns false
    /// if there is no content.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn stream_content(&self, id: &str, revision: i64, sender: &Sender<io::Result<Vec<u8>>>) -> Result<bool> {
        let arguments = [id.into(), revision.into()];
        let mut rows = self.database.stream::<(Vec<u8>, Option<Vec<u8>>)>(CONTENT, &arguments);
        let mut exists = false;
        while let Some((inline, block)) = rows.next().await? {
            exists = true;
            if sender.send(Ok(block.unwrap_or(inline))).await.is_err() {
                break;
            }
        }
        Ok(exists)
    }

    /// Returns the content of a revision, all in memory.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn content(&self, id: &str, revision: i64) -> Result<Option<Vec<u8>>> {
        let arguments = [id.into(), revision.into()];
        let mut rows = self.database.stream::<(Vec<u8>, Option<Vec<u8>>)>(CONTENT, &arguments);
        let Some((mut content, first)) = rows.next().await? else { return Ok(None) };
        content.extend(first.unwrap_or_default());
        while let Some((_, block)) = rows.next().await? {
            content.extend(block.unwrap_or_default());
        }
        Ok(Some(content))
    }
}
