//! Tests of the caches: bounds, single-flight loading, and separation of tenants.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use pidq_core::{Profile, Query};
use pidq_server::caches::{self, BodyCache, BodyRequest, GraphCache, GraphKey, QueryCache};
use pidq_server::memory::memory_pool::MemoryPool;
use pidq_server::store::dir::DirStore;
use pidq_server::store::{Coding, Error, GraphMeta, Options, Precondition, Store, Timestamp, Version, VersionSelector};

use crate::fixtures::{TempDir, draft, drawing, graph_id, tenant, wait};
use crate::simulated_disk::SimulatedDisk;

/// Maximum size of a graph in bytes.
const MAX_GRAPH: usize = 4 << 20;

fn key(tenant_name: &str, number: u64) -> GraphKey {
    let meta = GraphMeta {
        graph_id: graph_id("J-1"),
        version: Version::number(number),
        schema_version: "1".into(),
        drawing_name: None,
        nodes: 0,
        edges: 0,
        size: 0,
        sha256: [0; 32],
        content_hash: [0; 32],
        created_on: Timestamp::default(),
    };
    GraphKey::new(&tenant(tenant_name), &meta)
}

#[test]
fn concurrent_loads_read_a_graph_once() {
    let (graphs, count, start) = (GraphCache::new(1 << 20, MAX_GRAPH), AtomicUsize::new(0), Barrier::new(16));
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                start.wait();
                let read = || {
                    count.fetch_add(1, Ordering::Relaxed);
                    Ok(drawing(1).into())
                };
                assert_eq!(graphs.load(&key("t", 1), read).expect("a graph").source(), drawing(1));
            });
        }
    });
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[test]
fn concurrent_loads_share_an_error() {
    let (graphs, count, start) = (GraphCache::new(1 << 20, MAX_GRAPH), AtomicUsize::new(0), Barrier::new(8));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let read = || {
                    count.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(200));
                    Err(Error::GraphNotFound)
                };
                assert_eq!(graphs.load(&key("t", 1), read).err(), Some(Error::GraphNotFound));
            });
        }
    });
    assert_eq!(count.load(Ordering::Relaxed), 1);
    assert_eq!(graphs.usage().count, 0);
}

#[test]
fn the_cache_is_bounded_and_keeps_what_was_used_again() {
    let one = GraphCache::new(1 << 20, MAX_GRAPH);
    one.load(&key("t", 1), || Ok(drawing(1).into())).expect("a graph");
    let bytes = one.usage().bytes;
    let graphs = GraphCache::new(bytes * 2, MAX_GRAPH);
    for number in [1, 2, 1, 3] {
        graphs.load(&key("t", number), || Ok(drawing(1).into())).expect("a graph");
    }
    assert!(graphs.usage().bytes <= bytes * 2 && graphs.usage().count == 2, "{:?}", graphs.usage());
    let is_kept = |number| graphs.get(&key("t", number)).is_some();
    assert_eq!([1, 2, 3].map(is_kept), [true, false, true]);
    let small = GraphCache::new(10, MAX_GRAPH);
    assert!(small.load(&key("t", 1), || Ok(drawing(1).into())).is_ok());
    assert_eq!(small.usage().count, 0);
}

#[test]
fn evicted_graphs_count_while_they_are_used() {
    let load = |graphs: &GraphCache, number| graphs.load(&key("t", number), || Ok(drawing(1).into())).expect("a graph");
    let one = GraphCache::new(1 << 20, MAX_GRAPH);
    load(&one, 1);
    let graphs = GraphCache::new(one.usage().bytes * 4, MAX_GRAPH);
    let mut used: Vec<_> = (1..=5).map(|number| load(&graphs, number)).collect();
    assert!(!graphs.exceeds_in_use_limit(), "one of them is evicted");
    used.push(load(&graphs, 6));
    assert!(graphs.exceeds_in_use_limit());
    let evicted = (1..=6).position(|number| graphs.get(&key("t", number)).is_none()).expect("two are evicted");
    used.remove(evicted);
    assert!(!graphs.exceeds_in_use_limit());
    let (small, large) = (GraphCache::new(10, MAX_GRAPH), GraphCache::new(1 << 20, MAX_GRAPH));
    let used = (load(&small, 1), load(&large, 1));
    assert!(small.exceeds_in_use_limit() && !large.exceeds_in_use_limit(), "what is never kept counts at once");
    drop(used);
    assert!(!small.exceeds_in_use_limit());
}

#[test]
fn tenants_and_versions_share_nothing() {
    let graphs = GraphCache::new(1 << 20, MAX_GRAPH);
    graphs.load(&key("a", 1), || Ok(drawing(1).into())).expect("a graph");
    assert!(graphs.get(&key("a", 1)).is_some());
    assert!(graphs.get(&key("b", 1)).is_none() && graphs.get(&key("a", 2)).is_none());
}

