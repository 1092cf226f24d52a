//! Objects of a DEXPI 2.0 model: classes, ids, components, references and data.
//!
//! A reader marks all that it takes; everything else is listed as a loss at the end.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use crate::xml::{Element, Tree};

use super::extension;

/// Objects of a model by id, with a mark for every element that was taken.
pub struct Objects<'t> {
    pub tree: &'t Tree,
    by_id: HashMap<&'t str, usize>,
    /// Ids by the ids as they are written.
    by_written_id: HashMap<&'t str, &'t str>,
    /// True if the file uses the extension of this program.
    pub has_extension: bool,
    /// Objects whose id belongs to an earlier object.
    pub duplicates: Vec<usize>,
    taken: Vec<Cell<bool>>,
}

/// Target of a reference: an object of the file, or a name in an information model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target<'t> {
    Id(&'t str),
    Name(&'t str),
}

impl<'t> Objects<'t> {
    pub fn new(tree: &'t Tree) -> Objects<'t> {
        let mut by_id = HashMap::new();
        let mut by_written_id = HashMap::new();
        let mut duplicates = Vec::new();
        for (index, element) in tree.elements.iter().enumerate().filter(|(_, element)| element.name == "Object") {
            let Some(id) = element.get("id") else { continue };
            by_written_id.extend(extension::written_id(element).map(|written| (written, id)));
            if *by_id.entry(id).or_insert(index) != index {
                duplicates.push(index);
            }
        }
        let taken = vec![Cell::new(false); tree.elements.len()];
        let has_extension = extension::is_used(tree);
        Objects { tree, by_id, by_written_id, has_extension, duplicates, taken }
    }

    pub fn element(&self, index: usize) -> &'t Element {
        &self.tree.elements[index]
    }

    pub fn id(&self, object: usize) -> Option<&'t str> {
        self.element(object).get("id")
    }

    /// Returns the id of an object in the graph; `None` for one that was given an id only to be referred to.
    pub fn own_id(&self, object: usize) -> Option<&'t str> {
        self.id(object).filter(|id| !(self.has_extension && id.starts_with(extension::GENERATED)))
    }

    pub fn by_id(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Returns the qualified class, such as `Plant/Piping.GateValve`.
    pub fn class_path(&self, object: usize) -> &'t str {
        self.element(object).get("type").unwrap_or("Object")
    }

    /// Returns the class, such as `GateValve`.
    pub fn class(&self, object: usize) -> &'t str {
        last_name(self.class_path(object))
    }

    /// Returns the elements of a kind (`Components`, `References`, `Data`) with their property, without its prefix.
    /// Those of the extension are left out.
    pub fn properties(&self, object: usize, kind: &'static str) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
        let has_extension = self.has_extension;
        let elements = self.tree.named(object, kind);
        let paths = elements.map(|(index, element)| (index, element.get("property").unwrap_or_default()));
        let standard = paths.filter(move |(_, path)| !(has_extension && extension_name(path).is_some()));
        standard.map(|(index, path)| (index, last_name(path)))
    }

    /// Returns the elements of a kind (`Components`, `Data`) whose property is of the extension, with its name.
    pub fn extension(&self, object: usize, kind: &'static str) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
        let has_extension = self.has_extension;
        let elements = self.tree.named(object, kind).filter(move |_| has_extension);
        elements.filter_map(|(index, element)| Some((index, extension_name(element.get("property")?)?)))
    }

    /// Returns the objects in a `Components` element.
    pub fn objects_in(&self, components: usize) -> impl Iterator<Item = usize> + use<'t> {
        self.tree.named(components, "Object").map(|(index, _)| index)
    }

    /// Returns the components of an object with a property, and marks them as taken.
    pub fn components(&self, object: usize, property: &str) -> Vec<usize> {
        let mut found = Vec::new();
        for (components, name) in self.properties(object, "Components") {
            if name == property {
                self.take(components);
                found.extend(self.objects_in(components));
            }
        }
        found.iter().for_each(|object| self.take(*object));
        found
    }

    /// Returns the targets of an object's references with a property, and marks them as taken.
    pub fn references(&self, object: usize, property: &str) -> Vec<Target<'t>> {
        let named = self.properties(object, "References").filter(|(_, name)| *name == property);
        let targets = named.map(|(references, _)| self.targets(references));
        targets.flatten().collect()
    }

    /// Returns the id that an object refers to with a property.
    pub fn reference(&self, object: usize, property: &str) -> Option<&'t str> {
        self.references(object, property).into_iter().find_map(|target| match target {
            Target::Id(id) => Some(id),
            Target::Name(_) => None,
        })
    }

    /// Returns the targets in a `References` element, and marks it as taken.
    pub fn targets(&self, references: usize) -> Vec<Target<'t>> {
        self.take(references);
        let words = self.element(references).get("objects").unwrap_or_default().split_whitespace();
        let target = |id| Target::Id(self.by_written_id.get(id).copied().unwrap_or(id));
        words.map(|word| word.strip_prefix('#').map_or(Target::Name(word), target)).collect()
    }

    /// Returns the values of an object's or an aggregated value's data with a property, and marks them as taken.
    pub fn data(&self, owner: usize, property: &str) -> Vec<usize> {
        let named = self.properties(owner, "Data").filter(|(_, name)| *name == property);
        let data: Vec<usize> = named.map(|(data, _)| data).collect();
        data.iter().for_each(|data| self.take(*data));
        data.iter().flat_map(|data| self.tree.children(*data).map(|(value, _)| value)).collect()
    }

    /// Returns the text of the first value of a property; for a reference to data, the last name of it.
    pub fn text(&self, owner: usize, property: &str) -> Option<&'t str> {
        let value = self.element(*self.data(owner, property).first()?);
        match value.name.as_str() {
            "DataReference" => value.get("data").map(last_name),
            "Undefined" | "AggregatedDataValue" => None,
            _ => Some(value.text.as_str()),
        }
    }

    pub fn take(&self, index: usize) {
        self.taken[index].set(true);
    }

    /// Marks an element and everything in it as taken.
    pub fn take_all(&self, index: usize) {
        let mut open = vec![index];
        while let Some(index) = open.pop() {
            self.take(index);
            open.extend(&self.element(index).children);
        }
    }

    /// Counts what was not taken, by class and property: the outermost elements only.
    pub fn not_taken(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        let mut open = vec![0];
        while let Some(index) = open.pop() {
            for (child, element) in self.tree.children(index) {
                match element.name.as_str() {
                    "Components" | "References" | "Data" | "Object" if !self.taken[child].get() => {
                        *counts.entry(self.describe(index, element)).or_insert(0) += 1;
                    }
                    _ => open.push(child),
                }
            }
        }
        counts
    }

    fn describe(&self, owner: usize, element: &Element) -> String {
        match element.get("property") {
            Some(property) => format!("{}.{}", self.class(owner), last_name(property)),
            None => element.get("type").map_or("Object", last_name).to_owned(),
        }
    }
}

/// Returns the name of a property of the extension.
fn extension_name(path: &str) -> Option<&str> {
    path.strip_prefix(extension::PREFIX)?.strip_prefix('/')
}

/// Returns the last name of a path such as `Plant/Piping.GateValve` or `DiscProfile/ItemTag`.
pub fn last_name(path: &str) -> &str {
    path.rsplit(['.', '/']).next().unwrap_or(path)
}
