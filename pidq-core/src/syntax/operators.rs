//! Operator tables: the standard operators and their precedence, extensible with custom operators.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use crate::error::{Code, Error, Result};

/// The standard operators, the tightest first, grouped by level.
const OPERATORS: &[StandardOperator] = &[
    StandardOperator { level: 0, text: "^", name: "pow", chain: Chain::NotAllowed },
    StandardOperator { level: 1, text: "*", name: "multiply", chain: Chain::Left },
    StandardOperator { level: 1, text: "/", name: "divide", chain: Chain::Left },
    StandardOperator { level: 1, text: "%", name: "mod", chain: Chain::Left },
    StandardOperator { level: 2, text: "+", name: "add", chain: Chain::Left },
    StandardOperator { level: 2, text: "-", name: "subtract", chain: Chain::Left },
    StandardOperator { level: 3, text: ">", name: "gt", chain: Chain::NotAllowed },
    StandardOperator { level: 3, text: ">=", name: "gte", chain: Chain::NotAllowed },
    StandardOperator { level: 3, text: "<", name: "lt", chain: Chain::NotAllowed },
    StandardOperator { level: 3, text: "<=", name: "lte", chain: Chain::NotAllowed },
    StandardOperator { level: 3, text: "in", name: "in", chain: Chain::NotAllowed },
    StandardOperator { level: 3, text: "not in", name: "not in", chain: Chain::NotAllowed },
    StandardOperator { level: 4, text: "==", name: "eq", chain: Chain::NotAllowed },
    StandardOperator { level: 4, text: "!=", name: "ne", chain: Chain::NotAllowed },
    StandardOperator { level: 5, text: "and", name: "and", chain: Chain::Flat },
    StandardOperator { level: 6, text: "or", name: "or", chain: Chain::Flat },
    StandardOperator { level: 7, text: "|", name: "pipe", chain: Chain::Flat },
];

/// The function of the operator `|`. A path after a complete value is piped even without the operator.
pub(crate) const PIPE: &str = "pipe";

struct StandardOperator {
    level: usize,
    text: &'static str,
    name: &'static str,
    chain: Chain,
}

/// Meaning of `a op b op c` without parentheses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Chain {
    /// An error.
    NotAllowed,
    /// `[op, [op, a, b], c]`.
    Left,
    /// `[op, a, b, c]`.
    Flat,
}

/// A custom operator: another notation for a call of a function with two arguments.
///
/// With the name `contains`, the text `has` and the precedence `Precedence::At("in".into())`, the query `.tags has
/// "spare"` means `contains(.tags, "spare")`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Operator {
    /// The function to call.
    pub name: String,
    /// The text of the operator. In the pidq profile a text that begins with `//` or `/*` is still a comment.
    pub text: String,
    /// The precedence.
    pub precedence: Precedence,
    /// True if a chain `a op b op c` is one call with three arguments. Needs `left_associative`.
    pub vararg: bool,
    /// True if a chain `a op b op c` may be written without parentheses.
    pub left_associative: bool,
}

/// Precedence of an operator relative to the text of another operator.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Precedence {
    /// The same precedence as the other.
    At(String),
    /// Just tighter than the other.
    Before(String),
    /// Just looser than the other.
    After(String),
}

/// An operator of a table.
#[derive(Clone, Debug)]
pub(crate) struct OperatorEntry {
    pub name: Cow<'static, str>,
    pub text: Cow<'static, str>,
    pub chain: Chain,
    /// True if the parser finds it between spaces: another operator, or other syntax, may hide it.
    pub is_parseable: bool,
}

/// Operator table by level, the tightest first.
#[derive(Clone, Debug)]
pub(crate) struct Operators {
    /// Within a level the longest text comes first: operators are tried in this order.
    levels: Vec<Vec<OperatorEntry>>,
    /// One bit for every ASCII character that an operator begins with.
    first: u128,
}

