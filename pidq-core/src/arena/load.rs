//! JSON text (RFC 8259) to an arena in one pass, without a tree in between and without recursion.
//!
//! Hot: every byte of every document goes through here. Keys are guessed from the object before and compared in place;
//! short texts are known by their first sixteen bytes before they are hashed. The place in the input is handed on from
//! step to step and not kept in the loader, so that it stays in a register.

mod number;
mod text;

use super::shape::{Place, ShapeId, Shapes, Steps};
use super::symbols::{Recent, Symbol, Symbols};
use super::wanted::{PartId, Sieve, Wanted};
use super::{Arena, Cell, Container, ContainerId, Lexeme, Text};
use crate::error::{Code, Error, Location, Result, Span};
use number::Number;

/// Reads a document that is nested at most `max_depth` levels.
pub(crate) fn load(json: Vec<u8>, max_depth: usize) -> Result<Arena> {
    read::<false>(json, max_depth, &Wanted::ALL)
}

/// Keeps parts of a document; in place of the other values are gaps. All of it is read, and has to be right.
pub(crate) fn load_parts(json: Vec<u8>, max_depth: usize, wanted: &Wanted) -> Result<Arena> {
    read::<true>(json, max_depth, wanted)
}

fn read<const PARTS: bool>(json: Vec<u8>, max_depth: usize, wanted: &Wanted) -> Result<Arena> {
    if json.len() >= u32::MAX as usize {
        return Err(Error::new(Code::InputTooLarge, "The input is larger than 4 GiB"));
    }
    let source = String::from_utf8(json).map_err(|error| not_utf8(error.utf8_error().valid_up_to()))?;
    let mut arena = Loader::<PARTS>::new(&source, max_depth, wanted).arena()?;
    arena.source = source;
    Ok(arena)
}

fn not_utf8(at: usize) -> Error {
    Error::new(Code::NotUtf8, format!("The input is not UTF-8: bad byte at offset {at}"))
        .with_span(Span::new(at, at + 1))
        .with_help("convert it to UTF-8 first")
}

impl Arena {
    fn shrink(&mut self) {
        self.decoded.shrink_to_fit();
        self.cells.shrink_to_fit();
        self.containers.shrink_to_fit();
        self.texts.shrink_to_fit();
        self.lexemes.shrink_to_fit();
        self.symbols.shrink();
        self.shapes.shrink();
    }
}

/// What surrounds the value that is read.
#[derive(Clone, Copy, PartialEq)]
enum Around {
    Document,
    Array,
    Object,
}

/// An array or object that is not closed yet.
#[derive(Clone, Copy)]
struct Frame {
    around: Around,
    container: ContainerId,
    /// The last key of an object; for an array the step that it stands in, whose texts resemble each other.
    step: u32,
    /// Where its children begin in `pending`.
    base: usize,
    /// What of it is wanted.
    part: PartId,
}

impl Frame {
    fn document(part: PartId) -> Frame {
        Frame { around: Around::Document, container: ContainerId(u32::MAX), step: Steps::ROOT, base: 0, part }
    }
}

/// Reads a document, or with `PARTS` parts of it.
struct Loader<'s, const PARTS: bool> {
    source: &'s str,
    bytes: &'s [u8],
    max_depth: usize,
    /// What surrounds the innermost open container, outermost first.
    frames: Vec<Frame>,
    /// Children of open containers; they move to `cells` when their container closes, so that siblings stand together.
    pending: Vec<Cell>,
    decoded: String,
    cells: Vec<Cell>,
    containers: Vec<Container>,
    texts: Vec<Text>,
    lexemes: Vec<Lexeme>,
    symbols: Symbols,
    recent: Recent,
    shapes: Shapes,
    steps: Steps,
    duplicate_keys: usize,
    sieve: Sieve<'s>,
}

impl<'s, const PARTS: bool> Loader<'s, PARTS> {
    fn new(source: &'s str, max_depth: usize, wanted: &'s Wanted) -> Self {
        Loader {
            source,
            bytes: source.as_bytes(),
            max_depth,
            frames: Vec::new(),
            pending: Vec::new(),
            decoded: String::new(),
            cells: Vec::new(),
            containers: Vec::new(),
            texts: Vec::new(),
            lexemes: Vec::new(),
            symbols: Symbols::default(),
            recent: Recent::new(),
            shapes: Shapes::default(),
            steps: Steps::new(),
            duplicate_keys: 0,
            sieve: Sieve::new(wanted),
        }
    }

