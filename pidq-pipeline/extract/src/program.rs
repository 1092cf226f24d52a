//! Programs of others: runs one on bytes in memory, with limits on time and output, and without an environment.
//!
//! In the sandbox, a program inherits the limits of the extractor: memory, CPU time, open files, written files, and no
//! network. It belongs to the extractor's process group, which is killed as a whole.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which the exit of a program is checked after it closed its output.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Maximum wall-clock time.
    pub timeout: Duration,
    /// Maximum size of the output in bytes.
    pub max_output: u64,
}

/// Failure of a program.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The program cannot be started: the installation is wrong, not the document.
    #[error("it cannot be started: {0}")]
    NotStarted(io::Error),
    /// It exceeded its time.
    #[error("it took longer than {} s", .0.as_secs_f32().ceil())]
    TimedOut(Duration),
    /// It wrote too much.
    #[error("its output is too large")]
    OutputTooLarge,
    /// The program ended without success.
    #[error("it failed ({0})")]
    Failed(std::process::ExitStatus),
    /// The output is not what was asked for.
    #[error("its output cannot be read")]
    Unreadable,
}

/// Limits of a program that tells its version.
const DESCRIPTION_LIMITS: RunLimits = RunLimits { timeout: Duration::from_secs(30), max_output: 64 << 10 };

/// Runs a program with `input` as its standard input, and returns its standard output. Its messages may quote the document and
/// are discarded.
pub fn run(program: &Path, arguments: &[&str], input: &[u8], limits: RunLimits) -> Result<Vec<u8>, ProgramError> {
    run_at_home(program, arguments, input, None, limits)
}

/// As [`run`], with a home directory.
pub fn run_at_home(
    program: &Path,
    arguments: &[&str],
    input: &[u8],
    home: Option<&Path>,
    limits: RunLimits,
) -> Result<Vec<u8>, ProgramError> {
    let mut command = command(program, arguments);
    command.envs(home.map(|home| ("HOME", home)));
    let started = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut process = started.map_err(ProgramError::NotStarted)?;
    let stdout = process.stdout.take();
    supervise(process, stdout, input, limits)
}

/// Returns what a program prints for an argument such as `--version`, on either of its outputs.
///
/// # Errors
/// If the program cannot be started, fails, or does not end within half a minute.
pub fn program_description(program: &Path, argument: &str) -> Result<String, ProgramError> {
    let (reader, writer) = io::pipe().map_err(ProgramError::NotStarted)?;
    let mut command = command(program, &[argument]);
    command.stdout(writer.try_clone().map_err(ProgramError::NotStarted)?).stderr(writer);
    let process = command.spawn().map_err(ProgramError::NotStarted)?;
    // It holds the end of the pipe to which the program writes.
    drop(command);
    let printed = supervise(process, Some(reader), &[], DESCRIPTION_LIMITS)?;
    Ok(String::from_utf8_lossy(&printed).into_owned())
}

/// Returns the command: without the environment of the service, which has secrets, and with one thread, so that other
/// documents have the other processors.
fn command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    // A program may be a script, which starts those of the system.
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C.UTF-8").env("OMP_THREAD_LIMIT", "1");
    command
}

/// Sends the input to a process, reads its output, and ends it.
fn supervise(
    mut process: Child,
    output: Option<impl Read + Send + 'static>,
    input: &[u8],
    limits: RunLimits,
) -> Result<Vec<u8>, ProgramError> {
    let stdin = process.stdin.take();
    let mut process = KilledOnDrop(process);
    let deadline = Instant::now() + limits.timeout;
    thread::scope(|scope| {
        // Writing fails if the program has ended: its exit status tells why.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let output = received(&read_output(output, limits.max_output), deadline, limits);
        let finished = output.and_then(|output| process.wait_until(deadline, limits).map(|()| output));
        // The writer ends when the program does, and the scope waits for it.
        process.kill();
        finished
    })
}

/// Reads the output on a thread, which ends with the program, up to one byte more than the maximum.
fn read_output(stdout: Option<impl Read + Send + 'static>, max_size: u64) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, output) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let result = stdout.map_or(Ok(0), |stdout| stdout.take(max_size + 1).read_to_end(&mut bytes));
        // The receiver is dropped when the program exceeds its time.
        let _ = sender.send(result.map(|_| bytes));
    });
    output
}

