//! Values to JSON text.
//!
//! Hot: what a query passes through is copied from the input, neighbours of a list in one piece; only what it built is
//! printed. Iterative, because a run can build values of any depth.

use std::ops::Range;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::convert::NumberRoom;
use super::{Array, CellList, Fields, Items, Number, Object, Rows, Table, Value};
use crate::arena::{Arena, Cell, ContainerId, Kind, Layout, load::array_index};
use crate::error::{Code, Error, Result, Span};

/// Bytes collected before they are handed on.
const PIECE: usize = 64 << 10;

/// Objects whose texts are fetched from memory before they are written: sorted rows lie anywhere in the input, and
/// waiting for each in turn would take most of the time. Fetched together, nothing but the next fetch between them,
/// they are waited for at the same time.
const TOGETHER: u32 = 64;

/// Writes JSON text, and stops at a limit.
struct Writer<'s> {
    out: Out<'s>,
    written: usize,
    limit: usize,
}

/// Where the text goes.
enum Out<'s> {
    /// In pieces of about 64 KiB.
    Pieces(String, &'s mut dyn FnMut(&str) -> Result<()>),
    Whole(&'s mut Vec<u8>),
    /// Text by text; those that stand in a document by their place there.
    Parts(&'s str, &'s mut dyn FnMut(Written<'_>)),
}

/// A part of the JSON text of a result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Written<'t> {
    /// Bytes of the document, as it was read.
    Source(Range<usize>),
    /// A text that the run has made.
    Text(&'t str),
}

/// A list or object of which a part is written.
enum Open<'a> {
    Array(Array<'a>, usize),
    /// The object, the next place, and whether a key was written.
    Object(Object<'a>, usize, bool),
}

/// Writes `value`; `sink` takes the text piece by piece.
pub(crate) fn write_json(value: Value<'_>, limit: usize, sink: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    let mut writer = Writer { out: Out::Pieces(String::new(), sink), written: 0, limit };
    writer.value(value)?;
    writer.flush()
}

/// Adds the JSON text of `value` to `out`.
pub(crate) fn append_json(value: Value<'_>, limit: usize, out: &mut Vec<u8>) -> Result<()> {
    Writer { out: Out::Whole(out), written: 0, limit }.value(value)
}

/// Tells the JSON text of `value` part by part. What is passed through from `source` is not even looked at.
pub(crate) fn write_parts(
    value: Value<'_>,
    limit: usize,
    source: &str,
    sink: &mut dyn FnMut(Written<'_>),
) -> Result<()> {
    Writer { out: Out::Parts(source, sink), written: 0, limit }.value(value)
}

/// The JSON text of a value, without a limit: for error messages and tests.
pub(crate) fn to_string(value: Value<'_>) -> String {
    let mut text = String::new();
    let written = write_json(value, usize::MAX, &mut |piece| {
        text.push_str(piece);
        Ok(())
    });
    debug_assert!(written.is_ok());
    text
}

impl Writer<'_> {
    fn value(&mut self, value: Value<'_>) -> Result<()> {
        let mut open: Vec<Open<'_>> = Vec::new();
        self.start(value, &mut open)?;
        while let Some(innermost) = open.last_mut() {
            let next = match innermost {
                Open::Array(array, at) => self.next_item(*array, at)?,
                Open::Object(object, at, any) => self.next_field(*object, at, any)?,
            };
            match next {
                Some(value) => self.start(value, &mut open)?,
                None => drop(open.pop()),
            }
        }
        Ok(())
    }

    /// Writes a value that is complete at once, or opens it.
    fn start<'a>(&mut self, value: Value<'a>, open: &mut Vec<Open<'a>>) -> Result<()> {
        match value {
            Value::Undefined | Value::Null => self.push("null"),
            Value::Bool(true) => self.push("true"),
            Value::Bool(false) => self.push("false"),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.string(text),
            Value::Array(Array(Items::Stored(arena, id))) | Value::Object(Object(Fields::Stored(arena, id))) => {
                self.push(arena.container_text(id))
            }
            Value::Array(Array(Items::Rows(rows))) if rows.layout != Layout::Loose => self.followed_rows(rows),
            Value::Array(Array(Items::Rows(rows))) => self.rows(rows.arena, rows.base, rows.rows.iter().copied()),
            Value::Array(Array(Items::Part { arena, base, first, len })) => self.rows(arena, base, first..first + len),
            Value::Array(Array(Items::Cells(list))) => self.cells(list),
            Value::Array(Array(Items::Table(table))) => self.table(table),
            Value::Array(array) => {
                open.push(Open::Array(array, 0));
                self.push("[")
            }
            Value::Object(object) => {
                open.push(Open::Object(object, 0, false));
                self.push("{")
            }
        }
    }

    fn next_item<'a>(&mut self, array: Array<'a>, at: &mut usize) -> Result<Option<Value<'a>>> {
        let Some(item) = array.get(*at) else {
            self.push("]")?;
            return Ok(None);
        };
        if *at > 0 {
            self.push(",")?;
        }
        *at += 1;
        Ok(Some(item))
    }

    fn next_field<'a>(&mut self, object: Object<'a>, at: &mut usize, any: &mut bool) -> Result<Option<Value<'a>>> {
        while *at < object.len() && matches!(object.value(*at), Value::Undefined) {
            *at += 1;
        }
        if *at == object.len() {
            self.push("}")?;
            return Ok(None);
        }
        if *any {
            self.push(",")?;
        }
        *any = true;
        self.string(object.key(*at))?;
        self.push(":")?;
        *at += 1;
        Ok(Some(object.value(*at - 1)))
    }

    /// Writes items of a list in which each has its comma right behind it, which is copied with it. Rows that stand side by
    /// side are one copy.
    fn followed_rows(&mut self, list: &Rows<'_>) -> Result<()> {
        let (source, cells) = (list.arena.source(), list.arena.items(list.base));
        let span = |row: u32| match cells[row as usize].kind() {
            Kind::Array(id) | Kind::Object(id) => list.arena.container(id).span,
            _ => Span::default(),
        };
        let mut runs = list.rows.chunk_by(|a, b| list.layout == Layout::Compact && a + 1 == *b).peekable();
        self.push("[")?;
        while let Some(run) = runs.next() {
            let last = run[run.len() - 1];
            let (start, end) = (span(run[0]).start, span(last).end);
            let has_comma = (last as usize) < cells.len() - 1;
            match runs.peek() {
                None => self.passage(source, start, end)?,
                Some(_) if has_comma => self.passage(source, start, end + 1)?,
                Some(_) => {
                    self.passage(source, start, end)?;
                    self.push(",")?;
                }
            }
        }
        self.push("]")
    }

    /// Writes some items of a stored list. Items that stand side by side in the input are one copy.
    fn rows(&mut self, arena: &Arena, base: ContainerId, rows: impl Iterator<Item = u32>) -> Result<()> {
        self.push("[")?;
        let source = arena.source();
        let cells = arena.items(base);
        let span = |cell: Cell| match cell.kind() {
            Kind::Array(id) | Kind::Object(id) => Some(arena.container(id).span),
            _ => None,
        };
        let mut rows = rows.map(|row| cells[row as usize]).peekable();
        let mut is_first = true;
        while let Some(cell) = rows.next() {
            if !std::mem::take(&mut is_first) {
                self.push(",")?;
            }
            let Some(first) = span(cell) else {
                self.scalar(Value::stored(arena, cell))?;
                continue;
            };
            let mut end = first.end;
            while let Some(next) = rows.peek().and_then(|cell| span(*cell)) {
                if next.start != end + 1 || source.as_bytes()[end as usize] != b',' {
                    break;
                }
                end = next.end;
                rows.next();
            }
            self.passage(source, first.start, end)?;
        }
        self.push("]")
    }

    fn cells(&mut self, list: &CellList<'_>) -> Result<()> {
        self.push("[")?;
        for (at, cell) in list.cells.iter().enumerate() {
            if at > 0 {
                self.push(",")?;
            }
            self.cell(list.arena, *cell)?;
        }
        self.push("]")
    }

    /// Writes objects that have the same keys: what stands between the values is the same for all of them.
    fn table(&mut self, table: &Table<'_>) -> Result<()> {
        let between: Vec<String> =
            table.keys.names.iter().map(|key| format!(",{}:", to_string(Value::String(key)))).collect();
        let Some((first, others)) = between.split_first() else { return self.empty_objects(table.len) };
        let next = format!("}},{{{}", &first[1..]);
        self.push("[")?;
        for row in 0..table.len {
            if row % TOGETHER == 0 {
                fetch(table, row..(row + TOGETHER).min(table.len));
            }
            self.push(if row == 0 { &next[2..] } else { &next })?;
            let cells = table.row(row);
            self.cell(table.arena, cells[0])?;
            for (key, cell) in others.iter().zip(&cells[1..]) {
                self.push(key)?;
                self.cell(table.arena, *cell)?;
            }
        }
        self.push(if table.len == 0 { "]" } else { "}]" })
    }

    fn empty_objects(&mut self, count: u32) -> Result<()> {
        self.push("[")?;
        for at in 0..count {
            self.push(if at == 0 { "{}" } else { ",{}" })?;
        }
        self.push("]")
    }

    /// Writes a stored value that was taken out of its container: texts without escapes as they stand.
    fn cell(&mut self, arena: &Arena, cell: Cell) -> Result<()> {
        match arena.quoted(cell) {
            Some(text) => self.push(text),
            None => self.scalar(Value::stored(arena, cell)),
        }
    }

    /// Writes a value that holds no others.
    fn scalar(&mut self, value: Value<'_>) -> Result<()> {
        self.start(value, &mut Vec::new())
    }

    fn number(&mut self, number: Number<'_>) -> Result<()> {
        match number.lexeme() {
            Some(lexeme) => self.push(lexeme),
            None if number.value().is_finite() => self.push(NumberRoom::new().text(number.value())),
            None => self.push("null"),
        }
    }

    /// Writes a text in quotes. Most need no escapes.
    fn string(&mut self, text: &str) -> Result<()> {
        self.push("\"")?;
        let mut plain = 0;
        for (at, byte) in text.bytes().enumerate() {
            if byte >= b' ' && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.push(&text[plain..at])?;
            self.push(&escape(byte))?;
            plain = at + 1;
        }
        self.push(&text[plain..])?;
        self.push("\"")
    }

    /// Writes a part of a source as it stands there. Hot: where its place is all that is told, the text is not touched, since
    /// that would wait for memory at each row.
    fn passage(&mut self, source: &str, start: u32, end: u32) -> Result<()> {
        let place = start as usize..end as usize;
        self.count(place.len())?;
        match &mut self.out {
            Out::Parts(document, sink) if std::ptr::eq(*document, source) => {
                sink(Written::Source(place));
                Ok(())
            }
            _ => self.put(&source[place]),
        }
    }

    fn push(&mut self, text: &str) -> Result<()> {
        self.count(text.len())?;
        self.put(text)
    }

    fn count(&mut self, bytes: usize) -> Result<()> {
        self.written += bytes;
        if self.written > self.limit { Err(self.too_large()) } else { Ok(()) }
    }

    fn put(&mut self, text: &str) -> Result<()> {
        match &mut self.out {
            Out::Whole(out) => out.extend_from_slice(text.as_bytes()),
            Out::Parts(source, sink) => match place(source, text) {
                Some(place) => sink(Written::Source(place)),
                None => sink(Written::Text(text)),
            },
            Out::Pieces(piece, _) if piece.len() + text.len() <= PIECE => piece.push_str(text),
            Out::Pieces(..) => return self.overflow(text),
        }
        Ok(())
    }

    /// Hands on what was collected, because there is no room for `text`.
    fn overflow(&mut self, text: &str) -> Result<()> {
        self.flush()?;
        match &mut self.out {
            Out::Pieces(_, sink) if text.len() > PIECE => sink(text),
            Out::Pieces(piece, _) => {
                piece.push_str(text);
                Ok(())
            }
            Out::Whole(_) | Out::Parts(..) => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        let Out::Pieces(piece, sink) = &mut self.out else { return Ok(()) };
        if !piece.is_empty() {
            sink(piece)?;
            piece.clear();
        }
        Ok(())
    }

    fn too_large(&self) -> Error {
        Error::new(Code::OutputTooLarge, format!("The result is larger than {} bytes", self.limit))
            .with_limit("result", self.limit as u64)
            .with_help("select less: `limit(100)`, `pick(.id, .tag)`, or raise the output limit")
    }
}

