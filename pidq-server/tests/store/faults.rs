//! A disk that fails at the first, second, … call: nothing acknowledged is lost, reads go on, writes come back.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use pidq_server::store::dir::Dir;
use pidq_server::store::{Coding, Error, Event, Options, Precondition, State, Store, Which};

use crate::cuts::{Run, Step, history, jobs, runtime};
use crate::setting::{draft, drawing, heard, tenant};
use crate::sim::{Fault, Loss, Sim};

const KINDS: [ErrorKind; 3] = [ErrorKind::Other, ErrorKind::StorageFull, ErrorKind::Interrupted];

#[test]
fn a_failing_call_loses_nothing_and_writes_come_back() {
    let runtime = runtime();
    let mut faults = 0;
    for seed in 0..3 {
        let steps = history(seed, 8);
        for (kind, works) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            for at in 1.. {
                let mut run = Run::new(Sim::new());
                run.sim.fail(Some(Fault { at, calls: 1, kind, works }));
                for step in &steps {
                    run.step(&runtime, step);
                    run.sim.clone().aside(|| run.check_now(&runtime));
                }
                let reached = run.sim.calls() >= at;
                run.sim.fail(None);
                run.check(&runtime, &run.sim.after_cut(Loss::Some(at + 1)));
                // The fault is over: every write succeeds.
                for which in 0..2 {
                    let put = Step::Put(which, draft(&jobs()[which], drawing(50)));
                    assert!(run.step(&runtime, &put), "writes do not come back: {kind} at {at} of history {seed}");
                }
                for loss in [Loss::All, Loss::Some(at)] {
                    run.check(&runtime, &run.sim.after_cut(loss));
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
fn a_full_disk_is_said_and_reads_go_on() {
    let (runtime, sim) = (runtime(), Sim::new());
    let dir = Dir::open_on(Arc::new(sim.clone()), Path::new("/data"), Options::default()).expect("opens");
    let (tenant, job) = (tenant("t"), &jobs()[0]);
    let put = |number| runtime.block_on(dir.commit(&tenant, job, draft(job, drawing(number)), &Precondition::None));
    let read = || runtime.block_on(dir.get(&tenant, job, &Which::Latest, Coding::Identity)).map(|graph| graph.meta);
    put(1).expect("writes");
    sim.fail(Some(Fault { at: 1, calls: u64::MAX, kind: ErrorKind::StorageFull, works: false }));
    assert_eq!(put(2).expect_err("full").code(), "insufficient-storage");
    assert_eq!(read().expect("reads").version.as_str(), "1");
    assert_eq!(runtime.block_on(dir.state()), State::Writable);
    sim.fail(None);
    assert_eq!(put(2).expect("space again").meta.version.as_str(), "2");
    assert!(sim.files().iter().all(|file| !file.contains(".tmp-")), "{:?}", sim.files());
}

#[test]
fn after_a_failed_sync_writes_stop_until_a_new_file_can_be_synced() {
    let (runtime, sim) = (runtime(), Sim::new());
    let (events, list) = heard();
    let options = Options { events, ..Options::default() };
    let dir = Dir::open_on(Arc::new(sim.clone()), Path::new("/data"), options).expect("opens");
    let (tenant, job) = (tenant("t"), &jobs()[0]);
    let put = |number| runtime.block_on(dir.commit(&tenant, job, draft(job, drawing(number)), &Precondition::None));
    put(1).expect("writes");
    // Creating and both writes work, the sync and everything after it does not.
    sim.fail(Some(Fault { at: 4, calls: u64::MAX, kind: ErrorKind::Other, works: false }));
    assert_eq!(put(2).expect_err("not synced").code(), "storage-failure");
    assert_eq!(put(2).expect_err("stopped").code(), "read-only");
    assert!(matches!(runtime.block_on(dir.state()), State::ReadOnly(_)));
    let read = runtime.block_on(dir.get(&tenant, job, &Which::Latest, Coding::Identity));
    assert_eq!(read.expect("reads").meta.version.as_str(), "1");
    sim.fail(None);
    assert_eq!(runtime.block_on(dir.state()), State::Writable);
    assert_eq!(put(2).expect("writes").meta.version.as_str(), "2");
    let list = list.lock().expect("no panic");
    assert!(matches!(list[..], [Event::ReadOnly(_), Event::Writable]), "{list:?}");
}

#[test]
fn damage_is_put_aside_and_stays_known() {
    let (runtime, sim) = (runtime(), Sim::new());
    let (tenant, [job, other]) = (tenant("t"), jobs());
    let (events, list) = heard();
    let open = |sim: &Sim| {
        let options = Options { events: events.clone(), ..Options::default() };
        Dir::open_on(Arc::new(sim.clone()), Path::new("/data"), options).expect("opens")
    };
    let dir = open(&sim);
    for number in 1..=2 {
        runtime.block_on(dir.commit(&tenant, &job, draft(&job, drawing(number)), &Precondition::None)).expect("writes");
    }
    runtime.block_on(dir.commit(&tenant, &other, draft(&other, drawing(1)), &Precondition::None)).expect("writes");
    let file = sim.files().into_iter().find(|file| file.contains("/2-")).expect("version 2");
    sim.damage(Path::new(&file), 400);
    let get =
        |dir: &Dir, job, which| runtime.block_on(dir.get(&tenant, job, &which, Coding::Zstd)).map(|graph| graph.meta);
    for dir in [dir, open(&sim)] {
        assert_eq!(get(&dir, &job, Which::Latest), Err(Error::GraphCorrupt));
        let first = Which::Version(pidq_server::store::Version::number(1));
        assert!(get(&dir, &job, first).is_ok() && get(&dir, &other, Which::Latest).is_ok());
    }
    assert!(sim.files().iter().any(|file| file.starts_with("/data/quarantine/")), "{:?}", sim.files());
    assert!(matches!(list.lock().expect("no panic")[..], [Event::Quarantined { .. }]));
    let put = runtime.block_on(open(&sim).commit(&tenant, &job, draft(&job, drawing(2)), &Precondition::None));
    assert_eq!(put.expect("writes").meta.version.as_str(), "3");
    assert_eq!(get(&open(&sim), &job, Which::Latest).expect("sound").version.as_str(), "3");
}

#[test]
fn damage_to_any_byte_is_noticed() {
    let (runtime, sim) = (runtime(), Sim::new());
    let (tenant, [job, _]) = (tenant("t"), jobs());
    let open = |sim: &Sim| Dir::open_on(Arc::new(sim.clone()), Path::new("/data"), Options::default()).expect("opens");
    runtime.block_on(open(&sim).commit(&tenant, &job, draft(&job, drawing(1)), &Precondition::None)).expect("writes");
    let file = sim.files().into_iter().find(|file| file.contains("/1-")).expect("version 1");
    let len = sim.len(Path::new(&file));
    for (at, coding) in (0..len).flat_map(|at| [(at, Coding::Identity), (at, Coding::Zstd)]) {
        let damaged = sim.after_kill();
        damaged.damage(Path::new(&file), at);
        let found = runtime.block_on(open(&damaged).get(&tenant, &job, &Which::Latest, coding));
        assert_eq!(found.map(|graph| graph.meta), Err(Error::GraphCorrupt), "byte {at} of {len}");
    }
}
