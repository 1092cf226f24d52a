//! Tests of processes killed while writing: acknowledged data is present, and nothing is torn.
//!
//! The test binary runs itself: if the environment names a directory, one of the tests is the process to kill.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use pidq_server::store::dir::DirStore;
use pidq_server::store::{Coding, Error, Options, Precondition, Store, VersionSelector};

use crate::fixtures::{Random, TempDir, draft, drawing, graph_id, last, setting, tenant, wait};

/// Environment variable with the directory of the process to kill.
const DIR_ENV: &str = "PIDQ_TEST_WRITER_DIR";
const GRAPHS: u64 = 4;

#[test]
fn writer_process() {
    let Some(path) = std::env::var_os(DIR_ENV) else { return };
    let dir = Arc::new(
        DirStore::open(Path::new(&path), Options { retention: last(3), ..Options::default() }).expect("opens"),
    );
    print_line("open");
    let reader = dir.clone();
    let (started, starts) = std::sync::mpsc::channel();
    thread::spawn(move || wait(read_loop(&reader, &starts)));
    wait(write_loop(&dir, setting("PIDQ_TEST_WRITER_SEED", 0), &started));
}

/// Commits and deletes until killed, printing each acknowledgement.
async fn write_loop(dir: &DirStore, seed: u64, started: &Sender<()>) {
    let (tenant, mut random) = (tenant("t"), Random(seed));
    for number in seed * 1_000_000.. {
        let index = random.below(GRAPHS);
        let graph_id = graph_id(&format!("J-{index}"));
        if random.below(8) == 0 {
            match dir.delete(&tenant, &graph_id, &Precondition::None).await {
                Ok(()) => print_line(&format!("deleted {index}")),
                Err(Error::GraphNotFound) => {}
                Err(error) => print_line(&format!("failed {error}")),
            }
        } else {
            print_line(&format!("putting {index} {number}"));
            let _ = started.send(());
            match dir.commit(&tenant, &graph_id, draft(&graph_id, drawing(number)), &Precondition::None).await {
                Ok(put) => print_line(&format!("put {index} {number} {}", put.meta.version)),
                Err(error) => print_line(&format!("failed {error}")),
            }
        }
    }
}

/// Reads during writes, and prints torn reads.
async fn read_loop(dir: &DirStore, starts: &Receiver<()>) {
    let tenant = tenant("t");
    for number in 0.. {
        if number % GRAPHS == 0 && starts.recv().is_err() {
            return;
        }
        match dir
            .get(&tenant, &graph_id(&format!("J-{}", number % GRAPHS)), &VersionSelector::Latest, Coding::Identity)
            .await
        {
            Ok(graph) if graph.meta.size == graph.bytes.len() as u64 && graph.bytes.ends_with(b"}}}") => {}
            Err(Error::GraphNotFound) => {}
            other => print_line(&format!("torn {other:?}")),
        }
    }
}

fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("@ {line}\n").as_bytes()).and_then(|()| out.flush());
}

/// Known state of a graph: its drawing and version, or `None` if absent.
type GraphModel = Option<(u64, u64)>;

#[test]
fn a_killed_process_loses_no_acknowledged_data() {
    let temp_dir = TempDir::in_memory();
    let cycles = setting("PIDQ_TEST_KILLS", 100);
    let mut known: [GraphModel; GRAPHS as usize] = [None; GRAPHS as usize];
    let (mut counters, mut random, mut acknowledged) = ([0; GRAPHS as usize], Random(7), 0);
    for cycle in 0..cycles {
        let mut writer = start(temp_dir.path(), cycle);
        let reader = kill_after(&mut writer, Duration::from_micros(1000 + random.below(60_000)));
        let lines_read = reader.join().expect("no panic");
        let mut unacknowledged: [Vec<GraphModel>; GRAPHS as usize] = Default::default();
        for line in lines_read.iter().map(|line| line.split(' ').collect::<Vec<_>>()) {
            let at = |index: usize| line.get(index).and_then(|text| text.parse::<u64>().ok()).unwrap_or(u64::MAX);
            match line[0] {
                "putting" => unacknowledged[at(1) as usize].push(Some((at(2), u64::MAX))),
                "put" => {
                    let index = at(1) as usize;
                    assert!(at(3) > counters[index], "cycle {cycle}: a version number is reused");
                    (known[index], counters[index]) = (Some((at(2), at(3))), at(3));
                    unacknowledged[index].clear();
                    acknowledged += 1;
                }
                "deleted" => {
                    (known[at(1) as usize], acknowledged) = (None, acknowledged + 1);
                    unacknowledged[at(1) as usize].clear();
                }
                "open" => {}
                _ => panic!("cycle {cycle}: {line:?}"),
            }
        }
        let dir = DirStore::open(temp_dir.path(), Options { retention: last(3), ..Options::default() }).expect("opens");
        for index in 0..GRAPHS as usize {
            known[index] = check(&dir, index, known[index], &unacknowledged[index]);
        }
        let verified = wait(dir.verify()).expect("verified");
        assert_eq!(verified.corrupt, [], "cycle {cycle}");
    }
    println!("GOAL R4 kills={cycles} acknowledged={acknowledged} lost=0 torn=0 ok");
    assert!(acknowledged > cycles / 4, "the writers were killed before they wrote");
}

