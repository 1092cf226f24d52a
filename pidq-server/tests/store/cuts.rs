//! Power cuts after every operation of generated histories: nothing acknowledged is lost, nothing torn is shown, no
//! number is given twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use pidq_server::door::Draft;
use pidq_server::store::dir::Dir;
use pidq_server::store::{Coding, Error, JobId, Options, Outcome, Precondition, Store, Version, Which};
use tokio::runtime::Runtime;

use crate::setting::{Dice, draft, drawing, job, last, setting, tenant};
use crate::sim::{Loss, Sim};

/// Versions kept, few enough that histories reach the end of it.
const KEEP: usize = 2;

#[derive(Clone, Debug)]
pub enum Step {
    /// A drawing for a job.
    Put(usize, Draft),
    Delete(usize),
    Get(usize),
    /// The process ends and another one begins.
    Reopen,
}

/// A history that comes to all corners: the same content again, deletions, versions beyond those kept, restarts.
pub fn history(seed: u64, steps: usize) -> Vec<Step> {
    let mut dice = Dice(seed);
    let mut step = || {
        let which = dice.roll(2) as usize;
        match dice.roll(10) {
            0..=5 => Step::Put(which, draft(&jobs()[which], drawing(dice.roll(4)))),
            6 | 7 => Step::Delete(which),
            8 => Step::Get(which),
            _ => Step::Reopen,
        }
    };
    (0..steps).map(|_| step()).collect()
}

pub fn jobs() -> [JobId; 2] {
    [job("J-1"), job("a:b@c")]
}

/// What was acknowledged, and what may have happened since.
#[derive(Clone, Default)]
pub struct Model {
    jobs: [Known; 2],
}

#[derive(Clone, Default)]
struct Known {
    /// Acknowledged versions since the last deletion.
    versions: BTreeMap<u64, Bytes>,
    /// The highest number that was acknowledged.
    counter: u64,
    /// The highest number at the last deletion that was acknowledged: none up to it may be seen again.
    floor: u64,
    /// What failed since the last acknowledgement. Each may have happened.
    doubtful: Vec<Step>,
}

/// A store on a simulated disk, and what it has promised.
pub struct Run {
    pub sim: Sim,
    pub model: Model,
    dir: Option<Dir>,
}

pub fn options() -> Options {
    Options { keep: last(KEEP), ..Options::default() }
}

impl Run {
    pub fn new(sim: Sim) -> Run {
        Run { sim, model: Model::default(), dir: None }
    }

    /// Does a step. Whether it was acknowledged.
    pub fn step(&mut self, runtime: &Runtime, step: &Step) -> bool {
        if matches!(step, Step::Reopen) {
            self.dir = None;
            return true;
        }
        if self.dir.is_none() {
            self.dir = Dir::open_on(Arc::new(self.sim.clone()), Path::new("/data"), options()).ok();
        }
        let Some(dir) = &self.dir else { return false };
        let (tenant, jobs) = (tenant("t"), jobs());
        match step {
            Step::Reopen => true,
            Step::Get(at) => runtime.block_on(dir.get(&tenant, &jobs[*at], &Which::Latest, Coding::Identity)).is_ok(),
            Step::Put(at, draft) => {
                let put = runtime.block_on(dir.commit(&tenant, &jobs[*at], draft.clone(), &Precondition::None));
                let known = &mut self.model.jobs[*at];
                match put {
                    Ok(put) => known.acknowledge(put.meta.version.as_number().expect("a number"), draft, put.outcome),
                    Err(_) => known.doubtful.push(step.clone()),
                }
                known.doubtful.is_empty()
            }
            Step::Delete(at) => {
                let known = &mut self.model.jobs[*at];
                match runtime.block_on(dir.delete(&tenant, &jobs[*at], &Precondition::None)) {
                    Ok(()) => *known = Known { counter: known.counter, floor: known.counter, ..Known::default() },
                    Err(Error::GraphNotFound) => assert!(known.versions.is_empty(), "an acknowledged graph is lost"),
                    Err(_) => known.doubtful.push(step.clone()),
                }
                known.doubtful.is_empty()
            }
        }
    }

    /// Whether the store, opened on a disk, holds what was promised; and goes on from there.
    pub fn check(&self, runtime: &Runtime, sim: &Sim) {
        let dir = Dir::open_on(Arc::new(sim.clone()), Path::new("/data"), options()).expect("opens");
        for (at, known) in self.model.jobs.iter().enumerate() {
            known.check(runtime, &dir, at);
        }
        let verified = runtime.block_on(dir.verify()).expect("verifies");
        assert_eq!(verified.corrupt, [], "something torn is shown");
        for (at, known) in self.model.jobs.iter().enumerate() {
            known.check_goes_on(runtime, &dir, at);
        }
    }

    pub fn check_now(&self, runtime: &Runtime) {
        if let Some(dir) = &self.dir {
            for (at, known) in self.model.jobs.iter().enumerate() {
                known.check(runtime, dir, at);
            }
        }
    }
}

impl Known {
    fn acknowledge(&mut self, version: u64, draft: &Draft, outcome: Outcome) {
        if !self.doubtful.is_empty() {
            // A deletion that failed and happened, or a version more: what came before may be gone.
            self.versions.clear();
        }
        if outcome == Outcome::Unchanged {
            // It may be one that failed before and got through all the same: now it is promised.
            self.versions.entry(version).or_insert_with(|| draft.to_json(&version.to_string()));
        } else {
            assert!(version > self.counter, "the number {version} is given twice");
            self.versions.insert(version, draft.to_json(&version.to_string()));
        }
        self.counter = self.counter.max(version);
        self.doubtful.clear();
    }

