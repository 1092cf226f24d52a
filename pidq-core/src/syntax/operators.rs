//! The operators and how tightly they bind: the standard table, and tables extended by operators of one's own.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::error::{Code, Error, Result};

/// The standard operators, the tightest first. Operators of one level are in one block.
const OPERATORS: &[Standard] = &[
    Standard { level: 0, text: "^", name: "pow", chain: Chain::Refused },
    Standard { level: 1, text: "*", name: "multiply", chain: Chain::Left },
    Standard { level: 1, text: "/", name: "divide", chain: Chain::Left },
    Standard { level: 1, text: "%", name: "mod", chain: Chain::Left },
    Standard { level: 2, text: "+", name: "add", chain: Chain::Left },
    Standard { level: 2, text: "-", name: "subtract", chain: Chain::Left },
    Standard { level: 3, text: ">", name: "gt", chain: Chain::Refused },
    Standard { level: 3, text: ">=", name: "gte", chain: Chain::Refused },
    Standard { level: 3, text: "<", name: "lt", chain: Chain::Refused },
    Standard { level: 3, text: "<=", name: "lte", chain: Chain::Refused },
    Standard { level: 3, text: "in", name: "in", chain: Chain::Refused },
    Standard { level: 3, text: "not in", name: "not in", chain: Chain::Refused },
    Standard { level: 4, text: "==", name: "eq", chain: Chain::Refused },
    Standard { level: 4, text: "!=", name: "ne", chain: Chain::Refused },
    Standard { level: 5, text: "and", name: "and", chain: Chain::Flat },
    Standard { level: 6, text: "or", name: "or", chain: Chain::Flat },
    Standard { level: 7, text: "|", name: "pipe", chain: Chain::Flat },
];

/// The function of the operator `|`. A path after a complete value is piped even without the operator.
pub(crate) const PIPE: &str = "pipe";

struct Standard {
    level: usize,
    text: &'static str,
    name: &'static str,
    chain: Chain,
}

/// What `a op b op c` without parentheses means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Chain {
    /// An error.
    Refused,
    /// `[op, [op, a, b], c]`.
    Left,
    /// `[op, a, b, c]`.
    Flat,
}

/// An operator of one's own: another way to write a call of a function with two arguments.
///
/// With the name `contains`, the text `has` and the place `Place::At("in".into())`, the query `.tags has "spare"` means
/// `contains(.tags, "spare")`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Operator {
    /// The function that it calls.
    pub name: String,
    /// How it is written. In pidq's own profile a text that begins with `//` or `/*` is a comment all the same.
    pub text: String,
    /// How tightly it binds.
    pub place: Place,
    /// Whether a chain `a op b op c` is one call with three arguments. Needs `left_associative`.
    pub vararg: bool,
    /// Whether a chain `a op b op c` may be written without parentheses.
    pub left_associative: bool,
}

/// How tightly an operator binds, told by the text of another operator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// As tightly as the other.
    At(String),
    /// A little tighter than the other.
    Before(String),
    /// A little looser than the other.
    After(String),
}

/// One operator of a table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub name: Cow<'static, str>,
    pub text: Cow<'static, str>,
    pub chain: Chain,
    /// Whether it is found where it stands between blanks: another operator, or other syntax, may hide it.
    pub readable: bool,
}

/// The operators of a query in levels, the tightest first.
#[derive(Clone, Debug)]
pub(crate) struct Operators {
    /// Within a level the longest name comes first: operators are tried in this order.
    levels: Vec<Vec<Row>>,
    /// One bit for every ASCII character that an operator begins with.
    first: u128,
}

static STANDARD: LazyLock<Operators> = LazyLock::new(|| {
    let mut levels: Vec<Vec<Row>> = Vec::new();
    for Standard { level, text, name, chain } in OPERATORS {
        levels.resize_with(levels.len().max(level + 1), Vec::new);
        levels[*level].push(Row {
            name: Cow::Borrowed(name),
            text: Cow::Borrowed(text),
            chain: *chain,
            readable: false,
        });
    }
    Operators::new(levels)
});

