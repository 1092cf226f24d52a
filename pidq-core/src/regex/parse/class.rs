//! Parser of character classes: `[..]` in its three dialects, and escapes for sets of characters.

use super::{Parsed, Parser};
use crate::regex::flags::Flags;
use crate::regex::properties;
use crate::regex::set::{self, Set, class_items};
use crate::regex::tree::Class;

/// Characters that are reserved when doubled in a class with the flag `v`.
const RESERVED: &str = "&!#$%*+,.:;<=>?@^`~";

/// Builder of a class.
#[derive(Default)]
pub(in crate::regex) struct ClassBuilder {
    ranges: Vec<(u32, u32)>,
    /// Properties and nested classes, in the syntax of the `regex` crate.
    rust_items: String,
}

impl ClassBuilder {
    fn add_point(&mut self, point: u32) {
        self.ranges.push((point, point));
    }

    fn add_set(&mut self, set: &Set) {
        self.ranges.extend(set.ranges());
    }

    /// Returns the class. With the flags `i` and `u` the `regex` crate folds case; with `i` alone it is done here.
    pub fn finish(self, flags: Flags, negated: bool) -> Class {
        let set = Set::new(&self.ranges);
        if self.rust_items.is_empty() && !flags.folds_unicode() {
            let set = if flags.ignore_case { set.folded() } else { set };
            return Class::from_set(if negated { set.negated() } else { set });
        }
        Class { rust: self.to_rust(negated), set: None }
    }

    fn to_rust(&self, negated: bool) -> String {
        let items = class_items(Set::new(&self.ranges).ranges());
        let none = if items.is_empty() && self.rust_items.is_empty() { set::NOTHING } else { "" };
        format!("[{}{items}{}{none}]", if negated { "^" } else { "" }, self.rust_items)
    }
}

/// An atom of a class: a code point, which may begin a range, or a set.
enum ClassAtom {
    Point(u32),
    Many,
}

/// Parses a class whose bracket at `start` is consumed.
pub(in crate::regex) fn parse(parser: &mut Parser, start: usize) -> Parsed<Class> {
    if parser.flags.sets {
        return sets::parse(parser, start);
    }
    let negated = parser.eat("^");
    let mut builder = ClassBuilder::default();
    while !parser.eat("]") {
        let first = class_atom(parser, &mut builder, start)?;
        let is_range = parser.peek() == Some('-') && parser.peek_at(1).is_some_and(|c| c != ']');
        if is_range {
            range(parser, &mut builder, first, start)?;
        } else if let ClassAtom::Point(point) = first {
            builder.add_point(point);
        }
    }
    Ok(builder.finish(parser.flags, negated))
}

/// Parses `first-last` from the dash on. Next to an escape such as `\d` the dash is a character, or an error with `u`.
fn range(parser: &mut Parser, builder: &mut ClassBuilder, first: ClassAtom, start: usize) -> Parsed<()> {
    let dash = parser.at;
    parser.at += 1;
    let last = class_atom(parser, builder, start)?;
    match (first, last) {
        (ClassAtom::Point(first), ClassAtom::Point(last)) if first <= last => builder.ranges.push((first, last)),
        (ClassAtom::Point(_), ClassAtom::Point(_)) => {
            return Err(parser.error_at(dash, "Range out of order in character class"));
        }
        _ if parser.flags.unicode => {
            return Err(parser
                .error_at(dash, "Invalid character class")
                .with_help("to match `-` itself, write `\\\\-` in the string"));
        }
        (ClassAtom::Point(point), _) | (_, ClassAtom::Point(point)) => {
            builder.add_point(point);
            builder.add_point(u32::from('-'));
        }
        (ClassAtom::Many, ClassAtom::Many) => builder.add_point(u32::from('-')),
    }
    Ok(())
}

/// Parses one atom. Sets of code points are added to the builder.
fn class_atom(parser: &mut Parser, builder: &mut ClassBuilder, start: usize) -> Parsed<ClassAtom> {
    let at = parser.at;
    match parser.next() {
        None => {
            let error = parser.error_at(start, "Unterminated character class");
            Err(error.with_help("to match `[` itself, write `\\\\[` in the string"))
        }
        Some('\\') if class_escape(parser, builder)? => Ok(ClassAtom::Many),
        Some('\\') => Ok(ClassAtom::Point(point_escape(parser, at)?)),
        Some(c) => Ok(ClassAtom::Point(u32::from(c))),
    }
}

