//! Tests of index snapshots: they equal built partitions and contain no deleted data.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use pidq_pipeline::retrieval::index_cache::{IndexCache, SnapshotFiles};
use pidq_store::domain::model::Pipeline;
use pidq_store::{DocumentUpdate, Store};
use serde_json::{Map, json};
use tempfile::TempDir;

use crate::index_cache::ready;
use crate::store_fixtures::{NewText, add_text, ingested, on_each, pipeline, wide_pipeline};

const LARGE_BUDGET: u64 = 1 << 30;

/// Returns a cache with snapshots in a folder, without a minimum size.
pub fn snapshot_cache(folder: &TempDir, budget: u64) -> IndexCache {
    IndexCache::default().with_snapshots(SnapshotFiles::new(folder.path().join("snapshots"), budget).with_min_chunks(1))
}

/// Writes all open partitions.
pub async fn save(indexes: &IndexCache, store: &Store) {
    indexes.save(store, Duration::ZERO).await.unwrap();
}

/// Checks that a partition is equal with and without snapshots. Returns `true` if it was loaded from a snapshot.
pub async fn loaded_from_snapshot(folder: &TempDir, store: &Store, pipeline: &Pipeline, classification: &str) -> bool {
    let cache = snapshot_cache(folder, LARGE_BUDGET);
    let cached = cache.get(store, pipeline, classification).await.unwrap();
    let built = IndexCache::default().get(store, pipeline, classification).await.unwrap();
    let (cached, built) = (cached.read().await, built.read().await);
    assert!(cached.partition.to_bytes() == built.partition.to_bytes(), "{classification}");
    assert_eq!((&cached.documents, &cached.chunks), (&built.documents, &built.chunks));
    assert_eq!(cached.change_count(), built.change_count());
    counter(&cache, |snapshots| &snapshots.loaded) > 0
}

fn counter(indexes: &IndexCache, select: impl Fn(&SnapshotFiles) -> &AtomicU64) -> u64 {
    select(indexes.snapshots().unwrap()).load(Relaxed)
}

pub fn files(folder: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path().join("snapshots")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Creates a pipeline with documents and writes its snapshot.
async fn create_snapshot(store: &Store, folder: &TempDir, documents: usize) -> (Pipeline, Vec<String>, IndexCache) {
    let pipeline = pipeline(store, &["manual"]).await;
    let mut ids = Vec::new();
    for number in 0..documents {
        ids.push(ready(store, &pipeline, "manual", &format!("quixotic{number} valve\npump {number}")).await);
    }
    let indexes = snapshot_cache(folder, LARGE_BUDGET);
    indexes.get(store, &pipeline, "manual").await.unwrap();
    save(&indexes, store).await;
    assert_eq!(files(folder).len(), 1);
    (pipeline, ids, indexes)
}

#[tokio::test]
async fn a_snapshot_equals_the_built_partition_bit_for_bit() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let pipeline = wide_pipeline(&store, &["manual"]).await;
        for number in 0..40 {
            let metadata = json!({"pressure": 0.1 * f64::from(number) / 3.0, "big": u64::MAX, "of": [null, {"a": -1}]});
            let metadata: Map<_, _> = metadata.as_object().unwrap().clone();
            let text = format!("valve {number}\npump P-{number}");
            add_text(&store, &pipeline, NewText { classification: "manual", text: &text, metadata: &metadata }).await;
            let job = store.lease_job("worker", Duration::from_secs(60)).await.unwrap().unwrap();
            let mut document = ingested(&text);
            for (index, chunk) in document.chunks.iter_mut().enumerate() {
                let numbers = (0..512).map(|dimension| ((dimension * 7 + index * 3) as f32 + number as f32).sin());
                chunk.vector = numbers.flat_map(f32::to_le_bytes).collect();
                chunk.page = (index > 0).then_some(index as i64);
            }
            store.publish_document(&job, &document).await.unwrap();
        }
        let indexes = snapshot_cache(&folder, LARGE_BUDGET);
        indexes.get(&store, &pipeline, "manual").await.unwrap();
        assert!(!loaded_from_snapshot(&folder, &store, &pipeline, "manual").await, "no snapshot exists yet");
        save(&indexes, &store).await;
        assert!(loaded_from_snapshot(&folder, &store, &pipeline, "manual").await);
        save(&indexes, &store).await;
        assert_eq!(counter(&indexes, |snapshots| &snapshots.written), 1, "nothing changed since");
        // Headers are indexed: a snapshot with headers is invalid for a pipeline without them.
        let mut plain = pipeline.clone();
        plain.options.chunk_header = Some(false);
        assert!(!loaded_from_snapshot(&folder, &store, &plain, "manual").await);
    })
    .await;
}

