//! Large documents on their way out: a piece at a time from the database, as the client takes them.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use pidq_http::{Head, Problem, Response, Sender};

use crate::platform::Platform;
use crate::records::Document;
use crate::store::{Store, StoreError};

/// What is sent at once. Some wait for a slow client, and are all that it takes of memory.
const PART: usize = 64 << 10;

/// A document of so many bytes, or the part of it that is asked for.
pub(super) fn in_pieces(
    platform: &Arc<Platform>,
    head: &Head,
    document: &Document,
    size: u64,
) -> Result<Response, Problem> {
    let (sender, part, response) = Response::made(head, "application/octet-stream", &document.content_etag(), size)?;
    let (store, id, revision) = (platform.store.clone(), document.id.clone(), document.revision);
    tokio::spawn(async move {
        if let Err(error) = send(&store, &id, revision, part, sender).await {
            tracing::warn!(%error, "a download was broken off");
        }
    });
    Ok(response)
}

/// Ends without a word when nobody reads any more. A revision may go meanwhile: then the connection is broken off, and
/// the client sees that it has not all.
async fn send(
    store: &Store,
    id: &str,
    revision: i64,
    mut part: Range<u64>,
    mut sender: Sender,
) -> Result<(), StoreError> {
    while !part.is_empty() {
        let Some((piece, before)) = store.content_piece(id, revision, part.start).await? else { return Ok(()) };
        let wanted = usize::try_from(part.end - part.start).unwrap_or(usize::MAX);
        let mut piece = Bytes::from(piece);
        piece = piece.slice(before.min(piece.len())..piece.len().min(before.saturating_add(wanted)));
        if piece.is_empty() {
            return Err(StoreError::Damaged("a piece of a document is too short".into()));
        }
        part.start += piece.len() as u64;
        while !piece.is_empty() {
            if sender.send(piece.split_to(piece.len().min(PART))).await.is_err() {
                return Ok(());
            }
        }
    }
    // Nobody is left to be told.
    let _ = sender.finish().await;
    Ok(())
}
