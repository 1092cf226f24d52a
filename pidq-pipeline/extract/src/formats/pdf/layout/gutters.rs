//! Gutters: tall empty rectangles between words, and the zones of columns that they separate.

use super::lines::median;
use super::{Rect, Word};

/// Smallest width of a gutter by the number of lines beside it, relative to the font size: a narrow one must be tall, so that
/// gaps between words that happen to be below each other are none.
const MIN_WIDTH: &[(usize, f32)] = &[(2, 2.0), (4, 1.2), (6, 0.7)];
/// Height of the slices of the page, relative to the font size.
const SLICE: f32 = 0.4;
/// Maximum number of slices of a region.
const MAX_SLICES: usize = 4000;
/// Maximum number of empty rectangles that are followed from slice to slice.
const MAX_OPEN: usize = 256;
/// Smallest part of the height of a zone at which a further gutter of it is empty.
const MIN_SHARE: f32 = 0.8;

/// A part of a page that gutters divide into columns.
#[derive(Debug)]
pub struct Zone {
    pub top: f32,
    pub bottom: f32,
    /// Middles of the gutters, from left to right.
    gutters: Vec<f32>,
}

impl Zone {
    /// Returns the words of each column, from left to right.
    pub fn columns(&self, words: &[Word], inside: Vec<usize>) -> Vec<Vec<usize>> {
        let mut columns = vec![Vec::new(); self.gutters.len() + 1];
        for index in inside {
            columns[self.gutters.partition_point(|&gutter| gutter < words[index].rect.center_x())].push(index);
        }
        columns.retain(|column| !column.is_empty());
        columns
    }
}

/// An empty rectangle with text on both sides.
#[derive(Clone, Copy, Debug)]
struct Gutter {
    rect: Rect,
    /// Number of lines beside it, on the side that has fewer.
    lines: usize,
}

/// Returns the zone with the tallest gutter of a region. Takes from `steps`, and finds none if they are used up.
pub fn find_zone(words: &[Word], region: &[usize], steps: &mut usize) -> Option<Zone> {
    if region.len() < 4 {
        return None;
    }
    *steps = steps.checked_sub(region.len())?;
    let size = median(region.iter().map(|&index| words[index].size).collect()).max(0.1);
    let sides = Sides::new(words, region);
    let mut gutters = Vec::new();
    for rect in empty_rects(words, region, size, steps)? {
        *steps = steps.checked_sub(sides.lefts.len())?;
        let lines = sides.lines_beside(&rect);
        if MIN_WIDTH.iter().any(|&(count, width)| lines >= count && rect.width() >= width * size) {
            gutters.push(Gutter { rect, lines });
        }
    }
    let order = |gutter: &Gutter| (gutter.lines, gutter.rect.width());
    gutters.sort_by(|a, b| order(b).partial_cmp(&order(a)).unwrap_or(std::cmp::Ordering::Equal));
    let best = gutters.first()?.rect;
    let mut chosen: Vec<Rect> = vec![best];
    for gutter in &gutters[1..] {
        let shared = gutter.rect.bottom.min(best.bottom) - gutter.rect.top.max(best.top);
        let is_apart = |other: &Rect| gutter.rect.right <= other.left || gutter.rect.left >= other.right;
        if shared >= MIN_SHARE * best.height() && chosen.iter().all(is_apart) {
            chosen.push(gutter.rect);
        }
    }
    let mut middles: Vec<f32> = chosen.iter().map(Rect::center_x).collect();
    middles.sort_by(f32::total_cmp);
    Some(Zone { top: best.top, bottom: best.bottom, gutters: middles })
}

/// Words sorted by height, for counting the lines beside a rectangle.
struct Sides {
    /// Center, left and right of each word, from top to bottom.
    lefts: Vec<(f32, f32, f32, f32)>,
}

impl Sides {
    fn new(words: &[Word], region: &[usize]) -> Sides {
        let mut lefts: Vec<_> = region
            .iter()
            .map(|&index| {
                let Word { rect, size, .. } = &words[index];
                (rect.center_y(), rect.left, rect.right, *size)
            })
            .collect();
        lefts.sort_by(|a, b| a.0.total_cmp(&b.0));
        Sides { lefts }
    }

    fn lines_beside(&self, gutter: &Rect) -> usize {
        let (mut left, mut right) = ((0, f32::MIN), (0, f32::MIN));
        let start = self.lefts.partition_point(|word| word.0 < gutter.top);
        for &(center, word_left, word_right, size) in &self.lefts[start..] {
            if center > gutter.bottom {
                break;
            }
            let side = match () {
                () if word_right <= gutter.left + 0.01 => &mut left,
                () if word_left >= gutter.right - 0.01 => &mut right,
                () => continue,
            };
            if center > side.1 + size * 0.5 {
                *side = (side.0 + 1, center);
            }
        }
        left.0.min(right.0)
    }
}

