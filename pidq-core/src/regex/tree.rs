//! Syntax tree of a pattern, made by the parser and compiled by the engines.

use std::ops::Range;

use super::set::Set;

/// A node of a pattern. Non-capturing groups have no node.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Empty,
    Char(char),
    Class(Class),
    Assert(Assert),
    /// A capturing group and its number, from 1.
    Group(usize, Box<Node>),
    Concat(Vec<Node>),
    Alt(Vec<Node>),
    Repeat(Box<Repeat>),
    Lookaround(Box<LookaroundNode>),
    Backref(Reference),
}

/// A class of code points.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// The class in the syntax of the `regex` crate.
    pub rust: String,
    /// The code points, if they are known here: not for properties, and not for case folding with `u`.
    pub set: Option<Set>,
}

/// A zero-width assertion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Assert {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    Word,
    NotWord,
}

/// `body{min,max}`.
#[derive(Clone, Debug)]
pub(super) struct Repeat {
    pub body: Node,
    pub min: u32,
    pub max: Option<u32>,
    pub greedy: bool,
    /// The capturing groups inside: each round clears them.
    pub groups: Range<usize>,
}

/// `(?=body)`, `(?!body)`, `(?<=body)` or `(?<!body)`.
#[derive(Clone, Debug)]
pub(super) struct LookaroundNode {
    pub body: Node,
    pub behind: bool,
    pub negated: bool,
}

/// Target of a back-reference. A name may refer to several groups, at most one of which has matched.
#[derive(Clone, Debug)]
pub(super) enum Reference {
    Number(usize),
    Name(String),
}

impl Class {
    pub fn from_set(set: Set) -> Class {
        Class { rust: set.to_class(), set: Some(set) }
    }
}

impl Node {
    /// Returns true if it can match the empty string.
    pub fn is_nullable(&self) -> bool {
        match self {
            Node::Empty | Node::Assert(_) | Node::Lookaround(_) | Node::Backref(_) => true,
            Node::Char(_) | Node::Class(_) => false,
            Node::Group(_, body) => body.is_nullable(),
            Node::Concat(parts) => parts.iter().all(Node::is_nullable),
            Node::Alt(branches) => branches.iter().any(Node::is_nullable),
            Node::Repeat(repeat) => repeat.min == 0 || repeat.body.is_nullable(),
        }
    }

    /// Returns true if it can only match the empty string.
    pub fn is_zero_width(&self) -> bool {
        match self {
            Node::Empty | Node::Assert(_) | Node::Lookaround(_) => true,
            Node::Char(_) | Node::Class(_) | Node::Backref(_) => false,
            Node::Group(_, body) => body.is_zero_width(),
            Node::Concat(parts) | Node::Alt(parts) => parts.iter().all(Node::is_zero_width),
            Node::Repeat(repeat) => repeat.body.is_zero_width(),
        }
    }

    /// Returns true if the empty string is its last choice, as for `a*` and `(?:a|)`, but not for `a*?` and `(?:|a)`.
    pub fn is_empty_last(&self) -> bool {
        match self {
            Node::Group(_, body) => body.is_empty_last(),
            Node::Concat(parts) => !self.is_nullable() || parts.iter().all(Node::is_empty_last),
            Node::Alt(branches) => match branches.split_last() {
                Some((last, others)) => last.is_empty_last() && !others.iter().any(Node::is_nullable),
                None => true,
            },
            Node::Repeat(repeat) if repeat.min == 0 => repeat.greedy,
            Node::Repeat(repeat) => repeat.body.is_empty_last(),
            _ => true,
        }
    }

    /// Returns the node without the empty string, if that can be expressed without copying parts.
    pub fn without_empty(&self) -> Option<Node> {
        if !self.is_nullable() {
            return Some(self.clone());
        }
        match self {
            Node::Group(number, body) => Some(Node::Group(*number, Box::new(body.without_empty()?))),
            Node::Concat(parts) => concat_without_empty(parts),
            Node::Alt(branches) => {
                let non_empty = branches.iter().filter(|branch| !branch.is_zero_width());
                Some(Node::Alt(non_empty.map(Node::without_empty).collect::<Option<_>>()?))
            }
            Node::Repeat(repeat) if repeat.min == 0 => {
                let body = repeat.body.without_empty()?;
                Some(Node::Repeat(Box::new(Repeat { body, min: 1, ..Repeat::clone(repeat) })))
            }
            _ => None,
        }
    }