/// Parses an escape for one code point; some have a different meaning than outside a class.
fn point_escape(parser: &mut Parser, start: usize) -> Parsed<u32> {
    let unicode = parser.flags.unicode;
    match (parser.peek(), parser.peek_at(1)) {
        (Some('b'), _) => {
            parser.at += 1;
            Ok(0x08)
        }
        (Some('-'), _) if unicode => {
            parser.at += 1;
            Ok(u32::from('-'))
        }
        (Some('c'), Some(c)) if !unicode && (c.is_ascii_digit() || c == '_') => {
            parser.at += 2;
            Ok(u32::from(c) % 32)
        }
        _ => parser.character_escape(start),
    }
}

/// Parses `\d`, `\w`, `\s`, their negations and `\p{..}` after the backslash. Returns false for other escapes.
pub(in crate::regex) fn class_escape(parser: &mut Parser, builder: &mut ClassBuilder) -> Parsed<bool> {
    let Some(c) = parser.peek() else { return Ok(false) };
    let set = match c.to_ascii_lowercase() {
        'd' => Set::new(set::DIGITS),
        's' => Set::new(set::SPACE),
        'w' => word(parser.flags),
        'p' if parser.flags.unicode => return property(parser, builder, c == 'P').map(|()| true),
        _ => return Ok(false),
    };
    parser.at += 1;
    builder.add_set(&if c.is_ascii_uppercase() { set.negated() } else { set });
    Ok(true)
}

/// Returns the class of a letter with the flag `i`.
pub(in crate::regex) fn case_variants(c: char, flags: Flags) -> Class {
    let mut builder = ClassBuilder::default();
    builder.add_point(u32::from(c));
    if !c.is_ascii() || !flags.unicode {
        return builder.finish(flags, false);
    }
    builder.add_point(u32::from(c.to_ascii_lowercase()));
    builder.add_point(u32::from(c.to_ascii_uppercase()));
    let folded =
        set::WORD_FOLDED.iter().filter(|(point, _)| char::from_u32(*point).map(set::fold) == Some(set::fold(c)));
    builder.ranges.extend(folded);
    Class::from_set(Set::new(&builder.ranges))
}

/// `\w`
fn word(flags: Flags) -> Set {
    let more = if flags.folds_unicode() { set::WORD_FOLDED } else { &[] };
    Set::new(&[set::WORD, more].concat())
}

fn property(parser: &mut Parser, builder: &mut ClassBuilder, negated: bool) -> Parsed<()> {
    let start = parser.at - 1;
    parser.at += 1;
    let inside = braced(parser);
    let known = inside.as_deref().and_then(properties::to_rust);
    let Some(rust) = known else {
        let of_strings = inside.is_some_and(|inside| properties::is_of_strings(&inside));
        let error = parser.error_at(start, "Invalid property name");
        return Err(if of_strings { error.with_help("properties of strings are not supported") } else { error });
    };
    add_property(builder, &rust, negated);
    Ok(())
}

/// Adds a property. Surrogates cannot occur in UTF-8, and the `regex` crate has no name for them.
fn add_property(builder: &mut ClassBuilder, rust: &str, negated: bool) {
    let is_surrogate = matches!(rust, "gc=Cs" | "gc=Surrogate");
    match (is_surrogate, negated) {
        (true, true) => builder.add_set(&Set::default().negated()),
        (true, false) => builder.rust_items.push_str(set::NOTHING),
        (false, true) => builder.rust_items.push_str(&format!(r"\P{{{rust}}}")),
        (false, false) => builder.rust_items.push_str(&format!(r"\p{{{rust}}}")),
    }
}

fn braced(parser: &mut Parser) -> Option<String> {
    if !parser.eat("{") {
        return None;
    }
    let mut inside = String::new();
    loop {
        match parser.next()? {
            '}' => return Some(inside),
            c => inside.push(c),
        }
    }
}

/// Classes with the flag `v`: nested, with `--` and `&&`.
mod sets {
    use super::*;

    pub(in crate::regex) fn parse(parser: &mut Parser, start: usize) -> Parsed<Class> {
        parser.enter_class()?;
        let negated = parser.eat("^");
        let mut builder = ClassBuilder::default();
        let class = match first_operand(parser, &mut builder, start)? {
            Some(first) => {
                let rust = operation(parser, first, negated, start)?;
                Class { rust, set: None }
            }
            None => {
                union(parser, &mut builder, start)?;
                builder.finish(parser.flags, negated)
            }
        };
        parser.leave_class();
        Ok(class)
    }

