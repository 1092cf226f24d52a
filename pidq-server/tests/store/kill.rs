//! Processes that are killed while they write: what they said is stored is there, and nothing is torn.
//!
//! This test binary runs itself: with a place in the environment, one of the tests is the process to be killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use pidq_server::store::dir::Dir;
use pidq_server::store::{Coding, Error, Options, Precondition, Store, Which};

use crate::setting::{Dice, Place, draft, drawing, job, last, setting, tenant, wait};

const PLACE: &str = "PIDQ_TEST_WRITER_PLACE";
const JOBS: u64 = 4;

#[test]
fn a_writer() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let dir = Arc::new(Dir::open(Path::new(&place), Options { keep: last(3), ..Options::default() }).expect("opens"));
    say("open");
    let reader = dir.clone();
    let (begun, beginnings) = std::sync::mpsc::channel();
    thread::spawn(move || wait(read_on(&reader, &beginnings)));
    wait(write_on(&dir, setting("PIDQ_TEST_WRITER_SEED", 0), &begun));
}

/// Commits and deletes until killed, and says so after each.
async fn write_on(dir: &Dir, seed: u64, begun: &Sender<()>) {
    let (tenant, mut dice) = (tenant("t"), Dice(seed));
    for number in seed * 1_000_000.. {
        let which = dice.roll(JOBS);
        let job = job(&format!("J-{which}"));
        if dice.roll(8) == 0 {
            match dir.delete(&tenant, &job, &Precondition::None).await {
                Ok(()) => say(&format!("deleted {which}")),
                Err(Error::GraphNotFound) => {}
                Err(error) => say(&format!("failed {error}")),
            }
        } else {
            say(&format!("putting {which} {number}"));
            let _ = begun.send(());
            match dir.commit(&tenant, &job, draft(&job, drawing(number)), &Precondition::None).await {
                Ok(put) => say(&format!("put {which} {number} {}", put.meta.version)),
                Err(error) => say(&format!("failed {error}")),
            }
        }
    }
}

/// Reads while something is written, and says when it is not whole.
async fn read_on(dir: &Dir, beginnings: &Receiver<()>) {
    let tenant = tenant("t");
    for number in 0.. {
        if number % JOBS == 0 && beginnings.recv().is_err() {
            return;
        }
        match dir.get(&tenant, &job(&format!("J-{}", number % JOBS)), &Which::Latest, Coding::Identity).await {
            Ok(graph) if graph.meta.size == graph.bytes.len() as u64 && graph.bytes.ends_with(b"}}}") => {}
            Err(Error::GraphNotFound) => {}
            other => say(&format!("torn {other:?}")),
        }
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("@ {line}\n").as_bytes()).and_then(|()| out.flush());
}

/// What a job is known to be: its drawing and version, or that it is not there.
type Known = Option<(u64, u64)>;

#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged() {
    let place = Place::in_memory();
    let cycles = setting("PIDQ_TEST_KILLS", 100);
    let mut known: [Known; JOBS as usize] = [None; JOBS as usize];
    let (mut counters, mut dice, mut acknowledged) = ([0; JOBS as usize], Dice(7), 0);
    for cycle in 0..cycles {
        let mut writer = start(place.path(), cycle);
        let killer = kill_after(&mut writer, Duration::from_micros(1000 + dice.roll(60_000)));
        let said = killer.join().expect("no panic");
        let mut doubtful: [Vec<Known>; JOBS as usize] = Default::default();
        for line in said.iter().map(|line| line.split(' ').collect::<Vec<_>>()) {
            let at = |place: usize| line.get(place).and_then(|text| text.parse::<u64>().ok()).unwrap_or(u64::MAX);
            match line[0] {
                "putting" => doubtful[at(1) as usize].push(Some((at(2), u64::MAX))),
                "put" => {
                    let which = at(1) as usize;
                    assert!(at(3) > counters[which], "cycle {cycle}: a number is given twice");
                    (known[which], counters[which]) = (Some((at(2), at(3))), at(3));
                    doubtful[which].clear();
                    acknowledged += 1;
                }
                "deleted" => {
                    (known[at(1) as usize], acknowledged) = (None, acknowledged + 1);
                    doubtful[at(1) as usize].clear();
                }
                "open" => {}
                _ => panic!("cycle {cycle}: {line:?}"),
            }
        }
        let dir = Dir::open(place.path(), Options { keep: last(3), ..Options::default() }).expect("opens");
        for which in 0..JOBS as usize {
            known[which] = check(&dir, which, known[which], &doubtful[which]);
        }
        let verified = wait(dir.verify()).expect("verified");
        assert_eq!(verified.corrupt, [], "cycle {cycle}");
    }
    println!("GOAL R4 kills={cycles} acknowledged={acknowledged} lost=0 torn=0 ok");
    assert!(acknowledged > cycles / 4, "the writers were killed before they wrote");
}

