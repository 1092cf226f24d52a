//! Partitions in files: they answer as those that are built, and of what was deleted there is nothing in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use pidq_pipeline::indexes::{Indexes, Snapshots};
use pidq_pipeline::records::Pipeline;
use pidq_pipeline::store::{Change, Store};
use serde_json::{Map, json};
use tempfile::TempDir;

use crate::indexes::ready;
use crate::stored::{NewText, add_text, on_each, pipeline, read, wide_pipeline};

const MUCH: u64 = 1 << 30;

/// Partitions with files in a folder, however small they are.
pub fn kept_in(folder: &TempDir, budget: u64) -> Indexes {
    Indexes::default().with_snapshots(Snapshots::new(folder.path().join("snapshots"), budget).from_chunks(1))
}

/// Writes all that is open.
pub async fn save(indexes: &Indexes, store: &Store) {
    indexes.save(store, Duration::ZERO).await.unwrap();
}

/// A label is the same with files as without. Says whether it was opened from a file.
pub async fn is_the_same(folder: &TempDir, store: &Store, pipeline: &Pipeline, label: &str) -> bool {
    let kept = kept_in(folder, MUCH);
    let opened = kept.of(store, pipeline, label).await.unwrap();
    let built = Indexes::default().of(store, pipeline, label).await.unwrap();
    let (opened, built) = (opened.read().await, built.read().await);
    assert!(opened.partition.to_bytes() == built.partition.to_bytes(), "{label}");
    assert_eq!((&opened.documents, &opened.chunks), (&built.documents, &built.chunks));
    assert_eq!(opened.changes(), built.changes());
    counted(&kept, |snapshots| &snapshots.opened) > 0
}

fn counted(indexes: &Indexes, which: impl Fn(&Snapshots) -> &AtomicU64) -> u64 {
    which(indexes.snapshots().unwrap()).load(Relaxed)
}

pub fn files(folder: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path().join("snapshots")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// What was written of a label with so many documents.
async fn written(store: &Store, folder: &TempDir, documents: usize) -> (Pipeline, Vec<String>, Indexes) {
    let pipeline = pipeline(store, &["manual"]).await;
    let mut ids = Vec::new();
    for number in 0..documents {
        ids.push(ready(store, &pipeline, "manual", &format!("quixotic{number} valve\npump {number}")).await);
    }
    let indexes = kept_in(folder, MUCH);
    indexes.of(store, &pipeline, "manual").await.unwrap();
    save(&indexes, store).await;
    assert_eq!(files(folder).len(), 1);
    (pipeline, ids, indexes)
}

#[tokio::test]
async fn a_file_answers_as_what_was_built_and_numbers_keep_every_bit() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let pipeline = wide_pipeline(&store, &["manual"]).await;
        for number in 0..40 {
            let metadata = json!({"pressure": 0.1 * f64::from(number) / 3.0, "big": u64::MAX, "of": [null, {"a": -1}]});
            let metadata: Map<_, _> = metadata.as_object().unwrap().clone();
            let text = format!("valve {number}\npump P-{number}");
            add_text(&store, &pipeline, NewText { label: "manual", text: &text, metadata: &metadata }).await;
            let job = store.take_job("worker", Duration::from_secs(60)).await.unwrap().unwrap();
            let mut read = read(&text);
            for (at, chunk) in read.chunks.iter_mut().enumerate() {
                let numbers = (0..512).map(|dimension| ((dimension * 7 + at * 3) as f32 + number as f32).sin());
                chunk.vector = numbers.flat_map(f32::to_le_bytes).collect();
                chunk.page = (at > 0).then_some(at as i64);
            }
            store.publish(&job, &read).await.unwrap();
        }
        let indexes = kept_in(&folder, MUCH);
        indexes.of(&store, &pipeline, "manual").await.unwrap();
        assert!(!is_the_same(&folder, &store, &pipeline, "manual").await, "nothing is written yet");
        save(&indexes, &store).await;
        assert!(is_the_same(&folder, &store, &pipeline, "manual").await);
        save(&indexes, &store).await;
        assert_eq!(counted(&indexes, |snapshots| &snapshots.written), 1, "nothing changed since");
        // Headers are in what is indexed: a file that was made with them is none for a pipeline without.
        let mut plain = pipeline.clone();
        plain.options.chunk_header = Some(false);
        assert!(!is_the_same(&folder, &store, &plain, "manual").await);
    })
    .await;
}

