//! JSON text (RFC 8259) to an arena in one pass, without a tree in between and without recursion.
//!
//! Hot: every byte of every document goes through here. Keys are guessed from the object before and compared in place;
//! texts are compared with the one that stood in the same slot last time before they are hashed.

use super::shape::{NONE, Shapes, Steps};
use super::symbols::{Symbol, Symbols};
use super::{Arena, Cell, Container, ContainerId, Lexeme, Text};
use crate::error::{Code, Error, Location, Result, Span};

/// Reads a document that is nested at most `max_depth` levels.
pub(crate) fn load(json: Vec<u8>, max_depth: usize) -> Result<Arena> {
    if json.len() >= u32::MAX as usize {
        return Err(Error::new(Code::InputTooLarge, "The input is larger than 4 GiB"));
    }
    let source = String::from_utf8(json).map_err(|error| not_utf8(error.utf8_error().valid_up_to()))?;
    let mut loader = Loader::new(&source, max_depth);
    let root = loader.document()?;
    let Loader { decoded, cells, containers, texts, lexemes, symbols, shapes, duplicate_keys, .. } = loader;
    let mut arena = Arena {
        decoded,
        cells,
        containers,
        texts,
        lexemes,
        symbols,
        shapes,
        root,
        duplicate_keys,
        source: String::new(),
    };
    arena.source = source;
    arena.shrink();
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

/// An array or object that is not closed yet.
struct Frame {
    container: ContainerId,
    /// Where its children begin in `pending`.
    base: usize,
    /// The last key of an object; for an array the step that it stands in, whose texts resemble each other.
    step: u32,
    is_object: bool,
}

struct Loader<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    max_depth: usize,
    frames: Vec<Frame>,
    /// Children of open containers; they move to `cells` when their container closes, so that siblings stand together.
    pending: Vec<Cell>,
    decoded: String,
    cells: Vec<Cell>,
    containers: Vec<Container>,
    texts: Vec<Text>,
    lexemes: Vec<Lexeme>,
    symbols: Symbols,
    shapes: Shapes,
    steps: Steps,
    duplicate_keys: usize,
}

