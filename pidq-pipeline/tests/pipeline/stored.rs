//! Documents in a store without a platform around it.

use pidq_http::database::Database;
use pidq_pipeline::records::{Chunk, Document, Options, Pipeline, Progress};
use pidq_pipeline::store::{NewDocument, NewPipeline, ReadDocument, Store};
use serde_json::Map;
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

/// A pipeline whose vectors have one number, so that tests can leave them out.
pub async fn pipeline(store: &Store, labels: &[&str]) -> Pipeline {
    let new = NewPipeline {
        name: pidq_http::uuid_v7(),
        embedding_model: "hash-512".into(),
        embedding_dimensions: 1,
        text_splitter: "character".into(),
        splitter_parameters: Map::new(),
        classifications: labels.iter().map(|&label| label.to_owned()).collect(),
        options: Options::default(),
    };
    store.create_pipeline(new).await.unwrap()
}

/// A document as it comes in.
pub async fn add(store: &Store, pipeline: &Pipeline, label: &str, text: &str) -> Document {
    let new = NewDocument {
        pipeline_id: &pipeline.id,
        classification: label,
        external_id: None,
        filename: "a.txt",
        content_type: "text/plain",
        metadata: &Map::new(),
        content: text.as_bytes(),
        sha256: &pidq_http::hex(&Sha256::digest(text)),
    };
    store.add_document(new).await.unwrap().0
}

/// What a worker makes of a text: a chunk for each line.
pub fn read(text: &str) -> ReadDocument {
    let chunk = |line: &str| {
        let at = (line.as_ptr() as usize - text.as_ptr() as usize) as i64;
        Chunk {
            place: Some((at, at + line.len() as i64)),
            bytes: Some((at, at + line.len() as i64)),
            page: Some(1),
            headings: vec!["Heading".into()],
            content: line.into(),
            tags: vec!["P-101".into()],
            vector: vec![0; 4],
        }
    };
    ReadDocument {
        generation: 1,
        content_type: "text/plain".into(),
        extracted: text.into(),
        pages: "[]".into(),
        title: None,
        chunks: text.lines().map(chunk).collect(),
        progress: Progress::default(),
    }
}
