//! Static types of values: their kinds and contents.

use std::borrow::Cow;

use super::data_guide::{DataGuide, GuideNodeId, Lookup};
use super::kinds::Kinds;
use crate::eval::plan::{Constant, Key};

/// Type of a value. Small, because checking is recursive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Type {
    pub kinds: Kinds,
    contents: Contents,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Contents {
    Unknown,
    /// A node of the document's guide.
    Document(GuideNodeId),
    /// An index into `Types::built`.
    Built(u32),
}

/// Contents of a value that the query builds, or that a function returns.
enum BuiltContents<'p> {
    Items(Type),
    Fields(&'p [Box<str>], Vec<Type>),
    /// All fields that a function returns: there are no others.
    Record(Vec<(Cow<'p, str>, Type)>),
    Constant(&'p Constant),
}

/// Maximum depth of joins.
const MAX_JOIN_DEPTH: u32 = 4;

impl Type {
    pub const ANY: Type = Type::from_kinds(Kinds::ANY);
    pub const NONE: Type = Type::from_kinds(Kinds::NONE);

    pub const fn from_kinds(kinds: Kinds) -> Type {
        Type { kinds, contents: Contents::Unknown }
    }

    /// Returns the guide node of the value.
    pub fn guide_node(self) -> Option<GuideNodeId> {
        if let Contents::Document(node) = self.contents { Some(node) } else { None }
    }

    pub fn only(self, kinds: Kinds) -> Type {
        Type { kinds: self.kinds.and(kinds), ..self }
    }

    pub fn with(self, kinds: Kinds) -> Type {
        Type { kinds: self.kinds | kinds, ..self }
    }
}

/// The types of a check, and the guide of the document.
pub(super) struct Types<'p> {
    built: Vec<BuiltContents<'p>>,
    pub guide: Option<DataGuide<'p>>,
}

impl<'p> Types<'p> {
    pub fn new(guide: Option<DataGuide<'p>>) -> Types<'p> {
        Types { built: Vec::new(), guide }
    }

    /// Returns the type of the document.
    pub fn root(&self) -> Type {
        self.guide.as_ref().map_or(Type::ANY, |guide| self.at(guide.root()))
    }

    /// Returns the types of the lists of nodes and of edges.
    pub fn lists(&self) -> [Type; 2] {
        let nodes = self.guide.as_ref().map(DataGuide::lists).unwrap_or_default();
        nodes.map(|node| node.map_or(Type::from_kinds(Kinds::ARRAY), |node| self.at(node)))
    }

    fn at(&self, node: GuideNodeId) -> Type {
        let kinds = self.guide.as_ref().map_or(Kinds::ANY, |guide| guide.node(node).kinds);
        Type { kinds, contents: Contents::Document(node) }
    }

    fn add_built(&mut self, kinds: Kinds, known: BuiltContents<'p>) -> Type {
        self.built.push(known);
        Type { kinds, contents: Contents::Built(self.built.len() as u32 - 1) }
    }

    pub fn list_of(&mut self, items: Type) -> Type {
        self.add_built(Kinds::ARRAY, BuiltContents::Items(items))
    }

    pub fn object(&mut self, names: &'p [Box<str>], values: Vec<Type>) -> Type {
        self.add_built(Kinds::OBJECT, BuiltContents::Fields(names, values))
    }

    pub fn record(&mut self, fields: Vec<(Cow<'p, str>, Type)>) -> Type {
        self.add_built(Kinds::OBJECT, BuiltContents::Record(fields))
    }

    pub fn constant(&mut self, constant: &'p Constant) -> Type {
        let kinds = match constant {
            Constant::Null => Kinds::NULL,
            Constant::Bool(_) => Kinds::BOOL,
            Constant::Number(_) => Kinds::NUMBER,
            Constant::Text(_) => Kinds::STRING,
        };
        self.add_built(kinds, BuiltContents::Constant(constant))
    }

    /// Returns the constant of the query that is the value.
    pub fn as_constant(&self, value: Type) -> Option<&'p Constant> {
        match self.built_contents(value) {
            Some(BuiltContents::Constant(constant)) => Some(constant),
            _ => None,
        }
    }

    fn built_contents(&self, value: Type) -> Option<&BuiltContents<'p>> {
        if let Contents::Built(at) = value.contents { self.built.get(at as usize) } else { None }
    }

    /// Returns the union of two types.
    pub fn join(&mut self, a: Type, b: Type) -> Type {
        self.join_to(a, b, MAX_JOIN_DEPTH)
    }

    fn join_to(&mut self, a: Type, b: Type, depth: u32) -> Type {
        let kinds = a.kinds | b.kinds;
        let contents = match (self.built_contents(a), self.built_contents(b)) {
            _ if a.contents == b.contents => a.contents,
            _ if !a.kinds.intersects(Kinds::CONTAINERS) && b.kinds.intersects(Kinds::CONTAINERS) => b.contents,
            _ if !b.kinds.intersects(Kinds::CONTAINERS) && a.kinds.intersects(Kinds::CONTAINERS) => a.contents,
            (Some(BuiltContents::Items(a)), Some(BuiltContents::Items(b))) if depth > 0 => {
                let items = self.join_to(*a, *b, depth - 1);
                self.list_of(items).contents
            }
            _ => Contents::Unknown,
        };
        Type { kinds, contents }
    }

    /// Returns the type of the items of an array.
    pub fn items(&self, list: Type) -> Type {
        match (list.contents, self.built_contents(list)) {
            _ if !list.kinds.intersects(Kinds::ARRAY) => Type::NONE,
            (_, Some(BuiltContents::Items(items))) => *items,
            (Contents::Document(node), _) => self.follow(self.guide.as_ref().map(|guide| guide.items(node))),
            _ => Type::ANY,
        }
    }

    /// Returns the type of a property: null if it is missing.
    pub fn property(&self, holder: Type, key: &Key) -> Type {
        let mut found = Type::NONE;
        if holder.kinds.intersects(Kinds::OBJECT) {
            found = self.field(holder, &key.name);
        }
        if holder.kinds.intersects(Kinds::ARRAY) && key.index.is_some() {
            let both = found.kinds != Kinds::NONE;
            let item = self.items(holder).with(found.kinds);
            found = if both { Type::from_kinds(item.kinds) } else { item }.with(Kinds::NULL);
        }
        if holder.kinds.without(Kinds::OBJECT) != Kinds::NONE {
            found = found.with(Kinds::NULL);
        }
        match found.kinds.intersects(Kinds::UNDEFINED) {
            true => Type { kinds: found.kinds.without(Kinds::UNDEFINED) | Kinds::NULL, ..found },
            false => found,
        }
    }

    fn field(&self, object: Type, name: &str) -> Type {
        match (object.contents, self.built_contents(object)) {
            (_, Some(BuiltContents::Fields(names, values))) => {
                let at = names.iter().position(|known| **known == *name);
                at.and_then(|at| values.get(at)).copied().unwrap_or(Type::from_kinds(Kinds::NULL))
            }
            (_, Some(BuiltContents::Record(fields))) => {
                let found = fields.iter().find(|(known, _)| known == name);
                found.map_or(Type::from_kinds(Kinds::NULL), |(_, value)| *value)
            }
            (Contents::Document(node), _) => match self.guide.as_ref().map(|guide| guide.field(node, name)) {
                Some(Lookup::Absent) => Type::from_kinds(Kinds::NULL),
                step => self.follow(step),
            },
            _ => Type::ANY,
        }
    }

    /// Returns true if no object of this type has a field, according to a function or the document.
    pub fn lacks(&self, object: Type, name: &str) -> bool {
        match (self.built_contents(object), self.guide.as_ref().zip(object.guide_node())) {
            (Some(BuiltContents::Record(fields)), _) => fields.iter().all(|(known, _)| known != name),
            (_, Some((guide, node))) => guide.field(node, name) == Lookup::Absent,
            _ => false,
        }
    }

    /// Returns the fields of objects of this type, according to a function or the document.
    pub fn keys(&self, object: Type) -> Vec<&str> {
        match (self.built_contents(object), self.guide.as_ref().zip(object.guide_node())) {
            (Some(BuiltContents::Record(fields)), _) => fields.iter().map(|(name, _)| &**name).collect(),
            (_, Some((guide, node))) => guide.keys(node),
            _ => Vec::new(),
        }
    }

    /// Returns the paths of a field in the objects directly below an object, such as `node.tag` for `tag`: at most three,
    /// of the first hundred properties. Without a document, items of the drawing may have any field.
    pub fn fields_below(&self, object: Type, name: &str) -> Vec<String> {
        let holders = self.keys(object).into_iter().take(100);
        if self.guide.is_none() {
            let items = holders.filter(|holder| ["node", "item", "at"].contains(holder));
            return items.map(|holder| format!("{holder}.{name}")).collect();
        }
        let paths = holders.filter(|holder| self.has(self.field(object, holder), name));
        paths.take(3).map(|holder| format!("{holder}.{name}")).collect()
    }

    /// Returns true if objects of this type are known to have a field.
    fn has(&self, object: Type, name: &str) -> bool {
        match (self.built_contents(object), self.guide.as_ref().zip(object.guide_node())) {
            _ if !object.kinds.intersects(Kinds::OBJECT) => false,
            (Some(BuiltContents::Record(fields)), _) => fields.iter().any(|(known, _)| known == name),
            (_, Some((guide, node))) => matches!(guide.field(node, name), Lookup::Found(..)),
            _ => false,
        }
    }

    fn follow(&self, step: Option<Lookup>) -> Type {
        match step {
            Some(Lookup::Found(node, kinds)) => self.at(node).with(kinds),
            Some(Lookup::Absent) => Type::NONE,
            Some(Lookup::Unknown) | None => Type::ANY,
        }
    }

    /// Returns the values that have a string in a field, as far as that narrows the type.
    pub fn narrowed(&self, value: Type, field: &str, text: &str) -> Type {
        let guide = self.guide.as_ref().zip(value.guide_node());
        let node = guide.and_then(|(guide, node)| guide.narrowed(node, field, text));
        node.map_or(value, |node| self.at(node))
    }
}