impl<'s> Loader<'s> {
    fn new(source: &'s str, max_depth: usize) -> Loader<'s> {
        Loader {
            source,
            bytes: source.as_bytes(),
            at: 0,
            max_depth,
            frames: Vec::new(),
            pending: Vec::new(),
            decoded: String::new(),
            cells: Vec::new(),
            containers: Vec::new(),
            texts: Vec::new(),
            lexemes: Vec::new(),
            symbols: Symbols::default(),
            shapes: Shapes::default(),
            steps: Steps::new(),
            duplicate_keys: 0,
        }
    }

    /// The whole text: one value and nothing after it.
    fn document(&mut self) -> Result<Cell> {
        let root = self.value()?;
        self.skip_space();
        match self.peek() {
            None => Ok(root),
            Some(_) => Err(self.expected("the end of the input")),
        }
    }

    /// One value with everything in it.
    fn value(&mut self) -> Result<Cell> {
        loop {
            self.skip_space();
            let mut cell = match self.peek() {
                Some(b'"') => self.string()?,
                Some(b'{') => match self.open_object()? {
                    Some(cell) => cell,
                    None => continue,
                },
                Some(b'[') => match self.open_array()? {
                    Some(cell) => cell,
                    None => continue,
                },
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true", Cell::TRUE)?,
                Some(b'f') => self.word("false", Cell::FALSE)?,
                Some(b'n') => self.word("null", Cell::NULL)?,
                _ => return Err(self.expected("a value")),
            };
            // A finished value may finish the containers around it.
            loop {
                let Some(frame) = self.frames.last() else { return Ok(cell) };
                let is_object = frame.is_object;
                self.pending.push(cell);
                self.skip_space();
                match self.peek() {
                    Some(b',') if is_object => {
                        self.at += 1;
                        self.key()?;
                        break;
                    }
                    Some(b',') => {
                        self.at += 1;
                        break;
                    }
                    Some(b'}') if is_object => cell = self.close(),
                    Some(b']') if !is_object => cell = self.close(),
                    _ if is_object => return Err(self.expected("`,` or `}`")),
                    _ => return Err(self.expected("`,` or `]`")),
                }
            }
        }
    }

    /// Starts an object and reads its first key. An empty object is a finished value.
    fn open_object(&mut self) -> Result<Option<Cell>> {
        self.open(true, Steps::ROOT)?;
        self.skip_space();
        if self.peek() == Some(b'}') {
            return Ok(Some(self.close()));
        }
        self.key()?;
        Ok(None)
    }

    /// Starts an array. An empty array is a finished value.
    fn open_array(&mut self) -> Result<Option<Cell>> {
        let step = self.frames.last().map_or(Steps::ROOT, |frame| frame.step);
        self.open(false, step)?;
        self.skip_space();
        Ok((self.peek() == Some(b']')).then(|| self.close()))
    }

    fn open(&mut self, is_object: bool, step: u32) -> Result<()> {
        if self.frames.len() == self.max_depth {
            let message = format!("The input is nested deeper than {} levels", self.max_depth);
            return Err(self.error_at(self.at, Code::InputTooDeep, message));
        }
        let container = ContainerId(self.containers.len() as u32);
        self.reserve();
        self.containers.push(Container { first: 0, extent: 0, span: Span::new(self.at, self.at) });
        self.frames.push(Frame { container, base: self.pending.len(), step, is_object });
        self.at += 1;
        Ok(())
    }

    /// Ends the innermost container: its children move to their final place.
    fn close(&mut self) -> Cell {
        self.at += 1;
        let Some(frame) = self.frames.pop() else { return Cell::NULL };
        let first = self.cells.len() as u32;
        let count = self.pending.len() - frame.base;
        let extent = if frame.is_object {
            self.close_object(&frame)
        } else {
            self.cells.extend_from_slice(&self.pending[frame.base..]);
            count as u32
        };
        self.pending.truncate(frame.base);
        let container = &mut self.containers[frame.container.0 as usize];
        container.first = first;
        container.extent = extent;
        container.span.end = self.at as u32;
        if frame.is_object { Cell::object(frame.container) } else { Cell::array(frame.container) }
    }

    fn close_object(&mut self, frame: &Frame) -> u32 {
        let children = &self.pending[frame.base..];
        let (source, decoded, symbols) = (self.source, &self.decoded, &self.symbols);
        let index = |symbol| array_index(resolve(source, decoded, symbols.text(symbol)));
        let shape = self.steps.shape(frame.step, &mut self.shapes, index);
        match &self.steps.orders[shape.0 as usize] {
            None => self.cells.extend_from_slice(children),
            Some(order) => {
                self.duplicate_keys += children.len() - order.len();
                self.cells.extend(order.iter().map(|at| children[*at as usize]));
            }
        }
        shape.0
    }

    /// Reads `"key":` of the innermost object.
    fn key(&mut self) -> Result<()> {
        self.skip_space();
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let parent = frame.step;
        let guess = self.steps.steps[parent as usize].next;
        let step = match self.skip_key(guess) {
            true => guess,
            false => self.unforeseen_key(parent)?,
        };
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        if let Some(frame) = self.frames.last_mut() {
            frame.step = step;
        }
        Ok(())
    }

    /// Passes the key of a step if it stands here.
    fn skip_key(&mut self, step: u32) -> bool {
        if step == NONE {
            return false;
        }
        let text = self.symbols.text(self.steps.steps[step as usize].symbol);
        self.skip_text(text)
    }

    /// Passes a known text with its quotes if it stands here in the same bytes.
    fn skip_text(&mut self, text: Text) -> bool {
        let known = &self.bytes[text.raw.start as usize..text.raw.end as usize];
        let end = self.at + 1 + known.len();
        let stands_here = self.bytes.get(end) == Some(&b'"')
            && self.bytes[self.at] == b'"'
            && same_bytes(&self.bytes[self.at + 1..end], known);
        if stands_here {
            self.at = end + 1;
        }
        stands_here
    }

    fn unforeseen_key(&mut self, parent: u32) -> Result<u32> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        let text = self.text()?;
        let (symbol, _) = self.intern(text);
        Ok(self.steps.follow(parent, symbol))
    }

    /// Reads a text that is a value. Where texts of this slot repeat, they are stored once.
    fn string(&mut self) -> Result<Cell> {
        let step = self.frames.last().map_or(Steps::ROOT, |frame| frame.step) as usize;
        let slot = self.steps.steps[step];
        if slot.repeats() {
            if slot.last.0 != NONE && self.skip_text(self.symbols.text(slot.last)) {
                self.steps.steps[step].count(false);
                return Ok(Cell::symbol(slot.last));
            }
            let text = self.text()?;
            let (symbol, is_new) = self.intern(text);
            let slot = &mut self.steps.steps[step];
            slot.count(is_new);
            slot.last = symbol;
            return Ok(Cell::symbol(symbol));
        }
        let text = self.text()?;
        Ok(self.single(text))
    }

