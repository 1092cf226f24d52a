//! Option `pidq query --all`: runs the query on each JSON file of a directory and prints one NDJSON row per file.
//!
//! Threads take the files in order and hold one document each. Rows are printed in file order; at most one finished row
//! per thread waits. Data-quality warnings are printed at the end, one line per kind.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use indicatif::ProgressBar;
use pidq::error::Warning;
use pidq::{Query, Scratch, Value};

use super::Options;
use super::printer::{LastResult, write_json};
use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::input;
use crate::cli::json_files::{self, FileEntry};
use crate::cli::json_formatter::{JsonFormatter, Style};
use crate::cli::{progress, sorted_json, table};

/// Runs the query on every file of `dir`.
pub fn run(options: &Options, query: &Query, dir: &Path) -> Result {
    let files = json_files::json_files(dir)?;
    if files.is_empty() {
        failure::warn(&format!("no `*.json`, `*.json.gz` or `*.json.zst` files in `{}`\n", dir.display()));
        return Ok(options.status(LastResult::None));
    }
    let (next_file, warnings) = (AtomicUsize::new(0), Mutex::default());
    let batch = BatchRun { options, query, files: &files, next_file, warnings, rows: RowWriter::default() };
    let bar = if io::stdout().is_terminal() { ProgressBar::hidden() } else { progress::files(files.len()) };
    let threads = usize::from(options.threads).min(files.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| batch.run_files(&bar));
        }
    });
    bar.finish_and_clear();
    for warning in batch.warnings() {
        failure::warn(&warning.render_with(query.source(), &failure::stderr_styles()));
    }
    let WriterState { worst, failure, .. } = batch.rows.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(worst), Err)
}

/// State shared by the threads.
struct BatchRun<'w> {
    options: &'w Options,
    query: &'w Query,
    files: &'w [FileEntry],
    next_file: AtomicUsize,
    /// Warnings by code.
    warnings: Mutex<BTreeMap<&'static str, FileWarning>>,
    rows: RowWriter,
}

/// Warning found in several files: their number, and the first one.
struct FileWarning {
    files: usize,
    number: usize,
    warning: Warning,
}

impl BatchRun<'_> {
    fn run_files(&self, bar: &ProgressBar) {
        loop {
            let number = self.next_file.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.files.get(number) else { return };
            let (row, status) = self.row(number, file);
            if !self.rows.print(number, &row, status) {
                return;
            }
            bar.inc(1);
        }
    }

    /// Returns the row of a file and the exit status of a run on this file alone.
    fn row(&self, number: usize, file: &FileEntry) -> (String, Status) {
        let (field, status) = match self.query_file(number, file) {
            Ok((result, last)) => (format!("\"result\":{}", result.trim_end()), self.options.status(last)),
            Err(failure) => (format!("\"error\":{}", failure.to_json()), failure.status()),
        };
        let name = sorted_json::json(Value::String(&file.path.to_string_lossy()));
        (format!("{{\"file\":{name},{field}}}\n"), status)
    }

    /// Returns the result on one line. The document is dropped on return.
    fn query_file(&self, number: usize, file: &FileEntry) -> Result<(String, LastResult)> {
        if let Some(reason) = &file.skip_reason {
            return Err(Failure::Usage(reason.clone()));
        }
        let document = input::require_projected(&file.path, self.query)?;
        self.options.limits.run(|limits| {
            let scratch = Scratch::new();
            let failure_of = |error| Failure::Query(error, self.query.source().into());
            let outcome = document.run(&scratch, limits).map_err(failure_of)?;
            if outcome.uses_graph {
                super::graph_warnings(document.graph(), &[])
                    .into_iter()
                    .for_each(|warning| self.record_warning(number, warning));
            }
            let mut text = Vec::new();
            let mut formatter = JsonFormatter::new(&mut text, Style { indent: None, colors: false });
            let key_order = self.options.output_format.key_order();
            let written = write_json(outcome.value, key_order, limits.output, &mut |chunk| formatter.push(chunk));
            written.map_err(|error| error.into_failure(self.query, &outcome))?;
            formatter.finish()?;
            Ok((String::from_utf8_lossy(&text).into_owned(), LastResult::from_value(outcome.value)))
        })
    }

    /// Records a warning, keeping that of the first file of each kind.
    fn record_warning(&self, number: usize, warning: Warning) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = warnings.entry(warning.code).or_insert(FileWarning { files: 0, number, warning: warning.clone() });
        entry.files += 1;
        if number < entry.number {
            (entry.number, entry.warning) = (number, warning);
        }
    }

    /// Returns the warnings, each with its first file.
    fn warnings(&self) -> Vec<Warning> {
        let warnings = std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner));
        let shown = warnings.into_values().map(|FileWarning { files, number, mut warning }| {
            let others = if files > 1 { format!(" ({})", table::count(files - 1, "more file")) } else { String::new() };
            warning.message = format!("{}{others}: {}", self.files[number].path.display(), warning.message);
            warning.help = None;
            warning
        });
        let mut shown: Vec<Warning> = shown.collect();
        super::add_validate_help(&mut shown);
        shown
    }
}

/// Ordered output of rows.
#[derive(Default)]
struct RowWriter {
    state: Mutex<WriterState>,
    row_printed: Condvar,
}

struct WriterState {
    printed: usize,
    worst: Status,
    /// Failure that ends the output.
    failure: Option<Failure>,
}

impl Default for WriterState {
    fn default() -> WriterState {
        WriterState { printed: 0, worst: Status::Done, failure: None }
    }
}

impl RowWriter {
    /// Prints a row after all earlier ones. Returns false if the output failed.
    fn print(&self, number: usize, row: &str, status: Status) -> bool {
        let mut state = self.lock();
        while state.printed < number {
            state = self.row_printed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.failure.is_none() {
            state.failure = write(row).err();
        }
        state.printed += 1;
        state.worst = state.worst.max(status);
        self.row_printed.notify_all();
        state.failure.is_none()
    }

    fn lock(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(row: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(row.as_bytes())?;
    Ok(out.flush()?)
}
