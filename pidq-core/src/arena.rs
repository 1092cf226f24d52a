//! All values of one document, side by side in a few flat tables.
//!
//! A value is one 8-byte `Cell`. Objects with the same keys share a shape, texts that repeat are stored once, and every
//! container knows its bytes in the input, so that what a query passes through is copied and not printed anew.
//! Built once by `load`, then only read. Dropping it frees a dozen vectors, whatever the nesting.

pub(crate) mod load;
mod shape;
mod symbols;
pub(crate) mod wanted;

use crate::error::Span;

pub(crate) use shape::ShapeId;
pub(crate) use symbols::Symbol;

/// One value in 8 bytes: a number as it is, anything else as a tag and a payload in the space of the NaNs.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Cell(u64);

/// A cell, unpacked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    /// A number whose JavaScript text is its text in the input.
    Number(f64),
    /// A number with another text, such as `53.0` or `1e3`: an index of `lexemes`.
    Lexeme(u32),
    /// A text that is stored once.
    Symbol(Symbol),
    /// A text that stands in the input as it is: first byte and length.
    Source(u32, u16),
    /// A long text, or one with escapes: an index of `texts`.
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
    /// No value. Not in documents: what columns have where an object has no such key.
    pub const MISSING: Cell = Cell::boxed(1, 3);
    /// A value that was not read, because nobody asks for it.
    const GAP: Cell = Cell::NULL;

    const fn boxed(tag: u64, payload: u64) -> Cell {
        Cell(BOXED | tag << 48 | payload)
    }

    /// A number; all NaNs become the one that carries nothing else.
    pub fn number(value: f64) -> Cell {
        Cell(if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() })
    }

    /// The cell, null where there is no value.
    pub fn or_null(self) -> Cell {
        if self == Cell::MISSING { Cell::NULL } else { self }
    }

    /// The cell as a number of 64 bits.
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

    /// The object that this is.
    #[inline]
    pub fn object_id(self) -> Option<ContainerId> {
        (self.0 >> 48 == BOXED >> 48 | 7).then_some(ContainerId(self.0 as u32))
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

/// An array or object of a document. Numbered in the order of their first byte.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct ContainerId(pub u32);

/// How the items of a list stand in the input.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Layout {
    /// Anyhow.
    Loose,
    /// All are containers, and right behind each but the last stands its comma.
    Followed,
    /// The same, and nothing else stands between them.
    Compact,
}

/// Where the children of a container are, and its bytes in the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Container {
    /// The first child in `cells`.
    pub first: u32,
    /// The number of children of an array, the shape of an object.
    pub extent: u32,
    pub span: Span,
}

/// A text of the input: its bytes between the quotes, and where its escapes are resolved if it has any.
#[derive(Clone, Copy, Debug)]
struct Text {
    raw: Span,
    /// A stretch of `decoded`; empty where the raw bytes are the text.
    decoded: Span,
}

impl Text {
    /// Its bytes in the input, if these are the text.
    fn as_it_stands(self) -> Option<Span> {
        (self.decoded.end <= self.decoded.start).then_some(self.raw)
    }
}

/// A number whose text has to be kept.
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
    symbols: symbols::Symbols,
    shapes: shape::Shapes,
    root: Cell,
    duplicate_keys: usize,
}

impl Arena {
    /// The bytes of the document, as they came.
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

    /// The input bytes of a container.
    pub fn container_text(&self, id: ContainerId) -> &str {
        self.slice(self.container(id).span)
    }

    /// The children of an array.
    #[inline]
    pub fn items(&self, id: ContainerId) -> &[Cell] {
        let container = self.container(id);
        self.cells(container.first, container.extent)
    }

    /// The keys of an object, in the order in which JavaScript would list them.
    pub fn keys(&self, id: ContainerId) -> &[Symbol] {
        self.shapes.keys(self.shape(id))
    }

    /// The values of an object, in the order of its keys.
    #[inline]
    pub fn fields(&self, id: ContainerId) -> &[Cell] {
        self.cells(self.container(id).first, self.keys(id).len() as u32)
    }

    /// The number that a cell is.
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

    /// The place of a key in the objects of a shape.
    pub fn slot(&self, shape: ShapeId, key: Symbol) -> Option<u32> {
        self.shapes.slot(shape, key)
    }

    /// The value of a key of an object.
    pub fn field(&self, id: ContainerId, key: &str) -> Option<Cell> {
        let slot = self.slot(self.shape(id), self.find_symbol(key)?)?;
        Some(self.cell(self.container(id).first + slot))
    }

