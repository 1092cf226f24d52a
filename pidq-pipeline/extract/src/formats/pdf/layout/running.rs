//! Running headers and footers: lines at the edges of a page that are repeated on the pages before or after it.

use super::lines::lines_of;
use super::{Direction, Word};

/// Maximum number of lines of a running header, and of a footer.
const MAX_LINES: usize = 4;
/// Part of the page's height in which headers are, and footers.
const EDGE: f32 = 0.2;
/// Largest difference of the heights of a line on two pages, in 1/72 inch.
const TOLERANCE: f32 = 3.0;

/// The lines at the top and at the bottom of a page.
#[derive(Clone, Debug, Default)]
pub struct PageEdges {
    /// From the edge of the page inward.
    top: Vec<EdgeLine>,
    bottom: Vec<EdgeLine>,
}

#[derive(Clone, Debug)]
struct EdgeLine {
    words: Vec<usize>,
    /// Text without spaces, each number replaced by `#`.
    pattern: String,
    y: f32,
}

impl PageEdges {
    /// Finds the lines at the edges of a page of a height.
    pub fn new(words: &[Word], height: f32) -> PageEdges {
        let near = |is_near: &dyn Fn(f32) -> bool| -> Vec<usize> {
            let indexes = (0..words.len()).filter(|&index| words[index].direction == Direction::Right);
            indexes.filter(|&index| is_near(words[index].rect.center_y())).collect()
        };
        let edge = |region: Vec<usize>| {
            lines_of(words, &region).into_iter().map(|line| EdgeLine {
                pattern: pattern(line.words.iter().map(|&index| words[index].text.as_str())),
                y: line.baseline,
                words: line.words,
            })
        };
        let top = edge(near(&|y| y < height * EDGE));
        let bottom = edge(near(&|y| y > height * (1.0 - EDGE)));
        PageEdges { top: top.take(MAX_LINES).collect(), bottom: bottom.rev().take(MAX_LINES).collect() }
    }
}

/// Returns the words of the running headers and of the running footers of a page, in order, given the edges of the pages
/// around it.
pub fn running_lines(page: &PageEdges, others: &[&PageEdges]) -> (Vec<usize>, Vec<usize>) {
    let repeated = |lines: &[EdgeLine], edge: fn(&PageEdges) -> &[EdgeLine]| {
        let is_repeated =
            |line: &&EdgeLine| others.iter().any(|other| edge(other).iter().any(|other| line.repeats(other)));
        lines.iter().take_while(is_repeated).count()
    };
    let headers = &page.top[..repeated(&page.top, |edges| &edges.top)];
    let footers = &page.bottom[..repeated(&page.bottom, |edges| &edges.bottom)];
    let words = |line: &EdgeLine| line.words.clone();
    (headers.iter().flat_map(words).collect(), footers.iter().rev().flat_map(words).collect())
}

impl EdgeLine {
    fn repeats(&self, other: &EdgeLine) -> bool {
        self.pattern == other.pattern && (self.y - other.y).abs() <= TOLERANCE
    }
}

/// Returns the text of a line with `#` for each number.
fn pattern<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut pattern = String::new();
    for c in words.flat_map(str::chars) {
        match c.is_ascii_digit() {
            true if pattern.ends_with('#') => {}
            true => pattern.push('#'),
            false => pattern.push(c),
        }
    }
    pattern
}
