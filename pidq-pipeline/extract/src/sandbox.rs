//! Sandbox: extracts documents in a subprocess with resource limits, a clean environment and a timeout.
//!
//! The child sets its own limits before it reads the document. This needs neither `unsafe` (as code between fork and exec
//! would) nor a program that is not installed everywhere (such as `prlimit`); its own children inherit the limits. Before
//! that the child processes only the trusted request, and afterwards it cannot raise a limit.
//!
//! Programs of others, such as those of text recognition, are started by the child: they inherit its limits and belong to its
//! process group. Where the system has filters for system calls, a child can open no network connections and create no files;
//! without them, it starts no program.
//!
//! [`ReaderPool`] reuses a child for documents of one owner, such as a classification of a pipeline.

mod page_image;
mod pool;
mod system_calls;

use std::ffi::OsString;
use std::io::{self, BufReader, Read};
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

pub use self::page_image::render_page_in_sandbox;
use self::pool::IdleReader;
pub use self::pool::ReaderPool;
use super::word_boxes::{MAX_ENCODED_SIZE, PageWords};
use super::{AttachmentLimits, BUILD_ID, ExtractError, Extracted, Options, PageRendering, Upload, ipc};

/// Command line and resource limits of the subprocess.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// Program to run; it must call [`sandbox_main`].
    pub program: PathBuf,
    /// Arguments with which the program calls [`sandbox_main`].
    pub arguments: Vec<OsString>,
    /// Maximum wall-clock time for a document, to which the time of text recognition is added.
    pub timeout: Duration,
    /// Maximum CPU time in seconds, rounded up by the system.
    pub cpu_seconds: u64,
    /// Maximum address space in bytes, for the child and for each program that it starts.
    pub memory_limit: u64,
    /// Directory in which each child gets a private one, removed with the child, for conversions.
    pub scratch_dir: Option<PathBuf>,
}

impl SandboxOptions {
    /// Returns the options for a program, with the default limits.
    pub fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        SandboxOptions {
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            timeout: Duration::from_secs(120),
            cpu_seconds: 120,
            memory_limit: 2 << 30,
            scratch_dir: None,
        }
    }

    /// Returns the options for the program `pidq-extract` next to the current executable if it is of the same build, else
    /// for the current executable with some arguments.
    ///
    /// # Errors
    /// Returns an `internal` error if the path of the executable is unknown.
    pub fn installed(arguments: &[&str]) -> Result<Self, ExtractError> {
        let current = std::env::current_exe()
            .map_err(|error| ExtractError::internal(format!("the path of this program is unknown: {error}")))?;
        let extractor = current.with_file_name(format!("pidq-extract{}", std::env::consts::EXE_SUFFIX));
        match has_this_build(&extractor) {
            true => Ok(SandboxOptions::new(extractor, &[])),
            false => Ok(SandboxOptions::new(current, arguments)),
        }
    }
}

/// Returns whether a program is `pidq-extract` of this build: another one may speak another protocol.
fn has_this_build(program: &Path) -> bool {
    let output = Command::new(program).arg("--build-id").env_clear().stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success() && output.stdout.trim_ascii() == BUILD_ID.as_bytes())
}

/// A handle that stops a running extraction from another thread.
#[derive(Clone, Debug, Default)]
pub struct StopHandle(Arc<AtomicBool>);

impl StopHandle {
    /// Stops the extraction within milliseconds.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Extracts a document in a subprocess. Blocks until the result is complete: call it on a thread for blocking work.
///
/// # Errors
/// As [`extract_in_process`](super::extract_in_process). If the child crashes or replies with invalid data, the error
/// follows from its exit status.
pub fn extract_in_sandbox(
    upload: &Upload<'_>,
    options: &Options,
    sandbox: &SandboxOptions,
    stop: &StopHandle,
) -> Result<Extracted, ExtractError> {
    SandboxProcess::start(upload, options, sandbox)?.finish(stop)
}

/// The bytes of a document in chunks. An error aborts the extraction.
pub type ByteChunks = Box<dyn Iterator<Item = io::Result<Vec<u8>>> + Send>;

/// Like [`extract_in_sandbox`], for a document that is streamed. Of `hints` only the name and the media type are used.
///
/// # Errors
/// As [`extract_in_sandbox`].
pub fn extract_stream_in_sandbox(
    hints: &Upload<'_>,
    chunks: ByteChunks,
    options: &Options,
    sandbox: &SandboxOptions,
    stop: &StopHandle,
) -> Result<Extracted, ExtractError> {
    SandboxProcess::begin(hints, chunks, options, sandbox)?.finish(stop)
}

/// Header of a request to the child; the document follows.
#[derive(Deserialize, Serialize)]
struct Request {
    task: Task,
    cpu_seconds: u64,
    memory_limit: u64,
}

/// Task of the child with a document.
#[derive(Deserialize, Serialize)]
enum Task {
    /// Extract the text. The name and the media type are hints.
    Extract { name: Option<String>, media_type: Option<String>, options: Options },
    /// Render a page.
    Render(PageRendering),
}

impl Task {
    /// Returns whether a program of others may be started, which must be restricted by a filter of system calls.
    fn has_programs(&self) -> bool {
        match self {
            Task::Extract { options, .. } => options.has_programs(),
            Task::Render(_) => true,
        }
    }

