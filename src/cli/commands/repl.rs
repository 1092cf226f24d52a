//! Subcommand `pidq repl`: interactive prompt with history, completion and multi-line queries.

mod completion;
mod prompt_line;

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{fs, io};

use clap::Args;
use completion::LineCompleter;
use pidq::{Dialect, Graph, Query};
use prompt_line::PromptLine;
use rustyline::Editor;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;

use super::{explain, functions, query};
use crate::cli::failure::{self, Failure, Result, Status};
use crate::cli::limits::RunLimits;
use crate::cli::pager::{Output, PagerChoice};
use crate::cli::query_options::Profile;
use crate::cli::{documents, interrupt, table};

const EXAMPLES: &str = "\
Examples:
  pidq repl plant.json";

/// Printed at the start. Only on Unix, Ctrl-C ends a query and not the process, see [`interrupt`].
const WELCOME: &str = match cfg!(unix) {
    true => ":help lists commands; Ctrl-C ends a query, Ctrl-D quits\n",
    false => ":help lists commands; Ctrl-D quits, Ctrl-C during a query too\n",
};

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Document, or the list of several documents or of the rows of a `.csv` or `.tsv` file [default: null]
    file: Option<PathBuf>,

    /// Query language
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    let mut session = Session::new(options.profile.dialect(), open(options.file.as_deref())?);
    let mut editor = Editor::<LineCompleter, FileHistory>::new().map_err(terminal_failure)?;
    let history = history_file();
    if let Some(path) = &history {
        // There is no history on the first start.
        drop(editor.load_history(path));
    }
    editor.set_helper(Some(session.completer()));
    if io::stdin().is_terminal() {
        failure::warn(WELCOME);
        interrupt::with_prompt(|| read_lines(&mut editor, &mut session))?;
    } else {
        read_lines(&mut editor, &mut session)?;
    }
    if let Some(path) = &history {
        save(&mut editor, path);
    }
    Ok(Status::Done)
}

/// Reads and runs lines until the end of the input.
fn read_lines(editor: &mut Editor<LineCompleter, FileHistory>, session: &mut Session) -> Result<()> {
    loop {
        let text = match editor.readline("pidq> ") {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return run_unfinished(editor, session),
            // A line from a pipe that is not UTF-8 is skipped.
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                failure::warn("skipped a line that is not UTF-8\n");
                continue;
            }
            Err(error) => return Err(terminal_failure(error)),
        };
        drop(editor.add_history_entry(text.trim_end()));
        match prompt_line::parse(&text) {
            PromptLine::Quit => return Ok(()),
            PromptLine::Load(file) => {
                report_failure(interrupt::with_end(|| session.load(file)))?;
                editor.set_helper(Some(session.completer()));
            }
            line => report_failure(session.run_line(line))?,
        }
    }
}

/// Runs a query left unfinished by a pipe, to report its error.
fn run_unfinished(editor: &Editor<LineCompleter, FileHistory>, session: &Session) -> Result<()> {
    match editor.helper().map(|completer| completer.unfinished.take()) {
        Some(text) if !text.is_empty() => report_failure(session.run_query(&text)),
        _ => Ok(()),
    }
}

