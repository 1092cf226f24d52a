//! Documents of a query: the JSON texts, their events, the rows of tables, or the lines, of files and of standard input,
//! one after another.

mod json_events;
mod table_rows;

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::vec;

use json_events::JsonEvents;
use pidq::error::Code;
use pidq::limits::MAX_DOCUMENT_DEPTH;
use pidq::{Error, Graph, ProjectedDocument, Query, Value};
pub use table_rows::{CellTypes, Notation, TableFormat};
use table_rows::{RowError, TableRows};

use super::failure::{Failure, InputPlace, Result};
use super::input::{self, STDIN};
use super::json_texts::{JsonTexts, Position};
use super::sorted_json::json;

/// Largest text that is kept beside its document, to show its line in the message about an error.
const MAX_KEPT_TEXT: usize = 1 << 20;

/// Division of files into documents.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Division {
    /// As the name of the file says: one document per row of a table, or else per JSON text.
    ByName(TableFormat),
    /// One document per JSON text.
    JsonTexts,
    /// One object per row of a table.
    Rows(Notation, TableFormat),
    /// One document per event of a JSON text: see [`JsonEvents`].
    Events,
    /// One string per line.
    Lines,
}

impl Division {
    /// Returns true if one of the files is a table.
    pub fn reads_table(self, files: &[PathBuf]) -> bool {
        files.iter().any(|path| matches!(self.of_file(path), Division::Rows(..)))
    }

    /// Returns the division of a file.
    fn of_file(self, path: &Path) -> Division {
        let Division::ByName(format) = self else { return self };
        let name = path.to_string_lossy().to_ascii_lowercase();
        let name = [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
        match name.rsplit_once('.') {
            Some((_, "csv")) => Division::Rows(Notation::Csv, format),
            Some((_, "tsv")) => Division::Rows(Notation::Tsv, format),
            _ => Division::JsonTexts,
        }
    }
}

/// Iterator of the documents.
pub struct Documents<'q> {
    query: &'q Query,
    texts: Texts,
}

impl<'q> Documents<'q> {
    pub fn new(query: &'q Query, files: Vec<PathBuf>, division: Division) -> Documents<'q> {
        Documents { query, texts: Texts::new(files, division) }
    }

    /// Returns true if the next document must be read first, which may wait for its writer.
    pub fn must_read(&mut self) -> bool {
        self.texts.open.as_mut().is_none_or(OpenFile::must_read)
    }

    /// Loads the next file whole, since most files have one JSON text. Returns `None` if it must be divided.
    fn load_file(&mut self, path: &Path) -> Result<Option<ProjectedDocument<'q>>> {
        let division = self.texts.division.of_file(path);
        if division != Division::JsonTexts || path == Path::new(STDIN) {
            self.texts.open = Some(OpenFile::new(path, division)?);
            return Ok(None);
        }
        match self.query.load(input::json(path)?) {
            Ok(document) => Ok(Some(document)),
            Err(error) if error.code() == Code::NotJson => self.divide(path, error).map(|()| None),
            Err(error) => Err(Failure::Input(error, input::place(path))),
        }
    }

    /// Opens a file that is not one JSON text. Fails if it has only one, which is malformed.
    fn divide(&mut self, path: &Path, error: Error) -> Result<()> {
        let bytes = input::json(path)?;
        let first = JsonTexts::new(bytes.as_slice()).next().and_then(std::result::Result::ok);
        if first.is_some_and(|first| first.bytes == bytes.trim_ascii()) {
            return Err(Failure::Input(error, input::place(path)));
        }
        self.texts.open = Some(OpenFile::divided(path, Box::new(Cursor::new(bytes)), Division::JsonTexts)?);
        Ok(())
    }

    fn load(&mut self, text: Text) -> Result<ProjectedDocument<'q>> {
        let place = text.place();
        self.query.load(text.bytes).map_err(|error| {
            // What follows a malformed text has no known start.
            self.texts.open = None;
            Failure::Input(error, place)
        })
    }
}

impl<'q> Iterator for Documents<'q> {
    type Item = Result<ProjectedDocument<'q>>;