fn received(
    output: &Receiver<io::Result<Vec<u8>>>,
    deadline: Instant,
    limits: RunLimits,
) -> Result<Vec<u8>, ProgramError> {
    match output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(Ok(bytes)) if bytes.len() as u64 > limits.max_output => Err(ProgramError::OutputTooLarge),
        Ok(Ok(bytes)) => Ok(bytes),
        Err(RecvTimeoutError::Timeout) => Err(ProgramError::TimedOut(limits.timeout)),
        Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(ProgramError::Unreadable),
    }
}

/// A running program, killed on drop.
struct KilledOnDrop(Child);

impl KilledOnDrop {
    fn wait_until(&mut self, deadline: Instant, limits: RunLimits) -> Result<(), ProgramError> {
        loop {
            match self.0.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(ProgramError::Failed(status)),
                Err(_) => return Err(ProgramError::Unreadable),
                Ok(None) if Instant::now() >= deadline => return Err(ProgramError::TimedOut(limits.timeout)),
                Ok(None) => thread::sleep(POLL_INTERVAL),
            }
        }
    }

    fn kill(&mut self) {
        // The program may have ended already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run_shell(script: &str, input: &[u8], limits: RunLimits) -> Result<Vec<u8>, ProgramError> {
        run(Path::new("/bin/sh"), &["-c", script], input, limits)
    }

    const LIMITS: RunLimits = RunLimits { timeout: Duration::from_secs(30), max_output: 1 << 20 };

    #[test]
    fn a_program_gets_the_input_and_its_output_is_returned() {
        let input = vec![b'x'; 1 << 20];
        assert_eq!(run_shell("cat", &input, LIMITS).expect("it runs"), input);
        assert_eq!(run_shell("echo done", &input, LIMITS).expect("it need not read"), b"done\n");
    }

    #[test]
    fn each_failure_has_its_error() {
        let failure = |script, limits| run_shell(script, b"", limits).expect_err(script);
        assert!(matches!(failure("echo text; exit 3", LIMITS), ProgramError::Failed(_)));
        assert!(matches!(failure("kill -SEGV $$", LIMITS), ProgramError::Failed(_)));
        let small = RunLimits { max_output: 10, ..LIMITS };
        assert!(matches!(failure("yes", small), ProgramError::OutputTooLarge));
        let missing = run(Path::new("/nowhere/program"), &[], b"", LIMITS);
        assert!(matches!(missing, Err(ProgramError::NotStarted(_))));
    }

    #[test]
    fn a_description_has_both_outputs() {
        let echo = program_description(Path::new("/bin/echo"), "--text").expect("it runs");
        assert_eq!(echo, "--text\n");
        let failed = program_description(Path::new("/bin/sh"), "/nowhere/script");
        assert!(matches!(failed, Err(ProgramError::Failed(_))), "{failed:?}");
    }

    #[test]
    fn a_program_that_hangs_is_killed() {
        let limits = RunLimits { timeout: Duration::from_millis(200), ..LIMITS };
        let input = vec![0; 1 << 20];
        for script in ["exec sleep 600", "exec >&-; exec sleep 600", "echo text; exec sleep 600"] {
            let started = Instant::now();
            let error = run_shell(script, &input, limits).expect_err(script);
            assert!(matches!(error, ProgramError::TimedOut(_)), "{script}: {error}");
            assert!(started.elapsed() < Duration::from_secs(20), "{script}");
        }
    }

    #[test]
    fn a_program_sees_no_environment() {
        let names = run_shell("env", b"", LIMITS).expect("it runs");
        let names = String::from_utf8_lossy(&names).into_owned();
        let own = ["PATH=/usr/bin:/bin", "PWD=", "SHLVL=", "_=", "OLDPWD=", "LC_ALL=", "OMP_THREAD_LIMIT="];
        assert!(names.lines().all(|line| own.iter().any(|name| line.starts_with(name))), "{names}");
    }
}
