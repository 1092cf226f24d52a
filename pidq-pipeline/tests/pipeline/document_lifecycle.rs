//! Property tests of the document lifecycle: in any order of steps, no document has two workers, none is lost, ready
//! documents are found, and deleted ones leave no data. Snapshots are written and loaded at every step and equal built
//! partitions.
//!
//! `PIDQ_PROPERTY_CASES` sets the number of sequences per database. Time passes only in explicit steps: a lease expires, a
//! retry becomes due.

use std::collections::BTreeMap;
use std::time::Duration;

use pidq_http::database::{Database, DatabaseKind};
use pidq_pipeline::retrieval::index_cache::IndexCache;
use pidq_store::domain::model::{Document, Pipeline, Progress, Status};
use pidq_store::{DocumentFilter, DocumentUpdate, Job, NewContent, PublishOutcome, Store, StoreError};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Map;
use tempfile::TempDir;

use crate::databases;
use crate::snapshots::{files, loaded_from_snapshot, save, snapshot_cache};
use crate::store_fixtures::{NewText, add, digest, ingested, pipeline, try_add};

const CLASSIFICATIONS: [&str; 2] = ["manual", "datasheet"];
const LONG: Duration = Duration::from_secs(3600);

/// Steps of a sequence. Numbers select among the existing items.
#[derive(Clone, Copy, Debug)]
enum Step {
    Add { classification: usize, text: usize },
    Lease { worker: usize },
    Report { worker: usize, stage: usize },
    Publish { worker: usize },
    Fail { worker: usize, retryable: bool },
    ExpireLease { worker: usize },
    MakeRetriesDue,
    Cancel { document: usize },
    Retry { document: usize },
    Replace { document: usize, text: usize },
    Reclassify { document: usize, classification: usize },
    Delete { document: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let (worker, document, text, classification) = (0..3usize, 0..8usize, 0..10usize, 0..2usize);
    prop_oneof![
        4 => (classification.clone(), text.clone()).prop_map(|(classification, text)| Step::Add { classification, text }),
        6 => worker.clone().prop_map(|worker| Step::Lease { worker }),
        2 => (worker.clone(), 0..4usize).prop_map(|(worker, stage)| Step::Report { worker, stage }),
        6 => worker.clone().prop_map(|worker| Step::Publish { worker }),
        2 => (worker.clone(), any::<bool>()).prop_map(|(worker, retryable)| Step::Fail { worker, retryable }),
        2 => worker.prop_map(|worker| Step::ExpireLease { worker }),
        1 => Just(Step::MakeRetriesDue),
        1 => document.clone().prop_map(|document| Step::Cancel { document }),
        2 => document.clone().prop_map(|document| Step::Retry { document }),
        4 => (document.clone(), text).prop_map(|(document, text)| Step::Replace { document, text }),
        1 => (document.clone(), classification).prop_map(|(document, classification)| Step::Reclassify { document, classification }),
        1 => document.prop_map(|document| Step::Delete { document }),
    ]
}

#[test]
fn any_sequence_of_steps_keeps_documents_consistent() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let cases = std::env::var("PIDQ_PROPERTY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(10);
    let folder = TempDir::new().unwrap();
    let urls = [Some(databases::sqlite_url(&folder)), databases::fresh_postgres()];
    for url in urls.into_iter().flatten() {
        let database = runtime.block_on(databases::open(&url));
        let fixture = runtime.block_on(StoreFixture::open(database));
        let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
        let sequences = proptest::collection::vec(step(), 1..60);
        TestRunner::new(config)
            .run(&sequences, |steps| {
                runtime.block_on(fixture.run_steps(&steps));
                Ok(())
            })
            .unwrap();
    }
}

/// Concurrent callers and workers, which sequential steps cannot test. Conflicts are reported, and the final state is
/// consistent.
#[test]
fn concurrent_callers_and_workers_keep_documents_consistent() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let rounds = std::env::var("PIDQ_PROPERTY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1);
    let folder = TempDir::new().unwrap();
    let urls = [Some(databases::sqlite_url(&folder)), databases::fresh_postgres()];
    for url in urls.into_iter().flatten() {
        let fixture = runtime.block_on(async { StoreFixture::open(databases::open(&url).await).await });
        for round in 0..rounds {
            runtime.block_on(fixture.run_concurrently(round));
        }
    }
}

/// Operations of each concurrent caller and worker.
const OPERATIONS: u64 = 60;

impl StoreFixture {
    async fn run_concurrently(&self, round: u64) {
        let pipeline = pipeline(&self.store, &CLASSIFICATIONS).await;
        let callers =
            (0..3).map(|caller| tokio::spawn(run_caller(self.store.clone(), pipeline.clone(), round * 10 + caller)));
        let workers = (0..3).map(|worker| tokio::spawn(run_worker(self.store.clone(), round * 10 + worker)));
        let (callers, workers): (Vec<_>, Vec<_>) = (callers.collect(), workers.collect());
        for result in callers.into_iter().chain(workers) {
            result.await.unwrap();
        }
        // One more worker completes the remaining jobs.
        self.database.execute("update jobs set run_at = 0, lease_until = 0", &[]).await.unwrap();
        while let Some(job) = self.store.lease_job("the last", LONG).await.unwrap() {
            let id = job.document_id.clone().unwrap();
            let bytes = self.store.content(&id, job.revision).await.unwrap().unwrap();
            let published =
                self.store.publish_document(&job, &ingested(&String::from_utf8(bytes).unwrap())).await.unwrap();
            assert_eq!(published, PublishOutcome::Done);
        }
        let mut documents = BTreeMap::new();
        for document in self.store.documents(&pipeline.id, DocumentFilter::default(), "", 10_000).await.unwrap() {
            assert!(document.status.is_terminal(), "{document:?}");
            assert_eq!(self.count(JOBS, &document.id).await, 0, "{document:?}");
            if document.status == Status::Ready {
                assert_eq!(document.searchable_revision, Some(document.revision), "{document:?}");
            }
            documents.insert(document.id.clone(), self.expected(document).await);
        }
        let folder = TempDir::new().unwrap();
        let (indexes, jobs) = (snapshot_cache(&folder, 1 << 30), [None, None, None]);
        let test = LifecycleTest { fixture: self, pipeline, folder, indexes, documents, jobs };
        test.check("after concurrent operations").await;
        test.end().await;
    }