    fn check(&self, runtime: &Runtime, dir: &Dir, at: usize) {
        let (tenant, job) = (tenant("t"), &jobs()[at]);
        let found = runtime.block_on(dir.get(&tenant, job, &Which::Latest, Coding::Identity));
        match &found {
            Ok(found) => {
                let version = found.meta.version.as_number().expect("a number");
                let is_promised = self.versions.last_key_value() == Some((&version, &found.bytes));
                assert!(is_promised || self.may_be(version, &found.bytes), "version {version} was not stored so");
            }
            Err(Error::GraphNotFound) => assert!(
                self.versions.is_empty() || self.doubtful.iter().any(|step| matches!(step, Step::Delete(_))),
                "an acknowledged graph is lost"
            ),
            Err(other) => panic!("{other}"),
        }
        let listed = runtime.block_on(dir.versions(&tenant, job)).unwrap_or_default();
        let mut listed = listed.iter().filter_map(|entry| entry.version.as_number());
        assert!(listed.all(|number| number > self.floor), "a deleted version is back");
        if self.doubtful.is_empty() {
            for (version, bytes) in self.versions.iter().rev().take(KEEP) {
                let which = Which::Version(Version::number(*version));
                let kept = runtime.block_on(dir.get(&tenant, job, &which, Coding::Identity));
                assert_eq!(kept.expect("a version is lost").bytes, bytes, "version {version}");
            }
        }
    }

    fn may_be(&self, version: u64, bytes: &Bytes) -> bool {
        let is = |step: &Step| matches!(step, Step::Put(_, draft) if draft.to_json(&version.to_string()) == bytes);
        version > self.counter && self.doubtful.iter().any(is)
    }

    fn check_goes_on(&self, runtime: &Runtime, dir: &Dir, at: usize) {
        let (tenant, job) = (tenant("t"), &jobs()[at]);
        let put = runtime.block_on(dir.commit(&tenant, job, draft(job, drawing(99)), &Precondition::None));
        let number = put.expect("writes").meta.version.as_number().expect("a number");
        assert!(number > self.counter, "the number {number} is given twice");
    }
}

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
}

/// Runs a history on a disk, until the power is gone.
fn play(runtime: &Runtime, sim: Sim, steps: &[Step]) -> Run {
    let mut run = Run::new(sim);
    for step in steps {
        run.step(runtime, step);
        if run.sim.is_cut() {
            break;
        }
    }
    run
}

fn losses(seed: u64) -> [Loss; 4] {
    [Loss::All, Loss::Nothing, Loss::Some(seed), Loss::Some(seed + 1)]
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let (runtime, wanted) = (runtime(), setting("PIDQ_TEST_CUTS", 3000));
    let (mut cuts, mut seed) = (0, 0);
    while cuts < wanted {
        let steps = history(seed, 14);
        let whole = play(&runtime, Sim::new(), &steps);
        for change in 0..=whole.sim.changes() {
            let run = play(&runtime, Sim::new().cut_after(change), &steps);
            for loss in losses(seed * 1000 + change * 2) {
                run.check(&runtime, &run.sim.after_cut(loss));
                cuts += 1;
            }
        }
        seed += 1;
    }
    println!("GOAL R4 power_cuts={cuts} histories={seed} lost=0 ok");
}

#[test]
fn what_a_killed_process_left_is_sure_before_it_is_acknowledged() {
    let runtime = runtime();
    let put = |which: usize| Step::Put(which, draft(&jobs()[which], drawing(1)));
    let lives = [vec![put(0)], vec![put(0), Step::Delete(0)], vec![put(0), Step::Delete(0), put(0)]];
    for life in lives {
        for kill in 0..=play(&runtime, Sim::new(), &life).sim.changes() {
            let killed = play(&runtime, Sim::new().cut_after(kill), &life);
            // The same content again may find the version of the killed process.
            let sim = killed.sim.after_kill();
            drop(Dir::open_on(Arc::new(sim.clone()), Path::new("/data"), options()));
            assert!(sim.files().iter().all(|file| !file.contains("/.tmp-")), "{:?}", sim.files());
            let mut run = Run { model: killed.model, ..Run::new(sim) };
            for step in [put(0), put(1)] {
                assert!(run.step(&runtime, &step), "killed after {kill}: {step:?}");
                for loss in losses(kill) {
                    run.check(&runtime, &run.sim.after_cut(loss));
                }
            }
        }
    }
}

#[test]
fn a_power_cut_after_a_kill_loses_nothing_either() {
    let (runtime, wanted) = (runtime(), setting("PIDQ_TEST_CUTS", 3000) / 3);
    let (mut cuts, mut seed) = (0, 1_000_000);
    while cuts < wanted {
        let (before, after) = (history(seed, 8), history(seed + 1, 6));
        let whole = play(&runtime, Sim::new(), &before).sim.changes();
        let kill = Dice(seed).roll(whole);
        for change in 0.. {
            let killed = play(&runtime, Sim::new().cut_after(kill), &before);
            let mut run = Run { model: killed.model, ..Run::new(killed.sim.after_kill().cut_after(change)) };
            for step in &after {
                run.step(&runtime, step);
            }
            for loss in losses(seed + change) {
                run.check(&runtime, &run.sim.after_cut(loss));
                cuts += 1;
            }
            if !run.sim.is_cut() {
                break;
            }
        }
        seed += 2;
    }
    println!("GOAL R4 kills_then_cuts={cuts} lost=0 ok");
}
