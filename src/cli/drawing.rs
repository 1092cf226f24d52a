//! The drawing in a file, for subcommands that have a question of their own: reading it, and what stands in its answers.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use pidq::error::{Code, Stage};
use pidq::limits::MAX_DEPTH;
use pidq::{Error, Graph, Limits, Query, Scratch, Value};

use super::failure::{self, Failure, Result};
use super::layout::{Indent, Layout, Style};
use super::sorted::json;
use super::{import, input};

/// An answer about a document may be this much deeper than the document.
const DEPTH_OF_ANSWERS: usize = 8;

/// The drawing in a file: JSON as it is, drawings of other programs imported.
pub fn open(path: &Path) -> Result<Graph> {
    if path.is_dir() {
        let name = path.display();
        return Err(Failure::Usage(format!("`{name}` is a folder; name the drawings in it, as in `{name}/*.json`")));
    }
    import::graph(path)
}

/// The drawing in a file, or what is wrong where there is none in it.
pub fn open_with_graph(path: &Path) -> Result<Graph> {
    let graph = open(path)?;
    let question = "nodes() | size()";
    let scratch = Scratch::new();
    let query = Query::parse(question).map_err(|error| Failure::Query(error, question.into()))?;
    // Only whether there is one is asked here; whatever else goes wrong is for the question itself to say.
    match query.run(&graph, &scratch, Limits::default()).err().filter(|error| error.code() == Code::NoGraph) {
        Some(error) => Err(refused(error, path, question)),
        None => Ok(graph),
    }
}

/// The standard input ends when it was read once.
pub fn one_from_stdin(files: &[PathBuf]) -> Result<()> {
    match files.iter().filter(|file| *file == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage("only one drawing can come from the standard input: `-` stands twice".into())),
    }
}

/// What the engine says of the drawing in a file. A limit is no fault of the file: it has the status of a query.
pub fn refused(error: Error, path: &Path, question: &str) -> Failure {
    match error.code().stage() {
        Stage::Limit => Failure::Query(error, question.into()),
        _ => Failure::Input(error, input::name(path)),
    }
}

/// An answer of the engine, to be read.
pub fn answer(json: String) -> Result<Graph> {
    Graph::from_json_within(json, MAX_DEPTH + DEPTH_OF_ANSWERS)
        .map_err(|error| Failure::Input(error, "the answer".into()))
}

/// A field of an object; null where there is none.
pub fn field<'a>(value: Value<'a>, key: &str) -> Value<'a> {
    value.as_object().and_then(|object| object.get(key)).unwrap_or(Value::Null)
}

/// The items of a list; none of what is no list.
pub fn items(value: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    value.as_array().into_iter().flat_map(|array| array.iter())
}

/// JSON on one line, or laid out with colours where they are seen.
#[derive(Clone, Copy)]
pub enum Shape {
    Compact,
    Indented,
}

impl Shape {
    pub fn of(is_compact: bool) -> Shape {
        if is_compact { Shape::Compact } else { Shape::Indented }
    }

    /// How it looks on the standard output.
    pub fn on_stdout(self) -> Style {
        Style { colours: failure::wants_colours(&io::stdout()), ..self.in_file() }
    }

    /// How it looks in a file.
    pub fn in_file(self) -> Style {
        let indent = match self {
            Shape::Compact => None,
            Shape::Indented => Some(Indent::Blanks(2)),
        };
        Style { indent, colours: false }
    }
}

/// Prints a JSON text.
pub fn print_json(json: &str, shape: Shape) -> Result<()> {
    let mut layout = Layout::new(BufWriter::new(io::stdout().lock()), shape.on_stdout());
    layout.push(json)?;
    layout.finish()?;
    Ok(layout.flush()?)
}

/// A JSON text, laid out.
pub fn laid_out(json: &str, style: Style) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut layout = Layout::new(&mut text, style);
    layout.push(json)?;
    layout.finish()?;
    Ok(text)
}

/// A value as JSON on one line, however its document is laid out.
pub fn in_one_line(value: Value<'_>) -> String {
    let line = laid_out(&json(value), Shape::Compact.in_file()).unwrap_or_default();
    String::from_utf8_lossy(&line).trim_end().into()
}

/// Prints a text.
pub fn print(text: &str) -> Result<()> {
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// A status that says something holds though nobody read the output to its end.
pub fn even_unread(printed: Result<()>) -> Result<()> {
    match printed {
        Err(Failure::ClosedPipe) => Ok(()),
        other => other,
    }
}
