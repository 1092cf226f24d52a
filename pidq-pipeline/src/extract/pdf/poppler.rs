//! Poppler's programs, fed through their standard input: no file is written.
//!
//! They inherit the limits of the process that calls them, and are killed with it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::extract::gather::Gather;
use crate::extract::{Failure, Source};

/// Bytes of messages that are looked at.
const MAX_MESSAGES: u64 = 16 << 10;

/// What poppler found.
pub struct Found {
    text: String,
    title: Option<String>,
}

/// The text of a document, pages ended by form feeds.
pub fn text(tool: &Path, source: &Source<'_>) -> Result<Found, Failure> {
    let limit = source.options.characters as u64 * 4 + 1;
    let bytes = source.look.bytes;
    let done = run(Command::new(tool).args(["-layout", "-enc", "UTF-8", "-eol", "unix", "-", "-"]), bytes, limit)?;
    if done.output.len() as u64 == limit {
        return Err(Failure::large("the text is longer than the limit"));
    }
    if done.messages.contains("ncorrect password") {
        return Err(Failure::encrypted("the PDF needs a password; save it without one"));
    }
    if !done.success {
        return Err(Failure::corrupt("the PDF cannot be opened"));
    }
    Ok(Found { text: String::from_utf8_lossy(&done.output).into_owned(), title: title(tool, bytes) })
}

fn title(tool: &Path, bytes: &[u8]) -> Option<String> {
    let tool = tool.with_file_name("pdfinfo");
    let done = tool.is_file().then(|| run(Command::new(tool).args(["-enc", "UTF-8", "-"]), bytes, 1 << 20))?.ok()?;
    let output = String::from_utf8_lossy(&done.output).into_owned();
    output.lines().find_map(|line| line.strip_prefix("Title:")).map(|title| title.trim().to_owned())
}

impl Found {
    /// Adds the pages, without the blanks that fill lines up.
    pub fn put(self, gather: &mut Gather) -> Result<(), Failure> {
        gather.title(self.title.as_deref().unwrap_or_default());
        let pages = self.text.strip_suffix('\x0C').unwrap_or(&self.text);
        for (number, page) in pages.split('\x0C').enumerate() {
            gather.page((number + 1).to_string())?;
            for line in page.trim_start_matches(['\n', '\r']).lines() {
                gather.push(line.trim_end())?;
                gather.push("\n")?;
            }
        }
        Ok(())
    }
}

struct Done {
    success: bool,
    output: Vec<u8>,
    messages: String,
}

/// Runs a program to its end, or to the end of what it may say.
fn run(command: &mut Command, input: &[u8], limit: u64) -> Result<Done, Failure> {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Killed(command.spawn().map_err(|error| Failure::internal(format!("pdftotext: {error}")))?);
    let (stdin, stdout, stderr) = (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take());
    let (output, messages) = thread::scope(|scope| {
        // A program that has seen enough closes its input: that is no error.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let messages = scope.spawn(move || collect(stderr, MAX_MESSAGES));
        let output = collect(stdout, limit);
        if output.len() as u64 == limit {
            drop(child.0.kill());
        }
        (output, messages.join().unwrap_or_default())
    });
    let success = child.0.wait().is_ok_and(|status| status.success());
    Ok(Done { success, output, messages: String::from_utf8_lossy(&messages).into_owned() })
}

/// What a stream says, up to a limit; the rest is read and forgotten, so that its writer can go on.
fn collect(stream: Option<impl Read>, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        drop(stream.by_ref().take(limit).read_to_end(&mut bytes));
        if (bytes.len() as u64) < limit {
            drop(std::io::copy(&mut stream, &mut std::io::sink()));
        }
    }
    bytes
}

/// A process that does not outlive its owner.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
