//! What is known of a value before a query runs: its kinds, and what is in it.

use std::borrow::Cow;
use std::fmt;
use std::ops::BitOr;

use super::guide::{Guide, PlaceId, Step};
use crate::eval::plan::{Constant, Key};

/// A set of kinds that a value may be of. None at all: there is no such value.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub const NONE: Kinds = Kinds(0);
    pub const NULL: Kinds = Kinds(1);
    pub const BOOL: Kinds = Kinds(2);
    pub const NUMBER: Kinds = Kinds(4);
    pub const TEXT: Kinds = Kinds(8);
    pub const LIST: Kinds = Kinds(16);
    pub const OBJECT: Kinds = Kinds(32);
    /// No value, as JavaScript has it.
    pub const UNDEFINED: Kinds = Kinds(64);
    pub const ANY: Kinds = Kinds(127);
    /// Everything that an order is defined for.
    pub const ORDERED: Kinds = Kinds(2 | 4 | 8);
    /// No value and null.
    pub const MISSING: Kinds = Kinds(1 | 64);
    pub const CONTAINERS: Kinds = Kinds(16 | 32);

    pub fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is a value, and it is of these kinds.
    pub fn is_only(self, other: Kinds) -> bool {
        self.0 != 0 && self.0 & !other.0 == 0
    }

    pub const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    pub const fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }
}

impl BitOr for Kinds {
    type Output = Kinds;

    fn bitor(self, other: Kinds) -> Kinds {
        self.or(other)
    }
}

impl fmt::Display for Kinds {
    /// `a number or a string`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["null", "a boolean", "a number", "a string", "an array", "an object", "no value"];
        let named = names.iter().enumerate().filter(|(bit, _)| self.0 & (1 << bit) != 0);
        let names: Vec<&str> = named.map(|(_, name)| *name).collect();
        f.write_str(&names.join(" or "))
    }
}

/// What is known of a value. Small, because checking is recursive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Type {
    pub kinds: Kinds,
    inside: Inside,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Inside {
    Unknown,
    /// A place of the document.
    Place(PlaceId),
    /// An index of `Types::known`.
    Known(u32),
}