    async fn expected(&self, document: Document) -> Expected {
        let text = async |revision| {
            let bytes = self.store.content(&document.id, revision).await.unwrap().unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let searchable = match document.searchable_revision {
            Some(revision) => Some((revision, text(revision).await)),
            None => None,
        };
        let classification =
            CLASSIFICATIONS.into_iter().find(|classification| *classification == document.classification).unwrap();
        let (text, status) = (text(document.revision).await, document.status);
        Expected {
            classification,
            revision: document.revision,
            text,
            searchable,
            status,
            lease_owner: None,
            awaits_retry: false,
        }
    }
}

/// Deterministic pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

async fn run_caller(store: Store, pipeline: Pipeline, seed: u64) {
    let mut random = Random(seed);
    for _ in 0..OPERATIONS {
        let all = store.documents(&pipeline.id, DocumentFilter::default(), "", 100).await.unwrap();
        let (classification, text) = (CLASSIFICATIONS[random.below(2) as usize], text_of(random.below(10) as usize));
        let Some(document) = all.get(random.below(all.len().max(1) as u64) as usize) else {
            let new = NewText { classification, text: &text, metadata: &Map::new() };
            try_add(&store, &pipeline, new).await.map(drop).or_else(ignore_conflict).unwrap();
            continue;
        };
        let change = DocumentUpdate { classification: Some(classification), filename: None, metadata: None };
        let digest = digest(&text);
        let new =
            NewContent { filename: "a", content_type: "text/plain", content: text.as_bytes().into(), sha256: &digest };
        let result = match random.below(8) {
            0..=2 => try_add(&store, &pipeline, NewText { classification, text: &text, metadata: &Map::new() })
                .await
                .map(drop),
            3 => store.cancel_document(document).await,
            4 => store.requeue_document(document).await,
            5 => store.replace_content(document, new).await,
            6 => store.update_document(document, change).await,
            _ => store.delete_document(&pipeline.id, &document.id).await.map(drop),
        };
        let is_expected = matches!(result, Ok(()) | Err(StoreError::Conflict | StoreError::DuplicateContent));
        assert!(is_expected, "{result:?}");
    }
}

fn ignore_conflict(error: StoreError) -> Result<(), StoreError> {
    if matches!(error, StoreError::Conflict) { Ok(()) } else { Err(error) }
}

async fn run_worker(store: Store, seed: u64) {
    let mut random = Random(seed ^ 0x5eed);
    for _ in 0..OPERATIONS {
        // Some leases expire at once, so that two workers use one job.
        let lease_ttl = if random.below(4) == 0 { Duration::ZERO } else { LONG };
        let Some(job) = store.lease_job(&pidq_http::uuid_v7(), lease_ttl).await.unwrap() else {
            tokio::task::yield_now().await;
            continue;
        };
        let _ = store.report_progress(&job, Status::Parsing, &Progress::default()).await.unwrap();
        let id = job.document_id.clone().unwrap();
        // A worker that lost the job may find no content.
        let Some(bytes) = store.content(&id, job.revision).await.unwrap() else { continue };
        match random.below(6) {
            0 => drop(store.fail_job(&job, &Progress::default(), None).await.unwrap()),
            1 => drop(store.fail_job(&job, &Progress::default(), Some(0)).await.unwrap()),
            2 => {}
            _ => drop(store.publish_document(&job, &ingested(&String::from_utf8(bytes).unwrap())).await.unwrap()),
        }
    }
}

struct StoreFixture {
    store: Store,
    database: Database,
    /// For each column of each table: the query that counts the rows with a text.
    columns: Vec<(String, &'static str)>,
}

/// Expected state of a document.
#[derive(Debug)]
struct Expected {
    classification: &'static str,
    revision: i64,
    text: String,
    /// The searchable revision and its text.
    searchable: Option<(i64, String)>,
    status: Status,
    /// The worker that holds the lease.
    lease_owner: Option<usize>,
    /// Waits for a retry.
    awaits_retry: bool,
}

/// A pipeline during a sequence of steps.
struct LifecycleTest<'w> {
    fixture: &'w StoreFixture,
    pipeline: Pipeline,
    folder: TempDir,
    indexes: IndexCache,
    documents: BTreeMap<String, Expected>,
    /// The last job of each worker, whose lease may have expired.
    jobs: [Option<Job>; 3],
}

impl StoreFixture {
    async fn open(database: Database) -> StoreFixture {
        let store = Store::open(database.clone()).await.unwrap();
        let columns = columns(&database).await;
        StoreFixture { store, database, columns }
    }

