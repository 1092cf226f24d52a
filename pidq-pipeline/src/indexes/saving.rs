//! Who writes open partitions to files, and when: after a quiet while, when one is closed, and at the end.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::snapshots::Snapshots;
use super::{Index, Indexes, Shared};
use crate::store::{Store, StoreError};

/// How long a process takes for it at its end.
const AT_THE_END: Duration = Duration::from_secs(10);

impl Indexes {
    /// Writes the open partitions to files in which nothing changed for a while, and that changed since they were
    /// written. Those that are being changed are left for the next time.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn save(&self, store: &Store, quiet: Duration) -> Result<(), StoreError> {
        let Some(snapshots) = &self.snapshots else { return Ok(()) };
        for shared in self.lately() {
            if let Ok(index) = shared.try_read_owned()
                && index.changed.elapsed() >= quiet
            {
                save(index, store, snapshots).await?;
            }
        }
        Ok(())
    }

    /// The same at the end of a process: all of them, as far as there is time.
    pub async fn save_at_the_end(&self, store: &Store) {
        match timeout(AT_THE_END, self.save(store, Duration::ZERO)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "not all partitions were written"),
            // Whoever still writes leaves off.
            Err(_) => self.lately().iter().for_each(|shared| {
                let _ = shared.try_read().map(|index| index.wanted.store(true, Relaxed));
            }),
        }
    }

    /// Removes files of what was deleted or changed.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn sweep(&self, store: &Store) -> Result<(), StoreError> {
        let Some(snapshots) = self.snapshots.clone() else { return Ok(()) };
        // First the files: one that is written in between is not looked for in what was known before.
        let files = snapshots.files();
        if !files.is_empty() {
            let known = store.snapshots().await?;
            // Nothing is lost if nobody waits for it.
            let _ = spawn_blocking(move || snapshots.sweep(files, &known)).await;
        }
        Ok(())
    }

    /// What is open, beginning with what was asked for last.
    fn lately(&self) -> Vec<Shared> {
        let open = self.open();
        let mut entries: Vec<_> = open.partitions.values().collect();
        entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.asked));
        entries.into_iter().map(|entry| entry.shared.clone()).collect()
    }

    /// A partition that nobody read yet, as it is in its file, if it has one.
    pub(super) async fn opened(
        &self,
        mut index: OwnedRwLockWriteGuard<Index>,
        store: &Store,
    ) -> Result<OwnedRwLockWriteGuard<Index>, StoreError> {
        let Some(snapshots) = self.snapshots.clone().filter(|_| index.changes < 0) else { return Ok(index) };
        let Some(key) = store.snapshot_key(&index.subject.pipeline, &index.subject.label).await? else {
            return Ok(index);
        };
        let reading = spawn_blocking(move || {
            snapshots.read(&mut index, &key);
            index
        });
        reading.await.map_err(|_| StoreError::Damaged("a snapshot cannot be read".into()))
    }
}

/// Lets go of what was closed, and writes it down before.
pub(super) async fn close(closed: Vec<Shared>, store: Store, snapshots: Option<Arc<Snapshots>>) {
    for shared in closed {
        if let (Some(snapshots), Ok(index)) = (&snapshots, shared.clone().try_read_owned())
            && let Err(error) = save(index, &store, snapshots).await
        {
            tracing::debug!(%error, "a partition was not written");
        }
        // Taking a large one apart takes a while.
        drop(spawn_blocking(move || drop(shared)));
    }
}

/// Writes a partition, if it is as the database is, and not written yet.
async fn save(index: OwnedRwLockReadGuard<Index>, store: &Store, snapshots: &Arc<Snapshots>) -> Result<(), StoreError> {
    if index.saved.load(Relaxed) == index.changes || !snapshots.wants(&index) {
        return Ok(());
    }
    let mut new = [0; 32];
    if getrandom::fill(&mut new).is_err() {
        return Ok(());
    }
    let subject = &index.subject;
    let key = store.give_snapshot_key(&subject.pipeline, &subject.label, index.changes, &new).await?;
    let (Some(key), snapshots) = (key, Arc::clone(snapshots)) else { return Ok(()) };
    let writing = spawn_blocking(move || {
        let written = snapshots.write(&index, &key);
        // What could not be written is not tried again before it changes; what somebody wanted to change will.
        index.saved.store(index.changes, Relaxed);
        written
    });
    match writing.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::info!(%error, "a snapshot of a partition was not written"),
        Err(_) => tracing::error!("a snapshot of a partition cannot be written"),
    }
    Ok(())
}
