//! Text extraction and splitting, shared by ingestion and preview.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use std::{io, iter};

use pidq_extract::{AttachmentLimits, CodePoints, ExtractError, Extracted, Markup, Upload};
use pidq_store::domain::model::{self, Pipeline};
use pidq_store::spool::{BLOCK_SIZE, SpooledUpload};
use pidq_store::{Store, StoreError};
use pidq_text::analyzer::tags;
use pidq_text::embedding::{self, CachingEmbedder, to_blob};
use pidq_text::search::indexed_text;
use pidq_text::splitter::{self, Chunk, Embed, SplitError};
use serde_json::{Map, Value};
use tokio::sync::mpsc::{Sender, channel};

use crate::embedding_registry::problem_code;
use crate::platform::Platform;
use crate::retrieval::chunk_header::chunk_header;

/// Splitters that need the markup itself: they cut at HTML tags or by JSON structure.
const MARKUP_SPLITTERS: &[&str] = &["html", "html_header", "json"];

/// Error of extracting or splitting a document.
pub(crate) struct DocumentError {
    pub code: &'static str,
    pub message: String,
    pub retryable: bool,
}

impl From<ExtractError> for DocumentError {
    fn from(error: ExtractError) -> DocumentError {
        DocumentError {
            code: error.code.as_str(),
            message: pidq_http::sentence(&error.detail),
            retryable: error.code.retryable(),
        }
    }
}

/// A document to extract.
pub(crate) struct DocumentInput {
    pub content: InputContent,
    /// Access scope within which the process that extracts the document is reused; without it, the process is new.
    pub scope: Option<String>,
    pub name: Option<String>,
    pub media_type: Option<String>,
    /// Limit of the time of text recognition, below that of the settings.
    pub recognition_timeout: Option<Duration>,
    /// Limits of the attachments that are read; without them, attachments are only named in the warnings.
    pub attachments: Option<AttachmentLimits>,
}

/// Location of a document's bytes.
pub(crate) enum InputContent {
    /// In the database.
    Stored { document: String, revision: i64 },
    /// In the upload spool.
    Spooled(SpooledUpload),
    /// In memory.
    Text(String),
}

/// Error of reading a document.
pub(crate) enum ReadError {
    /// The content was deleted.
    Deleted,
    /// The store failed.
    Store(StoreError),
    /// Extraction failed.
    Document(DocumentError),
}

impl From<StoreError> for ReadError {
    fn from(error: StoreError) -> ReadError {
        ReadError::Store(error)
    }
}

impl From<DocumentError> for ReadError {
    fn from(error: DocumentError) -> ReadError {
        ReadError::Document(error)
    }
}

/// Blocks buffered for the extraction process.
pub(super) const MAX_BLOCKS_IN_FLIGHT: usize = 2;

/// Extracts the text for a splitter in a separate process, to which the document is sent block by block. The process is
/// stopped when the future is dropped.
pub(crate) async fn extract_text(
    platform: &Platform,
    splitter: &str,
    source: DocumentInput,
) -> Result<Extracted, ReadError> {
    let mut options = platform.ingestion.extraction_limits.clone();
    if MARKUP_SPLITTERS.contains(&splitter) {
        options.markup = Markup::Keep;
    }
    let sandbox = platform.ingestion.extractor.clone();
    let readers = Arc::clone(&platform.ingestion.readers);
    let stop = pidq_extract::StopHandle::default();
    let _end = StopOnDrop(stop.clone());
    let DocumentInput { content, scope, name, media_type, recognition_timeout, attachments } = source;
    options.attachments = attachments;
    if let (Some(recognition), Some(limit)) = (&mut options.recognition, recognition_timeout) {
        recognition.timeout = recognition.timeout.min(limit);
    }
    let (sender, mut receiver) = channel(MAX_BLOCKS_IN_FLIGHT);
    let extraction = run_blocking(move || {
        let blocks = Box::new(iter::from_fn(move || receiver.blocking_recv()));
        let hints = Upload { bytes: &[], name: name.as_deref(), media_type: media_type.as_deref() };
        match scope {
            Some(scope) => readers.extract_stream(&scope, &hints, blocks, &options, &sandbox, &stop),
            None => pidq_extract::extract_stream_in_sandbox(&hints, blocks, &options, &sandbox, &stop),
        }
    });
    let (sent, extracted) = tokio::join!(send_blocks(&platform.store, content, sender), extraction);
    // If sending failed, the extraction received an incomplete document: the sending error takes precedence.
    sent?;
    Ok(extracted?.map_err(DocumentError::from)?)
}