/// An empty rectangle that may continue in the next slice.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Open {
    left: f32,
    right: f32,
    /// Its first slice.
    start: usize,
}

/// Returns the largest empty rectangles of a region, none of which contains another.
fn empty_rects(words: &[Word], region: &[usize], size: f32, steps: &mut usize) -> Option<Vec<Rect>> {
    let bounds = region.iter().map(|&index| words[index].rect).reduce(|a, b| a.union(&b))?;
    let height = (size * SLICE).max(bounds.height() / MAX_SLICES as f32).max(0.01);
    let slices = slices(words, region, &bounds, height, steps)?;
    let y = |slice: usize| bounds.top + slice as f32 * height;
    let min_width = MIN_WIDTH.iter().map(|&(_, width)| width * size).fold(f32::MAX, f32::min);
    let (mut open, mut found): (Vec<Open>, Vec<Rect>) = (Vec::new(), Vec::new());
    for (slice, taken) in slices.iter().chain([&vec![(bounds.left, bounds.right)]]).enumerate() {
        let mut next: Vec<Open> = Vec::new();
        let gaps: Vec<(f32, f32)> = gaps(taken, &bounds).filter(|gap| gap.1 - gap.0 >= min_width).collect();
        *steps = steps.checked_sub((open.len() + 1) * (gaps.len() + 1))?;
        // Those that started earlier come first, and are kept if there are too many.
        for rect in &open {
            for gap in &gaps {
                let (left, right) = (rect.left.max(gap.0), rect.right.min(gap.1));
                if right - left >= min_width {
                    next.push(Open { left, right, start: rect.start });
                }
            }
        }
        next.extend(gaps.iter().map(|&(left, right)| Open { left, right, start: slice }));
        let next = without_contained(next, steps)?;
        let ended = open.iter().filter(|rect| !next.contains(rect));
        let has_both_sides = |rect: &&Open| rect.left > bounds.left && rect.right < bounds.right;
        found.extend(ended.filter(has_both_sides).map(|rect| Rect {
            left: rect.left,
            top: y(rect.start),
            right: rect.right,
            bottom: y(slice),
        }));
        open = next;
    }
    Some(found)
}

/// Removes rectangles that an older one contains.
fn without_contained(mut rects: Vec<Open>, steps: &mut usize) -> Option<Vec<Open>> {
    rects.sort_by(|a, b| a.start.cmp(&b.start).then((b.right - b.left).total_cmp(&(a.right - a.left))));
    let mut kept: Vec<Open> = Vec::new();
    for rect in rects {
        *steps = steps.checked_sub(kept.len() + 1)?;
        let is_contained = kept.iter().any(|other| other.left <= rect.left && other.right >= rect.right);
        if !is_contained && kept.len() < MAX_OPEN {
            kept.push(rect);
        }
    }
    Some(kept)
}

/// Returns the horizontal intervals that words take in each slice, merged and in order.
fn slices(
    words: &[Word],
    region: &[usize],
    bounds: &Rect,
    height: f32,
    steps: &mut usize,
) -> Option<Vec<Vec<(f32, f32)>>> {
    let count = ((bounds.height() / height).ceil() as usize).clamp(1, MAX_SLICES + 1);
    let mut slices: Vec<Vec<(f32, f32)>> = vec![Vec::new(); count];
    let slice = |y: f32| (((y - bounds.top) / height).max(0.0) as usize).min(count - 1);
    for &index in region {
        let rect = &words[index].rect;
        let margin = rect.height() * 0.25;
        let first = slice(rect.top + margin);
        let last = slice(rect.bottom - margin).max(first);
        *steps = steps.checked_sub(last - first + 1)?;
        for taken in &mut slices[first..=last] {
            taken.push((rect.left, rect.right));
        }
    }
    for taken in &mut slices {
        taken.sort_by(|a, b| a.0.total_cmp(&b.0));
        taken.dedup_by(|next, previous| {
            let is_joined = next.0 <= previous.1;
            if is_joined {
                previous.1 = previous.1.max(next.1);
            }
            is_joined
        });
    }
    Some(slices)
}

/// Returns the intervals between the taken ones, and those to both edges.
fn gaps<'t>(taken: &'t [(f32, f32)], bounds: &Rect) -> impl Iterator<Item = (f32, f32)> + 't {
    let starts = [bounds.left].into_iter().chain(taken.iter().map(|interval| interval.1));
    let ends = taken.iter().map(|interval| interval.0).chain([bounds.right]);
    starts.zip(ends).filter(|gap| gap.1 > gap.0)
}