    async fn run_steps(&self, steps: &[Step]) {
        let pipeline = pipeline(&self.store, &CLASSIFICATIONS).await;
        let (documents, jobs) = (BTreeMap::new(), [None, None, None]);
        let folder = TempDir::new().unwrap();
        let indexes = snapshot_cache(&folder, 1 << 30);
        let mut test = LifecycleTest { fixture: self, pipeline, folder, indexes, documents, jobs };
        for (index, step) in steps.iter().enumerate() {
            test.apply(*step).await;
            test.check(&format!("after step {index}: {step:?}")).await;
        }
        test.end().await;
    }

    /// Checks that no selected column contains a text.
    async fn assert_absent(&self, text: &str, selects: impl Fn(&str) -> bool) {
        for (column, sql) in self.columns.iter().filter(|(column, _)| selects(column)) {
            let rows = self.database.row::<(i64,)>(sql, &[text.into()]).await.unwrap().unwrap().0;
            assert_eq!(rows, 0, "{text:?} is left in {column}");
        }
    }

    async fn count(&self, sql: &'static str, id: &str) -> i64 {
        self.database.row::<(i64,)>(sql, &[id.into()]).await.unwrap().unwrap().0
    }
}

/// Returns queries for a text in each column of every table.
async fn columns(database: &Database) -> Vec<(String, &'static str)> {
    let all: Vec<(String, String)> = match database.kind() {
        DatabaseKind::Sqlite => {
            let sql =
                "select m.name, c.name from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table'";
            database.rows(sql, &[]).await.unwrap()
        }
        DatabaseKind::Postgres => {
            let sql = "select cast(table_name as text), cast(column_name as text) from information_schema.columns
                where table_schema = 'public'";
            database.rows(sql, &[]).await.unwrap()
        }
    };
    assert!(all.len() > 60, "all tables of the schema");
    all.into_iter()
        .map(|(table, column)| {
            let hit = match database.kind() {
                DatabaseKind::Sqlite => format!("instr(cast(\"{column}\" as blob), cast($1 as blob)) > 0"),
                // Binary columns are cast to hexadecimal digits.
                DatabaseKind::Postgres => format!(
                    "position($1 in cast(\"{column}\" as text)) > 0 \
                     or position(encode(convert_to($1, 'UTF8'), 'hex') in cast(\"{column}\" as text)) > 0"
                ),
            };
            let sql = format!("select count(*) from \"{table}\" where {hit}");
            (format!("{table}.{column}"), &*Box::leak(sql.into_boxed_str()))
        })
        .collect()
}

const EXPIRE: &str = "update jobs set lease_until = 0 where id = $1";
const MAKE_DUE: &str = "update jobs set run_at = 0 where lease_owner is null";
const JOBS: &str = "select count(*) from jobs where document_id = $1";
const CONTENTS: &str = "select count(*) from document_contents where document_id = $1";

/// Prefixes of words that occur only in texts.
const WORDS: [&str; 3] = ["Quixotic", "Zephyr", "Xylograph"];

/// Returns a text of words that occur nowhere else in the database.
fn text_of(number: usize) -> String {
    format!("Quixotic{number:03} valve\nZephyr{number:03} pump\nXylograph{number:03} vessel")
}

impl LifecycleTest<'_> {
    fn store(&self) -> &Store {
        &self.fixture.store
    }

