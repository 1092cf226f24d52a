//! What is kept for the next request: within bounds, made once, never another's.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use pidq_core::{Profile, Query};
use pidq_server::graphs::{self, Copies, GraphKey, Graphs, Queries, Wanted};
use pidq_server::memory::Memory;
use pidq_server::store::dir::Dir;
use pidq_server::store::{Coding, Error, Meta, Options, Precondition, Store, Timestamp, Version, Which};

use crate::setting::{Place, draft, drawing, job, tenant, wait};
use crate::sim::Sim;

fn key(of: &str, number: u64) -> GraphKey {
    let meta = Meta {
        job: job("J-1"),
        version: Version::number(number),
        schema_version: "1".into(),
        drawing_name: None,
        nodes: 0,
        edges: 0,
        size: 0,
        sha256: [0; 32],
        content: [0; 32],
        created_on: Timestamp::default(),
    };
    GraphKey::new(&tenant(of), &meta)
}

#[test]
fn a_graph_is_read_once_however_many_ask() {
    let (graphs, count, start) = (Graphs::new(1 << 20), AtomicUsize::new(0), Barrier::new(16));
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
fn bytes_have_a_bound_and_the_longest_unasked_goes_first() {
    let one = Graphs::new(1 << 20);
    one.load(&key("t", 1), || Ok(drawing(1).into())).expect("a graph");
    let bytes = one.held().bytes;
    let graphs = Graphs::new(bytes * 2);
    for number in [1, 2, 1, 3] {
        graphs.load(&key("t", number), || Ok(drawing(1).into())).expect("a graph");
    }
    assert!(graphs.held().bytes <= bytes * 2 && graphs.held().count == 2, "{:?}", graphs.held());
    let is_kept = |number| graphs.get(&key("t", number)).is_some();
    assert_eq!([1, 2, 3].map(is_kept), [true, false, true]);
    let small = Graphs::new(10);
    assert!(small.load(&key("t", 1), || Ok(drawing(1).into())).is_ok());
    assert_eq!(small.held().count, 0);
}

#[test]
fn graphs_that_are_used_after_they_were_dropped_crowd_until_they_are_not() {
    let load = |graphs: &Graphs, number| graphs.load(&key("t", number), || Ok(drawing(1).into())).expect("a graph");
    let one = Graphs::new(1 << 20);
    load(&one, 1);
    let graphs = Graphs::new(one.held().bytes * 4);
    let mut used: Vec<_> = (1..=5).map(|number| load(&graphs, number)).collect();
    assert!(!graphs.are_crowded(), "one of them is kept no longer");
    used.push(load(&graphs, 6));
    assert!(graphs.are_crowded());
    used.remove(0);
    assert!(!graphs.are_crowded());
    let (small, large) = (Graphs::new(10), Graphs::new(1 << 20));
    let used = (load(&small, 1), load(&large, 1));
    assert!(small.are_crowded() && !large.are_crowded(), "what is never kept counts at once");
    drop(used);
    assert!(!small.are_crowded());
}

#[test]
fn tenants_and_versions_share_nothing() {
    let graphs = Graphs::new(1 << 20);
    graphs.load(&key("a", 1), || Ok(drawing(1).into())).expect("a graph");
    assert!(graphs.get(&key("a", 1)).is_some());
    assert!(graphs.get(&key("b", 1)).is_none() && graphs.get(&key("a", 2)).is_none());
}

#[test]
fn a_failure_is_told_and_not_kept() {
    let graphs = Graphs::new(1 << 20);
    assert_eq!(graphs.load(&key("t", 1), || Err(Error::GraphNotFound)).err(), Some(Error::GraphNotFound));
    assert_eq!(graphs.load(&key("t", 1), || Ok("{".into())).err(), Some(Error::GraphCorrupt));
    let crash = || graphs.load(&key("t", 1), || panic!("on purpose")).map(drop);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(crash)).is_err());
    assert!(graphs.load(&key("t", 1), || Ok(drawing(1).into())).is_ok());
}

