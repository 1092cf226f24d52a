//! The plant model while it is read: which element is which item, and what an id of the file means.

use std::collections::{HashMap, HashSet};

use crate::import::{Draft, Finding};
use crate::json::{Fields, Json};
use crate::xml::{Element, Tree};

use super::facts::{Attribute, Point};
use super::kinds::{self, Use};

/// A plant model that is being read.
pub struct Plant<'t> {
    pub tree: &'t Tree,
    pub items: Vec<Item>,
    pub draft: Draft,
    /// The item that an element is or is a part of.
    of_element: Vec<Option<usize>>,
    /// What an id means. An id that came twice means the first.
    ids: HashMap<String, Meaning>,
    /// The last number that an id got behind it.
    numbers: HashMap<String, usize>,
    /// Edges without an id, so that both sides of a relation give one.
    told: HashSet<(String, String, String)>,
    relations: usize,
}

/// What an id of the file means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    Item(usize),
    /// The element of a signal line.
    Signal(usize),
    /// A node that the file does not have.
    Made,
}

/// An element that became a node. Its place in the list is the node's place in the draft.
pub struct Item {
    pub element: usize,
    pub id: String,
    pub parent: Option<usize>,
    pub node_type: &'static str,
    pub tag: String,
    pub attributes: Vec<Attribute>,
}

impl<'t> Plant<'t> {
    pub fn new(tree: &'t Tree) -> Plant<'t> {
        Plant {
            tree,
            items: Vec::new(),
            draft: Draft::default(),
            of_element: vec![None; tree.elements.len()],
            ids: HashMap::new(),
            numbers: HashMap::new(),
            told: HashSet::new(),
            relations: 0,
        }
    }

    pub fn element(&self, item: usize) -> &'t Element {
        &self.tree.elements[self.items[item].element]
    }

    /// What an element becomes. An id alone makes one that nobody knows a node.
    pub fn becomes(&self, element: usize) -> Option<Use> {
        let it = &self.tree.elements[element];
        // The frame of a drawing is drawn only.
        let is_frame = it.parent.is_some_and(|parent| self.tree.elements[parent].name == "Drawing");
        if is_frame && it.name == "Component" {
            return Some(Use::Annotation);
        }
        let has_id = it.get("ID").is_some() && !kinds::FACTS.contains(&it.name.as_str());
        kinds::find(&it.name).or(has_id.then_some(kinds::UNKNOWN))
    }

    /// Whether an element that is no item was read all the same.
    pub fn is_known(&self, element: usize) -> bool {
        let it = &self.tree.elements[element];
        kinds::FACTS.contains(&it.name.as_str()) || super::facts::is_value(it)
    }

    /// The item that an element is a part of.
    pub fn owner(&self, element: usize) -> Option<usize> {
        self.tree.elements[element].parent.and_then(|parent| self.of_element[parent])
    }

    /// The item that an element is.
    pub fn item_of(&self, element: usize) -> Option<usize> {
        self.of_element[element].filter(|item| self.items[*item].element == element)
    }

    /// The place of the next item, and an id that nobody else has. An id that came twice gets a number.
    pub fn claim(&mut self, element: usize) -> String {
        let it = &self.tree.elements[element];
        let wanted = it.get("ID").map_or_else(|| format!("{}-{}", it.name, element), str::to_owned);
        let id = self.free_id(&wanted);
        if it.get("ID").is_none() {
            let message = format!("a `{}` has no id; it is `{id}` here", it.name);
            self.draft.find(Finding::MissingId, message, &[&id]);
        } else if id != wanted {
            let message = format!("a second `{}` has the id `{wanted}`; it is `{id}` here", it.name);
            self.draft.find(Finding::DuplicateId, message, &[&wanted, &id]);
        }
        id
    }

    /// Numbers go on where they stopped: an id that comes a million times takes a million steps, not their square.
    fn free_id(&mut self, wanted: &str) -> String {
        if !self.ids.contains_key(wanted) {
            return wanted.to_owned();
        }
        let number = self.numbers.entry(wanted.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let id = format!("{wanted}#{number}");
            if !self.ids.contains_key(&id) {
                return id;
            }
        }
    }

    /// Lets an element, and the id that the file knows it by, mean an item.
    pub fn bind(&mut self, element: usize, item: usize) {
        self.of_element[element] = Some(item);
        let id = self.tree.elements[element].get("ID");
        self.name(id, Meaning::Item(item));
    }

    /// Gives an id a meaning, where it has none.
    pub fn name(&mut self, id: Option<&str>, meaning: Meaning) {
        if let Some(id) = id {
            self.ids.entry(id.to_owned()).or_insert(meaning);
        }
    }

    pub fn meaning(&self, id: &str) -> Option<Meaning> {
        self.ids.get(id).copied()
    }

    pub fn lookup(&self, id: &str) -> Option<usize> {
        match self.meaning(id) {
            Some(Meaning::Item(item)) => Some(item),
            _ => None,
        }
    }

    /// Adds a node that the file does not have, at the loose end of something, and gives its id.
    pub fn add_end(&mut self, wanted: &str, class: &str, at: Option<Point>) -> String {
        let id = self.free_id(wanted);
        self.name(Some(&id), Meaning::Made);
        let mut fields = Fields::default();
        fields.add("id", Json::text(&id));
        fields.add("tag", Json::text(""));
        fields.add("node_type", Json::text("pid_component"));
        fields.add("node_classification", Json::Text(format!("reference.{class}")));
        if let Some([x, y]) = at.map(|point| point.json()) {
            fields.add("orig_x", x);
            fields.add("orig_y", y);
        }
        fields.add("synthetic", Json::Bool(true));
        self.draft.nodes.push(fields);
        id
    }

    /// Whether nothing of a name was told of two nodes before.
    pub fn is_new(&mut self, name: &str, from: &str, to: &str) -> bool {
        self.told.insert((name.to_owned(), from.to_owned(), to.to_owned()))
    }

    /// Adds a relation of two nodes, unless it was told before. Returns whether it is new.
    pub fn relate(&mut self, kind: &str, class: Option<&str>, from: &str, to: &str) -> bool {
        if !self.is_new(class.unwrap_or(kind), from, to) {
            return false;
        }
        self.relations += 1;
        let mut edge = Fields::default();
        edge.add("id", Json::Text(format!("rel-{}", self.relations)));
        edge.add("edge_type", Json::text(kind));
        edge.maybe_text("edge_classification", class);
        edge.add("from", Json::text(from));
        edge.add("to", Json::text(to));
        self.draft.edges.push(edge);
        true
    }
}