#[tokio::test]
async fn what_grew_is_read_from_the_file_and_the_difference_from_the_database() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let (pipeline, _, indexes) = written(&store, &folder, 5).await;
        ready(&store, &pipeline, "manual", "vessel 5").await;
        assert!(is_the_same(&folder, &store, &pipeline, "manual").await);
        indexes.of(&store, &pipeline, "manual").await.unwrap();
        save(&indexes, &store).await;
        assert_eq!(files(&folder).len(), 1, "in the place of the one before");
        assert!(is_the_same(&folder, &store, &pipeline, "manual").await);
    })
    .await;
}

#[tokio::test]
async fn what_is_changed_while_it_is_written_is_not_written() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let (pipeline, ids, indexes) = written(&store, &folder, 3).await;
        assert!(store.delete_document(&pipeline.id, &ids[0]).await.unwrap());
        // What is open does not know it yet.
        save(&indexes, &store).await;
        assert_eq!(counted(&indexes, |snapshots| &snapshots.written), 1);
        assert!(!is_the_same(&folder, &store, &pipeline, "manual").await);
    })
    .await;
}

#[tokio::test]
async fn no_file_opens_that_has_what_was_deleted_replaced_or_moved() {
    on_each(async |store, _| {
        let pipeline = pipeline(&store, &["manual", "datasheet"]).await;
        let mut ids = Vec::new();
        for number in 0..4 {
            ids.push(ready(&store, &pipeline, "manual", &format!("quixotic{number}\npump {number}")).await);
        }
        for (at, id) in ids.iter().enumerate() {
            let folder = TempDir::new().unwrap();
            let indexes = kept_in(&folder, MUCH);
            indexes.of(&store, &pipeline, "manual").await.unwrap();
            save(&indexes, &store).await;
            let before = files(&folder);
            let copy = fs::read(&before[0]).unwrap();
            assert!(!copy.windows(8).any(|window| window == b"quixotic"), "texts show in the file");
            let document = store.document(&pipeline.id, id).await.unwrap().unwrap();
            let metadata = Map::new();
            let change = match at {
                0 => {
                    store.read_again(&document).await.unwrap();
                    let job = store.take_job("worker", Duration::from_secs(60)).await.unwrap().unwrap();
                    store.publish(&job, &read("another text")).await.unwrap();
                    None
                }
                1 => Some(Change { classification: Some("datasheet"), filename: None, metadata: None }),
                2 => Some(Change { classification: None, filename: None, metadata: Some(&metadata) }),
                _ => {
                    assert!(store.delete_document(&pipeline.id, id).await.unwrap());
                    None
                }
            };
            if let Some(change) = change {
                store.change_document(&document, change).await.unwrap();
            }
            assert!(!is_the_same(&folder, &store, &pipeline, "manual").await, "{at}");
            indexes.sweep(&store).await.unwrap();
            assert_eq!(files(&folder), Vec::<PathBuf>::new(), "{at}");
            // Whoever puts it back has nothing of it, under the new name either.
            indexes.of(&store, &pipeline, "manual").await.unwrap();
            save(&indexes, &store).await;
            fs::write(&before[0], &copy).unwrap();
            fs::write(files(&folder).into_iter().find(|file| *file != before[0]).unwrap(), &copy).unwrap();
            assert!(!is_the_same(&folder, &store, &pipeline, "manual").await, "{at}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_torn_or_changed_file_is_as_none() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let (pipeline, ..) = written(&store, &folder, 20).await;
        let file = files(&folder).remove(0);
        let whole = fs::read(&file).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 7).chain([1, 31, 32, 33, whole.len() - 1]) {
            fs::write(&file, &whole[..at]).unwrap();
            assert!(!is_the_same(&folder, &store, &pipeline, "manual").await, "cut at {at}");
            assert!(!file.exists(), "it is of no use");
            let mut changed = whole.clone();
            changed[at] ^= 1 << (at % 8);
            fs::write(&file, &changed).unwrap();
            assert!(!is_the_same(&folder, &store, &pipeline, "manual").await, "changed at {at}");
        }
        fs::write(&file, &whole).unwrap();
        assert!(is_the_same(&folder, &store, &pipeline, "manual").await);
    })
    .await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_as_none() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("snapshots"), "no folder").unwrap();
        let pipeline = pipeline(&store, &["manual"]).await;
        ready(&store, &pipeline, "manual", "valve").await;
        let indexes = kept_in(&folder, MUCH);
        indexes.of(&store, &pipeline, "manual").await.unwrap();
        save(&indexes, &store).await;
        assert!(!is_the_same(&folder, &store, &pipeline, "manual").await);
    })
    .await;
}

