//! Arena of a document: all values in a few flat tables.
//!
//! A value is one 8-byte `Cell`. Objects with the same keys share a shape, repeated strings are stored once, and every
//! container records its bytes in the input, so that values a query does not change are copied verbatim. Built once by
//! `load`, then only read. Dropping it frees a dozen vectors, at any nesting depth.

mod interned_strings;
pub(crate) mod load;
pub(crate) mod projection;
mod shape;

use crate::error::Span;

pub(crate) use interned_strings::Symbol;
pub(crate) use shape::ShapeId;

/// A value in 8 bytes: a plain number, or a tag and a payload in the space of the NaNs.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Cell(u64);

/// A cell, unpacked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    /// A number whose JavaScript text equals its text in the input.
    Number(f64),
    /// A number with another text, such as `53.0` or `1e3`: an index into `lexemes`.
    Lexeme(u32),
    /// An interned string.
    Symbol(Symbol),
    /// A string whose source bytes are its value: first byte and length.
    Source(u32, u16),
    /// A long string, or one with escapes: an index into `texts`.
    Text(u32),
    Array(ContainerId),
    Object(ContainerId),
}

/// Negative quiet NaNs carry the other values; no JSON number is a NaN.
const BOXED: u64 = 0xFFF0_0000_0000_0000;
const PAYLOAD: u64 = 0x0000_FFFF_FFFF_FFFF;

impl Cell {
    pub const NULL: Cell = Cell::boxed(1, 0);
    pub const FALSE: Cell = Cell::boxed(1, 1);
    pub const TRUE: Cell = Cell::boxed(1, 2);
    /// No value. Never in documents; columns contain it where an object lacks the key.
    pub const MISSING: Cell = Cell::boxed(1, 3);
    /// Placeholder of a value that the projection omits.
    const OMITTED: Cell = Cell::NULL;

    const fn boxed(tag: u64, payload: u64) -> Cell {
        Cell(BOXED | tag << 48 | payload)
    }

    /// A number; all NaNs become the canonical one, which carries no payload.
    pub fn number(value: f64) -> Cell {
        Cell(if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() })
    }

    /// Returns the cell, or null if it is `MISSING`.
    pub fn or_null(self) -> Cell {
        if self == Cell::MISSING { Cell::NULL } else { self }
    }

    /// Returns the raw 64 bits.
    pub fn bits(self) -> u64 {
        self.0
    }

    pub fn symbol(symbol: Symbol) -> Cell {
        Cell::boxed(2, u64::from(symbol.0))
    }

    fn source(start: u32, len: u16) -> Cell {
        Cell::boxed(3, u64::from(start) << 16 | u64::from(len))
    }

    fn text(index: u32) -> Cell {
        Cell::boxed(4, u64::from(index))
    }

    fn lexeme(index: u32) -> Cell {
        Cell::boxed(5, u64::from(index))
    }

    fn array(id: ContainerId) -> Cell {
        Cell::boxed(6, u64::from(id.0))
    }

    pub fn object(id: ContainerId) -> Cell {
        Cell::boxed(7, u64::from(id.0))
    }

    /// Returns the container if the cell is an object.
    #[inline]
    pub fn object_id(self) -> Option<ContainerId> {
        (self.0 >> 48 == BOXED >> 48 | 7).then_some(ContainerId(self.0 as u32))
    }

    /// Returns the container if the cell is an array.
    #[inline]
    pub fn array_id(self) -> Option<ContainerId> {
        (self.0 >> 48 == BOXED >> 48 | 6).then_some(ContainerId(self.0 as u32))
    }

    /// Unpacks the cell.
    #[inline]
    pub fn kind(self) -> Kind {
        let payload = self.0 & PAYLOAD;
        let low = payload as u32;
        match (self.0 >> 48).wrapping_sub(BOXED >> 48) {
            1 if self == Cell::NULL => Kind::Null,
            1 => Kind::Bool(self == Cell::TRUE),
            2 => Kind::Symbol(Symbol(low)),
            3 => Kind::Source((payload >> 16) as u32, payload as u16),
            4 => Kind::Text(low),
            5 => Kind::Lexeme(low),
            6 => Kind::Array(ContainerId(low)),
            7 => Kind::Object(ContainerId(low)),
            _ => Kind::Number(f64::from_bits(self.0)),
        }
    }
}

