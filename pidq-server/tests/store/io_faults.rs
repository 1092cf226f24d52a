//! Tests of disk failures at every call: acknowledged data is not lost, reads continue, and writes resume.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use pidq_server::store::dir::DirStore;
use pidq_server::store::{Coding, Error, Event, Options, Precondition, Store, StoreState, VersionSelector};

use crate::fixtures::{draft, drawing, recorded_events, tenant};
use crate::power_cuts::{Run, Step, graph_ids, history, runtime};
use crate::simulated_disk::{Fault, Loss, SimulatedDisk};

const KINDS: [ErrorKind; 3] = [ErrorKind::Other, ErrorKind::StorageFull, ErrorKind::Interrupted];

#[test]
fn a_failing_call_loses_nothing_and_writes_resume() {
    let runtime = runtime();
    let mut faults = 0;
    for seed in 0..3 {
        let steps = history(seed, 8);
        for (kind, takes_effect) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            for at in 1.. {
                let mut run = Run::new(SimulatedDisk::new());
                run.disk.fail(Some(Fault { at, calls: 1, kind, takes_effect }));
                for step in &steps {
                    run.step(&runtime, step);
                    run.disk.clone().without_faults(|| run.check_now(&runtime));
                }
                let reached = run.disk.calls() >= at;
                run.disk.fail(None);
                run.check(&runtime, &run.disk.after_cut(Loss::Some(at + 1)));
                // After the fault, every write succeeds.
                for index in 0..2 {
                    let put = Step::Put(index, draft(&graph_ids()[index], drawing(50)));
                    assert!(run.step(&runtime, &put), "writes do not resume: {kind} at {at} of history {seed}");
                }
                for loss in [Loss::All, Loss::Some(at)] {
                    run.check(&runtime, &run.disk.after_cut(loss));
                }
                faults += 1;
                if !reached {
                    break;
                }
            }
        }
    }
    println!("GOAL R5 faults={faults} lost=0 ok");
}

#[test]
fn a_full_disk_is_reported_and_reads_continue() {
    let (runtime, disk) = (runtime(), SimulatedDisk::new());
    let dir = DirStore::open_on(Arc::new(disk.clone()), Path::new("/data"), Options::default()).expect("opens");
    let (tenant, graph_id) = (tenant("t"), &graph_ids()[0]);
    let put =
        |number| runtime.block_on(dir.commit(&tenant, graph_id, draft(graph_id, drawing(number)), &Precondition::None));
    let read = || {
        runtime.block_on(dir.get(&tenant, graph_id, &VersionSelector::Latest, Coding::Identity)).map(|graph| graph.meta)
    };
    put(1).expect("writes");
    disk.fail(Some(Fault { at: 1, calls: u64::MAX, kind: ErrorKind::StorageFull, takes_effect: false }));
    assert_eq!(put(2).expect_err("full").code(), "insufficient-storage");
    assert_eq!(read().expect("reads").version.as_str(), "1");
    assert!(matches!(runtime.block_on(dir.state()), StoreState::ReadOnly(_)), "not ready");
    disk.fail(None);
    assert_eq!(runtime.block_on(dir.state()), StoreState::Writable, "ready with the next check");
    assert_eq!(put(2).expect("free space").meta.version.as_str(), "2");
    assert!(disk.files().iter().all(|file| !file.contains(".tmp-")), "{:?}", disk.files());
}

