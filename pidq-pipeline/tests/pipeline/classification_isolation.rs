//! Isolation of classifications: results equal, bit for bit, those of a pipeline without the other classifications.

use std::sync::Arc;
use std::time::Duration;

use pidq_pipeline::retrieval::chunk_header::chunk_header;
use pidq_pipeline::retrieval::index_cache::IndexCache;
use pidq_store::domain::model::Pipeline;
use pidq_store::{IngestedDocument, PublishOutcome, Store};
use pidq_text::embedding::{self, Calibration, Embedder, ModelSources, to_blob};
use pidq_text::search::{Filter, MODES, SearchQuery};
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use crate::databases;
use crate::store_fixtures::{NewText, add_text, ingested, wide_pipeline};

const CLASSIFICATIONS: [&str; 3] = ["manual", "datasheet", "secret"];
const WORDS: [&str; 14] = [
    "pump",
    "valve",
    "vessel",
    "relief",
    "pressure",
    "P-101A",
    "PSV-2015A",
    "38.5",
    "barg",
    "closed",
    "seal",
    "der",
    "Druck",
    "проверка",
];
const LONG: Duration = Duration::from_secs(3600);

/// A document: classification, unit, and sentences of word indices.
type GeneratedDocument = (usize, u8, Vec<Vec<usize>>);
type GeneratedQueries = Vec<(Vec<usize>, usize, usize)>;

#[test]
fn results_of_a_classification_are_independent_of_others() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let cases = std::env::var("PIDQ_PROPERTY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(4);
    let folder = tempfile::TempDir::new().unwrap();
    let urls = [Some(databases::sqlite_url(&folder)), databases::fresh_postgres()];
    let model = embedding::open("hash-512", &ModelSources::default()).unwrap();
    let sentence = || proptest::collection::vec(0..WORDS.len(), 1..12);
    let document = (0..CLASSIFICATIONS.len(), 0..3u8, proptest::collection::vec(sentence(), 1..5));
    let documents = proptest::collection::vec(document, 2..20);
    let queries = proptest::collection::vec((sentence(), 0..MODES.len(), 1..9usize), 1..8);
    for url in urls.into_iter().flatten() {
        let store = runtime.block_on(async { Store::open(databases::open(&url).await).await.unwrap() });
        let config = Config { cases, failure_persistence: None, max_shrink_iters: 50, ..Config::default() };
        let both = (documents.clone(), queries.clone());
        TestRunner::new(config)
            .run(&both, |(documents, queries)| {
                runtime.block_on(check(&store, &model, &documents, &queries));
                Ok(())
            })
            .unwrap();
    }
}

async fn check(store: &Store, model: &Arc<dyn Embedder>, documents: &[GeneratedDocument], queries: &GeneratedQueries) {
    let combined = create_pipeline_with(store, model, documents, |_| true).await;
    let shared = IndexCache::default();
    for (number, classification) in CLASSIFICATIONS.iter().enumerate() {
        let isolated = create_pipeline_with(store, model, documents, |index| index == number).await;
        for query in queries {
            let with_others = search(store, &shared, &combined, classification, model, query).await;
            let without_others = search(store, &IndexCache::default(), &isolated, classification, model, query).await;
            assert_eq!(with_others, without_others, "{classification}: {query:?}");
        }
    }
}

/// Creates a pipeline with some of the documents, in order.
async fn create_pipeline_with(
    store: &Store,
    model: &Arc<dyn Embedder>,
    documents: &[GeneratedDocument],
    includes: impl Fn(usize) -> bool,
) -> Pipeline {
    let pipeline = wide_pipeline(store, &CLASSIFICATIONS).await;
    let mut last = String::new();
    for (number, (classification, unit, sentences)) in
        documents.iter().enumerate().filter(|(_, document)| includes(document.0))
    {
        let text = text(number, sentences);
        let metadata = json!({"unit": unit}).as_object().unwrap().clone();
        // Equal scores are ordered by ids, which sort by time: a later document gets a greater id, in both pipelines.
        loop {
            let new = NewText { classification: CLASSIFICATIONS[*classification], text: &text, metadata: &metadata };
            let document = add_text(store, &pipeline, new).await;
            if document.id > last {
                last = document.id;
                break;
            }
            store.delete_document(&pipeline.id, &document.id).await.unwrap();
        }
        let job = store.lease_job("worker", LONG).await.unwrap().unwrap();
        assert_eq!(
            store.publish_document(&job, &embedded(model, &pipeline, &text)).await.unwrap(),
            PublishOutcome::Done
        );
    }
    pipeline
}

fn text(number: usize, sentences: &[Vec<usize>]) -> String {
    let line = |words: &Vec<usize>| words.iter().map(|&word| WORDS[word]).collect::<Vec<_>>().join(" ");
    // The first line makes the documents differ.
    [format!("sheet {number}")].into_iter().chain(sentences.iter().map(line)).collect::<Vec<_>>().join("\n")
}

fn embedded(model: &Arc<dyn Embedder>, pipeline: &Pipeline, text: &str) -> IngestedDocument {
    let mut document = ingested(text);
    for chunk in &mut document.chunks {
        let indexed = format!("{}\n{}", chunk_header(pipeline, "a.txt", &chunk.headings), chunk.content);
        chunk.vector = to_blob(&model.embed(&[indexed]).unwrap()[0]);
    }
    document
}

/// Returns the hits: the bits of all scores, and the texts.
async fn search(
    store: &Store,
    indexes: &IndexCache,
    pipeline: &Pipeline,
    classification: &str,
    model: &Arc<dyn Embedder>,
    (words, mode, top): &(Vec<usize>, usize, usize),
) -> Vec<([u64; 3], String)> {
    let text = words.iter().map(|&word| WORDS[word]).collect::<Vec<_>>().join(" ");
    let vector = model.embed(std::slice::from_ref(&text)).unwrap().pop();
    let filter = Filter::parse(&json!({"unit": {"in": [0, 1]}})).unwrap();
    let query = SearchQuery {
        text: &text,
        vector: vector.as_deref(),
        mode: MODES[*mode].1,
        calibration: Calibration::unmeasured(0.5),
        top: *top,
        min_score: 0.0,
        filter: (words.len() % 2 == 0).then_some(&filter),
    };
    let index = indexes.get(store, pipeline, classification).await.unwrap();
    let index = index.read().await;
    let hits = index.partition.search(&query);
    hits.iter().map(|hit| ([hit.score, hit.sparse, hit.dense].map(f64::to_bits), hit.text())).collect()
}
