//! What a document looks like: for every path the kinds of values that stand there, and how often.
//!
//! A DataGuide (Goldman and Widom, 1997): one place for all values that one path reaches, where a step into a list
//! is the same for all of its items. Objects with a `node_type` have a place for each of its values besides. Made
//! when somebody asks, bounded in time and size; beyond the bounds a place says that it does not know.

use std::collections::HashMap;

use super::types::Kinds;
use crate::arena::{Arena, Cell, ContainerId, Kind, Symbol};
use crate::graph::Graph;
use crate::graph::plant::Place as Drawing;
use crate::limits::{Cancel, Limits};
use crate::value::Value;

/// Places of a guide.
const MAX_PLACES: usize = 10_000;
/// Keys of one place: an object with more is a table, and its keys are data.
const MAX_FIELDS: usize = 256;
/// Distinct texts kept for a place.
const MAX_TEXTS: usize = 32;
/// Distinct values of `node_type` that have places of their own.
const MAX_VARIANTS: usize = 32;
/// Steps between two looks at the cancel flag.
const LOOK_EVERY: u64 = 1024;
/// The field that says what a node is.
const VARIANT: &str = "node_type";

/// The number of a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct PlaceId(u32);

/// The places of a document. The first is the document itself.
pub(super) struct Guide<'d> {
    arena: &'d Arena,
    places: Vec<Place>,
    /// The lists of nodes and of edges, and their places once they are found.
    lists: [(Option<ContainerId>, Option<PlaceId>); 2],
}

/// All values that one path reaches.
#[derive(Default)]
pub(super) struct Place {
    pub kinds: Kinds,
    /// How many values, and how many of them are objects.
    seen: u32,
    objects: u32,
    fields: HashMap<Symbol, PlaceId>,
    items: Option<PlaceId>,
    /// The distinct texts, and whether there were too many.
    texts: Vec<Cell>,
    has_more_texts: bool,
    /// Places by `node_type`, and whether there were too many.
    variants: Vec<(Symbol, PlaceId)>,
    has_more_variants: bool,
    /// Whether there is more below than the guide has.
    is_open: bool,
}

/// What is known of the values one step further.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// A place; where some objects do not have the field, null too.
    To(PlaceId, Kinds),
    Nowhere,
    Unknown,
}

/// A container that is being looked through.
struct Visit {
    container: ContainerId,
    is_object: bool,
    next: u32,
    place: PlaceId,
    /// Whether the objects below may be told apart by their `node_type`: not twice on one path.
    splits: bool,
}

