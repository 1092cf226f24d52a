//! Tests of the read-only directory store.

use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use pidq_server::store::read_only_dir::{Options, ReadOnlyDir, WatchMode};
use pidq_server::store::{
    Coding, Error, Event, Precondition, Result, Store, StoreState, StoredGraph, Version, VersionSelector,
};

use crate::fixtures::{TempDir, draft, drawing, graph_id, recorded_events, tenant, wait};

fn get(served: &ReadOnlyDir, name: &str) -> Result<StoredGraph> {
    wait(served.get(&tenant("t"), &graph_id(name), &VersionSelector::Latest, Coding::Identity))
}

fn manual_reload() -> Options {
    Options { watch_mode: WatchMode::Manual, ..Options::default() }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn files_are_graphs_by_their_names() {
    let temp_dir = TempDir::new();
    let write = |name: &str, bytes: &[u8]| fs::write(temp_dir.path().join(name), bytes).expect("written");
    write("A-1.json", drawing(1).as_bytes());
    write("A-2.json.gz", &gzip(&drawing(2)));
    write("B:3.json.zst", &zstd::stream::encode_all(drawing(3).as_bytes(), 1).expect("memory"));
    write("B:3.json.gz", &gzip(&drawing(4)));
    for other in [".hidden.json", "notes.txt", "bad name.json", ".json"] {
        write(other, b"{");
    }
    fs::create_dir(temp_dir.path().join("dir.json")).expect("made");
    let served = ReadOnlyDir::open(temp_dir.path(), manual_reload()).expect("opens");
    let list = |prefix: &str, after: Option<&str>, limit| {
        let after = after.map(graph_id);
        let found = wait(served.list(&tenant("t"), prefix, after.as_ref(), limit)).expect("a list");
        found.iter().map(|meta| meta.graph_id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list("", None, 9), ["A-1", "A-2", "B:3"]);
    assert_eq!(list("", Some("A-1"), 1), ["A-2"]);
    assert_eq!(list("B", None, 9), ["B:3"]);
    for (name, number) in [("A-1", 1), ("A-2", 2), ("B:3", 3)] {
        let graph = get(&served, name).expect("served");
        assert_eq!(graph.bytes, draft(&graph_id(name), drawing(number)).to_json("1"));
        assert_eq!((graph.meta.version.as_str(), graph.meta.nodes), ("1", 1));
        let compressed =
            wait(served.get(&tenant("t"), &graph_id(name), &VersionSelector::Latest, Coding::Zstd)).expect("served");
        assert_eq!(zstd::stream::decode_all(&compressed.bytes[..]).expect("zstd"), graph.bytes);
        assert_eq!(wait(served.head(&tenant("t"), &graph_id(name), &VersionSelector::Latest)), Ok(graph.meta));
    }
    assert_eq!(wait(served.state()), StoreState::ReadOnlyDir);
}

#[test]
fn a_file_defines_its_version() {
    let temp_dir = TempDir::new();
    let text = r#"{"nodes":[],"edges":[],"metadata":{"change_version":"rev \"B\""}}"#;
    fs::write(temp_dir.path().join("J.json"), text).expect("written");
    let served = ReadOnlyDir::open(temp_dir.path(), manual_reload()).expect("opens");
    let graph = get(&served, "J").expect("served");
    assert_eq!(graph.meta.version, Version::named("rev \"B\""));
    assert!(graph.bytes.windows(text.len() - 20).any(|part| part == &text.as_bytes()[..text.len() - 20]));
    // The version is no valid header value, so the tag is the hash alone.
    assert!(graph.meta.etag().as_str().starts_with('-'), "{}", graph.meta.etag());
    let head = |name: &str| {
        wait(served.head(&tenant("t"), &graph_id("J"), &VersionSelector::Version(Version::named(name)))).map(drop)
    };
    assert_eq!((head("rev \"B\""), head("1")), (Ok(()), Err(Error::VersionNotFound)));
    assert_eq!(wait(served.versions(&tenant("t"), &graph_id("J"))).expect("one").len(), 1);
}

#[test]
fn writes_are_rejected_and_other_tenants_see_nothing() {
    let temp_dir = TempDir::new();
    fs::write(temp_dir.path().join("J.json"), drawing(1)).expect("written");
    let options = Options { tenant: Some(tenant("mine")), ..manual_reload() };
    let served = ReadOnlyDir::open(temp_dir.path(), options).expect("opens");
    let graph_id = graph_id("J");
    let put = wait(served.commit(&tenant("mine"), &graph_id, draft(&graph_id, drawing(2)), &Precondition::None));
    assert_eq!(put.expect_err("served").code(), "read-only");
    assert_eq!(
        wait(served.delete(&tenant("mine"), &graph_id, &Precondition::None)).expect_err("served").code(),
        "read-only"
    );
    assert_eq!(get(&served, "J").expect_err("of another tenant"), Error::GraphNotFound);
    assert!(wait(served.head(&tenant("mine"), &graph_id, &VersionSelector::Latest)).is_ok());
    assert_eq!(wait(served.list(&tenant("t"), "", None, 9)).expect("a list").len(), 0);
}

#[test]
fn the_file_name_is_the_graph_id() {
    let temp_dir = TempDir::new();
    let text = r#"{"nodes": [], "edges": [], "metadata": {"job_id": "K", "x": 1.0}}"#;
    fs::write(temp_dir.path().join("J.json"), text).expect("written");
    let served = ReadOnlyDir::open(temp_dir.path(), manual_reload()).expect("opens");
    let bytes = get(&served, "J").expect("served").bytes;
    let shown = r#"{"pid_graph":{"nodes": [], "edges": [], "metadata": {"job_id": "J", "x": 1.0,"#;
    assert!(bytes.starts_with(shown.as_bytes()), "{bytes:?}");
}

#[test]
fn an_invalid_file_keeps_its_last_valid_content() {
    let temp_dir = TempDir::new();
    let write = |name: &str, text: &str| fs::write(temp_dir.path().join(name), text).expect("written");
    write("J.json", &drawing(1));
    write("K.json", "{");
    let (events, list) = recorded_events();
    let served = ReadOnlyDir::open(temp_dir.path(), Options { events, ..manual_reload() }).expect("opens");
    assert_eq!(get(&served, "K").expect_err("broken"), Error::GraphNotFound);
    let first = get(&served, "J").expect("served").meta;
    for broken in ["{", r#"{"nodes":1}"#, r#"{"nodes":[],"edges":[],"metadata":{"schema_version":"2"}}"#] {
        write("J.json", broken);
        served.reload().expect("reads");
        assert_eq!(get(&served, "J").expect("the last valid content").meta, first);
    }
    write("J.json", &drawing(2));
    served.reload().expect("reads");
    let second = get(&served, "J").expect("served").meta;
    assert_ne!(second.etag(), first.etag());
    fs::remove_file(temp_dir.path().join("J.json")).expect("removed");
    served.reload().expect("reads");
    assert_eq!(get(&served, "J").expect_err("removed"), Error::GraphNotFound);
    let list = list.lock().expect("no panic");
    let broken: Vec<(&str, bool)> = list
        .iter()
        .filter_map(|event| match event {
            Event::InvalidFile { file, keeps_previous, .. } => Some((file.as_str(), *keeps_previous)),
            _ => None,
        })
        .collect();
    assert_eq!(broken, [("K.json", false), ("J.json", true), ("J.json", true), ("J.json", true)]);
    assert_eq!(list.iter().filter(|event| matches!(event, Event::Reloaded { .. })).count(), 3);
}

#[test]
fn a_missing_directory_keeps_the_served_graphs() {
    let temp_dir = TempDir::new();
    let dir = temp_dir.path().join("graphs");
    fs::create_dir(&dir).expect("made");
    fs::write(dir.join("J.json"), drawing(1)).expect("written");
    let served = ReadOnlyDir::open(&dir, manual_reload()).expect("opens");
    fs::rename(&dir, temp_dir.path().join("away")).expect("renamed");
    assert_eq!(served.reload().expect_err("gone").code(), "storage-failure");
    assert!(get(&served, "J").is_ok());
    assert!(ReadOnlyDir::open(temp_dir.path().join("nowhere"), Options::default()).is_err());
}

#[test]
fn memory_is_bounded() {
    let temp_dir = TempDir::new();
    for name in ["A.json", "B.json", "C.json"] {
        fs::write(temp_dir.path().join(name), drawing(1)).expect("written");
    }
    let (events, list) = recorded_events();
    let served = ReadOnlyDir::open(temp_dir.path(), Options { bytes: 300, events, ..manual_reload() }).expect("opens");
    assert!(get(&served, "A").is_ok() && get(&served, "C").is_err());
    assert!(
        list.lock()
            .expect("no panic")
            .iter()
            .any(|event| matches!(event, Event::InvalidFile { keeps_previous: false, .. }))
    );
}

#[track_caller]
fn wait_until(holds: &dyn Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "not detected");
        std::thread::yield_now();
    }
}

