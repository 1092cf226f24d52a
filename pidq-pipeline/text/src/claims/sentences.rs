//! Sentences of an answer: abbreviations, decimals and initials end none, items and rows are sentences of their own.

use std::ops::Range;

use super::plain::Plain;
use super::units::Measure;

/// Words before a full stop that ends no sentence, in lower case.
const ABBREVIATIONS: &[&str] = &[
    "abb", "abs", "al", "anl", "app", "appr", "approx", "art", "bzw", "ca", "cf", "ch", "cl", "co", "corp", "dept",
    "d.h", "dia", "diam", "dr", "dwg", "e.g", "ed", "eq", "equiv", "etc", "evtl", "excl", "exkl", "ext", "fig", "figs",
    "ggf", "gr", "i.d", "i.e", "inc", "incl", "inkl", "int", "kap", "lt", "ltd", "max", "min", "mind", "mr", "mrs",
    "ms", "nom", "no", "nos", "nr", "o.d", "op", "oper", "p", "para", "pos", "pp", "pres", "press", "prof", "pt",
    "ref", "resp", "rev", "s", "sec", "sect", "spec", "st", "std", "tab", "tel", "temp", "typ", "u.a", "usw", "v",
    "vgl", "vol", "vs", "z.b", "zzgl",
];

/// Returns the sentences as ranges of characters, without the spaces around them. `attached` are ranges that belong to
/// the sentence before them although it has ended: markers.
pub fn split(plain: &Plain, attached: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let (mut start, mut index) = (0, 0);
    while index < plain.chars.len() {
        let (end, next) = match plain.at(index) {
            '\n' | '\r' => {
                let next = plain.run(index, char::is_whitespace);
                (ends_line(plain, index, next).then_some(index), next)
            }
            c if is_terminal(c) => {
                let run = plain.run(index, is_terminal);
                (sentence_end(plain, index, run, attached), run)
            }
            _ => (None, index + 1),
        };
        if let Some(end) = end {
            push_trimmed(plain, start..end, &mut sentences);
            start = end;
        }
        index = end.unwrap_or(next).max(next);
    }
    push_trimmed(plain, start..plain.chars.len(), &mut sentences);
    sentences
}

fn is_terminal(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '…')
}

fn push_trimmed(plain: &Plain, range: Range<usize>, sentences: &mut Vec<Range<usize>>) {
    let start = plain.run(range.start, char::is_whitespace).min(range.end);
    let mut end = range.end;
    while end > start && plain.at(end - 1).is_whitespace() {
        end -= 1;
    }
    if start < end {
        sentences.push(start..end);
    }
}

/// Returns whether a line break ends a sentence: a line that continues in lower case is wrapped.
fn ends_line(plain: &Plain, index: usize, next: usize) -> bool {
    let is_paragraph = (index..next).filter(|&index| plain.at(index) == '\n').count() > 1;
    is_paragraph || !plain.at(next).is_lowercase() || list_marker(plain, next) > next
}

/// Returns the end of the sentence that the full stops from `index` to `run` end, with the quotes, brackets and markers
/// after them.
fn sentence_end(plain: &Plain, index: usize, run: usize, attached: &[Range<usize>]) -> Option<usize> {
    let end = plain.run(run, |c| matches!(c, '"' | '\'' | '”' | '’' | '»' | '“' | ')' | '*' | '_'));
    let is_wide = matches!(plain.at(index), '。' | '！' | '？');
    let after = attached_end(plain, end, attached);
    if !is_wide && after == end && !plain.at(end).is_whitespace() && end < plain.chars.len() {
        return None;
    }
    if plain.at(index) == '.' && is_inner(plain, index, after) {
        return None;
    }
    Some(after)
}

/// Returns the end of the attached ranges after `end`.
fn attached_end(plain: &Plain, mut end: usize, attached: &[Range<usize>]) -> usize {
    loop {
        let next = plain.run(end, |c| c == ' ');
        let position = attached.partition_point(|range| range.end <= next);
        match attached.get(position).filter(|range| range.start <= next) {
            Some(range) => end = plain.run(range.end, |c| matches!(c, '.' | ',' | ';')),
            None => return end,
        }
    }
}

/// Returns whether a full stop belongs to an abbreviation, an initial or the number of an item.
fn is_inner(plain: &Plain, index: usize, end: usize) -> bool {
    let next = plain.at(plain.run(end, |c| c == ' '));
    if next.is_lowercase() {
        return true;
    }
    let mut start = index;
    while start > 0 && (plain.at(start - 1).is_alphanumeric() || plain.at(start - 1) == '.') && index - start < 12 {
        start -= 1;
    }
    let word = plain.text(start..index).to_lowercase();
    let before = (0..start).rev().map(|index| plain.at(index)).find(|c| *c != ' ').unwrap_or('\n');
    let is_number = word.len() <= 2 && word.chars().all(|c| c.is_ascii_digit()) && !word.is_empty();
    if is_number && matches!(before, '.' | '!' | '?' | ':' | ';' | '\n' | '\r') {
        return true;
    }
    let follows_number = start >= 2 && plain.at(start - 1) == ' ' && plain.at(start - 2).is_ascii_digit();
    let is_unit = follows_number && Measure::at(plain, start).is_some_and(|(_, end)| end == index);
    let is_last = end >= plain.chars.len() || matches!(next, '\n');
    if is_last {
        return false;
    }
    let is_initial = word.chars().count() == 1 && plain.at(start).is_uppercase() && !is_unit;
    // "5 min." and "3 s." end a sentence if a capital letter follows.
    let is_abbreviation = ABBREVIATIONS.contains(&word.as_str()) && !(is_unit && next.is_uppercase());
    is_initial || is_abbreviation
}