    /// The cell of a text that is not expected to repeat.
    fn single(&mut self, text: Text) -> Cell {
        let len = text.raw.end - text.raw.start;
        if text.decoded.end == text.decoded.start && len <= u32::from(u16::MAX) {
            return Cell::source(text.raw.start, len as u16);
        }
        self.texts.push(text);
        Cell::text(self.texts.len() as u32 - 1)
    }

    fn intern(&mut self, text: Text) -> (Symbol, bool) {
        let (source, decoded) = (self.source, &self.decoded);
        self.symbols.intern(resolve(source, decoded, text), text, |text| resolve(source, decoded, text))
    }

    /// Reads a text with its quotes.
    fn text(&mut self) -> Result<Text> {
        let start = self.at + 1;
        let end = plain_end(self.bytes, start);
        if self.bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(Text { raw: Span::new(start, end), decoded: Span::default() });
        }
        self.escaped_text(start, end)
    }

    /// Reads the rest of a text from its first escape on.
    fn escaped_text(&mut self, start: usize, escape: usize) -> Result<Text> {
        let first = self.decoded.len();
        self.at = escape;
        let mut plain = start;
        loop {
            self.decoded.push_str(&self.source[plain..self.at]);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.bad_string("a control character must be written as an escape")),
                None => return Err(self.unterminated(start - 1)),
            }
            plain = self.at;
            self.at = plain_end(self.bytes, plain);
        }
        let raw = Span::new(start, self.at);
        self.at += 1;
        if self.decoded.len() >= u32::MAX as usize {
            return Err(Error::new(Code::InputTooLarge, "The input has too many texts with escapes"));
        }
        Ok(Text { raw, decoded: Span::new(first, self.decoded.len()) })
    }

    /// Reads one escape. A surrogate without its other half becomes U+FFFD.
    fn escape(&mut self) -> Result<()> {
        let plain = match self.bytes.get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.bad_string("unknown escape")),
        };
        self.decoded.push(plain);
        self.at += 2;
        Ok(())
    }

    fn unicode_escape(&mut self) -> Result<()> {
        let Some(unit) = self.unit(self.at) else { return Err(self.bad_string("`\\u` needs four hexadecimal digits")) };
        self.at += 6;
        let mut c = char::from_u32(unit);
        if let (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) = (unit, self.unit(self.at)) {
            self.at += 6;
            c = char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        }
        self.decoded.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    /// The UTF-16 unit of an escape `\uXXXX` at a place.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
    }

    /// Reads a number. Few digits are exact as an integer over a power of ten; the rest goes to the standard library.
    fn number(&mut self) -> Result<Cell> {
        let start = self.at;
        let number = self.number_parts()?;
        self.at = number.end;
        let value = match number.exact() {
            Some(value) => value,
            None => self.source[start..number.end].parse().unwrap_or(f64::INFINITY),
        };
        if number.is_canonical(value) {
            return Ok(Cell::number(value));
        }
        self.lexemes.push(Lexeme { value, span: Span::new(start, number.end) });
        Ok(Cell::lexeme(self.lexemes.len() as u32 - 1))
    }

    fn number_parts(&self) -> Result<Number> {
        let negative = self.bytes[self.at] == b'-';
        let first = self.at + usize::from(negative);
        let mut number = Number { negative, mantissa: 0, digits: 0, scale: 0, has_exponent: false, end: first };
        self.digits(&mut number)?;
        if number.digits > 1 && self.bytes[first] == b'0' {
            return Err(self.error_at(
                first,
                Code::NotJson,
                "The input is not JSON: a number cannot begin with 0".into(),
            ));
        }
        if self.bytes.get(number.end) == Some(&b'.') {
            number.end += 1;
            let integer_digits = number.digits;
            self.digits(&mut number)?;
            number.scale = number.digits - integer_digits;
        }
        if let Some(b'e' | b'E') = self.bytes.get(number.end) {
            number.has_exponent = true;
            number.end += 1 + usize::from(matches!(self.bytes.get(number.end + 1), Some(b'+' | b'-')));
            let mut exponent = Number { end: number.end, ..number };
            self.digits(&mut exponent)?;
            number.end = exponent.end;
        }
        Ok(number)
    }

    /// Reads at least one digit.
    fn digits(&self, number: &mut Number) -> Result<()> {
        let start = number.end;
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(number.end) {
            number.mantissa = number.mantissa.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            number.end += 1;
        }
        number.digits += number.end - start;
        if number.end == start {
            return Err(self.error_at(start, Code::NotJson, "The input is not JSON: expected a digit".into()));
        }
        Ok(())
    }

    fn word(&mut self, word: &str, cell: Cell) -> Result<Cell> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(cell)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Makes room by what the part read so far needed, so that growing copies little and wastes little.
    fn reserve(&mut self) {
        const ENOUGH: usize = 1 << 16;
        if self.at < ENOUGH
            || (self.cells.len() < self.cells.capacity() && self.containers.len() < self.containers.capacity())
        {
            return;
        }
        let scale =
            |len: usize| (len as f64 * (self.bytes.len() - self.at) as f64 / self.at as f64 * 1.02) as usize + 64;
        let (cells, containers, lexemes) =
            (scale(self.cells.len()), scale(self.containers.len()), scale(self.lexemes.len()));
        self.cells.reserve_exact(cells);
        self.containers.reserve_exact(containers);
        self.lexemes.reserve_exact(lexemes);
    }

    fn expected(&self, what: &str) -> Error {
        let found = match self.source[self.at.min(self.source.len())..].chars().next() {
            None => "the end of the input".into(),
            Some(c) if c.is_control() || c == '\u{FEFF}' => format!("`{}`", c.escape_unicode()),
            Some(c) => format!("`{c}`"),
        };
        let error =
            self.error_at(self.at, Code::NotJson, format!("The input is not JSON: expected {what}, not {found}"));
        match self.bytes.get(self.at..) {
            Some([0xEF, 0xBB, 0xBF, ..]) => error.with_help("remove the byte order mark at the start"),
            Some([b'\'', ..]) => error.with_help("JSON takes double quotes only"),
            Some([b'}' | b']', ..]) => error.with_help("JSON has no trailing commas"),
            Some([b'N' | b'I', ..]) => error.with_help("JSON has no NaN or Infinity"),
            Some([b'/', ..]) => error.with_help("JSON has no comments"),
            _ => error,
        }
    }

    fn bad_string(&self, why: &str) -> Error {
        self.error_at(self.at, Code::NotJson, format!("The input is not JSON: {why}"))
    }

    fn unterminated(&self, start: usize) -> Error {
        self.error_at(start, Code::NotJson, "The input is not JSON: a string has no closing quote".into())
    }

    fn error_at(&self, at: usize, code: Code, message: String) -> Error {
        let place = Location::of(self.source, at);
        Error::new(code, format!("{message} (line {}, column {})", place.line, place.column))
            .with_span(Span::new(at, (at + 1).min(self.bytes.len())))
            .locate(self.source)
    }
}