#[test]
fn an_error_is_returned_and_not_cached() {
    let graphs = GraphCache::new(1 << 20, MAX_GRAPH);
    assert_eq!(graphs.load(&key("t", 1), || Err(Error::GraphNotFound)).err(), Some(Error::GraphNotFound));
    assert_eq!(graphs.load(&key("t", 1), || Ok("{".into())).err(), Some(Error::GraphCorrupt));
    let crash = || graphs.load(&key("t", 1), || panic!("on purpose")).map(drop);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(crash)).is_err());
    assert!(graphs.load(&key("t", 1), || Ok(drawing(1).into())).is_ok());
}

#[test]
fn queries_are_compiled_once_for_their_text_language_and_parameters() {
    let (queries, count) = (QueryCache::new(3, 1 << 30), AtomicUsize::new(0));
    let load = |profile, text: &str, params: &str| {
        let parse = || {
            count.fetch_add(1, Ordering::Relaxed);
            Query::parse(text)
        };
        queries.load(profile, text, params, &[], parse).map(drop)
    };
    for _ in 0..2 {
        assert!(load(Profile::Pidq, ".a", "").is_ok());
        assert!(load(Profile::JsonQuery, ".a", "").is_ok());
        assert!(load(Profile::Pidq, ".a", r#"{"x":1}"#).is_ok());
    }
    assert_eq!(count.load(Ordering::Relaxed), 3);
    assert!(load(Profile::Pidq, "map(", "").is_err());
    for number in 0..100 {
        assert!(load(Profile::Pidq, &format!(".a{number}"), "").is_ok());
    }
    assert_eq!(queries.usage().count, 3);
}

#[test]
fn patterns_increase_the_estimated_size_of_a_query() {
    let queries = QueryCache::new(1000, 4 << 20);
    for number in 0..100 {
        let text = format!(r#"filter(regex(.a, "^{number}"))"#);
        queries.load(Profile::Pidq, &text, "", &[], || Query::parse(&text)).expect("a query");
    }
    assert!(queries.usage().count <= 4 && queries.usage().bytes <= 4 << 20, "{:?}", queries.usage());
}

#[test]
fn the_latest_version_is_loaded_and_cached() {
    let temp_dir = TempDir::new();
    let store: Arc<dyn Store> = Arc::new(DirStore::open(temp_dir.path(), Options::default()).expect("opens"));
    let (graphs, tenant, graph_id) = (Arc::new(GraphCache::new(1 << 20, MAX_GRAPH)), tenant("t"), graph_id("J-1"));
    let put = |number| {
        wait(store.commit(&tenant, &graph_id, draft(&graph_id, drawing(number)), &Precondition::None)).map(drop)
    };
    let open = |selector| wait(caches::load_graph(&store, &graphs, &tenant, &graph_id, &selector));
    assert_eq!(open(VersionSelector::Latest).err(), Some(Error::GraphNotFound));
    put(1).expect("a commit");
    let (_, first) = open(VersionSelector::Latest).expect("a graph");
    assert!(Arc::ptr_eq(&first, &open(VersionSelector::Latest).expect("a graph").1));
    put(2).expect("a commit");
    let (meta, second) = open(VersionSelector::Latest).expect("a graph");
    assert_eq!(meta.version.as_str(), "2");
    assert!(second.source().contains("P-2") && graphs.usage().count == 2);
    let (_, again) = open(VersionSelector::Version(Version::number(1))).expect("a graph");
    assert!(Arc::ptr_eq(&first, &again));
}

#[test]
fn concurrent_responses_read_a_version_once() {
    let disk = SimulatedDisk::new();
    let dir = DirStore::open_on(Arc::new(disk.clone()), "/data".as_ref(), Options::default()).expect("opens");
    let (store, tenant, graph_id): (Arc<dyn Store>, _, _) = (Arc::new(dir), tenant("t"), graph_id("J-1"));
    let committed =
        wait(store.commit(&tenant, &graph_id, draft(&graph_id, drawing(1)), &Precondition::None)).expect("a commit");
    let count_calls = |readers: usize, gzip: bool| {
        let (body_cache, before) = (Arc::new(BodyCache::new(0, Arc::new(MemoryPool::new(1 << 20)))), disk.calls());
        let read = |_| {
            let (body_cache, store, tenant, meta) =
                (body_cache.clone(), store.clone(), tenant.clone(), committed.meta.clone());
            async move {
                let owner = "ann".into();
                let request = BodyRequest { store: &store, tenant: &tenant, meta: &meta, owner: &owner };
                if gzip {
                    return body_cache.gzip(request).await.expect("a graph").1;
                }
                body_cache.load(request, Coding::Identity).await.expect("a graph").bytes
            }
        };
        let bodies: Vec<_> = wait(async {
            let started: Vec<_> = (0..readers).map(|reader| tokio::spawn(read(reader))).collect();
            let mut bodies = Vec::new();
            for reader in started {
                bodies.push(reader.await.expect("no crash"));
            }
            bodies
        });
        assert!(bodies.iter().all(|bytes| bytes == &bodies[0]));
        disk.calls() - before
    };
    for gzip in [false, true] {
        assert_eq!(count_calls(32, gzip), count_calls(1, gzip), "gzip: {gzip}");
    }
}
