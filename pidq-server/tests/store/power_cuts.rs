//! Tests of power cuts after every operation of generated histories: acknowledged data is not lost, torn data is never
//! shown, and version numbers are not reused.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use pidq_server::store::dir::DirStore;
use pidq_server::store::validation::GraphDraft;
use pidq_server::store::{
    Coding, CommitOutcome, Error, GraphId, Options, Precondition, Store, Version, VersionSelector,
};
use tokio::runtime::Runtime;

use crate::fixtures::{Random, draft, drawing, graph_id, last, setting, tenant};
use crate::simulated_disk::{Loss, SimulatedDisk};

/// Number of retained versions, low enough to be exceeded by histories.
const RETAINED_VERSIONS: usize = 2;

#[derive(Clone, Debug)]
pub enum Step {
    /// Commits a drawing.
    Put(usize, GraphDraft),
    Delete(usize),
    Get(usize),
    /// Ends the process and starts another one.
    Reopen,
}

/// Generates a history with repeated content, deletions, expired versions and restarts.
pub fn history(seed: u64, steps: usize) -> Vec<Step> {
    let mut random = Random(seed);
    let mut step = || {
        let index = random.below(2) as usize;
        match random.below(10) {
            0..=5 => Step::Put(index, draft(&graph_ids()[index], drawing(random.below(4)))),
            6 | 7 => Step::Delete(index),
            8 => Step::Get(index),
            _ => Step::Reopen,
        }
    };
    (0..steps).map(|_| step()).collect()
}

pub fn graph_ids() -> [GraphId; 2] {
    [graph_id("J-1"), graph_id("a:b@c")]
}

/// Acknowledged state, and operations whose outcome is unknown.
#[derive(Clone, Default)]
pub struct Model {
    graph_ids: [GraphModel; 2],
}

#[derive(Clone, Default)]
struct GraphModel {
    /// Acknowledged versions since the last deletion.
    versions: BTreeMap<u64, Bytes>,
    /// Highest acknowledged version number.
    counter: u64,
    /// Highest number at the last acknowledged deletion: versions up to it must not reappear.
    deleted_up_to: u64,
    /// Failed operations since the last acknowledgement. Each may have taken effect.
    unacknowledged: Vec<Step>,
}

/// Store on a simulated disk, with a model of its acknowledged state.
pub struct Run {
    pub disk: SimulatedDisk,
    pub model: Model,
    dir: Option<DirStore>,
}

pub fn options() -> Options {
    Options { retention: last(RETAINED_VERSIONS), ..Options::default() }
}

impl Run {
    pub fn new(disk: SimulatedDisk) -> Run {
        Run { disk, model: Model::default(), dir: None }
    }

    /// Runs a step. Returns true if it was acknowledged.
    pub fn step(&mut self, runtime: &Runtime, step: &Step) -> bool {
        if matches!(step, Step::Reopen) {
            self.dir = None;
            return true;
        }
        if self.dir.is_none() {
            self.dir = DirStore::open_on(Arc::new(self.disk.clone()), Path::new("/data"), options()).ok();
        }
        let Some(dir) = &self.dir else { return false };
        let (tenant, graph_ids) = (tenant("t"), graph_ids());
        match step {
            Step::Reopen => true,
            Step::Get(at) => {
                runtime.block_on(dir.get(&tenant, &graph_ids[*at], &VersionSelector::Latest, Coding::Identity)).is_ok()
            }
            Step::Put(at, draft) => {
                let put = runtime.block_on(dir.commit(&tenant, &graph_ids[*at], draft.clone(), &Precondition::None));
                let known = &mut self.model.graph_ids[*at];
                match put {
                    Ok(put) => known.acknowledge(put.meta.version.as_number().expect("a number"), draft, put.outcome),
                    Err(_) => known.unacknowledged.push(step.clone()),
                }
                known.unacknowledged.is_empty()
            }
            Step::Delete(at) => {
                let known = &mut self.model.graph_ids[*at];
                match runtime.block_on(dir.delete(&tenant, &graph_ids[*at], &Precondition::None)) {
                    Ok(()) => {
                        *known =
                            GraphModel { counter: known.counter, deleted_up_to: known.counter, ..GraphModel::default() }
                    }
                    Err(Error::GraphNotFound) => assert!(known.versions.is_empty(), "an acknowledged graph is lost"),
                    Err(_) => known.unacknowledged.push(step.clone()),
                }
                known.unacknowledged.is_empty()
            }
        }
    }