/// The parts of a number.
#[derive(Clone, Copy)]
struct Number {
    negative: bool,
    /// All digits before the exponent as one integer; meaningless above 19 digits.
    mantissa: u64,
    digits: usize,
    /// How many of them stand after the point.
    scale: usize,
    has_exponent: bool,
    end: usize,
}

impl Number {
    /// The value where mantissa and power of ten are exact as `f64`, so that one division rounds correctly (Clinger 1990).
    fn exact(&self) -> Option<f64> {
        if self.has_exponent || self.digits > 15 {
            return None;
        }
        let value = self.mantissa as f64 / POWERS_OF_TEN[self.scale];
        Some(if self.negative { -value } else { value })
    }

    /// Whether JavaScript prints the value in the same digits: at most 15 of them, no exponent, no closing zero.
    fn is_canonical(&self, value: f64) -> bool {
        !self.has_exponent
            && self.digits <= 15
            && (self.scale == 0 || (!self.mantissa.is_multiple_of(10) && value.abs() >= 1e-6))
            && !(self.negative && self.mantissa == 0)
    }
}

const POWERS_OF_TEN: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

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

/// Compares short texts of equal length without a call.
fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    match (a.first_chunk::<8>(), b.first_chunk::<8>()) {
        (Some(x), Some(y)) => x == y && a[8..] == b[8..],
        _ => a.iter().zip(b).all(|(x, y)| x == y),
    }
}

/// The first byte from `at` on that is a quote, a backslash or a control character; eight bytes at a time.
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    // The lowest set bit is right; bits above it may be set by a borrow.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let found = control | zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F)) {
        at += 1;
    }
    at
}