/// A value as errors tell of it: `string "T-101"`, `number 5`, `array`. Short, and quickly made, whatever it is.
pub(crate) fn told(value: Value<'_>) -> String {
    let kind = value.type_name();
    match value {
        Value::Bool(_) => format!("{kind} {value:?}"),
        Value::Number(number) => format!("{kind} {:?}", Value::number(number.value())),
        Value::String(text) => format!("{kind} {}", quoted_start(text, 40)),
        _ => kind.into(),
    }
}

/// A text as JSON, cut after so many characters.
pub(crate) fn quoted_start(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{:?}…", Value::String(&text[..end])),
        None => format!("{:?}", Value::String(text)),
    }
}

/// Fetches the texts of some objects from memory.
fn fetch(table: &Table<'_>, rows: Range<u32>) {
    let width = table.keys.names.len();
    let cells = &table.cells[rows.start as usize * width..rows.end as usize * width];
    std::hint::black_box(cells.iter().fold(0, |all, cell| all ^ table.arena.touch(*cell)));
}

/// Where a text stands in a source, if it is a part of that very text and not only equal to one.
fn place(source: &str, text: &str) -> Option<Range<usize>> {
    let start = (text.as_ptr() as usize).checked_sub(source.as_ptr() as usize)?;
    (start + text.len() <= source.len()).then(|| start..start + text.len())
}

