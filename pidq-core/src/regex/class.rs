//! Reads character classes: `[..]` in its three dialects, and the escapes that stand for many characters.

use super::flags::Flags;
use super::parse::{Parsed, Parser};
use super::properties;
use super::set::{self, Set, class_items};
use super::tree::Class;

/// Doubled, these are reserved in a class with the flag `v`.
const RESERVED: &str = "&!#$%*+,.:;<=>?@^`~";

/// Collects what a class contains.
#[derive(Default)]
pub(super) struct Builder {
    ranges: Vec<(u32, u32)>,
    /// Properties and nested classes, as text for the `regex` crate.
    more: String,
}

impl Builder {
    fn add_point(&mut self, point: u32) {
        self.ranges.push((point, point));
    }

    fn add_set(&mut self, set: &Set) {
        self.ranges.extend(set.ranges());
    }

    /// The class. Under the flags `i` and `u` the `regex` crate folds case; under `i` alone we do.
    pub fn finish(self, flags: Flags, negated: bool) -> Class {
        let set = Set::new(&self.ranges);
        if self.more.is_empty() && !flags.folds_unicode() {
            let set = if flags.ignore_case { set.folded() } else { set };
            return Class::of(if negated { set.negated() } else { set });
        }
        Class { rust: self.to_rust(negated), set: None }
    }

    fn to_rust(&self, negated: bool) -> String {
        let items = class_items(Set::new(&self.ranges).ranges());
        let none = if items.is_empty() && self.more.is_empty() { set::NOTHING } else { "" };
        format!("[{}{items}{}{none}]", if negated { "^" } else { "" }, self.more)
    }
}

/// One member of a class: a code point, which may begin a range, or many.
enum Member {
    Point(u32),
    Many,
}

/// Reads a class; the bracket at `start` is read.
pub(super) fn parse(parser: &mut Parser, start: usize) -> Parsed<Class> {
    if parser.flags.sets {
        return sets::parse(parser, start);
    }
    let negated = parser.eat("^");
    let mut builder = Builder::default();
    while !parser.eat("]") {
        let first = member(parser, &mut builder, start)?;
        let is_range = parser.peek() == Some('-') && parser.peek_at(1).is_some_and(|c| c != ']');
        if is_range {
            range(parser, &mut builder, first, start)?;
        } else if let Member::Point(point) = first {
            builder.add_point(point);
        }
    }
    Ok(builder.finish(parser.flags, negated))
}

/// `first-last`, the dash comes next. Next to an escape such as `\d` the dash is a character, or an error with `u`.
fn range(parser: &mut Parser, builder: &mut Builder, first: Member, start: usize) -> Parsed<()> {
    let dash = parser.at;
    parser.at += 1;
    let last = member(parser, builder, start)?;
    match (first, last) {
        (Member::Point(first), Member::Point(last)) if first <= last => builder.ranges.push((first, last)),
        (Member::Point(_), Member::Point(_)) => {
            return Err(parser.fault_at(dash, "Range out of order in character class"));
        }
        _ if parser.flags.unicode => {
            return Err(parser.fault_at(dash, "Invalid character class").helped("to match `-` itself, write `\\-`"));
        }
        (Member::Point(point), _) | (_, Member::Point(point)) => {
            builder.add_point(point);
            builder.add_point(u32::from('-'));
        }
        (Member::Many, Member::Many) => builder.add_point(u32::from('-')),
    }
    Ok(())
}

/// Reads one member. Many code points go straight to the builder.
fn member(parser: &mut Parser, builder: &mut Builder, start: usize) -> Parsed<Member> {
    let at = parser.at;
    match parser.next() {
        None => {
            let fault = parser.fault_at(start, "Unterminated character class");
            Err(fault.helped("to match `[` itself, write `\\[`"))
        }
        Some('\\') if class_escape(parser, builder)? => Ok(Member::Many),
        Some('\\') => Ok(Member::Point(point_escape(parser, at)?)),
        Some(c) => Ok(Member::Point(u32::from(c))),
    }
}

/// An escape for one code point; some mean something else than outside a class.
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

