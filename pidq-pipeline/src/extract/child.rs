//! A process of its own for each document: it has limits, no secrets in its environment, and an end.
//!
//! The child sets its own limits before it looks at the document. That needs neither `unsafe` (as code between fork and
//! exec would) nor a program that is not on every machine (as `prlimit` would); what it starts inherits them. Until then
//! it runs our code on our request only, and after that it cannot raise a limit.

use std::ffi::OsString;
use std::io::{self, Read};
use std::iter;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Extracted, Failure, Options, Upload, frame};

/// How the process is run and what it may spend.
#[derive(Clone, Debug)]
pub struct Isolation {
    /// The program: one that calls [`child_main`].
    pub program: PathBuf,
    /// The arguments with which it does.
    pub arguments: Vec<OsString>,
    /// How long a document may take.
    pub time: Duration,
    /// Seconds of processor time, rounded up by the system.
    pub processor: u64,
    /// Bytes of address space, for the child and for each program that it starts.
    pub memory: u64,
}

impl Isolation {
    /// A program with the limits of the contract.
    pub fn of(program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        Isolation {
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            time: Duration::from_secs(120),
            processor: 120,
            memory: 2 << 30,
        }
    }

    /// This program, called with some arguments.
    ///
    /// # Errors
    /// `internal`, when the system does not say where it is.
    pub fn of_this_program(arguments: &[&str]) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|error| Failure::internal(format!("this program: {error}")))?;
        Ok(Isolation::of(program, arguments))
    }
}

/// A way to end a child from elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the child, within moments.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Reads a document in a process of its own. Blocks until it is read: call it on a thread for such work.
///
/// # Errors
/// As [`read`](super::read); a child that dies or answers nonsense gives the code that its end tells of.
pub fn in_child(
    upload: &Upload<'_>,
    options: &Options,
    isolation: &Isolation,
    stop: &Stop,
) -> Result<Extracted, Failure> {
    Running::start(upload, options, isolation)?.finish(stop)
}

/// The bytes of a document, a piece at a time. An error breaks off, and nothing is read of what came before.
pub type Pieces = Box<dyn Iterator<Item = io::Result<Vec<u8>>> + Send>;

/// The same with a document that need not be in memory as a whole. Of `hints` the name and the media type are looked at.
///
/// # Errors
/// As [`in_child`].
pub fn in_child_by_pieces(
    hints: &Upload<'_>,
    pieces: Pieces,
    options: &Options,
    isolation: &Isolation,
    stop: &Stop,
) -> Result<Extracted, Failure> {
    Running::begin(hints, pieces, options, isolation)?.finish(stop)
}

/// What is asked of the child; the document follows.
#[derive(Deserialize, Serialize)]
struct Request {
    name: Option<String>,
    media_type: Option<String>,
    options: Options,
    processor: u64,
    memory: u64,
}

/// What the child answers; the text follows.
type Answer = Result<Extracted, Failure>;

/// A child at work. Dropping it kills it.
pub struct Running {
    child: Child,
    answer: Receiver<io::Result<(Answer, Vec<u8>)>>,
    messages: Receiver<String>,
    time: Duration,
    started: Instant,
    /// Whether the system has forgotten the child.
    is_reaped: bool,
}

/// Bytes that the child and its runtime may say on standard error: enough to tell why it died.
const MAX_MESSAGES: u64 = 4096;
/// How long a child that has stopped answering may take to end.
const GRACE: Duration = Duration::from_secs(2);
/// How often a stop is looked for.
const TICK: Duration = Duration::from_millis(20);

impl Running {
    /// Starts the child and hands it the document.
    ///
    /// # Errors
    /// `internal`, when the process cannot be started.
    pub fn start(upload: &Upload<'_>, options: &Options, isolation: &Isolation) -> Result<Running, Failure> {
        Running::begin(upload, Box::new(iter::once(Ok(upload.bytes.to_vec()))), options, isolation)
    }

    fn begin(
        upload: &Upload<'_>,
        pieces: Pieces,
        options: &Options,
        isolation: &Isolation,
    ) -> Result<Running, Failure> {
        let request = Request {
            name: upload.name.map(str::to_owned),
            media_type: upload.media_type.map(str::to_owned),
            options: options.clone(),
            processor: isolation.processor,
            memory: isolation.memory,
        };
        let mut child =
            command(isolation).spawn().map_err(|error| Failure::internal(format!("the reader: {error}")))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (told, messages) = channel();
        thread::spawn(move || told.send(say(stderr)));
        hand_over(stdin, request, pieces);
        let answer = listen(stdout, options.characters as u64 * 4);
        Ok(Running { child, answer, messages, time: isolation.time, started: Instant::now(), is_reaped: false })
    }

