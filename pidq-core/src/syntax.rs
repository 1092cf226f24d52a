//! Syntax tree shared by both formats of the language.
//!
//! The tree is the JSON format (a call is an array `[name, argument, ...]`) with a span on every node, so that the text
//! format, the JSON format, `stringify` and the compiler share one model.

pub(crate) mod format;
pub(crate) mod json;
pub(crate) mod operators;
pub(crate) mod print;
pub(crate) mod text;
pub(crate) mod token;

use crate::error::Span;

/// A node of a query. The parsers bound its depth (`limits::MAX_QUERY_DEPTH`), so it may be traversed recursively.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub node: Node,
    /// The byte range in the query text, or in the JSON text if the query came in that format.
    pub span: Span,
}

/// Content of a node, in the terms of JSON.
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
    /// Creates a node with its span.
    pub fn new(node: Node, span: Span) -> Expr {
        Expr { node, span }
    }

    /// Returns true if two nodes are equal, ignoring their spans.
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

    /// Returns the name of the call, or `None` for a constant.
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

/// Language level of a query.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Profile {
    /// JSON Query 5.1.1 with pidq's extensions: comments, `$name`, the lone dot, more functions.
    #[default]
    Pidq,
    /// JSON Query 5.1.1 without extensions.
    JsonQuery,
}