    /// Checks that a store opened on a disk has the acknowledged state and accepts writes.
    pub fn check(&self, runtime: &Runtime, disk: &SimulatedDisk) {
        let dir = DirStore::open_on(Arc::new(disk.clone()), Path::new("/data"), options()).expect("opens");
        for (at, known) in self.model.graph_ids.iter().enumerate() {
            known.check(runtime, &dir, at);
        }
        let verified = runtime.block_on(dir.verify()).expect("verifies");
        assert_eq!(verified.corrupt, [], "torn data is returned");
        for (at, known) in self.model.graph_ids.iter().enumerate() {
            known.check_writable(runtime, &dir, at);
        }
    }

    pub fn check_now(&self, runtime: &Runtime) {
        if let Some(dir) = &self.dir {
            for (at, known) in self.model.graph_ids.iter().enumerate() {
                known.check(runtime, dir, at);
            }
        }
    }
}

impl GraphModel {
    fn acknowledge(&mut self, version: u64, draft: &GraphDraft, outcome: CommitOutcome) {
        if !self.unacknowledged.is_empty() {
            // A failed deletion or commit may have taken effect and removed earlier versions.
            self.versions.clear();
        }
        if outcome == CommitOutcome::Unchanged {
            // A failed commit that took effect is acknowledged now.
            self.versions.entry(version).or_insert_with(|| draft.to_json(&version.to_string()));
        } else {
            assert!(version > self.counter, "version number {version} is reused");
            self.versions.insert(version, draft.to_json(&version.to_string()));
        }
        self.counter = self.counter.max(version);
        self.unacknowledged.clear();
    }

    fn check(&self, runtime: &Runtime, dir: &DirStore, at: usize) {
        let (tenant, graph_id) = (tenant("t"), &graph_ids()[at]);
        let found = runtime.block_on(dir.get(&tenant, graph_id, &VersionSelector::Latest, Coding::Identity));
        match &found {
            Ok(found) => {
                let version = found.meta.version.as_number().expect("a number");
                let is_acknowledged = self.versions.last_key_value() == Some((&version, &found.bytes));
                assert!(
                    is_acknowledged || self.may_be_committed(version, &found.bytes),
                    "version {version} has content that was not stored"
                );
            }
            Err(Error::GraphNotFound) => assert!(
                self.versions.is_empty() || self.unacknowledged.iter().any(|step| matches!(step, Step::Delete(_))),
                "an acknowledged graph is lost"
            ),
            Err(other) => panic!("{other}"),
        }
        let listed = runtime.block_on(dir.versions(&tenant, graph_id)).unwrap_or_default();
        let mut listed = listed.iter().filter_map(|entry| entry.version.as_number());
        assert!(listed.all(|number| number > self.deleted_up_to), "a deleted version is back");
        if self.unacknowledged.is_empty() {
            for (version, bytes) in self.versions.iter().rev().take(RETAINED_VERSIONS) {
                let selector = VersionSelector::Version(Version::number(*version));
                let kept = runtime.block_on(dir.get(&tenant, graph_id, &selector, Coding::Identity));
                assert_eq!(kept.expect("a version is lost").bytes, bytes, "version {version}");
            }
        }
    }

    fn may_be_committed(&self, version: u64, bytes: &Bytes) -> bool {
        let is = |step: &Step| matches!(step, Step::Put(_, draft) if draft.to_json(&version.to_string()) == bytes);
        version > self.counter && self.unacknowledged.iter().any(is)
    }