impl<'d> Guide<'d> {
    /// Looks through a document. Nothing if that takes more fuel than allowed, or is cancelled.
    pub fn of(graph: &'d Graph, limits: &Limits<'_>) -> Option<Guide<'d>> {
        let (arena, drawing) = (graph.arena(), Drawing::find(graph.root(), graph.config()));
        let lists = drawing.map(|drawing| drawing.lists().map(|list| Value::Array(list).container().map(|(_, id)| id)));
        let lists = lists.unwrap_or_default().map(|list| (list, None));
        let mut guide = Guide { arena, places: vec![Place::default()], lists };
        let mut visits = Vec::new();
        guide.meet(arena.root(), PlaceId(0), true, &mut visits);
        for step in 0..limits.fuel {
            let Some(visit) = visits.last_mut() else { return Some(guide) };
            if step % LOOK_EVERY == 0 && limits.cancel.is_some_and(Cancel::is_cancelled) {
                break;
            }
            match visit.step(arena) {
                Some((key, cell)) => {
                    let (place, splits) = (visit.place, visit.splits);
                    guide.enter(place, key, cell, splits, &mut visits);
                }
                None => drop(visits.pop()),
            }
        }
        None
    }

    pub fn root(&self) -> PlaceId {
        PlaceId(0)
    }

    /// The places of the lists of nodes and of edges.
    pub fn lists(&self) -> [Option<PlaceId>; 2] {
        self.lists.map(|(_, place)| place)
    }

    pub fn place(&self, id: PlaceId) -> &Place {
        &self.places[id.0 as usize]
    }

    /// Notes a child of a container of a place.
    fn enter(&mut self, place: PlaceId, key: Option<Symbol>, cell: Cell, splits: bool, visits: &mut Vec<Visit>) {
        let known = match key {
            Some(key) => self.place(place).fields.get(&key).copied(),
            None => self.place(place).items,
        };
        match known.or_else(|| self.add(place, key)) {
            Some(child) => self.meet(cell, child, splits, visits),
            None => self.at(place).is_open = true,
        }
    }

    fn add(&mut self, place: PlaceId, key: Option<Symbol>) -> Option<PlaceId> {
        if self.place(place).fields.len() >= MAX_FIELDS {
            return None;
        }
        let child = self.create()?;
        let place = self.at(place);
        match key {
            Some(key) => drop(place.fields.insert(key, child)),
            None => place.items = Some(child),
        }
        Some(child)
    }

    fn create(&mut self) -> Option<PlaceId> {
        let id = PlaceId(self.places.len() as u32);
        (self.places.len() < MAX_PLACES).then(|| {
            self.places.push(Place::default());
            id
        })
    }

    fn at(&mut self, id: PlaceId) -> &mut Place {
        &mut self.places[id.0 as usize]
    }

    /// Notes a value of a place. What is in it comes later.
    fn meet(&mut self, cell: Cell, place: PlaceId, splits: bool, visits: &mut Vec<Visit>) {
        let kinds = kinds_of(cell);
        self.at(place).seen += 1;
        self.at(place).kinds = self.place(place).kinds | kinds;
        match cell.kind() {
            Kind::Array(id) => {
                self.note_list(id, place);
                visits.push(Visit { container: id, is_object: false, next: 0, place, splits });
            }
            Kind::Object(id) => {
                self.at(place).objects += 1;
                let variant = if splits { self.variant(id, place) } else { None };
                let splits = splits && variant.is_none();
                visits.push(Visit { container: id, is_object: true, next: 0, place, splits });
                if let Some(variant) = variant {
                    self.meet(cell, variant, false, visits);
                }
            }
            _ if kinds == Kinds::TEXT => self.note_text(cell, place),
            _ => {}
        }
    }

    fn note_list(&mut self, list: ContainerId, place: PlaceId) {
        for (wanted, found) in &mut self.lists {
            if *wanted == Some(list) {
                found.get_or_insert(place);
            }
        }
    }

    fn note_text(&mut self, cell: Cell, place: PlaceId) {
        let Place { texts, has_more_texts, .. } = self.place(place);
        if *has_more_texts || texts.contains(&cell) {
            return;
        }
        let text = self.arena.string(cell);
        if texts.iter().any(|known| self.arena.string(*known) == text) {
            return;
        }
        let is_full = texts.len() >= MAX_TEXTS;
        let place = self.at(place);
        if is_full { place.has_more_texts = true } else { place.texts.push(cell) }
    }

    /// The place for objects of this `node_type`.
    fn variant(&mut self, object: ContainerId, place: PlaceId) -> Option<PlaceId> {
        let Kind::Symbol(name) = self.arena.field(object, VARIANT)?.kind() else { return None };
        let Place { variants, .. } = self.place(place);
        if let Some((_, variant)) = variants.iter().find(|(known, _)| *known == name) {
            return Some(*variant);
        }
        let variant = if variants.len() < MAX_VARIANTS { self.create() } else { None };
        let place = self.at(place);
        match variant {
            Some(variant) => place.variants.push((name, variant)),
            None => place.has_more_variants = true,
        }
        variant
    }

    // Questions.

    /// What stands under a key of the objects of a place.
    pub fn field(&self, id: PlaceId, key: &str) -> Step {
        let place = self.place(id);
        match self.arena.find_symbol(key).and_then(|key| place.fields.get(&key)) {
            Some(_) | None if place.is_open => Step::Unknown,
            None => Step::Nowhere,
            Some(field) if self.place(*field).seen < place.objects => Step::To(*field, Kinds::NULL),
            Some(field) => Step::To(*field, Kinds::NONE),
        }
    }

    /// The fields of the objects of a place, in the order of their first appearance.
    pub fn keys(&self, id: PlaceId) -> Vec<&str> {
        let mut fields: Vec<_> = self.place(id).fields.iter().collect();
        fields.sort_unstable_by_key(|(_, place)| place.0);
        fields.into_iter().map(|(key, _)| self.arena.symbol_text(*key)).collect()
    }

    /// What stands in the lists of a place.
    pub fn items(&self, id: PlaceId) -> Step {
        match (self.place(id).items, self.place(id).is_open) {
            (_, true) => Step::Unknown,
            (Some(items), _) => Step::To(items, Kinds::NONE),
            (None, _) => Step::Nowhere,
        }
    }

    /// The objects of a place that have this value of the field; nothing where they have no place of their own.
    pub fn narrowed(&self, id: PlaceId, field: &str, value: &str) -> Option<PlaceId> {
        let symbol = self.arena.find_symbol(value).filter(|_| field == VARIANT)?;
        self.place(id).variants.iter().find(|(name, _)| *name == symbol).map(|(_, place)| *place)
    }

    /// The texts of a place where they are few and stand there again and again.
    pub fn words(&self, id: PlaceId) -> Option<impl Iterator<Item = &str>> {
        let place = self.place(id);
        let repeats = place.seen as usize >= 2 * place.texts.len();
        (repeats && !place.has_more_texts).then(|| place.texts.iter().map(|cell| self.arena.string(*cell)))
    }
}

impl Visit {
    /// The next child, with its key in an object.
    fn step(&mut self, arena: &Arena) -> Option<(Option<Symbol>, Cell)> {
        let at = self.next;
        self.next += 1;
        let first = arena.container(self.container).first;
        if self.is_object {
            let key = arena.keys(self.container).get(at as usize)?;
            return Some((Some(*key), arena.cell(first + at)));
        }
        arena.items(self.container).get(at as usize).map(|cell| (None, *cell))
    }
}

/// The kind of one value.
pub(super) fn kinds_of(cell: Cell) -> Kinds {
    match cell.kind() {
        Kind::Null => Kinds::NULL,
        Kind::Bool(_) => Kinds::BOOL,
        Kind::Number(_) | Kind::Lexeme(_) => Kinds::NUMBER,
        Kind::Symbol(_) | Kind::Source(..) | Kind::Text(_) => Kinds::TEXT,
        Kind::Array(_) => Kinds::LIST,
        Kind::Object(_) => Kinds::OBJECT,
    }
}
