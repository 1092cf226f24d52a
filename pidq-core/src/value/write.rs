//! JSON writer.
//!
//! Hot: values that a query did not change are copied from the input, adjacent items of an array in one copy; only
//! built values are formatted. Iterative, because a run can build values of any depth.

use std::ops::Range;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::js_number_format::NumberBuffer;
use super::{Array, CellList, Fields, Items, Number, Object, Rows, Table, Value};
use crate::arena::{Arena, Cell, ContainerId, ItemSpans, Kind, MAX_EXACT, load::array_index};
use crate::error::{Code, Error, Result};

/// Buffer size of the output, in bytes.
const CHUNK_SIZE: usize = 64 << 10;

/// Rows whose strings are prefetched before they are written: sorted rows are anywhere in the input, and waiting for
/// memory at each row would take most of the time. Loads that are issued together overlap.
const PREFETCH_ROWS: u32 = 64;

/// Writes JSON and enforces the output limit.
struct Writer<'s> {
    out: Output<'s>,
    written: usize,
    limit: usize,
}

/// Destination of the output.
enum Output<'s> {
    /// Collected in chunks of about 64 KiB.
    Buffered(String, &'s mut dyn FnMut(&str) -> Result<()>),
    Bytes(&'s mut Vec<u8>),
    /// String by string; those that occur in the source document as ranges of it.
    Chunks(&'s str, &'s mut dyn FnMut(OutputChunk<'_>)),
}

/// A chunk of the JSON text of a result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum OutputChunk<'t> {
    /// Byte range of the source document.
    Source(Range<usize>),
    /// Text that the run built.
    Text(&'t str),
}

/// An array or object that is partly written.
enum Frame<'a> {
    Array(Array<'a>, usize),
    /// The object, the next index, and true if a key was written.
    Object(Object<'a>, usize, bool),
}

/// Writes `value` as JSON in chunks.
pub(crate) fn write_json(value: Value<'_>, limit: usize, sink: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    let mut writer = Writer { out: Output::Buffered(String::new(), sink), written: 0, limit };
    writer.value(value)?;
    writer.flush()
}

/// Appends the JSON text of `value` to `out`.
pub(crate) fn append_json(value: Value<'_>, limit: usize, out: &mut Vec<u8>) -> Result<()> {
    Writer { out: Output::Bytes(out), written: 0, limit }.value(value)
}

/// Writes `value` as chunks. Ranges copied from `source` are not read.
pub(crate) fn write_chunks(
    value: Value<'_>,
    limit: usize,
    source: &str,
    sink: &mut dyn FnMut(OutputChunk<'_>),
) -> Result<()> {
    Writer { out: Output::Chunks(source, sink), written: 0, limit }.value(value)
}

/// Returns the JSON text of a value, without a limit: for error messages and tests.
pub(crate) fn to_string(value: Value<'_>) -> String {
    let mut text = String::new();
    let written = write_json(value, usize::MAX, &mut |chunk| {
        text.push_str(chunk);
        Ok(())
    });
    debug_assert!(written.is_ok());
    text
}

impl Writer<'_> {
    fn value(&mut self, value: Value<'_>) -> Result<()> {
        let mut frames: Vec<Frame<'_>> = Vec::new();
        self.start(value, &mut frames)?;
        while let Some(innermost) = frames.last_mut() {
            let next = match innermost {
                Frame::Array(array, at) => self.next_item(*array, at)?,
                Frame::Object(object, at, any) => self.next_field(*object, at, any)?,
            };
            match next {
                Some(value) => self.start(value, &mut frames)?,
                None => drop(frames.pop()),
            }
        }
        Ok(())
    }

    /// Writes a scalar, or opens a container.
    fn start<'a>(&mut self, value: Value<'a>, frames: &mut Vec<Frame<'a>>) -> Result<()> {
        match value {
            Value::Undefined | Value::Null => self.push("null"),
            Value::Bool(true) => self.push("true"),
            Value::Bool(false) => self.push("false"),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.string(text),
            Value::Array(Array(Items::Stored(arena, id))) | Value::Object(Object(Fields::Stored(arena, id))) => {
                self.push(arena.container_text(id))
            }
            Value::Array(Array(Items::Rows(rows))) => match rows.spans {
                Some(spans) => self.rows_with_commas(rows, spans),
                None => self.rows(rows.arena, rows.base, rows.rows.iter().copied()),
            },
            Value::Array(Array(Items::Slice { arena, base, first, len })) => self.rows(arena, base, first..first + len),
            Value::Array(Array(Items::Cells(list))) => self.cells(list),
            Value::Array(Array(Items::Table(table))) => self.table(table),
            Value::Array(array) => {
                frames.push(Frame::Array(array, 0));
                self.push("[")
            }
            Value::Object(object) => {
                frames.push(Frame::Object(object, 0, false));
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

    /// Writes selected items of an array whose items are each followed by a comma, and copies the comma with the item.
    /// Adjacent rows are one copy. Hot: the containers of the items are not read, since they are too far apart.
    fn rows_with_commas(&mut self, list: &Rows<'_>, items: &ItemSpans) -> Result<()> {
        let (source, spans) = (list.arena.source(), &*items.spans);
        let mut runs = list.rows.chunk_by(|a, b| items.is_compact && a + 1 == *b).peekable();
        self.push("[")?;
        while let Some(run) = runs.next() {
            let last = run[run.len() - 1] as usize;
            let (start, end) = (spans[run[0] as usize].start, spans[last].end);
            let has_comma = last < spans.len() - 1;
            match runs.peek() {
                None => self.copy_source(source, start, end)?,
                Some(_) if has_comma => self.copy_source(source, start, end + 1)?,
                Some(_) => {
                    self.copy_source(source, start, end)?;
                    self.push(",")?;
                }
            }
        }
        self.push("]")
    }

    /// Writes selected items of a stored array. Items adjacent in the input are one copy.
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
            self.copy_source(source, first.start, end)?;
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

    /// Writes objects with the same keys: the text between the values is the same for all of them.
    fn table(&mut self, table: &Table<'_>) -> Result<()> {
        let between: Vec<String> =
            table.keys.names.iter().map(|key| format!(",{}:", to_string(Value::String(key)))).collect();
        let Some((first, others)) = between.split_first() else { return self.empty_objects(table.len) };
        let next = format!("}},{{{}", &first[1..]);
        self.push("[")?;
        for row in 0..table.len {
            if row % PREFETCH_ROWS == 0 {
                prefetch(table, row..(row + PREFETCH_ROWS).min(table.len));
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

    /// Writes a value without its container: strings without escapes verbatim.
    fn cell(&mut self, arena: &Arena, cell: Cell) -> Result<()> {
        match arena.quoted(cell) {
            Some(text) => self.push(text),
            None => self.scalar(Value::stored(arena, cell)),
        }
    }

    /// Writes a value that contains no others.
    fn scalar(&mut self, value: Value<'_>) -> Result<()> {
        self.start(value, &mut Vec::new())
    }

    fn number(&mut self, number: Number<'_>) -> Result<()> {
        match number.lexeme() {
            Some(lexeme) => self.push(lexeme),
            None if number.value().is_finite() => self.push(NumberBuffer::new().text(number.value())),
            None => self.push("null"),
        }
    }

    /// Writes a string in quotes. Most need no escapes.
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

    /// Writes a range of the source verbatim. Hot: if the sink only takes ranges, the text is not read, since that
    /// would wait for memory at each row.
    fn copy_source(&mut self, source: &str, start: u32, end: u32) -> Result<()> {
        let range = start as usize..end as usize;
        self.count(range.len())?;
        match &mut self.out {
            Output::Chunks(document, sink) if std::ptr::eq(*document, source) => {
                sink(OutputChunk::Source(range));
                Ok(())
            }
            _ => self.put(&source[range]),
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
            Output::Bytes(out) => out.extend_from_slice(text.as_bytes()),
            Output::Chunks(source, sink) => match source_range(source, text) {
                Some(range) => sink(OutputChunk::Source(range)),
                None => sink(OutputChunk::Text(text)),
            },
            Output::Buffered(chunk, _) if chunk.len() + text.len() <= CHUNK_SIZE => chunk.push_str(text),
            Output::Buffered(..) => return self.overflow(text),
        }
        Ok(())
    }

    /// Flushes the buffer because `text` does not fit.
    fn overflow(&mut self, text: &str) -> Result<()> {
        self.flush()?;
        match &mut self.out {
            Output::Buffered(_, sink) if text.len() > CHUNK_SIZE => sink(text),
            Output::Buffered(chunk, _) => {
                chunk.push_str(text);
                Ok(())
            }
            Output::Bytes(_) | Output::Chunks(..) => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        let Output::Buffered(chunk, sink) = &mut self.out else { return Ok(()) };
        if !chunk.is_empty() {
            sink(chunk)?;
            chunk.clear();
        }
        Ok(())
    }

    fn too_large(&self) -> Error {
        Error::new(Code::OutputTooLarge, format!("The result is larger than {} bytes", self.limit))
            .with_limit("result", self.limit as u64)
            .with_help("select less: `limit(100)`, `pick(.id, .tag)`, or raise the output limit")
    }
}

/// Describes a value for error messages: `string "T-101"`, `number 5`, `array`. Short and cheap for every value.
pub(crate) fn describe(value: Value<'_>) -> String {
    let kind = value.type_name();
    match value {
        Value::Bool(_) => format!("{kind} {value:?}"),
        Value::Number(number) => format!("{kind} {:?}", Value::number(number.value())),
        Value::String(text) => format!("{kind} {}", quoted_prefix(text, 40)),
        _ => kind.into(),
    }
}

/// Returns a string as JSON, truncated after `max_chars` characters.
pub(crate) fn quoted_prefix(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{:?}…", Value::String(&text[..end])),
        None => format!("{:?}", Value::String(text)),
    }
}

/// Prefetches the strings of some objects.
fn prefetch(table: &Table<'_>, rows: Range<u32>) {
    let width = table.keys.names.len();
    let cells = &table.cells[rows.start as usize * width..rows.end as usize * width];
    std::hint::black_box(cells.iter().fold(0, |all, cell| all ^ table.arena.prefetch(*cell)));
}

/// Returns the range of `text` in `source` if it is a slice of it, and not merely equal to one.
fn source_range(source: &str, text: &str) -> Option<Range<usize>> {
    let start = (text.as_ptr() as usize).checked_sub(source.as_ptr() as usize)?;
    (start + text.len() <= source.len()).then(|| start..start + text.len())
}

/// Returns JavaScript's escape of a quote, a backslash or a control character.
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
    /// Serializes to formats other than JSON. Recursive: values deeper than 128 levels are rejected.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        DepthLimited(*self, 128).serialize(serializer)
    }
}

/// A value and the number of levels that it may still have.
struct DepthLimited<'a>(Value<'a>, u32);

impl Serialize for DepthLimited<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let below = self.1.checked_sub(1).ok_or_else(|| serde::ser::Error::custom("nested too deeply"))?;
        match self.0 {
            Value::Undefined | Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(value),
            Value::Number(number) => serialize_number(number.value(), serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(array) => {
                let mut items = serializer.serialize_seq(Some(array.len()))?;
                array.iter().try_for_each(|item| items.serialize_element(&DepthLimited(item, below)))?;
                items.end()
            }
            Value::Object(object) => {
                let mut fields = serializer.serialize_map(None)?;
                let defined = object.iter().filter(|(_, value)| !matches!(value, Value::Undefined));
                defined
                    .into_iter()
                    .try_for_each(|(key, value)| fields.serialize_entry(key, &DepthLimited(value, below)))?;
                fields.end()
            }
        }
    }
}

/// Serializes whole numbers as integers, so that formats with both kinds show `3` and not `3.0`.
fn serialize_number<S: Serializer>(value: f64, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    match value {
        value if !value.is_finite() => serializer.serialize_unit(),
        value if value.trunc() == value && value.abs() <= MAX_EXACT => serializer.serialize_i64(value as i64),
        value => serializer.serialize_f64(value),
    }
}

/// Returns true if JavaScript lists these keys in another order: array indexes first, ascending.
pub(crate) fn needs_reordering(keys: &[&str]) -> bool {
    let has_index = keys.iter().any(|key| array_index(key).is_some());
    has_index && !keys.is_sorted_by_key(|key| array_index(key).map_or(u64::MAX, u64::from))
}

/// Returns keys and their values in JavaScript's order.
pub(crate) fn in_js_order<T>(names: Vec<&str>, values: Vec<T>) -> (Vec<&str>, Vec<T>) {
    if !needs_reordering(&names) {
        return (names, values);
    }
    let mut pairs: Vec<(&str, T)> = names.into_iter().zip(values).collect();
    pairs.sort_by_key(|(name, _)| array_index(name).map_or(u64::MAX, u64::from));
    pairs.into_iter().unzip()
}

#[cfg(test)]
mod tests {
    use super::OutputChunk;
    use crate::Graph;
    use crate::Limits;
    use crate::Query;
    use crate::Scratch;

    const DOCUMENT: &str = r#"{"nodes": [{"id": "a", "n": 1}, {"id": "b\n"}, {"id": "c", "n": 3}, 4], "x": null}"#;

    /// Returns the chunks of the result, joined, and the number of bytes copied from the document.
    fn check_chunks(text: &str) -> (String, usize) {
        let graph = Graph::from_json(DOCUMENT.to_owned()).expect("a document");
        let (query, scratch) = (Query::parse(text).expect(text), Scratch::new());
        let result = query.run(&graph, &scratch, Limits::default()).expect(text);
        let (mut joined, mut copied) = (String::new(), 0);
        let written = result.write_chunks(&graph, &mut |chunk| match chunk {
            OutputChunk::Source(range) => {
                copied += range.len();
                joined.push_str(&graph.source()[range]);
            }
            OutputChunk::Text(text) => joined.push_str(text),
        });
        assert!(written.is_ok(), "{text}");
        let mut expected = Vec::new();
        result.write_json(&mut expected).expect(text);
        assert_eq!(joined.as_bytes(), expected, "{text}");
        (joined, copied)
    }

    #[test]
    fn chunks_join_to_the_json_of_the_result() {
        for text in
            [".nodes | map(.id)", ".nodes | pick(.id, .n)", "{a: .nodes | size(), b: \"\u{e4}\\\"\"}", "7", "null"]
        {
            check_chunks(text);
        }
    }

    #[test]
    fn unchanged_values_are_source_ranges() {
        assert_eq!(check_chunks("get()").1, DOCUMENT.len());
        let (rows, copied) = check_chunks(".nodes | filter(.n)");
        assert_eq!((rows.as_str(), copied), (r#"[{"id": "a", "n": 1},{"id": "c", "n": 3}]"#, 38));
    }

    #[test]
    fn rows_are_written_for_every_separator() {
        let item = |n: usize| format!(r#"{{"n": {n}, "odd": {}}}"#, n % 2);
        for separator in [",", ", ", ",\n  ", " ,"] {
            let items: Vec<String> = (0..100).map(item).collect();
            let graph = Graph::from_json(format!("[ {} ]", items.join(separator))).expect("a document");
            let check = |text: &str, rows: Vec<usize>| {
                let (query, scratch) = (Query::parse(text).expect(text), Scratch::new());
                let result = query.run(&graph, &scratch, Limits::default()).expect(text);
                let rows: Vec<String> = rows.into_iter().map(item).collect();
                let mut found = Vec::new();
                result.write_json(&mut found).expect(text);
                assert_eq!(String::from_utf8_lossy(&found), format!("[{}]", rows.join(",")), "{text} {separator:?}");
            };
            check("filter(.odd == 1)", (0..100).filter(|n| n % 2 == 1).collect());
            check("filter(.n != 50)", (0..100).filter(|n| *n != 50).collect());
            check("filter(.n > 20 or .odd == 1)", (0..100).filter(|n| *n > 20 || n % 2 == 1).collect());
            check("sort(.n, \"desc\")", (0..100).rev().collect());
        }
    }

    #[test]
    fn chunks_respect_the_output_limit() {
        let graph = Graph::from_json(DOCUMENT.to_owned()).expect("a document");
        let (query, scratch) = (Query::parse(".nodes").expect("a query"), Scratch::new());
        let limits = Limits { output: 10, ..Limits::default() };
        let result = query.run(&graph, &scratch, limits).expect("a result");
        assert!(result.write_chunks(&graph, &mut |_| {}).is_err());
    }
}
