//! Stages of ingesting a document: extraction, splitting, embedding, indexing.

use std::sync::Arc;

use pidq_extract::{Attachment, CodePoints, Extracted, Page};
use pidq_http::{SpanKind, Trace};
use pidq_store::domain::model::{self, Document, Pipeline, Progress, Status, TextRecognition};
use pidq_store::{IngestedDocument, Job, NewAttachment, PageWordsRecord, PublishOutcome};
use pidq_text::embedding::{self, CachingEmbedder};

use super::attachments;
use super::error::IngestError;
use super::extract_and_split::{self, ChunkDraft, DocumentError, DocumentInput, InputContent, ReadError, run_blocking};
use super::progress_writer::ProgressWriter;
use crate::cluster::pubsub::Signal;
use crate::platform::Platform;

/// Chunks embedded between two progress reports.
const EMBEDDING_BATCH: usize = 256;

/// Ingestion of one document.
pub(super) struct DocumentJob {
    platform: Arc<Platform>,
    job: Job,
    progress: Progress,
    /// Progress writer; none for a reindex, which leaves the document's state unchanged.
    progress_writer: Option<Arc<ProgressWriter>>,
}

impl DocumentJob {
    pub fn new(platform: Arc<Platform>, job: Job, progress_writer: Arc<ProgressWriter>) -> DocumentJob {
        DocumentJob { progress_writer: Some(progress_writer), ..DocumentJob::without_progress(platform, job) }
    }

    /// Creates a job that reports no progress.
    pub fn without_progress(platform: Arc<Platform>, job: Job) -> DocumentJob {
        DocumentJob { platform, job, progress: Progress::default(), progress_writer: None }
    }

    /// Ingests the document and publishes it. Starts over if the active generation has changed meanwhile.
    pub async fn run(&mut self) -> Result<(), IngestError> {
        loop {
            let (pipeline, document) = self.load().await?;
            let ingested = self.ingest(&pipeline, &document).await?;
            let platform = self.platform.clone();
            let mut timer = platform.metrics.stage_timer();
            let job = self.job_with_pending_stages().await;
            let publishing = async { Ok(platform.store.publish_document(&job, &ingested).await?) };
            let outcome = in_span(Status::Indexing, publishing).await?;
            timer.stage_finished(Status::Indexing);
            match outcome {
                PublishOutcome::Done => {
                    if !ingested.attachments.documents.is_empty() {
                        self.platform.messaging.job_notifier.notify_all();
                    }
                    let (pipeline, classification) = (pipeline.id, document.classification);
                    self.platform.messaging.pubsub.signal(&Signal::PartitionChanged { pipeline, classification });
                    return Ok(());
                }
                PublishOutcome::Discarded => return Err(IngestError::Cancelled),
                PublishOutcome::StaleGeneration => self.progress = Progress::default(),
            }
        }
    }

    /// Ingests the document for a pipeline configuration without publishing it.
    pub async fn ingest_for(&mut self, pipeline: &Pipeline) -> Result<IngestedDocument, IngestError> {
        let (_, document) = self.load().await?;
        self.ingest(pipeline, &document).await
    }

    async fn ingest(&mut self, pipeline: &Pipeline, document: &Document) -> Result<IngestedDocument, IngestError> {
        let platform = self.platform.clone();
        let mut timer = platform.metrics.stage_timer();
        let (extracted, attachments) = in_span(Status::Parsing, self.extract(pipeline, document)).await?;
        timer.stage_finished(Status::Parsing);
        let model = self.model(pipeline).await?;
        let (extracted, chunks) = in_span(Status::Splitting, self.split(pipeline, extracted, model.clone())).await?;
        timer.stage_finished(Status::Splitting);
        let chunks = self.embed(pipeline, document, &extracted, chunks, model);
        let chunks = in_span(Status::Embedding, chunks).await?;
        timer.stage_finished(Status::Embedding);
        self.finish(pipeline, extracted, chunks, attachments).await
    }

    /// Returns the job with its pending stage transitions.
    async fn job_with_pending_stages(&self) -> Job {
        match &self.progress_writer {
            Some(progress_writer) => progress_writer.take_pending(&self.job).await,
            None => self.job.clone(),
        }
    }

