//! Tests of the file store on a real disk.

use std::fs;
use std::io::Write;
use std::process::Command;

use pidq_server::store;
use pidq_server::store::dir::DirStore;
use pidq_server::store::{Coding, Error, Options, Precondition, Store, StoreState, TenantQuota, VersionSelector};

use crate::conformance;
use crate::fixtures::{TempDir, draft, drawing, graph_id, last, tenant, wait};

#[test]
fn a_directory_passes_the_conformance_suite() {
    let temp_dir = TempDir::new();
    let options = || Options { retention: last(3), ..Options::default() };
    let dir = DirStore::open(temp_dir.path(), options()).expect("opens");
    wait(conformance::run(&dir, "first."));
    drop(dir);
    let dir = DirStore::open(temp_dir.path(), options()).expect("opens again");
    wait(conformance::run(&dir, "second."));
    assert_eq!(wait(dir.state()), StoreState::Writable);
}

#[test]
fn a_directory_can_retain_all_versions() {
    let temp_dir = TempDir::new();
    let open = || DirStore::open(temp_dir.path(), conformance::retain_all()).expect("opens");
    wait(conformance::all_versions_are_retained(&open()));
    let (tenant, graph_id) = (tenant("all"), graph_id("J-1"));
    let before = wait(open().versions(&tenant, &graph_id)).expect("versions");
    assert_eq!(before.len(), 12, "the versions on disk are found");
    let fewer = DirStore::open(temp_dir.path(), Options { retention: last(2), ..Options::default() }).expect("opens");
    wait(fewer.commit(&tenant, &graph_id, draft(&graph_id, drawing(13)), &Precondition::None)).expect("a commit");
    assert_eq!(wait(fewer.versions(&tenant, &graph_id)).expect("versions").len(), 2);
}

#[test]
fn a_store_is_chosen_by_its_url() {
    let temp_dir = TempDir::new();
    let open = |url: &str| wait(store::open(url, Options::default())).map(drop).map_err(|error| error.code());
    assert_eq!(open(&format!("dir:{}", temp_dir.path().join("data").display())), Ok(()));
    assert_eq!(open("postgres://nobody@127.0.0.1:1/none"), Err("store-unavailable"));
    for url in ["", "mongodb://x", "/data", "sqlite:x"] {
        assert_eq!(open(url), Err("store-unavailable"), "{url}");
    }
}

#[test]
fn a_relative_path_is_accepted() {
    let name = format!("pidq-store-relative-{}", std::process::id());
    let opened = DirStore::open(&name, Options::default()).map(drop);
    let _ = fs::remove_dir_all(&name);
    assert_eq!(opened, Ok(()));
    assert_eq!(
        DirStore::open("/proc/nowhere/data", Options::default()).map(drop).map_err(|error| error.code()),
        Err("storage-failure")
    );
}

#[test]
fn a_directory_is_locked_by_one_store() {
    let temp_dir = TempDir::new();
    let first = DirStore::open(temp_dir.path(), Options::default()).expect("opens");
    assert_eq!(
        DirStore::open(temp_dir.path(), Options::default()).err().map(|error| error.code()),
        Some("store-locked")
    );
    drop(first);
    assert!(DirStore::open(temp_dir.path(), Options::default()).is_ok());
}

