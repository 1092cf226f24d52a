//! Poppler's programs, run with the document on standard input, without temporary files.
//!
//! They inherit the resource limits of the calling process and are killed with it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::text_sink::TextSink;
use crate::{ExtractError, Source};

/// Maximum number of bytes of standard error that are searched.
const MAX_STDERR_SIZE: u64 = 16 << 10;

/// Text and title of a document.
pub struct PopplerText {
    text: String,
    title: Option<String>,
}

/// Extracts the text of a document, with pages ended by form feeds.
pub fn text(tool: &Path, source: &Source<'_>) -> Result<PopplerText, ExtractError> {
    let limit = source.options.max_characters as u64 * 4 + 1;
    let bytes = source.content.bytes;
    let output = run(Command::new(tool).args(["-layout", "-enc", "UTF-8", "-eol", "unix", "-", "-"]), bytes, limit)?;
    if output.stdout.len() as u64 == limit {
        return Err(ExtractError::too_large("the text is longer than the limit"));
    }
    if output.stderr.contains("ncorrect password") {
        return Err(ExtractError::encrypted("the PDF needs a password; save it without one"));
    }
    if !output.success {
        return Err(ExtractError::corrupt("the PDF cannot be opened"));
    }
    Ok(PopplerText { text: String::from_utf8_lossy(&output.stdout).into_owned(), title: title(tool, bytes) })
}

fn title(tool: &Path, bytes: &[u8]) -> Option<String> {
    let tool = tool.with_file_name("pdfinfo");
    let output = tool.is_file().then(|| run(Command::new(tool).args(["-enc", "UTF-8", "-"]), bytes, 1 << 20))?.ok()?;
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    output.lines().find_map(|line| line.strip_prefix("Title:")).map(|title| title.trim().to_owned())
}

impl PopplerText {
    /// Writes the pages, without trailing white space in lines.
    pub fn write_to(self, sink: &mut TextSink) -> Result<(), ExtractError> {
        sink.set_title(self.title.as_deref().unwrap_or_default());
        let pages = self.text.strip_suffix('\x0C').unwrap_or(&self.text);
        for (number, page) in pages.split('\x0C').enumerate() {
            sink.begin_page((number + 1).to_string())?;
            for line in page.trim_start_matches(['\n', '\r']).lines() {
                sink.push(line.trim_end())?;
                sink.push("\n")?;
            }
        }
        Ok(())
    }
}

struct CommandOutput {
    success: bool,
    stdout: Vec<u8>,
    stderr: String,
}

/// Runs a program until it exits or exceeds the output limit.
fn run(command: &mut Command, input: &[u8], limit: u64) -> Result<CommandOutput, ExtractError> {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = KillOnDrop(command.spawn().map_err(|error| ExtractError::internal(format!("pdftotext: {error}")))?);
    let (stdin, stdout, stderr) = (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take());
    let (stdout, stderr_bytes) = thread::scope(|scope| {
        // A program may close its input early; that is not an error.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let stderr_bytes = scope.spawn(move || collect(stderr, MAX_STDERR_SIZE));
        let stdout = collect(stdout, limit);
        if stdout.len() as u64 == limit {
            drop(child.0.kill());
        }
        (stdout, stderr_bytes.join().unwrap_or_default())
    });
    let success = child.0.wait().is_ok_and(|status| status.success());
    Ok(CommandOutput { success, stdout, stderr: String::from_utf8_lossy(&stderr_bytes).into_owned() })
}

/// Reads a stream up to a limit; below the limit, the rest is drained so that the writer does not block.
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

/// A child process that is killed when dropped.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
