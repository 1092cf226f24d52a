//! Tests of concurrent changes of documents with real transactions: no request fails because of a deadlock, and where
//! locks can be ordered, no deadlock occurs.

use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_http::database::{Database, DatabaseKind};
use pidq_store::domain::model::{Document, Pipeline};
use pidq_store::{
    DocumentUpdate, Job, NewAnswer, NewContent, PublishOutcome, ReindexTarget, Store, StoreError, SwapOutcome,
};
use serde_json::json;

use crate::databases;
use crate::platform::on_each_url;
use crate::store_fixtures::{add, digest, ingested, pipeline};

const CLASSIFICATIONS: [&str; 2] = ["manual", "datasheet"];
const LONG: Duration = Duration::from_secs(3600);

fn rounds() -> usize {
    std::env::var("PIDQ_CONCURRENCY_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(25)
}

/// A pipeline with its own database.
struct Fixture {
    url: String,
    store: Store,
    database: Database,
    pipeline: Pipeline,
}

impl Fixture {
    async fn open(url: &str) -> Fixture {
        let database = databases::open(url).await;
        if database.kind() == DatabaseKind::Postgres {
            // By default, each deadlock is detected only after a second.
            database.execute(SHORT_DEADLOCK_TIMEOUT, &[]).await.unwrap();
            database.close().await;
        }
        let database = databases::open(url).await;
        let store = Store::open(database.clone()).await.unwrap();
        let pipeline = pipeline(&store, &CLASSIFICATIONS).await;
        Fixture { url: url.to_owned(), store, database, pipeline }
    }

    async fn document(&self, id: &str) -> Document {
        self.store.document(&self.pipeline.id, id).await.unwrap().unwrap()
    }

    async fn generation(&self) -> i64 {
        self.store.pipeline(&self.pipeline.id).await.unwrap().unwrap().generation
    }

    /// Adds a searchable document.
    async fn add_ready(&self, classification: &str, text: &str) -> String {
        let document = add(&self.store, &self.pipeline, classification, text).await;
        let job = self.store.lease_job("one", LONG).await.unwrap().unwrap();
        let ingested_document = ingested_with_generation(self.generation().await, text);
        assert_eq!(self.store.publish_document(&job, &ingested_document).await.unwrap(), PublishOutcome::Done);
        document.id
    }

    /// Changes the classification of a document. Retries after concurrent changes, such as an index swap.
    async fn reclassify(&self, id: &str, classification: &'static str) -> Result<(), StoreError> {
        let change = DocumentUpdate { classification: Some(classification), filename: None, metadata: None };
        loop {
            match self.store.update_document(&self.document(id).await, change).await {
                Err(StoreError::Conflict) => {}
                result => return result,
            }
        }
    }

    /// Returns the number of deadlocks.
    async fn deadlocks(self) -> i64 {
        if self.database.kind() == DatabaseKind::Sqlite {
            return 0;
        }
        // Connections report their statistics when they end.
        self.database.close().await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        databases::open(&self.url).await.row::<(i64,)>(DEADLOCKS, &[]).await.unwrap().unwrap().0
    }
}

const SHORT_DEADLOCK_TIMEOUT: &str =
    "do $$ begin execute format('alter database %I set deadlock_timeout = ''20ms''', current_database()); end $$";
const DEADLOCKS: &str = "select deadlocks from pg_stat_database where datname = current_database()";

fn ingested_with_generation(generation: i64, text: &str) -> pidq_store::IngestedDocument {
    pidq_store::IngestedDocument { generation, ..ingested(text) }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_documents_swap_classifications() {
    on_each_url(async |url| {
        let fixture = Fixture::open(url).await;
        let (one, other) = (
            fixture.add_ready(CLASSIFICATIONS[0], "Valve HV-1.").await,
            fixture.add_ready(CLASSIFICATIONS[1], "Valve HV-2.").await,
        );
        for round in 0..4 * rounds() {
            let (classification, other_classification) = (CLASSIFICATIONS[(round + 1) % 2], CLASSIFICATIONS[round % 2]);
            let result = tokio::join!(
                fixture.reclassify(&one, classification),
                fixture.reclassify(&other, other_classification)
            );
            assert!(matches!(result, (Ok(()), Ok(()))), "round {round}: {result:?}");
        }
        assert_eq!(fixture.deadlocks().await, 0);
    })
    .await;
}

/// Each transaction waits for the unique key of the other one, which is not released.
#[tokio::test(flavor = "multi_thread")]
async fn equal_documents_conflict_when_reclassified_concurrently() {
    on_each_url(async |url| {
        let fixture = Fixture::open(url).await;
        let (one, other) = (
            fixture.add_ready(CLASSIFICATIONS[0], "Valve HV-1.").await,
            fixture.add_ready(CLASSIFICATIONS[1], "Valve HV-1.").await,
        );
        for round in 0..rounds() {
            let result = tokio::join!(
                fixture.reclassify(&one, CLASSIFICATIONS[1]),
                fixture.reclassify(&other, CLASSIFICATIONS[0])
            );
            let is_conflict = matches!(result, (Err(StoreError::DuplicateContent), Err(StoreError::DuplicateContent)));
            assert!(is_conflict, "round {round}: {result:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn swapping_contents_of_two_documents_conflicts() {
    on_each_url(async |url| {
        let fixture = Fixture::open(url).await;
        let texts = ["Valve HV-1.", "Valve HV-2."];
        let documents = [
            fixture.add_ready(CLASSIFICATIONS[0], texts[0]).await,
            fixture.add_ready(CLASSIFICATIONS[0], texts[1]).await,
        ];
        let replace = async |index: usize| {
            let (document, text) = (fixture.document(&documents[index]).await, texts[1 - index]);
            let digest = digest(text);
            let new = NewContent {
                filename: "a",
                content_type: "text/plain",
                content: text.as_bytes().into(),
                sha256: &digest,
            };
            fixture.store.replace_content(&document, new).await
        };
        for round in 0..rounds() {
            let result = tokio::join!(replace(0), replace(1));
            let is_conflict = matches!(result, (Err(StoreError::DuplicateContent), Err(StoreError::DuplicateContent)));
            assert!(is_conflict, "round {round}: {result:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_swap_runs_concurrently_with_document_changes() {
    on_each_url(async |url| {
        let fixture = Fixture::open(url).await;
        for round in 0..rounds() {
            fixture.swap_index(round).await;
        }
        assert_eq!(fixture.deadlocks().await, 0);
    })
    .await;
}

impl Fixture {
    async fn swap_index(&self, round: usize) {
        let (store, id) = (&self.store, self.pipeline.id.as_str());
        let mut documents = Vec::new();
        for number in 0..8 {
            let text = format!("Valve HV-{number} of {round}.\nIt is closed.");
            documents.push(self.add_ready(CLASSIFICATIONS[number % 2], &text).await);
        }
        // One document is ingested again and becomes ready during the swap.
        let text = format!("Valve HV-6 of {round}.\nIt is closed.");
        store.requeue_document(&self.document(&documents[6]).await).await.unwrap();
        let ingestion_job = store.lease_job("worker", LONG).await.unwrap().unwrap();
        let before = self.generation().await;
        let (job, reindex) = self.build_index(&text).await;
        self.store_answer(&format!("{round}-a"), &documents[..4]).await;
        let ingested_document = ingested_with_generation(before, &text);
        let (swapped, published, ..) = tokio::join!(
            store.swap_index(&job, &reindex, LONG),
            store.publish_document(&ingestion_job, &ingested_document),
            async { self.reclassify(&documents[0], CLASSIFICATIONS[1]).await.unwrap() },
            async { self.reclassify(&documents[1], CLASSIFICATIONS[0]).await.unwrap() },
            async { assert!(store.delete_document(id, &documents[2]).await.unwrap()) },
            async { assert!(store.delete_document(id, &documents[3]).await.unwrap()) },
            async { assert!(store.delete_document(id, &documents[7]).await.unwrap()) },
            async { self.store_answer(&format!("{round}-b"), &documents[2..6]).await },
        );
        assert_eq!(swapped.unwrap(), SwapOutcome::Swapped, "round {round}");
        if published.unwrap() == PublishOutcome::StaleGeneration {
            let ingested_document = ingested_with_generation(reindex.generation, &text);
            assert_eq!(
                store.publish_document(&ingestion_job, &ingested_document).await.unwrap(),
                PublishOutcome::Done,
                "round {round}"
            );
        }
        store.purge_answers(Timestamp::now().0).await.unwrap();
        assert_eq!(self.generation().await, reindex.generation);
        for (index, classification) in [
            (0, CLASSIFICATIONS[1]),
            (1, CLASSIFICATIONS[0]),
            (4, CLASSIFICATIONS[0]),
            (5, CLASSIFICATIONS[1]),
            (6, CLASSIFICATIONS[0]),
        ] {
            let found = store.searchable_documents(id, classification).await.unwrap();
            let found =
                found.iter().find(|found| found.id == documents[index]).expect("the document has its classification");
            let chunks = store.chunks(&documents[index], found.revision, reindex.generation).await.unwrap();
            assert_eq!(chunks.len(), 2, "round {round}: {index}");
        }
        for document in store.document_ids(id, 100).await.unwrap() {
            assert!(store.delete_document(id, &document).await.unwrap());
        }
    }

    /// Builds another index, complete but not swapped yet.
    async fn build_index(&self, text: &str) -> (Job, pidq_store::Reindex) {
        let target = ReindexTarget {
            embedding_model: "hash-512".into(),
            embedding_dimensions: 1,
            text_splitter: "character".into(),
            splitter_parameters: serde_json::Map::new(),
        };
        self.store.begin_reindex(&self.pipeline.id, &target).await.unwrap();
        let job = self.store.lease_job("reindexer", LONG).await.unwrap().unwrap();
        let reindex = self.store.reindex(&self.pipeline.id).await.unwrap().unwrap();
        for (document, revision) in self.store.missing_documents(&self.pipeline.id, &reindex, 100).await.unwrap() {
            let one = job.with_document(&document, revision);
            assert!(
                self.store
                    .store_reindexed_document(&one, &reindex, &ingested_with_generation(reindex.generation, text))
                    .await
                    .unwrap()
            );
        }
        (job, reindex)
    }

    /// Stores an answer that cites documents.
    async fn store_answer(&self, id: &str, documents: &[String]) {
        let (answer, id) = (json!({}), &format!("{id}-{}", self.pipeline.id));
        let (pipeline_id, classification) = (&*self.pipeline.id, CLASSIFICATIONS[0]);
        self.store
            .save_answer(NewAnswer { id, pipeline_id, classification, answer: &answer, documents })
            .await
            .unwrap();
    }
}