/// Reports a failure and continues; stops on a closed pipe.
fn report_failure(result: Result<()>) -> Result<()> {
    match result {
        Err(Failure::ClosedPipe) => Err(Failure::ClosedPipe),
        Err(failure) => {
            failure.report();
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// State of the prompt.
struct Session {
    dialect: Dialect,
    graph: Rc<Graph>,
    limits: RunLimits,
    pager: PagerChoice,
    /// JSON of the last result, for `$last`.
    last_result: RefCell<Option<String>>,
    /// True once data-quality warnings of the drawing were shown.
    graph_warnings_shown: Cell<bool>,
}

impl Session {
    fn new(dialect: Dialect, graph: Graph) -> Session {
        Session {
            dialect,
            graph: Rc::new(graph),
            limits: RunLimits::default(),
            pager: PagerChoice::default(),
            last_result: RefCell::default(),
            graph_warnings_shown: Cell::new(false),
        }
    }

    fn completer(&self) -> LineCompleter {
        LineCompleter::new(&self.dialect, &self.graph)
    }

    fn load(&mut self, file: &str) -> Result<()> {
        self.graph = Rc::new(open(Some(Path::new(file)))?);
        self.graph_warnings_shown.set(false);
        Ok(())
    }

    fn run_line(&mut self, line: PromptLine<'_>) -> Result<()> {
        match line {
            PromptLine::Query(text) => self.run_query(text),
            PromptLine::Explain(text) => {
                let query = self.compile(text)?;
                explain::print_profile(&query, &self.graph, self.limits)
            }
            PromptLine::Help(None) => self.print(&prompt_line::help()),
            PromptLine::Help(Some(name)) => self.print(&functions::description(&self.dialect, name)?),
            PromptLine::Functions(text) => self.print(&functions::list(&self.dialect, text)),
            PromptLine::SetLimits(text) => {
                self.limits = text.parse().map_err(Failure::Usage)?;
                Ok(())
            }
            PromptLine::SetPager(text) => {
                self.pager = PagerChoice::parse(text);
                Ok(())
            }
            PromptLine::Unknown(command) => {
                Err(Failure::Usage(format!("unknown command `{command}`; `:help` lists the commands")))
            }
            PromptLine::Empty | PromptLine::Load(_) | PromptLine::Quit => Ok(()),
        }
    }

    /// Prints text, with the pager if it is long.
    fn print(&self, text: &str) -> Result<()> {
        let mut output = Output::paged_by(&self.pager);
        output.write_all(text.as_bytes())?;
        Ok(output.show_and_continue()?)
    }

    fn run_query(&self, text: &str) -> Result<()> {
        let query = self.compile(text)?;
        let result = self.limits.run_interruptibly(|limits| {
            let output = Output::paged_by(&self.pager);
            query::run_and_print(&query, &self.graph, limits, &self.graph_warnings_shown, output)
        })?;
        self.last_result.replace(result);
        Ok(())
    }

    /// Compiles a query. `$last` is the last result, if it was not too large to keep.
    fn compile(&self, text: &str) -> Result<Query> {
        let last_result = self.last_result.borrow();
        let compiled = match last_result.as_deref().filter(|_| text.contains("$last")) {
            Some(result) => self.dialect.parse_with(text, &format!("{{\"last\":{result}}}")),
            None => self.dialect.parse(text),
        };
        compiled.map_err(|error| Failure::Query(error, text.into()))
    }
}

fn open(file: Option<&Path>) -> Result<Graph> {
    match file {
        Some(path) => {
            let (graph, count) = documents::only_or_list(path)?;
            if let Some(count) = count {
                let documents = table::count(count, "document");
                failure::warn(&format!("`{}` is read as a list of {documents}\n", path.display()));
            }
            Ok(graph)
        }
        None => Graph::from_json("null").map_err(|error| Failure::Input(error, "null".to_owned().into())),
    }
}

fn terminal_failure(error: ReadlineError) -> Failure {
    Failure::Usage(format!("cannot read from the terminal: {error}"))
}

/// Returns `$XDG_STATE_HOME/pidq/history`, or `~/.local/state/pidq/history`.
fn history_file() -> Option<PathBuf> {
    let absolute_path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        absolute_path("XDG_STATE_HOME").or_else(|| absolute_path("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("pidq").join("history"))
}

/// Saves the history, ignoring errors.
fn save(editor: &mut Editor<LineCompleter, FileHistory>, path: &Path) {
    if let Some(dir) = path.parent() {
        drop(fs::create_dir_all(dir));
    }
    drop(editor.save_history(path));
}
