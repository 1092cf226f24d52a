//! Size and rotation of PDF pages, and the positions of annotations.

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::layout::Rect;
use super::matrix::{Matrix, number};

/// Maximum number of parents of a page that are searched for an inherited entry.
const MAX_PARENTS: usize = 64;
/// Box of pages without one: US Letter.
const DEFAULT_BOX: [f64; 4] = [0.0, 0.0, 612.0, 792.0];

/// Size of a page as displayed, and the transformation from the page's own coordinates to those of the displayed page, whose
/// origin is at the top left.
#[derive(Clone, Copy, Debug)]
pub struct PageBox {
    pub width: f32,
    pub height: f32,
    /// Clockwise turn in degrees: 0, 90, 180 or 270.
    pub rotation: u16,
    pub to_displayed: Matrix,
}

impl PageBox {
    pub fn new(document: &Document, page: ObjectId) -> PageBox {
        let of_name = |name: &[u8]| inherited(document, page, name).and_then(|object| rectangle(object, document));
        let media = of_name(b"MediaBox").unwrap_or(DEFAULT_BOX);
        let [left, bottom, right, top] =
            of_name(b"CropBox").and_then(|crop| intersection(crop, media)).unwrap_or(media);
        let turns = inherited(document, page, b"Rotate").and_then(|object| object.as_i64().ok()).unwrap_or(0);
        let (width, height) = ((right - left) as f32, (top - bottom) as f32);
        let (rotation, matrix, (width, height)) = match turns.rem_euclid(360) {
            90 => (90, [0.0, 1.0, 1.0, 0.0, -bottom, -left], (height, width)),
            180 => (180, [-1.0, 0.0, 0.0, 1.0, right, -bottom], (width, height)),
            270 => (270, [0.0, -1.0, -1.0, 0.0, top, right], (height, width)),
            _ => (0, [1.0, 0.0, 0.0, -1.0, -left, top], (width, height)),
        };
        PageBox { width, height, rotation, to_displayed: Matrix(matrix) }
    }

    /// Returns the box of an annotation on the displayed page.
    pub fn annotation_rect(&self, annotation: &Dictionary, document: &Document) -> Option<Rect> {
        let [left, bottom, right, top] = rectangle(annotation.get(b"Rect").ok()?, document)?;
        let (a, b) = (self.to_displayed.apply(left, bottom), self.to_displayed.apply(right, top));
        let (left, right) = (a.0.min(b.0) as f32, a.0.max(b.0) as f32);
        Some(Rect { left, top: a.1.min(b.1) as f32, right, bottom: a.1.max(b.1) as f32 })
    }
}

/// Returns the transformation that moves the appearance of an annotation to its rectangle.
pub fn appearance_position(annotation: &Dictionary, form: &Dictionary, document: &Document) -> Option<Matrix> {
    let target = rectangle(annotation.get(b"Rect").ok()?, document)?;
    let source = rectangle(form.get(b"BBox").ok()?, document)?;
    let matrix = form.get_deref(b"Matrix", document).and_then(Object::as_array).ok();
    let matrix = matrix.and_then(|numbers| Matrix::from_numbers(numbers)).unwrap_or(Matrix::IDENTITY);
    let (a, b) = (matrix.apply(source[0], source[1]), matrix.apply(source[2], source[3]));
    let (left, bottom) = (a.0.min(b.0), a.1.min(b.1));
    let scale = |from: f64, to: f64| if from.abs() > 1e-6 { to / from } else { 1.0 };
    let x = scale((b.0 - a.0).abs(), target[2] - target[0]);
    let y = scale((b.1 - a.1).abs(), target[3] - target[1]);
    Some(Matrix([x, 0.0, 0.0, y, target[0] - left * x, target[1] - bottom * y]))
}

/// Returns an entry of a page or of the nearest parent that has it.
fn inherited<'d>(document: &'d Document, page: ObjectId, name: &[u8]) -> Option<&'d Object> {
    let mut node = document.get_dictionary(page).ok()?;
    for _ in 0..MAX_PARENTS {
        if let Ok(object) = node.get_deref(name, document) {
            return Some(object);
        }
        node = node.get_deref(b"Parent", document).ok()?.as_dict().ok()?;
    }
    None
}

/// Returns a rectangle as left, bottom, right and top; none if it is empty.
fn rectangle(object: &Object, document: &Document) -> Option<[f64; 4]> {
    let (_, object) = document.dereference(object).ok()?;
    let numbers = object.as_array().ok()?.iter();
    let numbers = numbers.map(|item| document.dereference(item).map_or(0.0, |(_, found)| number(found)));
    let [a, b, c, d]: [f64; 4] = numbers.collect::<Vec<f64>>().try_into().ok()?;
    let found = [a.min(c), b.min(d), a.max(c), b.max(d)];
    (found[2] - found[0] > 0.0 && found[3] - found[1] > 0.0).then_some(found)
}

/// Returns the common part of two rectangles: no part of a page outside of its medium is displayed.
fn intersection(a: [f64; 4], b: [f64; 4]) -> Option<[f64; 4]> {
    let found = [a[0].max(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].min(b[3])];
    (found[2] - found[0] > 0.0 && found[3] - found[1] > 0.0).then_some(found)
}