/// Returns true if a graph has the content of a numbered drawing.
fn has_drawing(served: &ReadOnlyDir, name: &str, number: u64) -> bool {
    let expected = draft(&graph_id(name), drawing(number)).to_json("1");
    get(served, name).is_ok_and(|graph| graph.bytes == expected)
}

#[test]
fn a_replaced_directory_is_followed() {
    let temp_dir = TempDir::new();
    let (dir, old) = (temp_dir.path().join("graphs"), temp_dir.path().join("old"));
    fs::create_dir(&dir).expect("made");
    fs::write(dir.join("J.json"), drawing(1)).expect("written");
    let served = ReadOnlyDir::open(&dir, Options::default()).expect("opens");
    fs::rename(&dir, &old).expect("renamed");
    fs::create_dir(&dir).expect("made");
    fs::write(dir.join("J.json"), drawing(2)).expect("written");
    wait_until(&|| has_drawing(&served, "J", 2));
    fs::write(dir.join("K.json"), drawing(3)).expect("written");
    wait_until(&|| has_drawing(&served, "K", 3));
    fs::rename(&dir, temp_dir.path().join("older")).expect("renamed");
    fs::rename(&old, &dir).expect("renamed");
    served.reload().expect("read");
    assert!(has_drawing(&served, "J", 1));
    fs::write(dir.join("J.json"), drawing(4)).expect("written");
    wait_until(&|| has_drawing(&served, "J", 4));
}