    fn next(&mut self) -> Option<Result<ProjectedDocument<'q>>> {
        loop {
            if let Some(text) = self.texts.next_of_open_file() {
                return Some(text.and_then(|text| self.load(text)));
            }
            let path = self.texts.files.next()?;
            if let Some(document) = self.load_file(&path).transpose() {
                return Some(document);
            }
        }
    }
}

/// Loads a file as one document, or as the array of its documents or table rows, with their number.
pub fn only_or_list(path: &Path) -> Result<(Graph, Option<usize>)> {
    let division = Division::ByName(TableFormat::default());
    let is_table = matches!(division.of_file(path), Division::Rows(..));
    let list = || slurp(vec![path.to_owned()], division);
    let list = if is_table {
        list()?
    } else {
        match input::graph(path) {
            Ok(graph) => return Ok((graph, None)),
            // The error of the whole file says more about one that is no series of documents either. A pipe is empty when it
            // is read again.
            Err(failure) => match list() {
                Ok(list) if list.root().as_array().is_some_and(|list| !list.is_empty()) => list,
                // Documents come before the malformed one, so it is a series.
                Err(Failure::Input(error, place)) if place.start.line > 1 || place.start.column > 1 => {
                    return Err(Failure::Input(error, place));
                }
                _ => return Err(failure),
            },
        }
    };
    let count = list.root().as_array().map(|list| list.len());
    Ok((list, count))
}

/// Loads all documents as the items of one array; with [`Division::Lines`], the whole input as one string.
pub fn slurp(files: Vec<PathBuf>, division: Division) -> Result<Graph> {
    if division == Division::Lines {
        return slurp_text(&files);
    }
    let mut array = String::from("[");
    for text in Texts::new(files, division) {
        let text = text?;
        let place = text.place();
        // Parsed separately first, so that an error names its file.
        let graph = Graph::from_json(text.bytes).map_err(|error| Failure::Input(error, place))?;
        if array.len() > 1 {
            array.push(',');
        }
        array.push_str(graph.source());
    }
    array.push(']');
    Graph::from_json_with_max_depth(array, MAX_DOCUMENT_DEPTH + 1)
        .map_err(|error| Failure::Input(error, "--slurp".to_owned().into()))
}

fn slurp_text(files: &[PathBuf]) -> Result<Graph> {
    let texts: Vec<String> = files.iter().map(|path| input::text(path)).collect::<Result<_>>()?;
    string(&texts.concat(), "--raw-input")
}

fn string(text: &str, name: &str) -> Result<Graph> {
    Graph::from_json(json(Value::String(text))).map_err(|error| Failure::Input(error, name.to_owned().into()))
}

/// Text of a document, with its file and its place there.
struct Text {
    bytes: Vec<u8>,
    name: String,
    start: Position,
}

impl Text {
    fn place(&self) -> InputPlace {
        InputPlace { name: self.name.clone(), start: self.start, text: kept_text(&self.bytes) }
    }
}

