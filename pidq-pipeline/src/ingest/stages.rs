//! The stages of reading a document: its text, its chunks, their vectors.

use std::sync::Arc;

use crate::analyser::tags;
use crate::embedding::{self, Embedder, to_blob};
use crate::extract::{self, CodePoints, Extracted, Markup, Upload};
use crate::platform::Platform;
use crate::records::{self, Document, Pipeline, Progress, Status};
use crate::search::indexed;
use crate::splitter::{self, Chunk, Refusal};
use crate::store::{Job, ReadDocument, StoreError};

/// Chunks that get their vectors between two reports.
const BATCH: usize = 256;
/// The most chunks of a document.
const MOST_CHUNKS: usize = 200_000;
/// Splitters that cut at the tags of HTML need them.
const OF_MARKUP: &[&str] = &["html", "html_header"];

/// Why a document is not ready.
pub(super) enum Fault {
    /// Nobody waits for it any more, or somebody else reads it.
    Unwanted,
    /// The database does not answer.
    Store(StoreError),
    /// It cannot be read.
    Failed { stage: Status, code: &'static str, message: String, retryable: bool },
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::Store(error)
    }
}

/// A document being read.
pub(super) struct Reading {
    platform: Arc<Platform>,
    job: Job,
    progress: Progress,
}

impl Reading {
    pub fn new(platform: Arc<Platform>, job: Job) -> Reading {
        Reading { platform, job, progress: Progress::default() }
    }

    /// From bytes to what queries find.
    pub async fn run(&mut self) -> Result<(), Fault> {
        let (pipeline, document) = self.wanted().await?;
        let extracted = self.parse(&pipeline, &document).await?;
        let model = self.model(&pipeline)?;
        let (extracted, chunks) = self.split(&pipeline, extracted, model.clone()).await?;
        let chunks = self.embed(&pipeline, &document, &extracted, chunks, model).await?;
        self.index(&pipeline, extracted, chunks).await
    }

    async fn wanted(&self) -> Result<(Pipeline, Document), Fault> {
        let pipeline = self.platform.store.pipeline(&self.job.pipeline_id).await?.ok_or(Fault::Unwanted)?;
        let id = self.job.document_id.as_deref().ok_or(Fault::Unwanted)?;
        let document = self.platform.store.document(&pipeline.id, id).await?.ok_or(Fault::Unwanted)?;
        Ok((pipeline, document))
    }

    /// Says how far the document is.
    async fn report(&mut self, status: Status, done: usize, total: Option<usize>) -> Result<(), Fault> {
        self.progress.done = done as i64;
        self.progress.total = total.map(|total| total as i64);
        match self.platform.store.report(&self.job, status, &self.progress).await? {
            true => Ok(()),
            false => Err(Fault::Unwanted),
        }
    }

    /// The text, read in a process of its own.
    async fn parse(&mut self, pipeline: &Pipeline, document: &Document) -> Result<Extracted, Fault> {
        self.report(Status::Parsing, 0, None).await?;
        let bytes = self.platform.store.content(&document.id, self.job.revision).await?.ok_or(Fault::Unwanted)?;
        let (name, media_type) = (document.filename.clone(), document.content_type.clone());
        let mut options = self.platform.extraction.clone();
        if OF_MARKUP.contains(&pipeline.text_splitter.as_str()) {
            options.markup = Markup::Keep;
        }
        let isolation = self.platform.isolation.clone();
        let stop = extract::Stop::default();
        // Dropped when the job is lost: the child ends with it.
        let _end = StopOnDrop(stop.clone());
        let read = blocking(move || {
            let upload = Upload { bytes: &bytes, name: Some(&name), media_type: Some(&media_type) };
            extract::in_child(&upload, &options, &isolation, &stop)
        });
        let extracted = read.await?.map_err(|failure| Fault::Failed {
            stage: Status::Parsing,
            code: failure.code.as_str(),
            retryable: failure.code.retryable(),
            message: pidq_http::sentence(&failure.detail),
        })?;
        self.progress.warnings.clone_from(&extracted.warnings);
        self.progress.page_count = Some(extracted.pages.len() as i64);
        Ok(extracted)
    }

    fn model(&self, pipeline: &Pipeline) -> Result<Arc<dyn Embedder>, Fault> {
        self.platform.models.open(&pipeline.embedding_model).map_err(|error| unembedded(&error))
    }

    async fn split(
        &mut self,
        pipeline: &Pipeline,
        extracted: Extracted,
        model: Arc<dyn Embedder>,
    ) -> Result<(Extracted, Vec<Piece>), Fault> {
        self.report(Status::Splitting, 0, None).await?;
        let (name, parameters) = (pipeline.text_splitter.clone(), pipeline.splitter_parameters.clone());
        // The text moves to the thread that splits it, and back: it may be long.
        let split = blocking(move || {
            let splitter = splitter::find(&name).ok_or_else(|| Refusal::of("text_splitter", "there is none"))?;
            let chunks = splitter.build(&parameters)?.split(&extracted.text, &|texts| vectors(&*model, texts))?;
            let pieces: Vec<_> = chunks.iter().filter_map(|chunk| Piece::of(chunk, &extracted.text)).collect();
            Ok::<_, Refusal>((extracted, pieces))
        });
        let (extracted, pieces) = split.await?.map_err(|refusal| {
            failed(Status::Splitting, "corrupt-document", format!("The text cannot be split: {refusal}."))
        })?;
        match pieces.len() {
            0 => Err(failed(Status::Splitting, "empty-text", "The document has no text to search.".into())),
            many if many > MOST_CHUNKS => Err(failed(
                Status::Splitting,
                "too-many-chunks",
                format!(
                    "The document makes {many} chunks; {MOST_CHUNKS} are the most. Split it, or take larger chunks."
                ),
            )),
            _ => Ok((extracted, pieces)),
        }
    }