    fn select(&self, number: usize) -> Option<String> {
        let count = self.documents.len();
        (count > 0).then(|| self.documents.keys().nth(number % count).unwrap().clone())
    }

    async fn document(&self, id: &str) -> Document {
        self.store().document(&self.pipeline.id, id).await.unwrap().expect("the document exists")
    }

    /// Returns the document that a worker still holds.
    fn leased_document(&self, worker: usize) -> Option<String> {
        let id = self.jobs[worker].as_ref()?.document_id.clone()?;
        self.documents.get(&id).is_some_and(|expected| expected.lease_owner == Some(worker)).then_some(id)
    }

    fn has_duplicate(&self, classification: &str, text: &str, except: &str) -> bool {
        self.documents
            .iter()
            .any(|(id, other)| id != except && other.classification == classification && other.text == text)
    }

    async fn apply(&mut self, step: Step) {
        match step {
            Step::Add { classification, text } => self.add(CLASSIFICATIONS[classification], &text_of(text)).await,
            Step::Lease { worker } => self.lease(worker).await,
            Step::Report { worker, stage } => self.report(worker, stage).await,
            Step::Publish { worker } => self.publish(worker).await,
            Step::Fail { worker, retryable } => self.fail(worker, retryable).await,
            Step::ExpireLease { worker } => self.expire(worker).await,
            Step::MakeRetriesDue => {
                self.fixture.database.execute(MAKE_DUE, &[]).await.unwrap();
                self.documents.values_mut().for_each(|expected| expected.awaits_retry = false);
            }
            Step::Cancel { document } => self.cancel(document).await,
            Step::Retry { document } => self.retry(document).await,
            Step::Replace { document, text } => self.replace(document, &text_of(text)).await,
            Step::Reclassify { document, classification } => {
                self.reclassify(document, CLASSIFICATIONS[classification]).await
            }
            Step::Delete { document } => self.delete(document).await,
        }
    }

    async fn add(&mut self, classification: &'static str, text: &str) {
        let exists = self.has_duplicate(classification, text, "");
        let document = add(self.store(), &self.pipeline, classification, text).await;
        assert_eq!(self.documents.contains_key(&document.id), exists, "equal content is stored once");
        let expected = || Expected {
            classification,
            revision: 1,
            text: text.to_owned(),
            searchable: None,
            status: Status::Queued,
            lease_owner: None,
            awaits_retry: false,
        };
        self.documents.entry(document.id).or_insert_with(expected);
    }

    async fn lease(&mut self, worker: usize) {
        // A worker that leases another job has crashed before: its old lease expires.
        self.expire(worker).await;
        let job = self.store().lease_job(&format!("worker {worker}"), LONG).await.unwrap();
        let is_available = |expected: &Expected| {
            !expected.status.is_terminal() && expected.lease_owner.is_none() && !expected.awaits_retry
        };
        let Some(job) = job else {
            assert!(!self.documents.values().any(is_available), "a document waits without a worker");
            return;
        };
        let expected = self.documents.get_mut(job.document_id.as_ref().unwrap()).expect("a job of a document");
        assert!(is_available(expected), "two workers at {expected:?}");
        assert_eq!(job.revision, expected.revision);
        expected.lease_owner = Some(worker);
        self.jobs[worker] = Some(job);
    }

    async fn report(&mut self, worker: usize, stage: usize) {
        let Some(job) = self.jobs[worker].clone() else { return };
        let stage = [Status::Parsing, Status::Splitting, Status::Embedding, Status::Indexing][stage];
        let leased = self.leased_document(worker);
        assert_eq!(self.store().report_progress(&job, stage, &Progress::default()).await.unwrap(), leased.is_some());
        if let Some(id) = leased {
            self.documents.get_mut(&id).unwrap().status = stage;
        }
    }