fn kept_text(bytes: &[u8]) -> Option<String> {
    (bytes.len() <= MAX_KEPT_TEXT).then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// Iterator of the texts of files.
struct Texts {
    files: vec::IntoIter<PathBuf>,
    division: Division,
    open: Option<OpenFile>,
}

impl Texts {
    fn new(files: Vec<PathBuf>, division: Division) -> Texts {
        Texts { files: files.into_iter(), division, open: None }
    }

    fn next_of_open_file(&mut self) -> Option<Result<Text>> {
        let text = self.open.as_mut()?.next_text().transpose();
        if text.is_none() {
            self.open = None;
        }
        text
    }
}

impl Iterator for Texts {
    type Item = Result<Text>;

    fn next(&mut self) -> Option<Result<Text>> {
        loop {
            if let Some(text) = self.next_of_open_file() {
                return Some(text);
            }
            let path = self.files.next()?;
            match OpenFile::new(&path, self.division.of_file(&path)) {
                Ok(open) => self.open = Some(open),
                Err(failure) => return Some(Err(failure)),
            }
        }
    }
}

/// File, or standard input, whose texts are read one by one.
struct OpenFile {
    path: PathBuf,
    parts: Parts,
}

/// Remaining parts of a file.
enum Parts {
    JsonTexts(JsonTexts<Box<dyn Read>>),
    Events {
        texts: JsonTexts<Box<dyn Read>>,
        /// Events of the text that was read last.
        events: JsonEvents,
        /// Place of this text.
        start: Position,
    },
    Rows(Box<TableRows<Box<dyn Read>>>),
    Lines {
        reader: BufReader<Box<dyn Read>>,
        /// Number of lines that were read.
        count: usize,
    },
}

impl OpenFile {
    fn new(path: &Path, division: Division) -> Result<OpenFile> {
        OpenFile::divided(path, input::reader(path)?, division)
    }

    fn divided(path: &Path, reader: Box<dyn Read>, division: Division) -> Result<OpenFile> {
        let parts = match division {
            Division::ByName(_) | Division::JsonTexts => Parts::JsonTexts(JsonTexts::new(reader)),
            Division::Rows(notation, format) => {
                let rows =
                    TableRows::new(reader, notation, format).map_err(|error| Failure::unreadable(path, &error))?;
                Parts::Rows(Box::new(rows))
            }
            Division::Events => {
                Parts::Events { texts: JsonTexts::new(reader), events: JsonEvents::default(), start: Position::START }
            }
            Division::Lines => Parts::Lines { reader: BufReader::new(reader), count: 0 },
        };
        Ok(OpenFile { path: path.into(), parts })
    }

    fn must_read(&mut self) -> bool {
        match &mut self.parts {
            Parts::JsonTexts(texts) => texts.must_read(),
            Parts::Events { texts, events, .. } => events.is_at_end() && texts.must_read(),
            Parts::Rows(rows) => rows.must_read(),
            Parts::Lines { reader, .. } => !reader.buffer().contains(&b'\n'),
        }
    }

    fn next_text(&mut self) -> Result<Option<Text>> {
        let name = input::name(&self.path);
        match &mut self.parts {
            Parts::JsonTexts(texts) => {
                let text = texts.next().transpose().map_err(|error| Failure::unreadable(&self.path, &error))?;
                Ok(text.map(|text| Text { bytes: text.bytes, name, start: text.start }))
            }
            Parts::Events { texts, events, start } => loop {
                if let Some(bytes) = events.next() {
                    return Ok(Some(Text { bytes, name, start: *start }));
                }
                let text = texts.next().transpose().map_err(|error| Failure::unreadable(&self.path, &error))?;
                let Some(text) = text else { return Ok(None) };
                let text = Text { bytes: text.bytes, name: name.clone(), start: text.start };
                if let Err(failure) = check_json(&text) {
                    *texts = JsonTexts::new(Box::new(io::empty()));
                    return Err(failure);
                }
                (*events, *start) = (JsonEvents::new(text.bytes), text.start);
            },
            Parts::Rows(rows) => {
                let row = rows.next().transpose().map_err(|error| row_failure(error, &self.path))?;
                Ok(row.map(|(bytes, line)| Text { bytes, name, start: Position { line, column: 1 } }))
            }
            Parts::Lines { reader, count } => {
                let mut line = Vec::new();
                let read = reader.take(u64::from(u32::MAX)).read_until(b'\n', &mut line);
                if read.map_err(|error| Failure::unreadable(&self.path, &error))? == 0 {
                    return Ok(None);
                }
                *count += 1;
                let start = Position { line: *count, column: 1 };
                Ok(Some(Text { bytes: line_as_json(line, &name, *count)?, name, start }))
            }
        }
    }
}

fn row_failure(error: RowError, path: &Path) -> Failure {
    match error {
        RowError::Io(error) => Failure::unreadable(path, &error),
        RowError::Malformed(line, reason) => Failure::Usage(format!("line {line} of `{}` {reason}", input::name(path))),
    }
}

/// Checks that a text is JSON.
fn check_json(text: &Text) -> Result<()> {
    // The graph is a copy: it is released before the events are read.
    Graph::from_json(text.bytes.as_slice()).map(drop).map_err(|error| Failure::Input(error, text.place()))
}

/// Returns a line without its end as a JSON string.
fn line_as_json(line: Vec<u8>, name: &str, number: usize) -> Result<Vec<u8>> {
    let line = String::from_utf8(line)
        .map_err(|_| Failure::Usage(format!("line {number} of `{name}` is not UTF-8: convert it, as with `iconv`")))?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(json(Value::String(line.strip_suffix('\r').unwrap_or(line))).into_bytes())
}