    /// The symbol of a text, if the document has it as a key or as a text that repeats.
    pub fn find_symbol(&self, text: &str) -> Option<Symbol> {
        self.symbols.find(text, |symbol| self.text(self.symbols.text(symbol)))
    }

    #[inline]
    pub fn symbol_text(&self, symbol: Symbol) -> &str {
        self.text(self.symbols.text(symbol))
    }

    /// The text of a string cell; empty for other cells.
    pub fn string(&self, cell: Cell) -> &str {
        match cell.kind() {
            Kind::Symbol(symbol) => self.symbol_text(symbol),
            Kind::Source(start, len) => &self.source[start as usize..start as usize + len as usize],
            Kind::Text(index) => self.text(self.texts[index as usize]),
            _ => "",
        }
    }

    /// Reads the first byte of a text in the input, so that it is near when it is written.
    pub fn touch(&self, cell: Cell) -> u8 {
        match cell.kind() {
            Kind::Source(start, _) => self.source.as_bytes()[start as usize],
            _ => 0,
        }
    }

    /// Bytes of a text; 0 for other cells.
    pub fn text_len(&self, cell: Cell) -> usize {
        match cell.kind() {
            Kind::Source(_, len) => usize::from(len),
            _ => self.string(cell).len(),
        }
    }

    /// A text with its quotes as it stands in the input, if it has no escapes.
    pub fn quoted(&self, cell: Cell) -> Option<&str> {
        let raw = match cell.kind() {
            Kind::Source(start, len) => Span { start, end: start + u32::from(len) },
            Kind::Symbol(symbol) => self.symbols.text(symbol).as_it_stands()?,
            Kind::Text(index) => self.texts[index as usize].as_it_stands()?,
            _ => return None,
        };
        Some(self.slice(Span { start: raw.start - 1, end: raw.end + 1 }))
    }

    /// The value of a number whose text is kept.
    #[inline]
    pub fn lexeme_value(&self, index: u32) -> f64 {
        self.lexemes[index as usize].value
    }

    /// The value of a number whose text is kept, and that text.
    #[inline]
    pub fn lexeme(&self, index: u32) -> (f64, &str) {
        let lexeme = self.lexemes[index as usize];
        (lexeme.value, self.slice(lexeme.span))
    }

    /// How the items of an array stand in the input: as the loosest pair of neighbours does.
    pub fn layout(&self, id: ContainerId) -> Layout {
        let span = |item: &Cell| match item.kind() {
            Kind::Array(child) | Kind::Object(child) => Some(self.container(child).span),
            _ => None,
        };
        let between = |pair: &[Cell]| match (span(&pair[0]), span(&pair[1])) {
            (Some(one), Some(next)) if next.start == one.end + 1 => Layout::Compact,
            (Some(one), Some(_)) if self.source().as_bytes()[one.end as usize] == b',' => Layout::Followed,
            _ => Layout::Loose,
        };
        self.items(id).windows(2).map(between).min().unwrap_or(Layout::Loose)
    }

    /// The path from the root to a container, such as `.pid_graph.nodes[17]`.
    pub fn path_of(&self, id: ContainerId) -> String {
        let byte = self.container(id).span.start;
        let mut path = String::new();
        let mut at = self.root;
        while let Kind::Array(outer) | Kind::Object(outer) = at.kind() {
            let Some(slot) = (outer != id).then(|| self.child_around(at, outer, byte)).flatten() else { break };
            match at.kind() {
                Kind::Array(_) => path.push_str(&format!("[{slot}]")),
                _ => path.push_str(&path_step(self.symbol_text(self.keys(outer)[slot as usize]))),
            }
            at = self.cell(self.container(outer).first + slot);
        }
        if path.is_empty() { ".".into() } else { path }
    }

    /// The child of a container whose bytes include a byte of the input.
    fn child_around(&self, cell: Cell, id: ContainerId, byte: u32) -> Option<u32> {
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

    /// How many keys stand twice in their object.
    pub fn duplicate_keys(&self) -> usize {
        self.duplicate_keys
    }

    /// All texts that are keys of an object somewhere, in the order of their first appearance.
    pub fn all_keys(&self) -> impl Iterator<Item = &str> {
        self.shapes.all_keys(self.symbols.len()).into_iter().map(|symbol| self.symbol_text(symbol))
    }

    /// Bytes kept, without the input itself.
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

/// `.key`, quoted where it has to be.
fn path_step(key: &str) -> String {
    let is_word = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$');
    if is_word { format!(".{key}") } else { format!(".{key:?}") }
}