#[test]
fn queries_are_compiled_once_for_their_text_language_and_parameters() {
    let (queries, count) = (Queries::new(3, 1 << 30), AtomicUsize::new(0));
    let load = |profile, text: &str, params: &str| {
        let parse = || {
            count.fetch_add(1, Ordering::Relaxed);
            Query::parse(text)
        };
        queries.load(profile, text, params, parse).map(drop)
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
    assert_eq!(queries.held().count, 3);
}

#[test]
fn queries_with_patterns_are_heavy() {
    let queries = Queries::new(1000, 4 << 20);
    for number in 0..100 {
        let text = format!(r#"filter(regex(.a, "^{number}"))"#);
        queries.load(Profile::Pidq, &text, "", || Query::parse(&text)).expect("a query");
    }
    assert!(queries.held().count <= 4 && queries.held().bytes <= 4 << 20, "{:?}", queries.held());
}

#[test]
fn the_newest_version_is_opened_and_kept() {
    let place = Place::new();
    let store: Arc<dyn Store> = Arc::new(Dir::open(place.path(), Options::default()).expect("opens"));
    let (graphs, tenant, job) = (Arc::new(Graphs::new(1 << 20)), tenant("t"), job("J-1"));
    let put = |number| wait(store.commit(&tenant, &job, draft(&job, drawing(number)), &Precondition::None)).map(drop);
    let open = |which| wait(graphs::open(&store, &graphs, &tenant, &job, &which));
    assert_eq!(open(Which::Latest).err(), Some(Error::GraphNotFound));
    put(1).expect("a commit");
    let (_, first) = open(Which::Latest).expect("a graph");
    assert!(Arc::ptr_eq(&first, &open(Which::Latest).expect("a graph").1));
    put(2).expect("a commit");
    let (meta, second) = open(Which::Latest).expect("a graph");
    assert_eq!(meta.version.as_str(), "2");
    assert!(second.source().contains("P-2") && graphs.held().count == 2);
    let (_, again) = open(Which::Version(Version::number(1))).expect("a graph");
    assert!(Arc::ptr_eq(&first, &again));
}

#[test]
fn a_version_is_read_once_for_all_who_send_it_at_once() {
    let sim = Sim::new();
    let dir = Dir::open_on(Arc::new(sim.clone()), "/data".as_ref(), Options::default()).expect("opens");
    let (store, tenant, job): (Arc<dyn Store>, _, _) = (Arc::new(dir), tenant("t"), job("J-1"));
    let made = wait(store.commit(&tenant, &job, draft(&job, drawing(1)), &Precondition::None)).expect("a commit");
    let calls_of = |readers: usize, in_gzip: bool| {
        let (copies, before) = (Arc::new(Copies::new(0, Arc::new(Memory::new(1 << 20)))), sim.calls());
        let read = |_| {
            let (copies, store, tenant, meta) = (copies.clone(), store.clone(), tenant.clone(), made.meta.clone());
            async move {
                let who = "ann".into();
                let wanted = Wanted { store: &store, tenant: &tenant, meta: &meta, who: &who };
                if in_gzip {
                    return copies.in_gzip(wanted).await.expect("a graph").1;
                }
                copies.of_version(wanted, Coding::Identity).await.expect("a graph").bytes
            }
        };
        let all: Vec<_> = wait(async {
            let started: Vec<_> = (0..readers).map(|reader| tokio::spawn(read(reader))).collect();
            let mut all = Vec::new();
            for reader in started {
                all.push(reader.await.expect("no crash"));
            }
            all
        });
        assert!(all.iter().all(|bytes| bytes == &all[0]));
        sim.calls() - before
    };
    for in_gzip in [false, true] {
        assert_eq!(calls_of(32, in_gzip), calls_of(1, in_gzip), "gzip: {in_gzip}");
    }
}