    async fn publish(&mut self, worker: usize) {
        let Some(job) = self.jobs[worker].take() else { return };
        let leased = job
            .document_id
            .clone()
            .filter(|id| self.documents.get(id).is_some_and(|expected| expected.lease_owner == Some(worker)));
        let text = match &leased {
            Some(id) => {
                let bytes = self.store().content(id, job.revision).await.unwrap().unwrap();
                String::from_utf8(bytes).unwrap()
            }
            None => "from an expired worker".to_owned(),
        };
        let published = self.store().publish_document(&job, &ingested(&text)).await.unwrap();
        assert_eq!(published == PublishOutcome::Done, leased.is_some(), "{published:?}");
        if let Some(id) = leased {
            let expected = self.documents.get_mut(&id).unwrap();
            assert_eq!(text, expected.text);
            (expected.status, expected.lease_owner) = (Status::Ready, None);
            expected.searchable = Some((expected.revision, text));
        }
    }

    async fn fail(&mut self, worker: usize, retryable: bool) {
        let Some(job) = self.jobs[worker].clone() else { return };
        let leased = self.leased_document(worker);
        let retry_at = retryable.then(|| pidq_http::auth::Timestamp::now().0 + 3_600_000);
        assert_eq!(self.store().fail_job(&job, &Progress::default(), retry_at).await.unwrap(), leased.is_some());
        self.jobs[worker] = None;
        if let Some(id) = leased {
            let expected = self.documents.get_mut(&id).unwrap();
            (expected.lease_owner, expected.awaits_retry) = (None, retryable);
            expected.status = if retryable { Status::Queued } else { Status::Failed };
        }
    }

    async fn expire(&mut self, worker: usize) {
        let Some(id) = self.leased_document(worker) else { return };
        let job = self.jobs[worker].as_ref().unwrap();
        self.fixture.database.execute(EXPIRE, &[(&job.id).into()]).await.unwrap();
        self.documents.get_mut(&id).unwrap().lease_owner = None;
    }

    async fn cancel(&mut self, number: usize) {
        let Some(id) = self.select(number) else { return };
        self.store().cancel_document(&self.document(&id).await).await.unwrap();
        let expected = self.documents.get_mut(&id).unwrap();
        if !expected.status.is_terminal() {
            let searchable = expected.searchable.as_ref().is_some_and(|(revision, _)| *revision == expected.revision);
            expected.status = if searchable { Status::Ready } else { Status::Cancelled };
            (expected.lease_owner, expected.awaits_retry) = (None, false);
        }
    }

    async fn retry(&mut self, number: usize) {
        let Some(id) = self.select(number) else { return };
        let result = self.store().requeue_document(&self.document(&id).await).await;
        let expected = self.documents.get_mut(&id).unwrap();
        assert_eq!(result.is_ok(), expected.status.is_terminal(), "{result:?}");
        expected.status = if result.is_ok() { Status::Queued } else { expected.status };
    }

    async fn replace(&mut self, number: usize, text: &str) {
        let Some(id) = self.select(number) else { return };
        if self.documents[&id].text == text {
            return;
        }
        let digest = digest(text);
        let new = NewContent {
            filename: "a.txt",
            content_type: "text/plain",
            content: text.as_bytes().into(),
            sha256: &digest,
        };
        let result = self.store().replace_content(&self.document(&id).await, new).await;
        let is_duplicate = self.has_duplicate(self.documents[&id].classification, text, &id);
        let expected = self.documents.get_mut(&id).unwrap();
        match (expected.status.is_terminal(), is_duplicate) {
            (false, _) => assert!(matches!(result, Err(StoreError::Conflict)), "{result:?}"),
            (true, true) => assert!(matches!(result, Err(StoreError::DuplicateContent)), "{result:?}"),
            (true, false) => {
                result.unwrap();
                expected.revision += 1;
                (expected.status, expected.text) = (Status::Queued, text.to_owned());
            }
        }
    }

    async fn reclassify(&mut self, number: usize, classification: &'static str) {
        let Some(id) = self.select(number) else { return };
        let change = DocumentUpdate { classification: Some(classification), filename: None, metadata: None };
        let result = self.store().update_document(&self.document(&id).await, change).await;
        let is_duplicate = self.has_duplicate(classification, &self.documents[&id].text, &id);
        assert_eq!(result.is_ok(), !is_duplicate, "{result:?}");
        if !is_duplicate {
            self.documents.get_mut(&id).unwrap().classification = classification;
        }
    }

