//! Loading of several graphs at the same time: large ones wait for each other, small ones do not.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pidq_server::caches::{self, GraphCache};
use pidq_server::store::dir::DirStore;
use pidq_server::store::validation::GraphDraft;
use pidq_server::store::{
    Coding, CommitResult, GraphMeta, Options, Precondition, Store, StoreFuture, StoreState, StoredGraph, VerifyReport,
    VersionEntry, VersionSelector,
};
use pidq_server::store::{GraphId, Tenant};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::fixtures::{TempDir, draft, drawing, graph_id, tenant, wait};

/// Store that counts the graphs that are read at the same time.
struct CountingStore {
    store: DirStore,
    current: AtomicUsize,
    /// Most graphs that have been read at the same time.
    most: watch::Sender<usize>,
    /// Time limit for a read to wait until a second one begins.
    second_read_timeout: Duration,
}

impl Store for CountingStore {
    fn commit<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        draft: GraphDraft,
        precondition: &'a Precondition,
    ) -> StoreFuture<'a, CommitResult> {
        self.store.commit(tenant, graph_id, draft, precondition)
    }

    fn head<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        selector: &'a VersionSelector,
    ) -> StoreFuture<'a, Arc<GraphMeta>> {
        self.store.head(tenant, graph_id, selector)
    }

    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        selector: &'a VersionSelector,
        coding: Coding,
    ) -> StoreFuture<'a, StoredGraph> {
        Box::pin(async move {
            let current = 1 + self.current.fetch_add(1, Ordering::SeqCst);
            self.most.send_modify(|most| *most = current.max(*most));
            let mut most = self.most.subscribe();
            // A timeout is no error: the test compares the number.
            _ = timeout(self.second_read_timeout, most.wait_for(|most| *most > 1)).await;
            let stored = self.store.get(tenant, graph_id, selector, coding).await;
            self.current.fetch_sub(1, Ordering::SeqCst);
            stored
        })
    }

    fn versions<'a>(&'a self, tenant: &'a Tenant, graph_id: &'a GraphId) -> StoreFuture<'a, Vec<VersionEntry>> {
        self.store.versions(tenant, graph_id)
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a GraphId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<GraphMeta>>> {
        self.store.list(tenant, prefix, after, limit)
    }

    fn delete<'a>(
        &'a self,
        tenant: &'a Tenant,
        graph_id: &'a GraphId,
        precondition: &'a Precondition,
    ) -> StoreFuture<'a, ()> {
        self.store.delete(tenant, graph_id, precondition)
    }

    fn verify(&self) -> StoreFuture<'_, VerifyReport> {
        self.store.verify()
    }

    fn state(&self) -> Pin<Box<dyn Future<Output = StoreState> + Send + '_>> {
        self.store.state()
    }
}

/// Returns the most graphs that are read at the same time if three of them, with this much white space, are loaded. Each read
/// waits for a second one, no longer than the timeout.
fn most_at_a_time(padding: usize, second_read_timeout: Duration) -> usize {
    const MAX_GRAPH: usize = 4 << 20;
    let temp_dir = TempDir::new();
    let store = DirStore::open(temp_dir.path(), Options::default()).expect("opens");
    let (current, most) = (AtomicUsize::new(0), watch::Sender::new(0));
    let counting = Arc::new(CountingStore { store, current, most, second_read_timeout });
    let store: Arc<dyn Store> = counting.clone();
    let (graphs, tenant) = (Arc::new(GraphCache::new(64 << 20, MAX_GRAPH)), tenant("t"));
    let ids = ["J-1", "J-2", "J-3"].map(graph_id);
    wait(async {
        for id in &ids {
            let json = drawing(1) + &" ".repeat(padding);
            store.commit(&tenant, id, draft(id, json), &Precondition::None).await.expect("a commit");
        }
        let load = |id: GraphId| {
            let (store, graphs, tenant) = (store.clone(), graphs.clone(), tenant.clone());
            tokio::spawn(async move {
                caches::load_graph(&store, &graphs, &tenant, &id, &VersionSelector::Latest).await.expect("a graph");
            })
        };
        for loaded in ids.map(load) {
            loaded.await.expect("no panic");
        }
    });
    *counting.most.borrow()
}

#[test]
fn graphs_that_are_parsed_together_are_at_most_as_large_as_the_largest() {
    let (short, long) = (Duration::from_millis(100), Duration::from_secs(30));
    assert_eq!(most_at_a_time(3 << 20, short), 1, "two of three quarters of the maximum are too large");
    assert!(most_at_a_time(0, long) > 1, "small graphs do not wait for each other");
}