static STANDARD: LazyLock<Arc<Operators>> = LazyLock::new(|| {
    let mut levels: Vec<Vec<OperatorEntry>> = Vec::new();
    for StandardOperator { level, text, name, chain } in OPERATORS {
        levels.resize_with(levels.len().max(level + 1), Vec::new);
        levels[*level].push(OperatorEntry {
            name: Cow::Borrowed(name),
            text: Cow::Borrowed(text),
            chain: *chain,
            is_parseable: false,
        });
    }
    Arc::new(Operators::new(levels))
});

impl Operators {
    /// Returns the operators of JSON Query, which all dialects share.
    pub fn standard() -> &'static Arc<Operators> {
        &STANDARD
    }

    /// Returns these operators with custom ones added. Each may refer to the ones before it.
    pub fn with(&self, custom: &[Operator]) -> Result<Operators> {
        let mut levels = self.levels.clone();
        for operator in custom {
            insert(&mut levels, operator)?;
        }
        Ok(Operators::new(levels))
    }

    fn new(mut levels: Vec<Vec<OperatorEntry>>) -> Operators {
        for level in &mut levels {
            level.sort_by_key(|row| std::cmp::Reverse(row.name.len()));
        }
        let bytes = levels.iter().flatten().filter_map(|row| row.text.bytes().next());
        let first = bytes.filter(u8::is_ascii).fold(0, |bits, byte| bits | 1 << byte);
        let mut operators = Operators { levels, first };
        operators.mark_parseable();
        operators
    }

    fn mark_parseable(&mut self) {
        let found: Vec<Vec<bool>> =
            self.levels.iter().map(|rows| rows.iter().map(|row| self.is_parsed(row)).collect()).collect();
        for (row, found) in self.levels.iter_mut().flatten().zip(found.into_iter().flatten()) {
            row.is_parseable = found;
        }
    }

    fn is_parsed(&self, row: &OperatorEntry) -> bool {
        let hidden = row.text.starts_with(['.', '(', ')', ']', '}', ',', ' ', '\n', '\t', '\r'])
            || row.text.starts_with("//")
            || row.text.starts_with("/*");
        let first = self.match_any(&format!("{} ", row.text));
        !hidden && first.is_some_and(|first| first.name == row.name && first.text == row.text)
    }

    /// Returns the number of levels.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Returns the operators of a level: text and function.
    pub fn level(&self, level: usize) -> impl Iterator<Item = (&str, &str)> {
        self.levels[level].iter().map(|row| (&*row.text, &*row.name))
    }

    /// Returns true if an operator may begin with this byte.
    pub fn may_begin(&self, byte: u8) -> bool {
        !byte.is_ascii() || self.first & (1 << byte) != 0
    }

    /// Returns the operator of a level at the start of a text.
    pub fn match_at_level(&self, level: usize, text: &str) -> Option<&OperatorEntry> {
        self.levels[level].iter().find(|row| text.starts_with(&*row.text))
    }

    /// Returns the operator of any level at the start of a text.
    pub fn match_any(&self, text: &str) -> Option<&OperatorEntry> {
        let first = text.bytes().next().filter(|byte| self.may_begin(*byte));
        first.and_then(|_| (0..self.levels()).find_map(|level| self.match_at_level(level, text)))
    }

    /// Returns true if the operator `|` is in this level.
    pub fn has_pipe(&self, level: usize) -> bool {
        self.levels[level].iter().any(|row| row.name == PIPE)
    }

    /// Returns the operator that calls a function, and its level.
    pub fn find(&self, name: &str) -> Option<(usize, &OperatorEntry)> {
        let in_level = |rows: &'_ [OperatorEntry]| rows.iter().position(|row| row.name == name);
        let (level, index) = self.levels.iter().enumerate().find_map(|(at, rows)| Some((at, in_level(rows)?)))?;
        Some((level, &self.levels[level][index]))
    }
}