#[tokio::test]
async fn files_stay_within_their_room_and_the_one_least_used_goes() {
    on_each(async |store, _| {
        let labels = ["a", "b", "c"];
        let pipeline = pipeline(&store, &labels).await;
        for label in labels {
            ready(&store, &pipeline, label, &format!("valve {label}\n").repeat(200)).await;
        }
        let folder = TempDir::new().unwrap();
        let all = kept_in(&folder, MUCH);
        all.of(&store, &pipeline, "a").await.unwrap();
        let one = all.bytes() as u64;
        let (folder, size) = (TempDir::new().unwrap(), |file: &Path| fs::metadata(file).unwrap().len());
        let indexes = kept_in(&folder, one + one / 2);
        for label in labels {
            indexes.of(&store, &pipeline, label).await.unwrap();
            save(&indexes, &store).await;
            let bytes: u64 = files(&folder).iter().map(|file| size(file)).sum();
            assert!(bytes > 0 && bytes <= one + one / 2, "{label}: {bytes}");
        }
        assert!(is_the_same(&folder, &store, &pipeline, "c").await);
        assert!(!is_the_same(&folder, &store, &pipeline, "a").await);
        let folder = TempDir::new().unwrap();
        let small = kept_in(&folder, one / 4);
        small.of(&store, &pipeline, "a").await.unwrap();
        save(&small, &store).await;
        assert_eq!(files(&folder), Vec::<PathBuf>::new(), "one that is too large is not written");
    })
    .await;
}

#[tokio::test]
async fn what_is_closed_is_written_before() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let pipeline = pipeline(&store, &["a", "b"]).await;
        for label in ["a", "b"] {
            ready(&store, &pipeline, label, &format!("valve {label}\n").repeat(50)).await;
        }
        let snapshots = Snapshots::new(folder.path().join("snapshots"), MUCH).from_chunks(1);
        let indexes = Indexes::new(1).with_snapshots(snapshots);
        indexes.of(&store, &pipeline, "a").await.unwrap();
        indexes.of(&store, &pipeline, "b").await.unwrap();
        while counted(&indexes, |snapshots| &snapshots.written) == 0 {
            tokio::task::yield_now().await;
        }
        assert!(is_the_same(&folder, &store, &pipeline, "a").await);
    })
    .await;
}

#[cfg(unix)]
#[tokio::test]
async fn files_and_their_folder_are_their_owner_s_alone() {
    use std::os::unix::fs::PermissionsExt;
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        written(&store, &folder, 1).await;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&files(&folder)[0]), 0o600);
        assert_eq!(mode(&folder.path().join("snapshots")), 0o700);
    })
    .await;
}

#[tokio::test]
async fn a_small_label_has_no_file() {
    on_each(async |store, _| {
        let folder = TempDir::new().unwrap();
        let pipeline = pipeline(&store, &["manual"]).await;
        ready(&store, &pipeline, "manual", "valve").await;
        let indexes = Indexes::default().with_snapshots(Snapshots::new(folder.path().join("snapshots"), MUCH));
        indexes.of(&store, &pipeline, "manual").await.unwrap();
        save(&indexes, &store).await;
        assert_eq!(files(&folder), Vec::<PathBuf>::new());
    })
    .await;
}