    /// Waits for the text.
    ///
    /// # Errors
    /// As [`in_child`].
    pub fn finish(mut self, stop: &Stop) -> Result<Extracted, Failure> {
        loop {
            match self.answer.recv_timeout(TICK) {
                Ok(Ok((answer, body))) => return complete(answer, body),
                Ok(Err(error)) => return Err(self.died(&error)),
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::internal("the reader is gone")),
                Err(RecvTimeoutError::Timeout) => self.look(stop)?,
            }
        }
    }

    fn look(&self, stop: &Stop) -> Result<(), Failure> {
        if stop.is_stopped() {
            return Err(Failure::internal("reading was stopped"));
        }
        if self.started.elapsed() > self.time {
            let seconds = self.time.as_secs_f64();
            return Err(Failure::large(format!("the document took longer than {seconds} s to read")));
        }
        Ok(())
    }

    /// Why there is no answer, by how the child ended.
    fn died(&mut self, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::FileTooLarge {
            return Failure::large("the reader found more text than it may");
        }
        let left = self.time.saturating_sub(self.started.elapsed()).min(GRACE);
        let until = Instant::now() + left;
        while Instant::now() < until {
            if let Ok(Some(status)) = self.child.try_wait() {
                // From now on its number may be another's: its group is ended at once, and not again later.
                kill_group(&self.child);
                self.is_reaped = true;
                let messages = self.messages.recv_timeout(GRACE).unwrap_or_default();
                return ended(status, &messages);
            }
            thread::sleep(Duration::from_millis(2));
        }
        Failure::internal("the reader said something that is no answer")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_reaped {
            kill_group(&self.child);
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn command(isolation: &Isolation) -> Command {
    let mut command = Command::new(&isolation.program);
    command.args(&isolation.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Settings hold secrets, and a reader that was taken over could tell them.
    let kept = ["PATH", "LD_LIBRARY_PATH", "SYSTEMROOT"].map(|name| (name, std::env::var_os(name)));
    command.env_clear().envs(kept.into_iter().filter_map(|(name, value)| Some((name, value?))));
    command.env("LC_ALL", "C.UTF-8");
    own_group(&mut command);
    command
}

fn hand_over(stdin: Option<ChildStdin>, request: Request, pieces: Pieces) {
    // A child that has died reads no more; why it did, its answer tells.
    thread::spawn(move || stdin.map(|stdin| frame::write_pieces(io::BufWriter::new(stdin), &request, pieces)));
}

fn listen(stdout: Option<ChildStdout>, limit: u64) -> Receiver<io::Result<(Answer, Vec<u8>)>> {
    let (told, answer) = channel();
    thread::spawn(move || {
        let stdout = stdout.ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe));
        // Nobody listens once the child was stopped.
        let _ = told.send(stdout.and_then(|stdout| frame::read(io::BufReader::new(stdout), limit)));
    });
    answer
}

fn say(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        drop(stream.by_ref().take(MAX_MESSAGES).read_to_end(&mut bytes));
        drop(io::copy(&mut stream, &mut io::sink()));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The answer with its text, if the two belong together.
fn complete(answer: Answer, body: Vec<u8>) -> Result<Extracted, Failure> {
    let mut extracted = answer?;
    extracted.text = String::from_utf8(body).map_err(|_| nonsense())?;
    let fits = |page: &super::Page| extracted.text.get(page.start..page.end).is_some();
    let in_order = extracted.pages.windows(2).all(|pair| pair[0].end <= pair[1].start);
    match !extracted.pages.is_empty() && extracted.pages.iter().all(fits) && in_order {
        true => Ok(extracted),
        false => Err(nonsense()),
    }
}

fn nonsense() -> Failure {
    Failure::internal("the reader's answer does not fit together")
}

/// The code of a child's end. Its messages are those of its runtime; nothing of them is passed on.
#[cfg(unix)]
fn ended(status: ExitStatus, messages: &str) -> Failure {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::Signal;

    let is = |signal: Signal| status.signal() == Some(signal.as_raw());
    match () {
        () if messages.contains("memory allocation of") => {
            Failure::large("reading the document takes more memory than it may")
        }
        () if is(Signal::XCPU) => Failure::large("reading the document takes more processor time than it may"),
        () if [Signal::ABORT, Signal::SEGV, Signal::BUS, Signal::ILL, Signal::FPE].into_iter().any(is) => {
            Failure::corrupt("the document is so broken that its reader died")
        }
        () => Failure::internal(format!("the reader ended without an answer ({status})")),
    }
}

#[cfg(not(unix))]
fn ended(status: ExitStatus, _: &str) -> Failure {
    Failure::internal(format!("the reader ended without an answer ({status})"))
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Kills what the child has started.
#[cfg(unix)]
fn kill_group(child: &Child) {
    // It may have ended by itself.
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

/// The life of a child: a request on standard input, its answer on standard output. For a hidden subcommand.
pub fn child_main() -> ExitCode {
    // What a panic says may quote the document, and nobody reads it.
    std::panic::set_hook(Box::new(|_| {}));
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve() -> io::Result<()> {
    let (request, bytes): (Request, Vec<u8>) = frame::read_pieces(io::stdin().lock())?;
    limit(&request)?;
    let upload = Upload { bytes: &bytes, name: request.name.as_deref(), media_type: request.media_type.as_deref() };
    let answer = super::read(&upload, &request.options);
    let text = answer.as_ref().map(|extracted| extracted.text.as_bytes()).unwrap_or_default();
    frame::write(io::BufWriter::new(io::stdout().lock()), &answer, text)
}

/// Sets what this process, and what it starts, may use. Without it the document is not read.
#[cfg(unix)]
fn limit(request: &Request) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};

    /// Files that may be open: three streams, and the pipes of one program.
    const FILES: u64 = 64;
    let limits = [
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        (Resource::Nofile, FILES),
        (Resource::Cpu, request.processor),
        (Resource::As, request.memory),
    ];
    for (resource, most) in limits {
        // The signal for too much processor time comes at the first figure, the end at the second one.
        let maximum = if resource == Resource::Cpu { most + 1 } else { most };
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(maximum) })?;
    }
    Ok(())
}

/// Elsewhere the time limit of the parent is all there is.
#[cfg(not(unix))]
fn limit(_: &Request) -> io::Result<()> {
    Ok(())
}