/// Adds an operator to a level, or between two levels.
fn insert(levels: &mut Vec<Vec<OperatorEntry>>, operator: &Operator) -> Result<()> {
    if operator.text.trim().is_empty() || operator.name.is_empty() {
        return Err(invalid(operator, "an operator needs a name and a text"));
    }
    let (Precedence::At(anchor) | Precedence::Before(anchor) | Precedence::After(anchor)) = &operator.precedence;
    let Some(level) = levels.iter().position(|rows| rows.iter().any(|row| row.text == **anchor)) else {
        return Err(invalid(operator, &format!("there is no operator `{anchor}`")));
    };
    match operator.precedence {
        Precedence::At(_) => add(&mut levels[level], operator.row()),
        Precedence::Before(_) => levels.insert(level, vec![operator.row()]),
        Precedence::After(_) => levels.insert(level + 1, vec![operator.row()]),
    }
    Ok(())
}

/// Adds an operator; it replaces one for the same function.
fn add(level: &mut Vec<OperatorEntry>, row: OperatorEntry) {
    match level.iter_mut().find(|old| old.name == row.name) {
        Some(old) => *old = row,
        None => level.push(row),
    }
}

fn invalid(operator: &Operator, help: &str) -> Error {
    let message = format!("Invalid custom operator `{}`", operator.text);
    Error::new(Code::OperatorDefinition, message).with_help(help)
}

impl Operator {
    fn row(&self) -> OperatorEntry {
        let chain = match (self.left_associative, self.vararg) {
            (false, _) => Chain::NotAllowed,
            (true, false) => Chain::Left,
            (true, true) => Chain::Flat,
        };
        OperatorEntry { name: self.name.clone().into(), text: self.text.clone().into(), chain, is_parseable: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(name: &str, text: &str, precedence: Precedence) -> Operator {
        Operator { name: name.into(), text: text.into(), precedence, vararg: false, left_associative: false }
    }

    fn levels(custom: &[Operator]) -> String {
        let operators = Operators::standard().with(custom).expect("the operators of a test are valid");
        let texts = |rows: &Vec<OperatorEntry>| rows.iter().map(|row| &*row.text).collect::<Vec<_>>().join(" ");
        operators.levels.iter().map(texts).collect::<Vec<_>>().join(" ; ")
    }

    #[test]
    fn the_longest_name_is_tried_first() {
        assert_eq!(levels(&[]), "^ ; * / % ; - + ; not in >= <= > < in ; == != ; and ; or ; |");
    }

    #[test]
    fn an_operator_has_a_precedence_relative_to_another() {
        let at = operator("about", "~=", Precedence::At("==".into()));
        assert_eq!(levels(&[at]), "^ ; * / % ; - + ; not in >= <= > < in ; ~= == != ; and ; or ; |");
        let before = operator("concat", "++", Precedence::Before("+".into()));
        assert_eq!(levels(&[before]), "^ ; * / % ; ++ ; - + ; not in >= <= > < in ; == != ; and ; or ; |");
        let after = operator("orElse", "??", Precedence::After("|".into()));
        assert_eq!(levels(&[after]), "^ ; * / % ; - + ; not in >= <= > < in ; == != ; and ; or ; | ; ??");
    }

    #[test]
    fn an_operator_may_refer_to_an_earlier_one() {
        let first = operator("x", "=>", Precedence::After("|".into()));
        let second = operator("y", "<=>", Precedence::At("=>".into()));
        assert!(levels(&[first.clone(), second.clone()]).ends_with("| ; => <=>"));
        assert!(Operators::standard().with(&[second, first]).is_err());
    }

    #[test]
    fn a_second_operator_for_a_function_of_the_level_replaces_the_first() {
        let custom = operator("eq", "~", Precedence::At("==".into()));
        assert!(levels(&[custom]).contains("~ !="));
    }

    #[test]
    fn an_operator_without_anchor_or_text_is_rejected() {
        for custom in [
            operator("x", "~", Precedence::After("@@".into())),
            operator("x", "~", Precedence::At("@@".into())),
            operator("x", " ", Precedence::At("==".into())),
            operator("", "~", Precedence::At("==".into())),
        ] {
            let error = Operators::standard().with(&[custom]).expect_err("the operators of this test are invalid");
            assert_eq!(error.code(), Code::OperatorDefinition);
            assert!(error.message().starts_with("Invalid custom operator"));
        }
    }
}
