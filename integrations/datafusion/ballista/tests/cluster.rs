//! A cluster of real processes: one scheduler and two executors, of which one is killed.

#[path = "../../tests/it/plant.rs"]
mod plant;

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pidq-ballista");
const SHEETS: usize = 400;
/// Ports below those that systems give to clients.
const PORTS: std::ops::Range<u16> = 21_700..21_800;
/// For everything that takes seconds, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A process that is killed when the test ends.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    fn start(arguments: &[String], log: &Path) -> Result<Process> {
        let log = std::fs::File::create(log)?;
        let mut command = Command::new(PROGRAM);
        command.args(arguments).stdout(log.try_clone()?).stderr(log).env("RUST_LOG", "info");
        Ok(Process(command.spawn()?))
    }

    /// Sends SIGTERM, and returns whether the process ends with success.
    fn terminate(&mut self) -> Result<bool> {
        self.signal("TERM")?;
        let start = Instant::now();
        while start.elapsed() < TIMEOUT {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status.success());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err("the process does not end".into())
    }

    /// Returns the largest resident size in KiB.
    fn peak(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        Ok(peak.unwrap_or_default())
    }

    fn signal(&self, name: &str) -> Result<()> {
        let status = Command::new("kill").args(["-s", name]).arg(self.0.id().to_string()).status()?;
        if status.success() { Ok(()) } else { Err(format!("SIG{name} was not sent").into()) }
    }

    /// Suspends the process, and waits until none of its threads runs.
    fn suspend(&self) -> Result<()> {
        self.signal("STOP")?;
        let start = Instant::now();
        while !self.is_suspended()? {
            if start.elapsed() > TIMEOUT {
                return Err("the process is not suspended".into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn is_suspended(&self) -> Result<bool> {
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.0.id()))? {
            // A thread may end meanwhile.
            let stat = std::fs::read_to_string(thread?.path().join("stat")).unwrap_or_default();
            let is_running = stat.rsplit(") ").next().is_some_and(|state| !stat.is_empty() && !state.starts_with('T'));
            if is_running {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

struct Cluster {
    scheduler: Process,
    executors: Vec<Process>,
    url: String,
    directory: TempDir,
}

impl Cluster {
    fn start(directory: TempDir) -> Result<Cluster> {
        let mut ports = PORTS.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
        let mut port = || ports.next().ok_or("no free port");
        let address = format!("127.0.0.1:{}", port()?);
        let scheduler = Process::start(
            &words(&["scheduler", "--bind", &address, "--min-executors", "2", "--executor-timeout", "6"]),
            &directory.path().join("scheduler.log"),
        )?;
        let mut executors = Vec::new();
        for number in 1..=2 {
            let (scheduler_port, port, grpc_port) =
                (address.rsplit(':').next().unwrap_or_default(), port()?.to_string(), port()?.to_string());
            let work = directory.path().join(format!("work-{number}"));
            std::fs::create_dir(&work)?;
            executors.push(Process::start(
                &words(&[
                    "executor",
                    "--scheduler-port",
                    scheduler_port,
                    "--port",
                    &port,
                    "--grpc-port",
                    &grpc_port,
                    "--tasks",
                    "1",
                    "--memory",
                    "128M",
                    "--heartbeat",
                    "1",
                    "--work-dir",
                    text(&work),
                ]),
                &directory.path().join(format!("executor-{number}.log")),
            )?);
        }
        let start = Instant::now();
        while !is_ready(&address) {
            if start.elapsed() > TIMEOUT {
                return Err("the cluster is not ready".into());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(Cluster { scheduler, executors, url: format!("df://{address}"), directory })
    }

    fn client(&self, arguments: &[&str]) -> Command {
        let table = format!("drawings={}/", self.directory.path().join("parquet").display());
        let mut command = Command::new(PROGRAM);
        command.args([arguments[0], "--scheduler", &self.url, "--table", &table]).args(&arguments[1..]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns the log of an executor.
    fn log(&self, executor: usize) -> Result<String> {
        Ok(std::fs::read_to_string(self.directory.path().join(format!("executor-{}.log", executor + 1)))?)
    }

    /// Starts a statement, and suspends an executor in the middle of one of its tasks: the statement cannot end without
    /// this task. If the statement ends before the executor has one, it is started again.
    fn suspend_in_a_task(&self, executor: usize, sql: &str) -> Result<Child> {
        let start = Instant::now();
        while start.elapsed() < TIMEOUT {
            let earlier = self.log(executor)?.len();
            let is_in_a_task = || Ok::<_, Box<dyn Error>>(running_tasks(&self.log(executor)?[earlier..]) > 0);
            let mut client = self.client(&["client", "--format", "json", sql]).spawn()?;
            while client.try_wait()?.is_none() {
                if is_in_a_task()? {
                    self.executors[executor].suspend()?;
                    // It may have finished the task before it was suspended.
                    if is_in_a_task()? {
                        return Ok(client);
                    }
                    self.executors[executor].signal("CONT")?;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Err("the executor has no task".into())
    }

    /// Runs a statement and returns its only row as JSON.
    fn sql(&self, sql: &str) -> Result<serde_json::Value> {
        row(self.client(&["client", "--format", "json", sql]).output()?)
    }
}

/// Returns the number of tasks that an executor has started and not finished, from its log.
fn running_tasks(log: &str) -> isize {
    let count = |text| log.matches(text).count() as isize;
    count("Received task: [") + count("Execute task  : [") - count("Finished task : [")
}

fn row(output: Output) -> Result<serde_json::Value> {
    match output.status.success() {
        true => Ok(serde_json::from_slice(&output.stdout)?),
        false => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

fn is_ready(address: &str) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

/// Writes the drawings, and packs them into several files so that both executors have work.
fn pack(directory: &Path, drawings: &[(String, String)]) -> Result<PathBuf> {
    let (json, parquet) = (directory.join("json"), directory.join("parquet"));
    std::fs::create_dir(&json)?;
    for (name, graph) in drawings {
        std::fs::write(json.join(format!("{name}.json")), graph)?;
    }
    let arguments = ["pack", "--row-group", "64K", "--file", "128K", text(&json), text(&parquet)];
    let output = Command::new(PROGRAM).args(arguments).output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(parquet)
}

#[test]
fn a_cluster_answers_like_one_process_also_after_an_executor_is_killed() -> Result<()> {
    let drawings = plant::drawings(SHEETS);
    let directory = TempDir::new()?;
    let parquet = pack(directory.path(), &drawings)?;
    assert!(std::fs::read_dir(&parquet)?.count() >= 8);
    let mut cluster = Cluster::start(directory)?;

    // A number per drawing, added up.
    let valves = r#"nodes() | filter(.node_classification == "piping_component.gate_valve" and .nominal_diameter > 50) | size()"#;
    let expected = plant::sum(&drawings, valves)?;
    assert!(expected > 100);
    let sql = format!(
        "SELECT count(*) AS drawings, CAST(sum(pidq_number(graph, '{valves}')) AS BIGINT) AS valves FROM drawings"
    );
    let answer = serde_json::json!({"drawings": SHEETS, "valves": expected});
    assert_eq!(cluster.sql(&sql)?, answer);
    let table_sql = "SELECT count(*) AS n, count(pidq_error) AS errors
        FROM pidq_rows('drawings', 'nodes()', 'tag text, nominal_diameter number')";
    let nodes = plant::sum(&drawings, "nodes() | size()")?;
    assert_eq!(cluster.sql(table_sql)?, serde_json::json!({"n": nodes, "errors": 0}));

    // A trace across drawings.
    let trace = |cluster: &Cluster| -> Result<Vec<String>> {
        let output = cluster.client(&["trace", "PID-0000", "0-V1"]).output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.lines().map(|line| line.replace('\t', "#")).collect())
    };
    let reached: Vec<String> = plant::downstream(&drawings, "0-V1")?.into_iter().collect();
    assert!(reached.len() > 200);
    let mut found = trace(&cluster)?;
    found.sort();
    assert_eq!(found, reached);

    // The settings of the client apply in the executors.
    let failing = cluster.client(&["client", "--set", "pidq.on_error=fail", "--set", "pidq.fuel=2", &sql]).output()?;
    assert!(!failing.status.success());
    assert!(String::from_utf8_lossy(&failing.stderr).contains("PQ4001"), "{failing:?}");

    // An executor is killed in the middle of a task.
    let slow = format!(
        "SELECT count(*) AS drawings, CAST(sum(pidq_number(graph, '{}')) AS BIGINT) AS n FROM drawings",
        slow_query()
    );
    let mut client = cluster.suspend_in_a_task(1, &slow)?;
    let start = Instant::now();
    let peaks: Vec<u64> = cluster.executors.iter().map(Process::peak).collect::<Result<_>>()?;
    println!("largest resident size of the executors: {peaks:?} KiB");
    let mut killed = cluster.executors.remove(1);
    killed.0.kill()?;
    killed.0.wait()?;
    assert!(client.try_wait()?.is_none(), "the executor is killed in the middle of the statement");
    let interrupted = row(client.wait_with_output()?)?;
    let expected = plant::sum(&drawings, &slow_query())?;
    assert_eq!(interrupted, serde_json::json!({"drawings": SHEETS, "n": expected}));
    println!("the interrupted statement was answered after {:?}", start.elapsed());

    // The other one answers alone.
    assert_eq!(cluster.sql(&sql)?, answer);
    let mut found = trace(&cluster)?;
    found.sort();
    assert_eq!(found, reached);

    // Both roles end gracefully.
    assert!(cluster.executors[0].terminate()?);
    assert!(cluster.scheduler.terminate()?);
    Ok(())
}

/// A query whose work grows with the fourth power of the drawing.
fn slow_query() -> String {
    let size = ".nominal_diameter";
    let inner = format!("$n | filter({size} == $a and $b < $c) | size()");
    let levels =
        ["c", "b", "a"].iter().fold(inner, |body, name| format!("$n | map(let({{{name}: {size}}}, {body})) | sum()"));
    format!("let({{n: nodes()}}, {levels})")
}
