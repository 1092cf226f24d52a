//! In-memory index of the graphs of all tenants, with the used part of their quotas.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::graph_files::GraphFiles;
use crate::store::{Error, GraphId, Result, Tenant, TenantQuota};

/// Index of all tenants. The lock is held only for lookups and updates, never during I/O.
#[derive(Debug, Default)]
pub(super) struct GraphIndex(RwLock<BTreeMap<Tenant, TenantIndex>>);

#[derive(Debug, Default)]
struct TenantIndex {
    graphs: BTreeMap<GraphId, Arc<GraphFiles>>,
    used: Usage,
    /// Reservations of writes in progress.
    reserved: Usage,
}

/// Used part of a quota.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    bytes: u64,
    graphs: u64,
}

impl Usage {
    fn from_files(files: &GraphFiles) -> Usage {
        Usage { bytes: files.bytes(), graphs: u64::from(files.latest().is_some()) }
    }

    fn add(&mut self, more: Usage) {
        self.bytes += more.bytes;
        self.graphs += more.graphs;
    }

    fn subtract(&mut self, less: Usage) {
        self.bytes = self.bytes.saturating_sub(less.bytes);
        self.graphs = self.graphs.saturating_sub(less.graphs);
    }
}

impl GraphIndex {
    /// Returns the files of a graph.
    pub fn get(&self, tenant: &Tenant, graph_id: &GraphId) -> Option<Arc<GraphFiles>> {
        self.read().get(tenant)?.graphs.get(graph_id).cloned()
    }

    /// Replaces the files of a graph.
    pub fn publish(&self, tenant: &Tenant, graph_id: &GraphId, files: Arc<GraphFiles>) {
        let mut tenants = self.write();
        let tenant_index = tenants.entry(tenant.clone()).or_default();
        tenant_index.used.add(Usage::from_files(&files));
        if let Some(before) = tenant_index.graphs.insert(graph_id.clone(), files) {
            tenant_index.used.subtract(Usage::from_files(&before));
        }
    }

    /// Returns the ids of a tenant's existing graphs, in order.
    pub fn graph_ids(&self, tenant: &Tenant, prefix: &str, after: Option<&GraphId>, limit: usize) -> Vec<GraphId> {
        let tenants = self.read();
        let Some(tenant_index) = tenants.get(tenant) else { return Vec::new() };
        let after = after.map_or(Bound::Unbounded, |graph_id| Bound::Excluded(graph_id.clone()));
        let entries = tenant_index.graphs.range((after, Bound::Unbounded));
        let from = entries.skip_while(|(graph_id, _)| graph_id.as_str() < prefix);
        let with_prefix = from.take_while(|(graph_id, _)| graph_id.as_str().starts_with(prefix));
        with_prefix
            .filter(|(_, files)| files.latest().is_some())
            .map(|(graph_id, _)| graph_id.clone())
            .take(limit)
            .collect()
    }

    /// Returns all graphs of all tenants.
    pub fn all(&self) -> Vec<(Tenant, GraphId, Arc<GraphFiles>)> {
        let tenants = self.read();
        let entries = tenants
            .iter()
            .flat_map(|(tenant, tenant_index)| tenant_index.graphs.iter().map(move |entry| (tenant, entry)));
        entries.map(|(tenant, (graph_id, files))| (tenant.clone(), graph_id.clone(), files.clone())).collect()
    }

    /// Reserves a part of the tenant's quota, released when the reservation is dropped.
    ///
    /// # Errors
    /// `insufficient-storage`.
    pub fn reserve<'s>(
        &'s self,
        tenant: &'s Tenant,
        quota: &TenantQuota,
        bytes: u64,
        graphs: u64,
    ) -> Result<Reservation<'s>> {
        let mut tenants = self.write();
        let tenant_index = tenants.entry(tenant.clone()).or_default();
        let within = |used: u64, reserved: u64, more: u64, limit: u64| used + reserved + more <= limit || more == 0;
        let (used, reserved) = (tenant_index.used, tenant_index.reserved);
        if !within(used.bytes, reserved.bytes, bytes, quota.bytes) {
            return Err(Error::InsufficientStorage(format!("the tenant quota of {} bytes is exceeded", quota.bytes)));
        }
        if !within(used.graphs, reserved.graphs, graphs, quota.graphs) {
            return Err(Error::InsufficientStorage(format!("the tenant quota of {} graphs is exceeded", quota.graphs)));
        }
        let usage = Usage { bytes, graphs };
        tenant_index.reserved.add(usage);
        Ok(Reservation { tenants: self, tenant, usage })
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<Tenant, TenantIndex>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<Tenant, TenantIndex>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Part of a quota reserved by a write in progress.
pub(super) struct Reservation<'s> {
    tenants: &'s GraphIndex,
    tenant: &'s Tenant,
    usage: Usage,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if let Some(tenant_index) = self.tenants.write().get_mut(self.tenant) {
            tenant_index.reserved.subtract(self.usage);
        }
    }
}