    async fn embed(
        &mut self,
        pipeline: &Pipeline,
        document: &Document,
        extracted: &Extracted,
        pieces: Vec<Piece>,
        model: Arc<dyn Embedder>,
    ) -> Result<Vec<records::Chunk>, Fault> {
        let title = extracted.title.clone().unwrap_or_else(|| document.filename.clone());
        let places = CodePoints::of(&extracted.text);
        let total = pieces.len();
        let mut chunks = Vec::with_capacity(total);
        for batch in pieces.chunks(BATCH) {
            self.report(Status::Embedding, chunks.len(), Some(total)).await?;
            let texts: Vec<String> = batch.iter().map(|piece| piece.indexed(pipeline, &title)).collect();
            let model = model.clone();
            let vectors = blocking(move || model.embed(&texts)).await?.map_err(|error| unembedded(&error))?;
            for (piece, vector) in batch.iter().zip(vectors) {
                chunks.push(piece.stored(extracted, &places, &vector));
            }
        }
        Ok(chunks)
    }

    async fn index(
        &mut self,
        pipeline: &Pipeline,
        extracted: Extracted,
        chunks: Vec<records::Chunk>,
    ) -> Result<(), Fault> {
        let total = chunks.len();
        self.report(Status::Indexing, 0, Some(total)).await?;
        self.progress.done = total as i64;
        self.progress.chunk_count = Some(total as i64);
        let pages = serde_json::to_string(&extracted.pages).unwrap_or_else(|_| "[]".into());
        let read = ReadDocument {
            generation: pipeline.generation,
            content_type: extracted.media_type,
            extracted: extracted.text,
            pages,
            title: extracted.title,
            chunks,
            progress: self.progress.clone(),
        };
        match self.platform.store.publish(&self.job, &read).await? {
            true => Ok(()),
            false => Err(Fault::Unwanted),
        }
    }
}

/// A chunk on its way.
struct Piece {
    text: String,
    span: Option<std::ops::Range<usize>>,
    headings: Vec<String>,
}

impl Piece {
    /// A chunk says what stands in the text, so that what is cited can be found there; one without a place says what
    /// the splitter made.
    fn of(chunk: &Chunk<'_>, text: &str) -> Option<Piece> {
        let said = match &chunk.span {
            Some(span) => &text[span.clone()],
            None => &chunk.text,
        };
        let headings = chunk.headings.iter().map(|(_, heading)| heading.clone()).collect();
        (!said.trim().is_empty()).then(|| Piece { text: said.to_owned(), span: chunk.span.clone(), headings })
    }

    /// What the vector is made from.
    fn indexed(&self, pipeline: &Pipeline, title: &str) -> String {
        indexed(&pipeline.context(title, &self.headings), &self.text)
    }

    fn stored(&self, extracted: &Extracted, places: &CodePoints<'_>, vector: &[f32]) -> records::Chunk {
        let place = |byte: usize| places.before(byte) as i64;
        records::Chunk {
            place: self.span.as_ref().map(|span| (place(span.start), place(span.end))),
            bytes: self.span.as_ref().map(|span| (span.start as i64, span.end as i64)),
            page: self.span.as_ref().map(|span| extracted.page_at(span.start) as i64 + 1),
            headings: self.headings.clone(),
            content: self.text.clone(),
            tags: tags(&self.text).into_iter().map(|tag| tag.name).collect(),
            vector: to_blob(vector),
        }
    }
}

/// Ends a child when the job is lost.
struct StopOnDrop(extract::Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

fn vectors(model: &dyn Embedder, texts: &[String]) -> Result<Vec<Vec<f64>>, Refusal> {
    let vectors = model.embed(texts).map_err(|error| Refusal::text(error.to_string()))?;
    Ok(vectors.into_iter().map(|vector| vector.into_iter().map(f64::from).collect()).collect())
}

fn unembedded(error: &embedding::Error) -> Fault {
    let retryable = matches!(error, embedding::Error::Unavailable { .. });
    let message = pidq_http::sentence(&error.to_string());
    Fault::Failed { stage: Status::Embedding, code: error.code(), message, retryable }
}

fn failed(stage: Status, code: &'static str, message: String) -> Fault {
    Fault::Failed { stage, code, message, retryable: false }
}

/// Runs what takes long beside the threads that answer.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "a stage gave up");
        Fault::Failed {
            stage: Status::Parsing,
            code: "internal",
            message: "Something went wrong here.".into(),
            retryable: true,
        }
    })
}
