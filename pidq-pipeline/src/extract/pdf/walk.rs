//! The text of a PDF as its pages show it: strings by the maps of their fonts, lines by where they stand.

use std::collections::HashMap;
use std::ptr;
use std::rc::Rc;

use lopdf::content::{Content, Operation};
use lopdf::{DecompressError, Dictionary, Document, Error, LoadOptions, Object, Stream};

use super::font::{Font, Shown};
use crate::extract::gather::Gather;
use crate::extract::{Failure, Source};

/// Bytes that one stream unpacks to.
const MAX_STREAM: usize = 64 << 20;
/// Forms in forms.
const MAX_DEPTH: usize = 8;
/// Forms that a page shows, with those in them.
const MAX_FORMS: usize = 1000;
/// Pages.
const MAX_PAGES: usize = 100_000;
/// Notes and fields of a page.
const MAX_NOTES: usize = 1000;
/// States that a page keeps for later.
const MAX_STATES: usize = 512;

/// Adds the pages of a document.
pub fn text(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let options = LoadOptions::with_max_decompressed_size(MAX_STREAM);
    let document = Document::load_mem_with_options(source.look.bytes, options).map_err(refused)?;
    if document.is_encrypted() {
        return Err(secret());
    }
    gather.title(&title(&document).unwrap_or_default());
    let mut walk = Walk {
        document: &document,
        gather,
        ready: HashMap::new(),
        left: source.options.unpacked as usize,
        forms: MAX_FORMS,
        unmapped: false,
    };
    let mut count = 0;
    for page in document.page_iter().take(MAX_PAGES) {
        count += 1;
        walk.page(count, page)?;
    }
    match count {
        0 => Err(Failure::corrupt("the PDF has no pages")),
        _ => Ok(()),
    }
}

fn refused(error: Error) -> Failure {
    match error {
        Error::InvalidPassword | Error::Decryption(_) | Error::UnsupportedSecurityHandler(_) => secret(),
        error => too_large(&error).unwrap_or_else(|| Failure::corrupt("the PDF cannot be opened")),
    }
}

fn secret() -> Failure {
    Failure::encrypted("the PDF needs a password; save it without one")
}

fn too_large(error: &Error) -> Option<Failure> {
    let is_it = matches!(error, Error::Decompress(DecompressError::MemoryLimitExceeded { .. }));
    is_it.then(|| Failure::large("the PDF unpacks to more than its limit"))
}

fn title(document: &Document) -> Option<String> {
    let info = document.trailer.get_deref(b"Info", document).ok()?.as_dict().ok()?;
    lopdf::decode_text_string(info.get_deref(b"Title", document).ok()?).ok()
}

struct Walk<'d, 'g> {
    document: &'d Document,
    gather: &'g mut Gather,
    /// Fonts that were read, by their address, which stays where it is.
    ready: HashMap<*const Dictionary, Rc<Font>>,
    /// Bytes of content that may still be unpacked.
    left: usize,
    forms: usize,
    /// Whether it was said that a font has no map.
    unmapped: bool,
}

type Fonts<'d> = HashMap<Vec<u8>, &'d Dictionary>;