/// Checks that a graph has its acknowledged state or that of an unfinished operation.
fn check(dir: &DirStore, index: usize, known: GraphModel, unacknowledged: &[GraphModel]) -> GraphModel {
    let graph_id = graph_id(&format!("J-{index}"));
    match wait(dir.get(&tenant("t"), &graph_id, &VersionSelector::Latest, Coding::Identity)) {
        Ok(graph) => {
            let version = graph.meta.version.as_number().expect("a number");
            let is = |number: u64| graph.bytes == draft(&graph_id, drawing(number)).to_json(&version.to_string());
            let is_known = known.is_some_and(|(number, known_version)| known_version == version && is(number));
            let found = unacknowledged.iter().flatten().find(|(number, _)| is(*number));
            assert!(is_known || found.is_some(), "graph {index} at version {version}, known {known:?}");
            if is_known { known } else { found.map(|(number, _)| (*number, version)) }
        }
        // Deletions are not announced, so one may have been in progress.
        Err(Error::GraphNotFound) => {
            let was_deleted = known.is_none() || deleted_since(dir, &graph_id, known);
            assert!(was_deleted, "graph {index} is lost, known {known:?}");
            None
        }
        Err(other) => panic!("graph {index}: {other}"),
    }
}

/// Returns true if a commit continues the version numbers, as after a deletion.
fn deleted_since(dir: &DirStore, graph_id: &pidq_server::store::GraphId, known: GraphModel) -> bool {
    let put = wait(dir.commit(&tenant("t"), graph_id, draft(graph_id, drawing(u64::MAX)), &Precondition::None))
        .expect("a commit");
    let is_continued = put.meta.version.as_number() > known.map(|(_, version)| version);
    wait(dir.delete(&tenant("t"), graph_id, &Precondition::None)).expect("deleted");
    is_continued
}

fn start(dir: &Path, seed: u64) -> Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "process_kills::writer_process", "--nocapture", "--test-threads=1"])
        .env(DIR_ENV, dir)
        .env("PIDQ_TEST_WRITER_SEED", seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts")
}

/// Lets a writer run for a while after it opened the store, then kills it. Returns its output.
fn kill_after(writer: &mut Child, duration: Duration) -> thread::JoinHandle<Vec<String>> {
    let mut lines = BufReader::new(writer.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let mut output: Vec<String> = Vec::new();
    if let Some(line) = lines.find(|line| line.contains("@ open")) {
        output.extend(line.split_once("@ ").map(|(_, output)| output.to_owned()));
    }
    let rest = thread::spawn(move || {
        output.extend(lines.filter_map(|line| Some(line.split_once("@ ")?.1.to_owned())));
        output
    });
    thread::sleep(duration);
    writer.kill().expect("killed");
    writer.wait().expect("ended");
    rest
}

#[test]
fn ten_thousand_graphs_open_within_a_second() {
    let temp_dir = TempDir::new();
    let (tenant, count) = (tenant("t"), setting("PIDQ_TEST_GRAPHS", 10_000));
    // One real version, linked for ten thousand graphs: syncing each would measure the disk.
    let dir = DirStore::open(temp_dir.path(), Options::default()).expect("opens");
    let first = graph_id("J-0");
    wait(dir.commit(&tenant, &first, draft(&first, drawing(1)), &Precondition::None)).expect("a commit");
    drop(dir);
    let graph_ids = temp_dir.path().join("graphs").join(tenant.to_file_name());
    let file = std::fs::read_dir(graph_ids.join(first.to_file_name()))
        .expect("the graph directory")
        .flatten()
        .next()
        .expect("a file");
    for number in 1..count {
        let dir = graph_ids.join(graph_id(&format!("J-{number}")).to_file_name());
        std::fs::create_dir(&dir)
            .and_then(|()| std::fs::hard_link(file.path(), dir.join(file.file_name())))
            .expect("made");
    }
    let start = Instant::now();
    let dir = DirStore::open(temp_dir.path(), Options::default()).expect("opens");
    let ready = start.elapsed();
    println!(
        "GOAL R4 graphs={count} ready_ms={} limit=1000 {}",
        ready.as_millis(),
        if ready.as_secs() < 1 { "ok" } else { "late" }
    );
    assert!(ready < Duration::from_secs(5), "{ready:?}");
    assert!(wait(dir.get(&tenant, &first, &VersionSelector::Latest, Coding::Identity)).is_ok());
}