    fn check_writable(&self, runtime: &Runtime, dir: &DirStore, at: usize) {
        let (tenant, graph_id) = (tenant("t"), &graph_ids()[at]);
        let put = runtime.block_on(dir.commit(&tenant, graph_id, draft(graph_id, drawing(99)), &Precondition::None));
        let number = put.expect("writes").meta.version.as_number().expect("a number");
        assert!(number > self.counter, "version number {number} is reused");
    }
}

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
}

/// Runs a history on a disk until the power cut.
fn play(runtime: &Runtime, disk: SimulatedDisk, steps: &[Step]) -> Run {
    let mut run = Run::new(disk);
    for step in steps {
        run.step(runtime, step);
        if run.disk.is_cut() {
            break;
        }
    }
    run
}

fn losses(seed: u64) -> [Loss; 4] {
    [Loss::All, Loss::Nothing, Loss::Some(seed), Loss::Some(seed + 1)]
}

#[test]
fn a_power_cut_loses_no_acknowledged_data() {
    let (runtime, minimum) = (runtime(), setting("PIDQ_TEST_CUTS", 3000));
    let (mut cuts, mut seed) = (0, 0);
    while cuts < minimum {
        let steps = history(seed, 14);
        let whole = play(&runtime, SimulatedDisk::new(), &steps);
        for change in 0..=whole.disk.changes() {
            let run = play(&runtime, SimulatedDisk::new().cut_after(change), &steps);
            for loss in losses(seed * 1000 + change * 2) {
                run.check(&runtime, &run.disk.after_cut(loss));
                cuts += 1;
            }
        }
        seed += 1;
    }
    println!("GOAL R4 power_cuts={cuts} histories={seed} lost=0 ok");
}

#[test]
fn data_of_a_killed_process_is_durable_before_it_is_acknowledged() {
    let runtime = runtime();
    let put = |index: usize| Step::Put(index, draft(&graph_ids()[index], drawing(1)));
    let histories = [vec![put(0)], vec![put(0), Step::Delete(0)], vec![put(0), Step::Delete(0), put(0)]];
    for steps in histories {
        for kill in 0..=play(&runtime, SimulatedDisk::new(), &steps).disk.changes() {
            let killed = play(&runtime, SimulatedDisk::new().cut_after(kill), &steps);
            // A commit with the same content may find the version of the killed process.
            let disk = killed.disk.after_kill();
            drop(DirStore::open_on(Arc::new(disk.clone()), Path::new("/data"), options()));
            assert!(disk.files().iter().all(|file| !file.contains("/.tmp-")), "{:?}", disk.files());
            let mut run = Run { model: killed.model, ..Run::new(disk) };
            for step in [put(0), put(1)] {
                assert!(run.step(&runtime, &step), "killed after {kill}: {step:?}");
                for loss in losses(kill) {
                    run.check(&runtime, &run.disk.after_cut(loss));
                }
            }
        }
    }
}

#[test]
fn a_power_cut_after_a_kill_loses_no_acknowledged_data() {
    let (runtime, minimum) = (runtime(), setting("PIDQ_TEST_CUTS", 3000) / 3);
    let (mut cuts, mut seed) = (0, 1_000_000);
    while cuts < minimum {
        let (before, after) = (history(seed, 8), history(seed + 1, 6));
        let whole = play(&runtime, SimulatedDisk::new(), &before).disk.changes();
        let kill = Random(seed).below(whole);
        for change in 0.. {
            let killed = play(&runtime, SimulatedDisk::new().cut_after(kill), &before);
            let mut run = Run { model: killed.model, ..Run::new(killed.disk.after_kill().cut_after(change)) };
            for step in &after {
                run.step(&runtime, step);
            }
            for loss in losses(seed + change) {
                run.check(&runtime, &run.disk.after_cut(loss));
                cuts += 1;
            }
            if !run.disk.is_cut() {
                break;
            }
        }
        seed += 2;
    }
    println!("GOAL R4 kills_then_cuts={cuts} lost=0 ok");
}
