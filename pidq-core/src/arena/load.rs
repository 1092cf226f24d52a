//! JSON parser (RFC 8259) that builds an arena in one pass, without an intermediate tree and without recursion.
//!
//! Hot: every byte of every document is read here. Keys are predicted from the previous object and compared in place;
//! short strings are looked up by their first sixteen bytes before they are hashed. The input position is passed from
//! call to call and not stored in the loader, so that it stays in a register.

mod number;
mod text;

use super::interned_strings::{Symbol, SymbolCache, Symbols};
use super::projection::{Projection, ProjectionId, ProjectionMatcher};
use super::shape::{KeyPosition, ShapeId, Shapes, Transitions, block};
use super::{Arena, Cell, Container, ContainerId, Lexeme, Text, is_rounded_integer};
use crate::error::{Code, Error, Location, Result, Span};
use number::Number;

/// Loads a document with at most `max_depth` levels of nesting.
pub(crate) fn load(json: Vec<u8>, max_depth: usize) -> Result<Arena> {
    load_with::<false>(json, max_depth, &Projection::ALL)
}

/// Loads the values of a projection; placeholders stand for the others. All of the input is parsed and validated.
pub(crate) fn load_projected(json: Vec<u8>, max_depth: usize, projection: &Projection) -> Result<Arena> {
    load_with::<true>(json, max_depth, projection)
}

fn load_with<const PARTIAL: bool>(json: Vec<u8>, max_depth: usize, projection: &Projection) -> Result<Arena> {
    if json.len() >= u32::MAX as usize {
        return Err(Error::new(Code::InputTooLarge, "The input is larger than 4 GiB"));
    }
    let source = String::from_utf8(json).map_err(|error| not_utf8(error.utf8_error().valid_up_to()))?;
    let mut arena = Loader::<PARTIAL>::new(&source, max_depth, projection).arena()?;
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

/// The container around a value.
#[derive(Clone, Copy, PartialEq)]
enum Parent {
    Document,
    Array,
    Object,
}

/// An open array or object.
#[derive(Clone, Copy)]
struct Frame {
    parent: Parent,
    container: ContainerId,
    /// The last key of an object; for an array, the key whose value it is: its string items share a policy.
    transition: u32,
    /// Start of its children in `pending`.
    base: usize,
    /// Its node of the projection.
    projection: ProjectionId,
}

impl Frame {
    fn document(projection: ProjectionId) -> Frame {
        Frame {
            parent: Parent::Document,
            container: ContainerId(u32::MAX),
            transition: Transitions::ROOT,
            base: 0,
            projection,
        }
    }
}

/// Parser of a document, or with `PARTIAL` of a projection of it.
struct Loader<'s, const PARTIAL: bool> {
    source: &'s str,
    bytes: &'s [u8],
    max_depth: usize,
    /// The containers around the innermost open one, outermost first.
    frames: Vec<Frame>,
    /// Children of open containers; they move to `cells` when their container closes, so that siblings are adjacent.
    pending: Vec<Cell>,
    decoded: String,
    cells: Vec<Cell>,
    containers: Vec<Container>,
    texts: Vec<Text>,
    lexemes: Vec<Lexeme>,
    symbols: Symbols,
    symbol_cache: SymbolCache,
    shapes: Shapes,
    transitions: Transitions,
    duplicate_keys: usize,
    has_rounded_integers: bool,
    projection: ProjectionMatcher<'s>,
}

