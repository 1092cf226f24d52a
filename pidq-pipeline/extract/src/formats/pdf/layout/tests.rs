//! Reading order of pages that are drawn as text: a character is 5 wide, a line 12 high, and the font size is 10.

use super::*;

const CHARACTER: f32 = 5.0;
const LINE: f32 = 12.0;
const SIZE: f32 = 10.0;

fn word(text: &str, left: f32, top: f32, size: f32) -> Word {
    let right = left + text.chars().count() as f32 * size / 2.0;
    let rect = Rect { left, top, right, bottom: top + size };
    Word { text: text.into(), rect, size, direction: Direction::Right, follows_space: true }
}

/// Returns the words of a drawn page.
fn page(drawn: &[&str]) -> Vec<Word> {
    let mut words = Vec::new();
    for (row, line) in drawn.iter().enumerate() {
        for text in line.split_whitespace() {
            let column = (text.as_ptr() as usize - line.as_ptr() as usize) as f32;
            words.push(word(text, column * CHARACTER, row as f32 * LINE, SIZE));
        }
    }
    words
}

/// Returns the text in reading order: `/` ends a line within a cell, `|` a cell, and an empty line a paragraph.
fn text(words: &[Word]) -> String {
    let mut text = String::new();
    for placed in reading_order(words) {
        text.push_str(match placed.separator {
            _ if text.is_empty() => "",
            Separator::Nothing => "",
            Separator::Space => " ",
            Separator::CellLine => "/",
            Separator::Cell => "|",
            Separator::Line | Separator::Column => "\n",
            Separator::Paragraph => "\n\n",
        });
        text.push_str(&words[placed.word].text);
    }
    text
}

#[track_caller]
fn assert_order(drawn: &[&str], expected: &[&str]) {
    assert_eq!(text(&page(drawn)), expected.join("\n"));
}

#[test]
fn lines_are_read_from_top_to_bottom() {
    assert_order(&[], &[]);
    assert_order(&["b c", "a"], &["b c", "a"]);
    assert_order(&["one two", "three", "", "four"], &["one two", "three", "", "four"]);
}

#[test]
fn the_order_of_drawing_does_not_matter() {
    let mut words = page(&["one two three", "four five six"]);
    words.reverse();
    assert_eq!(text(&words), "one two three\nfour five six");
}

#[test]
fn columns_are_read_one_after_the_other() {
    assert_order(
        &[
            "aa bb cc dd ee    mm nn oo pp qq",
            "ff gg hh ii       rr ss tt uu vv",
            "aa bb cc dd ee    ww xx yy zz",
            "ff gg hh ii jj    mm nn oo pp qq",
        ],
        &[
            "aa bb cc dd ee",
            "ff gg hh ii",
            "aa bb cc dd ee",
            "ff gg hh ii jj",
            "mm nn oo pp qq",
            "rr ss tt uu vv",
            "ww xx yy zz",
            "mm nn oo pp qq",
        ],
    );
}

#[test]
fn text_across_the_page_separates_columns() {
    let columns = ["aa bb cc dd ee    mm nn oo pp qq", "ff gg hh ii jj    rr ss tt uu vv"];
    let title = "a title that is as wide as the page";
    let drawn = [&[title][..], &columns, &columns, &[title], &columns, &columns].concat();
    let left = ["aa bb cc dd ee", "ff gg hh ii jj"].repeat(2);
    let right = ["mm nn oo pp qq", "rr ss tt uu vv"].repeat(2);
    let zone = [left, right].concat();
    assert_order(&drawn, &[&[title, ""], &zone[..], &["", title, ""], &zone[..]].concat());
}

#[test]
fn tables_are_read_row_by_row() {
    assert_order(
        &["tag      service    bar", "P-101A   feed       12", "P-101B   spare      12", "V-201    drum       3"],
        &["tag|service|bar", "P-101A|feed|12", "P-101B|spare|12", "V-201|drum|3"],
    );
}

#[test]
fn cells_of_several_lines_are_read_as_a_whole() {
    assert_order(
        &[
            "V-1    a vessel that is    horizontal",
            "       insulated",
            "",
            "V-2    a drum              vertical with",
            "                           two supports",
            "",
            "V-3    another one         vertical",
        ],
        &[
            "V-1|a vessel that is/insulated|horizontal",
            "V-2|a drum|vertical with/two supports",
            "V-3|another one|vertical",
        ],
    );
}

