//! Test helpers: pipelines and documents in a store, without a platform.

use pidq_http::database::Database;
use pidq_store::domain::model::{Chunk, Document, Options, Pipeline, Progress};
use pidq_store::{IngestedDocument, NewAttachments, NewDocument, NewPipeline, Store, StoreError};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::databases;

/// Runs a test once for each kind of database.
pub async fn on_each(test: impl AsyncFn(Store, Database)) {
    databases::on_each(async |database: Database| {
        let store = Store::open(database.clone()).await.unwrap();
        test(store, database).await;
    })
    .await;
}

/// Creates a pipeline with one-dimensional vectors, which tests can ignore.
pub async fn pipeline(store: &Store, classifications: &[&str]) -> Pipeline {
    with_vectors(store, classifications, 1).await
}

/// Creates a pipeline with the dimensions of its model.
pub async fn wide_pipeline(store: &Store, classifications: &[&str]) -> Pipeline {
    with_vectors(store, classifications, 512).await
}

async fn with_vectors(store: &Store, classifications: &[&str], dimensions: i64) -> Pipeline {
    let new = NewPipeline {
        name: pidq_http::uuid_v7(),
        embedding_model: "hash-512".into(),
        embedding_dimensions: dimensions,
        text_splitter: "character".into(),
        splitter_parameters: Map::new(),
        classifications: classifications.iter().map(|&classification| classification.to_owned()).collect(),
        options: Options::default(),
    };
    store.create_pipeline(new).await.unwrap()
}

/// Adds a queued document.
pub async fn add(store: &Store, pipeline: &Pipeline, classification: &str, text: &str) -> Document {
    add_text(store, pipeline, NewText { classification, text, metadata: &Map::new() }).await
}

/// The variable parts of a document.
pub struct NewText<'a> {
    pub classification: &'a str,
    pub text: &'a str,
    pub metadata: &'a Map<String, Value>,
}

pub async fn add_text(store: &Store, pipeline: &Pipeline, new: NewText<'_>) -> Document {
    try_add(store, pipeline, new).await.unwrap().0
}

/// Adds a document; fails on a conflict with concurrent changes.
pub async fn try_add(store: &Store, pipeline: &Pipeline, new: NewText<'_>) -> Result<(Document, bool), StoreError> {
    let new = NewDocument {
        pipeline_id: &pipeline.id,
        classification: new.classification,
        external_id: None,
        filename: "a.txt",
        content_type: "text/plain",
        metadata: new.metadata,
        content: new.text.as_bytes().into(),
        sha256: &digest(new.text),
    };
    store.add_document(new).await
}

/// Returns the SHA-256 of a text.
pub fn digest(text: &str) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(text))
}

/// Returns a text as ingested by a worker: one chunk per line.
pub fn ingested(text: &str) -> IngestedDocument {
    let chunk = |line: &str| {
        let offset = (line.as_ptr() as usize - text.as_ptr() as usize) as i64;
        Chunk {
            char_range: Some((offset, offset + line.len() as i64)),
            byte_range: Some((offset, offset + line.len() as i64)),
            gap: (offset > 0).then(|| "\n".into()),
            page: Some(1),
            headings: vec!["Heading".into()],
            content: line.into(),
            tags: vec!["P-101".into()],
            vector: vec![0; 4],
        }
    };
    IngestedDocument {
        generation: 1,
        content_type: "text/plain".into(),
        extracted: text.into(),
        pages: "[]".into(),
        page_words: Vec::new(),
        title: None,
        chunks: text.lines().map(chunk).collect(),
        attachments: NewAttachments::default(),
        progress: Progress::default(),
    }
}
