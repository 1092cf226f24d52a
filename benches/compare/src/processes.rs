//! Peers in other processes: warm workers with a line protocol, and commands run cold.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::Result;
use crate::digest::Digest;
use crate::measure::Contestant;
use crate::queries::Task;

/// Returns a path in the directory of the benchmark.
pub fn bench_path(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A peer in a process of its own, with the drawing loaded.
pub struct Worker {
    name: &'static str,
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
pub struct Reply {
    result: Option<Box<RawValue>>,
    seconds: Option<f64>,
    pub bytes: Option<i64>,
    error: Option<String>,
}

impl Worker {
    pub fn start(name: &'static str, drawing: &Path) -> Result<Self> {
        let mut command = match name {
            "jsonquery JS" => {
                let mut node = Command::new("node");
                node.args(["--expose-gc", "--max-old-space-size=8192"]).arg(bench_path("peers.mjs"));
                node
            }
            _ => {
                let mut python = Command::new(bench_path(".peers/python/bin/python"));
                python.arg(bench_path("peers.py")).arg(name.trim_end_matches(" Python"));
                python
            }
        };
        let mut child = command.arg(drawing).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(requests), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        let mut worker = Self { name, child, requests, replies: BufReader::new(replies) };
        if name == "jsonquery JS" {
            worker.load()?;
        }
        Ok(worker)
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn load(&mut self) -> Result<Reply> {
        self.send(&json!({"action": "load"}))
    }

    fn send(&mut self, request: &Value) -> Result<Reply> {
        writeln!(self.requests, "{request}")?;
        let mut line = String::new();
        self.replies.read_line(&mut line)?;
        if line.is_empty() {
            return Err("the process has ended".into());
        }
        let reply: Reply = serde_json::from_str(&line)?;
        match reply.error {
            Some(error) => Err(error.into()),
            None => Ok(reply),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have exited already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// One task of a worker.
pub struct WorkerTask {
    worker: Rc<RefCell<Worker>>,
    /// Request for the result; `None` if the result is not compared.
    result: Option<Value>,
    run: Value,
}

impl WorkerTask {
    pub fn task(worker: Rc<RefCell<Worker>>, task: &Task) -> Box<dyn Contestant> {
        let request =
            |action: &str| json!({"action": action, "task": task.key, "query": task.query, "json": task.json});
        let result = Some(request(if task.json { "result" } else { "count" }));
        Box::new(Self { worker, result, run: request("run") })
    }

    pub fn evaluation(worker: Rc<RefCell<Worker>>, query: &str) -> Box<dyn Contestant> {
        let request = |action: &str| json!({"action": action, "query": query, "json": false});
        Box::new(Self { worker, result: Some(request("result")), run: request("run") })
    }

    pub fn walk(worker: Rc<RefCell<Worker>>, name: &str, start: u32) -> Box<dyn Contestant> {
        let request = |action: &str| json!({"action": action, "task": name, "start": start});
        Box::new(Self { worker, result: Some(request("result")), run: request("run") })
    }

    pub fn compile(worker: Rc<RefCell<Worker>>, query: &str) -> Box<dyn Contestant> {
        Box::new(Self { worker, result: None, run: json!({"action": "compile", "query": query}) })
    }

    pub fn load(worker: Rc<RefCell<Worker>>) -> Self {
        Self { worker, result: None, run: json!({"action": "load"}) }
    }
}

impl Contestant for WorkerTask {
    fn name(&self) -> &str {
        self.worker.borrow().name
    }

    fn digest(&mut self) -> Result<Digest> {
        match &self.result {
            Some(request) => {
                let reply = self.worker.borrow_mut().send(request)?;
                Digest::of(reply.result.ok_or("no result")?.get().as_bytes())
            }
            None => Digest::of(b"1"),
        }
    }

    fn run(&mut self, times: u32) -> Result<f64> {
        self.run["times"] = json!(times);
        Ok(self.worker.borrow_mut().send(&self.run)?.seconds.ok_or("no time")?)
    }
}

/// A command with its arguments.
pub struct Tool {
    name: &'static str,
    command: Vec<String>,
    /// Peak memory of all runs, in kilobytes.
    peak: Rc<Cell<u64>>,
}

/// Resources used by one run of a command.
#[derive(Deserialize)]
struct Usage {
    seconds: f64,
    peak_kb: u64,
    success: bool,
}

impl Tool {
    pub fn new(name: &'static str, command: Vec<String>, peak: Rc<Cell<u64>>) -> Self {
        Self { name, command, peak }
    }

    /// Runs the command from a fresh, small process: a child starts with the peak of the process that it was forked from.
    fn measure(&self) -> Result<Usage> {
        let output = Command::new(std::env::current_exe()?).arg("spawn").args(&self.command).output()?;
        let usage: Usage = serde_json::from_slice(&output.stdout)?;
        if usage.success { Ok(usage) } else { Err(self.first_error_line().into()) }
    }

    fn first_error_line(&self) -> String {
        let output = Command::new(&self.command[0]).args(&self.command[1..]).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
        text.unwrap_or_else(|error| error.to_string()).lines().next().unwrap_or("failed").chars().take(100).collect()
    }
}

impl Contestant for Tool {
    fn name(&self) -> &str {
        self.name
    }

    fn digest(&mut self) -> Result<Digest> {
        let output = Command::new(&self.command[0]).args(&self.command[1..]).stderr(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(self.first_error_line().into());
        }
        Digest::of(&output.stdout)
    }

    fn run(&mut self, times: u32) -> Result<f64> {
        let mut seconds = 0.0;
        for _ in 0..times {
            let usage = self.measure()?;
            self.peak.set(self.peak.get().max(usage.peak_kb));
            seconds += usage.seconds;
        }
        Ok(seconds)
    }
}

/// Runs a command with its output discarded and reports its resource usage.
pub fn spawn_and_report(command: &[String]) -> Result<()> {
    let (program, arguments) = command.split_first().ok_or("usage: spawn COMMAND")?;
    let child = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: `child` was started here and not yet waited for; both pointers are to local variables.
    let usage = unsafe {
        libc::wait4(child.id() as libc::pid_t, &raw mut status, 0, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    let total = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    println!("{}", json!({"seconds": total, "peak_kb": usage.ru_maxrss, "success": status == 0}));
    Ok(())
}
