//! The bytes of documents: in their row while they are small, else in pieces beside it, so that none has to be in memory
//! as a whole to be stored.

use std::io;

use pidq_http::database::Transaction;
use tokio::sync::mpsc::Sender;

use super::{Result, Store, StoreError};
use crate::spool::Spooled;

/// The bytes of a document that is to be stored.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// All of them.
    Bytes(&'a [u8]),
    /// Those that were sent, which may be in a file.
    Sent(&'a Spooled),
}

impl<'a> From<&'a [u8]> for Content<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Content::Bytes(bytes)
    }
}

impl<'a> From<&'a Spooled> for Content<'a> {
    fn from(sent: &'a Spooled) -> Self {
        Content::Sent(sent)
    }
}

impl<'a> Content<'a> {
    /// How many there are.
    pub fn size(self) -> i64 {
        let size = match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Sent(sent) => sent.size(),
        };
        i64::try_from(size).unwrap_or(i64::MAX)
    }

    fn in_memory(self) -> Option<&'a [u8]> {
        match self {
            Content::Bytes(bytes) => Some(bytes),
            Content::Sent(sent) => sent.in_memory(),
        }
    }
}

/// The size of a piece.
const PIECE: usize = 256 << 10;

const INSERT: &str = "insert into contents (document_id, revision, content) values ($1, $2, $3)";
const INSERT_PIECE: &str = "insert into content_pieces (document_id, revision, number, piece) values ($1, $2, $3, $4)";
/// In one statement, so that all of it is as of one moment.
const CONTENT: &str = "select c.content, p.piece from contents c
  left join content_pieces p on p.document_id = c.document_id and p.revision = c.revision
  where c.document_id = $1 and c.revision = $2 order by p.number";

const ROW: &str = "select content from contents where document_id = $1 and revision = $2";
const ONE_PIECE: &str = "select piece from content_pieces where document_id = $1 and revision = $2 and number = $3";

/// Stores the bytes of a revision.
pub(super) async fn add(tx: &mut Transaction, document: &str, revision: i64, content: Content<'_>) -> Result<()> {
    let whole = content.in_memory().unwrap_or_default();
    tx.execute(INSERT, &[document.into(), revision.into(), whole.into()]).await?;
    let Content::Sent(sent) = content else { return Ok(()) };
    if sent.in_memory().is_some() {
        return Ok(());
    }
    for number in 0..sent.size().div_ceil(PIECE as u64) {
        let piece = sent.piece(number * PIECE as u64, PIECE).await.map_err(StoreError::Lost)?;
        let arguments = [document.into(), revision.into(), (number as i64).into(), piece.as_slice().into()];
        tx.execute(INSERT_PIECE, &arguments).await?;
    }
    Ok(())
}

impl Store {
    /// The bytes of a revision if they stand in its row; empty if they stand in pieces, or there are none.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn content_row(&self, id: &str, revision: i64) -> Result<Option<Vec<u8>>> {
        Ok(self.database.row::<(Vec<u8>,)>(ROW, &[id.into(), revision.into()]).await?.map(|row| row.0))
    }

    /// The piece of a revision in which a byte stands, and how many of its bytes come before.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn content_piece(&self, id: &str, revision: i64, byte: u64) -> Result<Option<(Vec<u8>, usize)>> {
        let (number, before) = ((byte / PIECE as u64) as i64, (byte % PIECE as u64) as usize);
        let row = self.database.row::<(Vec<u8>,)>(ONE_PIECE, &[id.into(), revision.into(), number.into()]).await?;
        Ok(row.map(|row| (row.0, before)))
    }

    /// Hands on the bytes of a revision, a piece at a time and as of one moment, as long as somebody takes them. Says
    /// whether there are any.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn send_content(&self, id: &str, revision: i64, to: &Sender<io::Result<Vec<u8>>>) -> Result<bool> {
        let arguments = [id.into(), revision.into()];
        let mut rows = self.database.stream::<(Vec<u8>, Option<Vec<u8>>)>(CONTENT, &arguments);
        let mut is_there = false;
        while let Some((whole, piece)) = rows.next().await? {
            is_there = true;
            if to.send(Ok(piece.unwrap_or(whole))).await.is_err() {
                break;
            }
        }
        Ok(is_there)
    }

    /// The bytes of a revision, all in memory.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn content(&self, id: &str, revision: i64) -> Result<Option<Vec<u8>>> {
        let arguments = [id.into(), revision.into()];
        let mut rows = self.database.stream::<(Vec<u8>, Option<Vec<u8>>)>(CONTENT, &arguments);
        let Some((mut content, first)) = rows.next().await? else { return Ok(None) };
        content.extend(first.unwrap_or_default());
        while let Some((_, piece)) = rows.next().await? {
            content.extend(piece.unwrap_or_default());
        }
        Ok(Some(content))
    }
}
