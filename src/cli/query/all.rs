//! `pidq query --all`: the query over each JSON file of a folder, one row of NDJSON a file.
//!
//! Threads take the files in order and hold one document each. A finished row waits for its turn: rows come out in the
//! order of the files, and no more of them wait than there are threads. What is doubtful about the drawings that were asked
//! is told at the end: a line a kind, whatever the number of files.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use pidq::error::Warning;
use pidq::{Query, Scratch, Value};

use super::{Last, Options, write_json};
use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::folder::{self, Entry};
use crate::cli::input;
use crate::cli::layout::{Layout, Style};
use crate::cli::sorted;

/// Asks every file of `folder`.
pub fn run(options: &Options, query: &Query, folder: &Path) -> Result {
    let files = folder::json_files(folder)?;
    if files.is_empty() {
        failure::warn(&format!("no file `*.json`, `*.json.gz` or `*.json.zst` in `{}`\n", folder.display()));
        return Ok(options.status(Last::None));
    }
    let (next, doubts) = (AtomicUsize::new(0), Mutex::default());
    let work = Work { options, query, files: &files, next, doubts, rows: Rows::default() };
    let jobs = usize::from(options.jobs).min(files.len());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| work.go());
        }
    });
    for doubt in work.doubts() {
        failure::warn(&doubt.render_with(query.source(), &failure::stderr_styles()));
    }
    let Printed { worst, failure, .. } = work.rows.printed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(worst), Err)
}

/// What the threads share.
struct Work<'w> {
    options: &'w Options,
    query: &'w Query,
    files: &'w [Entry],
    next: AtomicUsize,
    /// By kind.
    doubts: Mutex<BTreeMap<&'static str, Doubt>>,
    rows: Rows,
}

/// What is doubtful in several files: in how many, and the first one.
struct Doubt {
    files: usize,
    number: usize,
    warning: Warning,
}

impl Work<'_> {
    fn go(&self) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.files.get(number) else { return };
            let (row, status) = self.row(number, file);
            if !self.rows.print(number, &row, status) {
                return;
            }
        }
    }

    /// The row of a file, and the status that a run on this file alone would have.
    fn row(&self, number: usize, file: &Entry) -> (String, Status) {
        let (member, status) = match self.answer(number, file) {
            Ok((result, last)) => (format!("\"result\":{}", result.trim_end()), self.options.status(last)),
            Err(failure) => (format!("\"error\":{}", failure.to_json()), failure.status()),
        };
        let name = sorted::json(Value::String(&file.path.to_string_lossy()));
        (format!("{{\"file\":{name},{member}}}\n"), status)
    }

    /// The result in one line. The document is gone when this returns.
    fn answer(&self, number: usize, file: &Entry) -> Result<(String, Last)> {
        if let Some(reason) = &file.refused {
            return Err(Failure::Usage(reason.clone()));
        }
        let document = input::for_query(&file.path, self.query)?;
        self.options.limits.within(|limits| {
            let scratch = Scratch::new();
            let refused = |error| Failure::Query(error, self.query.source().into());
            let outcome = document.run(&scratch, limits).map_err(refused)?;
            if outcome.asked_graph {
                super::doubts(document.graph(), &[]).into_iter().for_each(|doubt| self.note(number, doubt));
            }
            let mut text = Vec::new();
            let mut layout = Layout::new(&mut text, Style { indent: None, colours: false });
            let written = write_json(outcome.value, self.options.keys(), limits.output, &mut layout);
            written.map_err(|stop| stop.of(self.query, &outcome))?;
            layout.finish()?;
            Ok((String::from_utf8_lossy(&text).into_owned(), Last::of(outcome.value)))
        })
    }

    /// Notes a doubt. Of each kind the first file is told, whichever was ready first.
    fn note(&self, number: usize, warning: Warning) {
        let mut doubts = self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = doubts.entry(warning.code).or_insert(Doubt { files: 0, number, warning: warning.clone() });
        known.files += 1;
        if number < known.number {
            (known.number, known.warning) = (number, warning);
        }
    }

    /// The doubts, each with its first file.
    fn doubts(&self) -> Vec<Warning> {
        let doubts = std::mem::take(&mut *self.doubts.lock().unwrap_or_else(PoisonError::into_inner));
        let told = doubts.into_values().map(|Doubt { files, number, warning }| {
            let others = if files > 1 { format!(" ({} files more)", files - 1) } else { String::new() };
            let message = format!("{}{others}: {}", self.files[number].path.display(), warning.message);
            Warning { message, help: None, ..warning }
        });
        let mut told: Vec<Warning> = told.collect();
        super::point_to_validate(&mut told);
        told
    }
}

/// The rows, in order.
#[derive(Default)]
struct Rows {
    printed: Mutex<Printed>,
    turn: Condvar,
}

struct Printed {
    count: usize,
    worst: Status,
    /// Why no more rows can be printed.
    failure: Option<Failure>,
}

impl Default for Printed {
    fn default() -> Printed {
        Printed { count: 0, worst: Status::Done, failure: None }
    }
}

impl Rows {
    /// Prints the row of a number when all before it are printed. Says whether another row makes sense.
    fn print(&self, number: usize, row: &str, status: Status) -> bool {
        let mut printed = self.lock();
        while printed.count < number {
            printed = self.turn.wait(printed).unwrap_or_else(PoisonError::into_inner);
        }
        if printed.failure.is_none() {
            printed.failure = write(row).err();
        }
        printed.count += 1;
        printed.worst = printed.worst.max(status);
        self.turn.notify_all();
        printed.failure.is_none()
    }

    fn lock(&self) -> MutexGuard<'_, Printed> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(row: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(row.as_bytes())?;
    Ok(out.flush()?)
}
