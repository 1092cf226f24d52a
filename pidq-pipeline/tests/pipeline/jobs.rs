//! Tests of jobs and leases: one worker per document, no lost document, and no data left after deletion.

use std::time::Duration;

use pidq_store::domain::model::{Document, Progress, Status};
use pidq_store::{Job, PublishOutcome, StageTransition, Store};

use crate::store_fixtures;

const LONG: Duration = Duration::from_secs(60);
const EXPIRED: Duration = Duration::ZERO;

#[tokio::test]
async fn a_job_is_leased_by_one_worker() {
    on_each(async |store| {
        document(&store, "a").await;
        let job = lease(&store, "one", LONG).await;
        assert!(store.lease_job("two", LONG).await.unwrap().is_none(), "the job is leased");
        assert!(store.report_progress(&job, Status::Parsing, &Progress::default()).await.unwrap());
        assert!(store.renew_job_lease(&job, LONG).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn the_oldest_job_ages_until_a_worker_runs_it() {
    on_each(async |store| {
        assert_eq!(store.oldest_job_age().await.unwrap(), Duration::ZERO, "there is none");
        document(&store, "a").await;
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert!(store.oldest_job_age().await.unwrap() >= Duration::from_millis(30));
        lease(&store, "one", Duration::from_millis(50)).await;
        assert_eq!(store.oldest_job_age().await.unwrap(), Duration::ZERO, "it runs");
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(store.oldest_job_age().await.unwrap() >= Duration::from_millis(130), "its worker has ended");
    })
    .await;
}

#[tokio::test]
async fn an_expired_lease_is_reassigned_and_its_worker_cannot_write() {
    on_each(async |store| {
        let document = document(&store, "a").await;
        let expired = lease(&store, "one", EXPIRED).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        let job = lease(&store, "two", LONG).await;
        assert_eq!((expired.attempts, job.attempts), (1, 2));
        assert!(!store.report_progress(&expired, Status::Parsing, &Progress::default()).await.unwrap());
        assert_eq!(
            store.publish_document(&expired, &store_fixtures::ingested("from the expired worker")).await.unwrap(),
            PublishOutcome::Discarded
        );
        assert!(!store.renew_job_lease(&expired, LONG).await.unwrap());
        assert_eq!(
            store.publish_document(&job, &store_fixtures::ingested("from the current worker")).await.unwrap(),
            PublishOutcome::Done
        );
        let chunks = store.chunks(&document.id, 1, 1).await.unwrap();
        assert_eq!(
            chunks.iter().map(|stored| stored.chunk.content.as_str()).collect::<Vec<_>>(),
            ["from the current worker"]
        );
        let ready = store.document(&document.pipeline_id, &document.id).await.unwrap().unwrap();
        assert_eq!((ready.status, ready.searchable_revision, ready.attempts), (Status::Ready, Some(1), 2));
        assert!(store.lease_job("three", LONG).await.unwrap().is_none(), "the job is done");
    })
    .await;
}

#[tokio::test]
async fn pending_stages_become_events_with_their_own_times() {
    on_each(async |store| {
        let document = document(&store, "a").await;
        let job = lease(&store, "one", LONG).await;
        for stages in [&[Status::Parsing][..], &[Status::Splitting, Status::Embedding, Status::Indexing]] {
            let job = job.with_pending_stages(
                stages.iter().zip(1..).map(|(&status, at)| StageTransition { status, at }).collect(),
            );
            if stages.len() == 1 {
                assert!(store.report_progress(&job, Status::Parsing, &Progress::default()).await.unwrap());
            } else {
                assert_eq!(
                    store.publish_document(&job, &store_fixtures::ingested("text")).await.unwrap(),
                    PublishOutcome::Done
                );
            }
        }
        while store.assign_positions(100).await.unwrap() > 0 {}
        let events = store.events_after(0, 100).await.unwrap();
        let of_document = events.iter().filter(|event| event.document_id.as_ref() == Some(&document.id));
        let mut recorded: Vec<_> =
            of_document.map(|event| (event.happened_at, event.details["status"].clone())).collect();
        recorded.sort_by_key(|(at, _)| *at);
        let early: Vec<_> =
            recorded.iter().filter(|(at, _)| *at < 10).map(|(at, status)| (*at, status.as_str())).collect();
        assert_eq!(early[2..], [(2, Some("embedding")), (3, Some("indexing"))], "{recorded:?}");
        assert!(
            early[..2].contains(&(1, Some("parsing"))) && early[..2].contains(&(1, Some("splitting"))),
            "{recorded:?}"
        );
        let late: Vec<_> = recorded[4..].iter().map(|(_, status)| status.as_str()).collect();
        assert_eq!(late, [Some("queued"), Some("ready")]);
    })
    .await;
}

#[tokio::test]
async fn a_document_deleted_during_ingestion_leaves_no_data() {
    on_each(async |store| {
        let document = document(&store, "a").await;
        let job = lease(&store, "one", LONG).await;
        assert!(store.delete_document(&document.pipeline_id, &document.id).await.unwrap());
        assert!(!store.report_progress(&job, Status::Embedding, &Progress::default()).await.unwrap());
        assert_eq!(
            store.publish_document(&job, &store_fixtures::ingested("too late")).await.unwrap(),
            PublishOutcome::Discarded
        );
        assert!(store.chunks(&document.id, 1, 1).await.unwrap().is_empty());
        assert!(store.searchable_documents(&document.pipeline_id, "manual").await.unwrap().is_empty());
        assert!(store.content(&document.id, 1).await.unwrap().is_none());
        assert!(!store.delete_document(&document.pipeline_id, &document.id).await.unwrap(), "already deleted");
    })
    .await;
}

#[tokio::test]
async fn a_postponed_job_counts_no_attempt() {
    on_each(async |store| {
        document(&store, "a").await;
        let retry_at = pidq_http::auth::Timestamp::now().0 + 60_000;
        for _ in 0..9 {
            let job = lease(&store, "one", LONG).await;
            assert_eq!(job.attempts, 1);
            store.record_outage("hash-512", "the service does not respond").await.unwrap();
            assert!(store.postpone_document(&job, &Progress::default(), retry_at).await.unwrap());
            assert!(
                !store.postpone_document(&job, &Progress::default(), retry_at).await.unwrap(),
                "the lease has ended"
            );
            assert!(store.lease_job("two", LONG).await.unwrap().is_none(), "not yet");
            let outages = store.outages().await.unwrap();
            assert_eq!((outages.len(), outages[0].model.as_str(), outages[0].dimensions), (1, "hash-512", Some(512)));
            store.end_outage("hash-512").await.unwrap();
        }
        assert!(store.outages().await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_retryable_failure_is_retried_at_its_time() {
    on_each(async |store| {
        let document = document(&store, "a").await;
        let job = lease(&store, "one", LONG).await;
        let retry_at = pidq_http::auth::Timestamp::now().0 + 60_000;
        assert!(store.fail_job(&job, &Progress::default(), Some(retry_at)).await.unwrap());
        let queued = store.document(&document.pipeline_id, &document.id).await.unwrap().unwrap();
        assert_eq!((queued.status, queued.attempts), (Status::Queued, 1));
        assert!(store.lease_job("two", LONG).await.unwrap().is_none(), "not yet");
        store.cancel_document(&queued).await.unwrap();
        let cancelled = store.document(&document.pipeline_id, &document.id).await.unwrap().unwrap();
        assert_eq!(cancelled.status, Status::Cancelled);
    })
    .await;
}

#[tokio::test]
async fn cancelling_a_requeued_document_restores_its_state() {
    on_each(async |store| {
        let document = document(&store, "one\ntwo").await;
        let job = lease(&store, "one", LONG).await;
        let ingested_document = store_fixtures::ingested("one\ntwo");
        assert_eq!(store.publish_document(&job, &ingested_document).await.unwrap(), PublishOutcome::Done);
        let ready = store.document(&document.pipeline_id, &document.id).await.unwrap().unwrap();
        store.requeue_document(&ready).await.unwrap();
        let queued = store.document(&document.pipeline_id, &document.id).await.unwrap().unwrap();
        store.cancel_document(&queued).await.unwrap();
        let now = store.document(&document.pipeline_id, &document.id).await.unwrap().unwrap();
        assert_eq!((now.status, now.progress.chunk_count, now.progress.page_count), (Status::Ready, Some(2), Some(0)));
    })
    .await;
}

#[tokio::test]
async fn many_workers_share_many_jobs() {
    on_each(async |store| {
        for number in 0..40 {
            document(&store, &format!("text {number}")).await;
        }
        let workers = (0..8).map(|worker| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut done = Vec::new();
                while let Some(job) = store.lease_job(&format!("worker {worker}"), LONG).await.unwrap() {
                    assert_eq!(
                        store.publish_document(&job, &store_fixtures::ingested("text")).await.unwrap(),
                        PublishOutcome::Done
                    );
                    done.extend(job.document_id);
                }
                done
            })
        });
        let mut all = Vec::new();
        for worker in workers.collect::<Vec<_>>() {
            all.extend(worker.await.unwrap());
        }
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 40, "each document once");
    })
    .await;
}

async fn on_each(test: impl AsyncFn(Store)) {
    store_fixtures::on_each(async |store, _| test(store).await).await;
}

async fn lease(store: &Store, worker: &str, lease_ttl: Duration) -> Job {
    store.lease_job(worker, lease_ttl).await.unwrap().expect("a job")
}

/// Adds a document to the existing pipeline, or to a new one.
async fn document(store: &Store, text: &str) -> Document {
    let pipeline = match store.pipelines("", Default::default(), 1).await.unwrap().pop() {
        Some(pipeline) => pipeline,
        None => store_fixtures::wide_pipeline(store, &["manual"]).await,
    };
    store_fixtures::add(store, &pipeline, "manual", text).await
}
