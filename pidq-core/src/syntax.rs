//! The tree that both formats of the language share.
//!
//! It is the JSON format itself (a call is an array `[name, argument, ...]`) with a span on every part, so the text
//! format, the JSON format, `stringify` and the compiler need no second model.

pub(crate) mod advice;
pub(crate) mod format;
pub(crate) mod json;
pub(crate) mod operators;
pub(crate) mod print;
pub(crate) mod text;
mod token;

use crate::error::Span;

/// A part of a query. Depth is bounded by the parsers (`limits::MAX_NESTING`), so it may be walked recursively.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub node: Node,
    /// The bytes in the query text, or in the JSON text where the query came in that format.
    pub span: Span,
}

/// What a part of a query is, in the terms of JSON.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Number(f64),
    String(Box<str>),
    /// A call `[name, argument, ...]`; `["object", {...}]` is the only call with an object in it.
    Array(Vec<Expr>),
    /// Keys in the order of the text; a later duplicate replaces the value of the first.
    Object(Vec<(Key, Expr)>),
}

/// A key of an object literal.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub name: Box<str>,
    pub span: Span,
}

impl Expr {
    /// A part with a place in the text.
    pub fn new(node: Node, span: Span) -> Expr {
        Expr { node, span }
    }

    /// Whether two parts of a query are the same wherever they stand.
    pub fn is_same(&self, other: &Expr) -> bool {
        match (&self.node, &other.node) {
            (Node::Null, Node::Null) => true,
            (Node::Bool(a), Node::Bool(b)) => a == b,
            (Node::Number(a), Node::Number(b)) => a.to_bits() == b.to_bits(),
            (Node::String(a), Node::String(b)) => a == b,
            (Node::Array(a), Node::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b)),
            (Node::Object(a), Node::Object(b)) => {
                let is_same =
                    |((a, left), (b, right)): (&(Key, Expr), &(Key, Expr))| a.name == b.name && left.is_same(right);
                a.len() == b.len() && a.iter().zip(b).all(is_same)
            }
            _ => false,
        }
    }

    /// The name of the call that this is, or nothing for a constant.
    pub fn head(&self) -> Option<&str> {
        match &self.node {
            Node::Array(items) => match items.first().map(|item| &item.node) {
                Some(Node::String(name)) => Some(name),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Which language a text is in.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Profile {
    /// JSON Query 5.1.1 with pidq's extensions: comments, `$name`, the lone dot, more functions.
    #[default]
    Pidq,
    /// JSON Query 5.1.1 and nothing else.
    JsonQuery,
}