/// What a job is, which must be what was acknowledged or what was under way.
fn check(dir: &Dir, which: usize, known: Known, doubtful: &[Known]) -> Known {
    let job = job(&format!("J-{which}"));
    match wait(dir.get(&tenant("t"), &job, &Which::Latest, Coding::Identity)) {
        Ok(graph) => {
            let version = graph.meta.version.as_number().expect("a number");
            let is = |number: u64| graph.bytes == draft(&job, drawing(number)).to_json(&version.to_string());
            let is_known = known.is_some_and(|(number, of)| of == version && is(number));
            let found = doubtful.iter().flatten().find(|(number, _)| is(*number));
            assert!(is_known || found.is_some(), "job {which} at version {version}, known {known:?}");
            if is_known { known } else { found.map(|(number, _)| (*number, version)) }
        }
        // A deletion is not announced, so it may have been under way.
        Err(Error::GraphNotFound) => {
            let was_deleted = known.is_none() || deleted_since(dir, &job, known);
            assert!(was_deleted, "job {which} is lost, known {known:?}");
            None
        }
        Err(other) => panic!("job {which}: {other}"),
    }
}

/// Whether the next number is one above the last: a tombstone has kept the count.
fn deleted_since(dir: &Dir, job: &pidq_server::store::JobId, known: Known) -> bool {
    let put =
        wait(dir.commit(&tenant("t"), job, draft(job, drawing(u64::MAX)), &Precondition::None)).expect("a commit");
    let goes_on = put.meta.version.as_number() > known.map(|(_, version)| version);
    wait(dir.delete(&tenant("t"), job, &Precondition::None)).expect("deleted");
    goes_on
}

fn start(place: &Path, seed: u64) -> Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "kill::a_writer", "--nocapture", "--test-threads=1"])
        .env(PLACE, place)
        .env("PIDQ_TEST_WRITER_SEED", seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

/// Lets a writer run for a while after it has opened the store, and kills it. Gives what it has said.
fn kill_after(writer: &mut Child, while_: Duration) -> thread::JoinHandle<Vec<String>> {
    let mut lines = BufReader::new(writer.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let mut said: Vec<String> = Vec::new();
    if let Some(line) = lines.find(|line| line.contains("@ open")) {
        said.extend(line.split_once("@ ").map(|(_, said)| said.to_owned()));
    }
    let rest = thread::spawn(move || {
        said.extend(lines.filter_map(|line| Some(line.split_once("@ ")?.1.to_owned())));
        said
    });
    thread::sleep(while_);
    writer.kill().expect("killed");
    writer.wait().expect("ended");
    rest
}

#[test]
fn ten_thousand_graphs_are_ready_at_once() {
    let place = Place::new();
    let (tenant, count) = (tenant("t"), setting("PIDQ_TEST_GRAPHS", 10_000));
    // One real version, under ten thousand names: syncing each would measure the disk.
    let dir = Dir::open(place.path(), Options::default()).expect("opens");
    let first = job("J-0");
    wait(dir.commit(&tenant, &first, draft(&first, drawing(1)), &Precondition::None)).expect("a commit");
    drop(dir);
    let jobs = place.path().join("graphs").join(tenant.to_file_name());
    let file = std::fs::read_dir(jobs.join(first.to_file_name())).expect("the job").flatten().next().expect("a file");
    for number in 1..count {
        let dir = jobs.join(job(&format!("J-{number}")).to_file_name());
        std::fs::create_dir(&dir)
            .and_then(|()| std::fs::hard_link(file.path(), dir.join(file.file_name())))
            .expect("made");
    }
    let start = Instant::now();
    let dir = Dir::open(place.path(), Options::default()).expect("opens");
    let ready = start.elapsed();
    println!(
        "GOAL R4 graphs={count} ready_ms={} limit=1000 {}",
        ready.as_millis(),
        if ready.as_secs() < 1 { "ok" } else { "late" }
    );
    assert!(ready < Duration::from_secs(5), "{ready:?}");
    assert!(wait(dir.get(&tenant, &first, &Which::Latest, Coding::Identity)).is_ok());
}
