//! The stages of reading a document: its text, its chunks, their vectors.

use std::sync::Arc;

use super::reader::{self, Content, Piece, Source, Trouble, Unread, blocking};
use super::telling::Telling;
use crate::embedding::{self, Encoder};
use crate::extract::{CodePoints, Extracted};
use crate::messages::Signal;
use crate::platform::Platform;
use crate::records::{self, Document, Pipeline, Progress, Status};
use crate::store::{Job, Published, ReadDocument, StoreError};

/// Chunks that get their vectors between two reports.
const BATCH: usize = 256;

/// Why a document is not ready.
pub(super) enum Fault {
    /// Nobody waits for it any more, or somebody else reads it.
    Unwanted,
    /// The database does not answer.
    Store(StoreError),
    /// The model answers nobody now.
    Waiting { stage: Status, message: String },
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
    /// Where it is said how far the document is. Nowhere: it is as it was, whatever is made of it beside that.
    telling: Option<Arc<Telling>>,
}

impl Reading {
    pub fn new(platform: Arc<Platform>, job: Job, telling: Arc<Telling>) -> Reading {
        Reading { telling: Some(telling), ..Reading::beside(platform, job) }
    }

    /// Reads a document without a word about it.
    pub fn beside(platform: Arc<Platform>, job: Job) -> Reading {
        Reading { platform, job, progress: Progress::default(), telling: None }
    }

    /// From bytes to what queries find. Begins anew if another index answers when it is done.
    pub async fn run(&mut self) -> Result<(), Fault> {
        loop {
            let (pipeline, document) = self.wanted().await?;
            let read = self.read(&pipeline, &document).await?;
            let platform = self.platform.clone();
            let mut watch = platform.meters.watch();
            let published = platform.store.publish(&self.untold().await, &read).await?;
            watch.passed(Status::Indexing);
            match published {
                Published::Done => {
                    let (pipeline, classification) = (pipeline.id, document.classification);
                    self.platform.messages.signal(&Signal::Partition { pipeline, classification });
                    return Ok(());
                }
                Published::Unwanted => return Err(Fault::Unwanted),
                Published::Outdated => self.progress = Progress::default(),
            }
        }
    }

    /// From bytes to what queries of such a pipeline would find.
    pub async fn anew(&mut self, pipeline: &Pipeline) -> Result<ReadDocument, Fault> {
        let (_, document) = self.wanted().await?;
        self.read(pipeline, &document).await
    }

    async fn read(&mut self, pipeline: &Pipeline, document: &Document) -> Result<ReadDocument, Fault> {
        let platform = self.platform.clone();
        let mut watch = platform.meters.watch();
        let extracted = self.parse(pipeline, document).await?;
        watch.passed(Status::Parsing);
        let model = self.model(pipeline).await?;
        let (extracted, chunks) = self.split(pipeline, extracted, model.clone()).await?;
        watch.passed(Status::Splitting);
        let chunks = self.embed(pipeline, document, &extracted, chunks, model).await?;
        watch.passed(Status::Embedding);
        self.indexed(pipeline, extracted, chunks).await
    }

    /// The job with what was not said of it yet.
    async fn untold(&self) -> Job {
        match &self.telling {
            Some(telling) => telling.rest(&self.job).await,
            None => self.job.clone(),
        }
    }

    async fn wanted(&self) -> Result<(Pipeline, Document), Fault> {
        let pipeline = self.platform.store.pipeline(&self.job.pipeline_id).await?.ok_or(Fault::Unwanted)?;
        let id = self.job.document_id.as_deref().ok_or(Fault::Unwanted)?;
        let document = self.platform.store.document(&pipeline.id, id).await?.ok_or(Fault::Unwanted)?;
        Ok((pipeline, document))
    }

    /// Says how far the document is.
    async fn report(&mut self, status: Status, done: usize, total: Option<usize>) {
        self.progress.done = done as i64;
        self.progress.total = total.map(|total| total as i64);
        if let Some(telling) = &self.telling {
            telling.say(&self.platform.store, status, &self.progress).await;
        }
    }