impl Operators {
    /// The operators of JSON Query.
    pub fn standard() -> &'static Operators {
        &STANDARD
    }

    /// These operators and those given. Each may refer to the ones before it.
    pub fn with(&self, custom: &[Operator]) -> Result<Operators> {
        let mut levels = self.levels.clone();
        for operator in custom {
            insert(&mut levels, operator)?;
        }
        Ok(Operators::new(levels))
    }

    fn new(mut levels: Vec<Vec<Row>>) -> Operators {
        for level in &mut levels {
            level.sort_by_key(|row| std::cmp::Reverse(row.name.len()));
        }
        let bytes = levels.iter().flatten().filter_map(|row| row.text.bytes().next());
        let first = bytes.filter(u8::is_ascii).fold(0, |bits, byte| bits | 1 << byte);
        let mut operators = Operators { levels, first };
        operators.find_readable();
        operators
    }

    fn find_readable(&mut self) {
        let found: Vec<Vec<bool>> =
            self.levels.iter().map(|rows| rows.iter().map(|row| self.is_found(row)).collect()).collect();
        for (row, found) in self.levels.iter_mut().flatten().zip(found.into_iter().flatten()) {
            row.readable = found;
        }
    }

    fn is_found(&self, row: &Row) -> bool {
        let hidden = row.text.starts_with(['.', '(', ')', ']', '}', ',', ' ', '\n', '\t', '\r'])
            || row.text.starts_with("//")
            || row.text.starts_with("/*");
        let first = self.any(&format!("{} ", row.text));
        !hidden && first.is_some_and(|first| first.name == row.name && first.text == row.text)
    }

    /// How many levels there are.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The operators of a level: text and function.
    pub fn level(&self, level: usize) -> impl Iterator<Item = (&str, &str)> {
        self.levels[level].iter().map(|row| (&*row.text, &*row.name))
    }

    /// Whether an operator may begin with this byte.
    pub fn may_begin(&self, byte: u8) -> bool {
        !byte.is_ascii() || self.first & (1 << byte) != 0
    }

    /// The operator of a level that a text begins with.
    pub fn at(&self, level: usize, text: &str) -> Option<&Row> {
        self.levels[level].iter().find(|row| text.starts_with(&*row.text))
    }

    /// The operator of any level that a text begins with.
    pub fn any(&self, text: &str) -> Option<&Row> {
        let first = text.bytes().next().filter(|byte| self.may_begin(*byte));
        first.and_then(|_| (0..self.levels()).find_map(|level| self.at(level, text)))
    }

    /// Whether the operator `|` is in this level.
    pub fn has_pipe(&self, level: usize) -> bool {
        self.levels[level].iter().any(|row| row.name == PIPE)
    }

    /// The operator that calls a function, and its level.
    pub fn find(&self, name: &str) -> Option<(usize, &Row)> {
        let in_level = |rows: &'_ [Row]| rows.iter().position(|row| row.name == name);
        let (level, index) = self.levels.iter().enumerate().find_map(|(at, rows)| Some((at, in_level(rows)?)))?;
        Some((level, &self.levels[level][index]))
    }
}

/// Adds an operator to a level, or between two.
fn insert(levels: &mut Vec<Vec<Row>>, operator: &Operator) -> Result<()> {
    if operator.text.trim().is_empty() || operator.name.is_empty() {
        return Err(invalid(operator, "an operator needs a name and a text"));
    }
    let (Place::At(anchor) | Place::Before(anchor) | Place::After(anchor)) = &operator.place;
    let Some(level) = levels.iter().position(|rows| rows.iter().any(|row| row.text == **anchor)) else {
        return Err(invalid(operator, &format!("there is no operator `{anchor}`")));
    };
    match operator.place {
        Place::At(_) => add(&mut levels[level], operator.row()),
        Place::Before(_) => levels.insert(level, vec![operator.row()]),
        Place::After(_) => levels.insert(level + 1, vec![operator.row()]),
    }
    Ok(())
}

/// A second operator for the same function replaces the first.
fn add(level: &mut Vec<Row>, row: Row) {
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
    fn row(&self) -> Row {
        let chain = match (self.left_associative, self.vararg) {
            (false, _) => Chain::Refused,
            (true, false) => Chain::Left,
            (true, true) => Chain::Flat,
        };
        Row { name: self.name.clone().into(), text: self.text.clone().into(), chain, readable: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(name: &str, text: &str, place: Place) -> Operator {
        Operator { name: name.into(), text: text.into(), place, vararg: false, left_associative: false }
    }

    fn levels(custom: &[Operator]) -> String {
        let operators = Operators::standard().with(custom).expect("the operators of a test are valid");
        let texts = |rows: &Vec<Row>| rows.iter().map(|row| &*row.text).collect::<Vec<_>>().join(" ");
        operators.levels.iter().map(texts).collect::<Vec<_>>().join(" ; ")
    }

    #[test]
    fn the_longest_name_is_tried_first() {
        assert_eq!(levels(&[]), "^ ; * / % ; - + ; not in >= <= > < in ; == != ; and ; or ; |");
    }

    #[test]
    fn an_operator_stands_at_before_or_after_another() {
        let at = operator("about", "~=", Place::At("==".into()));
        assert_eq!(levels(&[at]), "^ ; * / % ; - + ; not in >= <= > < in ; ~= == != ; and ; or ; |");
        let before = operator("concat", "++", Place::Before("+".into()));
        assert_eq!(levels(&[before]), "^ ; * / % ; ++ ; - + ; not in >= <= > < in ; == != ; and ; or ; |");
        let after = operator("orElse", "??", Place::After("|".into()));
        assert_eq!(levels(&[after]), "^ ; * / % ; - + ; not in >= <= > < in ; == != ; and ; or ; | ; ??");
    }

    #[test]
    fn an_operator_may_refer_to_an_earlier_one() {
        let first = operator("x", "=>", Place::After("|".into()));
        let second = operator("y", "<=>", Place::At("=>".into()));
        assert!(levels(&[first.clone(), second.clone()]).ends_with("| ; => <=>"));
        assert!(Operators::standard().with(&[second, first]).is_err());
    }

    #[test]
    fn a_second_operator_for_a_function_of_the_level_replaces_the_first() {
        let custom = operator("eq", "~", Place::At("==".into()));
        assert!(levels(&[custom]).contains("~ !="));
    }

    #[test]
    fn an_operator_without_anchor_or_text_is_refused() {
        for custom in [
            operator("x", "~", Place::After("@@".into())),
            operator("x", "~", Place::At("@@".into())),
            operator("x", " ", Place::At("==".into())),
            operator("", "~", Place::At("==".into())),
        ] {
            let error = Operators::standard().with(&[custom]).expect_err("the operators of this test are invalid");
            assert_eq!(error.code(), Code::OperatorDefinition);
            assert!(error.message().starts_with("Invalid custom operator"));
        }
    }
}
