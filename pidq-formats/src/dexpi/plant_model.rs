//! Classes and properties of the information model of plants, as DEXPI 2.0 names them.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// One line per class (`class` or `abstract`, its path, those of its general classes), followed by its properties:
/// `data` with a type, `has` for components and `refers` for references with a class, and `many` without an upper limit.
const TEXT: &str = include_str!("plant_model.txt");

/// Kind of a property.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Data,
    Component,
    Reference,
}

/// Property of a class.
#[derive(Debug, PartialEq)]
pub struct Property {
    pub kind: Kind,
    pub name: &'static str,
    /// Class of a component or a target. Type of data: `text`, `texts` in several languages, `quantity`, `integer`,
    /// `double`, `time`, `uri`, `boolean`, or the path of an enumeration.
    pub target: &'static str,
    /// True if an object may have several.
    pub is_many: bool,
}

#[derive(Debug, Default)]
struct Class {
    is_abstract: bool,
    general: Vec<&'static str>,
    properties: Vec<Property>,
}

/// Information model: classes by path and by name.
#[derive(Debug, Default)]
pub struct PlantModel {
    classes: HashMap<&'static str, Class>,
    paths: HashMap<&'static str, &'static str>,
}

impl PlantModel {
    /// Returns the model, which is read once.
    pub fn get() -> &'static PlantModel {
        static MODEL: OnceLock<PlantModel> = OnceLock::new();
        MODEL.get_or_init(|| PlantModel::read(TEXT))
    }

    fn read(text: &'static str) -> PlantModel {
        let mut model = PlantModel::default();
        let mut path = "";
        for line in text.lines() {
            let words: Vec<&'static str> = line.split(' ').collect();
            match words.as_slice() {
                [kind @ ("class" | "abstract"), name, general @ ..] => {
                    path = name;
                    let is_abstract = *kind == "abstract";
                    model
                        .classes
                        .insert(path, Class { is_abstract, general: general.to_vec(), properties: Vec::new() });
                    model.paths.insert(super::objects::last_name(path), path);
                }
                [kind, name, target, many @ ..] => {
                    let kind = match *kind {
                        "data" => Kind::Data,
                        "has" => Kind::Component,
                        _ => Kind::Reference,
                    };
                    let property = Property { kind, name, target, is_many: !many.is_empty() };
                    model.classes.entry(path).or_default().properties.push(property);
                }
                _ => {}
            }
        }
        model
    }

    /// Returns the path of a class that an object may have, such as `Plant/Piping.GateValve` for `GateValve`.
    pub fn path(&self, name: &str) -> Option<&'static str> {
        self.paths.get(name).copied().filter(|path| self.is_concrete(path))
    }

    /// Returns the path of a class or a general class by its name.
    #[cfg(test)]
    pub fn named(&self, name: &str) -> Option<&'static str> {
        self.paths.get(name).copied()
    }

    /// Returns the path of a class or of a general class, with the lifetime of the model.
    pub fn known(&self, path: &str) -> Option<&'static str> {
        self.classes.get_key_value(path).map(|(path, _)| *path)
    }

    /// Returns true for a class that an object may have.
    pub fn is_concrete(&self, path: &str) -> bool {
        self.classes.get(path).is_some_and(|class| !class.is_abstract)
    }

    /// Returns true if a class is another one or a special case of it.
    pub fn is_a(&self, class: &str, general: &str) -> bool {
        self.lineage(class).contains(&general)
    }

    /// Returns the properties of a class of one kind: its own, then those of its general classes.
    pub fn properties(&self, class: &str, kind: Kind) -> Vec<&Property> {
        let classes = self.lineage(class).into_iter().filter_map(|path| self.classes.get(path));
        classes.flat_map(|class| &class.properties).filter(|property| property.kind == kind).collect()
    }

    /// Returns a class and its general classes, each once.
    fn lineage(&self, class: &str) -> Vec<&'static str> {
        let mut seen = HashSet::new();
        let mut list: Vec<&'static str> = self.known(class).into_iter().collect();
        let mut next = 0;
        while let Some(path) = list.get(next).copied() {
            next += 1;
            let general = self.classes.get(path).map(|class| class.general.as_slice()).unwrap_or_default();
            list.extend(general.iter().filter(|path| seen.insert(**path)));
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_the_properties_of_their_general_classes() {
        let model = PlantModel::get();
        assert_eq!(model.path("GateValve"), Some("Plant/Piping.GateValve"));
        assert_eq!(model.path("PipingNodeOwner"), None, "it is abstract");
        assert!(model.is_a("Plant/Piping.GateValve", "Plant/Piping.PipingNodeOwner"));
        assert!(!model.is_a("Plant/Piping.GateValve", "Plant/ProcessEquipment.Nozzle"));
        let nodes = model.properties("Plant/Piping.GateValve", Kind::Component);
        assert!(nodes.iter().any(|property| property.name == "Nodes" && property.is_many));
        let data = model.properties("Plant/ProcessEquipment.CentrifugalPump", Kind::Data);
        assert!(data.iter().any(|property| property.name == "TagName" && property.target == "text"));
    }

    #[test]
    fn every_general_class_and_every_target_is_in_the_model() {
        let model = PlantModel::get();
        for (path, class) in &model.classes {
            for general in &class.general {
                assert!(model.known(general).is_some(), "{path}: {general}");
            }
            for property in class.properties.iter().filter(|property| property.kind == Kind::Component) {
                let is_known = model.known(property.target).is_some();
                assert!(is_known || property.target.starts_with("Core/"), "{path}: {}", property.target);
            }
        }
    }
}