    /// The text, read in a process of its own.
    async fn parse(&mut self, pipeline: &Pipeline, document: &Document) -> Result<Extracted, Fault> {
        self.report(Status::Parsing, 0, None).await;
        let content = Content::Stored { document: document.id.clone(), revision: self.job.revision };
        let (name, media_type) = (Some(document.filename.clone()), Some(document.content_type.clone()));
        let read = reader::text(&self.platform, &pipeline.text_splitter, Source { content, name, media_type });
        let extracted = read.await.map_err(unread)?;
        self.progress.warnings.clone_from(&extracted.warnings);
        self.progress.page_count = Some(extracted.pages.len() as i64);
        Ok(extracted)
    }

    async fn model(&self, pipeline: &Pipeline) -> Result<Arc<Encoder>, Fault> {
        self.platform.models.of_texts(pipeline).await.map_err(|error| unembedded(&error))
    }

    async fn split(
        &mut self,
        pipeline: &Pipeline,
        extracted: Extracted,
        model: Arc<Encoder>,
    ) -> Result<(Extracted, Vec<Piece>), Fault> {
        self.report(Status::Splitting, 0, None).await;
        let (splitter, parameters) = (&pipeline.text_splitter, &pipeline.splitter_parameters);
        let split = reader::pieces(splitter, parameters, extracted, model, self.platform.limits.chunks);
        split.await.map_err(|trouble| failed(Status::Splitting, trouble))
    }

    async fn embed(
        &mut self,
        pipeline: &Pipeline,
        document: &Document,
        extracted: &Extracted,
        pieces: Vec<Piece>,
        model: Arc<Encoder>,
    ) -> Result<Vec<records::Chunk>, Fault> {
        let title = extracted.title.clone().unwrap_or_else(|| document.filename.clone());
        let places = CodePoints::of(&extracted.text);
        let total = pieces.len();
        let mut chunks = Vec::with_capacity(total);
        for batch in pieces.chunks(BATCH) {
            self.report(Status::Embedding, chunks.len(), Some(total)).await;
            let texts: Vec<String> = batch.iter().map(|piece| piece.indexed(pipeline, &title)).collect();
            let model = model.clone();
            let vectors = blocking(move || model.embed(&texts)).await;
            let vectors = vectors.map_err(|trouble| failed(Status::Embedding, trouble))?;
            let vectors = vectors.map_err(|error| unembedded(&error))?;
            for (piece, vector) in batch.iter().zip(vectors) {
                chunks.push(piece.stored(extracted, &places, &vector));
            }
        }
        Ok(chunks)
    }

    async fn indexed(
        &mut self,
        pipeline: &Pipeline,
        extracted: Extracted,
        chunks: Vec<records::Chunk>,
    ) -> Result<ReadDocument, Fault> {
        let total = chunks.len();
        self.report(Status::Indexing, 0, Some(total)).await;
        (self.progress.done, self.progress.total) = (total as i64, Some(total as i64));
        self.progress.chunk_count = Some(total as i64);
        let pages = serde_json::to_string(&extracted.pages).unwrap_or_else(|_| "[]".into());
        Ok(ReadDocument {
            generation: pipeline.generation,
            content_type: extracted.media_type,
            extracted: extracted.text,
            pages,
            title: extracted.title,
            chunks,
            progress: self.progress.clone(),
        })
    }
}

fn unembedded(error: &embedding::Error) -> Fault {
    failed(Status::Embedding, reader::unembedded(error))
}

fn unread(why: Unread) -> Fault {
    match why {
        Unread::Gone => Fault::Unwanted,
        Unread::Store(error) => Fault::Store(error),
        Unread::Trouble(trouble) => failed(Status::Parsing, trouble),
    }
}

fn failed(stage: Status, Trouble { code, message, retryable }: Trouble) -> Fault {
    Fault::Failed { stage, code, message, retryable }
}