/// Sends the blocks of a document until the receiver closes.
pub(super) async fn send_blocks(
    store: &Store,
    content: InputContent,
    sender: Sender<io::Result<Vec<u8>>>,
) -> Result<(), ReadError> {
    let sent = read_blocks(store, content, &sender).await;
    if sent.is_err() {
        // The error tells the receiver that the content is incomplete. The receiver may be closed already.
        let _ = sender.send(Err(io::ErrorKind::BrokenPipe.into())).await;
    }
    sent
}

async fn read_blocks(
    store: &Store,
    content: InputContent,
    sender: &Sender<io::Result<Vec<u8>>>,
) -> Result<(), ReadError> {
    match content {
        InputContent::Stored { document, revision } => match store.stream_content(&document, revision, sender).await? {
            true => Ok(()),
            false => Err(ReadError::Deleted),
        },
        InputContent::Spooled(upload) => {
            let mut offset = 0;
            while offset < upload.size() {
                let block = upload.read_block(offset, BLOCK_SIZE).await.map_err(StoreError::UploadUnreadable)?;
                offset += block.len() as u64;
                if sender.send(Ok(block)).await.is_err() {
                    break;
                }
            }
            Ok(())
        }
        InputContent::Text(text) => {
            // A closed receiver means that the extraction has already ended with a result.
            let _ = sender.send(Ok(text.into_bytes())).await;
            Ok(())
        }
    }
}

/// Splits a text into at most `limit` chunks. The text moves to the splitting thread and back, since it may be long.
pub(crate) async fn split_text(
    splitter: &str,
    parameters: &Map<String, Value>,
    extracted: Extracted,
    model: Arc<CachingEmbedder>,
    limit: usize,
) -> Result<(Extracted, Vec<ChunkDraft>), DocumentError> {
    let (name, parameters) = (splitter.to_owned(), parameters.clone());
    let split = run_blocking(move || {
        let model_error = RefCell::new(None);
        let embed = |texts: &[String]| vectors(&model, texts).map_err(|error| defer_error(error, &model_error));
        let drafts = split_limited(&name, &parameters, &extracted.text, &embed, limit);
        // A model error is reported as such, not as an error of the text.
        match (model_error.take(), drafts) {
            (Some(error), _) => Err(embedding_error(&error)),
            (None, Ok(drafts)) => Ok((extracted, with_gaps(drafts?))),
            (None, Err(error)) if error.is_too_large => {
                Err(document_error("too-many-chunks", pidq_http::sentence(&error.detail)))
            }
            (None, Err(error)) => {
                Err(document_error("corrupt-document", format!("Splitting the text failed: {error}.")))
            }
        }
    });
    let (extracted, drafts) = split.await??;
    match drafts.is_empty() {
        true => Err(document_error("empty-text", "The document has no text to search.".into())),
        false => Ok((extracted, drafts)),
    }
}

/// A chunk before it is embedded.
pub(crate) struct ChunkDraft {
    text: String,
    span: Option<Range<usize>>,
    /// Range between the previous chunk and this one, where they do not touch.
    gap: Option<Range<usize>>,
    headings: Vec<String>,
}

impl ChunkDraft {
    /// Creates a draft. The text of a chunk with a range is copied from the document, so that citations can be found
    /// there; without a range it is the text that the splitter composed.
    fn from_chunk(chunk: &Chunk<'_>, text: &str) -> ChunkDraft {
        let headings = chunk.headings.iter().map(|(_, heading)| heading.clone()).collect();
        ChunkDraft {
            text: ChunkDraft::chunk_text(chunk, text).to_owned(),
            span: chunk.span.clone(),
            gap: None,
            headings,
        }
    }

    fn has_text(chunk: &Chunk<'_>, text: &str) -> bool {
        !ChunkDraft::chunk_text(chunk, text).trim().is_empty()
    }