#[cfg(unix)]
#[test]
fn a_switched_link_is_followed() {
    let temp_dir = TempDir::new();
    let path = |name: &str| temp_dir.path().join(name);
    for (folder, number) in [("one", 1), ("two", 2)] {
        fs::create_dir_all(path(folder).join("graphs")).expect("made");
        fs::write(path(folder).join("graphs/J.json"), drawing(number)).expect("written");
    }
    let switch = |target: &str| {
        std::os::unix::fs::symlink(target, path("next")).expect("linked");
        fs::rename(path("next"), path("current")).expect("renamed");
    };
    switch("one");
    let served = ReadOnlyDir::open(path("current").join("graphs"), Options::default()).expect("opens");
    assert!(has_drawing(&served, "J", 1));
    switch("two");
    wait_until(&|| has_drawing(&served, "J", 2));
    fs::write(path("two").join("graphs/J.json"), drawing(3)).expect("written");
    wait_until(&|| has_drawing(&served, "J", 3));
}

#[test]
fn changes_are_detected() {
    let temp_dir = TempDir::new();
    fs::write(temp_dir.path().join("J.json"), drawing(1)).expect("written");
    let (events, list) = recorded_events();
    let served = ReadOnlyDir::open(temp_dir.path(), Options { events, ..Options::default() }).expect("opens");
    fs::write(temp_dir.path().join("next"), drawing(2)).expect("written");
    fs::rename(temp_dir.path().join("next"), temp_dir.path().join("J.json")).expect("renamed");
    let second = draft(&graph_id("J"), drawing(2)).to_json("1");
    wait_until(&|| get(&served, "J").is_ok_and(|graph| graph.bytes == second));
    fs::write(temp_dir.path().join("J.json"), "{").expect("written");
    wait_until(&|| {
        list.lock()
            .expect("no panic")
            .iter()
            .any(|event| matches!(event, Event::InvalidFile { keeps_previous: true, .. }))
    });
    assert!(get(&served, "J").is_ok_and(|graph| graph.bytes == second));
    fs::remove_file(temp_dir.path().join("J.json")).expect("removed");
    wait_until(&|| get(&served, "J").is_err());
}
