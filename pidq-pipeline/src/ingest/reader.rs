//! Bytes → text → pieces: what reading a document has in common with looking at one beforehand.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::{io, iter};

use serde_json::{Map, Value};
use tokio::sync::mpsc::{Sender, channel};

use crate::analyser::tags;
use crate::embedding::{self, Encoder, to_blob};
use crate::extract::{self, CodePoints, Extracted, Markup, Upload};
use crate::platform::Platform;
use crate::records::{self, Pipeline};
use crate::search::indexed;
use crate::splitter::{self, Chunk, Embed, Refusal};
use crate::spool::{PIECE, Spooled};
use crate::store::{Store, StoreError};

/// Splitters that cut at the tags of HTML, or by the structure of JSON, need them as they are written.
const OF_MARKUP: &[&str] = &["html", "html_header", "json"];

/// Why there is no text, or there are no pieces.
pub(crate) struct Trouble {
    pub code: &'static str,
    pub message: String,
    pub retryable: bool,
}

/// A document as it came in.
pub(crate) struct Source {
    pub content: Content,
    pub name: Option<String>,
    pub media_type: Option<String>,
}

/// Where the bytes of a document are.
pub(crate) enum Content {
    /// In the database.
    Stored { document: String, revision: i64 },
    /// Where they were put when they came in.
    Sent(Spooled),
    /// In memory.
    Text(String),
}

/// Why a document was not read.
pub(crate) enum Unread {
    /// Its bytes are not there any more.
    Gone,
    /// They could not be had.
    Store(StoreError),
    /// They are no text.
    Trouble(Trouble),
}

impl From<StoreError> for Unread {
    fn from(error: StoreError) -> Unread {
        Unread::Store(error)
    }
}

impl From<Trouble> for Unread {
    fn from(trouble: Trouble) -> Unread {
        Unread::Trouble(trouble)
    }
}

/// Pieces of a document that are on their way to a process.
const ON_THE_WAY: usize = 2;

/// The text for a splitter, read in a process of its own, to which the document goes a piece at a time. The process ends
/// when nobody waits for the text any more.
pub(crate) async fn text(platform: &Platform, splitter: &str, source: Source) -> Result<Extracted, Unread> {
    let mut options = platform.extraction.clone();
    if OF_MARKUP.contains(&splitter) {
        options.markup = Markup::Keep;
    }
    let isolation = platform.isolation.clone();
    let stop = extract::Stop::default();
    let _end = StopOnDrop(stop.clone());
    let Source { content, name, media_type } = source;
    let (sender, mut receiver) = channel(ON_THE_WAY);
    let read = blocking(move || {
        let pieces = Box::new(iter::from_fn(move || receiver.blocking_recv()));
        let hints = Upload { bytes: &[], name: name.as_deref(), media_type: media_type.as_deref() };
        extract::in_child_by_pieces(&hints, pieces, &options, &isolation, &stop)
    });
    let (sent, read) = tokio::join!(send(&platform.store, content, sender), read);
    // What was not sent as a whole was not read as one.
    sent?;
    let read = read?.map_err(|failure| Trouble {
        code: failure.code.as_str(),
        message: pidq_http::sentence(&failure.detail),
        retryable: failure.code.retryable(),
    });
    Ok(read?)
}

/// Sends the bytes of a document as long as somebody takes them.
async fn send(store: &Store, content: Content, to: Sender<io::Result<Vec<u8>>>) -> Result<(), Unread> {
    let sent = pieces_of(store, content, &to).await;
    if sent.is_err() {
        // Whoever reads must not take this for the end. Nobody may be left.
        let _ = to.send(Err(io::ErrorKind::BrokenPipe.into())).await;
    }
    sent
}

async fn pieces_of(store: &Store, content: Content, to: &Sender<io::Result<Vec<u8>>>) -> Result<(), Unread> {
    match content {
        Content::Stored { document, revision } => match store.send_content(&document, revision, to).await? {
            true => Ok(()),
            false => Err(Unread::Gone),
        },
        Content::Sent(sent) => {
            let mut from = 0;
            while from < sent.size() {
                let piece = sent.piece(from, PIECE).await.map_err(StoreError::Lost)?;
                from += piece.len() as u64;
                if to.send(Ok(piece)).await.is_err() {
                    break;
                }
            }
            Ok(())
        }
        Content::Text(text) => {
            // Nobody left: then there is an answer already.
            let _ = to.send(Ok(text.into_bytes())).await;
            Ok(())
        }
    }
}

/// The pieces of a text, so many at most. It moves to the thread that splits it, and back: it may be long.
pub(crate) async fn pieces(
    splitter: &str,
    parameters: &Map<String, Value>,
    extracted: Extracted,
    model: Arc<Encoder>,
    most: usize,
) -> Result<(Extracted, Vec<Piece>), Trouble> {
    let (name, parameters) = (splitter.to_owned(), parameters.clone());
    let split = blocking(move || {
        let silent = RefCell::new(None);
        let ask = |texts: &[String]| vectors(&model, texts).map_err(|error| kept(error, &silent));
        let pieces = cut(&name, &parameters, &extracted.text, &ask, most);
        // A model that does not answer is no fault of the text.
        match (silent.take(), pieces) {
            (Some(error), _) => Err(unembedded(&error)),
            (None, Ok(pieces)) => Ok((extracted, with_gaps(pieces?))),
            (None, Err(why)) if why.is_too_much => Err(trouble("too-many-chunks", pidq_http::sentence(&why.detail))),
            (None, Err(why)) => Err(trouble("corrupt-document", format!("The text cannot be split: {why}."))),
        }
    });
    let (extracted, pieces) = split.await??;
    match pieces.is_empty() {
        true => Err(trouble("empty-text", "The document has no text to search.".into())),
        false => Ok((extracted, pieces)),
    }
}