/// Id of an array or object of a document. Ids ascend with the first byte in the input.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct ContainerId(pub u32);

/// Bytes of the items of an array in the input, if all of them are containers, and each but the last is followed directly
/// by its comma.
#[derive(Debug)]
pub(crate) struct ItemSpans {
    pub spans: Box<[Span]>,
    /// Each comma is followed directly by the next item.
    pub is_compact: bool,
}

/// Position of a container's children, and its bytes in the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Container {
    /// The first child in `cells`.
    pub first: u32,
    /// The number of children of an array, the shape of an object.
    pub extent: u32,
    pub span: Span,
}

/// A string of the input: its bytes between the quotes and, if it has escapes, its decoded form.
#[derive(Clone, Copy, Debug)]
struct Text {
    raw: Span,
    /// A range of `decoded`; empty if the raw bytes are the value.
    decoded: Span,
}

impl Text {
    /// Returns the bytes in the input if these are the value.
    fn verbatim_span(self) -> Option<Span> {
        (self.decoded.end <= self.decoded.start).then_some(self.raw)
    }
}

/// A number whose source text has to be kept.
#[derive(Clone, Copy, Debug)]
struct Lexeme {
    value: f64,
    span: Span,
}

/// The values of one document.
#[derive(Debug)]
pub(crate) struct Arena {
    source: String,
    decoded: String,
    cells: Vec<Cell>,
    containers: Vec<Container>,
    texts: Vec<Text>,
    lexemes: Vec<Lexeme>,
    symbols: interned_strings::Symbols,
    shapes: shape::Shapes,
    root: Cell,
    duplicate_keys: usize,
    /// True if there are integers whose doubles are other integers.
    has_rounded_integers: bool,
}