    /// All that was read, but for the text that it was read from.
    fn arena(mut self) -> Result<Arena> {
        let root = self.document()?;
        let Loader { decoded, cells, containers, texts, lexemes, symbols, shapes, duplicate_keys, .. } = self;
        let source = String::new();
        let mut arena =
            Arena { source, decoded, cells, containers, texts, lexemes, symbols, shapes, root, duplicate_keys };
        arena.shrink();
        Ok(arena)
    }

    /// The whole text: one value and nothing after it.
    fn document(&mut self) -> Result<Cell> {
        let mut at = 0;
        let mut frame = Frame::document(self.sieve.document());
        loop {
            let mut cell;
            let part = if PARTS { self.wanted(frame) } else { PartId::WHOLE };
            match self.byte(at) {
                b'"' if PARTS && part == PartId::NONE => (cell, at) = (Cell::GAP, self.pass_text(at)?),
                b'"' => (cell, at) = self.string(at, frame.step)?,
                b'-' | b'0'..=b'9' if PARTS && part == PartId::NONE => (cell, at) = (Cell::GAP, self.digits(at)?.end),
                b'-' | b'0'..=b'9' => (cell, at) = self.number(at)?,
                b'{' => {
                    let outer = frame;
                    frame = self.open(at, Around::Object, Steps::ROOT, outer, part)?;
                    at = self.skip_space(at + 1);
                    if self.byte(at) != b'}' {
                        (frame.step, at) = self.key(at, Steps::ROOT, Place::Inside(outer.step))?;
                        continue;
                    }
                    at += 1;
                    (cell, frame) = self.close(frame, at);
                }
                b'[' => {
                    let outer = frame;
                    frame = self.open(at, Around::Array, outer.step, outer, part)?;
                    at = self.skip_space(at + 1);
                    if self.byte(at) != b']' {
                        continue;
                    }
                    at += 1;
                    (cell, frame) = self.close(frame, at);
                }
                b't' => (cell, at) = self.word(at, "true", Cell::TRUE)?,
                b'f' => (cell, at) = self.word(at, "false", Cell::FALSE)?,
                b'n' => (cell, at) = self.word(at, "null", Cell::NULL)?,
                b' ' | b'\n' | b'\t' | b'\r' => {
                    at = self.skip_space(at);
                    continue;
                }
                _ => return Err(self.expected("a value", at)),
            }
            // A finished value may finish the containers around it.
            loop {
                if !PARTS || frame.part != PartId::NONE {
                    self.pending.push(cell);
                }
                at = self.skip_space(at);
                match (self.byte(at), frame.around) {
                    (b',', Around::Object) => {
                        (frame.step, at) = self.key(at + 1, frame.step, Place::After(frame.step))?;
                        break;
                    }
                    (b',', Around::Array) => {
                        at += 1;
                        break;
                    }
                    (b'}', Around::Object) | (b']', Around::Array) => {
                        at += 1;
                        (cell, frame) = self.close(frame, at);
                    }
                    (_, Around::Document) if at == self.bytes.len() => return Ok(cell),
                    (_, Around::Document) => return Err(self.left_over(at)),
                    (_, Around::Object) => return Err(self.expected("`,` or `}`", at)),
                    (_, Around::Array) => return Err(self.expected("`,` or `]`", at)),
                }
            }
        }
    }

    /// What is wanted of the value behind the last key of an object, or of the next item of a list.
    #[inline(always)]
    fn wanted(&mut self, frame: Frame) -> PartId {
        if frame.around != Around::Object {
            return frame.part;
        }
        let (source, decoded, symbols, steps) = (self.source, &self.decoded, &self.symbols, &self.steps);
        let key = || resolve(source, decoded, symbols.text(steps.symbol(frame.step)));
        self.sieve.inside(frame.part, frame.step, key)
    }