impl<'s, const PARTIAL: bool> Loader<'s, PARTIAL> {
    fn new(source: &'s str, max_depth: usize, projection: &'s Projection) -> Self {
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
            symbol_cache: SymbolCache::new(),
            shapes: Shapes::default(),
            transitions: Transitions::new(),
            duplicate_keys: 0,
            has_rounded_integers: false,
            projection: ProjectionMatcher::new(projection),
        }
    }

    /// Returns the arena, without its source text.
    fn arena(mut self) -> Result<Arena> {
        let root = self.document()?;
        let mut arena = Arena {
            source: String::new(),
            decoded: self.decoded,
            cells: self.cells,
            containers: self.containers,
            texts: self.texts,
            lexemes: self.lexemes,
            symbols: self.symbols,
            shapes: self.shapes,
            root,
            duplicate_keys: self.duplicate_keys,
            has_rounded_integers: self.has_rounded_integers,
        };
        // A projection is for one query: it does not live long enough for moving its values to pay.
        if !PARTIAL {
            arena.shrink();
        }
        Ok(arena)
    }

    /// Parses the input: one value and nothing after it.
    fn document(&mut self) -> Result<Cell> {
        let mut at = 0;
        let mut frame = Frame::document(self.projection.root());
        loop {
            let mut cell;
            let projection = if PARTIAL { self.child_projection(frame) } else { ProjectionId::ALL_VALUES };
            match self.byte(at) {
                b'"' if PARTIAL && projection == ProjectionId::NO_VALUES => {
                    (cell, at) = (Cell::OMITTED, self.skip_string(at)?)
                }
                b'"' => (cell, at) = self.string(at, frame.transition)?,
                b'-' | b'0'..=b'9' if PARTIAL && projection == ProjectionId::NO_VALUES => {
                    (cell, at) = (Cell::OMITTED, self.digits(at)?.end)
                }
                b'-' | b'0'..=b'9' => (cell, at) = self.number(at)?,
                b'{' => {
                    let outer = frame;
                    frame = self.open(at, Parent::Object, Transitions::ROOT, outer, projection)?;
                    at = self.skip_space(at + 1);
                    if self.byte(at) != b'}' {
                        (frame.transition, at) =
                            self.key(at, Transitions::ROOT, KeyPosition::First(outer.transition))?;
                        continue;
                    }
                    at += 1;
                    (cell, frame) = self.close(frame, at);
                }
                b'[' => {
                    let outer = frame;
                    frame = self.open(at, Parent::Array, outer.transition, outer, projection)?;
                    at = self.skip_space(at + 1);
                    if self.byte(at) != b']' {
                        continue;
                    }
                    at += 1;
                    (cell, frame) = self.close(frame, at);
                }
                b't' => (cell, at) = self.keyword(at, "true", Cell::TRUE)?,
                b'f' => (cell, at) = self.keyword(at, "false", Cell::FALSE)?,
                b'n' => (cell, at) = self.keyword(at, "null", Cell::NULL)?,
                b' ' | b'\n' | b'\t' | b'\r' => {
                    at = self.skip_space(at);
                    continue;
                }
                _ => return Err(self.expected("a value", at)),
            }
            // The end of a value may be followed by the ends of the containers around it.
            loop {
                if !PARTIAL || frame.projection != ProjectionId::NO_VALUES {
                    self.pending.push(cell);
                }
                at = self.skip_space(at);
                match (self.byte(at), frame.parent) {
                    (b',', Parent::Object) => {
                        (frame.transition, at) =
                            self.key(at + 1, frame.transition, KeyPosition::After(frame.transition))?;
                        break;
                    }
                    (b',', Parent::Array) => {
                        at += 1;
                        break;
                    }
                    (b'}', Parent::Object) | (b']', Parent::Array) => {
                        at += 1;
                        (cell, frame) = self.close(frame, at);
                    }
                    (_, Parent::Document) if at == self.bytes.len() => return Ok(cell),
                    (_, Parent::Document) => return Err(self.trailing_data(at)),
                    (_, Parent::Object) => return Err(self.expected("`,` or `}`", at)),
                    (_, Parent::Array) => return Err(self.expected("`,` or `]`", at)),
                }
            }
        }
    }

    /// Returns the projection node of the value after the last key of an object, or of the next item of an array.
    #[inline(always)]
    fn child_projection(&mut self, frame: Frame) -> ProjectionId {
        if frame.parent != Parent::Object {
            return frame.projection;
        }
        let (source, decoded, symbols, transitions) = (self.source, &self.decoded, &self.symbols, &self.transitions);
        let key = || resolve(source, decoded, symbols.text(transitions.symbol(frame.transition)));
        self.projection.child(frame.projection, frame.transition, key)
    }

    /// Opens an array or object.
    #[inline(always)]
    fn open(
        &mut self,
        at: usize,
        parent: Parent,
        transition: u32,
        outer: Frame,
        projection: ProjectionId,
    ) -> Result<Frame> {
        if self.frames.len() == self.max_depth {
            let message = format!("The input is nested deeper than {} levels", self.max_depth);
            return Err(self.error_at(at, Code::InputTooDeep, message));
        }
        let container = ContainerId(self.containers.len() as u32);
        if !PARTIAL || projection != ProjectionId::NO_VALUES {
            self.reserve(at);
            self.containers.push(Container { first: 0, extent: 0, span: span(at, at) });
        }
        self.frames.push(outer);
        Ok(Frame { parent, container, transition, base: self.pending.len(), projection })
    }

    /// Closes the innermost container: its children move to their final position. Also returns the frame around it.
    fn close(&mut self, frame: Frame, end: usize) -> (Cell, Frame) {
        if PARTIAL && frame.projection == ProjectionId::NO_VALUES {
            return (Cell::OMITTED, self.close_omitted(frame));
        }
        let first = self.cells.len() as u32;
        let extent = match frame.parent {
            Parent::Object => self.close_object(frame),
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
        let cell = match frame.parent {
            Parent::Object => Cell::object(frame.container),
            _ => Cell::array(frame.container),
        };
        (cell, self.outer_frame())
    }

    /// Closes a container that the projection omits. Only its duplicate keys are counted.
    fn close_omitted(&mut self, frame: Frame) -> Frame {
        if frame.parent == Parent::Object && self.transitions.shape_in_written_order(frame.transition).is_none() {
            let shape = self.shape(frame);
            let surplus =
                self.transitions.order(shape).map(|order| self.transitions.depth(frame.transition) - order.len());
            self.duplicate_keys += surplus.unwrap_or_default();
        }
        self.outer_frame()
    }

    fn outer_frame(&mut self) -> Frame {
        self.frames.pop().unwrap_or(Frame::document(ProjectionId::ALL_VALUES))
    }

    fn close_object(&mut self, frame: Frame) -> u32 {
        let children = &self.pending[frame.base..];
        if let Some(shape) = self.transitions.shape_in_written_order(frame.transition) {
            self.cells.extend_from_slice(children);
            return shape.0;
        }
        let shape = self.shape(frame);
        let children = &self.pending[frame.base..];
        match self.transitions.order(shape) {
            None => self.cells.extend_from_slice(children),
            Some(order) => {
                self.duplicate_keys += children.len() - order.len();
                self.cells.extend(order.iter().map(|at| children[*at as usize]));
            }
        }
        shape.0
    }

    /// Returns the shape of an object that ends.
    fn shape(&mut self, frame: Frame) -> ShapeId {
        let (source, decoded, symbols) = (self.source, &self.decoded, &self.symbols);
        let index = |symbol| array_index(resolve(source, decoded, symbols.text(symbol)));
        self.transitions.shape(frame.transition, &mut self.shapes, index)
    }

    /// Parses `"key":` after the key of `parent`. Returns its transition and the position of its value.
    #[inline(always)]
    fn key(&mut self, at: usize, parent: u32, position: KeyPosition) -> Result<(u32, usize)> {
        match self.transitions.match_predicted(position, self.bytes, at) {
            Some(matched) => Ok(matched),
            None => self.unpredicted_key(at, parent, position),
        }
    }

    #[inline(never)]
    fn unpredicted_key(&mut self, at: usize, parent: u32, position: KeyPosition) -> Result<(u32, usize)> {
        let start = self.skip_space(at);
        if start > at {
            return self.key(start, parent, position);
        }
        if let Some(matched) = self.transitions.match_previous(position, self.bytes, at) {
            return Ok(matched);
        }
        if self.byte(at) != b'"' {
            return Err(self.expected("a key in double quotes", at));
        }
        let (symbol, _, end) = self.symbol(at)?;
        let transition = self.transitions.find_or_add(parent, symbol);
        self.transitions.predict(position, transition, &self.bytes[at + 1..end - 1]);
        let colon = self.skip_space(end);
        if self.byte(colon) != b':' {
            return Err(self.expected("`:`", colon));
        }
        Ok((transition, colon + 1))
    }

    /// Parses a string value. It is interned if the policy of its key says so.
    #[inline(always)]
    fn string(&mut self, at: usize, transition: u32) -> Result<(Cell, usize)> {
        if self.transitions.policy(transition).should_intern() {
            let (symbol, is_new, end) = self.symbol(at)?;
            if is_new {
                self.transitions.policy(transition).count_new();
            }
            return Ok((Cell::symbol(symbol), end));
        }
        let start = at + 1;
        if let Some(len) = block(self.bytes, start).and_then(text::short_len) {
            return Ok((Cell::source(start as u32, len as u16), start + len + 1));
        }
        self.unique_string(at)
    }

    /// Returns the cell of a string that is not expected to repeat.
    #[inline(never)]
    fn unique_string(&mut self, at: usize) -> Result<(Cell, usize)> {
        let (text, end) = self.text(at)?;
        let len = text.raw.end - text.raw.start;
        if text.decoded.end == text.decoded.start && len <= u32::from(u16::MAX) {
            return Ok((Cell::source(text.raw.start, len as u16), end));
        }
        self.texts.push(text);
        Ok((Cell::text(self.texts.len() as u32 - 1), end))
    }

    /// Returns the position after a string that the projection omits.
    #[inline(always)]
    fn skip_string(&mut self, at: usize) -> Result<usize> {
        match block(self.bytes, at + 1).and_then(text::short_len) {
            Some(len) => Ok(at + len + 2),
            None => self.skip_long_string(at),
        }
    }

    #[inline(never)]
    fn skip_long_string(&mut self, at: usize) -> Result<usize> {
        let decoded_len = self.decoded.len();
        let (_, end) = self.text(at)?;
        self.decoded.truncate(decoded_len);
        Ok(end)
    }

    /// Parses and interns a string. Also returns true if it is new, and the position after it.
    #[inline(always)]
    fn symbol(&mut self, at: usize) -> Result<(Symbol, bool, usize)> {
        let start = at + 1;
        if let Some(block) = block(self.bytes, start)
            && let Some(len) = text::short_len(block)
        {
            let (head, end) = (text::head(block, len), start + len + 1);
            if let Some(symbol) = self.symbol_cache.find(head) {
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
        self.symbol_cache.insert(head, symbol);
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

    /// Parses a number. Few digits are exact as an integer over a power of ten; others are parsed by the standard
    /// library.
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
        if number.may_be_rounded() && !self.has_rounded_integers {
            self.has_rounded_integers = is_rounded_integer(&self.source[at..number.end], value);
        }
        self.lexemes.push(Lexeme { value, span: span(at, number.end) });
        Ok((Cell::lexeme(self.lexemes.len() as u32 - 1), number.end))
    }

    #[inline(always)]
    fn digits(&self, at: usize) -> Result<Number> {
        Number::parse(self.bytes, at).map_err(|(position, reason)| self.not_json(position, reason))
    }

    fn keyword(&self, at: usize, word: &str, cell: Cell) -> Result<(Cell, usize)> {
        if !self.bytes[at..].starts_with(word.as_bytes()) {
            return Err(self.expected("a value", at));
        }
        Ok((cell, at + word.len()))
    }

    /// Returns the byte at a position; zero at the end of the input, since JSON has no zero byte.
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

    /// Reserves capacity in proportion to the input parsed so far, so that growing copies and wastes little.
    #[inline(always)]
    fn reserve(&mut self, at: usize) {
        if self.cells.len() == self.cells.capacity() || self.containers.len() == self.containers.capacity() {
            self.reserve_more(at);
        }
    }

    #[inline(never)]
    fn reserve_more(&mut self, at: usize) {
        const MIN_SAMPLE: usize = 1 << 16;
        if at < MIN_SAMPLE {
            return;
        }
        let scale = |len: usize| (len as f64 * (self.bytes.len() - at) as f64 / at as f64 * 1.02) as usize + 64;
        let (cells, containers, lexemes) =
            (scale(self.cells.len()), scale(self.containers.len()), scale(self.lexemes.len()));
        self.cells.reserve_exact(cells);
        self.containers.reserve_exact(containers);
        self.lexemes.reserve_exact(lexemes);
    }

    /// Returns the error for input after the document.
    #[cold]
    fn trailing_data(&self, at: usize) -> Error {
        let error = self.expected("the end of the input", at);
        match self.bytes.get(at) {
            Some(b'}' | b']') => error.with_help("there is no open bracket for it to close"),
            Some(b'{' | b'[' | b'"' | b'0'..=b'9' | b'-') => {
                error.with_help("the input must be one document: put several into an array, `[…, …]`")
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
            Some([b'\'', ..]) => error.with_help("JSON strings use double quotes"),
            Some([b'}' | b']', ..]) if self.bytes[..at].trim_ascii_end().ends_with(b",") => {
                error.with_help("JSON has no trailing commas")
            }
            Some(rest) if rest.starts_with(b"None") || rest.starts_with(b"undefined") => {
                error.with_help("the value for nothing is `null`")
            }
            Some(rest) if rest.starts_with(b"True") || rest.starts_with(b"False") => {
                error.with_help("the booleans are `true` and `false`")
            }
            Some([b'N' | b'I', ..]) => error.with_help("JSON has no NaN or Infinity"),
            Some([b'/', ..]) => error.with_help("JSON has no comments"),
            Some([b'<', ..]) if at == first => {
                error.with_help("this looks like XML or HTML; import an XML drawing first")
            }
            Some([]) if at == first => error.with_help("the input is empty"),
            _ => error,
        }
    }

    #[cold]
    fn not_json(&self, at: usize, reason: &str) -> Error {
        self.error_at(at, Code::NotJson, format!("The input is not JSON: {reason}"))
    }

    #[cold]
    fn error_at(&self, at: usize, code: Code, message: String) -> Error {
        self.error_in(Span::new(at, (at + 1).min(self.bytes.len())), code, &message)
    }

    fn error_in(&self, span: Span, code: Code, message: &str) -> Error {
        let location = Location::new(self.source, span.start as usize);
        Error::new(code, format!("{message} (line {}, column {})", location.line, location.column))
            .with_span(span)
            .locate(self.source)
    }
}

/// Parses a key that JavaScript sorts as an array index: `0` to `4294967294`, without leading zeros.
pub(crate) fn array_index(key: &str) -> Option<u32> {
    let is_canonical = matches!(key.as_bytes(), [b'0'] | [b'1'..=b'9', ..]) && key.len() <= 10;
    if !is_canonical {
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

/// Returns a range of the input, which is shorter than 4 GiB.
fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, end: end as u32 }
}