impl Arena {
    /// Returns the input bytes of the document.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn root(&self) -> Cell {
        self.root
    }

    #[inline]
    pub fn cell(&self, index: u32) -> Cell {
        self.cells[index as usize]
    }

    #[inline]
    pub fn cells(&self, first: u32, len: u32) -> &[Cell] {
        &self.cells[first as usize..first as usize + len as usize]
    }

    #[inline]
    pub fn container(&self, id: ContainerId) -> &Container {
        &self.containers[id.0 as usize]
    }

    /// Returns the input bytes of a container.
    pub fn container_text(&self, id: ContainerId) -> &str {
        self.slice(self.container(id).span)
    }

    /// Returns the children of an array.
    #[inline]
    pub fn items(&self, id: ContainerId) -> &[Cell] {
        let container = self.container(id);
        self.cells(container.first, container.extent)
    }

    /// Returns the keys of an object in JavaScript's order.
    pub fn keys(&self, id: ContainerId) -> &[Symbol] {
        self.shapes.keys(self.shape(id))
    }

    /// Returns the values of an object in the order of its keys.
    #[inline]
    pub fn fields(&self, id: ContainerId) -> &[Cell] {
        self.cells(self.container(id).first, self.keys(id).len() as u32)
    }

    /// Returns the value of a number cell.
    #[inline]
    pub fn number(&self, cell: Cell) -> Option<f64> {
        match cell.kind() {
            Kind::Number(value) => Some(value),
            Kind::Lexeme(index) => Some(self.lexemes[index as usize].value),
            _ => None,
        }
    }

    #[inline]
    pub fn shape(&self, id: ContainerId) -> ShapeId {
        ShapeId(self.container(id).extent)
    }

    /// Returns the index of a key in the objects of a shape.
    pub fn slot(&self, shape: ShapeId, key: Symbol) -> Option<u32> {
        self.shapes.slot(shape, key)
    }

    /// Returns the value of a key of an object.
    pub fn field(&self, id: ContainerId, key: &str) -> Option<Cell> {
        let slot = self.slot(self.shape(id), self.find_symbol(key)?)?;
        Some(self.cell(self.container(id).first + slot))
    }

    /// Returns the symbol of a string if the document has it as a key or as an interned string.
    pub fn find_symbol(&self, text: &str) -> Option<Symbol> {
        self.symbols.find(text, |symbol| self.text(self.symbols.text(symbol)))
    }

    #[inline]
    pub fn symbol_text(&self, symbol: Symbol) -> &str {
        self.text(self.symbols.text(symbol))
    }

    /// Returns the value of a string cell; empty for other cells.
    pub fn string(&self, cell: Cell) -> &str {
        match cell.kind() {
            Kind::Symbol(symbol) => self.symbol_text(symbol),
            Kind::Source(start, len) => &self.source[start as usize..start as usize + len as usize],
            Kind::Text(index) => self.text(self.texts[index as usize]),
            _ => "",
        }
    }

    /// Reads the first byte of a string in the input, to bring it into the cache before it is written.
    pub fn prefetch(&self, cell: Cell) -> u8 {
        match cell.kind() {
            Kind::Source(start, _) => self.source.as_bytes()[start as usize],
            _ => 0,
        }
    }

    /// Returns the length of a string in bytes; 0 for other cells.
    pub fn text_len(&self, cell: Cell) -> usize {
        match cell.kind() {
            Kind::Source(_, len) => usize::from(len),
            _ => self.string(cell).len(),
        }
    }

    /// Returns the length of a string in bytes, and 0 for null; `None` for other cells.
    #[inline]
    pub fn text_or_null_len(&self, cell: Cell) -> Option<usize> {
        match cell.kind() {
            Kind::Source(_, len) => Some(usize::from(len)),
            Kind::Symbol(_) | Kind::Text(_) => Some(self.string(cell).len()),
            Kind::Null => Some(0),
            _ => None,
        }
    }

    /// Returns the sixteen bytes of the input that begin with a string, and its length; `None` for a longer string, and
    /// for one that is not stored as a part of the input.
    #[inline]
    pub fn short_block(&self, cell: Cell) -> Option<(&[u8; 16], usize)> {
        match cell.kind() {
            Kind::Source(start, len @ 0..=16) => {
                Some((self.source.as_bytes()[start as usize..].first_chunk()?, usize::from(len)))
            }
            _ => None,
        }
    }

    /// Returns a string with its quotes from the input, if it has no escapes.
    pub fn quoted(&self, cell: Cell) -> Option<&str> {
        let raw = match cell.kind() {
            Kind::Source(start, len) => Span { start, end: start + u32::from(len) },
            Kind::Symbol(symbol) => self.symbols.text(symbol).verbatim_span()?,
            Kind::Text(index) => self.texts[index as usize].verbatim_span()?,
            _ => return None,
        };
        Some(self.slice(Span { start: raw.start - 1, end: raw.end + 1 }))
    }

    /// Returns the value of a number whose source text is kept.
    #[inline]
    pub fn lexeme_value(&self, index: u32) -> f64 {
        self.lexemes[index as usize].value
    }

    /// Returns the value and the source text of a number whose source text is kept.
    #[inline]
    pub fn lexeme(&self, index: u32) -> (f64, &str) {
        let lexeme = self.lexemes[index as usize];
        (lexeme.value, self.slice(lexeme.span))
    }

    /// Returns the bytes of the items of an array; `None` for other items or another layout.
    pub fn item_spans(&self, id: ContainerId) -> Option<ItemSpans> {
        let span = |item: &Cell| Some(self.container(item.array_id().or(item.object_id())?).span);
        let spans: Box<[Span]> = self.items(id).iter().map(span).collect::<Option<_>>()?;
        let is_compact = spans.windows(2).all(|pair| pair[1].start == pair[0].end + 1);
        // Reads a byte of each item, which are far apart.
        let has_comma = |pair: &[Span]| self.source.as_bytes()[pair[0].end as usize] == b',';
        let is_followed = is_compact || spans.windows(2).all(has_comma);
        is_followed.then_some(ItemSpans { spans, is_compact })
    }

    /// Returns the path from the root to a container, such as `.pid_graph.nodes[17]`.
    pub fn path_of(&self, id: ContainerId) -> String {
        let byte = self.container(id).span.start;
        let mut path = String::new();
        let mut at = self.root;
        while let Kind::Array(outer) | Kind::Object(outer) = at.kind() {
            let Some(slot) = (outer != id).then(|| self.child_containing(at, outer, byte)).flatten() else { break };
            match at.kind() {
                Kind::Array(_) => path.push_str(&format!("[{slot}]")),
                _ => path.push_str(&path_step(self.symbol_text(self.keys(outer)[slot as usize]))),
            }
            at = self.cell(self.container(outer).first + slot);
        }
        if path.is_empty() { ".".into() } else { path }
    }

    /// Returns the index of the child whose bytes include a byte of the input.
    fn child_containing(&self, cell: Cell, id: ContainerId, byte: u32) -> Option<u32> {
        let container = self.container(id);
        let len = match cell.kind() {
            Kind::Array(_) => container.extent,
            _ => self.keys(id).len() as u32,
        };
        (0..len).find(|slot| match self.cell(container.first + slot).kind() {
            Kind::Array(child) | Kind::Object(child) => {
                let span = self.container(child).span;
                span.start <= byte && byte < span.end
            }
            _ => false,
        })
    }

    /// Returns true if the document has integers whose doubles are other integers.
    pub fn has_rounded_integers(&self) -> bool {
        self.has_rounded_integers
    }

    /// Returns true if a value is such an integer.
    pub fn is_rounded(&self, cell: Cell) -> bool {
        let Kind::Lexeme(index) = cell.kind() else { return false };
        let (double, digits) = self.lexeme(index);
        is_rounded_integer(digits, double)
    }

    /// Returns the number of duplicate keys in the document's objects.
    pub fn duplicate_keys(&self) -> usize {
        self.duplicate_keys
    }

    /// Returns all object keys of the document, in the order of their first appearance.
    pub fn all_keys(&self) -> impl Iterator<Item = &str> {
        self.shapes.all_keys(self.symbols.len()).into_iter().map(|symbol| self.symbol_text(symbol))
    }

    /// Returns the size in bytes, without the input.
    pub fn size(&self) -> usize {
        self.decoded.capacity()
            + size_of_val(self.cells.as_slice())
            + size_of_val(self.containers.as_slice())
            + size_of_val(self.texts.as_slice())
            + size_of_val(self.lexemes.as_slice())
            + self.symbols.size()
            + self.shapes.size()
    }

    #[inline]
    fn slice(&self, span: Span) -> &str {
        &self.source[span.start as usize..span.end as usize]
    }

    #[inline]
    fn text(&self, text: Text) -> &str {
        if text.decoded.end > text.decoded.start {
            return &self.decoded[text.decoded.start as usize..text.decoded.end as usize];
        }
        self.slice(text.raw)
    }
}

/// Integers up to this one are exact as doubles.
pub(crate) const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns true if digits are an integer whose double is another integer: 9007199254740993.
pub(crate) fn is_rounded_integer(digits: &str, double: f64) -> bool {
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_integer && double.is_finite() && double.abs() >= MAX_EXACT && format!("{double:.0}") != digits
}

/// Returns `.key`, quoted if necessary.
pub(crate) fn path_step(key: &str) -> String {
    let is_word = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$');
    if is_word { format!(".{key}") } else { format!(".{key:?}") }
}