    /// Starts an array or object.
    #[inline(always)]
    fn open(&mut self, at: usize, around: Around, step: u32, outer: Frame, part: PartId) -> Result<Frame> {
        if self.frames.len() == self.max_depth {
            let message = format!("The input is nested deeper than {} levels", self.max_depth);
            return Err(self.error_at(at, Code::InputTooDeep, message));
        }
        let container = ContainerId(self.containers.len() as u32);
        if !PARTS || part != PartId::NONE {
            self.reserve(at);
            self.containers.push(Container { first: 0, extent: 0, span: span(at, at) });
        }
        self.frames.push(outer);
        Ok(Frame { around, container, step, base: self.pending.len(), part })
    }

    /// Ends the innermost container: its children move to their final place. Also gives what is around it.
    fn close(&mut self, frame: Frame, end: usize) -> (Cell, Frame) {
        if PARTS && frame.part == PartId::NONE {
            return (Cell::GAP, self.close_gap(frame));
        }
        let first = self.cells.len() as u32;
        let extent = match frame.around {
            Around::Object => self.close_object(frame),
            _ => {
                self.cells.extend_from_slice(&self.pending[frame.base..]);
                (self.pending.len() - frame.base) as u32
            }
        };
        self.pending.truncate(frame.base);
        let container = &mut self.containers[frame.container.0 as usize];
        container.first = first;
        container.extent = extent;
        container.span.end = end as u32;
        let cell = match frame.around {
            Around::Object => Cell::object(frame.container),
            _ => Cell::array(frame.container),
        };
        (cell, self.outer_frame())
    }

    /// The same for one that is not wanted, of which only keys that stand twice are told.
    fn close_gap(&mut self, frame: Frame) -> Frame {
        if frame.around == Around::Object && self.steps.plain_shape(frame.step).is_none() {
            let shape = self.shape(frame);
            let surplus = self.steps.order(shape).map(|order| self.steps.depth(frame.step) - order.len());
            self.duplicate_keys += surplus.unwrap_or_default();
        }
        self.outer_frame()
    }

    fn outer_frame(&mut self) -> Frame {
        self.frames.pop().unwrap_or(Frame::document(PartId::WHOLE))
    }

    fn close_object(&mut self, frame: Frame) -> u32 {
        let children = &self.pending[frame.base..];
        if let Some(shape) = self.steps.plain_shape(frame.step) {
            self.cells.extend_from_slice(children);
            return shape.0;
        }
        let shape = self.shape(frame);
        let children = &self.pending[frame.base..];
        match self.steps.order(shape) {
            None => self.cells.extend_from_slice(children),
            Some(order) => {
                self.duplicate_keys += children.len() - order.len();
                self.cells.extend(order.iter().map(|at| children[*at as usize]));
            }
        }
        shape.0
    }

    /// The shape of an object that ends.
    fn shape(&mut self, frame: Frame) -> ShapeId {
        let (source, decoded, symbols) = (self.source, &self.decoded, &self.symbols);
        let index = |symbol| array_index(resolve(source, decoded, symbols.text(symbol)));
        self.steps.shape(frame.step, &mut self.shapes, index)
    }

    /// Reads `"key":` after the key of `parent`. Gives its step, and where its value is.
    #[inline(always)]
    fn key(&mut self, at: usize, parent: u32, place: Place) -> Result<(u32, usize)> {
        match self.steps.pass(place, self.bytes, at) {
            Some(passed) => Ok(passed),
            None => self.unforeseen_key(at, parent, place),
        }
    }

    #[inline(never)]
    fn unforeseen_key(&mut self, at: usize, parent: u32, place: Place) -> Result<(u32, usize)> {
        let start = self.skip_space(at);
        if start > at {
            return self.key(start, parent, place);
        }
        if let Some(passed) = self.steps.pass_other(place, self.bytes, at) {
            return Ok(passed);
        }
        if self.byte(at) != b'"' {
            return Err(self.expected("a key in double quotes", at));
        }
        let (symbol, _, end) = self.symbol(at)?;
        let step = self.steps.follow(parent, symbol);
        self.steps.expect(place, step, &self.bytes[at + 1..end - 1]);
        let colon = self.skip_space(end);
        if self.byte(colon) != b':' {
            return Err(self.expected("`:`", colon));
        }
        Ok((step, colon + 1))
    }