    /// Returns true if each match sets all of its groups.
    pub fn sets_all_groups(&self) -> bool {
        match self {
            Node::Group(_, body) => body.sets_all_groups(),
            Node::Concat(parts) => parts.iter().all(Node::sets_all_groups),
            Node::Alt(branches) => !branches.iter().any(Node::has_groups),
            Node::Repeat(repeat) => repeat.groups.is_empty() || (repeat.min > 0 && repeat.body.sets_all_groups()),
            Node::Lookaround(lookaround) => !lookaround.body.has_groups(),
            _ => true,
        }
    }

    fn has_groups(&self) -> bool {
        match self {
            Node::Group(..) => true,
            Node::Concat(parts) | Node::Alt(parts) => parts.iter().any(Node::has_groups),
            Node::Repeat(repeat) => !repeat.groups.is_empty(),
            Node::Lookaround(lookaround) => lookaround.body.has_groups(),
            _ => false,
        }
    }

    /// Returns true if it can match in more than one way at the same position.
    pub fn has_choices(&self) -> bool {
        self.any(&|part| matches!(part, Node::Repeat(_) | Node::Alt(_)))
    }

    /// Returns true if `found` is true for a node of the tree.
    pub fn any(&self, found: &dyn Fn(&Node) -> bool) -> bool {
        found(self)
            || match self {
                Node::Group(_, body) => body.any(found),
                Node::Concat(parts) | Node::Alt(parts) => parts.iter().any(|part| part.any(found)),
                Node::Repeat(repeat) => repeat.body.any(found),
                Node::Lookaround(lookaround) => lookaround.body.any(found),
                _ => false,
            }
    }

    /// Returns the approximate number of instructions with repetitions expanded.
    pub fn size(&self) -> u64 {
        match self {
            Node::Group(_, body) => body.size().saturating_add(2),
            Node::Concat(parts) | Node::Alt(parts) => {
                parts.iter().fold(1, |sum: u64, part| sum.saturating_add(part.size()).saturating_add(1))
            }
            Node::Repeat(repeat) => repeat.body.size().saturating_add(4).saturating_mul(repeat.copies()),
            Node::Lookaround(lookaround) => lookaround.body.size().saturating_add(2),
            _ => 1,
        }
    }
}

/// Excludes the empty string from a concatenation. If only one part can be non-empty, that part must not be empty.
fn concat_without_empty(parts: &[Node]) -> Option<Node> {
    let mut non_empty = parts.iter().enumerate().filter(|(_, part)| !part.is_zero_width());
    let (Some((at, part)), None) = (non_empty.next(), non_empty.next()) else { return None };
    let mut parts = parts.to_vec();
    let part = part.without_empty()?;
    *parts.get_mut(at)? = part;
    Some(Node::Concat(parts))
}

impl Repeat {
    /// Returns the number of copies of the body when the repetition is expanded.
    fn copies(&self) -> u64 {
        let open = u64::from(self.min) + u64::from(self.min == 0 || self.body.is_nullable());
        self.max.map_or(open, u64::from)
    }

    /// Returns the body for the `regex` crate. JavaScript rejects an optional empty round.
    pub fn linear_body(&self) -> Option<Node> {
        if self.min == 0 { self.body.without_empty() } else { None }
    }

    /// Returns true if the `regex` crate treats empty rounds differently than JavaScript, so that the match differs.
    pub fn has_unusual_empty_rounds(&self) -> bool {
        if !self.body.is_nullable() || self.max == Some(self.min) || self.linear_body().is_some() {
            return false;
        }
        let bounded = self.max.is_some_and(|max| max > 1);
        !self.body.is_empty_last() || (bounded && !self.groups.is_empty())
    }
}