    async fn load(&self) -> Result<(Pipeline, Document), IngestError> {
        let pipeline = self.platform.store.pipeline(&self.job.pipeline_id).await?.ok_or(IngestError::Cancelled)?;
        let id = self.job.document_id.as_deref().ok_or(IngestError::Cancelled)?;
        let document = self.platform.store.document(&pipeline.id, id).await?.ok_or(IngestError::Cancelled)?;
        Ok((pipeline, document))
    }

    /// Reports progress.
    async fn report(&mut self, status: Status, done: usize, total: Option<usize>) {
        self.progress.done = done as i64;
        self.progress.total = total.map(|total| total as i64);
        if let Some(progress_writer) = &self.progress_writer {
            progress_writer.update(&self.platform.store, status, &self.progress).await;
        }
    }

    /// Extracts the text and the attachments in a separate process.
    async fn extract(
        &mut self,
        pipeline: &Pipeline,
        document: &Document,
    ) -> Result<(Extracted, Vec<NewAttachment>), IngestError> {
        self.report(Status::Parsing, 0, None).await;
        let attachments = Some(attachments::limits(&self.platform, document).await?);
        let content = InputContent::Stored { document: document.id.clone(), revision: self.job.revision };
        // The identifier of a pipeline has no slash.
        let scope = Some(format!("{}/{}", pipeline.id, document.classification));
        let (name, media_type) = (Some(document.filename.clone()), Some(document.content_type.clone()));
        let extraction = extract_and_split::extract_text(
            &self.platform,
            &pipeline.text_splitter,
            DocumentInput { content, scope, name, media_type, recognition_timeout: None, attachments },
        );
        let mut extracted = extraction.await.map_err(read_error)?;
        self.progress.warnings.clone_from(&extracted.warnings);
        self.progress.page_count = Some(extracted.pages.len() as i64);
        self.progress.text_recognition = text_recognition(&extracted, || self.platform.ingestion.programs.recognizer());
        let attachments = self.select_attachments(document, std::mem::take(&mut extracted.attachments)).await?;
        Ok((extracted, attachments))
    }

    /// Returns the attachments that become documents, and adds warnings about the others.
    async fn select_attachments(
        &mut self,
        document: &Document,
        attachments: Vec<Attachment>,
    ) -> Result<Vec<NewAttachment>, IngestError> {
        if attachments.is_empty() {
            return Ok(Vec::new());
        }
        let options = self.platform.ingestion.extraction_limits.clone();
        let selected = run_blocking(move || attachments::select(attachments, &options)).await;
        let (selected, mut warnings) = selected.map_err(|error| failed(Status::Parsing, error))?;
        if self.progress_writer.is_none() {
            warnings.extend(attachments::missing(&self.platform, document, &selected).await?);
        }
        self.progress.warnings.append(&mut warnings);
        Ok(selected)
    }

    async fn model(&self, pipeline: &Pipeline) -> Result<Arc<CachingEmbedder>, IngestError> {
        let models = &self.platform.search.models;
        let model = models.for_documents(&pipeline.embedding_model, pipeline.embedding_dimensions).await;
        model.map_err(|error| embedding_error(&error))
    }

    async fn split(
        &mut self,
        pipeline: &Pipeline,
        extracted: Extracted,
        model: Arc<CachingEmbedder>,
    ) -> Result<(Extracted, Vec<ChunkDraft>), IngestError> {
        self.report(Status::Splitting, 0, None).await;
        let (splitter, parameters) = (&pipeline.text_splitter, &pipeline.splitter_parameters);
        let split = extract_and_split::split_text(
            splitter,
            parameters,
            extracted,
            model,
            self.platform.limits.chunks_per_document,
        );
        split.await.map_err(|error| failed(Status::Splitting, error))
    }