/// The escape of a quote, a backslash or a control character, as JavaScript writes it.
pub(crate) fn escape(byte: u8) -> String {
    match byte {
        b'"' => "\\\"".into(),
        b'\\' => "\\\\".into(),
        b'\n' => "\\n".into(),
        b'\r' => "\\r".into(),
        b'\t' => "\\t".into(),
        0x08 => "\\b".into(),
        0x0C => "\\f".into(),
        other => format!("\\u{other:04x}"),
    }
}

impl Serialize for Value<'_> {
    /// For other formats than JSON. Recursive: values deeper than 128 levels are refused.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Bounded(*self, 128).serialize(serializer)
    }
}

/// A value and how many levels it may still have.
struct Bounded<'a>(Value<'a>, u32);

impl Serialize for Bounded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let below = self.1.checked_sub(1).ok_or_else(|| serde::ser::Error::custom("nested too deeply"))?;
        match self.0 {
            Value::Undefined | Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(value),
            Value::Number(number) => serialize_number(number.value(), serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(array) => {
                let mut items = serializer.serialize_seq(Some(array.len()))?;
                array.iter().try_for_each(|item| items.serialize_element(&Bounded(item, below)))?;
                items.end()
            }
            Value::Object(object) => {
                let mut fields = serializer.serialize_map(None)?;
                let defined = object.iter().filter(|(_, value)| !matches!(value, Value::Undefined));
                defined.into_iter().try_for_each(|(key, value)| fields.serialize_entry(key, &Bounded(value, below)))?;
                fields.end()
            }
        }
    }
}

