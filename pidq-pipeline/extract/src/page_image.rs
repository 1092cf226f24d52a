//! Images of pages: a page of a PDF as a PNG file, by the program pdftoppm.
//!
//! The caller determines the longer side of the image, not the file: a page of any size needs the memory of that image.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ExtractError;
use super::program::{ProgramError, RunLimits, run};

/// Timeout of the program.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum size of an image in bytes.
pub const MAX_IMAGE_SIZE: u64 = 64 << 20;
/// Largest number of a page that pdftoppm reads.
const MAX_PAGE: u32 = i32::MAX as u32;
/// Exit status of pdftoppm for a number without a page.
const NO_SUCH_PAGE: i32 = 99;
/// Exit status of pdftoppm for a file that it cannot open.
const NOT_OPENED: i32 = 1;
/// Start of a PNG file: the signature and the type of the first chunk, with the length of it.
const PNG_START: &[u8; 16] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// A page to render.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PageRendering {
    /// Path of pdftoppm, from poppler-utils.
    pub pdftoppm: PathBuf,
    /// Page, from 1.
    pub page: u32,
    /// Longer side of the image in pixels.
    pub longer_side: u32,
}

/// Cause for which a page has no image.
#[derive(Debug)]
pub enum RenderError {
    /// The document has no page of this number.
    NoSuchPage,
    /// The file cannot be opened.
    NotOpened,
    /// Any other cause.
    Failed(ExtractError),
}

/// Renders a page of a PDF.
pub fn render(pdf: &[u8], rendering: &PageRendering) -> Result<Vec<u8>, RenderError> {
    // pdftoppm renders the first page for the number 0, and all pages for a number that it takes for a negative one.
    if !(1..=MAX_PAGE).contains(&rendering.page) {
        return Err(RenderError::NoSuchPage);
    }
    let [page, side] = [rendering.page, rendering.longer_side].map(|number| number.to_string());
    let arguments = ["-f", &page, "-l", &page, "-png", "-cropbox", "-scale-to", &side, "-"];
    let limits = RunLimits { timeout: TIMEOUT, max_output: MAX_IMAGE_SIZE };
    let image = run(&rendering.pdftoppm, &arguments, pdf, limits).map_err(render_error)?;
    match is_image(&image, rendering.longer_side) {
        true => Ok(image),
        false => Err(render_error(ProgramError::Unreadable)),
    }
}

/// Returns whether bytes start as a PNG file whose longer side is at most a number of pixels.
pub fn is_image(bytes: &[u8], longer_side: u32) -> bool {
    let side = |start: usize| {
        let bytes = bytes.get(start..start + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes)).filter(|side| (1..=longer_side).contains(side))
    };
    bytes.starts_with(PNG_START) && side(16).is_some() && side(20).is_some()
}

fn render_error(error: ProgramError) -> RenderError {
    let failure = |error: &ProgramError| format!("the page could not be rendered: {error}");
    RenderError::Failed(match &error {
        ProgramError::NotStarted(error) => ExtractError::internal(format!("pdftoppm cannot be started: {error}")),
        ProgramError::Failed(status) if exceeded_cpu_time(*status) => {
            ExtractError::too_large("rendering the page exceeds the CPU time limit")
        }
        ProgramError::Failed(status) if status.code() == Some(NO_SUCH_PAGE) => return RenderError::NoSuchPage,
        ProgramError::Failed(status) if status.code() == Some(NOT_OPENED) => return RenderError::NotOpened,
        ProgramError::TimedOut(_) | ProgramError::OutputTooLarge => ExtractError::too_large(failure(&error)),
        error => ExtractError::corrupt(failure(error)),
    })
}

/// Returns whether the system ended a program because of its CPU time.
#[cfg(unix)]
fn exceeded_cpu_time(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;

    status.signal() == Some(rustix::process::Signal::XCPU.as_raw())
}

#[cfg(not(unix))]
fn exceeded_cpu_time(_: ExitStatus) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(width: u32, height: u32) -> Vec<u8> {
        [&PNG_START[..], &width.to_be_bytes(), &height.to_be_bytes()].concat()
    }

    #[test]
    fn an_image_has_the_size_that_was_asked_for_at_most() {
        assert!(is_image(&head(100, 1), 100) && is_image(&head(1, 100), 100));
        for (bytes, cause) in [
            (head(101, 1), "too wide"),
            (head(1, 101), "too high"),
            (head(0, 5), "empty"),
            (head(5, 0), "empty"),
            (head(5, 5)[..23].to_vec(), "truncated"),
            (b"P6\n5 5\n255\n".to_vec(), "another format"),
            (Vec::new(), "nothing"),
        ] {
            assert!(!is_image(&bytes, 100), "{cause}");
        }
    }
}