impl<'d> Walk<'d, '_> {
    fn page(&mut self, number: usize, id: lopdf::ObjectId) -> Result<(), Failure> {
        self.gather.page(number.to_string())?;
        self.forms = MAX_FORMS;
        let limit = self.left.min(MAX_STREAM);
        let content = match self.document.get_page_content_with_limit(id, limit) {
            Ok(content) => content,
            Err(error) => return too_large(&error).map_or(Ok(()), Err),
        };
        let fonts = self.document.get_page_fonts(id).unwrap_or_default().into_iter().collect();
        let (own, inherited) = self.document.get_page_resources(id).unwrap_or_default();
        let inherited = inherited.first().and_then(|id| self.document.get_dictionary(*id).ok());
        self.content(&content, &fonts, own.or(inherited), Place::default(), 0)?;
        self.notes(id)
    }

    /// Notes and the fields of forms, which stand on a page and not in it.
    fn notes(&mut self, page: lopdf::ObjectId) -> Result<(), Failure> {
        let document = self.document;
        let notes = document.get_dictionary(page).and_then(|page| page.get_deref(b"Annots", document));
        for note in notes.and_then(Object::as_array).into_iter().flatten().take(MAX_NOTES) {
            let found = document.dereference(note).ok().and_then(|(_, note)| note.as_dict().ok());
            if let Some(note) = found.filter(|note| is_shown(note)) {
                self.note(note)?;
            }
        }
        Ok(())
    }

    /// What a note looks like; what it says, if it only has a sign.
    fn note(&mut self, note: &'d Dictionary) -> Result<(), Failure> {
        let before = self.gather.page_text().len();
        if let Some(look) = look(note, self.document) {
            self.drawn(look, None, Place::default(), 0)?;
        }
        let said = [&b"Contents"[..], b"V"].into_iter().find_map(|name| {
            let said = note.get_deref(name, self.document).ok()?;
            lopdf::decode_text_string(said).ok().filter(|said| !said.trim().is_empty())
        });
        match said {
            Some(said) if self.gather.page_text()[before..].trim().is_empty() => {
                self.gather.line()?;
                self.gather.push(&said)?;
                self.gather.line()
            }
            _ => Ok(()),
        }
    }

    fn content(
        &mut self,
        content: &[u8],
        fonts: &Fonts<'d>,
        resources: Option<&'d Dictionary>,
        place: Place,
        depth: usize,
    ) -> Result<(), Failure> {
        self.left = self.left.saturating_sub(content.len());
        let mut states = Vec::new();
        let mut state = State::at(place);
        let mut pen = Pen::default();
        for operation in Content::decode_iter(content) {
            // What comes after a broken operation cannot be told from it.
            let Ok(operation) = operation else { break };
            match operation.operator.as_str() {
                "q" if states.len() < MAX_STATES => states.push(state.clone()),
                "Q" => state = states.pop().unwrap_or(state),
                "Do" if depth < MAX_DEPTH => self.form(&operation, resources, &state, depth)?,
                "Tf" => state.font(&operation, fonts),
                _ => {
                    if state.moves(&operation) {
                        self.show(&operation, &state, &mut pen)?;
                    }
                    continue;
                }
            }
        }
        self.gather.line()
    }

    /// What a form shows, where it shows it.
    fn form(
        &mut self,
        operation: &Operation,
        resources: Option<&'d Dictionary>,
        state: &State<'d>,
        depth: usize,
    ) -> Result<(), Failure> {
        let name = operation.operands.first().and_then(|name| name.as_name().ok());
        let (Some(name), Some(left)) = (name, self.forms.checked_sub(1)) else { return Ok(()) };
        self.forms = left;
        let document = self.document;
        let found = || {
            let forms = resources?.get_deref(b"XObject", document).ok()?.as_dict().ok()?;
            let form = forms.get_deref(name, document).ok()?.as_stream().ok()?;
            matches!(form.dict.get(b"Subtype").and_then(Object::as_name), Ok(b"Form")).then_some(form)
        };
        match found() {
            Some(form) => self.drawn(form, resources, state.place, depth + 1),
            None => Ok(()),
        }
    }

    fn drawn(
        &mut self,
        form: &'d Stream,
        resources: Option<&'d Dictionary>,
        place: Place,
        depth: usize,
    ) -> Result<(), Failure> {
        let document = self.document;
        let content = match form.get_plain_content_with_limit(self.left.min(MAX_STREAM)) {
            Ok(content) => content,
            Err(error) => return too_large(&error).map_or(Ok(()), Err),
        };
        let own = form.dict.get_deref(b"Resources", document).and_then(Object::as_dict).ok();
        let resources = own.or(resources);
        let fonts = fonts_of(document, resources);
        let matrix = form.dict.get_deref(b"Matrix", document).and_then(Object::as_array).ok();
        let moved = matrix.and_then(|numbers| Matrix::of(numbers)).unwrap_or(Matrix::UNIT);
        let place = Place { page: moved.then(&place.page), ..Place::default() };
        self.content(&content, &fonts, resources, place, depth)
    }

    /// The strings of an operation, one after another; a large step between two is a blank.
    fn show(&mut self, operation: &Operation, state: &State<'d>, pen: &mut Pen) -> Result<(), Failure> {
        let Some(font) = state.font else { return Ok(()) };
        pen.go(state, self.gather)?;
        let strings = match operation.operator.as_str() {
            "TJ" => operation.operands.first().and_then(|list| list.as_array().ok()),
            _ => Some(&operation.operands),
        };
        for item in strings.into_iter().flatten() {
            match item {
                Object::String(codes, _) => {
                    let shown = self.read(font, codes);
                    pen.advance(state, &shown);
                    self.gather.push(&shown.text)?;
                }
                number if operation.operator == "TJ" => {
                    let step = -f64::from(number.as_float().unwrap_or(0.0)) / 1000.0;
                    pen.step(state, step);
                    if step > 0.2 && !self.gather.page_text().ends_with([' ', '\n']) {
                        self.gather.push(" ")?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read(&mut self, font: &'d Dictionary, codes: &[u8]) -> Shown {
        let document = self.document;
        let ready = self.ready.entry(ptr::from_ref(font));
        let ready = Rc::clone(ready.or_insert_with(|| Rc::new(Font::of(font, document, MAX_STREAM))));
        let shown = ready.show(codes);
        if shown.unknown && !self.unmapped {
            self.unmapped = true;
            self.gather.warn("a font does not say which characters it shows: some text is missing");
        }
        shown
    }
}

/// Whether a note is one that a reader sees: links have no text of their own, and what pops up says it twice.
fn is_shown(note: &Dictionary) -> bool {
    const HIDDEN: i64 = 2;
    let flags = note.get(b"F").and_then(Object::as_i64).unwrap_or(0);
    let kind = note.get(b"Subtype").and_then(Object::as_name).unwrap_or(b"");
    flags & HIDDEN == 0 && ![&b"Link"[..], b"Popup"].contains(&kind)
}

/// How a note looks, in the state in which it is.
fn look<'d>(note: &'d Dictionary, document: &'d Document) -> Option<&'d Stream> {
    let looks = note.get_deref(b"AP", document).ok()?.as_dict().ok()?.get_deref(b"N", document).ok()?;
    if let Ok(states) = looks.as_dict() {
        let state = note.get_deref(b"AS", document).ok()?.as_name().ok()?;
        return states.get_deref(state, document).ok()?.as_stream().ok();
    }
    looks.as_stream().ok()
}

fn fonts_of<'d>(document: &'d Document, resources: Option<&'d Dictionary>) -> Fonts<'d> {
    let fonts = resources.and_then(|own| own.get_deref(b"Font", document).ok()).and_then(|fonts| fonts.as_dict().ok());
    let each = fonts.into_iter().flat_map(Dictionary::iter).filter_map(|(name, font)| {
        let (_, font) = document.dereference(font).ok()?;
        Some((name.clone(), font.as_dict().ok()?))
    });
    each.collect()
}

/// The state of a page that matters for its text.
#[derive(Clone)]
struct State<'d> {
    place: Place,
    font: Option<&'d Dictionary>,
    size: f64,
    leading: f64,
    /// What is added behind each code, and behind each blank; how wide all is drawn.
    letters: f64,
    words: f64,
    scale: f64,
}

/// Where text stands: on its line, and what is drawn on the page.
#[derive(Clone, Copy)]
struct Place {
    page: Matrix,
    line: Matrix,
}

impl Default for Place {
    fn default() -> Self {
        Place { page: Matrix::UNIT, line: Matrix::UNIT }
    }
}

impl<'d> State<'d> {
    fn at(place: Place) -> Self {
        State { place, font: None, size: 1.0, leading: 0.0, letters: 0.0, words: 0.0, scale: 1.0 }
    }

    fn font(&mut self, operation: &Operation, fonts: &Fonts<'d>) {
        let name = operation.operands.first().and_then(|name| name.as_name().ok());
        self.font = name.and_then(|name| fonts.get(name).copied());
        self.size = operation.operands.get(1).map_or(1.0, number);
    }

    /// Moves as an operation says; whether it then shows text.
    fn moves(&mut self, operation: &Operation) -> bool {
        let at = |index: usize| operation.operands.get(index).map_or(0.0, number);
        match operation.operator.as_str() {
            "cm" => self.place.page = Matrix::of(&operation.operands).unwrap_or(Matrix::UNIT).then(&self.place.page),
            "BT" => self.place.line = Matrix::UNIT,
            "Tm" => self.place.line = Matrix::of(&operation.operands).unwrap_or(Matrix::UNIT),
            "TL" => self.leading = at(0),
            "Tc" => self.letters = at(0),
            "Tw" => self.words = at(0),
            "Tz" => self.scale = at(0) / 100.0,
            "Td" => self.step(at(0), at(1)),
            "TD" => {
                self.leading = -at(1);
                self.step(at(0), at(1));
            }
            "T*" => self.step(0.0, -self.leading),
            "'" | "\"" => self.step(0.0, -self.leading),
            _ => {}
        }
        matches!(operation.operator.as_str(), "Tj" | "TJ" | "'" | "\"")
    }

    fn step(&mut self, x: f64, y: f64) {
        self.place.line = Matrix([1.0, 0.0, 0.0, 1.0, x, y]).then(&self.place.line);
    }
}

/// Where the last text ended.
#[derive(Default)]
struct Pen {
    at: Option<(f64, f64)>,
    /// Where the text that is being shown began, before it goes on.
    from: Option<Matrix>,
    gone: f64,
}

impl Pen {
    /// Goes to where text is shown next: another line, or the same after a gap or none.
    fn go(&mut self, state: &State<'_>, gather: &mut Gather) -> Result<(), Failure> {
        let line = state.place.line.then(&state.place.page);
        // Two strings in a row without a move between: the second follows the first.
        if self.from == Some(line) {
            return Ok(());
        }
        let size = line.height(state.size);
        if let Some(before) = self.at {
            let (ahead, aside) = line.seen_from(before);
            if aside.abs() > size * 0.5 {
                gather.line()?;
            } else if (ahead > size * 0.15 || ahead < -size) && !gather.page_text().ends_with([' ', '\n']) {
                gather.push(" ")?;
            }
        }
        self.from = Some(line);
        self.gone = 0.0;
        self.at = Some((line.0[4], line.0[5]));
        Ok(())
    }

    /// Goes on as far as codes do.
    fn advance(&mut self, state: &State<'_>, shown: &Shown) {
        let spaces = state.letters * shown.codes as f64 + state.words * shown.blanks as f64;
        self.gone += spaces * state.scale;
        self.step(state, shown.width);
    }

    fn step(&mut self, state: &State<'_>, sizes: f64) {
        self.gone += sizes * state.size * state.scale;
        if let Some(from) = self.from {
            self.at = Some(from.apply(self.gone, 0.0));
        }
    }
}

/// A move, a turn and a stretch, as PDF writes them.
#[derive(Clone, Copy, PartialEq)]
struct Matrix([f64; 6]);

impl Matrix {
    const UNIT: Matrix = Matrix([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn of(numbers: &[Object]) -> Option<Matrix> {
        let values: Vec<f64> = numbers.iter().map(number).collect();
        Some(Matrix(values.try_into().ok()?))
    }

    fn then(&self, next: &Matrix) -> Matrix {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, next.0);
        Matrix([a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l])
    }

    fn apply(&self, x: f64, y: f64) -> (f64, f64) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    /// How far a line begins from a point: along itself, and beside.
    fn seen_from(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let [a, b, _, _, e, f] = self.0;
        let length = a.hypot(b).max(1e-9);
        let (along, up) = (a / length, b / length);
        let (right, above) = (e - x, f - y);
        (right * along + above * up, above * along - right * up)
    }

    /// How high text of a size is on the page.
    fn height(&self, size: f64) -> f64 {
        let [_, _, c, d, _, _] = self.0;
        (c.hypot(d) * size).abs().max(0.01)
    }
}

fn number(object: &Object) -> f64 {
    object.as_float().map_or(0.0, f64::from)
}