    async fn delete(&mut self, number: usize) {
        let Some(id) = self.select(number) else { return };
        assert!(self.store().delete_document(&self.pipeline.id, &id).await.unwrap());
        let deleted = self.documents.remove(&id).unwrap();
        // Events and the audit may still contain its id.
        let tables = ["documents.", "contents.", "chunks.", "jobs."];
        self.fixture.assert_absent(&id, |column| tables.iter().any(|table| column.starts_with(table))).await;
        for text in [Some(deleted.text), deleted.searchable.map(|searchable| searchable.1)].into_iter().flatten() {
            let is_used = |other: &Expected| {
                other.text == text || other.searchable.as_ref().is_some_and(|searchable| searchable.1 == text)
            };
            if !self.documents.values().any(is_used) {
                self.fixture.assert_absent(text.split(' ').next().unwrap(), |_| true).await;
            }
        }
    }

    async fn check(&self, context: &str) {
        for (id, expected) in &self.documents {
            let document = self.document(id).await;
            assert_eq!((document.status, document.revision), (expected.status, expected.revision), "{context}");
            assert_eq!(
                document.searchable_revision,
                expected.searchable.as_ref().map(|searchable| searchable.0),
                "{context}"
            );
            let jobs = i64::from(!expected.status.is_terminal());
            assert_eq!(self.fixture.count(JOBS, id).await, jobs, "{context}: {expected:?}");
            let old = expected.searchable.as_ref().is_some_and(|searchable| searchable.0 != expected.revision);
            assert_eq!(self.fixture.count(CONTENTS, id).await, 1 + i64::from(old), "{context}: {expected:?}");
        }
        for (worker, job) in self.jobs.iter().enumerate() {
            let Some(job) = job else { continue };
            let holds = self.store().renew_job_lease(job, LONG).await.unwrap();
            assert_eq!(holds, self.leased_document(worker).is_some(), "{context}: worker {worker}");
        }
        for classification in CLASSIFICATIONS {
            // Loaded from the snapshot of the previous step, if any.
            loaded_from_snapshot(&self.folder, self.store(), &self.pipeline, classification).await;
            self.check_partition(classification, context).await;
        }
        save(&self.indexes, self.store()).await;
        self.check_files(context).await;
    }

    /// Checks that snapshots contain no plain text and exist only for partitions with documents.
    async fn check_files(&self, context: &str) {
        self.indexes.remove_obsolete_snapshots(self.store()).await.unwrap();
        for file in files(&self.folder) {
            let bytes = std::fs::read(file).unwrap();
            for word in WORDS {
                assert!(!bytes.windows(word.len()).any(|window| window == word.as_bytes()), "{context}: {word}");
            }
        }
        let has_documents = |classification: &&str| {
            self.documents
                .values()
                .any(|document| document.classification == *classification && document.searchable.is_some())
        };
        let classifications =
            CLASSIFICATIONS.into_iter().filter(|classification| has_documents(classification)).count();
        assert_eq!(files(&self.folder).len(), classifications, "{context}");
    }

    /// Checks that a partition has exactly the searchable documents of its classification, in the right revision.
    async fn check_partition(&self, classification: &str, context: &str) {
        let index = self.indexes.get(self.store(), &self.pipeline, classification).await.unwrap();
        let index = index.read().await;
        let mut searchable: Vec<_> =
            index.documents.iter().map(|(id, document)| (id.as_str(), document.revision)).collect();
        searchable.sort_unstable();
        let by_classification = self.documents.iter().filter(|(_, expected)| expected.classification == classification);
        let expected: Vec<_> =
            by_classification.filter_map(|(id, expected)| Some((id.as_str(), expected.searchable.as_ref()?))).collect();
        assert_eq!(
            searchable,
            expected.iter().map(|(id, searchable)| (*id, searchable.0)).collect::<Vec<_>>(),
            "{context}: {classification}"
        );
        let lines: usize = expected.iter().map(|(_, searchable)| searchable.1.lines().count()).sum();
        assert_eq!((index.partition.len(), index.chunks.len()), (lines, lines), "{context}: {classification}");
    }

    /// Deletes everything and checks that no data is left.
    async fn end(mut self) {
        while !self.documents.is_empty() {
            self.delete(0).await;
        }
        for word in WORDS {
            self.fixture.assert_absent(word, |_| true).await;
        }
        self.check("at the end").await;
        assert!(self.store().delete_pipeline(&self.pipeline.id).await.unwrap());
    }
}