/// A chunk on its way.
pub(crate) struct Piece {
    text: String,
    span: Option<Range<usize>>,
    /// What stands between the piece before and this one, where they do not touch.
    gap: Option<Range<usize>>,
    headings: Vec<String>,
}

impl Piece {
    /// A chunk says what stands in the text, so that what is cited can be found there; one without a place says what
    /// the splitter made.
    fn of(chunk: &Chunk<'_>, text: &str) -> Piece {
        let headings = chunk.headings.iter().map(|(_, heading)| heading.clone()).collect();
        Piece { text: Piece::said(chunk, text).to_owned(), span: chunk.span.clone(), gap: None, headings }
    }

    fn says(chunk: &Chunk<'_>, text: &str) -> bool {
        !Piece::said(chunk, text).trim().is_empty()
    }

    fn said<'c>(chunk: &'c Chunk<'_>, text: &'c str) -> &'c str {
        match &chunk.span {
            Some(span) => &text[span.clone()],
            None => &chunk.text,
        }
    }

    /// What the vector is made from.
    pub fn indexed(&self, pipeline: &Pipeline, title: &str) -> String {
        indexed(&pipeline.context(title, &self.headings), &self.text)
    }

    /// As it is stored, with the vector that it got.
    pub fn stored(&self, extracted: &Extracted, places: &CodePoints<'_>, vector: &[f32]) -> records::Chunk {
        let place = |byte: usize| places.before(byte) as i64;
        records::Chunk {
            place: self.span.as_ref().map(|span| (place(span.start), place(span.end))),
            bytes: self.span.as_ref().map(|span| (span.start as i64, span.end as i64)),
            gap: self.gap.as_ref().map(|gap| extracted.text[gap.clone()].to_owned()),
            page: self.span.as_ref().map(|span| extracted.page_at(span.start) as i64 + 1),
            headings: self.headings.clone(),
            content: self.text.clone(),
            tags: tags_in(&self.text),
            vector: to_blob(vector),
        }
    }
}

/// The tags in a text, each once, in reading order.
fn tags_in(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    tags(text).into_iter().map(|tag| tag.name).filter(|name| seen.insert(name.clone())).collect()
}

/// The pieces with what stands between them. Both ends are ends of pieces, and so of characters.
fn with_gaps(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let mut before: Option<usize> = None;
    for piece in &mut pieces {
        let Some(span) = &piece.span else {
            before = None;
            continue;
        };
        piece.gap = before.filter(|end| *end < span.start).map(|end| end..span.start);
        before = Some(span.end);
    }
    pieces
}

/// Ends a child when nobody waits for it.
struct StopOnDrop(extract::Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// The pieces of a text, unless there are too many: then none of them is copied.
fn cut(
    name: &str,
    parameters: &Map<String, Value>,
    text: &str,
    ask: &Embed<'_>,
    most: usize,
) -> Result<Result<Vec<Piece>, Trouble>, Refusal> {
    let splitter = splitter::find(name).ok_or_else(|| Refusal::of("text_splitter", "there is none"))?;
    let chunks = splitter.build(parameters)?.split(text, ask)?;
    let said = || chunks.iter().filter(|chunk| Piece::says(chunk, text));
    let many = said().count();
    if many > most {
        let message =
            format!("The document makes {many} chunks; {most} are the most. Split it, or take larger chunks.");
        return Ok(Err(trouble("too-many-chunks", message)));
    }
    Ok(Ok(said().map(|chunk| Piece::of(chunk, text)).collect()))
}

/// Keeps the error of a model for later, since a splitter knows no other words for it.
fn kept(error: embedding::Error, place: &RefCell<Option<embedding::Error>>) -> Refusal {
    let refusal = Refusal::text(error.to_string());
    place.replace(Some(error));
    refusal
}

fn vectors(model: &Encoder, texts: &[String]) -> Result<Vec<Vec<f64>>, embedding::Error> {
    let vectors = model.embed(texts)?;
    Ok(vectors.into_iter().map(|vector| vector.into_iter().map(f64::from).collect()).collect())
}

/// What a model could not do.
pub(crate) fn unembedded(error: &embedding::Error) -> Trouble {
    let retryable = matches!(error, embedding::Error::Unavailable { .. });
    Trouble { code: error.code(), message: pidq_http::sentence(&error.to_string()), retryable }
}

fn trouble(code: &'static str, message: String) -> Trouble {
    Trouble { code, message, retryable: false }
}

/// Runs what takes long beside the threads that answer.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Trouble> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "a stage gave up");
        Trouble { code: "internal", message: "Something went wrong here.".into(), retryable: true }
    })
}
