//! Images of pages from the sandbox: each in a child process of its own, with limits of its own.

use std::time::Duration;

use super::pool::IdleReader;
use super::{
    ByteChunks, NO_ATTACHMENTS, Output, ReplyLimits, SandboxOptions, SandboxProcess, StopHandle, Task,
    inconsistent_reply,
};
use crate::page_image::{MAX_IMAGE_SIZE, is_image};
use crate::{ExtractError, PageRendering};

/// Maximum wall-clock time for a page, to send the document included.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum CPU time in seconds of the child, and of the program.
const CPU_SECONDS: u64 = 20;
/// Maximum address space in bytes of the child, which has the document, and of the program.
const MEMORY_LIMIT: u64 = 1 << 30;

/// Renders a page of a PDF in a subprocess, as a PNG file; none if the document has no page of the number. Blocks until the
/// image is complete: call it on a thread for blocking work. Lower limits of the sandbox apply.
///
/// # Errors
/// As [`extract_in_sandbox`](super::extract_in_sandbox).
pub fn render_page_in_sandbox(
    chunks: ByteChunks,
    rendering: &PageRendering,
    sandbox: &SandboxOptions,
    stop: &StopHandle,
) -> Result<Option<Vec<u8>>, ExtractError> {
    let sandbox = SandboxOptions {
        timeout: sandbox.timeout.min(TIMEOUT),
        cpu_seconds: sandbox.cpu_seconds.min(CPU_SECONDS),
        memory_limit: sandbox.memory_limit.min(MEMORY_LIMIT),
        scratch_dir: None,
        ..sandbox.clone()
    };
    let limits = ReplyLimits { body: MAX_IMAGE_SIZE, attachments: NO_ATTACHMENTS };
    let reader = IdleReader::start(&sandbox)?;
    let mut process = SandboxProcess::send_task(reader, Task::Render(rendering.clone()), chunks, limits, sandbox);
    let ((reply, image, _), _) = process.receive(stop)?;
    match reply? {
        Output::Image if is_image(&image, rendering.longer_side) => Ok(Some(image)),
        Output::NoSuchPage => Ok(None),
        Output::Image | Output::Text(_) => Err(inconsistent_reply()),
    }
}
