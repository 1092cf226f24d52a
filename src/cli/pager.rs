//! Pager for a long output on a terminal: `less`, or the command in `PIDQ_PAGER` or `PAGER`.
//!
//! The output is held until it is complete, and then passed to the pager in a file. After a query the pager replaces this
//! process, so that the terminal and the shell have to do with one process only; the prompt waits for it.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

#[cfg(unix)]
use super::{failure, interrupt};

/// Output of this size is written as it comes.
const MAX_HELD: usize = 64 << 20;
/// Number of lines that any terminal shows.
const MAX_SHORT: usize = 20;

/// Choice of the pager.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum PagerChoice {
    /// `PIDQ_PAGER`, `PAGER` or `less`.
    #[default]
    Environment,
    Off,
    Command(OsString),
}

impl PagerChoice {
    /// Reads `on`, `off` or a command.
    pub fn parse(text: &str) -> PagerChoice {
        match text {
            "on" => PagerChoice::Environment,
            "off" => PagerChoice::Off,
            command => PagerChoice::Command(command.into()),
        }
    }

    /// Returns the command of the pager.
    fn command(&self) -> Option<OsString> {
        match self {
            PagerChoice::Environment => default_pager(),
            PagerChoice::Off => None,
            PagerChoice::Command(command) => Some(command.clone()),
        }
    }
}

/// Standard output, held for a pager or not.
pub enum Output {
    Direct(BufWriter<StdoutLock<'static>>),
    Held { output: Vec<u8>, pager: OsString },
}

impl Output {
    pub fn direct() -> Output {
        Output::Direct(BufWriter::new(io::stdout().lock()))
    }

    /// Holds the output if it goes to a terminal and there is a pager.
    pub fn paged() -> Output {
        Output::paged_by(&PagerChoice::Environment)
    }

    /// As [`Output::paged`], with a pager of the user's choice.
    pub fn paged_by(choice: &PagerChoice) -> Output {
        // Only then is the pager looked up: that reads a directory of `PATH` after another.
        let pager = if io::stdout().is_terminal() { choice.command() } else { None };
        match pager {
            Some(pager) => Output::Held { output: Vec::new(), pager },
            None => Output::direct(),
        }
    }

    /// Writes the output that is held; further output is written directly.
    pub fn release(&mut self) -> io::Result<()> {
        let Output::Held { output, .. } = self else { return self.flush() };
        let held = std::mem::take(output);
        *self = Output::direct();
        self.write_all(&held)?;
        self.flush()
    }

    /// Shows the complete output: with the pager if it is long, else directly.
    pub fn show(&mut self) -> io::Result<()> {
        if let Output::Held { output, pager } = self
            && is_long(output)
        {
            // Returns if the pager could not be started.
            replace_process(pager, output);
        }
        self.release()
    }

    /// As [`Output::show`], for a process that continues after the pager.
    pub fn show_and_continue(&mut self) -> io::Result<()> {
        if let Output::Held { output, pager } = self
            && is_long(output)
            && run_process(pager, output)
        {
            output.clear();
        }
        self.release()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Direct(writer) => return writer.write(bytes),
            Output::Held { output, .. } if output.len() < MAX_HELD => output.extend_from_slice(bytes),
            Output::Held { .. } => {
                self.release()?;
                return self.write(bytes);
            }
        }
        Ok(bytes.len())
    }

    /// Writes what is buffered, unless it is held.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Direct(writer) => writer.flush(),
            Output::Held { .. } => Ok(()),
        }
    }
}

/// Returns true for an output that may not fit on the screen.
fn is_long(output: &[u8]) -> bool {
    output.iter().filter(|byte| **byte == b'\n').count() > MAX_SHORT
}

/// Returns the program of a command if it does not exist: the output would be lost.
#[cfg(unix)]
fn missing_program(command: &OsStr) -> Option<&str> {
    let program = command.to_str()?.split_whitespace().next()?;
    // A command of the shell, such as `LESS=-R less`, is not looked up.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+');
    let exists = match program.contains('/') {
        true => std::path::Path::new(program).is_file(),
        false => is_in_path(program),
    };
    (program.chars().all(is_plain) && !exists).then_some(program)
}

#[cfg(unix)]
fn is_in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Returns the command of the pager in the environment.
#[cfg(unix)]
fn default_pager() -> Option<OsString> {
    let chosen = std::env::var_os("PIDQ_PAGER").or_else(|| std::env::var_os("PAGER"));
    let Some(command) = chosen else { return is_in_path("less").then(|| "less".into()) };
    if let Some(program) = missing_program(&command) {
        failure::warn(&format!("there is no pager `{program}`: set `PAGER`, or pass --no-pager\n"));
        return None;
    }
    (!command.is_empty() && command != "cat").then_some(command)
}

#[cfg(not(unix))]
fn default_pager() -> Option<OsString> {
    None
}

/// Replaces this process by the pager. Returns only if that fails.
#[cfg(unix)]
fn replace_process(pager: &OsStr, output: &[u8]) {
    use std::os::unix::process::CommandExt;

    if let Ok(mut command) = pager_command(pager, output) {
        drop(command.exec());
    }
}

/// Runs the pager and waits for it; returns false if it could not be started.
#[cfg(unix)]
fn run_process(pager: &OsStr, output: &[u8]) -> bool {
    /// Exit codes of the shell for a command that it cannot run.
    const NOT_STARTED: [i32; 2] = [126, 127];
    let status = pager_command(pager, output).and_then(|mut command| interrupt::with_program(|| command.status()));
    status.is_ok_and(|status| status.code().is_none_or(|code| !NOT_STARTED.contains(&code)))
}

/// Returns the command of a pager that reads an output.
#[cfg(unix)]
fn pager_command(pager: &OsStr, output: &[u8]) -> io::Result<std::process::Command> {
    use std::io::Seek;

    let mut file = tempfile::tempfile()?;
    file.write_all(output)?;
    file.rewind()?;
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(pager).stdin(file);
    // As for git: less ends if the output fits on the screen, shows colors, and leaves the output on the screen.
    for (name, options) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, options);
        }
    }
    Ok(command)
}

#[cfg(not(unix))]
fn replace_process(_: &OsStr, _: &[u8]) {}

#[cfg(not(unix))]
fn run_process(_: &OsStr, _: &[u8]) -> bool {
    false
}