#[test]
fn files_persist_and_are_readable_by_zstd() {
    let temp_dir = TempDir::new();
    let (tenant, graph_id) = (tenant("t"), graph_id("J-1"));
    let dir = DirStore::open(temp_dir.path(), Options::default()).expect("opens");
    wait(dir.commit(&tenant, &graph_id, draft(&graph_id, drawing(1)), &Precondition::None)).expect("a commit");
    wait(dir.commit(&tenant, &graph_id, draft(&graph_id, drawing(2)), &Precondition::None)).expect("a commit");
    drop(dir);
    let files = temp_dir.path().join("graphs").join(tenant.to_file_name()).join(graph_id.to_file_name());
    let file = fs::read_dir(&files)
        .expect("the graph directory")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = file.collect();
    names.sort();
    assert!(names[0].starts_with("1-") && names[1].ends_with(".json.zst") && names.len() == 2, "{names:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(files.join(&names[0])).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let dir = DirStore::open(temp_dir.path(), Options::default()).expect("opens");
    let graph = wait(dir.get(&tenant, &graph_id, &VersionSelector::Latest, Coding::Identity)).expect("a graph");
    let whole = zstd::stream::decode_all(&fs::read(files.join(&names[1])).expect("a file")[..]);
    assert_eq!(whole.expect("zstd"), graph.bytes);
    match Command::new("zstd").arg("-dc").arg(files.join(&names[1])).output() {
        Ok(output) => assert_eq!(output.stdout, graph.bytes),
        Err(_) => println!("skipped: there is no command zstd here"),
    }
}

#[test]
fn the_tenant_quota_is_enforced() {
    let temp_dir = TempDir::new();
    let quota = TenantQuota { bytes: 4096, graphs: 2 };
    let dir =
        DirStore::open(temp_dir.path(), Options { retention: last(1), quota, ..Options::default() }).expect("opens");
    let (first, other) = (tenant("a"), tenant("b"));
    let put = |tenant, name: &str, number| {
        let graph_id = graph_id(name);
        wait(dir.commit(tenant, &graph_id, draft(&graph_id, drawing(number)), &Precondition::None))
            .map_err(|error| error.code())
    };
    assert!(put(&first, "J-1", 1).is_ok() && put(&first, "J-2", 1).is_ok());
    assert_eq!(put(&first, "J-3", 1).err(), Some("insufficient-storage"));
    assert!(put(&other, "J-3", 1).is_ok());
    for number in 2..30 {
        assert!(put(&first, "J-1", number).is_ok(), "removed versions release their bytes");
    }
    wait(dir.delete(&first, &graph_id("J-2"), &Precondition::None)).expect("deleted");
    assert!(put(&first, "J-3", 1).is_ok());
    let large = format!(
        r#"{{"nodes":[{}],"edges":[]}}"#,
        (0..3000).map(|id| format!(r#"{{"id":{}}}"#, id * 7919 % 104_729)).collect::<Vec<_>>().join(",")
    );
    let put = wait(dir.commit(&other, &graph_id("J-3"), draft(&graph_id("J-3"), large), &Precondition::None));
    assert!(matches!(put, Err(Error::InsufficientStorage(_))), "{put:?}");
}

/// Uses a small tmpfs, a real device that can be filled.
#[test]
fn a_full_real_disk_is_reported_and_reads_continue() {
    let temp_dir = TempDir::new();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(temp_dir.path()).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!("skipped: no small disk can be mounted here");
        return;
    }
    let (tenant, graph_id) = (tenant("t"), graph_id("J-1"));
    let dir = DirStore::open(temp_dir.path(), Options::default()).expect("opens");
    let mut random = crate::fixtures::Random(1);
    let mut noise =
        || (0..4000).map(|_| format!("{{\"id\":\"{:x}\"}}", random.below(u64::MAX))).collect::<Vec<_>>().join(",");
    let mut put = || {
        wait(dir.commit(
            &tenant,
            &graph_id,
            draft(&graph_id, format!(r#"{{"nodes":[{}],"edges":[]}}"#, noise())),
            &Precondition::None,
        ))
    };
    let mut stored = 0;
    let error = loop {
        match put() {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
    };
    let read = wait(dir.get(&tenant, &graph_id, &VersionSelector::Latest, Coding::Identity));
    let filler = temp_dir.path().join("filler");
    let fill = || {
        let mut file = fs::File::create(&filler).expect("created");
        while Write::write(&mut file, &[0; 512]).is_ok() {}
    };
    fill();
    let full = wait(dir.state());
    fs::remove_file(&filler).expect("removed");
    let deleted = wait(dir.delete(&tenant, &graph_id, &Precondition::None));
    let state = wait(dir.state());
    let again = put();
    drop(dir);
    let _ = Command::new("umount").arg(temp_dir.path()).output();
    assert_eq!(error.code(), "insufficient-storage");
    assert!(stored > 0 && read.is_ok_and(|graph| graph.meta.version.as_number() == Some(stored)));
    assert!(matches!(full, StoreState::ReadOnly(_)), "{full:?}");
    assert_eq!((state, deleted), (StoreState::Writable, Ok(())));
    assert_eq!(again.expect("free space").meta.version.as_number(), Some(stored + 1));
}