    async fn embed(
        &mut self,
        pipeline: &Pipeline,
        document: &Document,
        extracted: &Extracted,
        drafts: Vec<ChunkDraft>,
        model: Arc<CachingEmbedder>,
    ) -> Result<Vec<model::Chunk>, IngestError> {
        let title = extracted.title.clone().unwrap_or_else(|| document.filename.clone());
        let code_points = CodePoints::new(&extracted.text);
        let total = drafts.len();
        let mut chunks = Vec::with_capacity(total);
        for batch in drafts.chunks(EMBEDDING_BATCH) {
            self.report(Status::Embedding, chunks.len(), Some(total)).await;
            let texts: Vec<String> = batch.iter().map(|draft| draft.indexed_text(pipeline, &title)).collect();
            let model = model.clone();
            let vectors = run_blocking(move || model.embed(&texts)).await;
            let vectors = vectors.map_err(|error| failed(Status::Embedding, error))?;
            let vectors = vectors.map_err(|error| embedding_error(&error))?;
            for (draft, vector) in batch.iter().zip(vectors) {
                chunks.push(draft.to_record(extracted, &code_points, &vector));
            }
        }
        Ok(chunks)
    }

    async fn finish(
        &mut self,
        pipeline: &Pipeline,
        mut extracted: Extracted,
        chunks: Vec<model::Chunk>,
        attachments: Vec<NewAttachment>,
    ) -> Result<IngestedDocument, IngestError> {
        let total = chunks.len();
        self.report(Status::Indexing, 0, Some(total)).await;
        (self.progress.done, self.progress.total) = (total as i64, Some(total as i64));
        self.progress.chunk_count = Some(total as i64);
        let pages = serde_json::to_string(&extracted.pages).unwrap_or_else(|_| "[]".into());
        let page_words = page_words(&mut extracted);
        Ok(IngestedDocument {
            generation: pipeline.generation,
            content_type: extracted.media_type,
            extracted: extracted.text,
            pages,
            page_words,
            title: extracted.title,
            chunks,
            attachments: attachments::with_license(&self.platform, attachments),
            progress: self.progress.clone(),
        })
    }
}

/// Takes the boxes of the words of the pages that have positions.
fn page_words(extracted: &mut Extracted) -> Vec<PageWordsRecord> {
    let encoded = std::mem::take(&mut extracted.page_words);
    if encoded.is_empty() {
        return Vec::new();
    }
    let code_points = CodePoints::new(&extracted.text);
    let record = |((page, words), number): ((&Page, Vec<u8>), i64)| {
        let char_range = (code_points.char_offset(page.start) as i64, code_points.char_offset(page.end) as i64);
        PageWordsRecord::new(number, char_range, &extracted.text[page.start..page.end], words)
    };
    let pages = extracted.pages.iter().zip(encoded).zip(1..);
    pages.filter(|((_, words), _)| !words.is_empty()).map(record).collect()
}

/// Summarizes the pages whose text was recognized; none without such pages.
fn text_recognition(extracted: &Extracted, recognizer: impl FnOnce() -> String) -> Option<TextRecognition> {
    let confidences: Vec<i64> = extracted.pages.iter().filter_map(|page| page.confidence).map(i64::from).collect();
    let lowest = *confidences.iter().min()?;
    Some(TextRecognition {
        recognizer: recognizer(),
        pages: confidences.len() as i64,
        mean_confidence: confidences.iter().sum::<i64>() / confidences.len() as i64,
        lowest_confidence: lowest,
    })
}

/// Runs a stage in a span of its own.
async fn in_span<T>(stage: Status, work: impl Future<Output = Result<T, IngestError>>) -> Result<T, IngestError> {
    let mut span = Trace::current().span(SpanKind::Internal, stage.as_str());
    let result = span.trace().clone().scope(work).await;
    match &result {
        Err(IngestError::Failed { code, .. }) => span.fail(*code),
        Err(IngestError::Store(_)) => span.fail("database"),
        _ => {}
    }
    result
}

fn embedding_error(error: &embedding::Error) -> IngestError {
    failed(Status::Embedding, extract_and_split::embedding_error(error))
}

fn read_error(error: ReadError) -> IngestError {
    match error {
        ReadError::Deleted => IngestError::Cancelled,
        ReadError::Store(error) => IngestError::Store(error),
        ReadError::Document(error) => failed(Status::Parsing, error),
    }
}

fn failed(stage: Status, DocumentError { code, message, retryable }: DocumentError) -> IngestError {
    IngestError::Failed { stage, code, message, retryable }
}
