//! Import state of a plant model: items by element, and targets by id.

use std::collections::{HashMap, HashSet};

use crate::import::{Finding, ImportBuilder};
use crate::json::{Fields, Json};
use crate::xml::{Element, Tree};

use super::attribute::{Attribute, Point, is_value};
use super::elements::{self, Mapping};
use super::labels::{self, ReferringTexts};

/// State of reading a plant model.
pub struct PlantImport<'t> {
    pub tree: &'t Tree,
    pub items: Vec<Item>,
    pub builder: ImportBuilder,
    /// By element: the item that it is or is a part of.
    item_by_element: Vec<Option<usize>>,
    /// Targets by id. A duplicate id refers to the first target.
    ids: HashMap<String, IdTarget>,
    /// Last numeric suffix by id.
    suffixes: HashMap<String, usize>,
    /// Relations added so far, so that both sides of one give a single edge.
    relation_keys: HashSet<(String, String, String)>,
    relation_count: usize,
    /// By element: true inside the shape catalog, which describes symbols and not the plant.
    is_in_catalog: Vec<bool>,
    /// Pipe edges with the elements of their center lines.
    pub edge_lines: Vec<(usize, Vec<usize>)>,
    /// Drawn elements whose attributes are in the graphics.
    pub drawn_with_attributes: HashSet<usize>,
    /// Elements of signal lines with their edges.
    pub signal_edges: Vec<(usize, usize)>,
    pub referring_texts: ReferringTexts<'t>,
}

/// Target of an id in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IdTarget {
    Item(usize),
    /// The element of a signal line.
    Signal(usize),
    /// A synthetic node, which is not in the file.
    Synthetic,
}

/// Element that became a node. Item and node have the same index.
pub struct Item {
    pub element: usize,
    pub id: String,
    pub parent: Option<usize>,
    pub node_type: &'static str,
    pub tag: String,
    pub attributes: Vec<Attribute>,
}

impl<'t> PlantImport<'t> {
    pub fn new(tree: &'t Tree) -> PlantImport<'t> {
        PlantImport {
            tree,
            items: Vec::new(),
            builder: ImportBuilder::default(),
            item_by_element: vec![None; tree.elements.len()],
            ids: HashMap::new(),
            suffixes: HashMap::new(),
            relation_keys: HashSet::new(),
            relation_count: 0,
            is_in_catalog: in_catalog(tree),
            edge_lines: Vec::new(),
            drawn_with_attributes: HashSet::new(),
            signal_edges: Vec::new(),
            referring_texts: labels::referring_texts(tree),
        }
    }

    pub fn element(&self, item: usize) -> &'t Element {
        &self.tree.elements[self.items[item].element]
    }

    /// Returns the mapping of an element. An unknown element with an id becomes a node.
    pub fn mapping(&self, element: usize) -> Option<Mapping> {
        if self.is_in_catalog[element] {
            return Some(Mapping::Graphic);
        }
        let xml_element = &self.tree.elements[element];
        // The frame of a drawing is an annotation.
        let is_frame = xml_element.parent.is_some_and(|parent| self.tree.elements[parent].name == "Drawing");
        if is_frame && xml_element.name == "Component" {
            return Some(Mapping::Annotation);
        }
        let has_id =
            xml_element.get("ID").is_some() && !elements::ATTRIBUTE_ELEMENTS.contains(&xml_element.name.as_str());
        elements::find(&xml_element.name).or(has_id.then_some(elements::UNKNOWN))
    }

    /// Returns true for an element of the shape catalog.
    pub fn is_in_catalog(&self, element: usize) -> bool {
        self.is_in_catalog[element]
    }

    /// Returns true for an element that is not an item but was read.
    pub fn is_known(&self, element: usize) -> bool {
        let xml_element = &self.tree.elements[element];
        elements::ATTRIBUTE_ELEMENTS.contains(&xml_element.name.as_str()) || is_value(xml_element)
    }

    /// Returns the item that an element is a part of.
    pub fn owner(&self, element: usize) -> Option<usize> {
        self.tree.elements[element].parent.and_then(|parent| self.item_by_element[parent])
    }

    /// Returns the item that an element is.
    pub fn item_of(&self, element: usize) -> Option<usize> {
        self.item_by_element[element].filter(|item| self.items[*item].element == element)
    }

