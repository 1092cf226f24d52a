//! Pager for a long output on a terminal: `less`, or the command in `PIDQ_PAGER` or `PAGER`.
//!
//! The output is held until it is complete, and then passed to the pager in a file. The pager replaces this process, so
//! that the terminal and the shell have to do with one process only.

use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

/// Output of this size is written as it comes.
const MAX_HELD: usize = 64 << 20;
/// Number of lines that any terminal shows.
const MAX_SHORT: usize = 20;

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
        match pager() {
            Some(pager) if io::stdout().is_terminal() => Output::Held { output: Vec::new(), pager },
            _ => Output::direct(),
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
            && output.iter().filter(|byte| **byte == b'\n').count() > MAX_SHORT
        {
            // Returns if the pager could not be started.
            replace_process(pager, output);
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

/// Returns the command of the pager.
#[cfg(unix)]
fn pager() -> Option<OsString> {
    let chosen = std::env::var_os("PIDQ_PAGER").or_else(|| std::env::var_os("PAGER"));
    match chosen {
        Some(command) => (!command.is_empty() && command != "cat").then_some(command),
        None => {
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path).any(|directory| directory.join("less").is_file()).then(|| "less".into())
        }
    }
}

#[cfg(not(unix))]
fn pager() -> Option<OsString> {
    None
}

/// Replaces this process by the pager. Returns only if that fails.
#[cfg(unix)]
fn replace_process(pager: &OsString, output: &[u8]) {
    use std::io::Seek;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    let file = tempfile::tempfile().and_then(|mut file| {
        file.write_all(output)?;
        file.rewind()?;
        Ok(file)
    });
    let Ok(file) = file else { return };
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager).stdin(file);
    // As for git: less ends if the output fits on the screen, shows colors, and leaves the output on the screen.
    for (name, options) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, options);
        }
    }
    drop(command.exec());
}

#[cfg(not(unix))]
fn replace_process(_: &OsString, _: &[u8]) {}
