//! Content streams of PDF pages: interprets them, decodes strings by font, and collects the words with their boxes.

use std::collections::HashMap;
use std::ptr;
use std::rc::Rc;

use lopdf::content::{Content, Operation};
use lopdf::{DecompressError, Dictionary, Document, Error, LoadOptions, Object, Stream};

use super::font::{DecodedGlyph, Font};
use super::layout::{Direction, Rect, Word};
use super::matrix::{Matrix, number};
use super::page::{Page, Painted};
use super::page_box::{PageBox, appearance_position};
use super::page_text::PageWriter;
use super::scan::ScanReader;
use super::words::{Glyph, WordBuilder};
use crate::text_sink::TextSink;
use crate::{ExtractError, Source};

/// Maximum unpacked size of a stream in bytes.
const MAX_STREAM_SIZE: usize = 64 << 20;
/// Maximum nesting depth of form XObjects.
const MAX_DEPTH: usize = 8;
/// Maximum number of form XObjects painted by a page, including nested ones.
const MAX_FORMS: usize = 1000;
/// Maximum number of pages.
const MAX_PAGES: usize = 100_000;
/// Maximum number of annotations and form fields of a page.
const MAX_ANNOTATIONS: usize = 1000;
/// Maximum depth of the graphics state stack.
const MAX_STATES: usize = 512;

/// Writes the text of all pages.
pub fn write_text(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let document = open(source.content.bytes)?;
    sink.set_title(&title(&document).unwrap_or_default());
    let mut reader = PageReader {
        document: &document,
        sink,
        fonts: HashMap::new(),
        unpack_budget: source.options.max_unpacked_size as usize,
        forms_left: MAX_FORMS,
        warned_unmapped: false,
        words: WordBuilder::new(source.options.max_characters),
        painted: Painted::Nothing,
    };
    let scans = ScanReader::new(source.content.bytes, source.options.recognition.as_ref());
    let mut writer = PageWriter::new(scans);
    let mut count = 0;
    for page in document.page_iter().take(MAX_PAGES) {
        count += 1;
        let page = reader.page(count, page)?;
        writer.add(page, reader.sink)?;
    }
    writer.finish(reader.sink)?;
    match count {
        0 => Err(ExtractError::corrupt("the PDF has no pages")),
        _ => Ok(()),
    }
}

/// Opens a PDF that needs no password.
fn open(bytes: &[u8]) -> Result<Document, ExtractError> {
    let options = LoadOptions::with_max_decompressed_size(MAX_STREAM_SIZE);
    let document = Document::load_mem_with_options(bytes, options).map_err(open_error)?;
    if document.is_encrypted() { Err(password_error()) } else { Ok(document) }
}

/// Returns the error of a file that a renderer cannot open.
pub fn not_rendered(bytes: &[u8]) -> ExtractError {
    let error = || ExtractError::corrupt("the PDF cannot be opened, or its page needs too much memory");
    open(bytes).err().unwrap_or_else(error)
}

fn open_error(error: Error) -> ExtractError {
    match error {
        Error::InvalidPassword | Error::Decryption(_) | Error::UnsupportedSecurityHandler(_) => password_error(),
        error => too_large(&error).unwrap_or_else(|| ExtractError::corrupt("the PDF cannot be opened")),
    }
}

fn password_error() -> ExtractError {
    ExtractError::encrypted("the PDF needs a password; save it without one")
}

fn too_large(error: &Error) -> Option<ExtractError> {
    let is_limit = matches!(error, Error::Decompress(DecompressError::MemoryLimitExceeded { .. }));
    is_limit.then(|| ExtractError::too_large("the unpacked size of the PDF exceeds the limit"))
}

fn title(document: &Document) -> Option<String> {
    let info = document.trailer.get_deref(b"Info", document).ok()?.as_dict().ok()?;
    lopdf::decode_text_string(info.get_deref(b"Title", document).ok()?).ok()
}

struct PageReader<'d, 'g> {
    document: &'d Document,
    sink: &'g mut TextSink,
    /// Loaded fonts by the address of their dictionary, which is stable.
    fonts: HashMap<*const Dictionary, Rc<Font>>,
    /// Bytes that may still be unpacked.
    unpack_budget: usize,
    forms_left: usize,
    /// `true` if the warning about fonts without a map was added.
    warned_unmapped: bool,
    words: WordBuilder,
    /// Content of the page besides text.
    painted: Painted,
}

type Fonts<'d> = HashMap<Vec<u8>, &'d Dictionary>;

