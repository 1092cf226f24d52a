//! Progress of long work, on a terminal.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Bars that are shown.
static BARS: OnceLock<MultiProgress> = OnceLock::new();

/// Returns a progress bar for several files, if standard error is a terminal.
pub fn files(count: usize) -> ProgressBar {
    if count < 2 {
        return ProgressBar::hidden();
    }
    show(count as u64, "{bar:30} {pos}/{len} {wide_msg}")
}

/// Returns a progress bar for the bytes of an input.
pub fn bytes(size: u64) -> ProgressBar {
    show(size, "{bar:30} {bytes}/{total_bytes} {eta}")
}

fn show(len: u64, template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = BARS.get_or_init(MultiProgress::new).add(ProgressBar::new(len));
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Prints a message while no bar is shown.
pub fn suspend(print: impl FnOnce()) {
    match BARS.get() {
        Some(bars) => bars.suspend(print),
        None => print(),
    }
}