#[test]
fn footnotes_follow_all_columns() {
    let mut words = page(&["aa bb cc dd    mm nn oo pp"; 8]);
    let note = |text, left, top| word(text, left, top, 7.0);
    words.extend([note("1", 0.0, 110.0), note("note", 5.0, 110.0), note("rest", 0.0, 118.0)]);
    let text = text(&words);
    assert!(text.ends_with("mm nn oo pp\n\n1 note\nrest"), "{text}");
}

#[test]
fn raised_numbers_are_apart_from_words_but_not_from_units() {
    let raised = |stem: &str, number| {
        let words = [word(stem, 0.0, 0.0, 10.0), word(number, stem.len() as f32 * 5.0, -2.0, 6.0)];
        text(&words.map(|word| Word { follows_space: false, ..word }))
    };
    assert_eq!((raised("vessel", "1"), raised("m", "3")), ("vessel 1".into(), "m3".into()));
}

#[test]
fn text_that_is_drawn_twice_is_read_once() {
    let words = [word("bold", 0.0, 0.0, 10.0), word("bold", 0.3, 0.0, 10.0), word("text", 25.0, 0.0, 10.0)];
    assert_eq!(text(&words), "bold text");
}

#[test]
fn text_in_other_directions_follows() {
    let turned = |word: Word, direction| {
        let Rect { left, top, right, bottom } = word.rect;
        let rect = match direction {
            Direction::Up => Rect { left: top, top: -right, right: bottom, bottom: -left },
            Direction::Down => Rect { left: -bottom, top: left, right: -top, bottom: right },
            _ => Rect { left: -right, top: -bottom, right: -left, bottom: -top },
        };
        Word { rect, direction, ..word }
    };
    for direction in [Direction::Up, Direction::Down, Direction::Left] {
        let sideways = page(&["one two", "three"]).into_iter().map(|word| turned(word, direction));
        let words: Vec<Word> = sideways.chain([word("4", 0.0, 0.0, 10.0)]).collect();
        assert_eq!(text(&words), "one two\nthree\n\n4", "{direction:?}");
    }
}

#[test]
fn running_lines_are_repeated_at_the_same_height() {
    let page = |number: usize, last: &str| {
        let footer = number.to_string();
        vec![
            word("Manual", 0.0, 20.0, 10.0),
            word("text", 0.0, 60.0, 10.0),
            word(last, 0.0, 400.0, 10.0),
            word(&footer, 0.0, 780.0, 10.0),
        ]
    };
    let edges = [(1, "one"), (2, "two")].map(|(number, last)| PageEdges::new(&page(number, last), 800.0));
    // The text at the top is the same on both pages: a header of two lines.
    assert_eq!(running_lines(&edges[0], &[&edges[1]]), (vec![0, 1], vec![3]));
    assert_eq!(running_lines(&edges[0], &[]), (vec![], vec![]));
    let moved = PageEdges::new(&[word("Manual", 0.0, 40.0, 10.0)], 800.0);
    assert_eq!(running_lines(&edges[0], &[&moved]), (vec![], vec![]));
}

#[test]
fn pages_with_very_many_words_are_read_in_limited_time() {
    let mut seed = 7u32;
    let mut random = |limit: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 % limit as f32
    };
    let words = (0..30_000).map(|index: u32| word(&index.to_string(), random(3000), random(3000), 2.0));
    let words: Vec<Word> = words.collect();
    assert_eq!(reading_order(&words).len(), words.len());
}

#[test]
fn words_that_are_as_tall_as_the_page_are_read_in_limited_time_and_memory() {
    let words = (0..20_000u32).map(|index| word(&index.to_string(), index as f32 * 10.0, 0.0, 1e6));
    let specks = (0..4000u32).map(|index| word(".", 0.0, index as f32 * 250.0, 1.0));
    let words: Vec<Word> = words.chain(specks).collect();
    assert!(reading_order(&words).len() >= 20_000);
    let endless = [word("a", f32::INFINITY, f32::NAN, 10.0), word("b", f32::MIN, f32::MAX, f32::INFINITY)];
    assert!(reading_order(&[endless.clone(), endless.clone(), endless].concat()).len() <= 6);
}