    /// Reads a text that is a value. Where texts of this slot repeat, they are stored once.
    #[inline(always)]
    fn string(&mut self, at: usize, step: u32) -> Result<(Cell, usize)> {
        if self.steps.slot(step).repeats() {
            let (symbol, is_new, end) = self.symbol(at)?;
            if is_new {
                self.steps.slot(step).count_new();
            }
            return Ok((Cell::symbol(symbol), end));
        }
        let start = at + 1;
        if let Some(len) = block(self.bytes, start).and_then(text::short_len) {
            return Ok((Cell::source(start as u32, len as u16), start + len + 1));
        }
        self.single(at)
    }

    /// The cell of a text that is not expected to repeat.
    #[inline(never)]
    fn single(&mut self, at: usize) -> Result<(Cell, usize)> {
        let (text, end) = self.text(at)?;
        let len = text.raw.end - text.raw.start;
        if text.decoded.end == text.decoded.start && len <= u32::from(u16::MAX) {
            return Ok((Cell::source(text.raw.start, len as u16), end));
        }
        self.texts.push(text);
        Ok((Cell::text(self.texts.len() as u32 - 1), end))
    }

    /// What comes after a text that is not wanted.
    #[inline(always)]
    fn pass_text(&mut self, at: usize) -> Result<usize> {
        match block(self.bytes, at + 1).and_then(text::short_len) {
            Some(len) => Ok(at + len + 2),
            None => self.pass_long_text(at),
        }
    }

    #[inline(never)]
    fn pass_long_text(&mut self, at: usize) -> Result<usize> {
        let kept = self.decoded.len();
        let (_, end) = self.text(at)?;
        self.decoded.truncate(kept);
        Ok(end)
    }

    /// Reads a text that is stored once. Also says whether it is new, and what comes after it.
    #[inline(always)]
    fn symbol(&mut self, at: usize) -> Result<(Symbol, bool, usize)> {
        let start = at + 1;
        if let Some(block) = block(self.bytes, start)
            && let Some(len) = text::short_len(block)
        {
            let (head, end) = (text::head(block, len), start + len + 1);
            if let Some(symbol) = self.recent.find(head) {
                return Ok((symbol, false, end));
            }
            let (symbol, is_new) = self.short_symbol(head, start, len);
            return Ok((symbol, is_new, end));
        }
        self.long_symbol(at)
    }

    #[inline(never)]
    fn short_symbol(&mut self, head: u128, start: usize, len: usize) -> (Symbol, bool) {
        let text = Text { raw: span(start, start + len), decoded: Span::default() };
        let (symbol, is_new) = self.intern(text);
        self.recent.remember(head, symbol);
        (symbol, is_new)
    }

    #[inline(never)]
    fn long_symbol(&mut self, at: usize) -> Result<(Symbol, bool, usize)> {
        let (text, end) = self.text(at)?;
        let (symbol, is_new) = self.intern(text);
        if !is_new {
            self.decoded.truncate(self.decoded.len() - (text.decoded.end - text.decoded.start) as usize);
        }
        Ok((symbol, is_new, end))
    }

    fn intern(&mut self, text: Text) -> (Symbol, bool) {
        let (source, decoded) = (self.source, &self.decoded);
        self.symbols.intern(resolve(source, decoded, text), text, |text| resolve(source, decoded, text))
    }

    /// Reads a number. Few digits are exact as an integer over a power of ten; the rest goes to the standard library.
    #[inline(always)]
    fn number(&mut self, at: usize) -> Result<(Cell, usize)> {
        let number = self.digits(at)?;
        let value = match number.exact() {
            Some(value) => value,
            None => self.source[at..number.end].parse().unwrap_or(f64::INFINITY),
        };
        if number.is_canonical(value) {
            return Ok((Cell::number(value), number.end));
        }
        self.lexemes.push(Lexeme { value, span: span(at, number.end) });
        Ok((Cell::lexeme(self.lexemes.len() as u32 - 1), number.end))
    }

    #[inline(always)]
    fn digits(&self, at: usize) -> Result<Number> {
        Number::read(self.bytes, at).map_err(|(place, why)| self.not_json(place, why))
    }

    fn word(&self, at: usize, word: &str, cell: Cell) -> Result<(Cell, usize)> {
        if !self.bytes[at..].starts_with(word.as_bytes()) {
            return Err(self.expected("a value", at));
        }
        Ok((cell, at + word.len()))
    }

