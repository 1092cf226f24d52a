//! The index cache: partitions equal the database however they were loaded, and stay within the memory budget.

use std::time::Duration;

use pidq_pipeline::retrieval::index_cache::IndexCache;
use pidq_store::domain::model::Pipeline;
use pidq_store::{PublishOutcome, Store};

use crate::store_fixtures::{add, ingested, on_each, pipeline};

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn chunks_are_loaded_unchanged_in_any_number() {
    on_each(async |store, _| {
        let pipeline = pipeline(&store, &["manual"]).await;
        for lines in [1, 7, 8, 9, 63, 64, 65, 200] {
            let text: String = (0..lines).map(|line| format!("line {line} of {lines}\n")).collect();
            let id = ready(&store, &pipeline, "manual", &text).await;
            let stored = store.chunks(&id, 1, 1).await.unwrap();
            let (numbers, chunks): (Vec<_>, Vec<_>) =
                stored.into_iter().map(|stored| (stored.number, stored.chunk)).unzip();
            assert_eq!(numbers, (0..lines).collect::<Vec<i64>>());
            assert_eq!(chunks, ingested(&text).chunks);
        }
    })
    .await;
}

#[tokio::test]
async fn a_chunk_above_the_batch_size_is_stored_alone() {
    on_each(async |store, _| {
        let pipeline = pipeline(&store, &["manual"]).await;
        let text = format!("short\n{}\nshort too\n", "long ".repeat(1 << 20));
        let id = ready(&store, &pipeline, "manual", &text).await;
        let lengths: Vec<usize> =
            store.chunks(&id, 1, 1).await.unwrap().iter().map(|stored| stored.chunk.content.len()).collect();
        assert_eq!(lengths, [5, 5 << 20, 9]);
    })
    .await;
}

#[tokio::test]
async fn a_partition_is_equal_however_it_was_loaded() {
    on_each(async |store, _| {
        let pipeline = pipeline(&store, &["manual", "datasheet"]).await;
        let updated = IndexCache::default();
        let mut ids = Vec::new();
        for number in 0..70 {
            ids.push(ready(&store, &pipeline, "manual", &format!("valve {number}\npump {number}")).await);
            ready(&store, &pipeline, "datasheet", &format!("secret {number}")).await;
            // Updated one by one at first, and then in one batch.
            if number % 5 == 0 && number < 20 || number == 69 {
                updated.get(&store, &pipeline, "manual").await.unwrap();
            }
        }
        for id in ids.iter().step_by(3) {
            assert!(store.delete_document(&pipeline.id, id).await.unwrap());
        }
        let updated = updated.get(&store, &pipeline, "manual").await.unwrap();
        let loaded = IndexCache::default().get(&store, &pipeline, "manual").await.unwrap();
        let (updated, loaded) = (updated.read().await, loaded.read().await);
        assert_eq!(loaded.partition.len(), 2 * (70 - 24));
        assert_eq!(updated.partition.to_bytes(), loaded.partition.to_bytes());
        assert_eq!((&updated.documents, &updated.chunks), (&loaded.documents, &loaded.chunks));
    })
    .await;
}

#[tokio::test]
async fn the_least_recently_used_partition_is_evicted_unless_in_use() {
    on_each(async |store, _| {
        let classifications = ["a", "b", "c"];
        let pipeline = pipeline(&store, &classifications).await;
        for classification in classifications {
            ready(&store, &pipeline, classification, &format!("valve {classification}\n").repeat(50)).await;
        }
        let all = IndexCache::default();
        for classification in classifications {
            all.get(&store, &pipeline, classification).await.unwrap();
        }
        let one = all.bytes() / 3;
        let indexes = IndexCache::new(2 * one + one / 2);
        let used = indexes.get(&store, &pipeline, "a").await.unwrap();
        for classification in ["b", "c", "b", "c"] {
            drop(indexes.get(&store, &pipeline, classification).await.unwrap());
            assert!(indexes.bytes() <= 2 * one + one / 2, "{classification}");
        }
        let again = indexes.get(&store, &pipeline, "a").await.unwrap();
        assert!(std::sync::Arc::ptr_eq(&used, &again), "a partition in use is not evicted");
        let b = indexes.get(&store, &pipeline, "b").await.unwrap();
        assert_eq!(b.read().await.partition.len(), 50, "an evicted partition is loaded again");
        let none = IndexCache::new(0);
        let large = none.get(&store, &pipeline, "a").await.unwrap();
        assert_eq!(large.read().await.partition.len(), 50, "a single partition may exceed the budget");
    })
    .await;
}

/// Adds an indexed document with one chunk per line.
pub async fn ready(store: &Store, pipeline: &Pipeline, classification: &str, text: &str) -> String {
    let document = add(store, pipeline, classification, text).await;
    let job = store.lease_job("worker", LONG).await.unwrap().expect("a job");
    assert_eq!(job.document_id.as_ref(), Some(&document.id));
    assert_eq!(store.publish_document(&job, &ingested(text)).await.unwrap(), PublishOutcome::Done);
    document.id
}
