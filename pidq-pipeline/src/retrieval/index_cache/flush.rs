//! Writing of partitions to snapshots: after a quiet period, on eviction, and on shutdown.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use pidq_store::{Store, StoreError};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::snapshot_files::SnapshotFiles;
use super::{IndexCache, PartitionIndex, SharedIndex};

/// Time limit for writing snapshots on shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

impl IndexCache {
    /// Writes the partitions that changed since the last snapshot but not within the quiet period. Partitions that are being
    /// updated are skipped until the next call.
    ///
    /// # Errors
    /// Fails if the database is unavailable.
    pub async fn save(&self, store: &Store, quiet_period: Duration) -> Result<(), StoreError> {
        let Some(snapshots) = &self.snapshots else { return Ok(()) };
        for shared in self.by_last_use() {
            if let Ok(index) = shared.try_read_owned()
                && index.changed_at.elapsed() >= quiet_period
            {
                save(index, store, snapshots).await?;
            }
        }
        Ok(())
    }

    /// Writes all partitions on shutdown, within a time limit.
    pub async fn save_on_shutdown(&self, store: &Store) {
        match timeout(SHUTDOWN_TIMEOUT, self.save(store, Duration::ZERO)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "writing snapshots on shutdown failed"),
            // Interrupts the write in progress.
            Err(_) => self.by_last_use().iter().for_each(|shared| {
                let _ = shared.try_read().map(|index| index.update_pending.store(true, Relaxed));
            }),
        }
    }

    /// Removes the snapshots of partitions that were deleted or changed.
    ///
    /// # Errors
    /// Fails if the database is unavailable.
    pub async fn remove_obsolete_snapshots(&self, store: &Store) -> Result<(), StoreError> {
        let Some(snapshots) = self.snapshots.clone() else { return Ok(()) };
        // List the files first, so that files written meanwhile are not compared with outdated keys.
        let files = snapshots.files();
        if !files.is_empty() {
            let current_keys = store.snapshot_keys().await?;
            // The result does not matter.
            let _ = spawn_blocking(move || snapshots.remove_obsolete(files, &current_keys)).await;
        }
        Ok(())
    }

    /// Returns the partitions, most recently used first.
    fn by_last_use(&self) -> Vec<SharedIndex> {
        let state = self.state();
        let mut entries: Vec<_> = state.partitions.values().collect();
        entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.last_used));
        entries.into_iter().map(|entry| entry.shared.clone()).collect()
    }

    /// Loads the snapshot of a partition that was not read yet, if there is one.
    pub(super) async fn load_snapshot(
        &self,
        mut index: OwnedRwLockWriteGuard<PartitionIndex>,
        store: &Store,
    ) -> Result<OwnedRwLockWriteGuard<PartitionIndex>, StoreError> {
        let Some(snapshots) = self.snapshots.clone().filter(|_| index.change_count < 0) else { return Ok(index) };
        let Some(key) = store.snapshot_key(&index.snapshot_id.pipeline, &index.snapshot_id.classification).await?
        else {
            return Ok(index);
        };
        let reading = spawn_blocking(move || {
            snapshots.read(&mut index, &key);
            index
        });
        reading.await.map_err(|_| StoreError::Corrupt("reading a snapshot failed".into()))
    }
}

/// Writes evicted partitions and drops them.
pub(super) async fn save_and_drop(evicted: Vec<SharedIndex>, store: Store, snapshots: Option<Arc<SnapshotFiles>>) {
    for shared in evicted {
        if let (Some(snapshots), Ok(index)) = (&snapshots, shared.clone().try_read_owned())
            && let Err(error) = save(index, &store, snapshots).await
        {
            tracing::debug!(%error, "writing the snapshot of an evicted partition failed");
        }
        // Dropping a large partition takes long.
        drop(spawn_blocking(move || drop(shared)));
    }
}

/// Writes a partition if it is up to date and has no current snapshot.
async fn save(
    index: OwnedRwLockReadGuard<PartitionIndex>,
    store: &Store,
    snapshots: &Arc<SnapshotFiles>,
) -> Result<(), StoreError> {
    if index.saved_change_count.load(Relaxed) == index.change_count || !snapshots.is_large_enough(&index) {
        return Ok(());
    }
    let mut new_key = [0; 32];
    if getrandom::fill(&mut new_key).is_err() {
        return Ok(());
    }
    let id = &index.snapshot_id;
    let key = store.assign_snapshot_key(&id.pipeline, &id.classification, index.change_count, &new_key).await?;
    let (Some(key), snapshots) = (key, Arc::clone(snapshots)) else { return Ok(()) };
    let writing = spawn_blocking(move || {
        let written = snapshots.write(&index, &key);
        // A failed write is not repeated before the partition changes.
        index.saved_change_count.store(index.change_count, Relaxed);
        written
    });
    match writing.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::info!(%error, "writing the snapshot of a partition failed; it is rebuilt after a restart")
        }
        Err(_) => tracing::error!("writing the snapshot of a partition panicked; it is rebuilt after a restart"),
    }
    Ok(())
}
