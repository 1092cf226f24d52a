//! DEXPI document: objects with their components, references and data, and the XML of them.

use std::collections::{HashMap, HashSet};

use crate::error::{Code, Error, Result};
use crate::xml::{Element, MAX_DEPTH, Tree, escape, is_xml_text};

use super::super::extension;

/// Document of which every id is unique and a name of DEXPI.
#[derive(Default)]
pub struct Document {
    pub tree: Tree,
    ids: HashSet<String>,
    /// Last numeric suffix by id.
    suffixes: HashMap<String, usize>,
    generated: usize,
    /// Elements with components and references by object and property.
    properties: HashMap<(usize, String), usize>,
    is_too_deep: bool,
}

impl Document {
    fn push(&mut self, parent: Option<usize>, name: &str, attributes: &[(&str, &str)]) -> usize {
        let index = self.tree.elements.len();
        if let Some(parent) = parent {
            self.tree.elements[parent].children.push(index);
        }
        let attributes = attributes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let (name, text, children) = (name.to_owned(), String::new(), Vec::new());
        self.tree.elements.push(Element { name, attributes, text, parent, children });
        index
    }

    /// Adds the root element.
    pub fn model(&mut self, name: &str, uri: &str) -> usize {
        self.push(None, "Model", &[("name", name), ("uri", uri)])
    }

    /// Adds an import to the root element.
    pub fn import(&mut self, prefix: &str, source: &str) {
        self.push(Some(0), "Import", &[("prefix", prefix), ("source", source)]);
    }

    /// Adds an object to the root element.
    pub fn object(&mut self, class: &str) -> usize {
        self.push(Some(0), "Object", &[("type", class)])
    }

    /// Adds a component to an object.
    pub fn component(&mut self, owner: usize, property: &str, class: &str, id: Option<&str>) -> usize {
        let components = self.property(owner, "Components", property);
        match id {
            Some(id) => self.push(Some(components), "Object", &[("id", id), ("type", class)]),
            None => self.push(Some(components), "Object", &[("type", class)]),
        }
    }

    fn property(&mut self, owner: usize, kind: &str, property: &str) -> usize {
        let key = (owner, format!("{kind} {property}"));
        if let Some(element) = self.properties.get(&key) {
            return *element;
        }
        let element = self.push(Some(owner), kind, &[("property", property)]);
        self.properties.insert(key, element);
        element
    }

    /// Adds a reference to an object, or to a name of an information model.
    pub fn reference(&mut self, owner: usize, property: &str, target: &str) {
        let references = self.property(owner, "References", property);
        let attributes = &mut self.tree.elements[references].attributes;
        match attributes.iter_mut().find(|(key, _)| key == "objects") {
            Some((_, targets)) => {
                targets.push(' ');
                targets.push_str(target);
            }
            None => attributes.push(("objects".to_owned(), target.to_owned())),
        }
    }

    /// Adds data to an object or an aggregated value, and returns its element.
    pub fn data(&mut self, owner: usize, property: &str) -> usize {
        self.push(Some(owner), "Data", &[("property", property)])
    }

    /// Adds a value to data. Its kind is the name of the element.
    pub fn value(&mut self, data: usize, kind: &str, text: &str) {
        let value = self.push(Some(data), kind, &[]);
        text.clone_into(&mut self.tree.elements[value].text);
    }

    /// Adds data with one value.
    pub fn datum(&mut self, owner: usize, property: &str, kind: &str, text: &str) {
        let data = self.data(owner, property);
        self.value(data, kind, text);
    }

    /// Adds a value of an enumeration or a unit.
    pub fn enumerated(&mut self, owner: usize, property: &str, path: &str) {
        let data = self.data(owner, property);
        self.push(Some(data), "DataReference", &[("data", path)]);
    }

    /// Adds a value that consists of several to data.
    pub fn aggregated(&mut self, data: usize, class: &str) -> usize {
        self.push(Some(data), "AggregatedDataValue", &[("type", class)])
    }

    /// Adds the member of an object that its class cannot state; `None` if the object has no such member.
    pub fn member(&mut self, object: usize, name: &str, json: Option<&str>) {
        let property = format!("{}/{}", extension::PREFIX, extension::encode(name));
        match json {
            Some(json) => self.datum(object, &property, "String", &xml_text(json)),
            None => self.datum(object, &property, "Undefined", ""),
        }
    }

    /// Returns a new id for one of the graph.
    pub fn id(&mut self, id: &str) -> String {
        let encoded = extension::encode(id);
        if self.ids.insert(encoded.clone()) {
            return encoded;
        }
        let number = self.suffixes.entry(encoded).or_insert(1);
        loop {
            *number += 1;
            let unique = extension::encode(&format!("{id}#{number}"));
            if self.ids.insert(unique.clone()) {
                return unique;
            }
        }
    }

    /// Returns a new id for an object that has none in the graph.
    pub fn generated_id(&mut self) -> String {
        self.generated += 1;
        format!("{}{}", extension::GENERATED, self.generated)
    }

    /// Returns the XML.
    ///
    /// # Errors
    /// `PQ6008` for items in items that are nested deeper than the reader allows.
    pub fn write(&mut self) -> Result<String> {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        if !self.tree.elements.is_empty() {
            self.write_element(0, 0, &mut out);
        }
        if self.is_too_deep {
            return Err(Error::new(Code::TooDeep, format!("items are nested deeper than {MAX_DEPTH} elements")));
        }
        Ok(out)
    }

    fn write_element(&mut self, index: usize, depth: usize, out: &mut String) {
        if depth >= MAX_DEPTH {
            self.is_too_deep = true;
            return;
        }
        let element = &self.tree.elements[index];
        let indent = "  ".repeat(depth);
        out.push_str(&indent);
        out.push('<');
        out.push_str(&element.name);
        for (name, value) in &element.attributes {
            out.push_str(&format!(" {name}=\"{}\"", escape(value)));
        }
        if element.children.is_empty() && element.text.is_empty() {
            out.push_str("/>\n");
            return;
        }
        out.push('>');
        out.push_str(&escape(&element.text));
        let name = element.name.clone();
        if !element.children.is_empty() {
            out.push('\n');
            for child in element.children.clone() {
                self.write_element(child, depth + 1, out);
            }
            out.push_str(&indent);
        }
        out.push_str(&format!("</{name}>\n"));
    }
}

/// Returns true if the reader finds a text unchanged in an element.
pub fn is_kept(text: &str) -> bool {
    is_xml_text(text)
}

/// Returns JSON text without the characters that XML does not allow: those that JSON texts hold have escapes.
pub fn xml_text(json: &str) -> String {
    json.replace('\u{FFFE}', "\\ufffe").replace('\u{FFFF}', "\\uffff")
}