    /// Returns whether LibreOffice may be started, which needs processes and files of its own.
    fn has_converter(&self) -> bool {
        matches!(self, Task::Extract { options, .. } if options.soffice.is_some())
    }
}

/// Header of the child's reply; the text or the image follows.
type Reply = Result<Output, ExtractError>;

/// Result of a task.
#[derive(Deserialize, Serialize)]
enum Output {
    Text(Box<Extracted>),
    Image,
    NoSuchPage,
}

/// A child process with a document. Dropping it kills the process.
pub struct SandboxProcess {
    child: OwnedChild,
    /// Receives the input of the child when the document is sent.
    sent: Receiver<ChildStdin>,
    reply: Receiver<ReceivedReply>,
    timeout: Duration,
    /// Maximum number of attachments in the reply.
    attachment_limit: usize,
    started: Instant,
}

/// Buffered standard output of a child.
type ChildOutput = BufReader<ChildStdout>;
/// A reply with its text, and the output from which it was read.
type ReceivedReply = (io::Result<ipc::Message<Reply>>, ChildOutput);

/// A child process with its standard error, killed with its descendants on drop.
struct OwnedChild {
    process: Child,
    stderr_text: Receiver<String>,
    /// `true` if the exit status was collected, after which the process id may be reused.
    is_reaped: bool,
    /// Number of documents that were sent to it.
    documents: u32,
    /// Its private directory, removed after the process has ended.
    _scratch: Option<TempDir>,
}

impl Drop for OwnedChild {
    fn drop(&mut self) {
        if !self.is_reaped {
            kill_group(&self.process);
        }
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Maximum sizes of a reply.
struct ReplyLimits {
    /// Size of the text or the image in bytes.
    body: u64,
    attachments: AttachmentLimits,
}

/// Maximum number of bytes kept of the child's standard error: enough to detect the cause of a crash.
const MAX_STDERR_SIZE: u64 = 4096;
/// Limits if attachments are not asked for.
const NO_ATTACHMENTS: AttachmentLimits = AttachmentLimits { count: 0, size: 0 };
/// Time that a child has to exit after it closed its output.
const EXIT_GRACE: Duration = Duration::from_secs(2);
/// Interval at which the stop handle and the timeout are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl SandboxProcess {
    /// Starts the child and sends it the document.
    ///
    /// # Errors
    /// Returns an `internal` error if the process cannot be started.
    pub fn start(
        upload: &Upload<'_>,
        options: &Options,
        sandbox: &SandboxOptions,
    ) -> Result<SandboxProcess, ExtractError> {
        SandboxProcess::begin(upload, Box::new(iter::once(Ok(upload.bytes.to_vec()))), options, sandbox)
    }

    fn begin(
        upload: &Upload<'_>,
        chunks: ByteChunks,
        options: &Options,
        sandbox: &SandboxOptions,
    ) -> Result<SandboxProcess, ExtractError> {
        SandboxProcess::send(IdleReader::start(sandbox)?, upload, chunks, options, sandbox)
    }

    /// Sends a document to a child that waits for one.
    fn send(
        reader: IdleReader,
        upload: &Upload<'_>,
        chunks: ByteChunks,
        options: &Options,
        sandbox: &SandboxOptions,
    ) -> Result<SandboxProcess, ExtractError> {
        let task = Task::Extract {
            name: upload.name.map(str::to_owned),
            media_type: upload.media_type.map(str::to_owned),
            options: options.clone(),
        };
        let limits = ReplyLimits {
            body: options.max_characters as u64 * 4,
            attachments: options.attachments.unwrap_or(NO_ATTACHMENTS),
        };
        let recognition = options.recognition.as_ref().map_or(Duration::ZERO, |recognition| recognition.timeout);
        let timeout = sandbox.timeout.saturating_add(recognition);
        Ok(SandboxProcess::send_task(reader, task, chunks, limits, SandboxOptions { timeout, ..sandbox.clone() }))
    }

    /// Sends a task with its document to a child that waits for one.
    fn send_task(
        reader: IdleReader,
        task: Task,
        chunks: ByteChunks,
        limits: ReplyLimits,
        sandbox: SandboxOptions,
    ) -> SandboxProcess {
        let SandboxOptions { timeout, cpu_seconds, memory_limit, .. } = sandbox;
        let IdleReader { mut child, input, output, .. } = reader;
        child.documents += 1;
        let sent = send_request(input, Request { task, cpu_seconds, memory_limit }, chunks);
        let reply = receive_reply(output, limits.body, limits.attachments.size);
        let attachment_limit = limits.attachments.count;
        SandboxProcess { child, sent, reply, timeout, attachment_limit, started: Instant::now() }
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// As [`extract_in_sandbox`].
    pub fn finish(self, stop: &StopHandle) -> Result<Extracted, ExtractError> {
        self.finish_and_keep(stop).0
    }

    /// Waits for the result. After a success, the child is returned as well, which waits for another document.
    fn finish_and_keep(mut self, stop: &StopHandle) -> (Result<Extracted, ExtractError>, Option<IdleReader>) {
        let received = self.receive(stop).and_then(|(message, output)| {
            validate_reply(message, self.attachment_limit).map(|extracted| (extracted, output))
        });
        match received {
            Ok((extracted, output)) => (Ok(extracted), self.into_idle(output)),
            Err(error) => (Err(error), None),
        }
    }

    /// Waits for the reply.
    fn receive(&mut self, stop: &StopHandle) -> Result<(ipc::Message<Reply>, ChildOutput), ExtractError> {
        loop {
            match self.reply.recv_timeout(POLL_INTERVAL) {
                Ok((Ok(message), output)) => return Ok((message, output)),
                Ok((Err(error), _)) => return Err(self.exit_error(&error)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ExtractError::internal("the extractor closed its output"));
                }
                Err(RecvTimeoutError::Timeout) => self.check_limits(stop)?,
            }
        }
    }

    /// Returns the child for another document. It must have read the whole document and written nothing but the reply.
    fn into_idle(self, output: ChildOutput) -> Option<IdleReader> {
        let input = self.sent.recv_timeout(POLL_INTERVAL).ok()?;
        let is_silent = output.buffer().is_empty();
        is_silent.then(|| IdleReader::new(self.child, input, output))
    }

    fn check_limits(&self, stop: &StopHandle) -> Result<(), ExtractError> {
        if stop.is_stopped() {
            return Err(ExtractError::internal("the extraction was stopped"));
        }
        if self.started.elapsed() > self.timeout {
            let seconds = self.timeout.as_secs_f64();
            return Err(ExtractError::too_large(format!("the document took longer than {seconds} s to read")));
        }
        Ok(())
    }

    /// Returns the error for a missing reply, derived from the exit status of the child.
    fn exit_error(&mut self, error: &io::Error) -> ExtractError {
        if error.kind() == io::ErrorKind::FileTooLarge {
            return ExtractError::too_large("the extracted text exceeds the limit");
        }
        let remaining = self.timeout.saturating_sub(self.started.elapsed()).min(EXIT_GRACE);
        let deadline = Instant::now() + remaining;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.process.try_wait() {
                // The process id may be reused from now on: kill the group now, and never again later.
                kill_group(&self.child.process);
                self.child.is_reaped = true;
                let stderr_text = self.child.stderr_text.recv_timeout(EXIT_GRACE).unwrap_or_default();
                return exit_status_error(status, &stderr_text);
            }
            thread::sleep(Duration::from_millis(2));
        }
        ExtractError::internal("the extractor sent an invalid reply")
    }
}

fn command(sandbox: &SandboxOptions, scratch: Option<&Path>) -> Command {
    let mut command = Command::new(&sandbox.program);
    command.args(&sandbox.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The environment may hold secrets that a compromised reader could leak.
    let inherited = ["PATH", "LD_LIBRARY_PATH", "SYSTEMROOT"].map(|name| (name, std::env::var_os(name)));
    command.env_clear().envs(inherited.into_iter().filter_map(|(name, value)| Some((name, value?))));
    command.env("LC_ALL", "C.UTF-8").envs(scratch.map(|scratch| ("TMPDIR", scratch)));
    set_process_group(&mut command);
    command
}

/// Sends a request on a thread, which returns the input of the child if all was written. Writing fails if the child has
/// exited; [`SandboxProcess::finish`] reports the cause.
fn send_request(mut input: ChildStdin, request: Request, chunks: ByteChunks) -> Receiver<ChildStdin> {
    let (sender, sent) = channel();
    thread::spawn(move || {
        if ipc::write_stream(io::BufWriter::new(&mut input), &request, chunks).is_ok() {
            // The receiver is dropped when the child is stopped.
            let _ = sender.send(input);
        }
    });
    sent
}

fn receive_reply(mut output: ChildOutput, limit: u64, attachments_size: u64) -> Receiver<ReceivedReply> {
    let (sender, reply) = channel();
    thread::spawn(move || {
        let result = ipc::read(&mut output, limit, [MAX_ENCODED_SIZE as u64, attachments_size]);
        // The receiver is dropped when the child is stopped.
        let _ = sender.send((result, output));
    });
    reply
}

fn read_stderr(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        drop(stream.by_ref().take(MAX_STDERR_SIZE).read_to_end(&mut bytes));
        drop(io::copy(&mut stream, &mut io::sink()));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Combines the reply with its text, the boxes of the words and the attachments, after checking that they match.
fn validate_reply(
    (reply, body, [page_words, attachments]): ipc::Message<Reply>,
    attachment_limit: usize,
) -> Result<Extracted, ExtractError> {
    let Output::Text(mut extracted) = reply? else { return Err(inconsistent_reply()) };
    if extracted.attachments.len() != attachments.len() || attachments.len() > attachment_limit {
        return Err(inconsistent_reply());
    }
    extracted.attachments.iter_mut().zip(attachments).for_each(|(attachment, bytes)| attachment.bytes = bytes);
    extracted.page_words = page_words;
    extracted.text = String::from_utf8(body).map_err(|_| inconsistent_reply())?;
    let fits = |page: &super::Page| extracted.text.get(page.start..page.end).is_some();
    let in_order = extracted.pages.windows(2).all(|pair| pair[0].end <= pair[1].start);
    let is_valid = !extracted.pages.is_empty() && extracted.pages.iter().all(fits) && in_order;
    match is_valid && has_valid_page_words(&extracted) {
        true => Ok(*extracted),
        false => Err(inconsistent_reply()),
    }
}

/// Returns whether the boxes of words are valid, and those of the text of their pages.
fn has_valid_page_words(extracted: &Extracted) -> bool {
    let is_valid = |(page, words): (&super::Page, &Vec<u8>)| {
        let characters = || extracted.text[page.start..page.end].chars().count();
        words.is_empty() || PageWords::decode(words, characters()).is_ok()
    };
    let count = extracted.page_words.len();
    (count == 0 || count == extracted.pages.len()) && extracted.pages.iter().zip(&extracted.page_words).all(is_valid)
}

fn inconsistent_reply() -> ExtractError {
    ExtractError::internal("the extractor's reply is inconsistent")
}

fn memory_error() -> ExtractError {
    ExtractError::too_large("reading the document exceeds the memory limit")
}

/// Returns the error for an exit status. Standard error is only searched, never passed on.
#[cfg(unix)]
fn exit_status_error(status: ExitStatus, stderr_text: &str) -> ExtractError {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::Signal;

    let killed_by = |signal: Signal| status.signal() == Some(signal.as_raw());
    match () {
        () if stderr_text.contains("memory allocation of") => memory_error(),
        () if killed_by(Signal::XCPU) => ExtractError::too_large("reading the document exceeds the CPU time limit"),
        () if [Signal::ABORT, Signal::SEGV, Signal::BUS, Signal::ILL, Signal::FPE].into_iter().any(killed_by) => {
            ExtractError::corrupt("the document is corrupt: the extractor crashed")
        }
        () => ExtractError::internal(format!("the extractor exited without a reply ({status})")),
    }
}

#[cfg(not(unix))]
fn exit_status_error(status: ExitStatus, _: &str) -> ExtractError {
    ExtractError::internal(format!("the extractor exited without a reply ({status})"))
}

#[cfg(unix)]
fn set_process_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    command.process_group(0);
}

#[cfg(not(unix))]
fn set_process_group(_: &mut Command) {}

/// Kills the child's process group.
#[cfg(unix)]
fn kill_group(child: &Child) {
    // The group may have exited already.
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

/// Main function of the child: reads requests from standard input and writes the replies to standard output. For a hidden
/// subcommand.
pub fn sandbox_main() -> ExitCode {
    // A panic message may quote the document.
    std::panic::set_hook(Box::new(|_| {}));
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Serves requests until the parent closes the input. The limits of the first one apply to all.
fn serve() -> io::Result<()> {
    let mut next = ipc::read_stream(io::stdin().lock()).map(Some)?;
    if let Some((request, _)) = &next {
        set_limits(request)?;
        let filter = system_calls::deny_system_calls(request.task.has_converter());
        // The readers of this program are limited by other means too.
        if let Err(error) = filter
            && request.task.has_programs()
        {
            return write_error(ExtractError::internal(format!("system calls cannot be filtered: {error}")));
        }
    }
    while let Some((request, bytes)) = next.take() {
        execute(&request.task, &bytes)?;
        drop(bytes);
        next = match ipc::read_stream(io::stdin().lock()) {
            // The limits apply already while the next document is read.
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => return write_error(memory_error()),
            other => other.ok(),
        };
    }
    Ok(())
}

/// Executes a task and writes the reply.
fn execute(task: &Task, bytes: &[u8]) -> io::Result<()> {
    match task {
        Task::Extract { name, media_type, options } => {
            let upload = Upload { bytes, name: name.as_deref(), media_type: media_type.as_deref() };
            match super::extract_in_process(&upload, options) {
                Ok(extracted) => write_text(extracted),
                Err(error) => write_error(error),
            }
        }
        Task::Render(rendering) => match super::render_page_in_process(bytes, rendering) {
            Ok(Some(image)) => write_reply(&Ok(Output::Image), &image, [Vec::new(), Vec::new()]),
            Ok(None) => write_reply(&Ok(Output::NoSuchPage), &[], [Vec::new(), Vec::new()]),
            Err(error) => write_error(error),
        },
    }
}

/// Writes a text with the boxes of its words and the attachments.
fn write_text(mut extracted: Extracted) -> io::Result<()> {
    let text = std::mem::take(&mut extracted.text);
    let page_words = std::mem::take(&mut extracted.page_words);
    let attachments = extracted.attachments.iter_mut().map(|attachment| std::mem::take(&mut attachment.bytes));
    let attachments: Vec<Vec<u8>> = attachments.collect();
    let lists = [&page_words, &attachments].map(|list| list.iter().map(Vec::as_slice).collect());
    write_reply(&Ok(Output::Text(Box::new(extracted))), text.as_bytes(), lists)
}

fn write_error(error: ExtractError) -> io::Result<()> {
    write_reply(&Err(error), &[], [Vec::new(), Vec::new()])
}

fn write_reply(reply: &Reply, body: &[u8], lists: [Vec<&[u8]>; 2]) -> io::Result<()> {
    ipc::write(io::BufWriter::new(io::stdout().lock()), reply, body, lists)
}

/// Sets the resource limits of this process and its children. If this fails, the document is not read.
#[cfg(unix)]
fn set_limits(request: &Request) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};

    /// Maximum number of open files: three streams, and the pipes of one program.
    const FILES: u64 = 64;
    /// Limits of LibreOffice: open files, and the size of a written file.
    const CONVERTER_LIMITS: (u64, u64) = (256, 512 << 20);
    let (files, written) = if request.task.has_converter() { CONVERTER_LIMITS } else { (FILES, 0) };
    let limits = [
        (Resource::Core, 0),
        (Resource::Fsize, written),
        (Resource::Nofile, files),
        (Resource::Cpu, request.cpu_seconds),
        (Resource::As, request.memory_limit),
    ];
    for (resource, limit) in limits {
        // The soft limit sends SIGXCPU, the hard limit kills the process.
        let maximum = if resource == Resource::Cpu { limit + 1 } else { limit };
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(maximum) })?;
    }
    Ok(())
}

/// On other systems only the timeout of the parent applies.
#[cfg(not(unix))]
fn set_limits(_: &Request) -> io::Result<()> {
    Ok(())
}