impl<'d> PageReader<'d, '_> {
    fn page(&mut self, number: usize, id: lopdf::ObjectId) -> Result<Page, ExtractError> {
        self.forms_left = MAX_FORMS;
        self.painted = Painted::Nothing;
        let size = PageBox::new(self.document, id);
        self.page_content(id, &size)?;
        let comments = self.annotations(id, &size)?;
        let PageBox { width, height, rotation, .. } = size;
        Ok(Page { number, width, height, rotation, words: self.words.take(), comments, painted: self.painted })
    }

    fn page_content(&mut self, id: lopdf::ObjectId, size: &PageBox) -> Result<(), ExtractError> {
        let limit = self.unpack_budget.min(MAX_STREAM_SIZE);
        let content = match self.document.get_page_content_with_limit(id, limit) {
            Ok(content) => content,
            Err(error) => {
                self.painted = Painted::Unreadable;
                return too_large(&error).map_or(Ok(()), Err);
            }
        };
        let fonts = self.document.get_page_fonts(id).unwrap_or_default().into_iter().collect();
        let (resources, inherited) = self.document.get_page_resources(id).unwrap_or_default();
        let inherited = inherited.first().and_then(|id| self.document.get_dictionary(*id).ok());
        self.content(&content, &fonts, resources.or(inherited), TextMatrices::new(size.to_displayed), 0)
    }

    /// Adds the annotations and form fields of a page to its words, and returns the words of comments.
    fn annotations(&mut self, page: lopdf::ObjectId, size: &PageBox) -> Result<Vec<Word>, ExtractError> {
        let document = self.document;
        let annotations = document.get_dictionary(page).and_then(|page| page.get_deref(b"Annots", document));
        let mut comments = Vec::new();
        for annotation in annotations.and_then(Object::as_array).into_iter().flatten().take(MAX_ANNOTATIONS) {
            let found = document.dereference(annotation).ok().and_then(|(_, annotation)| annotation.as_dict().ok());
            if let Some(annotation) = found.filter(|annotation| is_visible(annotation)) {
                self.annotation(annotation, size, &mut comments)?;
            }
        }
        Ok(comments)
    }

    /// Adds the appearance of an annotation, or its contents to the comments if the appearance has no text.
    fn annotation(
        &mut self,
        annotation: &'d Dictionary,
        size: &PageBox,
        comments: &mut Vec<Word>,
    ) -> Result<(), ExtractError> {
        self.words.end_word();
        let start = self.words.len();
        if let Some(appearance) = appearance_stream(annotation, self.document) {
            let position = appearance_position(annotation, &appearance.dict, self.document);
            let position = position.unwrap_or(Matrix::IDENTITY).then(&size.to_displayed);
            self.form_content(appearance, None, TextMatrices::new(position), 0)?;
            self.words.end_word();
        }
        if self.words.len() > start {
            return Ok(());
        }
        let contents = [&b"Contents"[..], b"V"].into_iter().find_map(|name| {
            let text = annotation.get_deref(name, self.document).ok()?;
            lopdf::decode_text_string(text).ok().filter(|text| !text.trim().is_empty())
        });
        if let Some(contents) = contents {
            let rect = size.annotation_rect(annotation, self.document);
            comments.extend(comment_words(&contents, rect));
        }
        Ok(())
    }

    fn content(
        &mut self,
        content: &[u8],
        fonts: &Fonts<'d>,
        resources: Option<&'d Dictionary>,
        position: TextMatrices,
        depth: usize,
    ) -> Result<(), ExtractError> {
        self.unpack_budget = self.unpack_budget.saturating_sub(content.len());
        let mut states = Vec::new();
        let mut state = State::new(position);
        for operation in Content::decode_iter(content) {
            // The rest of the stream cannot be parsed after an invalid operation.
            let Ok(operation) = operation else {
                self.painted = Painted::Unreadable;
                break;
            };
            match operation.operator.as_str() {
                "f" | "F" | "f*" | "S" | "s" | "B" | "B*" | "b" | "b*" | "sh" => self.paint(Painted::Lines),
                "BI" | "EI" => self.paint(Painted::Image),
                "q" if states.len() < MAX_STATES => states.push(state.clone()),
                "Q" => state = states.pop().unwrap_or(state),
                "Do" if depth < MAX_DEPTH => self.form(&operation, resources, &state, depth)?,
                "Tf" => state.font(&operation, fonts),
                _ => {
                    if state.apply(&operation) {
                        self.show(&operation, &mut state)?;
                    }
                    continue;
                }
            }
        }
        Ok(())
    }

    /// Draws a form XObject.
    fn form(
        &mut self,
        operation: &Operation,
        resources: Option<&'d Dictionary>,
        state: &State<'d>,
        depth: usize,
    ) -> Result<(), ExtractError> {
        let name = operation.operands.first().and_then(|name| name.as_name().ok());
        let (Some(name), Some(forms_left)) = (name, self.forms_left.checked_sub(1)) else { return Ok(()) };
        self.forms_left = forms_left;
        let document = self.document;
        let found = || {
            let forms = resources?.get_deref(b"XObject", document).ok()?.as_dict().ok()?;
            let form = forms.get_deref(name, document).ok()?.as_stream().ok()?;
            matches!(form.dict.get(b"Subtype").and_then(Object::as_name), Ok(b"Form")).then_some(form)
        };
        match found() {
            Some(form) => self.form_content(form, resources, state.position, depth + 1),
            None => {
                self.paint(Painted::Image);
                Ok(())
            }
        }
    }

    fn paint(&mut self, painted: Painted) {
        self.painted = self.painted.max(painted);
    }

    fn form_content(
        &mut self,
        form: &'d Stream,
        resources: Option<&'d Dictionary>,
        position: TextMatrices,
        depth: usize,
    ) -> Result<(), ExtractError> {
        let document = self.document;
        let content = match form.get_plain_content_with_limit(self.unpack_budget.min(MAX_STREAM_SIZE)) {
            Ok(content) => content,
            Err(error) => return too_large(&error).map_or(Ok(()), Err),
        };
        let own_resources = form.dict.get_deref(b"Resources", document).and_then(Object::as_dict).ok();
        let resources = own_resources.or(resources);
        let fonts = fonts_of(document, resources);
        let matrix = form.dict.get_deref(b"Matrix", document).and_then(Object::as_array).ok();
        let form_matrix = matrix.and_then(|numbers| Matrix::from_numbers(numbers)).unwrap_or(Matrix::IDENTITY);
        let position = TextMatrices::new(form_matrix.then(&position.page));
        self.content(&content, &fonts, resources, position, depth)
    }

    /// Adds the strings of a text-showing operation to the words.
    fn show(&mut self, operation: &Operation, state: &mut State<'d>) -> Result<(), ExtractError> {
        let Some(font) = state.font else { return Ok(()) };
        let strings = match operation.operator.as_str() {
            "TJ" => operation.operands.first().and_then(|list| list.as_array().ok()),
            _ => Some(&operation.operands),
        };
        for item in strings.into_iter().flatten() {
            match item {
                Object::String(codes, _) => {
                    for glyph in self.decode(font, codes) {
                        self.glyph(&glyph, state)?;
                    }
                }
                number if operation.operator == "TJ" => {
                    let step = -f64::from(number.as_float().unwrap_or(0.0)) / 1000.0;
                    state.advance(step * state.size * state.scale);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn glyph(&mut self, glyph: &DecodedGlyph, state: &mut State<'d>) -> Result<(), ExtractError> {
        let width = glyph.width * state.size * state.scale;
        self.words.glyph(&Glyph {
            text: glyph.text.as_deref().unwrap_or_default(),
            matrix: state.glyph_matrix(),
            font_size: state.size,
            width,
        })?;
        let word_spacing = if glyph.is_word_space { state.word_spacing } else { 0.0 };
        state.advance(width + (state.char_spacing + word_spacing) * state.scale);
        Ok(())
    }

    fn decode(&mut self, font: &'d Dictionary, codes: &[u8]) -> Vec<DecodedGlyph> {
        let document = self.document;
        let entry = self.fonts.entry(ptr::from_ref(font));
        let loaded = Rc::clone(entry.or_insert_with(|| Rc::new(Font::load(font, document, MAX_STREAM_SIZE))));
        let decoded = loaded.decode(codes);
        if !self.warned_unmapped && decoded.iter().any(|glyph| glyph.text.is_none()) {
            self.warned_unmapped = true;
            self.sink.warn("a font has no character mapping; some text is missing");
        }
        decoded
    }
}

/// Returns the words of a comment, all with the box of the comment.
fn comment_words(contents: &str, rect: Option<Rect>) -> Vec<Word> {
    let rect = rect.unwrap_or(Rect { left: 0.0, top: 0.0, right: 0.0, bottom: 0.0 });
    let word = |(index, text): (usize, &str)| Word {
        text: text.to_owned(),
        rect,
        size: rect.height(),
        direction: Direction::Right,
        follows_space: index > 0,
    };
    contents.split_whitespace().enumerate().map(word).collect()
}

/// Returns whether an annotation is displayed. Links have no text of their own, and pop-ups repeat that of their parent.
fn is_visible(annotation: &Dictionary) -> bool {
    const HIDDEN: i64 = 2;
    let flags = annotation.get(b"F").and_then(Object::as_i64).unwrap_or(0);
    let kind = annotation.get(b"Subtype").and_then(Object::as_name).unwrap_or(b"");
    flags & HIDDEN == 0 && ![&b"Link"[..], b"Popup"].contains(&kind)
}

/// Returns the normal appearance stream of an annotation in its current state.
fn appearance_stream<'d>(annotation: &'d Dictionary, document: &'d Document) -> Option<&'d Stream> {
    let appearances = annotation.get_deref(b"AP", document).ok()?.as_dict().ok()?.get_deref(b"N", document).ok()?;
    if let Ok(states) = appearances.as_dict() {
        let state = annotation.get_deref(b"AS", document).ok()?.as_name().ok()?;
        return states.get_deref(state, document).ok()?.as_stream().ok();
    }
    appearances.as_stream().ok()
}

fn fonts_of<'d>(document: &'d Document, resources: Option<&'d Dictionary>) -> Fonts<'d> {
    let fonts = resources
        .and_then(|resources| resources.get_deref(b"Font", document).ok())
        .and_then(|fonts| fonts.as_dict().ok());
    let loaded = fonts.into_iter().flat_map(Dictionary::iter).filter_map(|(name, font)| {
        let (_, font) = document.dereference(font).ok()?;
        Some((name.clone(), font.as_dict().ok()?))
    });
    loaded.collect()
}

/// The part of the graphics state that affects text.
#[derive(Clone)]
struct State<'d> {
    position: TextMatrices,
    font: Option<&'d Dictionary>,
    size: f64,
    leading: f64,
    /// Character spacing, word spacing, and horizontal scale.
    char_spacing: f64,
    word_spacing: f64,
    scale: f64,
    rise: f64,
}

/// Text line matrix and current transformation matrix.
#[derive(Clone, Copy)]
struct TextMatrices {
    page: Matrix,
    line: Matrix,
    /// Width of the text drawn since the start of the line.
    advanced: f64,
}

impl TextMatrices {
    fn new(page: Matrix) -> Self {
        TextMatrices { page, line: Matrix::IDENTITY, advanced: 0.0 }
    }

    fn set_line(&mut self, line: Matrix) {
        self.line = line;
        self.advanced = 0.0;
    }
}

impl<'d> State<'d> {
    fn new(position: TextMatrices) -> Self {
        State {
            position,
            font: None,
            size: 1.0,
            leading: 0.0,
            char_spacing: 0.0,
            word_spacing: 0.0,
            scale: 1.0,
            rise: 0.0,
        }
    }

    fn font(&mut self, operation: &Operation, fonts: &Fonts<'d>) {
        let name = operation.operands.first().and_then(|name| name.as_name().ok());
        self.font = name.and_then(|name| fonts.get(name).copied());
        self.size = operation.operands.get(1).map_or(1.0, number);
    }

    /// Applies an operation to the state. Returns whether the operation shows text.
    fn apply(&mut self, operation: &Operation) -> bool {
        let operand = |index: usize| operation.operands.get(index).map_or(0.0, number);
        match operation.operator.as_str() {
            "cm" => {
                self.position.page =
                    Matrix::from_numbers(&operation.operands).unwrap_or(Matrix::IDENTITY).then(&self.position.page)
            }
            "BT" => self.position.set_line(Matrix::IDENTITY),
            "Tm" => self.position.set_line(Matrix::from_numbers(&operation.operands).unwrap_or(Matrix::IDENTITY)),
            "TL" => self.leading = operand(0),
            "Tc" => self.char_spacing = operand(0),
            "Tw" => self.word_spacing = operand(0),
            "Ts" => self.rise = operand(0),
            "Tz" => self.scale = operand(0) / 100.0,
            "Td" => self.step(operand(0), operand(1)),
            "TD" => {
                self.leading = -operand(1);
                self.step(operand(0), operand(1));
            }
            "T*" => self.step(0.0, -self.leading),
            "'" => self.step(0.0, -self.leading),
            "\"" => {
                (self.word_spacing, self.char_spacing) = (operand(0), operand(1));
                self.step(0.0, -self.leading);
            }
            _ => {}
        }
        matches!(operation.operator.as_str(), "Tj" | "TJ" | "'" | "\"")
    }

    fn step(&mut self, x: f64, y: f64) {
        self.position.set_line(Matrix::translation(x, y).then(&self.position.line));
    }

    /// Returns the transformation from text space at the next glyph to the displayed page.
    fn glyph_matrix(&self) -> Matrix {
        let TextMatrices { page, line, advanced } = self.position;
        Matrix::translation(advanced, self.rise).then(&line).then(&page)
    }

    fn advance(&mut self, width: f64) {
        self.position.advanced += width;
    }
}
