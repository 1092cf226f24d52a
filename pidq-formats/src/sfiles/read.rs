//! Reader of SFILES text: one pass over its tokens, with a stack of open branches.

use std::collections::BTreeMap;

use crate::error::{Code, Error, Result};

use super::flowsheet::{Connection, Flowsheet, Kind, Unit, is_name};
use super::units;

/// Token of the text, and its position in characters from 1.
#[derive(Debug, PartialEq)]
enum Token<'t> {
    Unit(&'t str),
    Tag(&'t str),
    /// `1`, `%10`: a recycle starts.
    RecycleStart(usize),
    /// `<1`: a recycle ends.
    RecycleEnd(usize),
    SignalStart(usize),
    SignalEnd(usize),
    BranchOpen,
    BranchClose,
    /// `<&|`
    EnteringOpen,
    /// `&`
    Enter,
    /// `|`
    EnteringClose,
    /// `n|`
    Independent,
}

/// Reads a flowsheet.
pub fn flowsheet(text: &str) -> Result<Flowsheet> {
    let mut reader = FlowsheetReader::default();
    let mut rest = text.trim();
    let start = text.len() - text.trim_start().len();
    let end = start + rest.len();
    let mut position = start;
    while !rest.is_empty() {
        let at = |message: String| {
            let position = text[..position].chars().count() + 1;
            Error::new(Code::NotGraph, format!("{message} at character {position}"))
        };
        let (token, length) = next_token(rest).map_err(at)?;
        reader.add(token).map_err(at)?;
        rest = rest[length..].trim_start();
        position = end - rest.len();
    }
    reader.finish().map_err(|message| Error::new(Code::NotGraph, message))
}

/// Result of a step; the error is a message without the position.
type Step<T> = std::result::Result<T, String>;

/// Returns the next token and its length in bytes.
fn next_token(text: &str) -> Step<(Token<'_>, usize)> {
    let fixed = [
        ("<&|", Token::EnteringOpen),
        ("n|", Token::Independent),
        ("[", Token::BranchOpen),
        ("]", Token::BranchClose),
        ("&", Token::Enter),
        ("|", Token::EnteringClose),
    ];
    if let Some((token, length)) =
        fixed.into_iter().find_map(|(word, token)| text.starts_with(word).then_some((token, word.len())))
    {
        return Ok((token, length));
    }
    for (open, close) in [('(', ')'), ('{', '}')] {
        let Some(inside) = text.strip_prefix(open) else { continue };
        let Some(length) = inside.find(close) else { return Err(format!("`{open}` without `{close}`")) };
        let token = if open == '(' { Token::Unit(&inside[..length]) } else { Token::Tag(&inside[..length]) };
        return Ok((token, length + 2));
    }
    type Numbered<'t> = fn(usize) -> Token<'t>;
    let numbered: [(&str, Numbered<'_>); 4] =
        [("<_", Token::SignalEnd), ("<", Token::RecycleEnd), ("_", Token::SignalStart), ("%", Token::RecycleStart)];
    for (prefix, token) in numbered {
        let Some(rest) = text.strip_prefix(prefix) else { continue };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[..digits].parse().map_err(|_| format!("`{prefix}` without a number"))?;
        return Ok((token(number), prefix.len() + digits));
    }
    let first = text.chars().next().unwrap_or_default();
    match first.to_digit(10) {
        Some(digit) => Ok((Token::RecycleStart(digit as usize), 1)),
        None => Err(format!("unexpected `{first}`")),
    }
}

/// Branch that is not closed yet.
enum Branch {
    /// A branch that leaves a unit.
    Leaving(usize),
    /// A branch that enters a unit, where its `&` is.
    Entering { to: usize, has_entered: bool },
}

/// Ends of a recycle or a signal that were read.
#[derive(Default)]
struct Numbered {
    from: Option<(usize, Vec<String>)>,
    to: Option<usize>,
}

#[derive(Default)]
struct FlowsheetReader {
    flowsheet: Flowsheet,
    /// The unit to which the next token belongs.
    current: Option<usize>,
    branches: Vec<Branch>,
    /// Tags of the next stream.
    tags: Vec<String>,
    recycles: BTreeMap<usize, Numbered>,
    signals: BTreeMap<usize, Numbered>,
    /// The last token was a unit.
    is_after_unit: bool,
}

impl FlowsheetReader {
    fn add(&mut self, token: Token<'_>) -> Step<()> {
        let is_after_unit = std::mem::take(&mut self.is_after_unit);
        match token {
            Token::Unit(name) => self.add_unit(name),
            Token::Tag(text) => self.add_tag(text, is_after_unit),
            Token::RecycleStart(number) => {
                let from = (self.current()?, std::mem::take(&mut self.tags));
                set_once(&mut self.recycles.entry(number).or_default().from, from, number)
            }
            Token::RecycleEnd(number) => {
                let to = self.current()?;
                set_once(&mut self.recycles.entry(number).or_default().to, to, number)
            }
            Token::SignalStart(number) => {
                let from = (self.current()?, Vec::new());
                set_once(&mut self.signals.entry(number).or_default().from, from, number)
            }
            Token::SignalEnd(number) => {
                let to = self.current()?;
                set_once(&mut self.signals.entry(number).or_default().to, to, number)
            }
            Token::BranchOpen => {
                let from = self.current()?;
                self.branches.push(Branch::Leaving(from));
                Ok(())
            }
            Token::BranchClose => self.close_branch(),
            Token::EnteringOpen => {
                let to = self.current()?;
                self.branches.push(Branch::Entering { to, has_entered: false });
                self.current = None;
                Ok(())
            }
            Token::Enter => self.enter(),
            Token::EnteringClose => self.close_entering(),
            Token::Independent => match self.branches.is_empty() && self.current.is_some() && self.tags.is_empty() {
                true => {
                    self.current = None;
                    Ok(())
                }
                false => Err("`n|` inside a branch or without a unit before it".into()),
            },
        }
    }

    fn current(&self) -> Step<usize> {
        self.current.ok_or_else(|| "a unit is expected".into())
    }

    /// Adds a unit, and a stream from the one before it. `(pp-1)` and `(pp)` are the same unit name.
    fn add_unit(&mut self, text: &str) -> Step<()> {
        let name = text.split('-').next().unwrap_or_default();
        if !is_name(name) {
            return Err(format!("`{text}` is not the name of a unit"));
        }
        let at = self.flowsheet.units.len();
        self.flowsheet.units.push(Unit { name: name.to_owned(), ..Unit::default() });
        match self.current {
            Some(from) => self.connect(from, at),
            None if !self.tags.is_empty() => return Err("a tag without a stream".into()),
            None => {}
        }
        self.current = Some(at);
        self.is_after_unit = true;
        Ok(())
    }

    fn connect(&mut self, from: usize, to: usize) {
        let tags = std::mem::take(&mut self.tags);
        self.flowsheet.connections.push(Connection { from, to, kind: Kind::Stream, tags });
    }

    /// Adds a tag: the number of a heat exchanger, the letters of a control unit, or a tag of the next stream.
    fn add_tag(&mut self, text: &str, is_after_unit: bool) -> Step<()> {
        let current = self.current()?;
        let unit = &mut self.flowsheet.units[current];
        let number = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        match number {
            Some(number) if is_after_unit => unit.exchanger = Some(number),
            Some(_) => return Err(format!("the number `{{{text}}}` is not after a unit")),
            None if is_after_unit
                && unit.name == units::CONTROL
                && text.bytes().all(|byte| byte.is_ascii_uppercase()) =>
            {
                unit.letters = Some(text.to_owned());
            }
            None => self.tags.push(text.to_owned()),
        }
        Ok(())
    }

    fn close_branch(&mut self) -> Step<()> {
        match self.branches.pop() {
            Some(Branch::Leaving(from)) if self.tags.is_empty() => {
                self.current = Some(from);
                Ok(())
            }
            Some(Branch::Leaving(_)) => Err("a tag without a stream".into()),
            _ => Err("`]` without `[`".into()),
        }
    }

    fn enter(&mut self) -> Step<()> {
        let from = self.current()?;
        let innermost = self.branches.iter_mut().rev().find_map(|branch| match branch {
            Branch::Entering { to, has_entered } => Some((*to, has_entered)),
            Branch::Leaving(_) => None,
        });
        let (to, has_entered) = innermost.ok_or("`&` outside of `<&|`")?;
        *has_entered = true;
        self.connect(from, to);
        Ok(())
    }

    fn close_entering(&mut self) -> Step<()> {
        match self.branches.pop() {
            Some(Branch::Entering { to, has_entered: true }) if self.tags.is_empty() => {
                self.current = Some(to);
                Ok(())
            }
            Some(Branch::Entering { has_entered: false, .. }) => Err("a branch that enters nothing ends".into()),
            Some(Branch::Entering { .. }) => Err("a tag without a stream".into()),
            _ => Err("`|` without `<&|`".into()),
        }
    }

    fn finish(mut self) -> Step<Flowsheet> {
        match self.branches.last() {
            Some(Branch::Leaving(_)) => return Err("`[` without `]`".into()),
            Some(Branch::Entering { .. }) => return Err("`<&|` without `|`".into()),
            None if !self.tags.is_empty() => return Err("a tag without a stream".into()),
            None if self.current.is_none() && !self.flowsheet.units.is_empty() => {
                return Err("`n|` without a unit after it".into());
            }
            None => {}
        }
        let recycles = std::mem::take(&mut self.recycles).into_iter().map(|numbered| (Kind::Stream, numbered));
        let signals = std::mem::take(&mut self.signals).into_iter().map(|numbered| (Kind::Signal, numbered));
        for (kind, (number, ends)) in recycles.chain(signals) {
            let mark = if kind == Kind::Signal { "_" } else { "" };
            let (Some((from, tags)), Some(to)) = (ends.from, ends.to) else {
                return Err(format!("the connection `{mark}{number}` has only one end"));
            };
            self.flowsheet.connections.push(Connection { from, to, kind, tags });
        }
        Ok(self.flowsheet)
    }
}

fn set_once<T>(end: &mut Option<T>, value: T, number: usize) -> Step<()> {
    match end.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("the number {number} occurs twice at the same end")),
    }
}
