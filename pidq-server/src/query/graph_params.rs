//! Graph parameters of a query: other graphs, or other versions of the queried graph, that the query reads as `$name`.
//!
//! The caller must be allowed to read each graph, and a graph that it may not read is reported as one that does not
//! exist.

use std::collections::BTreeMap;
use std::sync::Arc;

use pidq_core::Graph;
use pidq_http::{Problem, codes};
use schemars::JsonSchema;
use serde::Serialize;

use super::request::{GraphParams, GraphReference};
use crate::caches::{self, GraphKey};
use crate::caller::Caller;
use crate::problems::problem;
use crate::server::Server;
use crate::store::{GraphId, GraphMeta, Tenant, Version, VersionSelector};

/// Version of a graph that a query has read.
#[derive(JsonSchema, Serialize)]
pub(crate) struct GraphVersionRead<'a> {
    /// Graph id.
    job_id: &'a str,
    /// Version of the graph.
    change_version: &'a str,
}

/// Versions that the graph parameters of a request refer to, in the order of their names.
#[derive(Default)]
pub(crate) struct BoundGraphs(Vec<(String, Arc<GraphMeta>)>);

impl BoundGraphs {
    /// Finds the versions, and checks that the caller may read the graphs.
    pub async fn resolve(
        server: &Server,
        caller: &Caller<'_>,
        queried: &GraphId,
        params: &GraphParams,
    ) -> Result<BoundGraphs, Problem> {
        let mut bound = BoundGraphs::default();
        for (name, reference) in params {
            let found = resolve(server, caller, queried, reference).await;
            let meta = found.map_err(|problem| problem.with("graph_param", name.as_str()))?;
            bound.0.push((name.clone(), meta));
        }
        bound.check_size(server.validation.bytes as u64)?;
        Ok(bound)
    }

    /// Checks that the graphs take at most as much memory as one graph of the maximum size.
    fn check_size(&self, limit: u64) -> Result<(), Problem> {
        if self.0.iter().map(|(_, meta)| meta.size).sum::<u64>() <= limit {
            return Ok(());
        }
        let detail = format!("The graphs in `graph_params` have more than {limit} bytes in total.");
        Err(Problem::new(codes::GRAPH_TOO_LARGE).detail(detail).with("what", "graph_params").with("limit", limit))
    }

    /// Returns the cache keys of the versions.
    pub fn keys(&self, tenant: &Tenant) -> Box<[GraphKey]> {
        self.0.iter().map(|(_, meta)| GraphKey::new(tenant, meta)).collect()
    }

    /// Loads the graphs.
    pub async fn load(&self, server: &Server, tenant: &Tenant) -> Result<Vec<Arc<Graph>>, Problem> {
        let mut graphs = Vec::with_capacity(self.0.len());
        for (name, meta) in &self.0 {
            let graph = caches::load_version(&server.store, &server.graph_cache, tenant, meta).await;
            graphs.push(graph.map_err(|error| problem(error).with("graph_param", name.as_str()))?);
        }
        Ok(graphs)
    }

    /// Returns the versions as they are reported to the client. `None` if the query has no graph parameters.
    pub fn versions_read(&self) -> Option<BTreeMap<&str, GraphVersionRead<'_>>> {
        let versions = self.0.iter().map(|(name, meta)| {
            let version = GraphVersionRead { job_id: meta.graph_id.as_str(), change_version: meta.version.as_str() };
            (name.as_str(), version)
        });
        (!self.is_empty()).then(|| versions.collect())
    }

    /// Returns true if the query has no graph parameters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Finds the version that a parameter refers to, if the caller may read the graph.
async fn resolve(
    server: &Server,
    caller: &Caller<'_>,
    queried: &GraphId,
    reference: &GraphReference,
) -> Result<Arc<GraphMeta>, Problem> {
    let parse = |id: &String| GraphId::parse(id).map_err(problem);
    let graph_id = reference.job_id.as_ref().map_or_else(|| Ok(queried.clone()), parse)?;
    let version = reference.change_version.as_deref().map(Version::named);
    let selector = version.map_or(VersionSelector::Latest, VersionSelector::Version);
    caller.require_read(&graph_id).await?;
    server.store.head(&caller.tenant, &graph_id, &selector).await.map_err(problem)
}