#[tokio::test]
async fn an_older_snapshot_is_completed_from_the_database() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let (pipeline, _, indexes) = create_snapshot(&store, &folder, 5).await;
        ready(&store, &pipeline, "manual", "vessel 5").await;
        assert!(loaded_from_snapshot(&folder, &store, &pipeline, "manual").await);
        indexes.get(&store, &pipeline, "manual").await.unwrap();
        save(&indexes, &store).await;
        assert_eq!(files(&folder).len(), 1, "the old snapshot is replaced");
        assert!(loaded_from_snapshot(&folder, &store, &pipeline, "manual").await);
    })
    .await;
}

#[tokio::test]
async fn a_stale_partition_is_not_written() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let (pipeline, ids, indexes) = create_snapshot(&store, &folder, 3).await;
        assert!(store.delete_document(&pipeline.id, &ids[0]).await.unwrap());
        // The open partition is not refreshed yet.
        save(&indexes, &store).await;
        assert_eq!(counter(&indexes, |snapshots| &snapshots.written), 1);
        assert!(!loaded_from_snapshot(&folder, &store, &pipeline, "manual").await);
    })
    .await;
}

#[tokio::test]
async fn a_snapshot_with_deleted_replaced_or_moved_documents_is_rejected() {
    on_each(async |store, _| {
        let pipeline = pipeline(&store, &["manual", "datasheet"]).await;
        let mut ids = Vec::new();
        for number in 0..4 {
            ids.push(ready(&store, &pipeline, "manual", &format!("quixotic{number}\npump {number}")).await);
        }
        for (index, id) in ids.iter().enumerate() {
            let folder = TempDir::new().unwrap();
            let indexes = snapshot_cache(&folder, LARGE_BUDGET);
            indexes.get(&store, &pipeline, "manual").await.unwrap();
            save(&indexes, &store).await;
            let before = files(&folder);
            let copy = fs::read(&before[0]).unwrap();
            assert!(!copy.windows(8).any(|window| window == b"quixotic"), "the file contains plain text");
            let document = store.document(&pipeline.id, id).await.unwrap().unwrap();
            let metadata = Map::new();
            let change = match index {
                0 => {
                    store.requeue_document(&document).await.unwrap();
                    let job = store.lease_job("worker", Duration::from_secs(60)).await.unwrap().unwrap();
                    store.publish_document(&job, &ingested("another text")).await.unwrap();
                    None
                }
                1 => Some(DocumentUpdate { classification: Some("datasheet"), filename: None, metadata: None }),
                2 => Some(DocumentUpdate { classification: None, filename: None, metadata: Some(&metadata) }),
                _ => {
                    assert!(store.delete_document(&pipeline.id, id).await.unwrap());
                    None
                }
            };
            if let Some(change) = change {
                store.update_document(&document, change).await.unwrap();
            }
            assert!(!loaded_from_snapshot(&folder, &store, &pipeline, "manual").await, "{index}");
            indexes.remove_obsolete_snapshots(&store).await.unwrap();
            assert_eq!(files(&folder), Vec::<PathBuf>::new(), "{index}");
            // Restoring the old file has no effect, under the new name either.
            indexes.get(&store, &pipeline, "manual").await.unwrap();
            save(&indexes, &store).await;
            fs::write(&before[0], &copy).unwrap();
            fs::write(files(&folder).into_iter().find(|file| *file != before[0]).unwrap(), &copy).unwrap();
            assert!(!loaded_from_snapshot(&folder, &store, &pipeline, "manual").await, "{index}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_truncated_or_modified_snapshot_is_ignored() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let (pipeline, ..) = create_snapshot(&store, &folder, 20).await;
        let file = files(&folder).remove(0);
        let whole = fs::read(&file).unwrap();
        for index in (0..whole.len()).step_by(whole.len() / 7).chain([1, 31, 32, 33, whole.len() - 1]) {
            fs::write(&file, &whole[..index]).unwrap();
            assert!(!loaded_from_snapshot(&folder, &store, &pipeline, "manual").await, "cut at {index}");
            assert!(!file.exists(), "an invalid file is deleted");
            let mut changed = whole.clone();
            changed[index] ^= 1 << (index % 8);
            fs::write(&file, &changed).unwrap();
            assert!(!loaded_from_snapshot(&folder, &store, &pipeline, "manual").await, "changed at {index}");
        }
        fs::write(&file, &whole).unwrap();
        assert!(loaded_from_snapshot(&folder, &store, &pipeline, "manual").await);
    })
    .await;
}

#[tokio::test]
async fn an_unwritable_snapshot_directory_is_ignored() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("snapshots"), "not a directory").unwrap();
        let pipeline = pipeline(&store, &["manual"]).await;
        ready(&store, &pipeline, "manual", "valve").await;
        let indexes = snapshot_cache(&folder, LARGE_BUDGET);
        indexes.get(&store, &pipeline, "manual").await.unwrap();
        save(&indexes, &store).await;
        assert!(!loaded_from_snapshot(&folder, &store, &pipeline, "manual").await);
    })
    .await;
}

