//! Work as leased rows: never two at one document, never a lost one, and nothing left of what was deleted.

use std::time::Duration;

use pidq_pipeline::records::{Document, Progress, Status};
use pidq_pipeline::store::{Job, Published, Stage, Store};

use crate::stored;

const LONG: Duration = Duration::from_secs(60);
const OVER: Duration = Duration::ZERO;

#[tokio::test]
async fn a_job_is_held_by_one_worker() {
    on_each(async |store| {
        document(&store, "a").await;
        let job = taken(&store, "one", LONG).await;
        assert!(store.take_job("two", LONG).await.unwrap().is_none(), "it is held");
        assert!(store.report(&job, Status::Parsing, &Progress::default()).await.unwrap());
        assert!(store.hold_job(&job, LONG).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_job_whose_worker_died_is_taken_again_and_the_dead_write_nothing() {
    on_each(async |store| {
        let document = document(&store, "a").await;
        let dead = taken(&store, "one", OVER).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        let job = taken(&store, "two", LONG).await;
        assert_eq!((dead.attempts, job.attempts), (1, 2));
        assert!(!store.report(&dead, Status::Parsing, &Progress::default()).await.unwrap());
        assert_eq!(store.publish(&dead, &stored::read("of the dead")).await.unwrap(), Published::Unwanted);
        assert!(!store.hold_job(&dead, LONG).await.unwrap());
        assert_eq!(store.publish(&job, &stored::read("of the living")).await.unwrap(), Published::Done);
        let chunks = store.chunks(&document.id, 1, 1).await.unwrap();
        assert_eq!(chunks.iter().map(|stored| stored.chunk.content.as_str()).collect::<Vec<_>>(), ["of the living"]);
        let ready = store.document(&document.pipeline_id, &document.id).await.unwrap().unwrap();
        assert_eq!((ready.status, ready.searchable_revision, ready.attempts), (Status::Ready, Some(1), 2));
        assert!(store.take_job("three", LONG).await.unwrap().is_none(), "it is done");
    })
    .await;
}

#[tokio::test]
async fn stages_that_nobody_was_told_of_are_told_with_the_end_each_at_its_time() {
    on_each(async |store| {
        let document = document(&store, "a").await;
        let job = taken(&store, "one", LONG).await;
        for stages in [&[Status::Parsing][..], &[Status::Splitting, Status::Embedding, Status::Indexing]] {
            let job = job.with_untold(stages.iter().zip(1..).map(|(&status, at)| Stage { status, at }).collect());
            if stages.len() == 1 {
                assert!(store.report(&job, Status::Parsing, &Progress::default()).await.unwrap());
            } else {
                assert_eq!(store.publish(&job, &stored::read("text")).await.unwrap(), Published::Done);
            }
        }
        while store.place_events(100).await.unwrap() > 0 {}
        let events = store.events_after(0, 100).await.unwrap();
        let of_document = events.iter().filter(|event| event.document_id.as_ref() == Some(&document.id));
        let mut told: Vec<_> = of_document.map(|event| (event.happened_at, event.details["status"].clone())).collect();
        told.sort_by_key(|(at, _)| *at);
        let early: Vec<_> = told.iter().filter(|(at, _)| *at < 10).map(|(at, status)| (*at, status.as_str())).collect();
        assert_eq!(early[2..], [(2, Some("embedding")), (3, Some("indexing"))], "{told:?}");
        assert!(early[..2].contains(&(1, Some("parsing"))) && early[..2].contains(&(1, Some("splitting"))), "{told:?}");
        let late: Vec<_> = told[4..].iter().map(|(_, status)| status.as_str()).collect();
        assert_eq!(late, [Some("queued"), Some("ready")]);
    })
    .await;
}

#[tokio::test]
async fn what_is_deleted_while_it_is_read_leaves_nothing() {
    on_each(async |store| {
        let document = document(&store, "a").await;
        let job = taken(&store, "one", LONG).await;
        assert!(store.delete_document(&document.pipeline_id, &document.id).await.unwrap());
        assert!(!store.report(&job, Status::Embedding, &Progress::default()).await.unwrap());
        assert_eq!(store.publish(&job, &stored::read("too late")).await.unwrap(), Published::Unwanted);
        assert!(store.chunks(&document.id, 1, 1).await.unwrap().is_empty());
        assert!(store.searchable(&document.pipeline_id, "manual").await.unwrap().is_empty());
        assert!(store.content(&document.id, 1).await.unwrap().is_none());
        assert!(!store.delete_document(&document.pipeline_id, &document.id).await.unwrap(), "once is enough");
    })
    .await;
}

#[tokio::test]
async fn a_document_that_waits_for_a_model_was_not_tried() {
    on_each(async |store| {
        document(&store, "a").await;
        let later = pidq_http::auth::Moment::now().0 + 60_000;
        for _ in 0..9 {
            let job = taken(&store, "one", LONG).await;
            assert_eq!(job.attempts, 1);
            store.note_outage("hash-512", "it is silent").await.unwrap();
            assert!(store.postpone(&job, &Progress::default(), later).await.unwrap());
            assert!(!store.postpone(&job, &Progress::default(), later).await.unwrap(), "it is held no more");
            assert!(store.take_job("two", LONG).await.unwrap().is_none(), "not yet");
            let outages = store.outages().await.unwrap();
            assert_eq!((outages.len(), outages[0].model.as_str(), outages[0].dimensions), (1, "hash-512", Some(512)));
            store.end_outage("hash-512").await.unwrap();
        }
        assert!(store.outages().await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_document_that_fails_for_a_while_is_tried_again_in_its_time() {
    on_each(async |store| {
        let document = document(&store, "a").await;
        let job = taken(&store, "one", LONG).await;
        let later = pidq_http::auth::Moment::now().0 + 60_000;
        assert!(store.fail(&job, &Progress::default(), Some(later)).await.unwrap());
        let queued = store.document(&document.pipeline_id, &document.id).await.unwrap().unwrap();
        assert_eq!((queued.status, queued.attempts), (Status::Queued, 1));
        assert!(store.take_job("two", LONG).await.unwrap().is_none(), "not yet");
        store.cancel_document(&queued).await.unwrap();
        let cancelled = store.document(&document.pipeline_id, &document.id).await.unwrap().unwrap();
        assert_eq!(cancelled.status, Status::Cancelled);
    })
    .await;
}

#[tokio::test]
async fn a_document_that_is_not_read_again_after_all_is_what_it_was() {
    on_each(async |store| {
        let document = document(&store, "one\ntwo").await;
        let job = taken(&store, "one", LONG).await;
        let read = stored::read("one\ntwo");
        assert_eq!(store.publish(&job, &read).await.unwrap(), Published::Done);
        let ready = store.document(&document.pipeline_id, &document.id).await.unwrap().unwrap();
        store.read_again(&ready).await.unwrap();
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
                while let Some(job) = store.take_job(&format!("worker {worker}"), LONG).await.unwrap() {
                    assert_eq!(store.publish(&job, &stored::read("text")).await.unwrap(), Published::Done);
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
        assert_eq!(all.len(), 40, "each once");
    })
    .await;
}

async fn on_each(test: impl AsyncFn(Store)) {
    stored::on_each(async |store, _| test(store).await).await;
}

async fn taken(store: &Store, worker: &str, hold: Duration) -> Job {
    store.take_job(worker, hold).await.unwrap().expect("a job")
}

/// A document of its own pipeline, or of the one that is there.
async fn document(store: &Store, text: &str) -> Document {
    let pipeline = match store.pipelines("", Default::default(), 1).await.unwrap().pop() {
        Some(pipeline) => pipeline,
        None => stored::wide_pipeline(store, &["manual"]).await,
    };
    stored::add(store, &pipeline, "manual", text).await
}