/// Whole numbers as integers, so that formats with both kinds show `3` and not `3.0`.
fn serialize_number<S: Serializer>(value: f64, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        value if !value.is_finite() => serializer.serialize_unit(),
        value if value.trunc() == value && value.abs() <= EXACT => serializer.serialize_i64(value as i64),
        value => serializer.serialize_f64(value),
    }
}

/// Whether JavaScript would list these keys in another order: array indexes first, ascending.
pub(crate) fn needs_reordering(keys: &[&str]) -> bool {
    let has_index = keys.iter().any(|key| array_index(key).is_some());
    has_index && !keys.is_sorted_by_key(|key| array_index(key).map_or(u64::MAX, u64::from))
}

#[cfg(test)]
mod tests {
    use super::Written;
    use crate::{Graph, Limits, Query, Scratch};

    const DOCUMENT: &str = r#"{"nodes": [{"id": "a", "n": 1}, {"id": "b\n"}, {"id": "c", "n": 3}, 4], "x": null}"#;

    /// The result in parts, put together again, and the bytes of it that stand in the document.
    fn parts(text: &str) -> (String, usize) {
        let graph = Graph::from_json(DOCUMENT.to_owned()).expect("a document");
        let (query, scratch) = (Query::parse(text).expect(text), Scratch::new());
        let outcome = query.run(&graph, &scratch, Limits::default()).expect(text);
        let (mut whole, mut passed) = (String::new(), 0);
        let written = outcome.write_parts(&graph, &mut |part| match part {
            Written::Source(place) => {
                passed += place.len();
                whole.push_str(&graph.source()[place]);
            }
            Written::Text(text) => whole.push_str(text),
        });
        assert!(written.is_ok(), "{text}");
        let mut expected = Vec::new();
        outcome.write_json(&mut expected).expect(text);
        assert_eq!(whole.as_bytes(), expected, "{text}");
        (whole, passed)
    }

