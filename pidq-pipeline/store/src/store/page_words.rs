//! Boxes of the words of pages, one row a page: written with the text of a document, read with the text of the page.

use std::ops::{Range, RangeInclusive};

use pidq_http::database::Transaction;
use sha2::{Digest, Sha256};

use super::{DocumentKey, Result, Store};

/// Boxes of the words of a page, to store.
#[derive(Clone, Debug, PartialEq)]
pub struct PageWordsRecord {
    /// Page, from 1.
    pub page: i64,
    /// Range of the page in the extracted text, in characters.
    pub char_range: (i64, i64),
    /// Fingerprint of the text of the page.
    pub text_hash: Vec<u8>,
    /// Encoded size and boxes.
    pub words: Vec<u8>,
}

impl PageWordsRecord {
    /// Creates the record of a page with a text.
    pub fn new(page: i64, char_range: (i64, i64), text: &str, words: Vec<u8>) -> PageWordsRecord {
        PageWordsRecord { page, char_range, text_hash: text_hash(text), words }
    }
}

/// Stored boxes of the words of a page, and the text to which they belong.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPageWords {
    /// Page, from 1.
    pub page: i64,
    /// Range of the page in the extracted text, in characters.
    pub char_range: (i64, i64),
    /// Text of the page.
    pub text: String,
    /// Encoded size and boxes.
    pub words: Vec<u8>,
}

/// Pages of which the words are read; by default all.
#[derive(Clone, Debug, PartialEq)]
pub struct PageSelection {
    /// Pages, from 1.
    pub pages: RangeInclusive<i64>,
    /// Range of characters of the extracted text that the pages touch.
    pub characters: Range<i64>,
}

impl Default for PageSelection {
    fn default() -> Self {
        // A page without text ends where it starts, and may be the first.
        PageSelection { pages: 1..=i64::MAX, characters: -1..i64::MAX }
    }
}

/// Text and boxes of pages in one generation of the index.
const PAGES: &str = "select w.page, w.start_char, w.end_char, w.text_hash, w.words,
  substr(c.extracted, cast(w.start_char + 1 as integer), cast(w.end_char - w.start_char as integer))
  from page_words w join document_contents c on c.document_id = w.document_id and c.revision = w.revision
  where w.document_id = $1 and w.revision = $2 and w.generation = $3 and w.pipeline_id = $4
  and w.page >= $5 and w.page <= $6 and w.end_char > $7 and w.start_char < $8 order by w.page limit $9";
const DELETE: &str =
    "delete from page_words where document_id = $1 and revision = $2 and generation = $3 and pipeline_id = $4";
const INSERT: &str =
    "insert into page_words (document_id, revision, generation, pipeline_id, page, start_char, end_char, text_hash, words)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const DELETE_GENERATION: &str = "delete from page_words where pipeline_id = $1 and generation = $2";

type Row = (i64, i64, i64, Vec<u8>, Vec<u8>, Option<String>);

/// Replaces the boxes of a revision in a generation.
pub(super) async fn replace(
    tx: &mut Transaction,
    (pipeline, document): DocumentKey<'_>,
    revision: i64,
    generation: i64,
    pages: &[PageWordsRecord],
) -> Result<()> {
    tx.execute(DELETE, &[document.into(), revision.into(), generation.into(), pipeline.into()]).await?;
    for page in pages {
        let arguments = [
            document.into(),
            revision.into(),
            generation.into(),
            pipeline.into(),
            page.page.into(),
            page.char_range.0.into(),
            page.char_range.1.into(),
            page.text_hash.as_slice().into(),
            page.words.as_slice().into(),
        ];
        tx.execute(INSERT, &arguments).await?;
    }
    Ok(())
}

impl Store {
    /// Returns the boxes of selected pages in order, at most `limit`. Pages whose text was replaced since are left out.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn page_words(
        &self,
        (pipeline, document): DocumentKey<'_>,
        (revision, generation): (i64, i64),
        PageSelection { pages, characters }: PageSelection,
        limit: usize,
    ) -> Result<Vec<StoredPageWords>> {
        let arguments = [
            document.into(),
            revision.into(),
            generation.into(),
            pipeline.into(),
            (*pages.start()).into(),
            (*pages.end()).into(),
            characters.start.into(),
            characters.end.into(),
            (limit as i64).into(),
        ];
        let rows = self.database.rows::<Row>(PAGES, &arguments).await?;
        Ok(rows.into_iter().filter_map(current_page).collect())
    }

    /// Deletes the boxes of a generation that is no longer searched.
    pub(super) async fn delete_page_words(&self, pipeline: &str, generation: i64) -> Result<()> {
        self.database.execute(DELETE_GENERATION, &[pipeline.into(), generation.into()]).await?;
        Ok(())
    }
}

/// Returns the boxes of a page if they belong to its text.
fn current_page((page, start, end, hash, words, text): Row) -> Option<StoredPageWords> {
    let text = text.filter(|text| text_hash(text) == hash)?;
    Some(StoredPageWords { page, char_range: (start, end), text, words })
}

/// Returns half of the SHA-256 of a text: it detects another text, and keeps nothing secret.
fn text_hash(text: &str) -> Vec<u8> {
    Sha256::digest(text).iter().take(16).copied().collect()
}