/// What is in a value that the query builds, or that a function gives.
enum Known<'p> {
    Items(Type),
    Fields(&'p [Box<str>], Vec<Type>),
    /// All fields that a function gives: there is never another one.
    Record(Vec<(Cow<'p, str>, Type)>),
    Constant(&'p Constant),
}

/// How deep types are joined.
const MAX_JOIN: u32 = 4;

impl Type {
    pub const ANY: Type = Type::of(Kinds::ANY);
    pub const NONE: Type = Type::of(Kinds::NONE);

    pub const fn of(kinds: Kinds) -> Type {
        Type { kinds, inside: Inside::Unknown }
    }

    /// The place of the document that the value is of.
    pub fn place(self) -> Option<PlaceId> {
        if let Inside::Place(place) = self.inside { Some(place) } else { None }
    }

    pub fn only(self, kinds: Kinds) -> Type {
        Type { kinds: self.kinds.and(kinds), ..self }
    }

    pub fn with(self, kinds: Kinds) -> Type {
        Type { kinds: self.kinds | kinds, ..self }
    }
}

/// The types of a check, and the document that they may be of.
pub(super) struct Types<'p> {
    known: Vec<Known<'p>>,
    pub guide: Option<Guide<'p>>,
}

impl<'p> Types<'p> {
    pub fn new(guide: Option<Guide<'p>>) -> Types<'p> {
        Types { known: Vec::new(), guide }
    }

    /// The type of the whole document.
    pub fn root(&self) -> Type {
        self.guide.as_ref().map_or(Type::ANY, |guide| self.at(guide.root()))
    }

    /// The types of the lists of nodes and of edges.
    pub fn lists(&self) -> [Type; 2] {
        let places = self.guide.as_ref().map(Guide::lists).unwrap_or_default();
        places.map(|place| place.map_or(Type::of(Kinds::LIST), |place| self.at(place)))
    }

    fn at(&self, place: PlaceId) -> Type {
        let kinds = self.guide.as_ref().map_or(Kinds::ANY, |guide| guide.place(place).kinds);
        Type { kinds, inside: Inside::Place(place) }
    }

    fn know(&mut self, kinds: Kinds, known: Known<'p>) -> Type {
        self.known.push(known);
        Type { kinds, inside: Inside::Known(self.known.len() as u32 - 1) }
    }

    pub fn list_of(&mut self, items: Type) -> Type {
        self.know(Kinds::LIST, Known::Items(items))
    }

    pub fn object(&mut self, names: &'p [Box<str>], values: Vec<Type>) -> Type {
        self.know(Kinds::OBJECT, Known::Fields(names, values))
    }

    pub fn record(&mut self, fields: Vec<(Cow<'p, str>, Type)>) -> Type {
        self.know(Kinds::OBJECT, Known::Record(fields))
    }

    pub fn constant(&mut self, constant: &'p Constant) -> Type {
        let kinds = match constant {
            Constant::Null => Kinds::NULL,
            Constant::Bool(_) => Kinds::BOOL,
            Constant::Number(_) => Kinds::NUMBER,
            Constant::Text(_) => Kinds::TEXT,
        };
        self.know(kinds, Known::Constant(constant))
    }

    /// The constant of the query that a value is.
    pub fn as_constant(&self, value: Type) -> Option<&'p Constant> {
        match self.inside(value) {
            Some(Known::Constant(constant)) => Some(constant),
            _ => None,
        }
    }

    fn inside(&self, value: Type) -> Option<&Known<'p>> {
        if let Inside::Known(at) = value.inside { self.known.get(at as usize) } else { None }
    }

    /// What either of two values may be.
    pub fn join(&mut self, a: Type, b: Type) -> Type {
        self.join_to(a, b, MAX_JOIN)
    }

    fn join_to(&mut self, a: Type, b: Type, depth: u32) -> Type {
        let kinds = a.kinds | b.kinds;
        let inside = match (self.inside(a), self.inside(b)) {
            _ if a.inside == b.inside => a.inside,
            _ if !a.kinds.meets(Kinds::CONTAINERS) && b.kinds.meets(Kinds::CONTAINERS) => b.inside,
            _ if !b.kinds.meets(Kinds::CONTAINERS) && a.kinds.meets(Kinds::CONTAINERS) => a.inside,
            (Some(Known::Items(a)), Some(Known::Items(b))) if depth > 0 => {
                let items = self.join_to(*a, *b, depth - 1);
                self.list_of(items).inside
            }
            _ => Inside::Unknown,
        };
        Type { kinds, inside }
    }

    /// What is in a list.
    pub fn items(&self, list: Type) -> Type {
        match (list.inside, self.inside(list)) {
            _ if !list.kinds.meets(Kinds::LIST) => Type::NONE,
            (_, Some(Known::Items(items))) => *items,
            (Inside::Place(place), _) => self.follow(self.guide.as_ref().map(|guide| guide.items(place))),
            _ => Type::ANY,
        }
    }

    /// What stands under a key: null where it is missing.
    pub fn property(&self, holder: Type, key: &Key) -> Type {
        let mut found = Type::NONE;
        if holder.kinds.meets(Kinds::OBJECT) {
            found = self.field(holder, &key.name);
        }
        if holder.kinds.meets(Kinds::LIST) && key.index.is_some() {
            let both = found.kinds != Kinds::NONE;
            let item = self.items(holder).with(found.kinds);
            found = if both { Type::of(item.kinds) } else { item }.with(Kinds::NULL);
        }
        if holder.kinds.without(Kinds::OBJECT) != Kinds::NONE {
            found = found.with(Kinds::NULL);
        }
        match found.kinds.meets(Kinds::UNDEFINED) {
            true => Type { kinds: found.kinds.without(Kinds::UNDEFINED) | Kinds::NULL, ..found },
            false => found,
        }
    }

    fn field(&self, object: Type, name: &str) -> Type {
        match (object.inside, self.inside(object)) {
            (_, Some(Known::Fields(names, values))) => {
                let at = names.iter().position(|known| **known == *name);
                at.and_then(|at| values.get(at)).copied().unwrap_or(Type::of(Kinds::NULL))
            }
            (_, Some(Known::Record(fields))) => {
                let found = fields.iter().find(|(known, _)| known == name);
                found.map_or(Type::of(Kinds::NULL), |(_, value)| *value)
            }
            (Inside::Place(place), _) => match self.guide.as_ref().map(|guide| guide.field(place, name)) {
                Some(Step::Nowhere) => Type::of(Kinds::NULL),
                step => self.follow(step),
            },
            _ => Type::ANY,
        }
    }

    /// Whether no object of this type has a field, as a function or the document tells.
    pub fn lacks(&self, object: Type, name: &str) -> bool {
        match (self.inside(object), self.guide.as_ref().zip(object.place())) {
            (Some(Known::Record(fields)), _) => fields.iter().all(|(known, _)| known != name),
            (_, Some((guide, place))) => guide.field(place, name) == Step::Nowhere,
            _ => false,
        }
    }

    /// The fields of objects of this type, as a function or the document tells.
    pub fn keys(&self, object: Type) -> Vec<&str> {
        match (self.inside(object), self.guide.as_ref().zip(object.place())) {
            (Some(Known::Record(fields)), _) => fields.iter().map(|(name, _)| &**name).collect(),
            (_, Some((guide, place))) => guide.keys(place),
            _ => Vec::new(),
        }
    }

    fn follow(&self, step: Option<Step>) -> Type {
        match step {
            Some(Step::To(place, kinds)) => self.at(place).with(kinds),
            Some(Step::Nowhere) => Type::NONE,
            Some(Step::Unknown) | None => Type::ANY,
        }
    }

    /// Those of some values that have a text in a field, as far as that tells more about them.
    pub fn narrowed(&self, value: Type, field: &str, text: &str) -> Type {
        let guide = self.guide.as_ref().zip(value.place());
        let place = guide.and_then(|(guide, place)| guide.narrowed(place, field, text));
        place.map_or(value, |place| self.at(place))
    }
}