    fn is_next(parser: &Parser, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, c)| parser.peek_at(ahead) == Some(c))
    }

    /// Parses the first operand; returns its text if it can be followed by an operator.
    fn first_operand(parser: &mut Parser, builder: &mut ClassBuilder, start: usize) -> Parsed<Option<String>> {
        if parser.peek() == Some(']') {
            return Ok(None);
        }
        let is_range = union_member(parser, builder, start)?;
        let is_operand = !is_range && (is_next(parser, "--") || is_next(parser, "&&"));
        Ok(is_operand.then(|| builder.to_rust(false)))
    }

    /// Parses `first--b--c` or `first&&b&&c`; the two cannot be mixed.
    fn operation(parser: &mut Parser, first: String, negated: bool, start: usize) -> Parsed<String> {
        let operator = if is_next(parser, "--") { "--" } else { "&&" };
        let mut text = format!("[{}{first}", if negated { "^" } else { "" });
        while parser.eat(operator) {
            let mut builder = ClassBuilder::default();
            if operator == "&&" && parser.peek() == Some('&') {
                return Err(invalid(parser));
            }
            operand(parser, &mut builder, start)?;
            text.push_str(operator);
            text.push_str(&builder.to_rust(false));
        }
        text.push(']');
        if parser.eat("]") { Ok(text) } else { Err(invalid(parser)) }
    }

    fn union(parser: &mut Parser, builder: &mut ClassBuilder, start: usize) -> Parsed<()> {
        while !parser.eat("]") {
            if is_next(parser, "--") || is_next(parser, "&&") {
                return Err(invalid(parser));
            }
            union_member(parser, builder, start)?;
        }
        Ok(())
    }

    /// Parses an operand or a range; returns true for a range, which cannot be an operand of an operator.
    fn union_member(parser: &mut Parser, builder: &mut ClassBuilder, start: usize) -> Parsed<bool> {
        let ClassAtom::Point(first) = operand_or_point(parser, builder, start)? else { return Ok(false) };
        if is_next(parser, "--") || !parser.eat("-") {
            builder.add_point(first);
            return Ok(false);
        }
        let dash = parser.at - 1;
        match operand_or_point(parser, builder, start)? {
            ClassAtom::Point(last) if first <= last => builder.ranges.push((first, last)),
            ClassAtom::Point(_) => return Err(parser.error_at(dash, "Range out of order in character class")),
            ClassAtom::Many => return Err(parser.error_at(dash, "Invalid character class")),
        }
        Ok(true)
    }

    fn operand(parser: &mut Parser, builder: &mut ClassBuilder, start: usize) -> Parsed<()> {
        if let ClassAtom::Point(point) = operand_or_point(parser, builder, start)? {
            builder.add_point(point);
        }
        Ok(())
    }

    fn operand_or_point(parser: &mut Parser, builder: &mut ClassBuilder, start: usize) -> Parsed<ClassAtom> {
        let at = parser.at;
        match parser.peek() {
            Some('[') => {
                parser.at += 1;
                builder.rust_items.push_str(&parse(parser, at)?.rust);
                Ok(ClassAtom::Many)
            }
            Some('\\') => escape(parser, builder),
            Some('(' | ')' | '{' | '}' | '/' | '-' | '|') => Err(invalid(parser)),
            Some(c) if RESERVED.contains(c) && parser.peek_at(1) == Some(c) => Err(invalid(parser)),
            _ => class_atom(parser, builder, start),
        }
    }

    fn escape(parser: &mut Parser, builder: &mut ClassBuilder) -> Parsed<ClassAtom> {
        let at = parser.at;
        parser.at += 1;
        match parser.peek() {
            Some('q') => Err(parser.error_at(at, "Invalid escape").with_help("`\\q{..}` is not supported")),
            Some(c) if "&-!#%,:;<=>@`~".contains(c) => {
                parser.at += 1;
                Ok(ClassAtom::Point(u32::from(c)))
            }
            _ if class_escape(parser, builder)? => Ok(ClassAtom::Many),
            _ => Ok(ClassAtom::Point(point_escape(parser, at)?)),
        }
    }

    fn invalid(parser: &Parser) -> super::super::PatternError {
        parser.error("Invalid character in character class").with_help("put `\\\\` before it in the string")
    }
}