    /// Allocates a unique id for an element. A duplicate id gets a numeric suffix.
    pub fn allocate_id(&mut self, element: usize) -> String {
        let xml_element = &self.tree.elements[element];
        let requested =
            xml_element.get("ID").map_or_else(|| format!("{}-{}", xml_element.name, element), str::to_owned);
        let id = self.unique_id(&requested);
        if xml_element.get("ID").is_none() {
            let message = format!("a `{}` has no id; it was named `{id}`", xml_element.name);
            self.builder.report(Finding::MissingId, message, &[&id]);
        } else if id != requested {
            let message = format!("duplicate id `{requested}` of a `{}`; it was renamed to `{id}`", xml_element.name);
            self.builder.report(Finding::DuplicateId, message, &[&requested, &id]);
        }
        id
    }

    /// Returns a unique id. Numbering continues where it stopped: a million duplicates take a million steps, not their
    /// square.
    fn unique_id(&mut self, base: &str) -> String {
        if !self.ids.contains_key(base) {
            return base.to_owned();
        }
        let number = self.suffixes.entry(base.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let id = format!("{base}#{number}");
            if !self.ids.contains_key(&id) {
                return id;
            }
        }
    }

    /// Binds an element and its id to an item.
    pub fn bind(&mut self, element: usize, item: usize) {
        self.item_by_element[element] = Some(item);
        let id = self.tree.elements[element].get("ID");
        self.set_target(id, IdTarget::Item(item));
    }

    /// Sets the target of an id, if it has none.
    pub fn set_target(&mut self, id: Option<&str>, target: IdTarget) {
        if let Some(id) = id {
            self.ids.entry(id.to_owned()).or_insert(target);
        }
    }

    pub fn id_target(&self, id: &str) -> Option<IdTarget> {
        self.ids.get(id).copied()
    }

    pub fn lookup(&self, id: &str) -> Option<usize> {
        match self.id_target(id) {
            Some(IdTarget::Item(item)) => Some(item),
            _ => None,
        }
    }

    /// Adds a synthetic node at an open end, and returns its id.
    pub fn add_end(&mut self, base: &str, class: &str, at: Option<Point>) -> String {
        let id = self.unique_id(base);
        self.set_target(Some(&id), IdTarget::Synthetic);
        let mut fields = Fields::default();
        fields.add("id", Json::text(&id));
        fields.add("tag", Json::text(""));
        fields.add("node_type", Json::text("pid_component"));
        fields.add("node_classification", Json::String(format!("reference.{class}")));
        if let Some([x, y]) = at.map(|point| point.json()) {
            fields.add("orig_x", x);
            fields.add("orig_y", y);
        }
        fields.add("synthetic", Json::Bool(true));
        self.builder.nodes.push(fields);
        id
    }

    /// Returns true the first time a relation of two nodes is added.
    pub fn is_new(&mut self, name: &str, from: &str, to: &str) -> bool {
        self.relation_keys.insert((name.to_owned(), from.to_owned(), to.to_owned()))
    }

    /// Adds a relation of two nodes, unless it exists. Returns true if it is new.
    pub fn relate(&mut self, kind: &str, class: Option<&str>, from: &str, to: &str) -> bool {
        if !self.is_new(class.unwrap_or(kind), from, to) {
            return false;
        }
        self.relation_count += 1;
        let mut edge = Fields::default();
        edge.add("id", Json::String(format!("rel-{}", self.relation_count)));
        edge.add("edge_type", Json::text(kind));
        edge.add_optional_text("edge_classification", class);
        edge.add("from", Json::text(from));
        edge.add("to", Json::text(to));
        self.builder.edges.push(edge);
        true
    }
}

/// Returns by element whether it is inside the shape catalog. Parents come before their children.
fn in_catalog(tree: &Tree) -> Vec<bool> {
    let mut is_inside = vec![false; tree.elements.len()];
    for (index, element) in tree.elements.iter().enumerate() {
        let is_parent_inside = element.parent.is_some_and(|parent| is_inside[parent]);
        is_inside[index] = is_parent_inside || element.name == "ShapeCatalogue";
    }
    is_inside
}
