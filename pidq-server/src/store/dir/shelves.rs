//! All jobs of all tenants in memory: what each has on disk, and how much of its share a tenant uses.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::layout::Seen;
use crate::store::{Error, JobId, Result, Share, Tenant};

/// The shelf of every tenant. Readers wait for nobody who writes a file: the lock is held to look or to swap only.
#[derive(Debug, Default)]
pub(super) struct Shelves(RwLock<BTreeMap<Tenant, Shelf>>);

#[derive(Debug, Default)]
struct Shelf {
    jobs: BTreeMap<JobId, Arc<Seen>>,
    used: Used,
    /// What writes under way may come to use.
    reserved: Used,
}

/// How much of a share.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    bytes: u64,
    graphs: u64,
}

impl Used {
    fn of(seen: &Seen) -> Used {
        Used { bytes: seen.bytes(), graphs: u64::from(seen.latest().is_some()) }
    }

    fn add(&mut self, more: Used) {
        self.bytes += more.bytes;
        self.graphs += more.graphs;
    }

    fn take(&mut self, less: Used) {
        self.bytes = self.bytes.saturating_sub(less.bytes);
        self.graphs = self.graphs.saturating_sub(less.graphs);
    }
}

impl Shelves {
    /// What a job has.
    pub fn seen(&self, tenant: &Tenant, job: &JobId) -> Option<Arc<Seen>> {
        self.read().get(tenant)?.jobs.get(job).cloned()
    }

    /// Shows what a job has from now on.
    pub fn publish(&self, tenant: &Tenant, job: &JobId, seen: Arc<Seen>) {
        let mut shelves = self.write();
        let shelf = shelves.entry(tenant.clone()).or_default();
        shelf.used.add(Used::of(&seen));
        if let Some(before) = shelf.jobs.insert(job.clone(), seen) {
            shelf.used.take(Used::of(&before));
        }
    }

    /// The jobs of a tenant that have a graph, by name.
    pub fn jobs(&self, tenant: &Tenant, prefix: &str, after: Option<&JobId>, limit: usize) -> Vec<JobId> {
        let shelves = self.read();
        let Some(shelf) = shelves.get(tenant) else { return Vec::new() };
        let after = after.map_or(Bound::Unbounded, |job| Bound::Excluded(job.clone()));
        let jobs = shelf.jobs.range((after, Bound::Unbounded));
        let from = jobs.skip_while(|(job, _)| job.as_str() < prefix);
        let with_prefix = from.take_while(|(job, _)| job.as_str().starts_with(prefix));
        with_prefix.filter(|(_, seen)| seen.latest().is_some()).map(|(job, _)| job.clone()).take(limit).collect()
    }

    /// All jobs of all tenants.
    pub fn all(&self) -> Vec<(Tenant, JobId, Arc<Seen>)> {
        let shelves = self.read();
        let jobs = shelves.iter().flat_map(|(tenant, shelf)| shelf.jobs.iter().map(move |entry| (tenant, entry)));
        jobs.map(|(tenant, (job, seen))| (tenant.clone(), job.clone(), seen.clone())).collect()
    }

    /// Sets a part of the share of a tenant aside, until the reservation is dropped.
    ///
    /// # Errors
    /// `insufficient-storage`.
    pub fn reserve<'s>(&'s self, tenant: &'s Tenant, share: &Share, bytes: u64, graphs: u64) -> Result<Reserved<'s>> {
        let mut shelves = self.write();
        let shelf = shelves.entry(tenant.clone()).or_default();
        let within = |used: u64, reserved: u64, more: u64, most: u64| used + reserved + more <= most || more == 0;
        let (used, reserved) = (shelf.used, shelf.reserved);
        if !within(used.bytes, reserved.bytes, bytes, share.bytes) {
            return Err(Error::InsufficientStorage(format!("the tenant may store {} bytes", share.bytes)));
        }
        if !within(used.graphs, reserved.graphs, graphs, share.graphs) {
            return Err(Error::InsufficientStorage(format!("the tenant may store {} graphs", share.graphs)));
        }
        let used = Used { bytes, graphs };
        shelf.reserved.add(used);
        Ok(Reserved { shelves: self, tenant, used })
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<Tenant, Shelf>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<Tenant, Shelf>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of a share that a write under way may come to use.
pub(super) struct Reserved<'s> {
    shelves: &'s Shelves,
    tenant: &'s Tenant,
    used: Used,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if let Some(shelf) = self.shelves.write().get_mut(self.tenant) {
            shelf.reserved.take(self.used);
        }
    }
}