    fn chunk_text<'c>(chunk: &'c Chunk<'_>, text: &'c str) -> &'c str {
        match &chunk.span {
            Some(span) => &text[span.clone()],
            None => &chunk.text,
        }
    }

    /// Returns the text that is embedded.
    pub fn indexed_text(&self, pipeline: &Pipeline, title: &str) -> String {
        indexed_text(&chunk_header(pipeline, title, &self.headings), &self.text)
    }

    /// Returns the record to store, with its vector.
    pub fn to_record(&self, extracted: &Extracted, code_points: &CodePoints<'_>, vector: &[f32]) -> model::Chunk {
        let char_index = |byte: usize| code_points.char_offset(byte) as i64;
        model::Chunk {
            char_range: self.span.as_ref().map(|span| (char_index(span.start), char_index(span.end))),
            byte_range: self.span.as_ref().map(|span| (span.start as i64, span.end as i64)),
            gap: self.gap.as_ref().map(|gap| extracted.text[gap.clone()].to_owned()),
            page: self.span.as_ref().map(|span| extracted.page_at(span.start) as i64 + 1),
            headings: self.headings.clone(),
            content: self.text.clone(),
            tags: tags_in(&self.text),
            vector: to_blob(vector),
        }
    }
}

/// Returns the tags in a text without duplicates, in reading order.
fn tags_in(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    tags(text).into_iter().map(|tag| tag.name).filter(|name| seen.insert(name.clone())).collect()
}

/// Sets the gaps between chunks. Both ends are ends of chunks, and so character boundaries.
fn with_gaps(mut drafts: Vec<ChunkDraft>) -> Vec<ChunkDraft> {
    let mut previous_end: Option<usize> = None;
    for draft in &mut drafts {
        let Some(span) = &draft.span else {
            previous_end = None;
            continue;
        };
        draft.gap = previous_end.filter(|end| *end < span.start).map(|end| end..span.start);
        previous_end = Some(span.end);
    }
    drafts
}

/// Stops the extraction process on drop.
pub(super) struct StopOnDrop(pub pidq_extract::StopHandle);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Splits a text; too many chunks are an error, found before any is copied.
fn split_limited(
    name: &str,
    parameters: &Map<String, Value>,
    text: &str,
    embed: &Embed<'_>,
    limit: usize,
) -> Result<Result<Vec<ChunkDraft>, DocumentError>, SplitError> {
    let splitter =
        splitter::find(name).ok_or_else(|| SplitError::parameter("text_splitter", "unknown text splitter"))?;
    let chunks = splitter.build(parameters)?.split(text, embed)?;
    let with_text = || chunks.iter().filter(|chunk| ChunkDraft::has_text(chunk, text));
    let count = with_text().count();
    if count > limit {
        let message =
            format!("The document has {count} chunks; the limit is {limit}. Split the document or use larger chunks.");
        return Ok(Err(document_error("too-many-chunks", message)));
    }
    Ok(Ok(with_text().map(|chunk| ChunkDraft::from_chunk(chunk, text)).collect()))
}

/// Stores a model error for the caller, since the splitter's error type cannot carry it.
fn defer_error(error: embedding::Error, slot: &RefCell<Option<embedding::Error>>) -> SplitError {
    let split_error = SplitError::text(error.to_string());
    slot.replace(Some(error));
    split_error
}

fn vectors(model: &CachingEmbedder, texts: &[String]) -> Result<Vec<Vec<f64>>, embedding::Error> {
    let vectors = model.embed(texts)?;
    Ok(vectors.into_iter().map(|vector| vector.into_iter().map(f64::from).collect()).collect())
}

/// Converts an embedding error.
pub(crate) fn embedding_error(error: &embedding::Error) -> DocumentError {
    let retryable = matches!(error, embedding::Error::Unavailable { .. });
    DocumentError { code: problem_code(error).name, message: pidq_http::sentence(&error.to_string()), retryable }
}

fn document_error(code: &'static str, message: String) -> DocumentError {
    DocumentError { code, message, retryable: false }
}

/// Runs blocking work on a separate thread pool.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, DocumentError> {
    let trace = pidq_http::Trace::current();
    tokio::task::spawn_blocking(move || trace.sync_scope(work)).await.map_err(|error| {
        tracing::error!(%error, "an ingestion stage panicked; the document is retried");
        DocumentError { code: "internal", message: "Internal error.".into(), retryable: true }
    })
}
