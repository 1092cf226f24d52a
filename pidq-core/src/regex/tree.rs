//! A pattern as a tree: what the parser makes and both engines are built from.

use std::ops::Range;

use super::set::Set;

/// A part of a pattern. Groups that do not capture leave no trace.
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
    Look(Box<Look>),
    Backref(Reference),
}

/// One code point out of many.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// As a class of the `regex` crate.
    pub rust: String,
    /// The code points, where they are known here: not for properties, and not for case folding with `u`.
    pub set: Option<Set>,
}

/// A test that takes no text.
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
    /// The capturing groups inside: each round forgets what they held.
    pub groups: Range<usize>,
}

/// `(?=body)` and its three kin.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub body: Node,
    pub behind: bool,
    pub negated: bool,
}

/// What a back-reference points to. A name may stand for several groups of which at most one has matched.
#[derive(Clone, Debug)]
pub(super) enum Reference {
    Number(usize),
    Name(String),
}

impl Class {
    pub fn of(set: Set) -> Class {
        Class { rust: set.to_class(), set: Some(set) }
    }
}

impl Node {
    /// Whether it can match the empty text.
    pub fn is_nullable(&self) -> bool {
        match self {
            Node::Empty | Node::Assert(_) | Node::Look(_) | Node::Backref(_) => true,
            Node::Char(_) | Node::Class(_) => false,
            Node::Group(_, body) => body.is_nullable(),
            Node::Concat(parts) => parts.iter().all(Node::is_nullable),
            Node::Alt(branches) => branches.iter().any(Node::is_nullable),
            Node::Repeat(repeat) => repeat.min == 0 || repeat.body.is_nullable(),
        }
    }

    /// Whether it can match nothing but the empty text.
    pub fn is_zero_width(&self) -> bool {
        match self {
            Node::Empty | Node::Assert(_) | Node::Look(_) => true,
            Node::Char(_) | Node::Class(_) | Node::Backref(_) => false,
            Node::Group(_, body) => body.is_zero_width(),
            Node::Concat(parts) | Node::Alt(parts) => parts.iter().all(Node::is_zero_width),
            Node::Repeat(repeat) => repeat.body.is_zero_width(),
        }
    }

    /// Whether the empty text is its last choice, as for `a*` and `(?:a|)`, but not for `a*?` and `(?:|a)`.
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

    /// The same without the empty text, where that can be said without copying parts.
    pub fn without_empty(&self) -> Option<Node> {
        if !self.is_nullable() {
            return Some(self.clone());
        }
        match self {
            Node::Group(number, body) => Some(Node::Group(*number, Box::new(body.without_empty()?))),
            Node::Concat(parts) => concat_without_empty(parts),
            Node::Alt(branches) => {
                let wide = branches.iter().filter(|branch| !branch.is_zero_width());
                Some(Node::Alt(wide.map(Node::without_empty).collect::<Option<_>>()?))
            }
            Node::Repeat(repeat) if repeat.min == 0 => {
                let body = repeat.body.without_empty()?;
                Some(Node::Repeat(Box::new(Repeat { body, min: 1, ..Repeat::clone(repeat) })))
            }
            _ => None,
        }
    }

    /// Whether each match sets all of its groups.
    pub fn sets_all_groups(&self) -> bool {
        match self {
            Node::Group(_, body) => body.sets_all_groups(),
            Node::Concat(parts) => parts.iter().all(Node::sets_all_groups),
            Node::Alt(branches) => !branches.iter().any(Node::has_groups),
            Node::Repeat(repeat) => repeat.groups.is_empty() || (repeat.min > 0 && repeat.body.sets_all_groups()),
            Node::Look(look) => !look.body.has_groups(),
            _ => true,
        }
    }

    fn has_groups(&self) -> bool {
        match self {
            Node::Group(..) => true,
            Node::Concat(parts) | Node::Alt(parts) => parts.iter().any(Node::has_groups),
            Node::Repeat(repeat) => !repeat.groups.is_empty(),
            Node::Look(look) => look.body.has_groups(),
            _ => false,
        }
    }

    /// Whether it can match in more than one way at the same place.
    pub fn has_choices(&self) -> bool {
        self.any(&|part| matches!(part, Node::Repeat(_) | Node::Alt(_)))
    }

    /// Whether `found` is true of a part.
    pub fn any(&self, found: &dyn Fn(&Node) -> bool) -> bool {
        found(self)
            || match self {
                Node::Group(_, body) => body.any(found),
                Node::Concat(parts) | Node::Alt(parts) => parts.iter().any(|part| part.any(found)),
                Node::Repeat(repeat) => repeat.body.any(found),
                Node::Look(look) => look.body.any(found),
                _ => false,
            }
    }

    /// Roughly how many instructions it takes when repetitions are written out.
    pub fn size(&self) -> u64 {
        match self {
            Node::Group(_, body) => body.size().saturating_add(2),
            Node::Concat(parts) | Node::Alt(parts) => {
                parts.iter().fold(1, |sum: u64, part| sum.saturating_add(part.size()).saturating_add(1))
            }
            Node::Repeat(repeat) => repeat.body.size().saturating_add(4).saturating_mul(repeat.copies()),
            Node::Look(look) => look.body.size().saturating_add(2),
            _ => 1,
        }
    }
}

/// One part alone can be wide: then that is the one that must not be empty.
fn concat_without_empty(parts: &[Node]) -> Option<Node> {
    let mut wide = parts.iter().enumerate().filter(|(_, part)| !part.is_zero_width());
    let (Some((at, part)), None) = (wide.next(), wide.next()) else { return None };
    let mut parts = parts.to_vec();
    let part = part.without_empty()?;
    *parts.get_mut(at)? = part;
    Some(Node::Concat(parts))
}

impl Repeat {
    /// How often the body is written out.
    fn copies(&self) -> u64 {
        let open = u64::from(self.min) + u64::from(self.min == 0 || self.body.is_nullable());
        self.max.map_or(open, u64::from)
    }

    /// The body as the `regex` crate should see it. JavaScript refuses an optional round that takes nothing.
    pub fn linear_body(&self) -> Option<Node> {
        if self.min == 0 { self.body.without_empty() } else { None }
    }

    /// Whether the `regex` crate would treat empty rounds in another way than JavaScript, so that the match differs.
    pub fn has_odd_rounds(&self) -> bool {
        if !self.body.is_nullable() || self.max == Some(self.min) || self.linear_body().is_some() {
            return false;
        }
        let bounded = self.max.is_some_and(|max| max > 1);
        !self.body.is_empty_last() || (bounded && !self.groups.is_empty())
    }
}