    /// The byte at a place; at the end of the input a zero, which JSON has nowhere.
    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_default()
    }

    #[inline(always)]
    fn skip_space(&self, mut at: usize) -> usize {
        while let b' ' | b'\n' | b'\t' | b'\r' = self.byte(at) {
            at += 1;
        }
        at
    }

    /// Makes room by what the part read so far needed, so that growing copies little and wastes little.
    #[inline(always)]
    fn reserve(&mut self, at: usize) {
        if self.cells.len() == self.cells.capacity() || self.containers.len() == self.containers.capacity() {
            self.reserve_more(at);
        }
    }

    #[inline(never)]
    fn reserve_more(&mut self, at: usize) {
        const ENOUGH: usize = 1 << 16;
        if at < ENOUGH {
            return;
        }
        let scale = |len: usize| (len as f64 * (self.bytes.len() - at) as f64 / at as f64 * 1.02) as usize + 64;
        let (cells, containers, lexemes) =
            (scale(self.cells.len()), scale(self.containers.len()), scale(self.lexemes.len()));
        self.cells.reserve_exact(cells);
        self.containers.reserve_exact(containers);
        self.lexemes.reserve_exact(lexemes);
    }

    /// Something stands behind the document.
    #[cold]
    fn left_over(&self, at: usize) -> Error {
        let error = self.expected("the end of the input", at);
        match self.bytes.get(at) {
            Some(b'}' | b']') => error.with_help("no bracket is open that it could close"),
            Some(b'{' | b'[' | b'"' | b'0'..=b'9' | b'-') => {
                error.with_help("an input is one document: several of them can be a list, `[…, …]`")
            }
            _ => error,
        }
    }

    #[cold]
    fn expected(&self, what: &str, at: usize) -> Error {
        let found = match self.source[at.min(self.source.len())..].chars().next() {
            None => "the end of the input".into(),
            Some(c) if c.is_control() || c == '\u{FEFF}' => format!("`{}`", c.escape_unicode()),
            Some(c) => format!("`{c}`"),
        };
        let error = self.not_json(at, &format!("expected {what}, not {found}"));
        let first = self.bytes.len() - self.bytes.trim_ascii_start().len();
        match self.bytes.get(at..) {
            Some([0xEF, 0xBB, 0xBF, ..]) => error.with_help("remove the byte order mark at the start"),
            Some([b'\'', ..]) => error.with_help("JSON takes double quotes only"),
            Some([b'}' | b']', ..]) => error.with_help("JSON has no trailing commas"),
            Some([b'N' | b'I', ..]) => error.with_help("JSON has no NaN or Infinity"),
            Some([b'/', ..]) => error.with_help("JSON has no comments"),
            Some([b'<', ..]) if at == first => {
                error.with_help("this looks like XML or HTML; a drawing in XML is imported first")
            }
            Some([]) if at == first => error.with_help("the input is empty"),
            _ => error,
        }
    }

    #[cold]
    fn not_json(&self, at: usize, why: &str) -> Error {
        self.error_at(at, Code::NotJson, format!("The input is not JSON: {why}"))
    }

    #[cold]
    fn error_at(&self, at: usize, code: Code, message: String) -> Error {
        let place = Location::of(self.source, at);
        Error::new(code, format!("{message} (line {}, column {})", place.line, place.column))
            .with_span(Span::new(at, (at + 1).min(self.bytes.len())))
            .locate(self.source)
    }
}

/// The number that a key is, if JavaScript would sort it as an array index: `0` to `4294967294`, written plainly.
pub(crate) fn array_index(key: &str) -> Option<u32> {
    let plain = matches!(key.as_bytes(), [b'0'] | [b'1'..=b'9', ..]) && key.len() <= 10;
    if !plain {
        return None;
    }
    key.parse().ok().filter(|index| *index != u32::MAX)
}

fn resolve<'t>(source: &'t str, decoded: &'t str, text: Text) -> &'t str {
    if text.decoded.end > text.decoded.start {
        return &decoded[text.decoded.start as usize..text.decoded.end as usize];
    }
    &source[text.raw.start as usize..text.raw.end as usize]
}

/// Bytes of the input, which is shorter than 4 GiB.
fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, end: end as u32 }
}

/// The sixteen bytes from a place on.
#[inline(always)]
pub(super) fn block(bytes: &[u8], at: usize) -> Option<[u8; 16]> {
    bytes.get(at..)?.first_chunk().copied()
}