/// Returns the end of a list marker at the start of a line: `- `, `* `, `12. `, `b) `, `(3) `; `start` without one.
pub fn list_marker(plain: &Plain, start: usize) -> usize {
    let mut line = start;
    while line > 0 && matches!(plain.at(line - 1), ' ' | '\t' | '*' | '_' | '>') {
        line -= 1;
    }
    if !matches!(plain.before(line), '\n' | '\r') {
        return start;
    }
    let body = match plain.at(start) {
        '-' | '*' | '+' | '•' | '·' | '–' => start + 1,
        c => {
            let open = start + usize::from(c == '(');
            let digits = plain.run(open, |c| c.is_ascii_digit());
            let label = if digits > open { digits } else { open + usize::from(plain.at(open).is_alphabetic()) };
            let is_label = label > open && label - open <= 3;
            let closes = matches!(plain.at(label), ')') || (plain.at(label) == '.' && digits > open && c != '(');
            if is_label && closes { label + 1 } else { return start }
        }
    };
    match plain.at(body) {
        ' ' | '\t' => plain.run(body, |c| matches!(c, ' ' | '\t')),
        _ => start,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sentences(text: &str) -> Vec<String> {
        let plain = Plain::new(text);
        let markers: Vec<_> = (0..plain.chars.len())
            .filter(|&index| plain.at(index) == '[')
            .filter_map(|start| Some(start..start + 1 + plain.chars[start..].iter().position(|c| *c == ']')?))
            .collect();
        split(&plain, &markers).into_iter().map(|range| plain.text(range)).collect()
    }

    #[test]
    fn abbreviations_and_decimals_end_no_sentence() {
        let one = [
            "The pressure is approx. 10.5 barg at max. 120 °C, e.g. at start-up, see Fig. 3 and No. 5.",
            "Der Druck beträgt ca. 10,5 bar, d.h. max. 12 bar, z.B. bei P-101A.",
            "Steel A106 Gr. B is used by J. Smith and Co. KG in Rev. 3 of the sheet.",
            "It is 10.5.",
            "Section 3.2.1 applies",
            "1. Open the valve.",
            "The limit is vs. 3 before.",
        ];
        for text in one {
            assert_eq!(sentences(text), [text], "{text}");
        }
    }

    #[test]
    fn sentences_end_with_their_markers() {
        let check = |text: &str, expected: &[&str]| assert_eq!(sentences(text), expected, "{text}");
        check("It is 10 bar [1]. It is hot [2].", &["It is 10 bar [1].", "It is hot [2]."]);
        check("It is 10 bar. [1] It is hot. [2]", &["It is 10 bar. [1]", "It is hot. [2]"]);
        check("It is 10 bar.[1][2] It is hot.", &["It is 10 bar.[1][2]", "It is hot."]);
        check("Wait 5 min. Then open it.", &["Wait 5 min.", "Then open it."]);
        check("Is it? Yes! “It is.” [1] So.", &["Is it?", "Yes!", "“It is.” [1]", "So."]);
        check("压力是10 bar。温度是5 °C。", &["压力是10 bar。", "温度是5 °C。"]);
        check("It runs at 5 A. The fuse is small.", &["It runs at 5 A.", "The fuse is small."]);
    }

    #[test]
    fn items_and_rows_are_sentences() {
        let check = |text: &str, expected: &[&str]| assert_eq!(sentences(text), expected, "{text}");
        check("Set:\n- 10 bar [1]\n- 12 bar [2]", &["Set:", "- 10 bar [1]", "- 12 bar [2]"]);
        check("1. Open it. 2. Close it.", &["1. Open it.", "2. Close it."]);
        check("| a | 1 |\n| b | 2 |", &["| a | 1 |", "| b | 2 |"]);
        check("The valve is set at\nten bar.", &["The valve is set at\nten bar."]);
        check("First line\nSecond line", &["First line", "Second line"]);
        check("\n\n", &[]);
    }

    proptest! {
        #[test]
        fn sentences_cover_all_words_in_order(text in "([a-zA-Z0-9.!?\n \\-*)(\\[\\]]|e\\.g\\. ){0,60}") {
            let plain = Plain::new(&text);
            let ranges = split(&plain, &[]);
            let covered: String = ranges.iter().map(|range| plain.text(range.clone())).collect();
            let strip = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(strip(&covered), strip(&text));
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }
}