    #[test]
    fn the_parts_of_a_result_are_its_json() {
        for text in
            [".nodes | map(.id)", ".nodes | pick(.id, .n)", "{a: .nodes | size(), b: \"\u{e4}\\\"\"}", "7", "null"]
        {
            parts(text);
        }
    }

    #[test]
    fn what_is_passed_through_is_told_by_its_place() {
        assert_eq!(parts("get()").1, DOCUMENT.len());
        let (kept, passed) = parts(".nodes | filter(.n)");
        assert_eq!((kept.as_str(), passed), (r#"[{"id": "a", "n": 1},{"id": "c", "n": 3}]"#, 38));
    }

    #[test]
    fn rows_are_the_same_however_they_are_separated() {
        let item = |n: usize| format!(r#"{{"n": {n}, "odd": {}}}"#, n % 2);
        for separator in [",", ", ", ",\n  ", " ,"] {
            let items: Vec<String> = (0..100).map(item).collect();
            let graph = Graph::from_json(format!("[ {} ]", items.join(separator))).expect("a document");
            let check = |text: &str, kept: Vec<usize>| {
                let (query, scratch) = (Query::parse(text).expect(text), Scratch::new());
                let outcome = query.run(&graph, &scratch, Limits::default()).expect(text);
                let kept: Vec<String> = kept.into_iter().map(item).collect();
                let mut found = Vec::new();
                outcome.write_json(&mut found).expect(text);
                assert_eq!(String::from_utf8_lossy(&found), format!("[{}]", kept.join(",")), "{text} {separator:?}");
            };
            check("filter(.odd == 1)", (0..100).filter(|n| n % 2 == 1).collect());
            check("filter(.n != 50)", (0..100).filter(|n| *n != 50).collect());
            check("filter(.n > 20 or .odd == 1)", (0..100).filter(|n| *n > 20 || n % 2 == 1).collect());
            check("sort(.n, \"desc\")", (0..100).rev().collect());
        }
    }

    #[test]
    fn parts_have_the_limit_of_the_run() {
        let graph = Graph::from_json(DOCUMENT.to_owned()).expect("a document");
        let (query, scratch) = (Query::parse(".nodes").expect("a query"), Scratch::new());
        let limits = Limits { output: 10, ..Limits::default() };
        let outcome = query.run(&graph, &scratch, limits).expect("a result");
        assert!(outcome.write_parts(&graph, &mut |_| {}).is_err());
    }
}
