//! Downloads of large documents: streamed block by block from the database.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use pidq_http::{Head, Problem, Response, Sender};
use pidq_store::domain::model::Document;
use pidq_store::{Store, StoreError};

use crate::platform::Platform;

/// Size of one write; a few of them are buffered for a slow client.
const WRITE_SIZE: usize = 64 << 10;

/// Streams a document or the requested range.
pub(super) fn stream_content(
    platform: &Arc<Platform>,
    head: &Head,
    document: &Document,
    size: u64,
) -> Result<Response, Problem> {
    let (sender, range, response) =
        Response::range_stream(head, "application/octet-stream", &document.content_etag(), size)?;
    let (store, id, revision) = (platform.store.clone(), document.id.clone(), document.revision);
    tokio::spawn(async move {
        if let Err(error) = send(&store, &id, revision, range, sender).await {
            tracing::warn!(%error, "reading a document failed; its download is aborted");
        }
    });
    Ok(response)
}

/// Ends silently when the client disconnects. If the revision is deleted meanwhile, the connection is aborted, so that
/// the client notices the truncation.
async fn send(
    store: &Store,
    id: &str,
    revision: i64,
    mut range: Range<u64>,
    mut sender: Sender,
) -> Result<(), StoreError> {
    while !range.is_empty() {
        let Some((block, offset)) = store.content_block(id, revision, range.start).await? else { return Ok(()) };
        let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut block = Bytes::from(block);
        block = block.slice(offset.min(block.len())..block.len().min(offset.saturating_add(length)));
        if block.is_empty() {
            return Err(StoreError::Corrupt("a content block is too short".into()));
        }
        range.start += block.len() as u64;
        while !block.is_empty() {
            if sender.send(block.split_to(block.len().min(WRITE_SIZE))).await.is_err() {
                return Ok(());
            }
        }
    }
    // An error means that the client has disconnected.
    let _ = sender.finish().await;
    Ok(())
}