#[tokio::test]
async fn snapshots_stay_within_the_disk_budget_by_lru_eviction() {
    on_each(async |store, _| {
        let classifications = ["a", "b", "c"];
        let pipeline = pipeline(&store, &classifications).await;
        for classification in classifications {
            ready(&store, &pipeline, classification, &format!("valve {classification}\n").repeat(200)).await;
        }
        let folder = TempDir::new().unwrap();
        let all = snapshot_cache(&folder, LARGE_BUDGET);
        all.get(&store, &pipeline, "a").await.unwrap();
        let one = all.bytes() as u64;
        let (folder, size) = (TempDir::new().unwrap(), |file: &Path| fs::metadata(file).unwrap().len());
        let indexes = snapshot_cache(&folder, one + one / 2);
        for classification in classifications {
            indexes.get(&store, &pipeline, classification).await.unwrap();
            save(&indexes, &store).await;
            let bytes: u64 = files(&folder).iter().map(|file| size(file)).sum();
            assert!(bytes > 0 && bytes <= one + one / 2, "{classification}: {bytes}");
        }
        assert!(loaded_from_snapshot(&folder, &store, &pipeline, "c").await);
        assert!(!loaded_from_snapshot(&folder, &store, &pipeline, "a").await);
        let folder = TempDir::new().unwrap();
        let small = snapshot_cache(&folder, one / 4);
        small.get(&store, &pipeline, "a").await.unwrap();
        save(&small, &store).await;
        assert_eq!(files(&folder), Vec::<PathBuf>::new(), "a snapshot above the budget is not written");
    })
    .await;
}

#[tokio::test]
async fn an_evicted_partition_is_written_first() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let pipeline = pipeline(&store, &["a", "b"]).await;
        for classification in ["a", "b"] {
            ready(&store, &pipeline, classification, &format!("valve {classification}\n").repeat(50)).await;
        }
        let snapshots = SnapshotFiles::new(folder.path().join("snapshots"), LARGE_BUDGET).with_min_chunks(1);
        let indexes = IndexCache::new(1).with_snapshots(snapshots);
        indexes.get(&store, &pipeline, "a").await.unwrap();
        indexes.get(&store, &pipeline, "b").await.unwrap();
        while counter(&indexes, |snapshots| &snapshots.written) == 0 {
            tokio::task::yield_now().await;
        }
        assert!(loaded_from_snapshot(&folder, &store, &pipeline, "a").await);
    })
    .await;
}

#[cfg(unix)]
#[tokio::test]
async fn snapshots_are_private_to_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        create_snapshot(&store, &folder, 1).await;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&files(&folder)[0]), 0o600);
        assert_eq!(mode(&folder.path().join("snapshots")), 0o700);
    })
    .await;
}

#[tokio::test]
async fn a_small_partition_has_no_snapshot() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let pipeline = pipeline(&store, &["manual"]).await;
        ready(&store, &pipeline, "manual", "valve").await;
        let indexes =
            IndexCache::default().with_snapshots(SnapshotFiles::new(folder.path().join("snapshots"), LARGE_BUDGET));
        indexes.get(&store, &pipeline, "manual").await.unwrap();
        save(&indexes, &store).await;
        assert_eq!(files(&folder), Vec::<PathBuf>::new());
    })
    .await;
}