#[test]
fn after_a_failed_sync_writes_stop_until_a_new_file_can_be_synced() {
    let (runtime, disk) = (runtime(), SimulatedDisk::new());
    let (events, list) = recorded_events();
    let options = Options { events, ..Options::default() };
    let dir = DirStore::open_on(Arc::new(disk.clone()), Path::new("/data"), options).expect("opens");
    let (tenant, graph_id) = (tenant("t"), &graph_ids()[0]);
    let put =
        |number| runtime.block_on(dir.commit(&tenant, graph_id, draft(graph_id, drawing(number)), &Precondition::None));
    put(1).expect("writes");
    // The file is created and written; the sync and all later calls fail.
    disk.fail(Some(Fault { at: 4, calls: u64::MAX, kind: ErrorKind::Other, takes_effect: false }));
    assert_eq!(put(2).expect_err("not synced").code(), "storage-failure");
    assert_eq!(put(2).expect_err("stopped").code(), "read-only");
    assert!(matches!(runtime.block_on(dir.state()), StoreState::ReadOnly(_)));
    let read = runtime.block_on(dir.get(&tenant, graph_id, &VersionSelector::Latest, Coding::Identity));
    assert_eq!(read.expect("reads").meta.version.as_str(), "1");
    disk.fail(None);
    assert_eq!(runtime.block_on(dir.state()), StoreState::Writable);
    assert_eq!(put(2).expect("writes").meta.version.as_str(), "2");
    let list = list.lock().expect("no panic");
    assert!(matches!(list[..], [Event::ReadOnly(_), Event::Writable]), "{list:?}");
}

#[test]
fn corrupt_files_are_quarantined() {
    let (runtime, disk) = (runtime(), SimulatedDisk::new());
    let (tenant, [graph_id, other]) = (tenant("t"), graph_ids());
    let (events, list) = recorded_events();
    let open = |disk: &SimulatedDisk| {
        let options = Options { events: events.clone(), ..Options::default() };
        DirStore::open_on(Arc::new(disk.clone()), Path::new("/data"), options).expect("opens")
    };
    let dir = open(&disk);
    for number in 1..=2 {
        runtime
            .block_on(dir.commit(&tenant, &graph_id, draft(&graph_id, drawing(number)), &Precondition::None))
            .expect("writes");
    }
    runtime.block_on(dir.commit(&tenant, &other, draft(&other, drawing(1)), &Precondition::None)).expect("writes");
    let file = disk.files().into_iter().find(|file| file.contains("/2-")).expect("version 2");
    disk.damage(Path::new(&file), 400);
    let get = |dir: &DirStore, graph_id, selector| {
        runtime.block_on(dir.get(&tenant, graph_id, &selector, Coding::Zstd)).map(|graph| graph.meta)
    };
    for dir in [dir, open(&disk)] {
        assert_eq!(get(&dir, &graph_id, VersionSelector::Latest), Err(Error::GraphCorrupt));
        let first = VersionSelector::Version(pidq_server::store::Version::number(1));
        assert!(get(&dir, &graph_id, first).is_ok() && get(&dir, &other, VersionSelector::Latest).is_ok());
    }
    assert!(disk.files().iter().any(|file| file.starts_with("/data/quarantine/")), "{:?}", disk.files());
    assert!(matches!(list.lock().expect("no panic")[..], [Event::Quarantined { .. }]));
    let put =
        runtime.block_on(open(&disk).commit(&tenant, &graph_id, draft(&graph_id, drawing(2)), &Precondition::None));
    assert_eq!(put.expect("writes").meta.version.as_str(), "3");
    assert_eq!(get(&open(&disk), &graph_id, VersionSelector::Latest).expect("intact").version.as_str(), "3");
}

#[test]
fn corruption_of_any_byte_is_detected() {
    let (runtime, disk) = (runtime(), SimulatedDisk::new());
    let (tenant, [graph_id, _]) = (tenant("t"), graph_ids());
    let open = |disk: &SimulatedDisk| {
        DirStore::open_on(Arc::new(disk.clone()), Path::new("/data"), Options::default()).expect("opens")
    };
    runtime
        .block_on(open(&disk).commit(&tenant, &graph_id, draft(&graph_id, drawing(1)), &Precondition::None))
        .expect("writes");
    let file = disk.files().into_iter().find(|file| file.contains("/1-")).expect("version 1");
    let len = disk.len(Path::new(&file));
    for (at, coding) in (0..len).flat_map(|at| [(at, Coding::Identity), (at, Coding::Zstd)]) {
        let damaged = disk.after_kill();
        damaged.damage(Path::new(&file), at);
        let found = runtime.block_on(open(&damaged).get(&tenant, &graph_id, &VersionSelector::Latest, coding));
        assert_eq!(found.map(|graph| graph.meta), Err(Error::GraphCorrupt), "byte {at} of {len}");
    }
}