/// Takes `\d`, `\w`, `\s`, their negations and `\p{..}`; the backslash is read. False when something else comes.
pub(super) fn class_escape(parser: &mut Parser, builder: &mut Builder) -> Parsed<bool> {
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

/// A letter under the flag `i`.
pub(super) fn of_letter(c: char, flags: Flags) -> Class {
    let mut builder = Builder::default();
    builder.add_point(u32::from(c));
    if !c.is_ascii() || !flags.unicode {
        return builder.finish(flags, false);
    }
    builder.add_point(u32::from(c.to_ascii_lowercase()));
    builder.add_point(u32::from(c.to_ascii_uppercase()));
    let folded =
        set::WORD_FOLDED.iter().filter(|(point, _)| char::from_u32(*point).map(set::fold) == Some(set::fold(c)));
    builder.ranges.extend(folded);
    Class::of(Set::new(&builder.ranges))
}

/// `\w`
fn word(flags: Flags) -> Set {
    let more = if flags.folds_unicode() { set::WORD_FOLDED } else { &[] };
    Set::new(&[set::WORD, more].concat())
}

fn property(parser: &mut Parser, builder: &mut Builder, negated: bool) -> Parsed<()> {
    let start = parser.at - 1;
    parser.at += 1;
    let inside = braced(parser);
    let known = inside.as_deref().and_then(properties::to_rust);
    let Some(rust) = known else {
        let of_strings = inside.is_some_and(|inside| properties::is_of_strings(&inside));
        let fault = parser.fault_at(start, "Invalid property name");
        return Err(if of_strings { fault.helped("properties of strings are not supported") } else { fault });
    };
    add_property(builder, &rust, negated);
    Ok(())
}

/// Surrogates cannot occur in UTF-8, and the `regex` crate has no name for them.
fn add_property(builder: &mut Builder, rust: &str, negated: bool) {
    let is_surrogate = matches!(rust, "gc=Cs" | "gc=Surrogate");
    match (is_surrogate, negated) {
        (true, true) => builder.add_set(&Set::default().negated()),
        (true, false) => builder.more.push_str(set::NOTHING),
        (false, true) => builder.more.push_str(&format!(r"\P{{{rust}}}")),
        (false, false) => builder.more.push_str(&format!(r"\p{{{rust}}}")),
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

    pub(super) fn parse(parser: &mut Parser, start: usize) -> Parsed<Class> {
        parser.enter_class()?;
        let negated = parser.eat("^");
        let mut builder = Builder::default();
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

    /// The first member, and its text if it can stand before an operator.
    fn first_operand(parser: &mut Parser, builder: &mut Builder, start: usize) -> Parsed<Option<String>> {
        if parser.peek() == Some(']') {
            return Ok(None);
        }
        let is_range = union_member(parser, builder, start)?;
        let is_operand = !is_range && (is_next(parser, "--") || is_next(parser, "&&"));
        Ok(is_operand.then(|| builder.to_rust(false)))
    }

    /// `first--b--c` or `first&&b&&c`; the two do not mix.
    fn operation(parser: &mut Parser, first: String, negated: bool, start: usize) -> Parsed<String> {
        let operator = if is_next(parser, "--") { "--" } else { "&&" };
        let mut text = format!("[{}{first}", if negated { "^" } else { "" });
        while parser.eat(operator) {
            let mut builder = Builder::default();
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

    fn union(parser: &mut Parser, builder: &mut Builder, start: usize) -> Parsed<()> {
        while !parser.eat("]") {
            if is_next(parser, "--") || is_next(parser, "&&") {
                return Err(invalid(parser));
            }
            union_member(parser, builder, start)?;
        }
        Ok(())
    }

    /// An operand or a range; says whether it is a range, which cannot stand at an operator.
    fn union_member(parser: &mut Parser, builder: &mut Builder, start: usize) -> Parsed<bool> {
        let Member::Point(first) = operand_or_point(parser, builder, start)? else { return Ok(false) };
        if is_next(parser, "--") || !parser.eat("-") {
            builder.add_point(first);
            return Ok(false);
        }
        let dash = parser.at - 1;
        match operand_or_point(parser, builder, start)? {
            Member::Point(last) if first <= last => builder.ranges.push((first, last)),
            Member::Point(_) => return Err(parser.fault_at(dash, "Range out of order in character class")),
            Member::Many => return Err(parser.fault_at(dash, "Invalid character class")),
        }
        Ok(true)
    }

    fn operand(parser: &mut Parser, builder: &mut Builder, start: usize) -> Parsed<()> {
        if let Member::Point(point) = operand_or_point(parser, builder, start)? {
            builder.add_point(point);
        }
        Ok(())
    }

    fn operand_or_point(parser: &mut Parser, builder: &mut Builder, start: usize) -> Parsed<Member> {
        let at = parser.at;
        match parser.peek() {
            Some('[') => {
                parser.at += 1;
                builder.more.push_str(&parse(parser, at)?.rust);
                Ok(Member::Many)
            }
            Some('\\') => escape(parser, builder),
            Some('(' | ')' | '{' | '}' | '/' | '-' | '|') => Err(invalid(parser)),
            Some(c) if RESERVED.contains(c) && parser.peek_at(1) == Some(c) => Err(invalid(parser)),
            _ => member(parser, builder, start),
        }
    }

    fn escape(parser: &mut Parser, builder: &mut Builder) -> Parsed<Member> {
        let at = parser.at;
        parser.at += 1;
        match parser.peek() {
            Some('q') => Err(parser.fault_at(at, "Invalid escape").helped("`\\q{..}` is not supported")),
            Some(c) if "&-!#%,:;<=>@`~".contains(c) => {
                parser.at += 1;
                Ok(Member::Point(u32::from(c)))
            }
            _ if class_escape(parser, builder)? => Ok(Member::Many),
            _ => Ok(Member::Point(point_escape(parser, at)?)),
        }
    }

    fn invalid(parser: &Parser) -> super::super::parse::Fault {
        parser.fault("Invalid character in character class").helped("put `\\` before it")
    }
}
