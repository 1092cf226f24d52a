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
        Command::new("kill").arg("-TERM").arg(self.0.id().to_string()).status()?;
        let start = Instant::now();
        while start.elapsed() < TIMEOUT {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status.success());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err("the process does not end".into())
    }

    /// Returns the CPU time in clock ticks, and the largest resident size in KiB.
    fn usage(&self) -> Result<(u64, u64)> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = [11, 12].iter().filter_map(|at| fields.get(*at)?.parse::<u64>().ok()).sum();
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        Ok((ticks, peak.unwrap_or_default()))
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

    /// Runs a statement and returns its only row as JSON.
    fn sql(&self, sql: &str) -> Result<serde_json::Value> {
        row(self.client(&["client", "--format", "json", sql]).output()?)
    }
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

    // An executor is killed while both run tasks.
    let slow = format!(
        "SELECT count(*) AS drawings, CAST(sum(pidq_number(graph, '{}')) AS BIGINT) AS n FROM drawings",
        slow_query()
    );
    let before: Vec<u64> = cluster.executors.iter().map(|executor| Ok(executor.usage()?.0)).collect::<Result<_>>()?;
    let mut client = cluster.client(&["client", "--format", "json", &slow]).spawn()?;
    let start = Instant::now();
    loop {
        let now: Vec<u64> = cluster.executors.iter().map(|executor| Ok(executor.usage()?.0)).collect::<Result<_>>()?;
        if now.iter().zip(&before).all(|(now, before)| *now >= before + 30) {
            break;
        }
        assert!(client.try_wait()?.is_none(), "the statement ended before both executors had work: {before:?} {now:?}");
        assert!(start.elapsed() < TIMEOUT, "one executor has no work");
        std::thread::sleep(Duration::from_millis(20));
    }
    let peaks: Vec<u64> = cluster.executors.iter().map(|executor| Ok(executor.usage()?.1)).collect::<Result<_>>()?;
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
