//! Pool of sandboxed readers: child processes that extract several documents of one owner, one after the other.
//!
//! The owner is the access scope of the documents, so that a child that a document has taken over reaches no documents that
//! are read by others. A child is kept only after a success, for a limited number of documents, and only while it has used
//! little of its limits, so that each document has nearly the whole of them. The parent measures that; the child is not asked.

use std::process::{ChildStdin, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::{Builder, TempDir};

use super::{
    ByteChunks, ChildOutput, OwnedChild, SandboxOptions, SandboxProcess, StopHandle, command, kill_group, read_stderr,
};
use crate::{ExtractError, Extracted, Options, Upload};

/// Maximum number of documents of a child.
const MAX_DOCUMENTS: u32 = 100;
/// Maximum number of children that wait; the one that has waited longest is stopped.
const MAX_IDLE: usize = 8;
/// Time after which a waiting child is stopped.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// Share of its limits that a child may have used before it gets another document.
const MAX_USED_SHARE: u64 = 16;

/// Children that wait for documents of their owners.
#[derive(Default)]
pub struct ReaderPool(Mutex<Vec<(String, IdleReader)>>);

impl ReaderPool {
    /// Extracts a document in a child of its owner, as [`extract_stream_in_sandbox`](crate::extract_stream_in_sandbox). All
    /// calls for a pool must have the same sandbox options.
    ///
    /// # Errors
    /// As [`extract_in_sandbox`](crate::extract_in_sandbox).
    pub fn extract_stream(
        &self,
        owner: &str,
        hints: &Upload<'_>,
        chunks: ByteChunks,
        options: &Options,
        sandbox: &SandboxOptions,
        stop: &StopHandle,
    ) -> Result<Extracted, ExtractError> {
        let reader = match self.take(owner) {
            Some(reader) => reader,
            None => IdleReader::start(sandbox)?,
        };
        let (result, reader) = SandboxProcess::send(reader, hints, chunks, options, sandbox)?.finish_and_keep(stop);
        if let Some(reader) = reader.filter(|reader| reader.may_continue(sandbox)) {
            self.put(owner, reader);
        }
        result
    }

    /// Stops the children that have waited for a while.
    pub fn purge(&self) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(_, reader)| reader.since.elapsed() < IDLE_TIMEOUT);
    }

    /// Stops all children that wait.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the number of children that wait for documents.
    pub fn idle_count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn take(&self, owner: &str) -> Option<IdleReader> {
        self.purge();
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(index) = idle.iter().position(|(other, _)| other == owner) {
            let (_, mut reader) = idle.swap_remove(index);
            if reader.is_running() {
                return Some(reader);
            }
        }
        None
    }

    fn put(&self, owner: &str, reader: IdleReader) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() == MAX_IDLE {
            let oldest = (0..idle.len()).min_by_key(|index| idle[*index].1.since);
            oldest.map(|index| idle.swap_remove(index));
        }
        idle.push((owner.to_owned(), reader));
    }
}

/// A child process that waits for a document. Dropping it kills the process.
pub(super) struct IdleReader {
    pub child: OwnedChild,
    pub input: ChildStdin,
    pub output: ChildOutput,
    since: Instant,
}

impl IdleReader {
    /// Starts a child.
    ///
    /// # Errors
    /// Returns an `internal` error if the process cannot be started.
    pub fn start(sandbox: &SandboxOptions) -> Result<IdleReader, ExtractError> {
        let cannot_start =
            |error: &dyn std::fmt::Display| ExtractError::internal(format!("the extractor cannot be started: {error}"));
        let scratch =
            sandbox.scratch_dir.as_ref().map(|folder| Builder::new().prefix("pidq-extract-").tempdir_in(folder));
        let scratch = scratch.transpose().map_err(|error| cannot_start(&error))?;
        let command = &mut command(sandbox, scratch.as_ref().map(TempDir::path));
        let mut process = command.stderr(Stdio::piped()).spawn().map_err(|error| cannot_start(&error))?;
        let (stdin, stdout, stderr) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (sender, stderr_text) = channel();
        thread::spawn(move || sender.send(read_stderr(stderr)));
        let child = OwnedChild { process, stderr_text, is_reaped: false, documents: 0, _scratch: scratch };
        match (stdin, stdout) {
            (Some(input), Some(output)) => Ok(IdleReader::new(child, input, ChildOutput::new(output))),
            _ => Err(cannot_start(&"it has no standard streams")),
        }
    }

    pub fn new(child: OwnedChild, input: ChildStdin, output: ChildOutput) -> IdleReader {
        IdleReader { child, input, output, since: Instant::now() }
    }

    fn is_running(&mut self) -> bool {
        let is_running = matches!(self.child.process.try_wait(), Ok(None));
        if !is_running {
            kill_group(&self.child.process);
            self.child.is_reaped = true;
        }
        is_running
    }

    /// Returns whether the child may extract another document. What cannot be measured is not reused.
    fn may_continue(&self, sandbox: &SandboxOptions) -> bool {
        let used = |used: Option<u64>, limit: u64| used.is_some_and(|used| used <= limit / MAX_USED_SHARE);
        let process = self.child.process.id();
        self.child.documents < MAX_DOCUMENTS
            && used(data_size(process), sandbox.memory_limit)
            && used(cpu_milliseconds(process), sandbox.cpu_seconds.saturating_mul(1000))
    }
}

/// Returns the size of a process's data in bytes: what documents add to its address space.
#[cfg(target_os = "linux")]
fn data_size(process: u32) -> Option<u64> {
    const DATA: usize = 5;
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = statm.split(' ').nth(DATA)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Returns the CPU time of a process's main thread, the only one that reads documents.
#[cfg(target_os = "linux")]
fn cpu_milliseconds(process: u32) -> Option<u64> {
    let statistics = std::fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
    let nanoseconds: u64 = statistics.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1_000_000)
}

#[cfg(not(target_os = "linux"))]
fn data_size(_: u32) -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn cpu_milliseconds(_: u32) -> Option<u64> {
    None
}
